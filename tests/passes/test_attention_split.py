"""The split of QKV moves in front of the permutes; patch merging is one op."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.tensors import shape_of

CANONICALIZE = "canonicalize"


@dataclass(frozen=True)
class Parts:
    """A product whose columns are split, permuted and cut into parts of one index."""

    rows: tuple[int, ...] = (4, 5)
    split: tuple[int, ...] = (4, 5, 3, 2, 8)
    orders: tuple[tuple[int, ...], ...] = ((2, 0, 3, 1, 4),)
    merged: tuple[int, ...] | None = None
    axis: int = 0
    count: int = 3
    size: int = 1
    squeezed: bool = True
    gathered: bool = False
    also_used: str = ""

    def module(self) -> ModuleOp:
        net = Net()
        columns = 48
        x = net.input("x", *self.rows, 16)
        value = net.op(top.MatMulOp, "mm", (x, net.weight("w", 16, columns), net.none))
        values = {"mm": value}
        value = values["split"] = net.op(top.ReshapeOp, "split", (value,), shape=self.split)
        for index, order in enumerate(self.orders):
            name = f"p{index}"
            value = values[name] = net.op(top.PermuteOp, name, (value,), order=order)
        if self.merged is not None:
            value = values["merge"] = net.op(top.ReshapeOp, "merge", (value,), shape=self.merged)
        outputs = [self.part(net, value, index) for index in range(self.count)]
        if self.also_used:
            outputs.append(net.op(top.AbsOp, "other", (values[self.also_used],)))
        return net.module(*outputs)

    def part(self, net: Net, value: SSAValue, index: int) -> SSAValue:
        if self.gathered:
            operands = (value, net.weight(f"i{index}", values=[float(index)]))
            part = net.op(top.GatherOp, f"q{index}", operands, axis=self.axis, keepdims=False)
            return net.op(top.AbsOp, f"y{index}", (part,))
        cut = cut_along(net, f"s{index}", value, self.axis, index * self.size, self.size)
        if not self.squeezed:
            return net.op(top.AbsOp, f"y{index}", (cut,))
        part = net.op(top.SqueezeOp, f"q{index}", (cut,), axes=[self.axis])
        return net.op(top.AbsOp, f"y{index}", (part,))


def cut_along(net: Net, name: str, x: SSAValue, axis: int, first: int, size: int = 1) -> SSAValue:
    bounds = {"axes": [axis], "offset": [first], "ends": [first + size], "steps": [1]}
    return net.op(top.SliceOp, name, (x, net.none, net.none, net.none), **bounds)


def orders(module: ModuleOp) -> list[tuple[int, ...]]:
    return [ints(op.order) for op in ops_of(module, top.PermuteOp)]


def cut_sources(module: ModuleOp) -> set[str]:
    """What the Slices read."""
    return {str(name_of(op.input)) for op in ops_of(module, top.SliceOp)}


SWIN = Parts()
MERGED_BEHIND = Parts(merged=(3, 8, 5, 8))
FOUR_D = Parts(rows=(2, 3, 4), split=(2, 12, 3, 2, 8))

MOVED = {
    "one permute": (SWIN, (0, 2, 1, 3)),
    "parts are gathered": (replace(SWIN, gathered=True), (0, 2, 1, 3)),
    "two permutes": (replace(SWIN, orders=((0, 2, 3, 1, 4), (1, 0, 2, 3, 4))), (0, 2, 1, 3)),
    "rows and batch swap": (replace(SWIN, orders=((2, 3, 1, 0, 4),)), (2, 1, 0, 3)),
    "merged": (MERGED_BEHIND, (0, 2, 1, 3)),
    "merged in front of the split": (
        Parts(orders=((0, 3, 1, 2, 4),), merged=(8, 5, 3, 8), axis=2),
        (0, 2, 1, 3),
    ),
    "two permutes, merged": (
        replace(MERGED_BEHIND, orders=((0, 2, 3, 1, 4), (1, 0, 2, 3, 4))),
        (0, 2, 1, 3),
    ),
    "4-D product": (FOUR_D, (0, 2, 1, 3)),
    "4-D product, other rows merged": (
        Parts(rows=(2, 3, 4), split=(6, 4, 3, 2, 8)),
        (0, 2, 1, 3),
    ),
    "rows are split": (Parts(rows=(20,), split=(4, 5, 3, 2, 8)), (0, 2, 1, 3)),
    "4-D product, two more dimensions": (
        Parts(rows=(2, 3, 4), split=(2, 3, 4, 3, 2, 8), orders=((3, 0, 4, 1, 2, 5),)),
        (0, 3, 1, 2, 4),
    ),
    "2-D product": (
        Parts(rows=(20,), split=(20, 3, 2, 8), orders=((1, 2, 0, 3),)),
        (1, 0, 2),
    ),
    "split in the middle": (replace(SWIN, orders=((0, 2, 3, 1, 4),), axis=1), (0, 2, 1, 3)),
    "split at the end": (replace(SWIN, orders=((0, 3, 1, 4, 2),), axis=4), (0, 2, 1, 3)),
    "heads are split": (
        Parts(split=(4, 5, 2, 3, 8), orders=((3, 0, 2, 1, 4),)),
        (0, 2, 1, 3),
    ),
}


@pytest.mark.parametrize(("parts", "order"), MOVED.values(), ids=MOVED.keys())
def test_each_part_gets_its_permute(parts: Parts, order: tuple[int, ...]) -> None:
    after = assert_same_numbers(parts.module(), CANONICALIZE)
    assert orders(after) == [order] * parts.count
    assert cut_sources(after) == {"split"}
    assert kinds(after).count("Squeeze") == parts.count
    merges = 0 if parts.merged is None else parts.count
    assert kinds(after).count("Reshape") == 1 + merges


def test_front_move_alone_leaves_no_permute() -> None:
    """When only the split dimension moves, nothing is left to permute."""
    after = assert_same_numbers(replace(SWIN, orders=((2, 0, 1, 3, 4),)).module(), CANONICALIZE)
    assert orders(after) == []
    assert [shape_of(op.output) for op in ops_of(after, top.SqueezeOp)] == [(4, 5, 2, 8)] * 3


STAYS = {
    "the product's columns are not split in three": replace(
        SWIN, split=(4, 5, 3, 2, 4, 2), orders=((2, 0, 3, 1, 4, 5),)
    ),
    "rows and columns in one": Parts(rows=(20,), split=(2, 5, 3, 4, 8)),
    "the split dimension does not move": replace(SWIN, orders=((0, 3, 2, 1, 4),), axis=2),
    "three permutes": replace(
        SWIN, orders=((0, 2, 3, 1, 4), (1, 0, 2, 3, 4), (0, 2, 1, 3, 4)), count=3
    ),
    "a part is missing": replace(SWIN, count=2),
    "two indices a part": Parts(split=(4, 5, 6, 2, 4), size=2, squeezed=False),
    "not squeezed": replace(SWIN, squeezed=False),
    "the product's Reshape is used": replace(SWIN, also_used="split"),
    "the Permute is used": replace(SWIN, also_used="p0"),
    "the first of two Permutes is used": replace(
        SWIN, orders=((0, 2, 3, 1, 4), (1, 0, 2, 3, 4)), also_used="p0"
    ),
    "the merging Reshape is used": replace(MERGED_BEHIND, also_used="merge"),
    "the Permute in front of the merge is used": replace(MERGED_BEHIND, also_used="p0"),
    "the split dimension is merged": Parts(
        split=(4, 5, 3, 1, 16), orders=((3, 2, 0, 1, 4),), merged=(3, 4, 5, 16)
    ),
    "three dimensions are merged": replace(SWIN, merged=(3, 40, 8)),
}


@pytest.mark.parametrize("parts", STAYS.values(), ids=STAYS.keys())
def test_parts_stay_behind_the_permute(parts: Parts) -> None:
    after = assert_same_numbers(parts.module(), CANONICALIZE)
    assert "split" not in cut_sources(after)


def test_product_used_elsewhere_does_not_matter() -> None:
    after = assert_same_numbers(replace(SWIN, also_used="mm").module(), CANONICALIZE)
    assert cut_sources(after) == {"split"}


def irregular(cuts: Callable[[Net, SSAValue], Sequence[SSAValue]]) -> ModuleOp:
    """Swin's product with other readers of the permuted tensor."""
    net = Net()
    x = net.input("x", 4, 5, 16)
    value = net.op(top.MatMulOp, "mm", (x, net.weight("w", 16, 48), net.none))
    value = net.op(top.ReshapeOp, "split", (value,), shape=[4, 5, 3, 2, 8])
    value = net.op(top.PermuteOp, "p0", (value,), order=[2, 0, 3, 1, 4])
    return net.module(*cuts(net, value))


def squeezed(net: Net, name: str, value: SSAValue, axes: Sequence[int]) -> SSAValue:
    part = net.op(top.SqueezeOp, name, (value,), axes=axes)
    return net.op(top.AbsOp, f"{name}_y", (part,))


def other_axis(net: Net, value: SSAValue) -> list[SSAValue]:
    parts = [(0, 0), (0, 1), (2, 0)]
    return [
        squeezed(net, f"q{i}", cut_along(net, f"s{i}", value, axis, index), [axis])
        for i, (axis, index) in enumerate(parts)
    ]


def same_part_twice(net: Net, value: SSAValue) -> list[SSAValue]:
    return [
        squeezed(net, f"q{i}", cut_along(net, f"s{i}", value, 0, index), [0])
        for i, index in enumerate((0, 1, 1))
    ]


def two_dimensions(net: Net, value: SSAValue) -> list[SSAValue]:
    """One Slice takes one index of dimension 0 and a range of dimension 3."""
    parts = [cut_along(net, f"s{i}", value, 0, i) for i in range(3)]
    parts[2] = cut_along(net, "s2b", parts[2], 3, 1, 3)
    return [squeezed(net, f"q{i}", part, [0]) for i, part in enumerate(parts)]


def part_used_twice(net: Net, value: SSAValue) -> list[SSAValue]:
    parts = [cut_along(net, f"s{i}", value, 0, i) for i in range(3)]
    outputs = [squeezed(net, f"q{i}", part, [0]) for i, part in enumerate(parts)]
    return [*outputs, net.op(top.SinOp, "sin", (parts[0],))]


def whole_used(net: Net, value: SSAValue) -> list[SSAValue]:
    outputs = part_used_twice(net, value)[:3]
    return [*outputs, net.op(top.SinOp, "sin", (value,))]


IRREGULAR = (other_axis, same_part_twice, two_dimensions, part_used_twice, whole_used)


@pytest.mark.parametrize("cuts", IRREGULAR)
def test_irregular_parts_stay_behind_the_permute(
    cuts: Callable[[Net, SSAValue], Sequence[SSAValue]],
) -> None:
    after = assert_same_numbers(irregular(cuts), CANONICALIZE)
    assert "split" not in cut_sources(after)


def test_each_user_of_a_part_gets_its_permute() -> None:
    def cuts(net: Net, value: SSAValue) -> list[SSAValue]:
        parts = [
            net.op(top.SqueezeOp, f"q{i}", (cut_along(net, f"s{i}", value, 0, i),), axes=[0])
            for i in range(3)
        ]
        square = net.op(top.MulOp, "square", (parts[0], parts[0]))
        return [square, net.op(top.SinOp, "sin", (parts[0],)), parts[1], parts[2]]

    after = assert_same_numbers(irregular(cuts), CANONICALIZE)
    assert orders(after) == [(0, 2, 1, 3)] * 4
    names = [str(name_of(op)) for op in ops_of(after, top.PermuteOp)]
    assert names == ["q0_r_new_r_permute_for_square", "q0_r_new_r_permute_for_sin", "q1", "q2"]


def test_split_pattern_can_be_switched_off() -> None:
    name = "MatmulWithPermuteAndSplit"
    after = assert_same_numbers(SWIN.module(), f"canonicalize{{disable={name}}}")
    assert "split" not in cut_sources(after)


# Patch merging


def merging(
    source: Sequence[int] = (1, 6, 4, 8),
    split: Sequence[int] = (1, 3, 2, 2, 2, 8),
    order: Sequence[int] = (0, 1, 3, 4, 2, 5),
    result: Sequence[int] = (1, 3, 2, 32),
    also_used: int | None = None,
) -> ModuleOp:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", *source),))
    values = [net.op(top.ReshapeOp, "split", (x,), shape=split)]
    values.append(net.op(top.PermuteOp, "p", (values[-1],), order=order))
    values.append(net.op(top.ReshapeOp, "merge", (values[-1],), shape=result))
    outputs = [net.op(top.SinOp, "y", (values[-1],))]
    if also_used is not None:
        outputs.append(net.op(top.CosOp, "other", (values[also_used],)))
    return net.module(*outputs)


@pytest.mark.parametrize(
    ("module", "swapped"),
    [
        (merging(), True),
        (merging(order=(0, 1, 3, 2, 4, 5)), False),
        (merging((2, 6, 6, 8), (2, 2, 3, 3, 2, 8), result=(2, 2, 3, 48)), True),
    ],
)
def test_patch_merging_is_depth_to_space(module: ModuleOp, swapped: bool) -> None:
    after = assert_same_numbers(module, CANONICALIZE)
    assert kinds(after) == ["Abs", "Depth2Space", "Sin"]
    (deep,) = ops_of(after, top.Depth2SpaceOp)
    assert bool(deep.swap_cr.value.data) is swapped
    assert not deep.in_is_NCHW.value.data
    assert not deep.out_is_NCHW.value.data


def test_patch_merging_of_rows_and_columns_in_one_reshapes_first() -> None:
    after = assert_same_numbers(merging(source=(1, 24, 8)), CANONICALIZE)
    assert kinds(after) == ["Abs", "Reshape", "Depth2Space", "Sin"]


@pytest.mark.parametrize(
    "module",
    [
        merging(order=(0, 3, 1, 4, 2, 5)),
        merging(result=(1, 6, 32)),
        merging(result=(1, 3, 4, 16)),
        merging(source=(1, 6, 2, 16)),
        merging(source=(24, 8)),
        merging(also_used=0),
        merging(also_used=1),
    ],
    ids=["order", "3-D result", "other depth", "other channels", "2-D", "split used", "p used"],
)
def test_other_moves_of_blocks_are_no_depth_to_space(module: ModuleOp) -> None:
    assert "Depth2Space" not in kinds(assert_same_numbers(module, CANONICALIZE))


def test_blocks_of_one_pixel_need_no_op() -> None:
    module = merging((1, 3, 2, 8), (1, 3, 1, 2, 1, 8), result=(1, 3, 2, 8))
    assert kinds(assert_same_numbers(module, CANONICALIZE)) == ["Abs", "Sin"]
