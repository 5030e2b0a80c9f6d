"""The `tpu` dialect: every op is there, builds, prints and reads back."""

import subprocess
import sys
from typing import Any

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import IntegerAttr, NoneType, TensorType, f16, f32, i64
from xdsl.ir import Attribute, Data
from xdsl.irdl import IRDLOperation, OptAttributeDef
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import BOOL, ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import module_text, parse_module
from xdsl_tpu.dialects.traits import InOutSameShape, SupportElementwise

CLASSES: list[type[IRDLOperation]] = [
    op for op in tpu.Tpu.operations if issubclass(op, IRDLOperation)
]


def tensor(*shape: int, element: Attribute = f16) -> TensorType[Attribute]:
    return TensorType(element, shape)


def values(*types: Attribute) -> test.TestOp:
    return test.TestOp(result_types=types)


def test_all_ops_are_there_once() -> None:
    names = [op.name for op in CLASSES]
    assert len(names) == len(set(names)) == 201


@pytest.mark.parametrize("op", CLASSES, ids=lambda op: op.name)
def test_class_is_exported_under_the_name_of_its_op(op: type[IRDLOperation]) -> None:
    mnemonic = op.name.removeprefix("tpu.")
    expected = mnemonic if mnemonic.endswith("Op") else f"{mnemonic}Op"
    assert getattr(tpu, expected) is op
    assert expected in tpu.__all__
    assert op.__doc__


@pytest.mark.parametrize("op", CLASSES, ids=lambda op: op.name)
def test_defaults_are_of_the_declared_kind(op: type[IRDLOperation]) -> None:
    for name, definition in op.get_irdl_definition().attributes.items():
        if definition.default_value is not None:
            assert isinstance(definition, OptAttributeDef), name
            assert definition.constr.verifies(definition.default_value), name


def test_reading_a_default_does_not_write_it() -> None:
    op = tpu.ReluOp.create(
        operands=values(tensor(2, 3)).results, result_types=[tensor(2, 3)], attributes={}
    )
    op.verify()
    assert op.relu_limit.value.data == -1.0
    assert op.ginfo is None
    assert not op.attributes


def test_make_writes_defaults_sorted_and_takes_enum_members() -> None:
    x = values(tensor(1, 8, 6, 6), tensor(4, 8, 3, 3))
    conv = tpu.Conv2DOp.make(
        "conv",
        [*x.results, *values(NoneType()).results],
        result_types=[tensor(1, 4, 4, 4)],
        kernel_shape=(3, 3),
        strides=(1, 1),
        pads=(0, 0, 0, 0),
        with_bias=False,
        round_mode=tpu.RoundMode.HalfToEven,
    )
    conv.verify()
    assert name_of(conv) == "conv"
    assert list(conv.attributes) == sorted(conv.attributes)
    assert conv.round_mode == tpu.RoundModeAttr(tpu.RoundMode.HalfToEven)
    assert conv.group.value.data == 1
    assert "group" in conv.attributes
    assert "ginfo" not in conv.attributes
    assert is_none(conv.bias)
    assert [window.extent for window in conv.windows()] == [3, 3]


def test_make_refuses_a_wrong_enum_case() -> None:
    with pytest.raises(
        TpuError, match=r"tpu\.Active: attribute mode: expected one of TANH, SIGMOID"
    ):
        tpu.ActiveOp.make("a", values(tensor(2)).results, result_types=[tensor(2)], mode="TANTH")


ENUMS = [
    (tpu.ActiveModeAttr, tpu.ActiveMode, "active_mode"),
    (tpu.BufferTypeAttr, tpu.BufferType, "buffer_type"),
    (tpu.CorePatternAttr, tpu.CorePattern, "core_pattern"),
    (tpu.DequantModeAttr, tpu.DequantMode, "dq_mode"),
    (tpu.DevPatternAttr, tpu.DevPattern, "dev_pattern"),
    (tpu.ImageOutFormatAttr, tpu.ImageOutFormat, "image_out_format"),
    (tpu.LutBF16ModeAttr, tpu.LutBF16Mode, "lut_mode"),
    (tpu.PaddingModeAttr, tpu.PaddingMode, "Pad_Mode"),
    (tpu.PoolModeAttr, tpu.PoolMode, "pool_mode"),
    (tpu.RequantModeAttr, tpu.RequantMode, "rq_mode"),
    (tpu.ResizeCoordModeAttr, tpu.ResizeCoordMode, "coord_mode"),
    (tpu.ResizeModeAttr, tpu.ResizeMode, "mode"),
    (tpu.RopeModeAttr, tpu.RopeMode, "rope_mode"),
    (tpu.RoundModeAttr, tpu.RoundMode, "round_mode"),
    (tpu.RunModeAttr, tpu.RunMode, "run_mode"),
    (tpu.Yuv2rgbFormulaAttr, tpu.Yuv2rgbFormula, "yuv2rgb_formula_mode"),
]


def test_every_enum_of_the_dialect_is_listed() -> None:
    with_fields = {tpu.LayerGroupAttr, tpu.CompressAttr}
    assert set(tpu.Tpu.attributes) - with_fields == {attr for attr, _, _ in ENUMS}


@pytest.mark.parametrize(("attr", "enum", "mnemonic"), ENUMS, ids=lambda value: str(value))
def test_every_case_is_spelled_and_read_as_the_vendor_does(
    attr: type[Data[Any]], enum: type[StrEnum], mnemonic: str
) -> None:
    for case in enum:
        text = f"module attributes {{a = #tpu<{mnemonic} {case.value}>}} {{\n}}\n"
        module = parse_module(text)
        assert module.attributes["a"] == attr(case)
        assert module_text(module) == text


def test_layer_group_attribute_from_plain_values() -> None:
    slices = {f"{d}_idx": (0,) for d in "ncdhw"} | {f"{d}_slice": (4,) for d in "ncdhw"}
    attr = tpu.LayerGroupAttr.of(
        out_addr=64,
        out_size=8,
        buffer_addr=0,
        buffer_size=0,
        eu_align=True,
        can_merge=False,
        in_hslice_offset=(),
        **slices,
        id=3,
        stage=1,
        slice_idx=0,
        group_type=0,
    )
    assert attr.out_addr.value.data == 64
    assert attr.eu_align
    assert not attr.can_merge
    assert ints(attr.h_slice) == (4,)
    assert str(attr).startswith("#tpu.lg<out_addr = 64, out_size = 8, buffer_addr = 0,")


def test_layer_group_attribute_needs_every_field() -> None:
    with pytest.raises(TpuError, match=r"#tpu\.do_compress needs bias1, is_signed, zero_guard"):
        tpu.CompressAttr.of(do_compress=True, do_decompress=True, bias0=0)
    with pytest.raises(TpuError, match=r"#tpu\.do_compress has no field colour"):
        tpu.CompressAttr.of(
            do_compress=True,
            do_decompress=True,
            bias0=0,
            bias1=0,
            is_signed=True,
            zero_guard=False,
            colour=3,
        )


def test_in_out_same_shape_ops_are_verified() -> None:
    for op in (tpu.CastOp, tpu.ActiveOp, tpu.MulConstOp, tpu.LutOp, tpu.SoftmaxOp):
        assert op.has_trait(InOutSameShape)
    cast = tpu.CastOp.make("c", values(tensor(2, 3)).results, result_types=[tensor(3, 2)])
    with pytest.raises(VerifyException, match="declared as 3x2, but the operands make it 2x3"):
        cast.verify()


def test_traits_of_elementwise_ops() -> None:
    assert tpu.CastOp.has_trait(SupportElementwise)
    assert not tpu.SoftmaxOp.has_trait(SupportElementwise)


def test_addressed_types_verify() -> None:
    x = TensorType(f16, (2, 3), i64_address(4294967296))
    y = TensorType(f16, (2, 3), i64_address(4294971392))
    tpu.ReluOp.make("r", values(x).results, result_types=[y]).verify()


def i64_address(value: int) -> Attribute:
    return IntegerAttr(value, i64)


@pytest.mark.parametrize(
    ("left", "right", "flags", "product"),
    [
        ((4, 49, 384), (384, 1536), {}, (4, 49, 1536)),
        ((4, 49, 384), (1, 384, 1536), {}, (4, 49, 1536)),
        ((64, 3, 49, 32), (64, 3, 49, 32), {"right_transpose": True}, (64, 3, 49, 49)),
        ((2, 49, 3, 32), (2, 32, 3, 49), {"hdim_is_batch": True}, (2, 49, 3, 49)),
        ((5, 7), (5, 11), {"left_transpose": True}, (7, 11)),
        ((7, 5), (5, 11), {"output_transpose": True}, (11, 7)),
        ((2, 7, 5), (5, 11), {"keep_dims": False}, (14, 11)),
    ],
)
def test_matmul_shapes(
    left: tuple[int, ...],
    right: tuple[int, ...],
    flags: dict[str, bool],
    product: tuple[int, ...],
) -> None:
    (none,) = values(NoneType()).results
    operands = [*values(tensor(*left), tensor(*right)).results, none, none, none]
    op = tpu.MatMulOp.make("m", operands, result_types=[tensor(*product)])
    op.attributes |= {name: BOOL.encode(value) for name, value in flags.items()}
    op.verify()
    assert op.infer_shapes() == (product,)


def test_import_is_light() -> None:
    """No numpy, no `top`: tools that only name ops start fast."""
    code = (
        "import sys, xdsl_tpu.dialects.tpu; "
        "print([m for m in ('numpy', 'onnx', 'xdsl_tpu.dialects.top') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_f32_attributes_have_their_own_type() -> None:
    op = tpu.ShapePowOp.make(
        "p", values(tensor(2)).results, result_types=[tensor(2, element=f32)], exponent=2.0
    )
    op.verify()
    assert op.exponent.type == f32
