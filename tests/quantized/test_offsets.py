"""Biases of convolutions as offsets of a scaling in f32: where, and what that gives."""

import numpy as np
import pytest
from tests.quantized.quant_cases import S8, U8, QuantCase, addressed, check, conv, interpret
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.isa.codes import RQ_DQ
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.passes.weight_reorder.quantized_conv import FARTHEST_OFFSET
from xdsl_tpu.passes.weight_reorder.reorder import WeightReorderPass


def product(bias: list[int], shift: int = 3, x: int = 0, result: str = S8) -> QuantCase:
    """A convolution of one element of 32 channels, all of them x, by ones: 32 x + bias, scaled by
    2^-shift."""
    case, count = QuantCase(), len(bias)
    conv(case, case.integers("x", (1, 32, 1, 1)), "y", ((1, 32, 1, 1), (1, count, 1, 1)), (1, 1))
    case.weights["y_w"][:] = 1
    case.weights["y_b"][:] = np.reshape(bias, (1, count, 1, 1))
    case.inputs["x"][:] = x
    case.lines[-1] = (
        f'%y = "tpu.Conv2D"(%x, %y_w, %y_b) {{kernel_shape = [1, 1], strides = [1, 1], '
        f"pads = [0, 0, 0, 0], multiplier = {[1 << 20] * count}, rshift = {[20 + shift] * count}, "
        f"round_mode = #tpu<round_mode HalfUp>, with_bias = true}} : ({case.types['x']}, "
        f'{case.types["y_w"]}, {case.types["y_b"]}) -> tensor<1x{count}x1x1x{result}> loc("y")'
    )
    case.types["y"] = f"tensor<1x{count}x1x1x{result}>"
    return case


def reordered(case: QuantCase) -> tuple[bool, ModuleOp]:
    """Whether the bias is an offset, and the module."""
    module = case.module()
    WeightReorderPass().apply(make_context(), module)
    (op,) = (op for op in module.walk() if isinstance(op, tpu.Conv2DOp))
    return bool(op.requant_floats), module


def values(case: QuantCase, module: ModuleOp) -> list[int]:
    (result,) = run_module(module, case.inputs).values()
    return np.asarray(result).reshape(-1).astype(int).tolist()


@pytest.mark.parametrize(("farther", "offset"), [(0, True), (1, False)])
def test_offsets_that_f32_would_round_stay_sums(farther: int, offset: bool) -> None:
    """f32 has ten bits for parts of a step at the farthest offset."""
    for sign in (1, -1):
        case = product([3, sign * (FARTHEST_OFFSET * 8 + farther)])
        assert reordered(case)[0] is offset
        check(case)


def test_halves_go_to_the_even_integer() -> None:
    """Of sums in eighths; integers round them up."""
    bias = [4, 12, 20, -4, -12, 5, 3]
    case = product(bias)
    is_offset, module = reordered(case)
    assert is_offset
    assert values(case, module) == [0, 2, 2, 0, -2, 1, 0]
    assert values(case, case.module()) == [1, 2, 3, 0, -1, 1, 0]
    check(case, ties=0.5)


def test_results_that_are_no_8_bits_become_the_nearest() -> None:
    for result, low, high in ((S8, -128, 127), (U8, 0, 255)):
        case = product([65000, -65000], result=result)
        is_offset, module = reordered(case)
        assert is_offset
        assert values(case, module) == [high, low]
        check(case)


def test_where_0_is_another_integer() -> None:
    zero = "!quant.uniform<i8:f32, 0.03125:-7>"
    case = product([80, 0, 76], x=2, result=zero)
    is_offset, module = reordered(case)
    assert is_offset
    assert values(case, module) == [11, 1, 10]  # 18, 8, 17.5 steps less 7: halves to even
    check(case)


def test_biases_take_no_command() -> None:
    """Products begin with nothing, and one command scales them in f32."""
    case = product([1, 2, 3])
    *commands, _ = check(case).program.tiu
    assert [command.form.name for command in commands] == ["sCONV", "sRQ_DQ"]
    assert commands[1].function == RQ_DQ.RQ0


@pytest.mark.parametrize("channels", [5, 64, 130])
def test_channels_of_several_places(channels: int) -> None:
    case, shape = QuantCase(seed=channels), (2, 40, 5, 7)
    out = (2, channels, 5, 7)
    conv(case, case.integers("x", shape), "y", (shape, out), (3, 3), pad=1, relu=True, result=U8)
    assert reordered(case)[0]
    check(case)
    plain = interpret(case).astype(int)
    assert np.abs(plain - np.asarray(run_module(addressed(case), case.inputs)["y"])).max() <= 1
