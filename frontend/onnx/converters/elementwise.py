"""Ops of several tensors, element by element, with broadcasting."""

from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.frontend.onnx.converters.context import Context, Converter
from xdsl_tpu.frontend.onnx.graph import NO_NUMBERS, Node, content
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode

COMMUTATIVE: dict[str, type[NamedOp]] = {
    "Add": top.AddOp,
    "Max": top.MaxOp,
    "Min": top.MinOp,
    "Mul": top.MulOp,
    "Sum": top.AddOp,
}

COMPARISONS = frozenset({"And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Xor"})

TRUNCATED: dict[str, Any] = {"to": "INT32", "round_mode": "TowardsZero"}


def convert_commutative(context: Context, node: Node) -> None:
    """Add, Mul, .. of two or more; a weight that came first goes second."""
    names = list(node.inputs)
    constants = context.graph.constants
    if len(names) == 2 and names[0] in constants and names[1] not in constants:
        names.reverse()
    op = COMMUTATIVE[node.op_type]
    context.emit(node, op, [context.value(name) for name in names])


def convert_sub(context: Context, node: Node) -> None:
    """Sub: c - x -> top.SubConst reversed; x - c -> top.AddConst(-c); else top.Sub."""
    left, right = node.inputs
    number = _scalar_side(context, node, left)
    if number is not None:
        context.emit(
            node, top.SubConstOp, [context.value(right)], const_val=number, is_reverse=True
        )
        return
    number = _scalar_side(context, node, right)
    if number is not None:
        context.emit(node, top.AddConstOp, [context.value(left)], const_val=-number)
        return
    context.emit(node, top.SubOp, [context.value(left), context.value(right)])


def convert_div(context: Context, node: Node) -> None:
    """Div: c / x -> top.Reciprocal(c); x / c -> top.MulConst(1 / c); else top.Div.

    The quotient of integers is a top.Div of integers, which loses its fraction.
    """
    left, right = node.inputs
    if context.graph.types[node.output].is_integer:
        context.emit(node, top.DivOp, [context.value(left), context.value(right)])
        return
    number = _scalar_side(context, node, left)
    if number is not None:
        context.emit(node, top.ReciprocalOp, [context.value(right)], const_val=number)
        return
    number = _scalar_side(context, node, right)
    if number:
        context.emit(node, top.MulConstOp, [context.value(left)], const_val=1.0 / number)
        return
    context.emit(node, top.DivOp, [context.value(left), context.value(right)])


def _scalar_side(context: Context, node: Node, name: str) -> float | None:
    """The number `name` is, when the other operand alone has the shape of the result."""
    number = context.graph.scalar(name)
    if number is None or not np.isfinite(number):
        return None
    other = node.inputs[1] if name == node.inputs[0] else node.inputs[0]
    return number if context.shape(other) == context.shape(node.output) else None


def convert_pow(context: Context, node: Node) -> None:
    """Pow: x^1 -> x; x^2 -> top.Mul(x, x); x^c -> top.Pow; c^x -> top.Pow2; else top.Pow3."""
    base, exponent = node.inputs
    number = _scalar_side(context, node, exponent)
    if number == 1.0:
        context.bind(node.output, context.value(base))
    elif number == 2.0:
        context.emit(node, top.MulOp, [context.value(base)] * 2)
    elif number is not None:
        context.emit(node, top.PowOp, [context.value(base)], exponent=number)
    elif (number := _scalar_side(context, node, base)) is not None:
        context.emit(node, top.Pow2Op, [context.value(exponent)], const_val=number)
    else:
        context.emit(node, top.Pow3Op, [context.value(base), context.value(exponent)])


def convert_mod(context: Context, node: Node) -> None:
    """Mod of integers -> top.Remainder, or top.Mod with fmod. Floats: what |a| and |b| leave."""
    left, right = node.inputs
    a, b = context.value(left), context.value(right)
    if not context.graph.types[node.output].is_integer:
        _remainder_of_sizes(context, node, a, b)
        return
    context.emit(node, top.ModOp if node.attribute("fmod", 0) else top.RemainderOp, [a, b])


def _remainder_of_sizes(context: Context, node: Node, a: SSAValue, b: SSAValue) -> None:
    """r = |a| - |b| floor(|a| / |b|), once corrected where the quotient was rounded to the next
    integer or short of it; then the sign of a. Without fmod, b is added where the signs differ."""
    left, right = map(context.shape, node.inputs)
    shape = context.shape(node.output)

    def step(label: str, op: type[NamedOp], *operands: SSAValue, **attributes: Any) -> SSAValue:
        return context.step(node, label, op, operands, shape, **attributes)

    sign = context.step(node, "sign", top.SignOp, [a], left)
    dividend = context.step(node, "dividend", top.AbsOp, [a], left)
    divisor = context.step(node, "divisor", top.AbsOp, [b], right)
    whole = step("whole", top.FloorOp, step("quotient", top.DivOp, dividend, divisor))
    rest = step("rest", top.SubOp, dividend, step("multiple", top.MulOp, whole, divisor))
    compare = {"const_val": 0.0, "inversed": False}
    low = step("low", top.CompareConstOp, rest, mode="Less", **compare)
    raised = step("raised", top.AddOp, rest, step("more", top.MulOp, low, divisor))
    over = step("over", top.SubOp, raised, divisor)
    high = step("high", top.CompareConstOp, over, mode="GreaterOrEqual", **compare)
    size = step("size", top.SubOp, raised, step("less", top.MulOp, high, divisor))
    if node.attribute("fmod", 0):
        context.emit(node, top.MulOp, [size, sign])
        return
    remainder = step("remainder", top.MulOp, size, sign)
    wanted = context.step(node, "wanted", top.SignOp, [b], right)
    agreement = step("agreement", top.MulOp, remainder, wanted)
    differs = step("differs", top.CompareConstOp, agreement, mode="Less", **compare)
    context.emit(node, top.AddOp, [remainder, step("turn", top.MulOp, differs, b)])


def convert_mean(context: Context, node: Node) -> None:
    """Mean of n tensors -> top.Add, then top.MulConst(1 / n)."""
    operands = [context.value(name) for name in node.inputs]
    total = context.step(node, "sum", top.AddOp, operands, context.shape(node.output))
    context.emit(node, top.MulConstOp, [total], const_val=1.0 / len(operands))


def convert_compare(context: Context, node: Node) -> None:
    """Comparisons; one constant number makes it top.CompareConst, `inversed` when on the left."""
    left, right = node.inputs
    for name, other, inversed in ((right, left, False), (left, right, True)):
        number = _scalar_side(context, node, name)
        if number is not None:
            _compare_const(context, node, context.value(other), number, inversed)
            return
    operands = [context.value(left), context.value(right)]
    context.emit(node, top.CompareOp, operands, mode=node.op_type)


def _compare_const(
    context: Context, node: Node, value: SSAValue, number: float, inversed: bool
) -> None:
    context.emit(
        node,
        top.CompareConstOp,
        [value],
        mode=node.op_type,
        const_val=number,
        inversed=inversed,
    )


def convert_not(context: Context, node: Node) -> None:
    """Not -> top.CompareConst."""
    value = context.value(node.inputs[0])
    context.emit(node, top.CompareConstOp, [value], mode="Not", const_val=0.0, inversed=False)


def convert_or(context: Context, node: Node) -> None:
    """Or(a, b) -> (a + b) > 0."""
    operands = [context.value(name) for name in node.inputs]
    total = context.step(node, "sum", top.AddOp, operands, context.shape(node.output))
    context.emit(node, top.CompareConstOp, [total], mode="Greater", const_val=0.0, inversed=False)


def convert_where(context: Context, node: Node) -> None:
    """Where -> top.Where; a branch that is one constant number becomes an attribute."""
    condition, *branches = node.inputs
    operands, attributes = [context.value(condition)], dict[str, Any]()
    for letter, name in zip("xy", branches, strict=True):
        number = context.graph.scalar(name)
        if number is not None and np.isfinite(np.float32(number)):
            attributes |= {f"{letter}_is_const": True, f"{letter}_const_val": number}
            operands.append(context.none)
        else:
            operands.append(context.value(name))
    context.emit(node, top.WhereOp, operands, **attributes)


def convert_cast(context: Context, node: Node) -> None:
    """Cast: to bool -> != 0; between numbers that are held differently -> top.Cast, floats to
    integers towards zero; otherwise the value itself."""
    source = context.graph.types[node.inputs[0]]
    target = context.graph.types[node.output]
    value = context.value(node.inputs[0])
    if target.dtype in NO_NUMBERS:
        raise UnsupportedNode(f"a cast to {content(target.dtype)} is not supported")
    if target.dtype == "bool" and source.dtype != "bool":
        context.emit(
            node, top.CompareConstOp, [value], mode="NotEqual", const_val=0.0, inversed=False
        )
    elif source.is_integer == target.is_integer:
        context.bind(node.output, value)
    elif source.is_integer:
        context.emit(node, top.CastOp, [value], to="F32")
    elif source.is_float and target.dtype not in ("int32", "int64"):
        raise UnsupportedNode(f"a cast from {source.dtype} to {target.dtype} is not supported")
    else:
        context.emit(node, top.CastOp, [value], **TRUNCATED)


CONVERTERS: dict[str, Converter] = {
    **dict.fromkeys(COMMUTATIVE, convert_commutative),
    **dict.fromkeys(COMPARISONS, convert_compare),
    "Cast": convert_cast,
    "Div": convert_div,
    "Mean": convert_mean,
    "Mod": convert_mod,
    "Not": convert_not,
    "Or": convert_or,
    "Pow": convert_pow,
    "Sub": convert_sub,
    "Where": convert_where,
}
