"""The lowering most ops share: same operands, same attributes, new op and element type."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import OptOperandDef, VarOperandDef

from xdsl_tpu.dialects.base import Name, NamedOp, is_none
from xdsl_tpu.passes.lowering.context import (
    F32,
    CannotLowerError,
    Lowering,
    LoweringContext,
)
from xdsl_tpu.passes.tensors import is_weight, required_name


def same(target: type[NamedOp], *, in_f32: bool = False) -> Lowering:
    """Lower to `target` with every operand and attribute kept.

    Weights among the operands are converted to the element type of the mode. `in_f32`: the
    chip has no 16-bit version (or not a precise enough one); the op stays in f32 in all modes
    and casts appear around it.
    """

    def lower(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
        element = F32 if in_f32 else ctx.element
        operands = [ctx.as_type(operand, element) for operand in op.operands]
        return build(op, ctx, target, operands, element)

    return lower


def follow(target: type[NamedOp]) -> Lowering:
    """Lower an op that only renames or copies elements: it takes the type of its input."""

    def lower(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
        value = op.operands[0]
        if is_weight(value):
            value = ctx.as_type(value, ctx.element)
        element = cast("TensorType[Attribute]", value.type).element_type
        return build(op, ctx, target, [value, *_static(op, op.operands[1:])], element)

    return lower


def build(
    op: Operation,
    ctx: LoweringContext,
    target: type[NamedOp],
    operands: Sequence[SSAValue],
    elements: Attribute | Sequence[Attribute],
    *,
    keep: bool = True,
    **changes: Any,
) -> Sequence[SSAValue]:
    """Add a `target` that takes the place, the name and (with `keep`) the attributes of `op`.

    Missing operands of `target` (buffers, tables) become the function's `none`. `elements`: the
    element type of every result, or one each. `changes` are attributes to set; None removes.
    """
    if not isinstance(elements, Sequence):
        elements = [elements] * len(op.results)
    types = [
        ctx.tensor_type(result, element)
        for result, element in zip(op.results, elements, strict=True)
    ]
    attributes = {**(_plain(op.attributes) if keep else {}), **changes}
    declared = target.get_irdl_definition().attributes
    known = {key: value for key, value in attributes.items() if key in declared}
    new = target.make(
        _name(op),
        (*operands, *missing_operands(ctx, target, len(operands))),
        result_types=types,
        **known,
    )
    extra = {
        key: op.attributes[key]
        for key, value in attributes.items()
        if key not in declared and value is not None
    }
    if extra:
        new.attributes = dict(sorted({**new.attributes, **extra}.items()))
    return ctx.add(new)


def _name(op: Operation) -> Name:
    required_name(op)
    return op.location


def _plain(attributes: Mapping[str, Attribute]) -> dict[str, Any]:
    """Attributes as builders take them: strings as text, so that they can become enum cases."""
    return {
        key: value.data if isinstance(value, StringAttr) else value
        for key, value in attributes.items()
    }


def missing_operands(ctx: LoweringContext, target: type[NamedOp], given: int) -> list[SSAValue]:
    """The function's `none`, once for each operand of `target` that is not given."""
    definitions = [definition for _, definition in target.get_irdl_definition().operands]
    if any(isinstance(d, VarOperandDef) and not isinstance(d, OptOperandDef) for d in definitions):
        return []
    wanted = sum(not isinstance(definition, OptOperandDef) for definition in definitions)
    return [ctx.none()] * (wanted - given) if wanted > given else []


def _static(op: Operation, shape_operands: Iterable[SSAValue]) -> list[SSAValue]:
    """Refuse a shape that is only known at run time."""
    if any(not is_none(operand) for operand in shape_operands):
        raise CannotLowerError(f"{op.name} '{required_name(op)}': its shape is not constant")
    return []
