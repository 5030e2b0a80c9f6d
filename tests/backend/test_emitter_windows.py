"""Rows and columns behind the last window are not part of a command, whatever a kernel passes.

The vendor's C model takes the size of the result from opd0 and writes beyond its buffers where
more windows fit in it than the result has.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xdsl_tpu.backend.checks.consistency import contradictions
from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.emitter import Emitter, Rounding, Window
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.machine import Machine
from xdsl_tpu.backend.operands import accesses
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.tensor import DType, LocalTensor, Shape4, aligned, compact
from xdsl_tpu.dialects.errors import TpuError

CHIP = load_chip()
X, OUT, WEIGHT, BIAS = 0, 0x10000, 0x20000, 0x30000
OUT_SHAPE: Shape4 = (2, 70, 5, 6)
Call = Callable[[Emitter, LocalTensor, LocalTensor, Window], None]


def _conv(e: Emitter, out: LocalTensor, x: LocalTensor, window: Window) -> None:
    taps = 128 * window.kernel[0] * window.kernel[1]
    weight = compact(CHIP, WEIGHT, (1, 70, 1, taps), x.dtype)
    bias = compact(CHIP, BIAS, (1, 70, 1, 1), DType.F32) if x.dtype.is_float else None
    e.conv(out, x, weight, window, bias)


def _depthwise(e: Emitter, out: LocalTensor, x: LocalTensor, window: Window) -> None:
    weight = compact(CHIP, WEIGHT, (1, 70, *window.kernel), x.dtype)
    bias = DType.I32 if not x.dtype.is_float else x.dtype
    e.depthwise(out, x, weight, window, compact(CHIP, BIAS, (1, 70, 1, 1), bias))


CALLS: dict[str, tuple[Call, DType, DType]] = {
    "conv": (_conv, DType.F16, DType.F16),
    "conv_int8": (_conv, DType.I8, DType.I32),
    "depthwise": (_depthwise, DType.F16, DType.F16),
    "depthwise_int8": (_depthwise, DType.I8, DType.I32),
    "max_pool": (lambda e, out, x, w: e.max_pool(out, x, w), DType.F32, DType.F32),
    "avg_pool": (lambda e, out, x, w: e.avg_pool(out, x, w, 0.25), DType.F16, DType.F16),
    "integer_average": (
        lambda e, out, x, w: e.integer_average(out, x, w, (3, 2), Rounding.HALF_UP),
        DType.I8,
        DType.I8,
    ),
}

WINDOWS = {
    "1x1": Window((1, 1)),
    "3x3 with pads": Window((3, 3), pads=(1, 1, 1, 1)),
    "3x2 by 2": Window((3, 2), (2, 2), (1, 0, 0, 0), (1, 2)),
}


def _values(shape: tuple[int, ...], dtype: DType, seed: int) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    if dtype.is_float:
        return rng.standard_normal(shape).astype(dtype.numpy)
    return rng.integers(-20, 20, shape).astype(dtype.numpy)


def _used(windows: int, window: Window, axis: int) -> int:
    reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1
    pads = window.pads[2 * axis] + window.pads[2 * axis + 1]
    return (windows - 1) * window.stride[axis] + reach - pads


def _result(name: str, window: Window, x: np.ndarray[Any, Any]) -> tuple[Program, Any]:
    """The commands for an operand with these values, and what they compute."""
    call, dtype, result = CALLS[name]
    shape = (x.shape[0], x.shape[1], x.shape[2], x.shape[3])
    source, out = aligned(CHIP, X, shape, dtype), aligned(CHIP, OUT, OUT_SHAPE, result)
    program = Program("test", CHIP.name, "F16")
    call(Emitter(CHIP, program), out, source, window)
    machine = Machine(CHIP, "exact")
    place = machine.memory.local.place
    fill = _values((64, 0x4000), dtype, 3)
    for at, kind in ((WEIGHT, dtype), (BIAS, DType.F32 if dtype.is_float else DType.I32)):
        machine.memory.local.rows(at, fill.shape[1], kind.numpy)[...] = fill
    place(source.address, shape, source.strides, dtype.numpy).write(x)
    for command in program.queue(Engine.TIU):
        assert not list(contradictions(command, list(accesses(command, CHIP)), CHIP))
        machine.execute(command)
    return program, place(out.address, OUT_SHAPE, out.strides, result.numpy).read()


@pytest.mark.parametrize("unread", [1, 2, 40])
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("name", CALLS)
def test_unread_rows_change_nothing(name: str, window: str, unread: int) -> None:
    taken = WINDOWS[window]
    rows, columns = (_used(OUT_SHAPE[2 + axis], taken, axis) for axis in (0, 1))
    x = _values((2, 70, rows + unread, columns), CALLS[name][1], 7)
    if taken.pads[1]:
        # What lies behind the result's last window is data where there is some, and else the pad.
        wanted = Window(taken.kernel, taken.stride, (taken.pads[0], 0, 1, 1), taken.dilation)
        _, expected = _result(name, wanted, x[:, :, : rows + 1])
    else:
        _, expected = _result(name, taken, x[:, :, :rows])
    program, got = _result(name, taken, x)
    np.testing.assert_array_equal(got, expected)
    if name.startswith("conv"):
        assert len(program.queue(Engine.TIU)) == 1


@pytest.mark.parametrize("name", ["conv", "conv_int8"])
def test_unread_columns_of_a_convolution_change_nothing(name: str) -> None:
    taken = WINDOWS["3x2 by 2"]
    rows, columns = (_used(OUT_SHAPE[2 + axis], taken, axis) for axis in (0, 1))
    x = _values((2, 70, rows, columns + 3), CALLS[name][1], 9)
    program, got = _result(name, taken, x)
    np.testing.assert_array_equal(got, _result(name, taken, x[..., :columns])[1])
    (command,) = program.queue(Engine.TIU)
    assert (command["opd0_w"], command["opd0_h_str"]) == (columns, columns + 3)


def test_the_last_rows_may_be_too_few_for_another_window() -> None:
    taken = WINDOWS["3x2 by 2"]
    rows, columns = (_used(OUT_SHAPE[2 + axis], taken, axis) for axis in (0, 1))
    x = _values((2, 70, rows + 1, columns), DType.I8, 9)
    (command,) = _result("conv_int8", taken, x)[0].queue(Engine.TIU)
    assert (command["opd0_h"], command["opd0_str"]) == (rows + 1, 0)


def test_a_pool_cannot_leave_columns_out() -> None:
    x = _values((2, 70, 5, 8), DType.F16, 9)
    with pytest.raises(TpuError, match=r"a pool of rows of 6 that are 8 elements apart"):
        _result("avg_pool", WINDOWS["1x1"], x)
