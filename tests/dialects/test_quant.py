"""The quantised and calibrated element types."""

from typing import cast

import pytest
from xdsl.dialects.builtin import FunctionType, NoneAttr, TensorType, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.utils.exceptions import ParseError, VerifyException

from xdsl_tpu.dialects.base import RankedTensor
from xdsl_tpu.dialects.quant import CalibratedType, UniformType
from xdsl_tpu.dialects.text import module_text, parse_module


def element_of(text: str) -> Attribute:
    """The element type a tensor type of the text has."""
    module = parse_module(f"func.func private @f(tensor<1x2x{text}>) -> ()\n")
    (func,) = (op for op in module.walk() if isinstance(op, FuncOp))
    assert text in module_text(module)
    (argument,) = func.function_type.inputs
    assert isinstance(argument, TensorType)
    return cast(RankedTensor, argument).element_type


def test_per_tensor_type() -> None:
    element = element_of("!quant.uniform<u8:f32, 2.000000e-02:128>")
    assert isinstance(element, UniformType)
    assert (element.scale, element.zero_point) == (0.02, 128)
    assert (element.min.data, element.max.data) == (0, 255)
    assert isinstance(element.axis, NoneAttr)
    assert element == UniformType.of(8, f32, 0.02, 128, signed=False)


def test_per_axis_type() -> None:
    element = element_of("!quant.uniform<i8:f32:1, {5.000000e-01, 2.500000e-01:-3}>")
    assert element == UniformType.of(8, f32, (0.5, 0.25), (0, -3), axis=1)


def test_narrow_range_and_other_widths() -> None:
    element = element_of("!quant.uniform<i16<-32767:32767>:f32, 5.000000e-01>")
    assert isinstance(element, UniformType)
    assert (element.min.data, element.max.data) == (-32767, 32767)


def test_calibrated_type() -> None:
    element = element_of("!quant.calibrated<f32<-4.8521175000000003:0.000000e+00>>")
    assert element == CalibratedType.of(f32, -4.8521175000000003, 0.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("!quant.uniform<q8:f32, 0.1>", "expected a storage type such as i8 or u8, got q8"),
        ("!quant.uniform<i8:i32, 0.1>", "expected a float type, got i32"),
        ("!quant.calibrated<i8<0.0:1.0>>", "expected a float type, got i8"),
        ("!quant.uniform<i8<-128:128>:f32, 0.1>", "storage range -128:128 does not fit i8"),
        ("!quant.uniform<i8:f32:0, {}>", "there must be a scale"),
        ("!quant.any<i8>", "'quant.any' is not registered"),
    ],
)
def test_malformed_types_are_errors_where_they_stand(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        element_of(text)
    assert message in str(caught.value)
    assert "<string>:1:" in str(caught.value)


def test_built_types_are_verified() -> None:
    with pytest.raises(VerifyException, match="several scales need an axis"):
        UniformType.of(8, f32, (0.5, 0.25))
    with pytest.raises(VerifyException, match="every scale needs a zero point"):
        UniformType.of(8, f32, (0.5, 0.25), (0,), axis=0)


def test_types_are_types() -> None:
    assert FunctionType.from_lists([TensorType(UniformType.of(4, f32, 0.5), (2,))], [])
