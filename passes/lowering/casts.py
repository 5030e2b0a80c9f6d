"""Make element types meet: insert `tpu.Cast` wherever an op needs another type than it gets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.builder import Builder
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.integers import INTEGER, is_integer_element, is_integer_tensor
from xdsl_tpu.dialects.quant import CalibratedType, UniformType
from xdsl_tpu.passes.calibration.steps import quantised
from xdsl_tpu.passes.lowering.context import BF16, F16, F32
from xdsl_tpu.passes.tensors import element_of, is_weight, number_type, required_name, shape_of

COMPARISONS = (tpu.CompareOp, tpu.CompareConstOp)
"""Ops that compare integers as such, and give truth values of any type."""

INDEX_OPERANDS: Mapping[type[Operation], int] = {
    tpu.GatherOp: 1,
    tpu.GatherElementsOp: 1,
    tpu.GatherNDOp: 1,
    tpu.ScatterElementsOp: 1,
    tpu.ScatterNDOp: 1,
}
"""Which operand is an index, and therefore an integer."""

F32_OPERANDS: Mapping[type[Operation], range] = {tpu.SampledSumOp: range(1, 3)}
"""Operands that are f32 whatever the type of the result: places between pixels."""

F32_INPUTS = (tpu.ArgOp, tpu.TopKOp)
"""Ops that read f32 although their first result may be an index."""

ANY_INPUT = (tpu.CastOp,)
"""Ops that convert by themselves."""


@dataclass
class _Casts:
    """The casts of one function: one for each value and type, shared by all its users."""

    asymmetric: bool
    made: dict[tuple[SSAValue, Attribute], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, Attribute], SSAValue]
    )

    def cast(self, value: SSAValue, element: Attribute, name: str) -> SSAValue:
        key = (value, element)
        if key not in self.made:
            result_type = TensorType(element, shape_of(value))
            cast = tpu.CastOp.make(name, (value,), result_types=(result_type,))
            Builder(_after(value)).insert(cast)
            self.made[key] = cast.output
        return self.made[key]


class Narrowed(NamedTuple):
    """A value that is cast to shorter elements."""

    name: str
    element: Attribute


def insert_casts(func: FuncOp, asymmetric: bool = False) -> list[Narrowed]:
    """Cast operands to the element type their op computes in, and results of `func` to f32 (but
    integers).

    A cast is called `<value><user>_<type>`, at the function's end `<value>_f32`, and stands
    right after the value. Weights need none: lowering made copies of the right type.

        %1 = Active(%0 : f32)            %1 = Active(%0 : f32)
        %2 = MatMul(%1, ..) : f16   ->   %c = Cast(%1) : f16   loc("actmatmul_f16")
                                         %2 = MatMul(%c, ..) : f16

    Floats become integers with zero points if `asymmetric`. Gives the values that are cast to
    fewer bits, those of integers and f32.
    """
    casts, narrowed = _Casts(asymmetric), list[Narrowed]()
    for op in list(func.body.block.ops):
        for place, value in enumerate(op.operands):
            if not isinstance(value.type, TensorType) or is_weight(value):
                continue
            wanted = wanted_element(op, place)
            element = None if wanted is None else _cast_to(wanted, value, op, asymmetric)
            if element is None:
                continue
            user = "" if isinstance(op, ReturnOp) else required_name(op)
            name = f"{required_name(value)}{user}_{_short(element)}"
            if element_of(value) == F32 or is_integer_tensor(value):
                narrowed.append(Narrowed(required_name(value), element))
            op.operands[place] = casts.cast(value, element, name)
    _forget_ranges_of_results(func)
    return narrowed


def _forget_ranges_of_results(func: FuncOp) -> None:
    """Floats that are returned are f32 and no more: nobody reads their range, and an op that is
    written anew for another has not always one."""
    end = func.get_return_op()
    for value in dict.fromkeys(end.operands if end is not None else ()):
        if isinstance(value.type, TensorType) and isinstance(element_of(value), CalibratedType):
            Rewriter.replace_value_with_new_type(value, TensorType(F32, shape_of(value)))


def _cast_to(
    wanted: Attribute, value: SSAValue, op: Operation, asymmetric: bool
) -> Attribute | None:
    """The type `value` must be cast to for a reader of `wanted` elements; None when it fits.

    A quantised reader takes any quantised value; a float becomes one by its calibrated range.
    Whether a float is calibrated is of no concern to a reader of floats.
    """
    element = element_of(value)
    if isinstance(wanted, UniformType):
        if isinstance(element, UniformType):
            return None
        target = quantised(element, asymmetric)
        if target is None:
            raise TpuError(
                f"{op.name} '{required_name(op)}' runs in INT8, but its operand "
                f"'{required_name(value)}' has no calibrated range: add it to the table"
            )
        return target
    if is_integer_element(wanted) and is_integer_element(element):
        return None
    wanted, stored = _uncalibrated(wanted), _uncalibrated(element)
    return None if wanted == stored else wanted


def _uncalibrated(element: Attribute) -> Attribute:
    return element.expressed if isinstance(element, CalibratedType) else element


def _short(element: Attribute) -> str:
    """A type as it is spelt in names: `f16`, `si8`, `ui8`."""
    return str(element.storage if isinstance(element, UniformType) else element)


def wanted_element(op: Operation, place: int) -> Attribute | None:
    """The element type `op` needs at operand `place`; None when any will do."""
    if isinstance(op, ReturnOp) and is_integer_tensor(op.operands[place]):
        return None
    if isinstance(op, (ReturnOp, *F32_INPUTS)):
        return F32
    if op.dialect_name() != tpu.Tpu.name or isinstance(op, ANY_INPUT) or not op.results:
        return None
    if INDEX_OPERANDS.get(type(op)) == place:
        return INTEGER
    if place in F32_OPERANDS.get(type(op), ()):
        return F32
    if isinstance(op, COMPARISONS) and any(map(is_integer_tensor, (*op.operands, *op.results))):
        return INTEGER
    if isinstance(op, tpu.MatMulOp) and (short := _exact_operands(op)) is not None:
        return short
    return element_of(next(result for result in op.results if not is_none(result)))


def _exact_operands(op: tpu.MatMulOp) -> Attribute | None:
    """The 16-bit floats that an f32 product of two computed tensors takes without wider casts; None
    where one of them is wider.

    Products of 16-bit floats are exact in f32, and summed in it; only the result is wider. Integers
    of 8 bits become f16 for it.
    """
    both = (op.input, op.right)
    if number_type(op.output) != F32 or not is_none(op.bias) or any(map(is_weight, both)):
        return None
    found = {F16 if isinstance(element_of(one), UniformType) else number_type(one) for one in both}
    return found.pop() if found in ({F16}, {BF16}) else None


def _after(value: SSAValue) -> InsertPoint:
    if isinstance(value.owner, Block):
        return InsertPoint.at_start(value.owner)
    return InsertPoint.after(value.owner)
