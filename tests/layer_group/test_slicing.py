"""Slices of groups that are cut: what users need is there, and what cannot be is refused."""

from itertools import pairwise

import pytest
from tests.layer_group.group_samples import CHIP, real_network
from tests.layer_group.op_samples import (
    binary,
    conv,
    layer_norm,
    made,
    matmul,
    out,
    relu,
    reshape,
    slice_op,
    softmax,
    value,
    weight,
)
from xdsl.ir import Operation

from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen, Part
from xdsl_tpu.passes.layer_group.model import Group, cut_group, plan_group
from xdsl_tpu.passes.layer_group.sections import max_sections
from xdsl_tpu.passes.layer_group.slicing import Slicing, slice_group
from xdsl_tpu.passes.layer_group.split_weights import mark_split_weights
from xdsl_tpu.passes.layer_group.values import AXES, AxisSlices, GroupType, Refusal, Secs
from xdsl_tpu.passes.tensors import is_weight

NORMAL, MM, THREE_D = GroupType.NORMAL, GroupType.MM, GroupType.THREE_D


def sliced(ops: list[Operation], secs: Secs, kind: GroupType = NORMAL) -> Slicing:
    slicing = slice_group(ops, kind, secs, CHIP)
    assert isinstance(slicing, Slicing), slicing
    return slicing


def refused(ops: list[Operation], secs: Secs, kind: GroupType = NORMAL) -> str:
    refusal = slice_group(ops, kind, secs, CHIP)
    assert isinstance(refusal, Refusal)
    return refusal.reason


def at(parts: AxisSlices, index: int) -> tuple[int, int]:
    """Part `index`; one part stands for all."""
    return parts[index if len(parts) > 1 else 0]


def check(ops: tuple[Operation, ...], kind: GroupType, secs: Secs) -> None:
    """Every op finds what each part of its result needs; what is stored covers the tensor."""
    slicing = sliced(list(ops), secs, kind)
    for op in ops:
        assert isinstance(op, LocalGen)
        for index, operand in enumerate(op.operands):
            if not is_none(operand):
                check_operand(op, index, slicing, kind, secs)
    for stored in slicing.stored:
        for axis in AXES:
            parts, size = (
                slicing.of[stored].along(axis),
                getattr(of_value(stored, kind, CHIP.lanes), axis),
            )
            assert at(parts, 0)[0] == 0
            assert sum(at(parts, -1)) == size
            assert all(a + length >= b for (a, length), (b, _) in pairwise(parts))


def check_operand(op: LocalGen, index: int, slicing: Slicing, kind: GroupType, secs: Secs) -> None:
    operand, result = op.operands[index], op.results[0]
    theirs, ours = slicing.of[operand], slicing.of[result]
    whole, sizes = of_value(result, kind, CHIP.lanes), of_value(operand, kind, CHIP.lanes)
    for axis in AXES:
        size = getattr(sizes, axis)
        for section in range(getattr(secs, axis)):
            start, length = at(ours.along(axis), section)
            part = Part(axis, start, length, getattr(whole, axis), kind)
            needed = op.backward(part, index, size) if getattr(secs, axis) > 1 else (0, size)
            if is_weight(operand) and theirs.hold:
                needed = (0, size)
            assert needed is not None
            first, count = at(theirs.along(axis), section)
            assert first <= needed[0]
            assert sum(needed) <= first + count <= size


RANGES = [
    *(("resnet50_bm1684x_f16", start, 12) for start in range(0, 60, 5)),
    *(("mobilenetv2_100_bm1684x_f16", start, 9) for start in range(0, 54, 6)),
]


@pytest.mark.parametrize(("model", "start", "count"), RANGES)
def test_rows_of_real_networks(model: str, start: int, count: int) -> None:
    """Strides, windows with padding and values with several users, cut along h."""
    ops = real_network(model).ops[start : start + count]
    most = max_sections(ops, NORMAL, CHIP).h
    for secs in (2, 3, 5):
        if secs <= most:
            check(ops, NORMAL, Secs(h=secs))


@pytest.mark.parametrize("index", [2, 3])
def test_attention_and_mlp_of_swin(index: int) -> None:
    group = real_network("swin_t_bm1684x_f16").groups[index]
    most = max_sections(group.ops, MM, CHIP)
    for secs in (Secs(n=2), Secs(n=7), Secs(c=2), Secs(c=5), Secs(n=3, h=3)):
        if all(getattr(secs, axis) <= getattr(most, axis) for axis in AXES):
            check(group.ops, MM, secs)


def test_two_convolutions_read_overlapping_rows() -> None:
    first = conv((1, 8, 16, 16), 8, 3, 1, 1, "first")
    second = conv(out(first), 8, 3, 1, 1, "second")
    slices = sliced([first, second], Secs(h=2)).of
    assert slices[out(second)].h == ((0, 8), (8, 8))
    assert slices[out(first)].h == ((0, 9), (7, 9))
    assert slices[first.operands[0]].h == ((0, 10), (6, 10))


def test_value_with_two_users_has_the_hull_of_what_they_need() -> None:
    source = relu((1, 8, 16, 16))
    window = conv(out(source), 8, 3, 1, 1)
    total = binary(tpu.AddOp, out(source), out(window))
    slices = sliced([source, window, total], Secs(h=2)).of
    assert slices[out(source)].h == ((0, 9), (7, 9))


def test_value_that_one_user_needs_as_a_whole_is_there_as_a_whole() -> None:
    source = relu((1, 8, 8, 8))
    window = conv(out(source), 8, 15, 1, 7)
    total = binary(tpu.AddOp, out(source), out(window))
    slices = sliced([source, window, total], Secs(h=2)).of
    assert slices[out(source)].h == ((0, 8),)
    assert slices[out(window)].h == ((0, 4), (4, 4))


def test_rows_are_cut_through_a_reshape_that_keeps_them() -> None:
    source = relu((1, 8, 16, 1))
    view = reshape(out(source), (1, 8, 16))
    slices = sliced([source, view], Secs(h=2)).of
    assert slices[out(source)].h == slices[out(view)].h == ((0, 8), (8, 8))


def test_view_of_what_another_reads_more_of_has_memory_of_its_own() -> None:
    source = relu((1, 8, 16, 1))
    window = conv(out(source), 8, 3, 1, 1)
    view = reshape(out(source), (1, 8, 16))
    ops = [source, window, view]
    for secs, is_view in ((Secs(), True), (Secs(h=2), False)):
        group = plan_group(cut_group(ops, NORMAL, secs, CHIP), CHIP, lambda op, kind, slicing: 0)
        assert isinstance(group, Group)
        places = group.plan.address
        assert (places[out(view)] == places[out(source)]) is is_view


def test_stored_value_with_margins_is_stored_with_them() -> None:
    source = relu((1, 8, 16, 16))
    window = conv(out(source), 8, 3, 1, 1)
    after = relu(out(source), "after")
    slicing = sliced([source, window], Secs(h=2))
    assert out(source) in slicing.stored
    assert slicing.of[out(source)].h == ((0, 9), (7, 9))
    assert after.operands[0] is out(source)


def test_weights_are_held_and_activations_are_not() -> None:
    op = conv((1, 8, 16, 16), 8, 3, 1, 1)
    for secs in (Secs(), Secs(h=2)):
        slices = sliced([op], secs).of
        held = [slices[operand].hold for operand in op.operands]
        assert held == [False, True, True]
        assert slices[op.operands[1]].eu_align is False
        assert slices[op.operands[0]].eu_align is True


def test_split_weight_follows_its_op() -> None:
    table = weight((64, 49, 3, 49))
    op = binary(tpu.AddOp, (64, 49, 3, 49), table)
    assert sliced([op], Secs(n=2), MM).of[table].hold
    mark_split_weights([op])
    slices = sliced([op], Secs(n=2), MM).of[table]
    assert (slices.n, slices.hold, slices.eu_align) == (((0, 32), (32, 32)), False, True)


def test_split_weight_that_is_stretched_is_the_same_for_all_slices() -> None:
    table = weight((1, 49, 3, 49))
    op = binary(tpu.AddOp, (64, 49, 3, 49), table)
    mark_split_weights([op])
    slices = sliced([op], Secs(n=2), MM).of[table]
    assert (slices.n, slices.hold) == (((0, 1),), True)


def test_right_matrix_from_outside_is_held_while_rows_are_cut() -> None:
    right = value((1, 96, 384))
    op = matmul((1, 3136, 96), right)
    slices = sliced([op], Secs(c=2), MM).of
    assert slices[op.operands[0]].c == ((0, 1600), (1600, 1536))
    assert (slices[right].c, slices[right].hold) == (((0, 96),), True)


def test_heads_are_cut_on_both_sides() -> None:
    right = value((4, 49, 6, 32))
    op = matmul((4, 49, 6, 49), right, hdim_is_batch=True)
    slices = sliced([op], Secs(h=3), MM).of
    assert slices[right].h == slices[op.operands[0]].h == ((0, 2), (2, 2), (4, 2))


def test_stretched_operand_has_its_one_row() -> None:
    scale = value((1, 8, 1, 1))
    op = binary(tpu.MulOp, (1, 8, 16, 16), scale)
    assert sliced([op], Secs(h=4)).of[scale].h == ((0, 1),)


def test_only_what_is_used_outside_is_stored() -> None:
    first = relu((1, 8), "a")
    second = relu(out(first), "b")
    third = relu(out(first), "c")
    assert sliced([first, second], Secs()).stored == (out(first), out(second))
    assert sliced([first, second, third], Secs()).stored == (out(second), out(third))


def test_absent_operands_have_no_slices() -> None:
    op = layer_norm((1, 8, 16), 2)
    assert set(sliced([op], Secs()).of) == {op.operands[0], out(op)}


def test_slice_of_rank_5_is_cut_along_windows() -> None:
    """The three parts of a fused product, each with its own place along d."""
    source = value((64, 49, 3, 3, 32))
    ops: list[Operation] = []
    for part in range(3):
        ops.append(slice_op(source, (64, 49, 1, 3, 32), first=(0, 0, part, 0, 0)))
        shape = (64, 49, 3, 32)
        ops.append(made(tpu.SqueezeOp, [ops[-1].results[0]], shape, axes=[2]))
    slices = sliced(ops, Secs(n=4)).of
    assert slices[source].n == ((0, 16), (16, 16), (32, 16), (48, 16))
    assert slices[source].h == ((0, 3),)


REFUSALS: list[tuple[str, list[Operation], Secs, GroupType, str]] = []


def case(name: str, ops: list[Operation], secs: Secs, why: str, kind: GroupType = NORMAL) -> None:
    REFUSALS.append((name, ops, secs, kind, why))


def diverging() -> list[Operation]:
    """A value that a window and a norm read, of which the norm copes with its own rows only."""
    source = relu((1, 8, 16, 16), "source")
    window = conv(out(source), 8, 3, 1, 1)
    normed = layer_norm(out(source), 3, "normed")
    return [source, window, normed, binary(tpu.AddOp, out(window), out(normed), name="sum")]


def far_apart() -> list[Operation]:
    """All rows, and the first half of them: later parts are apart, or side by side."""
    source = relu((1, 8, 16, 4), "source")
    everything = conv(out(source), 8, 1, 1, 0, "everything")
    half = made(
        tpu.Conv2DOp,
        [out(source), weight((8, 8, 1, 1))],
        (1, 8, 8, 4),
        nones=1,
        name="half",
        kernel_shape=(1, 1),
        strides=(1, 1),
        pads=(0, 0, -8, 0),
        with_bias=False,
    )
    return [source, everything, half]


def half_batch() -> list[Operation]:
    source = relu((4, 8), "source")
    half = slice_op(out(source), (2, 8), first=(1, 0))
    return [source, half, relu(out(source), "all")]


def doubly_placed() -> list[Operation]:
    shared = weight((8, 8, 1, 1), name="shared")
    window = made(
        tpu.Conv2DOp,
        [(1, 8, 8, 8), shared],
        (1, 8, 8, 8),
        nones=1,
        kernel_shape=(1, 1),
        strides=(1, 1),
        pads=(0,) * 4,
        with_bias=False,
    )
    return [window, binary(tpu.AddOp, (8, 8, 1, 1), shared)]


def shifted_depth() -> list[Operation]:
    """Windows of one element along d that start within the padding."""
    return [
        made(
            tpu.Pool3DOp,
            [(1, 8, 2, 4, 4)],
            (1, 8, 4, 4, 4),
            nones=1,
            name="deep",
            kernel_shape=(3, 1, 1),
            strides=(1, 1, 1),
            pads=(2, 0, 0, 2, 0, 0),
            pool_mode="Max",
        )
    ]


case("too-many", [relu((1, 8, 4, 4))], Secs(h=5), "'relu' has h = 4, not 5 parts")
case(
    "too-many-lanes",
    [layer_norm((1, 64, 8), 2)],
    Secs(c=2),
    "'y' has c = 64, not 2 parts",
    MM,
)
case(
    "not-along-h",
    [softmax((4, 8, 8, 8), 2)],
    Secs(h=2),
    "'y' (tpu.Softmax) cannot be cut along h",
)
case(
    "reshaped-rows",
    [reshape((4, 8, 6, 4), (4, 8, 4, 6))],
    Secs(h=2),
    "'y' (tpu.Reshape) cannot be cut along h",
)
case(
    "needs-nothing",
    [conv((1, 3, 2, 8), 4, 1, 1, 2)],
    Secs(h=3),
    "'conv' (tpu.Conv2D) cannot be cut along h: a part of it needs no part of 'x'",
)
case(
    "strict-user",
    diverging(),
    Secs(h=2),
    "users of 'source' need different parts of it along h, "
    "and 'normed' (tpu.LayerNorm) only its own",
)
case(
    "without-overlap",
    far_apart(),
    Secs(h=4),
    "users of 'source' need different parts of it along h, without overlap",
)
case(
    "side-by-side",
    far_apart(),
    Secs(h=3),
    "users of 'source' need different parts of it along h, without overlap",
)
case(
    "different-batches",
    half_batch(),
    Secs(n=2),
    "users of 'source' need different parts of it along n",
)
case(
    "aligned-and-not",
    doubly_placed(),
    Secs(),
    "users of 'shared' want it aligned and not aligned",
)
case(
    "depth",
    shifted_depth(),
    Secs(d=4),
    "'deep' (tpu.Pool3D) cannot be cut along d: its parts need [(0, 1), (0, 2), (0, 2), (1, 1)] "
    "of 'x'",
    THREE_D,
)


@pytest.mark.parametrize(
    ("ops", "secs", "kind", "why"),
    [pytest.param(ops, secs, kind, why, id=name) for name, ops, secs, kind, why in REFUSALS],
)
def test_refused(ops: list[Operation], secs: Secs, kind: GroupType, why: str) -> None:
    assert refused(ops, secs, kind) == why
