"""A network that is lowered again and again: with other tables, and other mixtures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
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
from xdsl_tpu.tools.mixing.journal import Journal, digest

Array = npt.NDArray[Any]
Inputs = Mapping[str, Array]
Modes = Mapping[str, str]
"""Op name -> number format, for ops in another than the network's."""


class Network:
    """Canonical top IR, sample inputs, and the float network's outputs on them.

    `top` is never changed. `folder` is for tables. `mode` is the format of what nothing is said
    of. `on_trial` is called after every measurement that `journal`, which is of this network,
    did not know.
    """

    def __init__(
        self,
        top: ModuleOp,
        samples: Sequence[Inputs],
        folder: Path,
        chip_name: str = "bm1684x",
        on_trial: Callable[[], None] = lambda: None,
        mode: str = "INT8",
        journal: Journal | None = None,
    ) -> None:
        self.top = top
        self.mode = mode
        self.samples = samples
        self.folder = folder
        self.chip_name = chip_name
        self.chip = load_chip(chip_name)
        self.on_trial = on_trial
        self.journal = journal or Journal()

    @cached_property
    def expected(self) -> list[list[Array]]:
        """The float network's outputs on each sample."""
        return [list(run_module(self.top, inputs).values()) for inputs in self.samples]

    @cached_property
    def digests(self) -> list[str]:
        """A hash of each sample."""
        return [sample_digest(inputs) for inputs in self.samples]

    def measured(self, what: str, depends: Sequence[Any], measure: Callable[[], Any]) -> Any:
        """As `Journal.measured`."""

        def tried() -> Any:
            found = measure()
            self.on_trial()
            return found

        return self.journal.measured(what, [self.mode, *depends], tried)

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
        lowered = cache(partial(self.lowered, table, modes))
        what, tables = f"cosine with {len(modes)} layers in wider formats", table_digest(table)
        return [
            self.measured(
                what, [tables, dict(modes), one], lambda at=place: self._cosine(lowered(), at)
            )
            for place, one in enumerate(self.digests)
        ]

    def _cosine(self, lowered: ModuleOp, place: int) -> float:
        outputs = run_module(lowered, self.samples[place]).values()
        pairs = zip(outputs, self.expected[place], strict=True)
        lowest = [closeness(ours, theirs).cosine for ours, theirs in pairs]
        return float(np.min(np.nan_to_num(lowest, nan=-1.0)))

    def cycles(self, table: CalibrationTable, modes: Modes) -> int:
        """What the compiled program takes."""
        depends = [table_digest(table), dict(modes), self.chip_name]
        return self.measured("cycles", depends, lambda: self._cycles(table, modes))

    def _cycles(self, table: CalibrationTable, modes: Modes) -> int:
        module = self.lowered(table, modes)
        description = "" if self.chip_name == self.chip.name else self.chip_name
        run_stage(module, "final", replace(self._settings(), description=description))
        program = generate(module, weights_of(module), self.chip)
        return simulate(program.tiu, program.gdma, self.chip).total

    def _written(self, table: CalibrationTable) -> Path:
        path = self.folder / "table"
        path.write_text(table.text(), encoding="utf-8")
        return path


def table_digest(table: CalibrationTable) -> str:
    """A hash of what a table says, without its comments."""
    return digest(replace(table, header=[]).text().encode())


def sample_digest(inputs: Inputs) -> str:
    """A hash of the inputs of a sample."""
    arrays = ((name, np.ascontiguousarray(array)) for name, array in sorted(inputs.items()))
    parts = (f"{name} {a.dtype} {a.shape} ".encode() + a.tobytes() for name, a in arrays)
    return digest(b"".join(parts))
