"""A compiled program: what `compile` makes and `load` reads; it runs, is timed, and is saved."""

import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.api.arrays import Array, Inputs, bound, shape_text
from xdsl_tpu.api.chips import DESCRIPTION, ChipLike, described
from xdsl_tpu.api.folders import Owned
from xdsl_tpu.api.loading import bmodel_path, chip_of, rates_note
from xdsl_tpu.api.report import Other, Report
from xdsl_tpu.api.shown import counted
from xdsl_tpu.api.timing import Timing
from xdsl_tpu.api.told import told
from xdsl_tpu.backend.asm import disassemble
from xdsl_tpu.backend.bmodel import read_bmodel
from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.backend.machine import Numerics
from xdsl_tpu.backend.program import IoTensor
from xdsl_tpu.backend.program import Program as Commands
from xdsl_tpu.backend.report import explain, read_groups, run_report
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.text import read_module
from xdsl_tpu.tools.folder import BMODEL, GROUPS, STAGES
from xdsl_tpu.tools.module_weights import attach_to_model
from xdsl_tpu.tools.provenance import model_outputs, network_floor
from xdsl_tpu.tools.provenance import run as run_origin
from xdsl_tpu.tools.run_inputs import run_inputs


@dataclass(frozen=True, repr=False, eq=False)
class Program:
    """A program for a chip, with the folder or the file that it is in.

    `commands` is what that file holds, `notes` what the user should know about it,
    `output_names` what the model calls its outputs. `owned` is a temporary folder that lives as
    long as the program.
    """

    commands: Commands
    chip: Chip
    path: Path
    notes: tuple[str, ...] = ()
    output_names: tuple[str, ...] = ()
    owned: Owned | None = None

    @property
    def name(self) -> str:
        """The model's."""
        return self.commands.name

    @property
    def quantize(self) -> str:
        """The number format that it was compiled for; empty for programs of others."""
        return self.commands.quantize

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """The shape of every input that `run` takes, by name."""
        masks = self.commands.random_masks
        return {t.name: t.shape for t in self.commands.inputs if t.name not in masks}

    @property
    def outputs(self) -> dict[str, tuple[int, ...]]:
        """The shape of every output, by the model's name where it is known."""
        return {name: t.shape for name, t in self._named_outputs()}

    def run(
        self,
        inputs: Inputs | None = None,
        *,
        seed: int = 0,
        numerics: Numerics = "fast",
        progress: bool | None = None,
    ) -> dict[str, Array]:
        """The outputs on the machine model, by the names of the ONNX model.

        `inputs` are arrays by name, in order, or the only one; without any they are made from
        `seed`, ids within their tables included. `numerics="exact"` sums products in the order of
        the chip. bf16 outputs are their 16 bits. `progress` shows a bar; by default it is shown
        on terminals and in notebooks. Raises TpuError for inputs that the program does not take.
        """
        given = self.random_inputs(seed) if inputs is None else bound(self.commands, inputs)
        total = sum(len(core.tiu) + len(core.gdma) for core in self.commands.cores)
        with told(), counted(progress, f"running {self.name}", total) as advance:
            values = run_program(
                self.commands, self.chip, given, numerics, lambda command: advance()
            )
        return {name: values[tensor.name] for name, tensor in self._named_outputs()}

    def random_inputs(self, seed: int = 0) -> dict[str, Array]:
        """What `run` takes when it is given nothing."""
        with told():
            return dict(run_inputs(self.file, self.commands, None, seed))

    def time(self) -> Timing:
        """When every command runs. No number of the network is computed."""
        return self._timing

    def report(self, against: "Program | Report | None" = None) -> Report:
        """The figures of the schedule; in a notebook, the page. `against` is compared with."""
        start = time.perf_counter()
        timing = self._timing
        seconds = {"timeline": time.perf_counter() - start}
        data = run_report(self.commands, self.chip, timing.timelines, None, seconds)
        origin = run_origin(None, self.file, self.chip, None, None)
        other: Other | None = None
        if against is not None:
            report = against.report() if isinstance(against, Program) else against
            other = (f"{report['model']} {report['quantize']}", report.data)
        groups = read_groups(self.file.with_name(GROUPS))
        floor = network_floor(self.file)
        explanation = explain(self.commands, timing.timelines, self.chip, floor, groups)
        data["gap"] = explanation.as_dict()
        return Report(timing, origin | data, groups, other)

    def save(self, folder: str | Path) -> Path:
        """Write what `tpu-compile` writes: the program, and the IR and the tables beside it.

        Of a bmodel without such a folder only that file. Raises TpuError when `folder` is a file.
        """
        to = Path(folder)
        if to.exists() and not to.is_dir():
            raise TpuError(f"{to}: exists and is no folder; give another")
        files = self.path.iterdir() if self.path.is_dir() else [self.path]
        with told():
            to.mkdir(parents=True, exist_ok=True)
            for file in sorted(files):
                name = file.name if self.path.is_dir() else BMODEL
                if file.resolve() != (to / name).resolve():
                    shutil.copyfile(file, to / name)
        return to

    def module(self, stage: str = "final") -> ModuleOp:
        """The IR after a stage, `top`, `tpu` or `final`, with its weights."""
        if stage not in STAGES:
            raise TpuError(f"no stage '{stage}': give one of {', '.join(STAGES)}")
        file = self.path / f"{stage}.mlir"
        if not file.is_file():
            raise TpuError(f"{self.path}: has no {stage}.mlir; a bmodel alone keeps no IR")
        with told():
            module = read_module(file)
            attach_to_model(module, file)
        return module

    def disassemble(self) -> str:
        """The commands as text (docs/isa.md)."""
        return disassemble(self.commands)

    @property
    def file(self) -> Path:
        """The bmodel."""
        return bmodel_path(self.path)

    @cached_property
    def _timing(self) -> Timing:
        return Timing.of(self.commands, self.chip)

    def _named_outputs(self) -> list[tuple[str, IoTensor]]:
        """The model's names and the program's outputs, which are in the same order."""
        tensors = self.commands.outputs
        names = self.output_names
        if len(names) != len(tensors):  # a program of others, or of IR
            names = tuple(tensor.name for tensor in tensors)
        return list(zip(names, tensors, strict=True))

    def __repr__(self) -> str:
        def listed(tensors: Mapping[str, tuple[int, ...]]) -> str:
            return ", ".join(f"{name} {shape_text(shape)}" for name, shape in tensors.items())

        what = " ".join(filter(None, (self.name, self.quantize, "on", self.chip.name)))
        return f"<program: {what}, {listed(self.inputs)} -> {listed(self.outputs)}>"


def load(path: str | Path, chip: ChipLike | None = None) -> Program:
    """The program in a folder that `compile` or `tpu-compile` wrote, or in a bmodel.

    The vendor's static single-core files are read, too. `chip` is needed for a program compiled
    for a description of one's own, unless that is beside it. Raises TpuError when the file cannot
    be read, or means something else on that chip.
    """
    place = Path(path)
    beside = place / DESCRIPTION
    with told():
        file = bmodel_path(place)
        program = read_bmodel(file)
        given = beside if chip is None and beside.is_file() else chip
        with described("" if given is None else given) as name:
            found = chip_of(program, name or None)
        notes = tuple(filter(None, [rates_note(program, found)]))
        return Program(program, found, place, notes, tuple(model_outputs(file)))
