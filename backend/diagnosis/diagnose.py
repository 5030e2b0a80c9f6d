"""Running a program to find the first command that goes wrong."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.checks.finding import Place, place_of
from xdsl_tpu.backend.checks.unwritten import UnwrittenReads
from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.diagnosis.explain import explain
from xdsl_tpu.backend.diagnosis.observer import Observer, Step, element_like
from xdsl_tpu.backend.diagnosis.operand_types import element_of, place, unsigned, values_of
from xdsl_tpu.backend.diagnosis.origins import Origins, numbers_in
from xdsl_tpu.backend.diagnosis.result import Diagnosis, Fault, Range, Row, range_of
from xdsl_tpu.backend.execute import index_outside, loaded
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.isa.codes import FLOATS, INTEGERS
from xdsl_tpu.backend.isa.replay import replay
from xdsl_tpu.backend.machine import Machine, Numerics
from xdsl_tpu.backend.machine.elements import BF16, F16, F32, element
from xdsl_tpu.backend.machine.state import Outside
from xdsl_tpu.backend.operands import accesses
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.tensor import DType
from xdsl_tpu.dialects.errors import TpuError

Array = npt.NDArray[Any]
SHARE = 0.1
"""The part of a layer's integers that may be at the limits of their type."""

MOST_HARMLESS = 10
_FLOATS = {DType.F16: F16, DType.BF16: BF16, DType.F32: F32}


def diagnose(
    program: Program,
    chip: Chip,
    inputs: Mapping[str, Array],
    numerics: Numerics = "fast",
    share: float = SHARE,
    on_command: Callable[[], None] = lambda: None,
) -> tuple[Diagnosis, dict[str, Array]]:
    """What goes wrong in a run, and the outputs.

    The run is watched once; when something is found, it is repeated as far as that, to see the
    operands of the commands in question, which may be overwritten by their results. `share` is
    how much of a layer's integers may be at the limits of their type. `on_command` is called
    after each command of the first run.

    Raises TpuError as `run_program`, and when the queues wait for each other.
    """
    watched = _Watched(program, chip, inputs, numerics)
    observer = Observer(program, chip)
    found = watched.run(observer, on_command, share)
    if watched.look_at(found) and observer.watch_from is None:
        # Infinities were there before the first that was seen, in a form that hid them.
        observer = Observer(program, chip, watch_from=0)
        found = watched.run(observer, lambda: None, share)
        watched.look_at(found)
    return found, watched.outputs


class _Watched:
    """Runs of one program on the same inputs."""

    def __init__(
        self, program: Program, chip: Chip, inputs: Mapping[str, Array], numerics: Numerics
    ) -> None:
        self.program = program
        self.chip = chip
        self._inputs = inputs
        self._numerics: Numerics = numerics
        self.outputs: dict[str, Array] = {}
        self._unknown = 0

    def run(self, observer: Observer, on_command: Callable[[], None], share: float) -> Diagnosis:
        """The whole run."""
        machine = loaded(self.program, self.chip, self._inputs, self._numerics)
        unwritten = UnwrittenReads(self.program, self.chip)
        rows: list[Row] = []
        outside: list[Outside] = []
        self._unknown = 0
        for step in self._steps():
            observer.before(machine, step)
            machine.execute(step.command)
            observer.after(machine, step)
            for one in machine.outside[len(outside) :]:
                outside.append(one)
                row = self._row(Fault.OUTSIDE, step.index, step.engine, step.position)
                rows.append(replace(row, explanation=index_outside(one), count=one.count))
            if texts := unwritten.step(step.command, step.accesses):
                row = self._row(Fault.UNWRITTEN, step.index, step.engine, step.position)
                rows.append(replace(row, explanation="; ".join(texts)))
            on_command()
        self._complete()
        last = len(self.program.tiu) + len(self.program.gdma)
        for name, missing in unwritten.outputs(self.program):
            row = Row(Fault.UNWRITTEN, last, Place(), outputs=[name])
            rows.append(replace(row, explanation=f"output '{name}' ends with {missing}"))
        found = Diagnosis(last, rows, unknown=self._unknown)
        self._read_outputs(machine, observer, found)
        found.found += self._saturated(observer, share)
        found.found.sort(key=lambda row: row.step)
        return found

    def _steps(self) -> Generator[Step]:
        for index, (engine, position) in enumerate(replay(self.program.tiu, self.program.gdma)):
            command = self.program.queue(engine)[position]
            try:
                known = accesses(command, self.chip)
            except TpuError:
                known = ()
                self._unknown += 1
            self._done = index + 1
            yield Step(index, engine, position, command, known)

    def _complete(self) -> None:
        total = len(self.program.tiu) + len(self.program.gdma)
        if self._done < total:
            raise TpuError(
                f"deadlock after {self._done} of {total} commands: both queues wait for each "
                "other; tpu-run --check says where"
            )

    def _read_outputs(self, machine: Machine, observer: Observer, found: Diagnosis) -> None:
        """Which events the outputs show; all others are harmless."""
        origins = observer.origins
        seen: dict[int, list[str]] = {}
        for tensor in self.program.outputs:
            memory, kind = machine.memory, _FLOATS.get(tensor.dtype)
            read = memory.read(tensor.address, tensor.shape, tensor.dtype.numpy)
            self.outputs[tensor.name] = read
            if kind is not None:
                values = values_of(read.view(unsigned(kind.size)), kind)
                found.not_finite[tensor.name] = int(np.count_nonzero(~np.isfinite(values)))
            if origins.active:
                numbers = origins.at(tensor.address, tensor.shape, tensor.dtype.bytes)
                found.spoilt[tensor.name] = int(np.count_nonzero(numbers > Origins.STORED))
                for number in origins.ancestors(numbers_in(numbers, numbers != 0)):
                    seen.setdefault(number, []).append(tensor.name)
        for number, event in enumerate(origins.events):
            if event.fault is None:
                continue
            row = self._row(event.fault, event.step, event.engine, event.position)
            row.count, row.elements, row.commands = event.count, event.elements, event.commands
            row.dtype, row.outputs = event.dtype, seen.get(number, [])
            row.causes = sorted(origins.roots(number))
            (found.found if row.outputs else found.harmless).append(row)
        found.harmless.sort(key=lambda row: row.step)

    def _saturated(self, observer: Observer, share: float) -> Generator[Row]:
        for one in observer.saturated.values():
            if one.count > share * one.elements:
                row = self._row(Fault.SATURATION, one.step, one.engine, one.position)
                row.count, row.elements, row.commands = one.count, one.elements, one.commands
                row.dtype = one.dtype
                yield row

    def _row(self, fault: Fault, step: int, engine: Engine, position: int) -> Row:
        place = place_of(self.program, engine, position)
        layers = self.program.layer_indices(engine)
        index = layers[position] if position < len(layers) else -1
        op = self.program.layers[index].op if 0 <= index < len(self.program.layers) else ""
        return Row(fault, step, place, op)

    def look_at(self, found: Diagnosis) -> bool:
        """Give the rows the ranges of their operands, from a run as far as the last of them.

        True when a row that claims finite operands has others in memory: then something was
        overlooked.
        """
        rows = [*found.found, *found.harmless[:MOST_HARMLESS]]
        wanted = {row.step: [one for one in rows if one.step == row.step] for row in rows}
        last = max((step for step in wanted if step < found.commands), default=-1)
        if last < 0:
            return False
        machine = loaded(self.program, self.chip, self._inputs, self._numerics)
        overlooked = False
        for step in self._steps():
            here = wanted.get(step.index, [])
            operands = self._ranges(machine, step, writes=False) if here else []
            machine.execute(step.command)
            results = self._ranges(machine, step, writes=True) if here else []
            for row in here:
                row.operands, row.results = operands, results
                row.explanation = row.explanation or explain(row, step.command)
                others = any(one.nan + one.infinite for one in operands if one.shape)
                overlooked |= row.fault in (Fault.INVALID, Fault.OVERFLOW) and others
            if step.index == last:
                break
        return overlooked

    def _ranges(self, machine: Machine, step: Step, *, writes: bool) -> list[Range]:
        command = step.command
        found: list[Range] = []
        for access in step.accesses:
            kind = element_of(command, access)
            if access.writes is not writes or kind is None:
                continue
            bits = place(machine.memory, access, unsigned(kind.size)).read()
            found.append(range_of(access.operand, kind.name, values_of(bits, kind)))
        if not writes:
            found += self._constants(step)
        return found

    @staticmethod
    def _constants(step: Step) -> Generator[Range]:
        command = step.command
        if step.engine is Engine.GDMA:
            return
        count = command["tsk_opd_num"] or (4 if command.form.name == "sCMP" else 3)
        for name in ("opd0", "opd1", "opd2", "opd3")[:count]:
            if not command[f"{name}_const"]:
                continue
            for code in (*sorted(FLOATS), *sorted(INTEGERS)):
                if (kind := element_like(command, name, element(code))) is not None:
                    yield range_of(name, kind.name, kind.immediate(command[f"{name}_addr"]))
                    break
