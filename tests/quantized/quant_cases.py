"""Small functions on quantised tensors, built line by line, and running them two ways."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.kernels.harness import (
    PIPELINE,
    Case,
    Outcome,
    Shape,
    check_encoding,
    fill,
    order,
    stored,
    tensor,
    widened,
)
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.machine import Machine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes import PASSES

Array = npt.NDArray[Any]

ROUNDING = "#tpu<round_mode HalfAwayFromZero>"


def uniform(kind: str, scale: float, expressed: str = "f32") -> str:
    """A quantised element type: uniform("u8", 0.02)."""
    return f"!quant.uniform<{kind}:{expressed}, {scale:.16e}>"


CHIP = "bm1684x"
"""The chip for which cases are compiled; the fixture `on_both_chips` sets it."""

S8 = uniform("i8", 0.03125)
U8 = uniform("u8", 0.015625)


@dataclass
class QuantCase(Case):
    """A case with integer inputs and weights; `kind` is only the module's mode."""

    kind: str = "int8"
    chip: str = field(default_factory=lambda: CHIP)
    types: dict[str, str] = field(default_factory=dict[str, str])

    def integers(self, name: str, shape: Shape, kind: str = S8) -> str:
        """A quantised network input over the whole range of its integers."""
        dtype = np.dtype(np.uint8 if "<u8" in kind else np.int8)
        self.inputs[name] = self._whole(name, shape, dtype)
        self.types[name] = tensor(shape, kind)
        return name

    def constants(
        self, name: str, shape: Shape, kind: str = "si8", limit: int | None = None
    ) -> str:
        """An integer weight: si8, ui8, i8 or i32 (then up to `limit`)."""
        dtypes = {"si8": np.int8, "ui8": np.uint8, "i8": np.int8, "i32": np.int32}
        self.weights[name] = self._whole(name, shape, np.dtype(dtypes[kind]), limit)
        self.types[name] = tensor(shape, kind)
        self.lines.append(f'%{name} = "top.Weight"() : () -> {self.types[name]} loc("{name}")')
        return name

    def _whole(
        self, name: str, shape: Shape, dtype: np.dtype[Any], limit: int | None = None
    ) -> Array:
        random = np.random.default_rng([self.seed, *name.encode()])
        info = np.iinfo(dtype)
        low, high = (int(info.min), int(info.max)) if limit is None else (-limit, limit)
        return random.integers(low, high, shape, dtype, endpoint=True)


def conv(
    case: QuantCase,
    x: str,
    name: str,
    shapes: tuple[Shape, Shape],
    kernel: tuple[int, int],
    strides: tuple[int, int] = (1, 1),
    pad: int = 0,
    group: int = 1,
    relu: bool = False,
    bias: bool = True,
    filters: str = "si8",
    result: str = S8,
) -> str:
    """A Conv2D whose factors bring its sums into the range of 8 bits."""
    ic, oc = shapes[0][1] // group, shapes[1][1]
    w = case.constants(f"{name}_w", (oc, ic, *kernel), filters)
    b = case.constants(f"{name}_b", (1, oc, 1, 1), "i32", 20000) if bias else "none"
    random = np.random.default_rng([case.seed, *name.encode()])
    spread = 128 * 128 * np.sqrt(ic * kernel[0] * kernel[1])
    shifts = random.integers(24, 33, oc)
    factors = (128 / spread * 2.0**shifts * random.uniform(0.5, 1.5, oc)).astype(int)
    attributes = {
        "group": f"{group} : i64",
        "kernel_shape": str(list(kernel)),
        "strides": str(list(strides)),
        "pads": str([pad] * 4),
        "do_relu": str(relu).lower(),
        "multiplier": str(factors.tolist()),
        "rshift": str(shifts.tolist()),
        "round_mode": "#tpu<round_mode HalfUp>",
        "with_bias": str(bias).lower(),
    }
    return case.op("tpu.Conv2D", [x, w, b], attributes, name, shapes[1], result)


def product_attributes(depth: int, **flags: bool) -> dict[str, str]:
    """Attributes of a MatMul over K = `depth`: its factor, and flags that are set."""
    factor = int(2.0**30 / (128 * np.sqrt(depth)))
    return {
        "multipliers": f"[{factor}]",
        "rshifts": "[30]",
        "round_mode": ROUNDING,
        "quant_mode": "#tpu<rq_mode MultiplierShift>",
        **{name: str(value).lower() for name, value in flags.items()},
    }


def interpret(case: QuantCase, passes: Sequence[str] = ()) -> Array:
    """What the interpreter gives, after some passes."""
    module = case.module()
    for name in passes:
        PASSES[name]()().apply(make_context(), module)
    (result,) = run_module(module, case.inputs).values()
    return np.asarray(result)


def addressed(case: QuantCase) -> ModuleOp:
    """The module with addresses, without groups."""
    module = case.module()
    for name in PIPELINE:
        PASSES[name]()().apply(make_context(), module)
    return module


def check(case: QuantCase, module: ModuleOp | None = None, ties: float = 0.002) -> Outcome:
    """Compile and run in two orders of the queues, with exact and fast numerics; every element
    must be the interpreter's, and no check may find anything.

    Where biases became offsets in f32 that is the interpreter on what is compiled. What it gives is
    that of the case but for a step where sums are halves or next to them, which is a share of
    `ties` of all, or one more.
    """
    chip = load_chip(case.chip)
    module = module or addressed(case)
    (expected,) = run_module(case.module(), case.inputs).values()
    if any(isinstance(op, tpu.Conv2DOp) and bool(op.requant_floats) for op in module.walk()):
        plain = np.asarray(expected).astype(float)
        (expected,) = run_module(module, case.inputs).values()
        far = np.abs(np.asarray(expected).astype(float) - plain)
        assert far.max() <= 1
        assert np.count_nonzero(far) <= ties * far.size + 1
    program = generate(module, weights_of(module), chip)
    check_encoding(program)
    early = execute(program, case.inputs, "exact", Engine.TIU, chip)
    late = execute(program, case.inputs, "fast", Engine.GDMA, chip)
    assert early.dtype == late.dtype
    np.testing.assert_array_equal(early.astype(float), np.asarray(expected).astype(float))
    np.testing.assert_array_equal(early, late)
    cycles = simulate(program.tiu, program.gdma, chip).total
    return Outcome(early, np.asarray(expected), program, cycles)


def execute(
    program: Program,
    inputs: Mapping[str, Array],
    numerics: Any,
    ahead: Engine,
    chip: Chip | None = None,
) -> Array:
    """The output of a program on a machine full of ones bits."""
    machine = Machine(chip or load_chip(), numerics)
    fill(machine)
    machine.memory.write(program.coefficient_address, program.coefficients)
    for place, values in zip(program.inputs, inputs.values(), strict=True):
        machine.memory.write(place.address, stored(values, place.dtype.label))
    for command in order(program.tiu, program.gdma, ahead):
        machine.execute(command)
    (out,) = program.outputs
    return widened(machine.memory.read(out.address, out.shape, out.dtype.numpy), out.dtype)
