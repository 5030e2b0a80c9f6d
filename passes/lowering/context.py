"""What every lowering function needs: the number format, the weights and a place to build."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    Float32Type,
    IntegerType,
    NoneType,
    TensorType,
    UnknownLoc,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.lanes import Lanes
from xdsl_tpu.dialects.quant import CalibratedType
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.calibration.ranges import range_of
from xdsl_tpu.passes.calibration.steps import result_element
from xdsl_tpu.passes.tensors import element_of, required_name, shape_of
from xdsl_tpu.passes.weight_data import as_numbers, stored_as

F32, F16, BF16 = Float32Type(), Float16Type(), BFloat16Type()

INT8 = IntegerType(8)
"""Stands for the 8-bit quantised type that the calibrated range of a result calls for."""

MODES: dict[str, Attribute] = {"F32": F32, "F16": F16, "BF16": BF16, "INT8": INT8}
"""The number formats a network can be lowered to, and the element type they compute in."""


F16_REACH = 2.0**15
"""Magnitudes up to which 16-bit floats are trusted with a tensor seen in calibration: half of
the largest f16, because other inputs may give larger numbers."""

F16_DEPTH = 2.0**-17
"""The least range of which f16 holds as many digits as 8 bits do: the rest is below 2^-24."""


def in_f16(threshold: float) -> bool:
    """Whether f16 holds what 8 bits do of a range, with room to grow."""
    return not threshold or F16_DEPTH <= threshold <= F16_REACH


class CannotLowerError(TpuError):
    """One op has no lowering; the pass collects these and reports all of them at once."""


@dataclass
class LoweringContext:
    """The state of one lowering sweep over one function.

    `element` is that of the op being lowered, `chip` that of the program. `asymmetric` types of
    8 bits have zero points. `by_tables`: functions of 8-bit numbers are never computed in floats.
    `coarse` are ops in floats that 8 bits would be enough for.
    `weights` is None for a module without a weight file: then only types change.
    """

    element: Attribute
    weights: Weights | None
    entry: Block
    builder: Builder
    chip: Chip
    corrections: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    asymmetric: bool = False
    by_tables: bool = False
    coarse: Container[Operation] = ()
    _copies: dict[tuple[SSAValue, Attribute], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, Attribute], SSAValue]
    )

    @property
    def lanes(self) -> Lanes:
        """Those of the chip."""
        return self.chip.weight_lanes

    def add(self, op: Operation) -> Sequence[SSAValue]:
        """Insert `op` in front of the op that is being lowered; gives its results."""
        return self.builder.insert(op).results

    def none(self) -> SSAValue:
        """The function's one `top.None`; made at its start when there is none yet."""
        found = next((op for op in self.entry.ops if isinstance(op, top.NoneOp)), None)
        if found is None:
            found = top.NoneOp.make(UnknownLoc(), (), result_types=(NoneType(),))
            Builder(InsertPoint.at_start(self.entry)).insert(found)
        return found.output

    def as_type(self, value: SSAValue, element: Attribute) -> SSAValue:
        """`value`, or a copy in `element` when it is a weight of another element type.

        The copy is called `<weight>_f16` (or `_bf16`, `_i32`) and stands before the op being
        lowered; later users of the same weight in the same type share it. Numbers too large
        for f16 become its largest: an infinite weight would spoil every sum.
        """
        weight = value.owner
        if not isinstance(weight, top.WeightOp) or element_of(value) == element:
            return value
        return self.once((value, element), lambda: self._copy(value, weight, element))

    def once(self, key: tuple[SSAValue, Attribute], make: Callable[[], SSAValue]) -> SSAValue:
        """What `make` gave for this weight and element type the first time."""
        if key not in self._copies:
            self._copies[key] = make()
        return self._copies[key]

    def tensor_type(self, old: SSAValue, element: Attribute) -> Attribute:
        """The type of what replaces a result: a calibrated range of the old one is kept.

        Floats stay calibrated floats, `INT8` becomes the quantised type for the range.
        """
        if is_none(old):
            return old.type
        known = range_of(old)
        if element == INT8:
            element = result_element(old, self.asymmetric)
        elif known is not None and isinstance(element, AnyFloat):
            element = CalibratedType.of(element, *known)
        return TensorType(element, shape_of(old))

    def _copy(self, value: SSAValue, weight: top.WeightOp, element: Attribute) -> SSAValue:
        name = f"{required_name(weight)}_{element}"
        result_type = TensorType(element, shape_of(value))
        if self.weights is not None:
            array = as_numbers(self.weights[required_name(weight)], element_of(value))
            self.weights[name] = stored_as(array, element, clip=True)
        return self.add(top.WeightOp.make(name, (), result_types=(result_type,)))[0]


Lowering: TypeAlias = Callable[[Operation, LoweringContext], Sequence[SSAValue]]
"""Builds what replaces a top op and returns the values that replace its results."""

Lowerings: TypeAlias = dict[type[Operation], Lowering]
