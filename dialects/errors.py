"""The one exception every room raises for bad input."""

from collections.abc import Sequence
from dataclasses import dataclass


class TpuError(Exception):
    """A problem in what the user gave us, in words for that user.

    The message names the op or tensor, where it is, and what can be done; tools print it
    and exit with status 1, without a traceback.
    """


class DoesNotFit(TpuError):
    """An op that cannot work in this form: its slices, its scratch memory or its types are not
    what the form needs. Another form may do.

    Whoever chooses between forms catches this and nothing else: any other error is a mistake in
    the input or in a kernel, and must not end as a slower program.
    """


class NoKernel(TpuError):
    """An op that the chip's kernels do not compute, in whatever form."""


@dataclass(frozen=True)
class OpProblem:
    """Why one op cannot be compiled."""

    op: str
    """Its kind, such as `tpu.Interp`."""
    tensor: str
    """Name of its first result."""
    reason: str

    def __str__(self) -> str:
        return f"{self.op} '{self.tensor}': {self.reason}"


class OpsError(TpuError):
    """Several ops that cannot be compiled, all of them at once."""

    def __init__(self, summary: str, problems: Sequence[OpProblem]) -> None:
        super().__init__("\n  ".join((f"{summary}:", *map(str, problems))))
        self.problems = tuple(problems)
