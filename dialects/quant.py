"""The `quant` types: what a tensor's numbers mean under calibration and under quantisation.

    !quant.calibrated<f32<-4.85:4.85>>          a float tensor and the range it was seen to have
    !quant.uniform<i8:f32, 0.038>               real = 0.038 * stored
    !quant.uniform<u8:f32, 0.02:128>            real = 0.02 * (stored - 128)
    !quant.uniform<i8:f32:1, {0.1, 0.2:3}>      one scale (and zero point) per index of axis 1

A storage type is written `i8` when its integers are signed, `u8` when they are not; a range that
is not the type's whole range follows it: `i8<-127:127>`.
"""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    Float64Type,
    FloatAttr,
    IntAttr,
    IntegerType,
    NoneAttr,
    Signedness,
    TensorType,
    f64,
)
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

F64List = ArrayAttr[FloatAttr[Float64Type]]
IntList = ArrayAttr[IntAttr]


def _parse_float_type(parser: AttrParser) -> AnyFloat:
    """The type of the real numbers: a float type."""
    position = parser.pos
    element = parser.parse_type()
    if not isinstance(element, AnyFloat):
        parser.raise_error(f"expected a float type, got {element}", position)
    return element


def _parse_number(parser: AttrParser) -> float:
    """A float literal; a whole number will do."""
    return float(parser.parse_number())


@irdl_attr_definition
class CalibratedType(ParametrizedAttribute, TypeAttribute):
    """A float whose values were observed to lie in `[min, max]`."""

    name = "quant.calibrated"

    expressed: AnyFloat
    min: FloatAttr[Float64Type]
    max: FloatAttr[Float64Type]

    @classmethod
    def of(cls, expressed: AnyFloat, low: float, high: float) -> "CalibratedType":
        """The type of `expressed` numbers between `low` and `high`."""
        return cls(expressed, FloatAttr(low, f64), FloatAttr(high, f64))

    def verify(self) -> None:
        if self.min.value.data > self.max.value.data:
            raise VerifyException(
                f"calibrated range is empty: {self.min.value.data} > {self.max.value.data}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            expressed = _parse_float_type(parser)
            with parser.in_angle_brackets():
                low = _parse_number(parser)
                parser.parse_punctuation(":")
                high = _parse_number(parser)
        return expressed, FloatAttr(low, f64), FloatAttr(high, f64)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.expressed)
            with printer.in_angle_brackets():
                printer.print_float(self.min.value.data, f64)
                printer.print_string(":")
                printer.print_float(self.max.value.data, f64)


@irdl_attr_definition
class UniformType(ParametrizedAttribute, TypeAttribute):
    """An integer `q` that stands for the real number `scale * (q - zero_point)`.

    `storage` carries its signedness; `min` and `max` bound `q`. Per-axis types have one scale and
    one zero point for every index along `axis`; otherwise `axis` is `NoneAttr`.
    """

    name = "quant.uniform"

    storage: IntegerType
    expressed: AnyFloat
    scales: F64List
    zero_points: IntList
    axis: IntAttr | NoneAttr
    min: IntAttr
    max: IntAttr

    @classmethod
    def of(
        cls,
        bits: int,
        expressed: AnyFloat,
        scale: float | Sequence[float],
        zero_point: int | Sequence[int] = 0,
        *,
        signed: bool = True,
        axis: int | None = None,
    ) -> "UniformType":
        """A quantised type over the whole range of its storage integers."""
        storage = IntegerType(bits, Signedness.SIGNED if signed else Signedness.UNSIGNED)
        scales = (scale,) if isinstance(scale, int | float) else tuple(scale)
        zeros = (zero_point,) * len(scales) if isinstance(zero_point, int) else tuple(zero_point)
        return cls.new(_parameters(storage, expressed, scales, zeros, axis, _full_range(storage)))

    @property
    def scale(self) -> float:
        """The scale of a per-tensor type."""
        return self.scales.data[0].value.data

    @property
    def zero_point(self) -> int:
        """The zero point of a per-tensor type."""
        return self.zero_points.data[0].data

    def verify(self) -> None:
        if not self.scales.data or len(self.scales) != len(self.zero_points):
            raise VerifyException("every scale needs a zero point, and there must be a scale")
        if isinstance(self.axis, NoneAttr) and len(self.scales) > 1:
            raise VerifyException("several scales need an axis")
        low, high = _full_range(self.storage)
        if not low <= self.min.data < self.max.data <= high:
            raise VerifyException(
                f"storage range {self.min.data}:{self.max.data} does not fit "
                f"{_storage_text(self.storage)}, which holds {low}:{high}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            storage = _parse_storage(parser)
            bounds = _full_range(storage)
            if parser.parse_optional_punctuation("<"):
                low = parser.parse_integer()
                parser.parse_punctuation(":")
                bounds = low, parser.parse_integer()
                parser.parse_punctuation(">")
            parser.parse_punctuation(":")
            expressed = _parse_float_type(parser)
            axis = parser.parse_integer() if parser.parse_optional_punctuation(":") else None
            parser.parse_punctuation(",")
            scales, zeros = _parse_steps(parser, axis is not None)
        return _parameters(storage, expressed, scales, zeros, axis, bounds)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(_storage_text(self.storage))
            if (self.min.data, self.max.data) != _full_range(self.storage):
                printer.print_string(f"<{self.min.data}:{self.max.data}>")
            printer.print_string(":")
            printer.print_attribute(self.expressed)
            steps = list(zip(self.scales, self.zero_points, strict=True))
            if isinstance(self.axis, NoneAttr):
                printer.print_string(", ")
                _print_step(printer, steps[0])
                return
            printer.print_string(f":{self.axis.data}, ")
            with printer.in_braces():
                printer.print_list(steps, lambda step: _print_step(printer, step))


def _parameters(
    storage: IntegerType,
    expressed: AnyFloat,
    scales: Sequence[float],
    zero_points: Sequence[int],
    axis: int | None,
    bounds: tuple[int, int],
) -> Sequence[Attribute]:
    return (
        storage,
        expressed,
        ArrayAttr([FloatAttr(scale, f64) for scale in scales]),
        ArrayAttr([IntAttr(zero) for zero in zero_points]),
        NoneAttr() if axis is None else IntAttr(axis),
        IntAttr(bounds[0]),
        IntAttr(bounds[1]),
    )


def _full_range(storage: IntegerType) -> tuple[int, int]:
    """Smallest and largest integer `storage` holds."""
    bits = storage.width.data
    if storage.signedness.data == Signedness.UNSIGNED:
        return 0, (1 << bits) - 1
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def _storage_text(storage: IntegerType) -> str:
    letter = "u" if storage.signedness.data == Signedness.UNSIGNED else "i"
    return f"{letter}{storage.width.data}"


def _parse_storage(parser: AttrParser) -> IntegerType:
    position = parser.pos
    text = parser.parse_identifier()
    if text[:1] not in "iu" or not text[1:].isdecimal() or int(text[1:]) == 0:
        parser.raise_error(f"expected a storage type such as i8 or u8, got {text}", position)
    return IntegerType(int(text[1:]), Signedness.UNSIGNED if text[0] == "u" else Signedness.SIGNED)


def _parse_steps(parser: AttrParser, per_axis: bool) -> tuple[list[float], list[int]]:
    """The scales and zero points: in braces when there is one per index of an axis."""
    if per_axis:
        steps = parser.parse_comma_separated_list(
            parser.Delimiter.BRACES, lambda: _parse_step(parser)
        )
    else:
        steps = [_parse_step(parser)]
    return [scale for scale, _ in steps], [zero for _, zero in steps]


def _parse_step(parser: AttrParser) -> tuple[float, int]:
    scale = _parse_number(parser)
    return scale, parser.parse_integer() if parser.parse_optional_punctuation(":") else 0


def _print_step(printer: Printer, step: tuple[FloatAttr[Float64Type], IntAttr]) -> None:
    scale, zero = step
    printer.print_float(scale.value.data, f64)
    if zero.data:
        printer.print_string(f":{zero.data}")


def stored_element(element: Attribute) -> Attribute:
    """The type in which memory holds elements of a type, which may be one of `quant`."""
    kind = element.__class__  # in a third of the time of `isinstance` for abstract classes
    if kind is CalibratedType:
        return cast(CalibratedType, element).expressed
    return cast(UniformType, element).storage if kind is UniformType else element


def zero_point(type_: Attribute) -> int:
    """The integer that stands for 0 in tensors of a type; 0 where they are not quantised, or have
    steps of their own along an axis."""
    element = cast("TensorType[Attribute]", type_).element_type if _is_tensor(type_) else type_
    if not isinstance(element, UniformType) or len(element.scales) > 1:
        return 0
    return element.zero_point


def _is_tensor(type_: Attribute) -> bool:
    return isinstance(type_, TensorType)


Quant = Dialect("quant", [], [CalibratedType, UniformType])
