"""Declaring, building and reading `top` ops."""

import subprocess
import sys

import pytest
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, NoneType, TensorType, f32, f64, i64
from xdsl.traits import Pure
from xdsl.transforms.common_subexpression_elimination import cse
from xdsl.transforms.dead_code_elimination import is_trivially_dead
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import BOOL, F64, I64_ARRAY, I64_INT, ChoiceKind, floats, ints
from xdsl_tpu.dialects.base import UNRANKED_F32, NamedOp
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import names_of
from xdsl_tpu.dialects.text import module_text, parse_module
from xdsl_tpu.dialects.traits import (
    InOutSameShape,
    SupportElementwise,
    SupportFuseRelu,
    SupportPermuteMove,
)

OPS = [op for op in top.Top.operations if issubclass(op, NamedOp)]


def weight(*shape: int) -> top.WeightOp:
    return top.WeightOp.make("w", (), result_types=[TensorType(f32, shape)])


def none() -> top.NoneOp:
    return top.NoneOp.make("none", (), result_types=[NoneType()])


def test_every_op_is_exported_under_its_name() -> None:
    assert len(OPS) == 202
    for op in OPS:
        assert op.name.startswith("top.")
        assert getattr(top, f"{op.name.removeprefix('top.')}Op") is op
        assert op.__doc__
        for name, attribute in op.get_irdl_definition().attributes.items():
            default = attribute.default_value
            assert default is None or attribute.constr.verifies(default), (op, name)


def test_the_dialect_needs_no_numpy() -> None:
    program = "import sys, xdsl_tpu.dialects.top; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_an_op_is_built_from_plain_values() -> None:
    conv = top.ConvOp.make(
        "conv1",
        (weight(1, 3, 8, 8), weight(4, 3, 3, 3), none()),
        kernel_shape=(3, 3),
        strides=[1, 2],
        pads=(1,) * 4,
        do_relu=True,
        dilations=None,
    )
    conv.verify()
    assert names_of(conv) == ("conv1",)
    assert conv.output.type == UNRANKED_F32
    assert ints(conv.strides) == (1, 2)
    assert conv.dilations is None
    assert list(conv.attributes) == sorted(conv.attributes)
    assert conv.attributes["group"] == IntegerAttr(1, i64)
    assert conv.attributes["relu_limit"] == FloatAttr(-1.0, f64)


def test_names_of_several_results() -> None:
    types = [UNRANKED_F32, UNRANKED_F32]
    split = top.SplitOp.make(("a", "b"), [weight(4)], result_types=types, axis=0, num=2)
    assert names_of(split) == ("a", "b")
    assert top.ReluOp.make(split.location, [split.outputs[1]]).location == split.location


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"axis": 1, "size": 2}, "top.Softmax has no attribute size"),
        ({}, "top.Softmax needs attribute axis"),
        ({"axis": 1.5}, "top.Softmax: attribute axis: expected an integer of type si32, got 1.5"),
        ({"axis": i64}, "top.Softmax: attribute axis: expected an integer of type si32, got "),
        ({"axis": 0, "log": 2}, "top.Softmax: attribute log: expected true or false, got 2"),
        ({"axis": 0, "round_mode": "x"}, 'attribute round_mode: expected one of "HalfAwayFromZe'),
    ],
)
def test_wrong_attributes_are_refused(attributes: dict[str, object], message: str) -> None:
    with pytest.raises(TpuError) as error:
        top.SoftmaxOp.make("s", [weight(4)], **attributes)  # pyright: ignore[reportArgumentType] - the point of the test
    assert message in str(error.value)


def test_a_variable_number_of_results_needs_types() -> None:
    with pytest.raises(TpuError, match=r"top\.Split: it has a variable number of results"):
        top.SplitOp.make("s", [weight(4)], axis=0, num=2)


def test_kinds_take_only_what_they_mean() -> None:
    assert ints(I64_ARRAY.encode(range(3))) == (0, 1, 2)
    assert F64.encode(2).value.data == 2.0
    assert floats([F64.encode(0.5)]) == (0.5,)
    mode = ChoiceKind("a", "b")
    assert mode.encode("b").data == "b"
    for kind, value in ((I64_INT, 0.5), (BOOL, "yes"), (I64_ARRAY, "12"), (mode, "c"), (F64, "x")):
        with pytest.raises(ValueError, match="expected "):
            kind.encode(value)


def test_a_default_is_answered_but_not_written() -> None:
    text = """func.func @f(%a: tensor<2x3xf32>) {
  %r = "top.MulConst"(%a) {const_val = 2.0 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}"""
    module = parse_module(text)
    op = next(op for op in module.walk() if isinstance(op, top.MulConstOp))
    assert op.do_relu.value.data == 0
    assert op.relu_limit.value.data == -1.0
    assert "{const_val = 2.000000e+00 : f64}" in module_text(module)


def test_a_wrong_attribute_is_named() -> None:
    op = top.ReluOp.create(
        operands=[weight(2).output],
        result_types=[UNRANKED_F32],
        attributes={"relu_limit": IntegerAttr(6, i64)},
    )
    with pytest.raises(VerifyException, match="attribute relu_limit: expected an f64 number"):
        op.verify()


def test_unused_weights_vanish_but_equal_ones_stay_apart() -> None:
    module = parse_module("""func.func @f() -> (tensor<4xf32>, tensor<4xf32>) {
  %a = "top.Weight"() : () -> tensor<4xf32> loc("a")
  %b = "top.Weight"() : () -> tensor<4xf32> loc("b")
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}""")
    cse(module)
    assert sum(isinstance(op, top.WeightOp) for op in module.walk()) == 2
    assert is_trivially_dead(weight(4))
    assert not is_trivially_dead(top.InputOp.make("x", [weight(4)]))


def test_traits_say_what_passes_ask() -> None:
    assert top.ConvOp.has_trait(SupportFuseRelu)
    assert top.ConvOp.has_trait(Pure)
    assert not top.ConcatOp.has_trait(SupportFuseRelu)
    assert top.MulConstOp.has_trait(SupportPermuteMove)
    assert top.GELUOp.has_trait(InOutSameShape)
    assert top.AddOp.has_trait(SupportElementwise)
    assert not top.SoftmaxOp.has_trait(SupportElementwise)


def test_branches_agree_on_their_shapes() -> None:
    text = """func.func @f(%c: tensor<1xf32>, %a: tensor<2x3xf32>, %b: tensor<{other}xf32>) {{
  %r = "top.If"(%c) ({{
    "top.Yield"(%a) : (tensor<2x3xf32>) -> ()
  }}, {{
    "top.Yield"(%b) : (tensor<{other}xf32>) -> ()
  }}) : (tensor<1xf32>) -> tensor<2x3xf32>
  return
}}"""
    parse_module(text.format(other="2x3")).verify()
    with pytest.raises(VerifyException, match="the branches yield different shapes"):
        parse_module(text.format(other="3x2")).verify()
