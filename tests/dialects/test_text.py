"""Aliases, numbers and errors in MLIR text."""

import math
from pathlib import Path

import pytest
from tests.fuzz.limits import limited
from xdsl.dialects.builtin import AnyFloat, BFloat16Type, ModuleOp, f16, f32, f64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.irdl import (
    AttrSizedResultSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_result_def,
    var_result_def,
)
from xdsl.utils.exceptions import ParseError

from xdsl_tpu.dialects._text_floats import float_text
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import fused_loc, name_loc, name_of, names_of
from xdsl_tpu.dialects.text import (
    has_locations,
    make_context,
    module_text,
    parse_module,
    read_module,
)

NAMED = """\
#loc1 = loc("x")
module {
  func.func @main(%arg0: tensor<1x4xf32> loc("x")) -> tensor<1x2xf32> {
    %values, %indices = "tpu.TopK"(%arg0, %arg0, %arg0, %arg0, %arg0) \
{K = 2 : i64, axis = 1 : i64, largest = true, sorted = true} : \
(tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) \
-> (tensor<1x2xf32>, tensor<1x2xsi32>) loc(#loc4)
    return %values : tensor<1x2xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc("values")
#loc3 = loc("indices")
#loc4 = loc(fused[#loc2, #loc3])
"""


def test_aliases_after_their_uses_and_fused_names() -> None:
    module = parse_module(NAMED)
    assert module_text(module) == NAMED
    (topk,) = (op for op in module.walk() if op.name == "tpu.TopK")
    assert name_of(topk) == "values"
    assert names_of(topk) == ("values", "indices")
    assert name_of(topk.operands[0]) == "x"


def test_results_may_have_any_names_in_the_text() -> None:
    other = NAMED.replace("%values, %indices =", "%a, %b =").replace("return %values", "return %a")
    packed = NAMED.replace("%values, %indices =", "%4:2 =").replace("return %values", "return %4#0")
    assert other != NAMED != packed
    assert module_text(parse_module(other)) == module_text(parse_module(packed)) == NAMED


@irdl_op_definition
class Several(IRDLOperation):
    name = "test.several"
    outs = var_result_def()
    mask = opt_result_def()
    irdl_options = (AttrSizedResultSegments(),)


@pytest.mark.parametrize(
    ("outs", "mask", "expected"),
    [
        (2, 1, ("%outs:2, %mask", "%outs_0:2, %mask_1")),
        (1, 1, ("%outs, %mask", "%outs_0, %mask_1")),
        (2, 0, ("%outs:2", "%outs_0:2")),
        (0, 1, ("%mask", "%mask_0")),
    ],
)
def test_variadic_result_beside_others_is_a_pack_with_a_name(
    outs: int, mask: int, expected: tuple[str, str]
) -> None:
    """The name is that of the pack, and an absent result takes none: `OpAsmOpInterface`."""
    ops = [Several.build(result_types=[[f32] * outs, [f32] * mask]) for _ in range(2)]
    lines = module_text(ModuleOp(list[Operation](ops))).splitlines()[1:3]
    assert [line.split(" = ")[0].strip() for line in lines] == list(expected)


def test_op_with_a_wrong_number_of_results_still_prints() -> None:
    """As an error shows it; the verifier says what is wrong."""
    segments = Several.build(result_types=[[f32], [f32]]).attributes
    op = Several.create(result_types=[f32, f32, f32], attributes=segments)
    assert "%0:3 = " in module_text(ModuleOp([op]))


def test_contexts_know_nothing_of_each_other() -> None:
    parse_module(NAMED)
    changed = make_context()
    changed.allow_unregistered = True
    changed.load_registered_dialect("top")
    fresh = make_context()
    assert not fresh.allow_unregistered
    assert "top" not in {dialect.name for dialect in fresh.loaded_dialects}
    with pytest.raises(ParseError):
        parse_module('module {\n  "other.op"() : () -> ()\n}\n')


def test_arguments_of_later_blocks_are_numbered_like_results() -> None:
    text = """\
module {
  "test.loop"() ({
  ^bb0(%arg0: i32):
    "test.branch"(%arg0) : (i32) -> ()
  ^bb1(%0: i32):
    %1 = "test.add"(%0) : (i32) -> i32
  }) : () -> ()
}
"""
    ctx = make_context()
    ctx.allow_unregistered = True
    assert module_text(parse_module(text, ctx=ctx)) == text


def test_built_locations_equal_parsed_ones() -> None:
    module = parse_module(NAMED)
    (topk,) = (op for op in module.walk() if op.name == "tpu.TopK")
    assert topk.location == fused_loc(["values", "indices"])
    assert fused_loc(["values"]) == name_loc("values")


def test_op_without_a_name() -> None:
    module = parse_module("module {\n}\n")
    assert name_of(module) is None
    assert not has_locations(module)


def test_modules_without_locations_print_none() -> None:
    text = "module {\n  func.func @f(%arg0: tensor<1xf32>) {\n    return\n  }\n}\n"
    assert module_text(parse_module(text)) == text


def test_attributes_print_sorted_by_name() -> None:
    text = "module attributes {b = 1 : i64, a = 2 : i64} {\n}\n"
    sorted_text = "module attributes {a = 2 : i64, b = 1 : i64} {\n}\n"
    assert module_text(parse_module(text)) == sorted_text


def error_of(text: str) -> ParseError:
    with pytest.raises(ParseError) as caught:
        parse_module(text, "net.mlir")
    return caught.value


def test_undefined_alias_is_an_error_at_its_use() -> None:
    error = error_of("module {\n} loc(#loc7)\n")
    assert "undefined symbol alias '#loc7'" in str(error)
    assert "net.mlir:2:" in str(error)


def test_alias_defined_twice_is_an_error_at_the_second() -> None:
    error = error_of('#loc1 = loc("a")\nmodule {\n} loc(#loc1)\n#loc1 = loc("b")\n')
    assert "alias '#loc1' is defined twice" in str(error)
    assert "net.mlir:4:1" in str(error)


def test_alias_defined_by_itself_is_an_error() -> None:
    error = error_of("module {\n} loc(#loc1)\n#loc1 = loc(fused[#loc1])\n")
    assert "undefined symbol alias '#loc1'" in str(error)
    assert "net.mlir:3:" in str(error)


def test_mistake_in_an_unused_alias_is_found() -> None:
    error = error_of("module {\n}\n#loc1 = loc(nowhere)\n")
    assert "net.mlir:3:" in str(error)


def test_text_after_an_alias_is_an_error() -> None:
    error = error_of('module {\n}\n#loc1 = loc("a") loc("b")\n')
    assert "unexpected text after the definition of alias '#loc1'" in str(error)
    assert "net.mlir:3:18" in str(error)


@pytest.mark.parametrize("text", ["-" * 4000, "a\\n" * 2000, r"an \escape"])
@pytest.mark.parametrize(
    "place", ["{text}\n", "module attributes {{a = {text}\n}} {{}}", "#a = {text}\nmodule {{}}\n"]
)
def test_string_without_its_end_is_an_error_where_it_begins(text: str, place: str) -> None:
    """Also in a long line, which xDSL's own lexer would never finish."""
    source = place.format(text='"' + text)
    where = source.index('"') + 1
    error = error_of(source)
    assert "this string has no closing quote" in str(error)
    assert f"net.mlir:1:{where}" in str(error)


def test_unknown_ops_are_rejected() -> None:
    error = error_of('module {\n  "tpu.Nothing"() : () -> ()\n}\n')
    assert "tpu.Nothing" in str(error)


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(TpuError, match=r"cannot read .*absent\.mlir: No such file"):
        read_module(tmp_path / "absent.mlir")
    binary = tmp_path / "binary.mlir"
    binary.write_bytes(b"module\xff")
    with pytest.raises(TpuError, match="not UTF-8 text: byte 6"):
        read_module(binary)


def test_equal_spellings_are_read_once() -> None:
    text = "module {\n  func.func private @f(tensor<1xf32>, tensor<1xf32>, tensor<2xf32>)\n}\n"
    (func,) = (op for op in parse_module(text).walk() if isinstance(op, FuncOp))
    first, second, third = func.function_type.inputs
    assert first is second
    assert first != third


# Spellings taken from files written by LLVM's own printer, and its documented rules.
def test_both_zeros_are_remembered() -> None:
    texts = [float_text(value, f32) for value in (0.0, -0.0, 0.0)]
    assert texts == ["0.000000e+00", "-0.000000e+00", "0.000000e+00"]


@pytest.mark.parametrize(
    ("value", "float_type", "text"),
    [
        (1.0, f64, "1.000000e+00"),
        (0.0, f64, "0.000000e+00"),
        (-0.0, f32, "-0.000000e+00"),
        (-1.0, f64, "-1.000000e+00"),
        (9.194e-4, f64, "9.194000e-04"),
        (9.9999997473787516e-06, f64, "9.9999997473787516E-6"),
        (0.1767766922712326, f64, "0.1767766922712326"),
        (4.8521175000000003, f64, "4.8521175000000003"),
        (0.0097556215686274514, f64, "0.0097556215686274514"),
        (0.0081680889763779528, f64, "0.0081680889763779528"),
        (1e-300, f64, "1.000000e-300"),
        (1234567.0, f64, "0x4132D68700000000"),
        (1234567.5, f64, "1234567.5"),
        (1.2345678e22, f64, "1.2345678E+22"),
        (0.10000000149011612, f32, "1.000000e-01"),
        (3.14159274101257324, f32, "3.14159274"),
        (3.140625, f16, "3.140630e+00"),
        (3.140625, BFloat16Type(), "3.140630e+00"),
        (math.inf, f32, "0x7F800000"),
        (-math.inf, f16, "0xFC00"),
    ],
)
def test_floats_as_llvm_prints_them(value: float, float_type: AnyFloat, text: str) -> None:
    assert float_text(value, float_type) == text


@pytest.mark.parametrize("start", ["tensor<", "tensor<1x!quant.x<", "tensor<!quant.x<a<"])
def test_a_bracket_that_is_never_closed(start: str) -> None:
    """In time that grows with the text's length, not with its square."""
    text = f"func.func @main(%x: {start}{'b' * 400_000}"
    with limited(), pytest.raises(ParseError):
        parse_module(text)
