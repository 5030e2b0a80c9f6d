"""What the pattern families share."""

from collections.abc import Sequence
from typing import TypeVar

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import Value, floats
from xdsl_tpu.dialects.top.abstract import FusedReluOp
from xdsl_tpu.passes.constants import is_f32_weight, values_of
from xdsl_tpu.passes.graph import sole_producer, tensor_like
from xdsl_tpu.passes.tensors import is_weight, shape_of

VIEWS = (top.ReshapeOp, top.SqueezeOp, top.UnsqueezeOp)
"""Ops that give a value another shape and move nothing."""

ReluOp = TypeVar("ReluOp", bound=FusedReluOp)
SumOrProduct = TypeVar("SumOrProduct", top.AddOp, top.MulOp)


def has_relu(op: FusedReluOp) -> bool:
    """Whether the op ends with a relu of its own."""
    return bool(op.do_relu.value.data)


def unit_coefficients(op: top.AddOp | top.SubOp) -> bool:
    """Whether all inputs count with the factor 1."""
    return op.coeff is None or all(factor == 1.0 for factor in floats(op.coeff))


def reshape(name: str | LocationAttr, value: SSAValue, shape: Sequence[int]) -> top.ReshapeOp:
    """`value` under another shape, which is in the result's type."""
    return top.ReshapeOp.make(name, (value,), result_types=[tensor_like(value, shape)])


def in_place_of(
    op: FusedReluOp,
    kind: type[ReluOp],
    operands: Sequence[SSAValue | Operation],
    **attributes: Value | None,
) -> ReluOp:
    """An op of class `kind` with the name, the result type and the relu of `op`."""
    return kind.make(
        op.location,
        operands,
        result_types=op.result_types,
        regions=(),  # named here, so that none of `attributes` can mean it
        do_relu=op.do_relu,
        relu_limit=op.relu_limit,
        **attributes,
    )


HARDWARE_RANK = 4
"""How many dimensions ops of the chip have."""

RANK_OF_HEADS = 4
"""Images, matrices of each, rows, columns."""


def is_channel_weight(weight: SSAValue, value: SSAValue) -> bool:
    """Whether `weight` is a known f32 weight with one element for each channel of `value`."""
    return (
        is_f32_weight(weight)
        and _is_per_channel(shape_of(weight), shape_of(value))
        and values_of(weight) is not None
    )


def is_of_heads(value: SSAValue) -> bool:
    """Whether a value is made by products of several matrices, or from what these make alone.

    Dimension 1 then counts matrices, whose rows lie over the lanes: a factor for each of them is no
    depthwise convolution.
    """
    maker = value.owner
    if isinstance(maker, top.MulConstOp | top.AddConstOp | top.MulOp | top.AddOp):
        made = [one for one in maker.operands if not is_weight(one)]
        return len(made) == 1 and is_of_heads(made[0])
    return isinstance(maker, top.MatMulOp) and len(shape_of(maker.output)) == RANK_OF_HEADS


def _is_per_channel(weight: tuple[int, ...], value: tuple[int, ...]) -> bool:
    """Whether a weight has one element for each channel (dimension 1) of a tensor."""
    if len(weight) != len(value) or len(value) < 2 or weight == value:
        return False
    return (
        weight == tuple(size if axis == 1 else 1 for axis, size in enumerate(value))
        and value[1] > 1
    )


def inner_with_weight(op: SumOrProduct) -> SumOrProduct | None:
    """op(x, W1) in op(op(x, W1), W2), when it has no relu and no other use; the W are f32."""
    if len(op.inputs) != 2 or not is_f32_weight(op.inputs[1]):
        return None
    inner = sole_producer(op.inputs[0], type(op))
    if inner is None or has_relu(inner) or len(inner.inputs) != 2:
        return None
    return inner if is_f32_weight(inner.inputs[1]) else None


def behind_views(value: SSAValue) -> SSAValue:
    """What changes of shape give a form to that nothing else reads."""
    owner = value.owner
    while isinstance(owner, VIEWS) and value.has_one_use():
        value = owner.operands[0]
        owner = value.owner
    return value
