"""Which layers of a network to keep in F16 so that its INT8 program comes close to the float one.

Layers are ranked by the error that each makes on its own: its 8-bit form computes on the float
network's tensors, so errors of the layers before it do not count. The fewest of the worst that
reach the wanted cosine are found by bisection; those of them that are not needed are then dropped
again, in halves, quarters and so on, as in delta debugging (Zeller and Hildebrandt, 2002).
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.report import closeness
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import TensorInterpreter, run_module
from xdsl_tpu.dialects.interpreters.runner import find_main, input_names
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.calibration.steps import is_signed
from xdsl_tpu.passes.calibration.table import CalibrationTable
from xdsl_tpu.passes.lowering.quantize_table import quantize_table_text
from xdsl_tpu.passes.pipelines import Quantization, run_stage
from xdsl_tpu.passes.tensors import element_of

Array = npt.NDArray[Any]
Inputs = Mapping[str, Array]

FLOAT_MODE = "F16"

COMPUTING = frozenset(
    f"tpu.{name}"
    for name in [
        "Add",
        "AddConst",
        "Concat",
        "Conv2D",
        "Lut",
        "MatMul",
        "Max",
        "Min",
        "Mul",
        "MulShift",
        "Pool2D",
        "Sub",
    ]
)
"""Ops that make errors of their own in 8 bits; others only move integers."""

MOST_TRIALS = 24
"""Networks that are evaluated while dropping layers that are not needed."""


@dataclass(frozen=True)
class Suggestion:
    """The layers to keep in F16, worst first; cosines and cycles without and with them."""

    layers: tuple[str, ...]
    cosine_before: float
    cosine_after: float
    cycles_before: int
    cycles_after: int

    def text(self, target: float) -> str:
        """The quantize table."""
        head = [
            f"# {len(self.layers)} layers in {FLOAT_MODE} for a cosine of {target}",
            f"# cosine {self.cosine_before:.6f} without, {self.cosine_after:.6f} with them",
            f"# cycles {self.cycles_before} without, {self.cycles_after} with them",
        ]
        return "\n".join(head) + "\n" + quantize_table_text(dict.fromkeys(self.layers, FLOAT_MODE))


def suggest_mixed(
    fresh: Callable[[], ModuleOp],
    table: CalibrationTable,
    samples: Sequence[Inputs],
    target: float,
    chip_name: str = "bm1684x",
    on_trial: Callable[[], None] = lambda: None,
) -> Suggestion:
    """The smallest set found whose outputs have a cosine of `target` on every sample.

    `fresh` gives the canonical top module anew. Raises TpuError when even with all of them in
    F16 the target is out of reach.
    """
    with tempfile.TemporaryDirectory() as folder:
        trial = _Trial(fresh, table, samples, chip_name, Path(folder), on_trial)
        before = trial.cosine(())
        ranked = trial.ranked() if before < target else []
        chosen = _fewest(trial, ranked, target) if before < target else ()
        cycles = trial.cycles(())
        after = trial.cycles(chosen) if chosen else cycles
        return Suggestion(chosen, before, trial.cosine(chosen), cycles, after)


def _fewest(trial: "_Trial", ranked: Sequence[str], target: float) -> tuple[str, ...]:
    best = trial.cosine(ranked)
    if best < target:
        raise TpuError(
            f"a cosine of {target} is out of reach: with all {len(ranked)} layers in {FLOAT_MODE} "
            f"it is {best:.6f}"
        )
    low, high = 0, len(ranked)  # low are too few, high are enough
    while high - low > 1:
        middle = (low + high) // 2
        if trial.cosine(ranked[:middle]) >= target:
            high = middle
        else:
            low = middle
    return _without_needless(trial, list(ranked[:high]), target)


def _without_needless(trial: "_Trial", chosen: list[str], target: float) -> tuple[str, ...]:
    """Drop ever smaller pieces, the mildest errors first, while the target holds."""
    size, trials = max(1, len(chosen) // 2), 0
    while size and trials < MOST_TRIALS:
        start = len(chosen)
        while start > 0 and len(chosen) > 1 and trials < MOST_TRIALS:
            start = max(0, start - size)
            rest = chosen[:start] + chosen[start + size :]
            trials += 1
            if rest and trial.cosine(rest) >= target:
                chosen = rest
        size //= 2
    return tuple(chosen)


class _Trial:
    """The network with some layers in F16: accuracy and cycles."""

    def __init__(
        self,
        fresh: Callable[[], ModuleOp],
        table: CalibrationTable,
        samples: Sequence[Inputs],
        chip_name: str,
        folder: Path,
        on_trial: Callable[[], None],
    ) -> None:
        self.fresh = fresh
        self.samples = samples
        self.chip = load_chip(chip_name)
        self.chip_name = chip_name
        self.folder = folder
        self.on_trial = on_trial
        self.known: dict[frozenset[str], float] = {}
        (folder / "table").write_text(table.text(), encoding="utf-8")
        self.floats: list[dict[str, Array]] = []
        self.expected: list[list[Array]] = []
        module = fresh()
        for inputs in samples:
            seen: dict[str, Array] = {}
            outputs = run_module(module, inputs, trace=seen.__setitem__)
            self.floats.append(seen)
            self.expected.append(list(outputs.values()))

    def lowered(self, layers: Sequence[str]) -> ModuleOp:
        """tpu IR with these layers in F16."""
        module = self.fresh()
        modes = self.folder / "modes"
        modes.write_text(quantize_table_text(dict.fromkeys(layers, FLOAT_MODE)), encoding="utf-8")
        tables = Quantization(str(self.folder / "table"), str(modes) if layers else "")
        run_stage(module, "tpu", "INT8", self.chip.instruction_set, quantization=tables)
        return module

    def cosine(self, layers: Sequence[str]) -> float:
        """The lowest cosine of any output on any sample."""
        key = frozenset(layers)
        if key not in self.known:
            module = self.lowered(layers)
            found: list[float] = []
            for inputs, expected in zip(self.samples, self.expected, strict=True):
                outputs = run_module(module, inputs).values()
                pairs = zip(outputs, expected, strict=True)
                found += [closeness(ours, theirs).cosine for ours, theirs in pairs]
            self.known[key] = min(found)
            self.on_trial()
        return self.known[key]

    def cycles(self, layers: Sequence[str]) -> int:
        """What the compiled program takes."""
        module = self.lowered(layers)
        description = "" if self.chip_name == self.chip.name else self.chip_name
        run_stage(module, "final", "INT8", self.chip.instruction_set, description=description)
        program = generate(module, weights_of(module), self.chip)
        self.on_trial()
        return simulate(program.tiu, program.gdma, self.chip).total

    def ranked(self) -> list[str]:
        """The layers in 8 bits, the one with the largest error of its own first."""
        module = self.lowered(())
        inner, main = find_main(module)
        interpreter = TensorInterpreter.of(inner, weights_of(module))
        interpreter.dying = {}
        floats = self.floats[0]
        values: dict[SSAValue, Any] = {
            argument: self.samples[0][name]
            for argument, name in zip(main.args, input_names(main), strict=True)
        }
        errors: dict[str, float] = {}
        for op in main.body.block.ops:
            if not op.results:
                continue
            found = interpreter.run_op(op, tuple(values[operand] for operand in op.operands))
            for result, value in zip(op.results, found, strict=True):
                name = name_of(result) or ""
                reference = floats.get(name)
                if value is None or reference is None or reference.size != value.size:
                    values[result] = value
                    continue
                values[result] = _stored(reference.reshape(value.shape), result)
                element = element_of(result)
                if isinstance(element, UniformType) and op.name in COMPUTING:
                    errors[name] = _noise(value * element.scale, reference)
        return sorted(errors, key=lambda name: -errors[name])


def _stored(reference: Array, result: SSAValue) -> Array:
    """The float network's tensor in the type of the quantised one."""
    element = element_of(result)
    if not isinstance(element, UniformType):
        return reference
    low, high, dtype = (-128, 127, np.int8) if is_signed(element) else (0, 255, np.uint8)
    steps = np.round(reference.astype(np.float64) / element.scale)
    return np.clip(steps, low, high).astype(dtype)


def _noise(numbers: Array, reference: Array) -> float:
    """Noise over signal."""
    wanted = reference.astype(np.float64).reshape(numbers.shape)
    signal = float((wanted**2).sum())
    return float(((numbers - wanted) ** 2).sum()) / signal if signal else 0.0
