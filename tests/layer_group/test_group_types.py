"""Which type a range of ops gets, and why not another."""

import pytest
from tests.layer_group.op_samples import (
    binary,
    concat,
    conv,
    layer_norm,
    matmul,
    out,
    pool,
    relu,
    reshape,
    softmax,
    unary,
    value,
    weight,
)
from xdsl.ir import Operation

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.passes.layer_group.group_type import choose_type, type_problem
from xdsl_tpu.passes.layer_group.values import GroupType

LANES = 64
EVEN = (1, 56, 56, 96)
"""A shape whose outer dimensions fill the lanes evenly: 3136 is 49 times 64."""


def twice(op: NamedOp) -> list[Operation]:
    """A range in which every op is of one kind."""
    return [op, relu(out(op))] if isinstance(op, tpu.Pool2DOp) else [op, op]


def gelu(*shape: int) -> NamedOp:
    return unary(tpu.ActiveOp, shape, mode="GELU")


def test_single_op_is_normal() -> None:
    assert choose_type([layer_norm((1, 4, 8, 8, 8), 4)], LANES).kind is GroupType.NORMAL


@pytest.mark.parametrize(
    "op",
    [
        layer_norm((1, 4, 8, 8, 8), 4),
    ],
    ids=lambda op: op.name,
)
def test_3d(op: NamedOp) -> None:
    assert choose_type([op, relu(out(op))], LANES).kind is GroupType.THREE_D


@pytest.mark.parametrize(
    "op",
    [
        gelu(*EVEN),
        gelu(1, 4, 4, 4, 96),
        gelu(1, 12, 197, 197),
        gelu(1, 4, 3, 5, 7),
        binary(tpu.AddOp, EVEN, EVEN),
        layer_norm(EVEN, 3),
        softmax((1, 12, 197, 197), 3),
        matmul(EVEN, value((1, 56, 96, 24))),
        reshape((1, 12, 197, 6), (1, 12, 197, 2, 3)),
    ],
    ids=lambda op: f"{op.name}-{op.operand_types[0]}",
)
def test_small_c(op: NamedOp) -> None:
    choice = choose_type(twice(op), LANES)
    assert choice.kind is GroupType.SMALL_C, choice.why_not
    assert set(choice.why_not) == {GroupType.THREE_D}


NOT_SMALL_C = [
    (pool(EVEN, 2, 2), "'y' (tpu.Pool2D): it has no form in groups of type SMALL_C"),
    (binary(tpu.AddOp, EVEN, (1, 56, 56, 1)), "'y' (tpu.Add): 1x56x56x96 and 1x56x56x1 differ"),
    (layer_norm(EVEN, 2), "'y' (tpu.LayerNorm): axis 2 is not the last one of 1x56x56x96"),
    (softmax(EVEN, 2), "'y' (tpu.Softmax): axis 2 is not the last one of 1x56x56x96"),
    (
        matmul(EVEN, value((1, 96, 56, 24)), hdim_is_batch=True),
        "'y' (tpu.MatMul): its batch is in dimensions 0 and 2",
    ),
    (
        reshape((1, 12, 197, 6), (12, 197, 6)),
        "'y' (tpu.Reshape): 1x12x197x6 to 12x197x6 changes dimension 0 or 1",
    ),
    (
        reshape((1, 12, 6), (1, 12)),
        "'y' (tpu.Reshape): 1x12x6 to 1x12 has a rank other than 3 to 5",
    ),
    (
        reshape(EVEN, (1, 56, 56, 2, 48)),
        "'y' (tpu.Reshape): 1x56x56x96 to 1x56x56x2x48 would move data between lanes, which the "
        "input fills evenly",
    ),
    (
        reshape((1, 12, 197, 6), (1, 12, 6, 197)),
        "'y' (tpu.Reshape): 1x12x197x6 to 1x12x6x197 changes dimension 2",
    ),
    (gelu(1, 3136, 96), "'y' (tpu.Active): 1x3136x96 has neither rank 4 nor 5"),
    (
        gelu(1, 28, 28, 96),
        "'y' (tpu.Active): dimension 1 of 1x28x28x96 fills the lanes at least as well as "
        "dimension 2",
    ),
    (
        gelu(1, 5, 3, 4, 96),
        "'y' (tpu.Active): dimension 1 of 1x5x3x4x96 fills the lanes at least as well as "
        "dimension 3",
    ),
    (gelu(1, 32, 33, 96), "'y' (tpu.Active): dimension 1 of 1x32x33x96 is not below 32"),
]


@pytest.mark.parametrize(("op", "why"), NOT_SMALL_C, ids=[why for _, why in NOT_SMALL_C])
def test_not_small_c(op: NamedOp, why: str) -> None:
    assert choose_type(twice(op), LANES).why_not[GroupType.SMALL_C] == why


@pytest.mark.parametrize(
    "op",
    [
        gelu(1, 3136, 96),
        binary(tpu.AddOp, (64, 49, 3, 49), (1, 49, 3, 49)),
        concat(1, (1, 1, 384), (1, 196, 384)),
        layer_norm((1, 3136, 96), 2),
        matmul((64, 49, 96), (1, 96, 96)),
        matmul((64, 49, 3, 32), value((64, 49, 3, 32)), hdim_is_batch=True, right_transpose=True),
        reshape((64, 49, 96), (64, 49, 3, 32)),
    ],
    ids=lambda op: op.name,
)
def test_mm(op: NamedOp) -> None:
    choice = choose_type(twice(op), LANES)
    assert choice.kind is GroupType.MM, choice.why_not


NOT_MM = [
    (conv((1, 3, 32, 32), 8, 3), "'conv' (tpu.Conv2D): it has no form in groups of type MM"),
    (softmax((1, 49, 3, 7), 2), "'y' (tpu.Softmax): axis 2 is not the last one of 1x49x3x7"),
    (
        reshape((64, 49, 96), (49, 64, 96)),
        "'y' (tpu.Reshape): 64x49x96 to 49x64x96 changes dimension 0 or 1",
    ),
    (
        reshape((64, 49, 1), (64, 49)),
        "'y' (tpu.Reshape): 64x49x1 to 64x49 has a rank below 3",
    ),
    (
        matmul((3, 7, 7), (3, 7, 7), left_transpose=True, right_transpose=True),
        "'y' (tpu.MatMul): both matrices are transposed",
    ),
]


@pytest.mark.parametrize(("op", "why"), NOT_MM, ids=[why for _, why in NOT_MM])
def test_not_mm(op: NamedOp, why: str) -> None:
    choice = choose_type(twice(op), LANES)
    assert choice.kind is GroupType.NORMAL
    assert choice.why_not[GroupType.MM] == why
    assert choice.why_not[GroupType.THREE_D] == "no op of it has a depth of its own"


def test_product_with_a_plain_matrix_works_in_small_c_only() -> None:
    op = matmul((1, 28, 28, 16), weight((16, 8)))
    assert type_problem([op], GroupType.SMALL_C) is None
    assert type_problem([op], GroupType.MM) == (
        "'y' (tpu.MatMul): 1x28x28x16 by 16x8 works in a group of type SMALL_C only"
    )
    assert type_problem([matmul((64, 49, 96), (1, 96, 96))], GroupType.MM) is None


def test_one_channel_that_the_group_computes_reaches_all_lanes() -> None:
    narrow = relu(value((2, 1, 8, 8)))
    total = binary(tpu.AddOp, value((2, 16, 8, 8)), out(narrow))
    assert type_problem([narrow, total], GroupType.NORMAL) is None
