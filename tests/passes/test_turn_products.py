"""Products with their columns over the lanes: the same values, and fewer cycles."""

import numpy as np
import pytest
from tests.kernels.harness import Case, Outcome, check_encoding, execute, final
from tests.local.groups import assert_close
from tests.local.test_local_transformer import linear, mlp
from xdsl.dialects.builtin import IntegerAttr, i64

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.pipeline import make_pass


def integer_mlp(rows: int, sizes: tuple[int, int], images: int = 1) -> Case:
    """Between casts: a product, GELU by a polynomial, a product without bias."""
    case, rng = Case("f16", seed=8), np.random.default_rng(8)
    few, many = sizes
    byte = "!quant.uniform<i8:f16, 0.03>"

    def product(x: str, name: str, inner: int, outer: int, bias: bool) -> str:
        w, b = f"{name}_w", f"{name}_b"
        case.weight(w, (1, inner, outer), kind="si8")
        case.weights[w] = rng.integers(-127, 128, (1, inner, outer), np.int8)
        if bias:
            case.weight(b, (1, 1, outer), kind="i32")
            case.weights[b] = rng.integers(-9999, 9999, (1, 1, outer), np.int32)
        numbers = {
            "multipliers": "[1518500250]",
            "rshifts": f"[{39 + inner // 200}]",
            "quant_mode": "#tpu<rq_mode MultiplierShift>",
            "round_mode": "#tpu<round_mode HalfAwayFromZero>",
        }
        given = [x, w, b if bias else "none", "none", "none"]
        return case.op("tpu.MatMul", given, numbers, name, (images, rows, outer), byte)

    shape = images, rows, few
    x = case.op("tpu.Cast", [case.input("x", shape)], {"with_scale": "true"}, "a", shape, byte)
    h = product(x, "up", few, many, True)
    ramp = {"factor": "1.0 : f64", "limit": "90.0 : f64", "terms": "[0.5, 0.3, -0.003]"}
    h = case.op("tpu.SoftRamp", [h], ramp, "bump", (images, rows, many), byte)
    y = product(h, "down", many, few, False)
    case.op("tpu.Cast", [y], {"with_scale": "true"}, "y", shape)
    return case


def outcome(case: Case, off: str = "") -> Outcome:
    """What the program of a case gives; without some pass."""
    chip = load_chip()
    (expected,) = run_module(case.module(), case.inputs).values()
    module = final(case, off)
    turned = [op for op in module.walk() if isinstance(op, tpu.Conv2DOp)]
    assert bool(turned) == (not off)
    program = generate(module, weights_of(module), chip)
    check_encoding(program)
    early, late = (execute(program, case, chip, ahead) for ahead in (Engine.TIU, Engine.GDMA))
    assert np.array_equal(early, late)
    cycles = simulate(program.tiu, program.gdma, chip).total
    return Outcome(early, np.asarray(expected), program, cycles)


def busy(found: Outcome) -> int:
    """Cycles of the TIU: a single block waits for its weights."""
    program = found.program
    return simulate(program.tiu, program.gdma, load_chip()).busy[Engine.TIU]


@pytest.mark.parametrize(("rows", "sizes"), [(197, (192, 768)), (131, (70, 300))])
def test_integers_are_the_same(rows: int, sizes: tuple[int, int]) -> None:
    case = integer_mlp(rows, sizes)
    found, before = outcome(case), outcome(case, "turn-products")
    assert np.array_equal(found.simulated, before.simulated)
    assert np.array_equal(found.simulated.ravel(), found.expected.ravel())
    assert len(np.unique(found.simulated)) > 50
    assert busy(found) < busy(before)


def test_each_image_has_rows_of_its_own() -> None:
    case = integer_mlp(70, (96, 200), images=3)
    module = case.module()
    (expected,) = run_module(module, case.inputs).values()
    make_pass("turn-products", "").apply(make_context(), module)
    assert sum(isinstance(op, tpu.Conv2DOp) for op in module.walk()) == 2
    (found,) = run_module(module, case.inputs).values()
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_floats_are_close(kind: str) -> None:
    found, before = (outcome(mlp(kind, 1, 257, 256), off) for off in ("", "turn-products"))
    assert_close(found)
    assert found.cycles < before.cycles


def gated(rows: int) -> Case:
    """Two products of the same rows, multiplied, and a third."""
    case, batch = Case("f16", seed=9), (1, rows)
    x = case.input("x", (*batch, 192))
    gate, up = (linear(case, x, name, batch, (192, 512)) for name in ("gate", "up"))
    shape = (*batch, 512)
    act = case.op("tpu.Active", [gate], {"mode": "#tpu<active_mode SILU>"}, "act", shape)
    both = case.op("tpu.Mul", [act, up], {}, "both", shape)
    down = linear(case, both, "down", batch, (512, 192), bias=False)
    case.op("tpu.Add", [x, down], {}, "y", (*batch, 192))
    return case


def test_a_gate_is_turned_with_what_it_opens() -> None:
    case = gated(257)
    found, before = outcome(case), outcome(case, "turn-products")
    assert_close(found)
    assert found.cycles < before.cycles
    module = final(case)
    kinds = [type(op) for op in module.walk() if not isinstance(op, tpu.LoadOp)]
    assert kinds.count(tpu.Conv2DOp) == 3
    assert kinds.count(tpu.PermuteOp) + kinds.count(tpu.RearrangeOp) == 2


def test_several_cores_share_rows() -> None:
    case = gated(257)
    module = case.module()
    module.attributes["module.cores"] = IntegerAttr(2, i64)
    make_pass("turn-products", "").apply(make_context(), module)
    assert not [op for op in module.walk() if isinstance(op, tpu.Conv2DOp)]
