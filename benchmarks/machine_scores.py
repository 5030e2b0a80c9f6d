"""Vectors and cycle rows of any folder: how many come out as recorded, and why the others do not.

Nothing of a folder is trusted: what cannot be read is counted or named, and never ends the run.
"""

import csv
import os
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from tests.machine import golden_vectors
from tests.timing import cycle_rows, lone_commands

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.machine import Machine
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects.errors import TpuError

CHIP = load_chip("bm1684x")
GARBAGE = 0xA5
DAMAGE = (
    TpuError,
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
    BadZipFile,
    zlib.error,
)
"""What reading a damaged recording may raise."""


@dataclass
class Score:
    """How many of a kind were right; `notes` counts the reasons of those that were refused."""

    passed: int = 0
    total: int = 0
    refused: int = 0
    notes: dict[str, int] = field(default_factory=dict[str, int])

    def count(self, right: bool) -> None:
        """One more."""
        self.total += 1
        self.passed += right

    def refuse(self, error: BaseException) -> None:
        """One more that cannot be computed."""
        self.total += 1
        self.refused += 1
        reason = in_words(error)
        self.notes[reason] = self.notes.get(reason, 0) + 1

    def __str__(self) -> str:
        refused = f" ({self.refused} refused)" if self.refused else ""
        return f"{self.passed:,} / {self.total:,}{refused}"


Scores = dict[str, Score]


@dataclass
class Unreadable:
    """A file that is not what its name says."""

    file: str
    reason: str


def in_words(error: BaseException) -> str:
    """The last part of a message, short enough for a table."""
    if isinstance(error, TpuError):
        return str(error).rsplit(": ", maxsplit=1)[-1][:100]
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"there is no file {Path(error.filename).name}"[:100]
    if isinstance(error, KeyError):
        return f"there is no {error}"[:100]
    return f"{type(error).__name__}: {error}"[:100]


def summed(scores: Scores) -> Score:
    """All together."""
    total = Score()
    for score in scores.values():
        total.passed += score.passed
        total.total += score.total
        total.refused += score.refused
    return total


def files_below(folder: Path, ending: str) -> list[Path]:
    """All files whose names end so, at any depth, also behind links."""
    found = (
        Path(parent, name)
        for parent, _, names in os.walk(folder, followlinks=True)
        for name in names
        if name.endswith(ending)
    )
    return sorted(found)


def vector_scores(folder: Path, unreadable: list[Unreadable]) -> Scores:
    """Per form, vectors whose every result bit is as recorded, in exact mode."""
    scores: Scores = {}
    machine = Machine(CHIP, "exact")
    for index in files_below(folder, "index.json"):
        try:
            vectors = list(golden_vectors.vectors(index.parent))
        except DAMAGE as error:
            unreadable.append(Unreadable(str(index), in_words(error)))
            continue
        for vector in vectors:
            score = scores.setdefault(_form(vector.entry), Score())
            try:
                score.count(_is_right(machine, vector))
            except DAMAGE as error:
                score.refuse(error)
    return scores


def _form(entry: dict[str, Any]) -> str:
    """The name that the entry gives its form, as ours (sRQ&sDQ is sRQ_DQ)."""
    return str(entry.get("form", "without form")).replace("&s", "_").replace("&", "_")


def _is_right(machine: Machine, vector: golden_vectors.Vector) -> bool:
    machine.memory.local.bytes[:] = GARBAGE
    golden_vectors.prepare(machine, vector)
    machine.execute(vector.command)
    found = golden_vectors.results(machine, vector)
    if not found and vector.entry["inputs"]:
        raise TpuError("no results are recorded")
    same = all(got.shape == wanted.shape for _, got, wanted in found)
    return same and not any(golden_vectors.mismatches(g, w, dtype) for dtype, g, w in found)


@dataclass
class CycleFile:
    """One program's rows, and its total re-simulated from the commands alone.

    `total` is -1 where that cannot be done, for `reason`; `listed` is what totals.csv says.
    """

    name: str
    vendor_total: int
    total: int
    seconds: float
    reason: str = ""
    listed: int | None = None


def cycle_scores(folder: Path, unreadable: list[Unreadable]) -> tuple[Scores, list[CycleFile]]:
    """Per family, rows whose cycles and bytes are the vendor's; per file, the totals."""
    scores: Scores = {}
    files: list[CycleFile] = []
    listed = dict(_listed_totals(folder, unreadable))
    for path in files_below(folder, ".csv.gz"):
        try:
            rows = cycle_rows.read(path)
            if not rows:
                raise TpuError("it has no rows")
            vendor = max(int(row["end"]) for row in rows) + 1
        except DAMAGE as error:
            unreadable.append(Unreadable(str(path), in_words(error)))
            continue
        for row in rows:
            score = scores.setdefault(row.get("family") or "without family", Score())
            try:
                score.count(cycle_rows.agrees(row, CHIP))
            except DAMAGE as error:
                score.refuse(error)
        file = CycleFile(path.name.split(".")[0], vendor, -1, 0.0)
        file.listed = listed.get(file.name.removeprefix("cycles_"))
        _total(file, rows)
        files.append(file)
    return scores, files


def lone_scores(folder: Path, unreadable: list[Unreadable]) -> Scores:
    """Per form and function, commands of no program whose cycles are the vendor's."""
    scores: Scores = {}
    for path in files_below(folder, lone_commands.SUFFIX):
        try:
            found = list(lone_commands.lone_commands(path))
        except DAMAGE as error:
            unreadable.append(Unreadable(str(path), in_words(error)))
            continue
        for item in found:
            score = scores.setdefault(item.name, Score())
            try:
                score.count(item.agrees(CHIP))
            except DAMAGE as error:
                score.refuse(error)
    return scores


def _total(file: CycleFile, rows: list[cycle_rows.Row]) -> None:
    try:
        commands: list[Command] = [cycle_rows.command_of(row) for row in rows]
        tiu, gdma = (cycle_rows.queue_of(rows, commands, engine) for engine in Engine)
        start = time.perf_counter()
        file.total = simulate(tiu, gdma, CHIP).total
        file.seconds = time.perf_counter() - start
    except DAMAGE as error:
        file.reason = in_words(error)


def _listed_totals(folder: Path, unreadable: list[Unreadable]) -> Iterator[tuple[str, int]]:
    """Program and total cycles from every totals.csv."""
    for path in files_below(folder, "totals.csv"):
        try:
            with path.open(newline="", encoding="utf-8") as stream:
                for row in csv.DictReader(stream):
                    yield f"{row['model']}_{row['quant']}", int(row["total_cycles"])
        except DAMAGE as error:
            unreadable.append(Unreadable(str(path), in_words(error)))
