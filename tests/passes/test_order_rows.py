"""Rows in another order around ops that work row by row: the same numbers, and fewer moves."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.passes.programs import assert_close_in_program
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interfaces.index_map import IndexMap
from xdsl_tpu.passes.order_rows.choose import Table, TooLargeError, best_labels, cost_of
from xdsl_tpu.passes.order_rows.rows import inverse, places_of, row_map

PASSES = (
    'canonicalize,processor-assign{mode="F32" chip="bm1684x"},convert-top-to-tpu,'
    'order-rows{chip="bm1684x"}'
)
CHANNELS, SIDE, WINDOW = 8, 6, 3
ROWS = SIDE * SIDE
COUNT = SIDE // WINDOW
MOVES = ("Permute", "SwapDimInner", "Rearrange")


def reshaped(net: Net, name: str, x: SSAValue, *shape: int) -> SSAValue:
    return net.op(top.ReshapeOp, name, (x,), shape=shape)


def cut(net: Net, name: str, x: SSAValue, back: bool = False) -> SSAValue:
    """Lines of pixels as windows one behind the other, or back."""
    sizes = (COUNT, COUNT, WINDOW, WINDOW) if back else (COUNT, WINDOW, COUNT, WINDOW)
    x = reshaped(net, f"{name}.a", x, 1, *sizes, CHANNELS)
    x = net.op(top.PermuteOp, f"{name}.b", (x,), order=[0, 1, 3, 2, 4, 5])
    shape = (1, SIDE, SIDE, CHANNELS) if back else (COUNT**2, WINDOW**2, CHANNELS)
    return reshaped(net, f"{name}.c", x, *shape)


def shifted(net: Net, name: str, x: SSAValue, by: int) -> SSAValue:
    for axis, part in ((1, "h"), (2, "w")):
        ends = [1, SIDE, SIDE, CHANNELS]
        parts: list[SSAValue] = []
        for begin, end in ((by % SIDE, SIDE), (0, by % SIDE)):
            offset, stop = [0] * 4, list(ends)
            offset[axis], stop[axis] = begin, end
            parts.append(
                net.op(
                    top.SliceOp, f"{name}.{part}{begin}", (x, *[net.none] * 3), offset=offset,
                    ends=stop, steps=[1] * 4, axes=list[int](),
                )
            )  # fmt: skip
        x = net.op(top.ConcatOp, f"{name}.{part}", parts, axis=axis)
    return x


def normed(net: Net, name: str, x: SSAValue, axis: int) -> SSAValue:
    row = (net.weight(f"{name}.w", CHANNELS), net.weight(f"{name}.b", CHANNELS))
    return net.op(
        top.LayerNormOp, name, (x, *row), axis=axis, eps=1e-5, normalized_shape=[CHANNELS]
    )


def attended(net: Net, name: str, x: SSAValue) -> SSAValue:
    """Attention of all rows of a window, with the rows themselves as keys and values."""
    scores = net.op(top.MatMulOp, f"{name}.s", (x, x, net.none), right_transpose=True)
    shares = net.op(top.SoftmaxOp, f"{name}.p", (scores,), axis=2)
    return net.op(top.MatMulOp, f"{name}.v", (shares, x, net.none))


def mlp(net: Net, name: str, x: SSAValue) -> SSAValue:
    up = net.op(top.MatMulOp, f"{name}.up", (x, net.weight(f"{name}.w1", CHANNELS, 16), net.none))
    act = net.op(top.GELUOp, f"{name}.act", (up,))
    return net.op(
        top.MatMulOp, f"{name}.down", (act, net.weight(f"{name}.w2", 16, CHANNELS), net.none)
    )


def block(net: Net, name: str, x: SSAValue, shift: int = 0) -> SSAValue:
    """A block of a Swin transformer on 1 x H x W x C."""
    y = normed(net, f"{name}.n1", x, 3)
    y = shifted(net, f"{name}.roll", y, shift) if shift else y
    y = cut(net, f"{name}.cut", y)
    y = cut(net, f"{name}.back", attended(net, f"{name}.attn", y), back=True)
    y = shifted(net, f"{name}.unroll", y, -shift) if shift else y
    x = net.op(top.AddOp, f"{name}.r1", (x, y))
    y = mlp(net, f"{name}.mlp", normed(net, f"{name}.n2", x, 3))
    return net.op(top.AddOp, f"{name}.r2", (x, y))


def start(net: Net) -> SSAValue:
    x = net.input("x", 1, SIDE, SIDE, CHANNELS)
    return mlp(net, "start", x)


def moves(module: ModuleOp) -> int:
    """How often rows change their order."""
    return sum(kind in MOVES for kind in kinds(module))


def test_a_block_is_in_windows_from_norm_to_residual() -> None:
    net = Net()
    after = assert_same_numbers(net.module(block(net, "one", start(net))), PASSES)
    assert kinds(after)[3] == "Rearrange"
    assert moves(after) == 2  # what the function returns is in lines
    (first,) = [op for op in ops_of(after, tpu.RearrangeOp) if "start" in str(op.location)]
    readers = {use.operation.operands[0].owner for use in first.output.uses}
    assert readers == {first}


def test_between_blocks_windows_are_shifted_once() -> None:
    """In lines each block has two moves, one there and one back; shifted ones have more."""
    net = Net()
    x = start(net)
    for number in range(4):
        x = block(net, f"b{number}", x, shift=number % 2)
    after = assert_same_numbers(net.module(x), PASSES)
    assert moves(after) == 5


def test_patches_are_merged_from_windows() -> None:
    """Four slices of lines and columns become columns of one value: each reads the lines again."""
    net = Net()
    x = block(net, "one", start(net))
    patches = [
        net.op(
            top.SliceOp, f"p{row}{column}", (x, *[net.none] * 3), offset=[0, row, column, 0],
            ends=[1, SIDE, SIDE, CHANNELS], steps=[1, 2, 2, 1], axes=list[int](),
        )
        for row in (0, 1)
        for column in (0, 1)
    ]  # fmt: skip
    y = net.op(top.ConcatOp, "merged", patches, axis=3)
    down = net.op(top.MatMulOp, "down", (y, net.weight("w", 4 * CHANNELS, CHANNELS), net.none))
    after = assert_same_numbers(net.module(down), PASSES)
    assert kinds(after).count("Rearrange") == 2


def test_a_sum_of_rows_in_two_orders_keeps_both() -> None:
    net = Net()
    x = start(net)
    both = net.op(top.AddOp, "both", (x, shifted(net, "roll", x, 1)))
    after = assert_same_numbers(net.module(normed(net, "n", both, 3)), PASSES)
    assert kinds(after).count("Rearrange") == 0


def test_rows_that_differ_by_a_weight_stay_where_they_are() -> None:
    """Positions are added to rows in the order of the weight."""
    net = Net()
    x = start(net)
    y = net.op(top.AddOp, "placed", (x, net.weight("places", 1, SIDE, SIDE, CHANNELS)))
    y = attended(net, "attn", cut(net, "cut", y))
    after = assert_same_numbers(net.module(net.op(top.AbsOp, "y", (y,))), PASSES)
    assert kinds(after).count("Rearrange") == 0


def test_nothing_is_changed_for_nothing() -> None:
    """Windows one way only: where the move is does not matter, so it stays."""
    net = Net()
    y = attended(net, "attn", cut(net, "cut", mlp(net, "m", start(net))))
    after = assert_same_numbers(net.module(y), PASSES)
    assert kinds(after).count("Rearrange") == 0


def points(rows: int, numbers: int, summed: bool = False) -> ModuleOp:
    """A few numbers for each of many points, and two products."""
    net = Net()
    x = net.input("x", rows, numbers)
    y = net.op(top.MatMulOp, "a", (x, net.weight("v", numbers, 16), net.none))
    y = net.op(top.ReluOp, "b", (y,))
    y = net.op(top.MatMulOp, "y", (y, net.weight("w", 16, 4), net.none))
    if not summed:
        return net.module(y)
    return net.module(net.op(top.ReduceOp, "s", (y,), axes=[0], keepdims=True, mode="ReduceSum"))


IN_LANES = PASSES.replace('chip="bm1684x"}', 'chip="bm1684x" in_lanes=true}').replace(
    'mode="F32" chip="bm1684x" in_lanes=true', 'mode="F32" chip="bm1684x"'
)


@pytest.mark.parametrize(
    ("rows", "numbers", "summed", "moved"),
    [
        (256, 3, False, 2),
        (192, 3, False, 2),
        (128, 3, False, 0),
        (64, 3, False, 0),
        (250, 3, False, 0),
        (256, 2000, False, 0),
        (256, 3, True, 0),
    ],
)
def test_lanes_have_neighbouring_points(rows: int, numbers: int, summed: bool, moved: int) -> None:
    """Not two points for each lane, which take as long in one piece, points that do not fill the
    lanes, long rows, and points of which something else than the host wants the order."""
    after = assert_same_numbers(points(rows, numbers, summed), IN_LANES)
    assert len(ops_of(after, tpu.RearrangeOp)) == moved


@pytest.mark.parametrize("mode", ["F16", "F32"])
def test_points_in_programs(mode: str) -> None:
    assert_close_in_program(points(256, 3), mode)


def test_several_images_move_together() -> None:
    net = Net()
    x = mlp(net, "start", net.input("x", 5, 4, CHANNELS))
    y = net.op(top.PermuteOp, "there", (normed(net, "n", x, 2),), order=[1, 0, 2])
    y = net.op(top.PermuteOp, "back", (attended(net, "attn", y),), order=[1, 0, 2])
    y = net.op(top.AddOp, "r", (x, y))
    after = assert_same_numbers(net.module(normed(net, "end", y, 2)), PASSES)
    assert moves(after) == 2


SIZES = st.lists(st.integers(1, 3), min_size=1, max_size=6)


@given(SIZES, st.data())
def test_labels_are_the_best_of_all(sizes: list[int], data: st.DataObject) -> None:
    tables: list[Table] = []
    for _ in range(data.draw(st.integers(0, 6))):
        chosen = data.draw(st.sets(st.integers(0, len(sizes) - 1), min_size=1, max_size=3))
        nodes = tuple(data.draw(st.permutations(sorted(chosen))))
        shape = [sizes[node] for node in nodes]
        seed = data.draw(st.integers(0, 1000))
        costs = np.random.default_rng(seed).integers(0, 9, shape).astype(float)
        tables.append(Table(nodes, costs))
    labels = best_labels(sizes, tables)
    least = min(cost_of(one, tables) for one in product(*map(range, sizes)))
    assert cost_of(labels, tables) == least


def test_a_table_that_is_too_large_is_refused() -> None:
    sizes = [3] * 14
    tables = [Table((a, b), np.ones((3, 3))) for a in range(len(sizes)) for b in range(a)]
    with pytest.raises(TooLargeError):
        best_labels(sizes, tables)


@pytest.mark.parametrize(("shape", "order"), [((2, 3, 4), (1, 0, 2)), ((2, 3, 4), (0, 1, 2))])
def test_rows_of_a_map_and_back(shape: tuple[int, ...], order: tuple[int, ...]) -> None:
    net = Net()
    x = net.input("x", *shape)
    y = net.op(top.PermuteOp, "y", (x,), order=[*order])
    net.module(y)
    rows = row_map(IndexMap.permuted(shape, order), x, reshaped(net, "z", y, 6, 4))
    assert rows is None  # of what has no shape yet nothing is known
    rows = row_map(IndexMap.permuted(shape, order), x, x)
    assert rows is not None
    places = places_of(rows, 6)
    assert places_of(inverse(rows), 6)[places].tolist() == list(range(6))
    wide = places_of(rows.of_rows(4), 24).reshape(6, 4)
    assert wide.tolist() == [[4 * place + i for i in range(4)] for place in places]


def test_a_map_within_rows_is_none_of_rows() -> None:
    net = Net()
    x = net.input("x", 2, 3, 4)
    assert row_map(IndexMap.permuted((2, 3, 4), (0, 2, 1)), x, x) is None
