"""Element-wise layers on integers: every element is the interpreter's."""

import pytest
from tests.quantized.quant_cases import ROUNDING, S8, U8, QuantCase, check, uniform

SHAPE = (2, 70, 13, 11)
KINDS = {"i8": S8, "u8": U8}

pytestmark = pytest.mark.usefixtures("on_both_chips")


@pytest.mark.parametrize("op", ["tpu.Add", "tpu.Sub"])
@pytest.mark.parametrize(
    "kinds", [("i8", "i8", "i8"), ("u8", "i8", "u8"), ("u8", "u8", "u8"), ("u8", "u8", "i8")]
)
@pytest.mark.parametrize("relu", [False, True])
def test_sums(op: str, kinds: tuple[str, str, str], relu: bool) -> None:
    case = QuantCase()
    a = case.integers("a", SHAPE, KINDS[kinds[0]])
    b = case.integers("b", (1, 70, 1, 11) if relu else SHAPE, KINDS[kinds[1]])
    attributes = {"multipliers": "[77, 93]", "rshifts": "[7, 6]", "do_relu": str(relu).lower()}
    case.op(op, [a, b], attributes, "y", SHAPE, KINDS[kinds[2]])
    check(case)


def test_sum_with_a_weight_in_front() -> None:
    case = QuantCase()
    a = case.integers("a", (1, 197, 40))
    w = case.constants("w", (1, 197, 40), "ui8")
    attributes = {"multipliers": "[120, 3]", "rshifts": "[8, 0]"}
    case.op("tpu.Add", [w, a], attributes, "y", (1, 197, 40), S8)
    check(case)


@pytest.mark.parametrize(
    "kinds", [("i8", "i8", "i8"), ("u8", "u8", "u8"), ("u8", "i8", "i8"), ("i8", "u8", "u8")]
)
def test_products(kinds: tuple[str, str, str]) -> None:
    case = QuantCase()
    a, b = (case.integers(n, SHAPE, KINDS[k]) for n, k in zip("ab", kinds, strict=False))
    factor = {"multiplier": "83 : si32", "rshift": "14 : si32"}
    case.op("tpu.Mul", [a, b], factor, "y", SHAPE, KINDS[kinds[2]])
    check(case)


@pytest.mark.parametrize("kinds", [("i8", "i8"), ("u8", "u8"), ("u8", "i8"), ("i8", "u8")])
@pytest.mark.parametrize("op", ["tpu.MulShift", "tpu.AddConst"])
def test_factors_and_constants(op: str, kinds: tuple[str, str]) -> None:
    case = QuantCase()
    x = case.integers("x", SHAPE, KINDS[kinds[0]])
    factor = {"multiplier": "97 : si32", "rshift": "6 : si32"}
    if op == "tpu.AddConst":
        factor |= {"const_val": "-1280.0 : f64"}
    case.op(op, [x], factor, "y", SHAPE, KINDS[kinds[1]])
    check(case)


@pytest.mark.parametrize("kinds", [("i8", "i8"), ("u8", "u8"), ("u8", "i8"), ("i8", "u8")])
@pytest.mark.parametrize("factor", [-1, -97, -127])
def test_negative_factors(factor: int, kinds: tuple[str, str]) -> None:
    """Of an unsigned operand for an unsigned result nothing is left but zeros."""
    case = QuantCase()
    x = case.integers("x", SHAPE, KINDS[kinds[0]])
    shift = 0 if factor == -1 else 6
    case.op(
        *("tpu.MulShift", [x], {"multiplier": f"{factor} : si32", "rshift": f"{shift} : si32"}),
        *("y", SHAPE, KINDS[kinds[1]]),
    )
    check(case)


@pytest.mark.parametrize("kinds", [("i8", "u8"), ("u8", "i8")])
def test_sums_with_negative_coefficients(kinds: tuple[str, str]) -> None:
    case = QuantCase()
    a, b = (case.integers(name, SHAPE, KINDS[kind]) for name, kind in zip("ab", kinds, strict=True))
    case.op("tpu.Add", [a, b], {"multipliers": "[-97, 64]", "rshifts": "[7, 7]"}, "y", SHAPE, S8)
    check(case)


@pytest.mark.parametrize("kinds", [("i8", "i8"), ("u8", "u8"), ("u8", "i8"), ("i8", "u8")])
def test_relu(kinds: tuple[str, str]) -> None:
    case = QuantCase()
    x = case.integers("x", SHAPE, KINDS[kinds[0]])
    case.op("tpu.Relu", [x], {}, "y", SHAPE, KINDS[kinds[1]])
    check(case)


@pytest.mark.parametrize("op", ["tpu.Max", "tpu.Min"])
@pytest.mark.parametrize("kind", ["i8", "u8"])
def test_extrema(op: str, kind: str) -> None:
    case = QuantCase()
    a, b = case.integers("a", SHAPE, KINDS[kind]), case.integers("b", (1, 70, 1, 1), KINDS[kind])
    case.op(op, [a, b], {}, "y", SHAPE, KINDS[kind])
    check(case)


@pytest.mark.parametrize("scale", [0.043, 1e-5, 5e-9])
@pytest.mark.parametrize("source", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("kind", ["i8", "u8"])
def test_casts_to_integers(source: str, kind: str, scale: float) -> None:
    """At 1e-5 the reciprocal, at 5e-9 also a rounded product leaves f16."""
    case = QuantCase()
    x = case.input("x", SHAPE, 90 * scale, source)
    attributes = {"with_scale": "true", "round_mode": ROUNDING}
    case.op("tpu.Cast", [x], attributes, "y", SHAPE, uniform(kind, scale))
    check(case)


@pytest.mark.parametrize("scale", [0.043, 1e-5])
@pytest.mark.parametrize("target", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("kind", ["i8", "u8"])
def test_casts_to_floats(target: str, kind: str, scale: float) -> None:
    case = QuantCase()
    x = case.integers("x", SHAPE, uniform(kind, scale))
    case.op("tpu.Cast", [x], {"with_scale": "true"}, "y", SHAPE, target)
    check(case)


@pytest.mark.parametrize("kind", ["i8", "u8"])
@pytest.mark.parametrize("shape", [(1, 300, 130), (70,), (2, 3, 65, 66)])
def test_tables(kind: str, shape: tuple[int, ...]) -> None:
    case = QuantCase()
    x = case.integers("x", shape, KINDS[kind])
    t = case.constants("t", (1, 1, 1, 256))
    case.op("tpu.Lut", [x, t], {}, "y", shape, S8)
    check(case)


def test_requantisation() -> None:
    case = QuantCase()
    case.inputs["x"] = (case.input("x", SHAPE, 3e8, "f32"), case.inputs["x"].astype("int32"))[1]
    case.types["x"] = case.types["x"].replace("f32", "si32")
    factor = {"multiplier": "1234567 : si32", "rshift": "42 : si32", "round_mode": ROUNDING}
    factor |= {"quant_mode": "#tpu<rq_mode MultiplierShift>"}
    case.op("tpu.RequantInt", ["x"], factor, "y", SHAPE, S8)
    check(case)


@pytest.mark.parametrize("kind", KINDS)
def test_magnitudes(kind: str) -> None:
    case = QuantCase()
    x = case.integers("x", SHAPE, KINDS[kind])
    case.op("tpu.Active", [x], {"mode": "#tpu<active_mode ABSVAL>"}, "y", SHAPE, KINDS[kind])
    check(case)
