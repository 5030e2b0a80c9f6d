"""A network that is lowered again and again: with other tables, and other mixtures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.report import closeness
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import clone_with_weights, weights_of
from xdsl_tpu.passes.calibration.table import CalibrationTable
from xdsl_tpu.passes.lowering.quantize_table import quantize_table_text
from xdsl_tpu.passes.pipelines import FLOAT, Quantization, Settings, passes_before, run_stage

Array = npt.NDArray[Any]
Inputs = Mapping[str, Array]
Modes = Mapping[str, str]
"""Op name -> number format, for ops in another than the network's."""


class Network:
    """Canonical top IR, sample inputs, and the float network's outputs on them.

    `top` is never changed. `folder` is for tables. `mode` is the format of what nothing is said
    of. `on_trial` is called after every network that has been lowered and run, or compiled.
    """

    def __init__(
        self,
        top: ModuleOp,
        samples: Sequence[Inputs],
        folder: Path,
        chip_name: str = "bm1684x",
        on_trial: Callable[[], None] = lambda: None,
        mode: str = "INT8",
    ) -> None:
        self.top = top
        self.mode = mode
        self.samples = samples
        self.folder = folder
        self.chip_name = chip_name
        self.chip = load_chip(chip_name)
        self.on_trial = on_trial
        self.expected = [list(run_module(top, inputs).values()) for inputs in samples]

    def calibrated(self, table: CalibrationTable) -> ModuleOp:
        """Top IR with the ranges of a table, as `convert-top-to-tpu` will see it."""
        module, context = clone_with_weights(self.top), make_context()
        settings = replace(self._settings(Quantization(str(self._written(table)))), mode="INT8")
        for one in passes_before("convert-top-to-tpu", "tpu", settings):
            one.apply(context, module)
        return module

    def lowered(self, table: CalibrationTable, modes: Modes) -> ModuleOp:
        """Tpu IR in the network's format, but for the ops that `modes` names."""
        module = clone_with_weights(self.top)
        qtable = self.folder / "modes"
        qtable.write_text(quantize_table_text(modes), encoding="utf-8")
        ranges = str(self._written(table)) if self.mode == "INT8" else ""
        tables = Quantization(ranges, str(qtable) if modes else "")
        run_stage(module, "tpu", self._settings(tables))
        return module

    def _settings(self, tables: Quantization = FLOAT) -> Settings:
        return Settings(self.mode, self.chip.instruction_set, quantization=tables)

    def cosine(self, table: CalibrationTable, modes: Modes) -> float:
        """The lowest cosine of any output on any sample, by the interpreter; -1 for NaN."""
        return min(self.cosines(table, modes))

    def cosines(self, table: CalibrationTable, modes: Modes) -> list[float]:
        """The lowest cosine of any output on each sample."""
        module = self.lowered(table, modes)
        found: list[float] = []
        for inputs, expected in zip(self.samples, self.expected, strict=True):
            outputs = run_module(module, inputs).values()
            pairs = zip(outputs, expected, strict=True)
            lowest = [closeness(ours, theirs).cosine for ours, theirs in pairs]
            found.append(float(np.min(np.nan_to_num(lowest, nan=-1.0))))
        self.on_trial()
        return found

    def cycles(self, table: CalibrationTable, modes: Modes) -> int:
        """What the compiled program takes."""
        module = self.lowered(table, modes)
        description = "" if self.chip_name == self.chip.name else self.chip_name
        run_stage(module, "final", replace(self._settings(), description=description))
        program = generate(module, weights_of(module), self.chip)
        self.on_trial()
        return simulate(program.tiu, program.gdma, self.chip).total

    def _written(self, table: CalibrationTable) -> Path:
        path = self.folder / "table"
        path.write_text(table.text(), encoding="utf-8")
        return path
