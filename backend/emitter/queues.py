"""Issuing commands: ids, dependencies and layer tags.

The two engines run in order, each by itself; a command waits for the other engine through
`cmd_id_dep` alone. Kernels do not set it: it follows from the local memory that each command
reads and writes. DDR needs no such tracking, because only the GDMA touches it.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.isa.codes import AR, SYSID, DmaSys, Precision
from xdsl_tpu.backend.isa.registers import Registers
from xdsl_tpu.backend.program import Layer, Program

T = TypeVar("T")

Span = tuple[int, int]
"""First and last+1 byte within a lane."""

GRANULE = 64
"""Bytes of local memory that one hazard entry stands for, if lanes are at least as wide."""


_WRITER = "SYS_TR_ACC"
"""The form that writes registers, where fields lie in such."""

FEW = 256
"""Entries that are looked at faster one by one than by numpy."""


class _Accesses:
    """The last command of one engine that read and that wrote each granule of a lane."""

    def __init__(self, granules: int) -> None:
        self.read = np.zeros(granules, np.int64)
        self.written = np.zeros(granules, np.int64)


class CommandQueues:
    """Collects the commands of a program; the base of `Emitter`.

    `transfers_before` holds, for every command in issue order, the ids of the GDMA commands it
    shares local memory with and must follow: what a later reordering of the GDMA queue needs.
    """

    def __init__(self, chip: Chip, program: Program) -> None:
        self.chip = chip
        self.forms = chip.instructions.forms
        self.limits = chip.instructions.limits
        self.program = program
        self.transfers_before: dict[Engine, list[tuple[int, ...]]] = {e: [] for e in Engine}
        self._granule = min(GRANULE, chip.eu_bytes)
        self._layer = -1
        self._registers = Registers({})

    @cached_property
    def _accesses(self) -> dict[Engine, _Accesses]:
        """What emitters that only count need nothing of: those are made by the thousand."""
        granules = self.chip.local_bytes // self._granule
        return {engine: _Accesses(granules) for engine in Engine}

    @contextmanager
    def layer(self, name: str, op: str, zeros: float = 0.0) -> Generator[None]:
        """Tag the commands issued within as coming from this layer, of whose weights the part
        `zeros` is zero."""
        outer = self._layer
        self.program.layers.append(Layer(name, op, zeros))
        self._layer = len(self.program.layers) - 1
        try:
            yield
        finally:
            self._layer = outer

    def alike(self, places: Sequence[T]) -> Iterator[T]:
        """Places for which a kernel issues the same commands, but for addresses on which no cycles
        depend: an emitter that only counts may take the first for all."""
        return iter(places)

    def issue(
        self, form: str, fields: dict[str, int], reads: Sequence[Span], writes: Sequence[Span]
    ) -> None:
        """Append a command that reads and writes these spans of local memory."""
        kind = self.forms[form]
        if kind.primed:
            self._prime()
        if kind.registers:
            for values in self._registers.written_before(kind, fields):
                self.issue(_WRITER, values, (), ())
        engine = kind.engine
        queue = self.program.queue(engine)
        identity = len(queue) + 1
        fields |= kind.numbered(identity)
        before = self._transfers(reads, writes)
        if not kind.waits:
            assert not before
        elif engine is Engine.TIU:
            fields["cmd_id_dep"] = before[-1] if before else 0
        else:
            fields["cmd_id_dep"] = self._last_of_tiu(reads, writes)
        queue.append(Command(kind, fields))
        self.program.layer_indices(engine).append(self._layer)
        self.transfers_before[engine].append(before)
        mine = self._accesses[engine]
        for low, high in self._granules(reads):
            mine.read[low:high] = identity
        for low, high in self._granules(writes):
            mine.written[low:high] = identity

    def _transfers(self, reads: Sequence[Span], writes: Sequence[Span]) -> tuple[int, ...]:
        """The GDMA commands that last wrote what is read, or last touched what is written, in
        order. The last one is what a command of the TIU must wait for."""
        gdma = self._accesses[Engine.GDMA]
        found: set[int] = set()
        for low, high in self._granules(reads):
            found.update(_distinct(gdma.written[low:high]))
        for low, high in self._granules(writes):
            found.update(_distinct(gdma.written[low:high]))
            found.update(_distinct(gdma.read[low:high]))
        return tuple(sorted(found - {0}))

    def _last_of_tiu(self, reads: Sequence[Span], writes: Sequence[Span]) -> int:
        """The last command of the TIU that a transfer must wait for."""
        tiu, last = self._accesses[Engine.TIU], 0
        for low, high in self._granules(reads):
            last = max(last, int(tiu.written[low:high].max()))
        for low, high in self._granules(writes):
            last = max(last, int(tiu.written[low:high].max()), int(tiu.read[low:high].max()))
        return last

    def _prime(self) -> None:
        """Copy the last bytes of the last lane onto themselves."""
        size = self.chip.eu_bytes
        offset = self.chip.local_bytes - size
        place = (self.chip.lanes - 1) << self.chip.lane_shift | offset
        one = {f"res0_{axis}": 1 for axis in "nchw"}
        fields = {"tsk_eu_typ": int(AR.COPY), "tsk_opd_num": 1, **one}
        fields |= {"res0_addr": place, "opd0_addr": place}
        fields |= {name: Precision.I32 for name in ("res0_prec", "opd0_prec")}
        span = [(offset, offset + size)]
        self.issue("sAR", fields, span, span)

    def _granules(self, spans: Sequence[Span]) -> Iterator[Span]:
        for low, high in spans:
            yield low // self._granule, -(-high // self._granule)

    def touched_bytes(self) -> int:
        """Bytes of every lane that commands have touched, from the start of local memory on."""
        marks = [a for one in self._accesses.values() for a in (one.read, one.written)]
        used = np.flatnonzero(np.logical_or.reduce(marks))
        return (int(used[-1]) + 1) * self._granule if used.size else 0

    def finish(self) -> None:
        """Append the end marker of each queue, which waits for the other queue's last command."""
        tiu, gdma = self.program.tiu, self.program.gdma
        ends = (
            (tiu, self.forms["SYSID"], SYSID.END, False),
            (gdma, self.forms["sDMA_sys"], DmaSys.END_OF_STREAM, True),
        )
        for queue, form, function, counted in ends:
            fields = form.numbered(len(queue) + 1, counted)
            queue.append(Command(form, fields | {form.function_field: function}))
        self.program.tiu_layers.append(-1)
        self.program.gdma_layers.append(-1)


def _distinct(numbers: npt.NDArray[np.int64]) -> set[int]:
    """The different numbers; many come in long runs of the same."""
    if numbers.size <= FEW:
        return set(numbers.tolist())
    changes = np.flatnonzero(numbers[1:] != numbers[:-1]) + 1
    return {int(numbers[0]), *numbers[changes].tolist()}
