"""Ramps less a polynomial: close to their functions, and the same on the machine, bit for bit."""

import numpy as np
import pytest
from tests.kernels.harness import Case, run
from tests.local.groups import run_grouped
from tests.quantized.quant_cases import S8, U8, QuantCase, check
from xdsl.dialects.builtin import f32
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects.interfaces.local_gen import GroupType
from xdsl_tpu.dialects.interpreters.families.activation import ACTIVE_MODES
from xdsl_tpu.dialects.interpreters.numerics.soft_ramp import soft_ramp
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.dialects.tpu.enums import ActiveMode
from xdsl_tpu.passes.calibration.steps import Step
from xdsl_tpu.passes.layer_group.values import Secs
from xdsl_tpu.passes.lowering.int8.soft_ramp import (
    CLOSE,
    CLOSE_FLOATS,
    MOST,
    RAMPS,
    Ramp,
    float_ramp_of,
    ramp_of,
)

RANGES = (0.3, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 40.0)
SHAPES = {"i8": S8, "u8": U8}


def as_text(ramp: Ramp) -> dict[str, str]:
    """Attributes of an op in IR."""
    numbers = ", ".join(f"{term:.17e} : f64" for term in ramp.terms)
    names = ("factor", "limit", "scale", "unit")
    plain = {name: getattr(ramp, name) for name in names}
    return {name: f"{one:.17e} : f64" for name, one in plain.items()} | {"terms": f"[{numbers}]"}


def chosen(mode: ActiveMode, reach: float, signed: bool = True) -> Ramp | None:
    """Of inputs up to `reach` and results as large as the function's."""
    largest = float(ACTIVE_MODES[mode.value](np.array(reach)))
    result = UniformType.of(8, f32, largest / 127)
    return ramp_of(mode, Step(reach / (127 if signed else 255), signed), result)


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("mode", RAMPS)
@pytest.mark.parametrize("reach", RANGES)
def test_close(reach: float, mode: ActiveMode, signed: bool) -> None:
    """All integers, against the function itself; shorter than the F16 sequence with its casts."""
    ramp = chosen(mode, reach, signed)
    assert ramp is not None
    assert len(ramp.terms) <= MOST
    assert ramp.steps < 17
    step = reach / (127 if signed else 255)
    integers = np.arange(-128, 128) if signed else np.arange(256)
    function = ACTIVE_MODES[mode.value]
    exact = function(integers * step) / float(function(np.array(reach))) * 127
    value = soft_ramp(integers, *ramp[:4]).astype(np.float64)
    off = np.clip(value, -128, 127) - np.clip(exact, -128, 127)
    assert np.abs(off).max() <= CLOSE


LEVEL = (0.3, 2.0, 3.0, 4.0, 5.0, 8.0, 16.0, 40.0)


def level_ramp(mode: ActiveMode, reach: float) -> Ramp:
    """Of operands and results up to `reach`."""
    ramp = ramp_of(mode, Step(reach / 127, True), UniformType.of(8, f32, reach / 127))
    assert ramp is not None
    return ramp


@pytest.mark.parametrize("mode", RAMPS)
@pytest.mark.parametrize("reach", LEVEL)
def test_between_the_same_steps(reach: float, mode: ActiveMode) -> None:
    """As close, and fewer passes than with other steps."""
    ramp = level_ramp(mode, reach)
    other = ramp_of(mode, Step(1.1 * reach / 127, True), UniformType.of(8, f32, reach / 127))
    assert ramp.is_level
    assert other is not None
    assert not other.is_level
    assert ramp.steps < other.steps
    integers = np.arange(-128, 128)
    exact = ACTIVE_MODES[mode.value](integers * reach / 127) / reach * 127
    off = ramp.of(integers).astype(np.float64) - exact
    assert np.abs(off).max() <= CLOSE


@pytest.mark.parametrize("kind", [S8, U8])
@pytest.mark.parametrize("mode", RAMPS)
@pytest.mark.parametrize("reach", LEVEL)
def test_the_machine_computes_level_ramps(reach: float, mode: ActiveMode, kind: str) -> None:
    """Every integer, the least one with it, over DDR: the interpreter's bits; results without a
    sign are computed in floats."""
    case = QuantCase()
    x = case.integers("x", (2, 70, 4, 256))
    ramp = level_ramp(mode, reach)
    if kind == U8:
        ramp = ramp._replace(unit=1.0)
    case.op("tpu.SoftRamp", [x], as_text(ramp), "y", (2, 70, 4, 256), kind)
    check(case)


def test_none_where_there_is_none() -> None:
    """Beyond F16, of another function, with zero points."""
    assert ramp_of(ActiveMode.GELU, Step(1.0, True), UniformType.of(8, f32, 1e-6)) is None
    assert ramp_of(ActiveMode.TANH, Step(0.03, True), UniformType.of(8, f32, 0.01)) is None
    pointed = UniformType.of(8, f32, 0.03, 5)
    assert ramp_of(ActiveMode.GELU, Step(0.03, True), pointed) is None
    assert ramp_of(ActiveMode.GELU, Step(0.03, True, 5), UniformType.of(8, f32, 0.03)) is None


def chosen_in_floats(mode: ActiveMode, reach: float) -> Ramp | None:
    """The same of f16."""
    largest = float(ACTIVE_MODES[mode.value](np.array(reach)))
    return float_ramp_of(mode, Step(reach / 127, True), UniformType.of(8, f32, largest / 127))


@pytest.mark.parametrize("mode", RAMPS)
@pytest.mark.parametrize("reach", [3.0, 6.0, 16.0, 40.0])
def test_floats_are_as_close(reach: float, mode: ActiveMode) -> None:
    """Within the range by a part of a step; beyond, as if the range were as large."""
    ramp = chosen_in_floats(mode, reach)
    assert ramp is not None
    assert (ramp.factor, ramp.scale) == (1.0, 1.0)
    numbers = np.random.default_rng(3).uniform(-4 * reach, 4 * reach, 3000).astype(np.float16)
    exact = ACTIVE_MODES[mode.value](numbers.astype(np.float64))
    step = float(ACTIVE_MODES[mode.value](np.array(reach))) / 127
    allowed = CLOSE_FLOATS * step * np.maximum(1, np.abs(numbers.astype(np.float64)) / reach)
    off = np.abs(soft_ramp(numbers, *ramp[:4]).astype(np.float64) - exact)
    assert (off / allowed).max() <= 1.1  # other numbers than those that it was chosen by


def test_no_ramp_of_floats() -> None:
    """Where steps are finer than f16 gives the bump, with zero points, of another function."""
    fine = UniformType.of(8, f32, 1e-6)
    step = Step(0.03, True)
    assert float_ramp_of(ActiveMode.GELU, step, fine) is None
    assert float_ramp_of(ActiveMode.TANH, step, UniformType.of(8, f32, 0.01)) is None
    assert float_ramp_of(ActiveMode.GELU, step, UniformType.of(8, f32, 0.03, 5)) is None
    assert float_ramp_of(ActiveMode.GELU, Step(0.03, True, 5), UniformType.of(8, f32, 0.03)) is None


@pytest.mark.parametrize(("factor", "scale"), [(1.0, 1.0), (0.75, 1.0), (1.0, 3.0), (0.75, 3.0)])
def test_of_floats(factor: float, scale: float) -> None:
    """From DDR to DDR and on slices the same bits as here, those of infinities included."""
    ramp = chosen_in_floats(ActiveMode.SILU, 6.0)
    assert ramp is not None
    ramp = ramp._replace(factor=factor, scale=scale)
    case, shape = Case("f16"), (2, 70, 9, 7)
    case.input("x", shape, 8.0)
    case.op("tpu.SoftRamp", ["x"], as_text(ramp), "y", shape)
    sliced = run_grouped(case, GroupType.NORMAL, Secs(n=2))
    expected = soft_ramp(case.inputs["x"], *ramp[:4]).astype(np.float32)
    np.testing.assert_array_equal(sliced.simulated, expected)
    case.inputs["x"].flat[:2] = np.inf, -np.inf
    whole = run(case)
    expected = soft_ramp(case.inputs["x"], *ramp[:4]).astype(np.float32)
    np.testing.assert_array_equal(whole.simulated, expected)
    np.testing.assert_array_equal(whole.expected, expected)


@pytest.mark.parametrize("kinds", [("i8", "i8"), ("u8", "u8"), ("u8", "i8"), ("i8", "u8")])
@pytest.mark.parametrize("mode", RAMPS)
@pytest.mark.parametrize("reach", [1.5, 4.0, 16.0])
def test_the_machine_computes_the_same(
    reach: float, mode: ActiveMode, kinds: tuple[str, str]
) -> None:
    """Every integer, over DDR; also results that saturate."""
    ramp = chosen(mode, reach, kinds[0] == "i8")
    assert ramp is not None
    case = QuantCase()
    shape = (2, 70, 4, 256)
    x = case.integers("x", shape, SHAPES[kinds[0]])
    case.op("tpu.SoftRamp", [x], as_text(ramp), "y", shape, SHAPES[kinds[1]])
    check(case)


def test_only_polynomials_of_integers_have_units() -> None:
    case = Case("f16")
    case.input("x", (1, 4), 1.0)
    ramp = Ramp(1.0, 4.0, (0.5, 0.5), unit=0.5)
    case.op("tpu.SoftRamp", ["x"], as_text(ramp), "y", (1, 4))
    with pytest.raises(VerifyException, match="unit"):
        case.module().verify()


def test_a_polynomial_has_terms() -> None:
    case = QuantCase()
    x = case.integers("x", (1, 4))
    numbers = dict.fromkeys(("factor", "limit", "scale"), "1.0 : f64")
    case.op("tpu.SoftRamp", [x], numbers | {"terms": "[]"}, "y", (1, 4), S8)
    with pytest.raises(VerifyException, match="at least one"):
        case.module().verify()
