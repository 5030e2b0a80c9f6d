"""`processor-tpu-optimize`: permutes move behind cuts, pads, tiles and fills, and past reshapes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tests.passes.semantics import Net, kinds, ops_of
from tests.passes.test_attention_split import cut_along
from tests.passes.test_tpu_layout_optimize import HEADS, end, only, optimized, orders, permuted
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.canonicalize.permute_order import Permutation
from xdsl_tpu.passes.tensors import shape_of

TURNED = (0, 2, 3, 1)
BACK = (0, 3, 1, 2)


def heads_of(module: ModuleOp) -> list[bool]:
    """For each product whether it reads heads as they lie."""
    return [bool(op.hdim_is_batch) for op in ops_of(module, tpu.MatMulOp)]


# PermuteFuseAddSoftmaxSlice


def attended_parts(
    bounds: Sequence[tuple[int, int]] = ((0, 4), (4, 10)),
    *,
    axis: int = 3,
    order: Sequence[int] = HEADS,
    used: bool = False,
    between: bool = False,
    disable: str = "",
) -> ModuleOp:
    """Scores of 2x7x3x10 permuted, masked, in a Softmax; then parts of them times values."""
    net = Net()
    scores = permuted(net, "p", net.input("scores", 2, 7, 3, 10), order)
    rows, columns = (7, 10) if tuple(order) == HEADS else (10, 7)
    masked = net.op(top.AddOp, "masked", (scores, net.input("mask", 2, 1, rows, columns)))
    soft = net.op(top.SoftmaxOp, "soft", (masked,), axis=3)
    outputs: list[SSAValue] = [end(net, soft, "other")] if used else []
    for index, (first, last) in enumerate(bounds):
        part = cut_along(net, f"part{index}", soft, axis, first, last - first)
        if between:
            part = net.op(top.MulConstOp, f"half{index}", (part,), const_val=0.5)
        size = last - first if axis == 3 else columns
        heads = last - first if axis == 1 else 3
        value = permuted(net, f"pv{index}", net.input(f"v{index}", 2, size, heads, 6))
        product = net.op(top.MatMulOp, f"mm{index}", (part, value, net.none))
        outputs.append(end(net, permuted(net, f"back{index}", product), f"end{index}"))
    return optimized(net, *outputs, disable=disable)


@pytest.mark.parametrize("between", [False, True])
def test_permute_passes_softmax_and_slices_to_the_products(between: bool) -> None:
    after = attended_parts(between=between)
    assert orders(after) == []
    assert heads_of(after) == [True, True]
    assert [shape_of(op.output) for op in ops_of(after, tpu.SliceOp)] == [
        (2, 7, 3, 4),
        (2, 7, 3, 6),
    ]


@pytest.mark.parametrize(("axis", "moved"), [(1, 2), (2, 1)])
def test_slice_takes_the_dimension_that_becomes_its_axis(axis: int, moved: int) -> None:
    bounds = {1: ((0, 2), (2, 3)), 2: ((0, 3), (3, 7))}[axis]
    after = attended_parts(bounds, axis=axis)
    assert orders(after) == []
    for op, (first, last) in zip(ops_of(after, tpu.SliceOp), bounds, strict=True):
        assert ints(op.offset)[moved] == first
        assert shape_of(op.output)[moved] == last - first
        assert ints(op.hasparamConvert_axes) == (moved,)


def test_slices_stay_behind_the_permute() -> None:
    assert "Permute" in kinds(attended_parts(disable="PermuteFuseAddSoftmaxSlice"))
    assert "Permute" in kinds(attended_parts(used=True))


def test_slices_that_overlap_would_move_more() -> None:
    assert orders(attended_parts(((0, 5), (5, 10)))) == []
    assert HEADS in orders(attended_parts(((0, 6), (5, 10))))


def test_slice_that_no_permute_can_leave_stays() -> None:
    net = Net()
    soft = net.op(top.SoftmaxOp, "soft", (permuted(net, "p", net.input("x", 2, 7, 3, 8)),), axis=3)
    after = optimized(net, end(net, cut_along(net, "part", soft, 3, 0, 4)))
    assert kinds(after) == ["Softmax", "Permute", "Slice", "MinConst"]


# PermutePadSwap


def padded(
    order: Sequence[int] = HEADS,
    then: Sequence[int] | None = HEADS,
    *,
    used: bool = False,
    disable: str = "",
    **attributes: Any,
) -> ModuleOp:
    net = Net()
    value = permuted(net, "p", net.input("x", 2, 5, 3, 7), order)
    outputs = [end(net, value, "other")] if used else []
    settings = {"paddings": [0, 1, 2, 3, 1, 0, 4, 0], "mode": "constant", "val": 0.5} | attributes
    value = net.op(top.PadOp, "pad", (value, net.none), **settings)
    value = value if then is None else permuted(net, "q", value, then)
    return optimized(net, *outputs, end(net, value), disable=disable)


@pytest.mark.parametrize(("order", "then"), [(HEADS, HEADS), (TURNED, BACK), (BACK, TURNED)])
def test_pad_lets_permutes_cancel(order: Sequence[int], then: Sequence[int]) -> None:
    after = padded(order, then)
    assert kinds(after) == ["Pad", "MinConst"]
    back = [list(order).index(axis) for axis in range(4)]
    expected = [[0, 1, 2, 3][i] for i in back] + [[1, 0, 4, 0][i] for i in back]
    assert list(ints(only(after, tpu.PadOp).paddings)) == expected


@pytest.mark.parametrize("mode", ["reflect", "edge"])
def test_pad_with_copies_moves_too(mode: str) -> None:
    after = padded(mode=mode, paddings=[0, 1, 2, 1, 1, 0, 1, 0])
    assert kinds(after) == ["Pad", "MinConst"]


def test_pad_lets_a_permute_by_to_a_product() -> None:
    net = Net()
    left = permuted(net, "p", net.input("x", 2, 5, 3, 6))
    counts = [0, 0, 1, 0, 0, 0, 1, 0]
    left = net.op(top.PadOp, "pad", (left, net.none), paddings=counts, mode="constant")
    right = permuted(net, "q", net.input("y", 2, 6, 3, 4))
    after = optimized(net, end(net, net.op(top.MatMulOp, "mm", (left, right, net.none))))
    assert kinds(after) == ["Pad", "MatMul", "Permute", "MinConst"]
    assert heads_of(after) == [True]


def test_pad_stays_behind_the_permute() -> None:
    assert kinds(padded(then=None)) == ["Permute", "Pad", "MinConst"]
    assert kinds(padded(used=True)).count("Permute") == 2
    assert kinds(padded(disable="PermutePadSwap")).count("Permute") == 2


# PermuteTileSwap


def tiled(
    order: Sequence[int] = HEADS,
    counts: Sequence[int] = (1, 3, 1, 1),
    left: Sequence[int] | None = HEADS,
    *,
    used: bool = False,
    disable: str = "",
) -> ModuleOp:
    """2x7x3x5 permuted times one matrix of 5x6 for all heads (or batches), repeated for each."""
    net = Net()
    shape = (2, 7, 3, 5) if left is not None else (2, 3, 7, 5)
    x = net.input("x", *shape)
    x = x if left is None else permuted(net, "p", x, left)
    single = (2 // counts[0], 3 // counts[1], 5, 6)
    source = [0] * 4
    for place, axis in enumerate(order):
        source[axis] = single[place]
    y = permuted(net, "q", net.input("y", *source), order)
    outputs = [end(net, y, "other")] if used else []
    y = net.op(top.TileOp, "tile", (y,), tile=counts)
    y = net.op(top.MatMulOp, "mm", (x, y, net.none))
    return optimized(net, *outputs, end(net, y), disable=disable)


@pytest.mark.parametrize("order", [HEADS, TURNED])
@pytest.mark.parametrize("counts", [(1, 3, 1, 1), (2, 1, 1, 1), (2, 3, 1, 1)])
def test_repeated_matrices_are_read_as_they_lie(
    order: Sequence[int], counts: Sequence[int]
) -> None:
    """The Tile stays: kernels read a matrix of their own for each head."""
    after = tiled(order, counts)
    assert heads_of(after) == [True]
    assert kinds(after).count("Tile") == 1
    assert orders(after) == [HEADS]
    assert shape_of(only(after, tpu.MatMulOp).right)[::2] == (2, 3)


def test_tile_stays_behind_the_permute() -> None:
    assert heads_of(tiled(left=None)) == [False]
    assert len(orders(tiled(counts=(2, 1, 1, 1), used=True))) > 1
    assert len(orders(tiled(disable="PermuteTileSwap", counts=(2, 1, 1, 1)))) > 1


def test_heads_that_broadcast_are_refused() -> None:
    """Without a Tile the product has to find one matrix for several heads: no kernel does."""
    net = Net()
    values = [
        permuted(net, "p", net.input("x", 2, 7, 3, 5)),
        permuted(net, "q", net.input("y", 2, 5, 1, 6)),
    ]
    after = optimized(net, end(net, net.op(top.MatMulOp, "mm", (*values, net.none))))
    assert heads_of(after) == [False]


# MaskedFillPermuteMove


def filled(
    other: Sequence[int],
    *,
    order: Sequence[int] = HEADS,
    kind: str = "input",
    swapped: bool = False,
    then: Sequence[int] | None = HEADS,
    used: bool = False,
    disable: str = "",
) -> ModuleOp:
    """x (2x5x3x7) permuted and filled where another tensor is negative (or the reverse)."""
    net = Net()
    x = permuted(net, "p", net.input("x", 2, 5, 3, 7), order)
    outputs = [end(net, x, "other")] if used else []
    match kind:
        case "weight":
            sign = np.random.default_rng(1).integers(0, 2, other)
            y = net.weight("w", values=sign)
        case _:
            y = net.input("y", *other)
    condition, value = (x, y) if swapped else (y, x)
    if swapped or kind != "weight":
        condition = net.op(
            top.CompareConstOp, "less", (condition,), mode="Less", const_val=0.0, inversed=False
        )
    if kind == "permute":
        condition = permuted(net, "q", condition, order)
    y = net.op(top.MaskedFillOp, "fill", (condition, value), const_val=-4.0, inversed=False)
    y = y if then is None else permuted(net, "r", y, then)
    return optimized(net, *outputs, end(net, y), disable=disable)


def test_mask_of_weights_is_permuted_instead() -> None:
    after = filled((2, 3, 5, 7), kind="weight")
    assert kinds(after) == ["MaskedFill", "MinConst"]
    (name,) = [name for name in weights_of(after) if name.endswith("_transposed_mask_weight")]
    assert weights_of(after)[name].shape == (2, 5, 3, 7)


def test_mask_of_weights_is_permuted_in_any_order() -> None:
    assert kinds(filled((1, 3, 7, 5), kind="weight", order=TURNED, then=None))[0] == "MaskedFill"


@pytest.mark.parametrize("mask", [(2, 1, 5, 7), (1, 3, 1, 7), (1, 1, 1, 7)])
def test_mask_for_all_heads_is_reshaped(mask: Sequence[int]) -> None:
    after = filled(mask)
    assert orders(after) == []
    assert "MaskedFill" in kinds(after)


def test_equal_permutes_of_both_move_behind() -> None:
    after = filled((2, 5, 3, 7), kind="permute", then=None)
    assert kinds(after)[-2:] == ["Permute", "MinConst"]


def test_permute_moves_to_the_mask_when_the_one_behind_cancels() -> None:
    assert orders(filled((2, 3, 5, 7))) == [HEADS]
    assert orders(filled((2, 3, 5, 7), disable="MaskedFillPermuteMove")) == [HEADS, HEADS]


def test_permute_of_the_condition_moves_too() -> None:
    """Behind a comparison, which it does not pass, it stays; see the FileCheck test for others."""
    assert orders(filled((2, 3, 5, 7), swapped=True)) == [HEADS, HEADS]


def test_fill_stays_behind_the_permute() -> None:
    assert kinds(filled((2, 3, 5, 7), then=None))[-1] == "MinConst"
    assert kinds(filled((2, 3, 5, 7), then=None))[-2] == "MaskedFill"
    assert len(orders(filled((2, 1, 5, 7), used=True))) == 2
    assert len(orders(filled((5, 7)))) == 2


# PermuteToReshape, ReshapePermuteFuse, PermuteReshapeFuse


def row(*steps: tuple[str, Sequence[int]], start: Sequence[int], disable: str = "") -> ModuleOp:
    """Permutes ("p", order) and Reshapes ("r", shape) one after the other."""
    net = Net()
    value = net.input("x", *start)
    for index, (kind, sizes) in enumerate(steps):
        if kind == "r":
            value = net.op(top.ReshapeOp, f"s{index}", (value,), shape=sizes)
        else:
            value = permuted(net, f"s{index}", value, sizes)
    return optimized(net, end(net, value), disable=disable)


ONLY_NAMED = "PermuteToReshape"


def test_reshape_and_permute_of_ones_are_nothing() -> None:
    after = row(("r", (1, 5, 1, 7)), ("p", HEADS), start=(1, 1, 5, 7), disable=ONLY_NAMED)
    assert kinds(after) == ["MinConst"]


def test_reshape_and_permute_of_ones_are_a_reshape() -> None:
    after = row(("r", (1, 5, 1, 7)), ("p", HEADS), start=(5, 7), disable=ONLY_NAMED)
    assert kinds(after) == ["Reshape", "MinConst"]


def test_permute_of_ones_and_reshape_are_a_reshape() -> None:
    after = row(("p", HEADS), ("r", (1, 35)), start=(1, 1, 5, 7), disable=ONLY_NAMED)
    assert kinds(after) == ["Reshape", "MinConst"]
    off = f"{ONLY_NAMED},PermuteReshapeFuse"
    assert "Permute" in kinds(row(("p", HEADS), ("r", (1, 35)), start=(1, 1, 5, 7), disable=off))
    off = f"{ONLY_NAMED},ReshapePermuteFuse"
    steps = (("r", (1, 5, 1, 7)), ("p", HEADS))
    assert "Permute" in kinds(row(*steps, start=(1, 1, 5, 7), disable=off))


def test_permutes_that_move_data_stay_beside_reshapes() -> None:
    after = row(("r", (1, 5, 2, 7)), ("p", HEADS), ("r", (2, 35)), start=(10, 7))
    assert kinds(after) == ["Reshape", "Permute", "Reshape", "MinConst"]


# PermuteReshapeFuse2


SPLITS = {
    "case 1": ((2, 8, 24), (0, 2, 1), (2, 24, 2, 2, 2, 1), (0, 2, 4, 3, 5, 1)),
    "case 2": ((1, 6, 4), (0, 2, 1), (1, 4, 2, 3, 1, 1), (0, 2, 4, 1, 3, 5)),
    "no batch": ((8, 24), (1, 0), (24, 2, 4), (1, 0, 2)),
    "heads": ((2, 6, 5, 8), (0, 2, 1, 3), (2, 5, 2, 3, 8), (0, 2, 3, 1, 4)),
}


@pytest.mark.parametrize(("start", "first", "shape", "last"), SPLITS.values(), ids=SPLITS.keys())
def test_permutes_around_a_split_are_one(
    start: Sequence[int], first: Sequence[int], shape: Sequence[int], last: Sequence[int]
) -> None:
    after = row(("p", first), ("r", shape), ("p", last), start=start)
    assert kinds(after).count("Permute") <= 1
    off = row(
        ("p", first),
        ("r", shape),
        ("p", last),
        start=start,
        disable="PermuteReshapeFuse2,PermuteFuse",
    )
    assert kinds(off).count("Permute") == 2


def test_permutes_around_a_merge_stay() -> None:
    after = row(("p", HEADS), ("r", (2, 15, 7)), ("p", (0, 2, 1)), start=(2, 5, 3, 7))
    assert kinds(after).count("Permute") == 2


def test_permutes_that_one_step_cannot_do_stay() -> None:
    after = row(("p", (2, 1, 0)), ("r", (2, 3, 4, 5, 7)), ("p", (1, 0, 4, 2, 3)), start=(7, 20, 6))
    assert kinds(after).count("Permute") in (1, 2)
    for op in ops_of(after, tpu.PermuteOp):
        assert Permutation(shape_of(op.input), ints(op.order)).at_rank(4) is not None


# FitPermute2Hdim


def fitted(
    source: Sequence[int], order: Sequence[int], *, used: bool = False, disable: str = ""
) -> ModuleOp:
    """x times (y permuted and reshaped to 2x3x5x6), and x (2x7x3x5) permuted."""
    net = Net()
    left = permuted(net, "p", net.input("x", 2, 7, 3, 5))
    right = permuted(net, "q", net.input("y", *source), order)
    outputs = [end(net, right, "other")] if used else []
    right = net.op(top.ReshapeOp, "r", (right,), shape=(2, 3, 5, 6))
    product = net.op(top.MatMulOp, "mm", (left, right, net.none))
    return optimized(net, *outputs, end(net, product), disable=disable)


FITTING = {
    "rows in two dimensions": ((2, 5, 1, 3, 6), (0, 3, 1, 2, 4)),
    "columns in two dimensions": ((2, 5, 3, 2, 3), (0, 2, 1, 3, 4)),
    "turned": ((2, 2, 3, 3, 5), (0, 3, 4, 1, 2)),
}


@pytest.mark.parametrize(("source", "order"), FITTING.values(), ids=FITTING.keys())
def test_operand_in_another_rank_is_read_as_it_lies(
    source: Sequence[int], order: Sequence[int]
) -> None:
    after = fitted(source, order)
    assert heads_of(after) == [True]
    assert orders(after) == [HEADS]
    assert heads_of(fitted(source, order, disable="FitPermute2Hdim")) == [False]


def test_operand_of_one_batch_loses_a_dimension() -> None:
    """Heads and rows of a 3-D tensor, as networks without a batch dimension have them."""
    net = Net()
    sides: list[SSAValue] = []
    for name, shape, final in (("x", (7, 3, 5), (1, 3, 7, 5)), ("y", (5, 3, 6), (1, 3, 5, 6))):
        value = permuted(net, f"p{name}", net.input(name, *shape), (1, 0, 2))
        sides.append(net.op(top.ReshapeOp, f"r{name}", (value,), shape=final))
    after = optimized(net, end(net, net.op(top.MatMulOp, "mm", (*sides, net.none))))
    assert heads_of(after) == [True]
    assert orders(after) == [HEADS]


def test_operand_in_another_order_stays() -> None:
    assert heads_of(fitted((3, 2, 5, 6), (1, 0, 2, 3))) == [False]
    assert heads_of(fitted((2, 3, 6, 5), (0, 1, 3, 2))) == [False]
    assert heads_of(fitted(*FITTING["columns in two dimensions"], used=True)) == [False]
