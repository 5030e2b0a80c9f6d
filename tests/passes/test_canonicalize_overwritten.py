"""Assignments to boxes of a value, one after the other: each element is moved once."""

from collections.abc import Sequence
from itertools import count

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.tensors import shape_of

SHAPE = 1, 4, 9, 3, 2
TO_FRONT = 2, 1, 0, 3, 4
"""Channels first, as exporters bring the axis of an assignment to the front."""


class Writer:
    """Writes `value[box] = new` in the ways in which exporters write it."""

    def __init__(self) -> None:
        self.net = Net()
        self._numbers = count()
        self.x = self.op(top.AbsOp, self.net.input("x", *SHAPE))

    def op(self, kind: type, *operands: SSAValue, **attributes: object) -> SSAValue:
        return self.net.op(kind, f"t{next(self._numbers)}", operands, **attributes)

    def part(self, value: SSAValue, axis: int, begin: int, end: int) -> SSAValue:
        lists = {"axes": [axis], "offset": [begin], "ends": [end], "steps": [1]}
        return self.op(top.SliceOp, value, *[self.net.none] * 3, **lists)

    def turned(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        return self.op(top.PermuteOp, value, order=order)

    def zeros(self, *shape: int) -> SSAValue:
        return self.net.weight(f"w{next(self._numbers)}", values=np.zeros(shape))

    def scattered(
        self, value: SSAValue, begin: int, end: int, size: int, new: SSAValue
    ) -> SSAValue:
        """Channels `begin` to `end` of `size` along the first axis."""
        rows = np.arange(begin, end)[:, None]
        where = self.net.weight(f"w{next(self._numbers)}", values=rows)
        return self.op(top.ScatterNDOp, value, where, new, reduction=0)

    def left(self, *outputs: SSAValue) -> list[str]:
        """The ops after `canonicalize`, which compute the same."""
        ends = [self.op(top.SinOp, value) for value in outputs]
        self.after = assert_same_numbers(self.net.module(*ends), "canonicalize")
        return kinds(self.after)


def shifted(writer: Writer, fold: int) -> SSAValue:
    """`out[:, :-1, :f] = x[:, 1:, :f]; out[:, 1:, f:2f] = x[:, :-1, f:2f]; out[:, :, 2f:] = ..`, as
    `torch.export` writes it: a slice of times, channels of it to the front, and both back."""
    _, times, channels, *_ = SHAPE
    x = writer.x
    new = writer.turned(writer.part(writer.part(x, 1, 1, times), 2, 0, fold), TO_FRONT)
    early = writer.zeros(channels, times - 1, 1, 3, 2)
    early = writer.scattered(early, 0, fold, channels, new)
    out = writer.op(
        top.ConcatOp,
        writer.turned(early, (1, 2, 0, 3, 4)),
        writer.zeros(1, 1, channels, 3, 2),
        axis=0,
    )
    out = writer.op(top.ReshapeOp, out, shape=SHAPE)
    new = writer.turned(writer.part(writer.part(x, 1, 0, -1), 2, fold, 2 * fold), TO_FRONT)
    late = writer.turned(writer.part(out, 1, 1, times), TO_FRONT)
    late = writer.scattered(late, fold, 2 * fold, channels, new)
    first = writer.part(out, 1, 0, 1)
    out = writer.op(top.ConcatOp, first, writer.turned(late, TO_FRONT), axis=1)
    new = writer.turned(writer.part(x, 2, 2 * fold, channels), TO_FRONT)
    out = writer.scattered(writer.turned(out, TO_FRONT), 2 * fold, channels, channels, new)
    return writer.turned(out, TO_FRONT)


@pytest.mark.parametrize("fold", [1, 2, 4])
def test_a_shift_of_times_moves_each_element_once(fold: int) -> None:
    writer = Writer()
    left = writer.left(shifted(writer, fold))
    assert left.count("Concat") == 1
    assert left.count("Pad") == 2
    assert left.count("Slice") == 3
    assert not {"Permute", "ScatterND"} & set(left)
    assert {len(shape_of(op.output)) for op in ops_of(writer.after, top.ConcatOp)} == {4}


@pytest.mark.parametrize("images", [1, 2])
def test_a_shift_that_is_joined_has_as_few_dimensions_as_ops(images: int) -> None:
    """`torch.cat` of slices and zeros: only in other dimensions."""
    writer = Writer()
    x = writer.x if images == 1 else writer.net.input("several", images, *SHAPE[1:])
    zeros = writer.zeros(images, 1, 2, 3, 2)
    early, late = writer.part(x, 2, 0, 2), writer.part(x, 2, 2, 4)
    early = writer.op(top.ConcatOp, writer.part(early, 1, 1, 4), zeros, axis=1)
    late = writer.op(top.ConcatOp, zeros, writer.part(late, 1, 0, 3), axis=1)
    left = writer.left(writer.op(top.ConcatOp, early, late, writer.part(x, 2, 4, 9), axis=2))
    assert (left.count("Concat"), left.count("Pad"), left.count("Slice")) == (1, 2, 3)
    (joined,) = ops_of(writer.after, top.ConcatOp)
    assert len(shape_of(joined.output)) == (4 if images == 1 else 5)


def test_what_is_read_elsewhere_is_made() -> None:
    writer = Writer()
    first = writer.scattered(writer.zeros(9, 4), 0, 5, 9, writer.net.input("y", 5, 4))
    turned = writer.turned(first, (1, 0))
    second = writer.scattered(turned, 1, 3, 4, writer.net.input("z", 2, 9))
    left = writer.left(second, turned)
    assert (left.count("Concat"), left.count("Permute")) == (2, 1)


@pytest.mark.parametrize("values", [np.arange(36.0).reshape(9, 4), np.full((9, 4), -1.5)])
def test_numbers_other_than_zeros(values: np.ndarray) -> None:
    """A Pad where they are all the same, else a Concat with some of them."""
    writer = Writer()
    under = writer.net.weight("under", values=values)
    first = writer.turned(writer.scattered(under, 0, 5, 9, writer.net.input("y", 5, 4)), (1, 0))
    second = writer.scattered(first, 1, 3, 4, writer.net.input("z", 2, 9))
    left = writer.left(second)
    assert ("Pad" in left) == (len(np.unique(values)) == 1)
    assert "Concat" in left


def test_a_pinwheel_has_no_cut_from_edge_to_edge() -> None:
    writer = Writer()
    value = writer.op(top.AbsOp, writer.net.input("a", 3, 3))
    boxes = [((0, 1), (0, 2)), ((0, 2), (2, 3)), ((2, 3), (1, 3)), ((1, 3), (0, 1))]
    for number, box in enumerate(boxes):
        axes = [np.arange(*bounds) for bounds in box]
        corners = np.stack(np.meshgrid(*axes, indexing="ij"), -1)
        where = writer.net.weight(f"i{number}", values=corners)
        new = writer.net.input(f"b{number}", *corners.shape[:-1])
        value = writer.op(top.ScatterNDOp, value, where, new, reduction=0)
    assert "Concat" in writer.left(value)


@pytest.mark.parametrize("seed", range(12))
def test_boxes_written_at_random(seed: int) -> None:
    chance = np.random.default_rng(seed)
    writer = Writer()
    sizes = [5, 6, 1, 4]
    value = writer.zeros(*sizes)
    if seed % 3 == 0:
        value = writer.op(top.AbsOp, writer.net.input("under", *sizes))
    for number in range(int(chance.integers(2, 5))):
        order = [int(axis) for axis in chance.permutation(4)]
        value = writer.turned(value, order)
        sizes = [sizes[axis] for axis in order]
        begin = int(chance.integers(0, sizes[0]))
        end = int(chance.integers(begin, sizes[0])) + 1
        new = writer.net.input(f"new{number}", end - begin, *sizes[1:])
        value = writer.scattered(value, begin, end, sizes[0], new)
    assert "ScatterND" not in writer.left(value)
