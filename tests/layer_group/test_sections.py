"""How many sections groups may have and need, and what the parts are."""

import pytest
from tests.layer_group.group_samples import CHIP
from tests.layer_group.op_samples import (
    INT8,
    binary,
    concat,
    conv,
    layer_norm,
    made,
    matmul,
    out,
    pool,
    reduce,
    relu,
    reshape,
    slice_op,
    softmax,
    unary,
    value,
    weight,
)
from xdsl.dialects.builtin import IntegerType, f32
from xdsl.ir import Operation

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.interfaces.local_gen import AXES, Axis, GroupType, LocalGen
from xdsl_tpu.dialects.interfaces.local_shapes import ncdhw
from xdsl_tpu.passes.layer_group.lmem_size import element_bits, eu_aligned, lane_bytes
from xdsl_tpu.passes.layer_group.sections import cut_axis, max_sections
from xdsl_tpu.passes.layer_group.split_weights import mark_split_weights
from xdsl_tpu.passes.layer_group.values import AxisSlices, Ncdhw, Secs

NORMAL, THREE_D, SMALL_C, MM = (
    GroupType.NORMAL,
    GroupType.THREE_D,
    GroupType.SMALL_C,
    GroupType.MM,
)


@pytest.mark.parametrize(
    ("axis", "size", "secs", "parts"),
    [
        ("h", 224, 2, ((0, 112), (112, 112))),
        ("h", 7, 3, ((0, 3), (3, 2), (5, 2))),
        ("n", 3, 4, None),
        ("c", 3136, 2, ((0, 1600), (1600, 1536))),
        ("c", 100, 2, ((0, 64), (64, 36))),
        ("c", 64, 2, None),
        ("w", 5, 1, ((0, 5),)),
    ],
)
def test_parts_of_an_axis(axis: Axis, size: int, secs: int, parts: AxisSlices | None) -> None:
    assert cut_axis(axis, size, secs, CHIP.lanes) == parts


def test_parts_cover_the_axis_without_overlap() -> None:
    for axis in AXES:
        for size in range(1, 300, 7):
            for secs in range(1, 12):
                parts = cut_axis(axis, size, secs, CHIP.lanes)
                if parts is None:
                    continue
                starts = [start for start, _ in parts]
                ends = [start + length for start, length in parts]
                assert [*starts, size] == [0, *ends]
                assert all(length > 0 for _, length in parts)


@pytest.mark.parametrize(
    ("shape", "kind", "axes"),
    [
        ((1, 56, 56, 96), SMALL_C, (49, 64, 1, 96, 1)),
        ((1, 12, 197, 197), SMALL_C, (12, 197, 1, 197, 1)),
        ((2, 3, 4, 16, 96), SMALL_C, (6, 64, 1, 96, 1)),
        ((2, 3, 4, 15, 96), SMALL_C, (24, 15, 1, 96, 1)),
        ((64, 197, 96), SMALL_C, (1, 12608, 1, 96, 1)),
        ((96, 4), SMALL_C, (1, 96, 1, 4, 1)),
        ((96,), SMALL_C, (1, 1, 1, 96, 1)),
        ((64, 49, 96), MM, (64, 49, 1, 96, 1)),
        ((64, 49, 3, 49), MM, (64, 49, 1, 3, 49)),
        ((64, 49, 3, 7, 7), NORMAL, (64, 49, 1, 3, 49)),
        ((5,), NORMAL, (5, 1, 1, 1, 1)),
        ((2, 3, 4, 5, 6), THREE_D, (2, 3, 4, 5, 6)),
        ((2, 3, 4, 5, 6, 7), THREE_D, (2, 3, 4, 5, 42)),
        ((2, 3, 4, 5), THREE_D, (2, 3, 1, 4, 5)),
        ((96, 384), GroupType.MM_INT4, (96, 1, 1, 384, 1)),
    ],
)
def test_axes_of_a_shape(shape: tuple[int, ...], kind: GroupType, axes: tuple[int, ...]) -> None:
    assert ncdhw(shape, kind, CHIP.lanes) == axes


SPLITS: list[tuple[NamedOp, GroupType, str]] = [
    (relu((4, 64, 8, 8)), NORMAL, "ncdhw"),
    (concat(1, (2, 2, 2, 2), (2, 2, 2, 2)), NORMAL, "ndhw"),
    (concat(2, (2, 2, 2, 2), (2, 2, 2, 2)), NORMAL, "ncw"),
    (concat(3, (2, 2, 2, 2), (2, 2, 2, 2)), NORMAL, "ncdh"),
    (conv((1, 3, 8, 8), 8, 3), NORMAL, "ncdhw"),
    (layer_norm((1, 49, 96), 2), NORMAL, "nc"),
    (layer_norm((1, 49, 8, 96), 3), NORMAL, "ncdh"),
    (layer_norm((1, 56, 56, 96), 3), SMALL_C, "nc"),
    (layer_norm((1, 4, 8, 8, 8), 4), THREE_D, "ncdh"),
    (layer_norm((1, 4, 8, 8), 1), NORMAL, "n"),
    (softmax((64, 49, 3, 49), 3), NORMAL, "ncdh"),
    (softmax((64, 49, 3, 49), 2), NORMAL, "ncw"),
    (unary(tpu.RMSNormOp, (4, 49, 96), nones=1, eps=1e-5), NORMAL, "nc"),
    (matmul((64, 49, 96), (1, 96, 96)), NORMAL, "n"),
    (matmul((64, 49, 3, 49), value((64, 49, 3, 32)), hdim_is_batch=True), NORMAL, "nh"),
    (reduce((1, 4, 5, 6), (3,), "ReduceMax"), NORMAL, "ncdh"),
    (reduce((1, 4, 5, 6), (2,), "ReduceMax"), NORMAL, "ncw"),
    (reduce((1, 4, 5, 6), (2, 3), "ReduceMax"), NORMAL, "nc"),
    (softmax((1, 4, 5, 6), 2), NORMAL, "ncw"),
    (reshape((64, 49, 96), (64, 49, 3, 32)), NORMAL, "nc"),
    (slice_op((1, 8, 4, 4), (1, 4, 4, 4)), NORMAL, "ndhw"),
    (slice_op((1, 8, 4, 4), (1, 8, 2, 4)), NORMAL, "ncdhw"),
    (unary(tpu.SwapDimInnerOp, (1, 56, 1, 56), offset=[0, 3, 0, 0]), NORMAL, "n"),
    (unary(tpu.SwapDimInnerOp, (4, 56, 1, 56), offset=[1, 3, 0, 0]), NORMAL, ""),
]


@pytest.mark.parametrize(
    ("op", "kind", "axes"), SPLITS, ids=[f"{o.name}-{k.name}-{a}" for o, k, a in SPLITS]
)
def test_axes_along_which_an_op_may_be_cut(op: NamedOp, kind: GroupType, axes: str) -> None:
    """d exists in THREE_D alone; what an op says of it elsewhere has no meaning."""
    assert isinstance(op, LocalGen)
    possible = AXES if kind is THREE_D else ("n", "c", "h", "w")
    assert {axis for axis in possible if op.may_split(axis, kind)} == set(axes) & set(possible)


def test_most_sections_of_a_convolution_and_what_follows() -> None:
    first = conv((2, 3, 224, 224), 64, 3, 1, 1)
    ops: list[Operation] = [first, pool(out(first), 2, 2)]
    assert max_sections(ops, NORMAL, CHIP) == Secs(n=2, h=112, w=1)


def test_rows_of_more_than_512_bytes_may_be_cut() -> None:
    assert max_sections([relu((1, 4, 8, 256))], NORMAL, CHIP).w == 1
    assert max_sections([relu((1, 4, 8, 257))], NORMAL, CHIP).w == 257


def test_c_may_be_cut_where_parts_take_parts_and_weights_stay() -> None:
    norm = layer_norm((1, 3136, 96), 2)
    assert max_sections([norm], NORMAL, CHIP) == Secs(c=49)
    assert max_sections([pool((1, 256, 8, 8), 2, 2)], NORMAL, CHIP).c == 4
    assert max_sections([conv((1, 256, 8, 8), 256, 3, 1, 1)], NORMAL, CHIP).c == 1
    assert max_sections([conv((1, 256, 1, 8), 256, 1, 1, 0)], NORMAL, CHIP).c == 4
    assert max_sections([matmul((4, 256, 96), (1, 96, 96))], NORMAL, CHIP) == Secs(n=4, c=4)
    turned = matmul((4, 256, 256), (4, 256, 256), left_transpose=True)
    assert max_sections([turned], NORMAL, CHIP).c == 1


def test_d_may_be_cut_in_3d_groups() -> None:
    assert max_sections([layer_norm((1, 4, 6, 8, 8), 4)], THREE_D, CHIP).d == 6


def test_elements_of_4_bits_are_not_cut_along_w() -> None:
    op = made(tpu.ReluOp, [(1, 4, 8, 4096)], (1, 4, 8, 4096), IntegerType(4))
    assert max_sections([op], NORMAL, CHIP).w == 1


def test_batch_of_the_first_op_counts() -> None:
    product = matmul((4, 49, 96), (1, 96, 96))
    assert max_sections([product], NORMAL, CHIP).n == 4
    assert max_sections([binary(tpu.AddOp, (1, 8), (4, 8))], NORMAL, CHIP).n == 4


@pytest.mark.parametrize(
    ("part", "bits", "aligned", "size"),
    [
        (Ncdhw(1, 96, 1, 1, 128), 16, False, 512),
        (Ncdhw(1, 96, 1, 1, 1), 32, False, 8),
        (Ncdhw(1, 96, 1, 1, 1), 32, True, 128),
        (Ncdhw(2, 65, 3, 5, 7), 8, True, 2 * 3 * 2 * 64),
        (Ncdhw(2, 65, 3, 5, 7), 8, False, 2 * 3 * 2 * 35),
        (Ncdhw(1, 64, 1, 5, 7), 4, False, 18),
    ],
)
def test_bytes_per_lane(part: Ncdhw, bits: int, aligned: bool, size: int) -> None:
    assert lane_bytes(part, bits, aligned, CHIP) == size


def test_quantised_elements_have_the_bits_of_their_integers() -> None:
    assert element_bits(value((1,), INT8)) == 8
    assert element_bits(value((1,), f32)) == 32


def test_weights_that_lie_without_alignment() -> None:
    def compact(op: NamedOp) -> list[int]:
        return [i for i, _ in enumerate(op.operands) if not eu_aligned(op, i)]

    assert compact(conv((1, 3, 8, 8), 8, 3)) == [1, 2]
    assert compact(matmul((64, 49, 96), (1, 96, 96))) == []
    assert compact(binary(tpu.AddOp, (1, 4), weight((1, 4)))) == []
    norm = made(
        tpu.LayerNormOp,
        [(1, 4, 8), weight((1, 1, 8)), weight((1, 1, 8))],
        (1, 4, 8),
        nones=2,
        normalized_shape=(8,),
        eps=1e-5,
        axis=2,
    )
    assert compact(norm) == [1, 2]


def test_weights_of_pointwise_ops_are_marked_for_splitting() -> None:
    table, shared, filter_ = weight((1, 4, 8)), weight((1, 4, 8)), weight((8, 3, 3, 3))
    add = binary(tpu.AddOp, (2, 4, 8), table)
    other = binary(tpu.AddOp, (2, 4, 8), shared)
    norm = made(
        tpu.LayerNormOp,
        [(2, 4, 8), shared],
        (2, 4, 8),
        nones=3,
        normalized_shape=(8,),
        eps=1e-5,
        axis=2,
    )
    convolution = made(
        tpu.Conv2DOp,
        [(1, 3, 8, 8), filter_],
        (1, 8, 6, 6),
        nones=1,
        kernel_shape=(3, 3),
        strides=(1, 1),
        pads=(0,) * 4,
        with_bias=False,
    )
    marked = mark_split_weights([add, other, norm, convolution])
    assert [op.output for op in marked] == [table]
    assert str(marked[0].allow_split) == "[1 : i64, 1 : i64, 1 : i64]"


@pytest.mark.parametrize(
    ("op", "splits"),
    [
        (matmul((4, 8, 16), (4, 16, 8)), True),
        (matmul((1, 8, 16), (1, 16, 8)), False),
        (matmul((4, 8, 16), (1, 16, 8)), False),
        (matmul((4, 8, 3, 16), (4, 16, 3, 8), hdim_is_batch=True), True),
        (matmul((4, 8, 3, 16), (1, 16, 3, 8), hdim_is_batch=True), False),
    ],
)
def test_right_matrices_are_split_when_there_is_one_for_each_batch(
    op: NamedOp, splits: bool
) -> None:
    assert bool(mark_split_weights([op])) == splits
