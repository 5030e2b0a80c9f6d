"""Running one kernel from IR to simulated values, and what must hold for every command stream.

A case is a small lowered function with seeded inputs and weights. It goes through the real
passes, `generate` and the machine; the interpreter gives the values to expect.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.isa import Command, Engine, encode
from xdsl_tpu.backend.machine import Machine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.tensor import DType
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context, parse_module
from xdsl_tpu.dialects.weights import Weights, attach, weights_of
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.pipelines import STAGES

Array = npt.NDArray[Any]
Shape = tuple[int, ...]

PIPELINE = ("weight-reorder", "subnet-divide", "address-assign")

TOLERANCE = {"f32": 1e-5, "f16": 4e-3, "bf16": 3e-2}
"""Largest error allowed, relative to the largest expected value."""

FARTHEST = {"f32": 1e-11, "f16": 2e-6, "bf16": 1e-4}
"""Largest 1 - cosine allowed."""


def tensor(shape: Shape, kind: str) -> str:
    """The MLIR type."""
    return f"tensor<{'x'.join(map(str, (*shape, kind)))}>"


@dataclass
class Case:
    """A function of inputs and weights, built line by line; every value has one element type.

    case = Case("f16")
    x = case.input("x", (1, 3, 8, 8))
    w = case.weight("w", (4, 3, 3, 3))
    y = case.op("tpu.Conv2D", [x, w, "none"], {"group": "1 : i64", ...}, "y", (1, 4, 6, 6))
    """

    kind: str
    seed: int = 0
    lines: list[str] = field(default_factory=list[str])
    types: dict[str, str] = field(default_factory=dict[str, str])
    inputs: dict[str, Array] = field(default_factory=dict[str, Array])
    weights: dict[str, Array] = field(default_factory=dict[str, Array])
    last: str = ""
    options: dict[str, str] = field(default_factory=dict[str, str])
    """Pass -> its options."""
    precision: str = "fast"
    """What kernels may lose (`module.kernel_precision`)."""
    chip: str = "bm1684x"

    def _random(self, name: str, shape: Shape, kind: str, scale: float) -> Array:
        seed = [self.seed, *name.encode()]
        return rounded(np.random.default_rng(seed).standard_normal(shape) * scale, kind)

    def input(self, name: str, shape: Shape, scale: float = 1.0, kind: str = "") -> str:
        """A network input, of the case's element type unless said otherwise."""
        kind = kind or self.kind
        self.inputs[name] = self._random(name, shape, kind, scale)
        self.types[name] = tensor(shape, kind)
        return name

    def weight(self, name: str, shape: Shape, scale: float = 1.0, kind: str = "") -> str:
        """A constant, of the case's element type unless said otherwise."""
        kind = kind or self.kind
        self.weights[name] = self._random(name, shape, kind, scale)
        self.types[name] = tensor(shape, kind)
        self.lines.append(f'%{name} = "top.Weight"() : () -> {self.types[name]} loc("{name}")')
        return name

    def op(
        self,
        kind: str,
        operands: Sequence[str],
        attributes: Mapping[str, str],
        name: str,
        shape: Shape,
        result: str = "",
    ) -> str:
        """An op; the operand "none" is absent. The last op's result is the network's output.

        `result` is its element type, the case's unless said otherwise.
        """
        self.types[name] = tensor(shape, result or self.kind)
        values = ", ".join("%none" if o == "none" else f"%{o}" for o in operands)
        types = ", ".join("none" if o == "none" else self.types[o] for o in operands)
        listed = ", ".join(f"{key} = {value}" for key, value in sorted(attributes.items()))
        signature = f"({types}) -> {self.types[name]}"
        line = f'%{name} = "{kind}"({values}) {{{listed}}} : {signature} loc("{name}")'
        self.lines.append(line)
        self.last = name
        return name

    def module(self) -> ModuleOp:
        """The lowered module, with its weights attached."""
        arguments = ", ".join(f"%{n}_in: {self.types[n]} loc(unknown)" for n in self.inputs)
        names = [
            f'%{n} = "top.Input"(%{n}_in) : ({self.types[n]}) -> {self.types[n]} loc("{n}")'
            for n in self.inputs
        ]
        body = "\n      ".join(
            ['%none = "top.None"() : () -> none loc(unknown)', *names, *self.lines]
        )
        result = self.types[self.last]
        text = f"""
module @case attributes {{module.state = "TPU_LOWERED", module.mode = "{self.kind.upper()}",
    module.chip = "{self.chip}", module.kernel_precision = "{self.precision}",
    module.weight_file = "case.npz"}} {{
  func.func @main({arguments}) -> {result} {{
      {body}
      return %{self.last} : {result} loc(unknown)
  }} loc(unknown)
}} loc(unknown)
"""
        module = parse_module(text)
        weights = Weights()
        for name, value in self.weights.items():
            weights[name] = stored(value, self.types[name].rstrip(">").rpartition("x")[2])
        attach(module, weights)
        return module


def rounded(values: Array, kind: str) -> Array:
    """f32 numbers that fit the element type."""
    if kind == "f16":
        return values.astype(np.float16).astype(np.float32)
    words = values.astype(np.float32).view(np.uint32)
    return (words & 0xFFFF0000).view(np.float32) if kind == "bf16" else values.astype(np.float32)


def stored(values: Array, kind: str) -> Array:
    """As a weight file and the chip's memory hold numbers of an element type."""
    if kind == "bf16":
        return (values.view(np.uint32) >> 16).astype(np.uint16)
    return values.astype({"f16": np.float16, "f32": np.float32}.get(kind, values.dtype))


@dataclass
class Outcome:
    """What a case gave: simulated and expected output, the program and its cycles."""

    simulated: Array
    expected: Array
    program: Program
    cycles: int


def run(case: Case, chip: Chip | None = None) -> Outcome:
    """Compile, check the stream, simulate in two orders and interpret."""
    chip = chip or load_chip("bm1684x")
    module = case.module()
    (expected,) = run_module(module, case.inputs).values()
    for name in PIPELINE:
        make_pass(name, case.options.get(name, "")).apply(make_context(), module)
    program = generate(module, weights_of(module), chip)
    check_encoding(program)
    early, late = (execute(program, case, chip, ahead) for ahead in (Engine.TIU, Engine.GDMA))
    assert np.array_equal(early, late), "the result depends on which engine runs ahead"
    cycles = simulate(program.tiu, program.gdma, chip).total
    return Outcome(early, np.asarray(expected), program, cycles)


def check(case: Case, chip: Chip | None = None) -> Outcome:
    """`run`, and compare the values at the tolerance of the output's element type."""
    outcome = run(case, chip)
    kind = outcome.program.outputs[0].dtype.label
    got, wanted = outcome.simulated.ravel().astype(float), outcome.expected.ravel().astype(float)
    assert got.shape == wanted.shape
    error = float(np.abs(got - wanted).max()) / max(float(np.abs(wanted).max()), 1e-6)
    assert error <= TOLERANCE[kind], f"largest error {error:.2e} of the largest value"
    norms = float(np.linalg.norm(got) * np.linalg.norm(wanted))
    if norms:
        assert 1 - float(got @ wanted) / norms <= FARTHEST[kind]
    return outcome


def check_encoding(program: Program) -> None:
    """Every command survives encoding and decoding."""
    decode_stream = load_chip(program.chip.lower()).instructions.decode_stream
    for engine in Engine:
        queue = program.queue(engine)
        data = b"".join(map(encode, queue))
        for command, back in zip(queue, decode_stream(data, engine, len(queue)), strict=True):
            fields = {name: value for name, value in command.fields.items() if value}
            fields |= {name: value for name, value in command.form.fixed.items() if value}
            assert (back.form, dict(back.fields)) == (command.form, fields)


def final(case: Case, *off: str) -> ModuleOp:
    """The case behind the passes of the last stage, without those in `off`."""
    module = case.module()
    for step in STAGES["final"]:
        if step not in off:
            make_pass(step, "").apply(make_context(), module)
    return module


def execute(program: Program, case: Case, chip: Chip, ahead: Engine) -> Array:
    """Run the program on a machine full of NaNs, `ahead` going first wherever it may."""
    machine = Machine(chip)
    fill(machine)
    machine.memory.write(program.coefficient_address, program.coefficients)
    for tensor_in, values in zip(program.inputs, case.inputs.values(), strict=True):
        machine.memory.write(tensor_in.address, stored(values, tensor_in.dtype.label))
    for command in order(program.tiu, program.gdma, ahead):
        machine.execute(command)
    (out,) = program.outputs
    return widened(machine.memory.read(out.address, out.shape, out.dtype.numpy), out.dtype)


@cache
def _filled(size: int) -> npt.NDArray[np.uint8]:
    return np.empty(size, np.uint8)


def fill(machine: Machine) -> None:
    """Local memory becomes one full of NaNs, the same for all machines, of which one works at a
    time: what takes time is the first touch of its pages."""
    local = machine.memory.local
    local.bytes = _filled(local.bytes.size)
    local.bytes[...] = 0xFF


def order(tiu: Sequence[Command], gdma: Sequence[Command], ahead: Engine) -> Iterator[Command]:
    """One legal order of both queues: `ahead` runs until it must wait for the other."""
    queues = (tiu, gdma) if ahead is Engine.TIU else (gdma, tiu)
    done = [0, 0]
    while done[0] < len(queues[0]) or done[1] < len(queues[1]):
        ready = [
            done[i] < len(queues[i]) and queues[i][done[i]]["cmd_id_dep"] <= done[1 - i]
            for i in range(2)
        ]
        assert any(ready), f"deadlock after {done} commands"
        chosen = 0 if ready[0] else 1
        yield queues[chosen][done[chosen]]
        done[chosen] += 1


def widened(values: Array, kind: DType) -> Array:
    """Stored elements as f32 numbers."""
    if kind is DType.BF16:
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values.astype(np.float32) if kind.is_float else values
