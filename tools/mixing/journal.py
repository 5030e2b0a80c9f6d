"""What a search has measured, kept as it goes: one that was stopped goes on from there.

A journal is a text file of JSON lines. The first says what was searched; each other line is one
measurement, written as it ends: what was measured in words, a hash of all that it depends on, and
what came out. A line that a killed process left half-written counts as none.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, Self, cast

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.tools.files import write_text

SUFFIX = ".journal"

Subject = Mapping[str, str]
"""What a journal is of: hashes and names, by what people call them."""


class Journal:
    """Measurements by what they depend on, of this process alone."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def measured(self, what: str, depends: Any, measure: Callable[[], Any]) -> Any:
        """What `measure` gives, a number or a text; asked once for equal `depends`.

        `what` says in words what is measured; `depends` is plain data, as JSON has it.
        """
        key = digest(json.dumps([what, depends], sort_keys=True).encode())
        if key not in self.known:
            self.known[key] = measure()
            self._keep({"measured": what, "key": key, "found": self.known[key]})
        return self.known[key]

    def _keep(self, entry: Mapping[str, Any]) -> None:
        """Nothing, of a journal without a file."""


class FileJournal(Journal):
    """A journal in a file, with what searches of the same subject have left there before.

    `begun_anew` names what of a journal that was there is another; its measurements are gone.
    Raises TpuError where the file is none.
    """

    def __init__(self, path: Path, subject: Subject) -> None:
        super().__init__()
        self.path = path
        self.begun_anew: list[str] = []
        head = json.dumps({"journal of": dict(subject)}) + "\n"
        lines = self._read(path, subject)
        # Written whole: what a killed process has left of a line must not run into the next.
        write_text(path, "".join((head, *lines)))
        self.resumed = len(self.known)
        self._stream: IO[str] = path.open("a", encoding="utf-8")

    @property
    def begins(self) -> str:
        """What it knows, or why it knows nothing any more, in words; empty where it is new."""
        if self.begun_anew:
            return f"{self.path}: begun anew, because these differ: {', '.join(self.begun_anew)}"
        return f"{self.path}: {self.resumed} measurements are done already" if self.resumed else ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def _read(self, path: Path, subject: Subject) -> list[str]:
        """The lines of measurements that are good for the subject."""
        if not path.exists():
            return []
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
        before = cast(Any, _parsed(lines[0]).get("journal of") if lines else None)
        if not isinstance(before, dict):
            raise TpuError(
                f"{path}: the search keeps its journal there, and this file is none; move it"
            )
        known = cast(dict[str, Any], before)
        self.begun_anew = [name for name, value in subject.items() if known.get(name) != value]
        if self.begun_anew:
            return []
        entries = {line: _parsed(line) for line in lines[1:]}
        good = {line: entry for line, entry in entries.items() if {"key", "found"} <= set(entry)}
        self.known = {entry["key"]: entry["found"] for entry in good.values()}
        return list(good)

    def _keep(self, entry: Mapping[str, Any]) -> None:
        self._stream.write(json.dumps(entry) + "\n")
        self._stream.flush()


def _parsed(line: str) -> dict[str, Any]:
    """The object that a whole line is; an empty one where it is none."""
    try:
        found = json.loads(line) if line.endswith("\n") else None
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def digest(data: bytes) -> str:
    """A short hash."""
    return hashlib.sha256(data).hexdigest()[:16]
