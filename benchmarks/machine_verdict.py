"""Whether everything that was measured came out as recorded, and what did not."""

from collections.abc import Iterator

from machine_scores import CycleFile, Scores, Unreadable
from machine_streams import Stream


def shortcomings(
    vectors: Scores, rows: Scores, files: list[CycleFile], streams: list[Stream]
) -> list[str]:
    """One line for each form, family, program and stream with a difference."""
    return [
        *_of_scores("vectors", vectors),
        *_of_scores("cycle rows", rows),
        *_of_files(files),
        *(f"stream {s.name}: {s.shortcoming}" for s in streams if s.shortcoming),
    ]


def _of_scores(what: str, scores: Scores) -> Iterator[str]:
    for name, score in sorted(scores.items()):
        if score.passed < score.total:
            yield f"{what} of {name}: {score.total - score.passed:,} of {score.total:,}"


def _of_files(files: list[CycleFile]) -> Iterator[str]:
    for file in files:
        if file.total < 0:
            yield f"cycles of {file.name}: {file.reason}"
        elif file.total != file.vendor_total:
            yield f"cycles of {file.name}: {file.total:,} instead of {file.vendor_total:,}"
        elif file.listed not in (None, file.total):
            yield f"cycles of {file.name}: {file.total:,}, in totals.csv {file.listed:,}"


def verdict(missed: list[str], unreadable: list[Unreadable]) -> str:
    """The last lines of a run."""
    missed = [*missed, *(f"{file.file}: {file.reason}" for file in unreadable)]
    if not missed:
        return "everything passed"
    return "\n".join(["did not pass:", *(f"  {line}" for line in missed)])
