"""An index that counts its own position is a dimension that is written or read whole."""

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.passes.tensors import shape_of

CANONICALIZE = "canonicalize"
REDUCTIONS = [0, 1, 2, 3, 4, 5]  # none, add, sub, max, min, mul


def counted(net: Net, size: int, axis: int, shape: tuple[int, ...], first: int = 0) -> SSAValue:
    """A weight of `shape` and a column, whose numbers are those of an axis."""
    line = np.arange(first, first + size).reshape(-1, *(1,) * (len(shape) - 1 - axis))
    values = np.broadcast_to(line, shape)[..., None]
    return net.weight(f"counted{axis}", values=values)


def repeated(net: Net, axis: int, shape: tuple[int, ...]) -> SSAValue:
    """An input `i` that is the same along an axis of `shape`, and a column.

    Random numbers of an input, as indices, are -2 to 2: some are negative, most are there twice.
    """
    line = net.input("i", *(1 if at == axis else size for at, size in enumerate(shape)))
    counts = [size if at == axis else 1 for at, size in enumerate(shape)]
    tiled = net.op(top.TileOp, "t", (line,), tile=counts)
    return net.op(top.UnsqueezeOp, "t1", (tiled,), axes=[len(shape)])


def joined(net: Net, *columns: SSAValue) -> SSAValue:
    return net.op(top.ConcatOp, "index", columns, axis=-1)


def scattered(net: Net, data: SSAValue, index: SSAValue, reduction: int) -> ModuleOp:
    """The module of a ScatterND in the middle of a network."""
    places, depth = shape_of_index(index)
    news = net.input("u", *places, *shape_of(data)[depth:])
    y = net.op(top.ScatterNDOp, "y", (data, index, news), reduction=reduction)
    return net.module(net.op(top.SinOp, "s", (y,)))


def shape_of_index(index: SSAValue) -> tuple[tuple[int, ...], int]:
    """The places that an index names, and of how many columns it is; shapes are not inferred."""
    assert isinstance(index.owner, top.ConcatOp)
    columns = index.owner.inputs
    counting = next(one for one in columns if isinstance(one.owner, top.WeightOp))
    return shape_of(counting)[:-1], len(columns)


def index_columns(module: ModuleOp) -> list[tuple[int, ...]]:
    """The shapes of the indices of what is left of ScatterND and GatherND."""
    ops = ops_of(module, top.ScatterNDOp) + ops_of(module, top.GatherNDOp)
    return [shape_of(op.indices) for op in ops]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("last", [False, True])
def test_first_dimension(reduction: int, last: bool) -> None:
    """x[:, i] = u, with the counting dimension of the index in front or behind."""
    net, places = Net(), (7, 4) if last else (4, 7)
    axis = 1 if last else 0
    index = joined(net, counted(net, 4, axis, places), repeated(net, axis, places))
    after = assert_same_numbers(
        scattered(net, net.input("x", 4, 9), index, reduction), CANONICALIZE
    )
    assert index_columns(after) == [(7, 1)]
    assert "Tile" not in kinds(after)
    assert kinds(after).count("Permute") == (2 if last else 3)


@pytest.mark.parametrize("reduction", [0, 1])
def test_second_dimension_moves_nothing(reduction: int) -> None:
    net, places = Net(), (7, 4)
    index = joined(net, repeated(net, 1, places), counted(net, 4, 1, places))
    module = scattered(net, net.input("x", 9, 4, 5), index, reduction)
    after = assert_same_numbers(module, CANONICALIZE)
    assert index_columns(after) == [(7, 1)]
    assert "Permute" not in kinds(after)


@pytest.mark.parametrize("known", [False, True])
def test_constants_stay_constants(known: bool) -> None:
    net, places = Net(), (4, 7)
    index = joined(net, counted(net, 4, 0, places), repeated(net, 0, places))
    x = net.weight("x", 4, 9) if known else net.input("x", 4, 9)
    after = assert_same_numbers(scattered(net, x, index, 0), CANONICALIZE)
    assert isinstance(ops_of(after, top.ScatterNDOp)[0].input_data.owner, top.WeightOp) == known


@pytest.mark.parametrize(
    ("size", "first", "data", "changed"),
    [
        (4, 0, 4, True),
        (4, -4, 4, True),  # from the end
        (4, 0, 5, False),  # not all of the dimension
        (4, 1, 5, False),
        (4, -3, 4, False),  # turned by one: -3, -2, -1, 0
    ],
)
def test_all_of_the_dimension(size: int, first: int, data: int, changed: bool) -> None:
    net, places = Net(), (4, 7)
    index = joined(net, counted(net, size, 0, places, first), repeated(net, 0, places))
    after = assert_same_numbers(scattered(net, net.input("x", data, 9), index, 0), CANONICALIZE)
    assert index_columns(after) == ([(7, 1)] if changed else [(4, 7, 2)])


@pytest.mark.parametrize("axis", [1, 2])
def test_what_differs_along_the_dimension_stays(axis: int) -> None:
    """The index is repeated along another dimension than that which is counted, or along none."""
    net, places = Net(), (4, 7)
    if axis == 1:
        other = repeated(net, 1, places)
    else:
        other = net.op(top.UnsqueezeOp, "i1", (net.input("i", *places),), axes=[2])
    index = joined(net, counted(net, 4, 0, places), other)
    after = assert_same_numbers(scattered(net, net.input("x", 4, 9), index, 0), CANONICALIZE)
    assert index_columns(after) == [(4, 7, 2)]


def test_two_dimensions() -> None:
    """x[:, i, :] = u with every index written out."""
    net, places = Net(), (3, 7, 4)
    first, last = counted(net, 3, 0, places), counted(net, 4, 2, places)
    line = net.input("i", 1, 7, 1)
    tiled = net.op(top.TileOp, "t", (line,), tile=[3, 1, 4])
    index = joined(net, first, net.op(top.UnsqueezeOp, "t1", (tiled,), axes=[3]), last)
    after = assert_same_numbers(scattered(net, net.input("x", 3, 9, 4), index, 1), CANONICALIZE)
    assert index_columns(after) == [(7, 1)]


def test_a_dimension_of_one() -> None:
    net, places = Net(), (1, 7)
    index = joined(net, counted(net, 1, 0, places, -1), repeated(net, 0, places))
    after = assert_same_numbers(scattered(net, net.input("x", 1, 9, 3), index, 0), CANONICALIZE)
    assert index_columns(after) == [(7, 1)]
    assert "Permute" not in kinds(after)


def test_only_one_place() -> None:
    """x[:, i] = u of one i: the last dimension of the index's places stays."""
    net = Net()
    line = net.op(top.TileOp, "t", (net.input("i", 1, 1),), tile=[4, 1])
    index = joined(net, counted(net, 4, 0, (4,)), line)
    after = assert_same_numbers(scattered(net, net.input("x", 4, 9), index, 0), CANONICALIZE)
    assert index_columns(after) == [(1, 1)]


def test_known_indices() -> None:
    """Of one weight, which is in the order of the data already; in another order it stays."""
    rows = np.array([5, 0, -1, 5])
    for turned in (False, True):
        net = Net()
        columns = np.meshgrid(rows, np.arange(3), indexing="ij")
        values = np.stack(columns[::-1] if turned else columns, -1)
        index = net.weight("index", values=values)
        news = net.input("u", 4, 3)
        x = net.input("x", *((3, 9) if turned else (9, 3)))
        y = net.op(top.ScatterNDOp, "y", (x, index, news), reduction=0)
        module = net.module(net.op(top.SinOp, "s", (y,)))
        after = assert_same_numbers(module, CANONICALIZE)
        assert index_columns(after) == ([(4, 3, 2)] if turned else [(4, 1)])


@pytest.mark.parametrize(("columns", "changed"), [(256, True), (257, False)])
def test_few_places_of_a_large_table_stay(columns: int, changed: bool) -> None:
    """At most 64 elements are moved for each of 4 * 8 places: 4 * 256 before, and after."""
    net, places = Net(), (4, 8)
    index = joined(net, counted(net, 4, 0, places), repeated(net, 0, places))
    x = net.input("x", 4, columns - 4)  # the 32 updates are moved as well
    after = assert_same_numbers(scattered(net, x, index, 0), CANONICALIZE)
    assert index_columns(after) == ([(8, 1)] if changed else [(4, 8, 2)])


@pytest.mark.parametrize("batch", [0, 1])
@pytest.mark.parametrize("column", [0, 1])
def test_gathers(batch: int, column: int) -> None:
    net = Net()
    images, places = (2,) * batch, (4, 7)
    counting = counted(net, 4, batch, (*images, *places))
    line = net.input("i", *images, 1, 7)
    tiled = net.op(top.TileOp, "t", (line,), tile=[*(1 for _ in images), 4, 1])
    other = net.op(top.UnsqueezeOp, "t1", (tiled,), axes=[batch + 2])
    index = joined(net, *((counting, other) if column == 0 else (other, counting)))
    x = net.input("x", *images, *((4, 9) if column == 0 else (9, 4)), 5)
    y = net.op(top.GatherNDOp, "y", (x, index), batch_dims=batch)
    after = assert_same_numbers(net.module(net.op(top.SinOp, "s", (y,))), CANONICALIZE)
    assert index_columns(after) == [(*images, 7, 1)]
    assert shape_of(ops_of(after, top.SinOp)[0].output) == (*images, 4, 7, 5)


def test_an_index_outside_is_refused_as_before() -> None:
    net, places = Net(), (4, 7)
    index = joined(net, counted(net, 4, 0, places), repeated(net, 0, places))
    module = scattered(net, net.input("x", 4, 9), index, 0)
    after = assert_same_numbers(module, CANONICALIZE)
    inputs = {"x": np.zeros((4, 9)), "u": np.zeros((4, 7)), "i": np.full((1, 7), 9)}
    floats = {name: array.astype(np.float32) for name, array in inputs.items()}
    for one in (module, after):
        with pytest.raises(TpuError, match="index 9 is outside a dimension of 9"):
            run_module(one, floats)
