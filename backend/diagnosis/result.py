"""What a diagnosis says."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.checks.finding import Place


class Fault(Enum):
    """The kinds of trouble, in the words of the table."""

    OVERFLOW = "infinite from finite numbers"
    INVALID = "NaN from finite numbers"
    FROM_INFINITY = "NaN from infinities"
    SATURATION = "saturation: integers at the limits of their type"
    OUTSIDE = "an index outside its table"
    UNWRITTEN = "reads what was never written"


@dataclass(frozen=True, slots=True)
class Range:
    """The finite numbers of an operand, and how many others there are."""

    operand: str
    dtype: str
    shape: tuple[int, ...]
    least: float
    greatest: float
    nan: int
    infinite: int

    @property
    def absmax(self) -> float:
        """The largest magnitude."""
        return max(abs(self.least), abs(self.greatest))

    def __str__(self) -> str:
        text = f"{self.operand} {self.dtype}"
        if not self.shape:
            return f"{text} = {self.greatest:g}"
        others = [f"{n:,} {what}" for n, what in ((self.infinite, "inf"), (self.nan, "NaN")) if n]
        if not np.isnan(self.least):
            others.insert(0, f"{self.least:.4g} .. {self.greatest:.4g}")
        return f"{text} {', '.join(others)}"

    def as_dict(self) -> dict[str, Any]:
        """For the report; a range without finite numbers has no ends."""
        number = not np.isnan(self.least)
        return {
            "operand": self.operand,
            "type": self.dtype,
            "shape": list(self.shape),
            "min": self.least if number else None,
            "max": self.greatest if number else None,
            "absmax": self.absmax if number else None,
            "nan": self.nan,
            "inf": self.infinite,
        }


def range_of(operand: str, dtype: str, values: npt.NDArray[Any]) -> Range:
    """The range of an array; a scalar is a constant operand."""
    flat = values.reshape(-1)
    finite = flat[np.isfinite(flat)] if flat.dtype.kind == "f" else flat
    nan = int(np.isnan(flat).sum()) if flat.dtype.kind == "f" else 0
    least, greatest = (float(finite.min()), float(finite.max())) if finite.size else (np.nan,) * 2
    if values.ndim == 0 and not finite.size:
        least = greatest = float(flat[0])
    return Range(operand, dtype, values.shape, least, greatest, nan, flat.size - finite.size - nan)


@dataclass
class Row:
    """One trouble: the first command that has it, and how often it happens in its layer.

    `step` counts the commands of both engines in the order of execution; `causes` are the steps
    of the troubles that it comes from, none for one that comes by itself. `count` of the
    `elements` that `commands` commands of the layer computed are in trouble.
    """

    fault: Fault
    step: int
    place: Place
    op: str = ""
    count: int = 0
    elements: int = 0
    commands: int = 1
    dtype: str = ""
    explanation: str = ""
    causes: list[int] = field(default_factory=list[int])
    outputs: list[str] = field(default_factory=list[str])
    operands: list[Range] = field(default_factory=list[Range])
    results: list[Range] = field(default_factory=list[Range])

    @property
    def share(self) -> float:
        """The part of the layer's elements that are in trouble."""
        return self.count / max(1, self.elements)

    def as_dict(self) -> dict[str, Any]:
        """For the report."""
        place = self.place
        return {
            "fault": self.fault.name.lower(),
            "engine": place.engine.value if place.engine else None,
            "command": place.identity,
            "instruction": place.instruction,
            "layer": place.layer or None,
            "op": self.op or None,
            "type": self.dtype or None,
            "step": self.step,
            "commands": self.commands,
            "elements": self.elements,
            "count": self.count,
            "explanation": self.explanation,
            "causes": self.causes,
            "outputs": self.outputs,
            "operands": [one.as_dict() for one in self.operands],
            "results": [one.as_dict() for one in self.results],
        }


@dataclass
class Diagnosis:
    """Everything found, in the order of execution.

    `found` are troubles that the outputs show or that make them meaningless; `harmless` the
    infinities and NaNs that no output is computed from, such as those of masks. `not_finite` and
    `spoilt` count the elements of every output that are infinite or NaN, and those that come from
    such ones.
    """

    commands: int
    found: list[Row] = field(default_factory=list[Row])
    harmless: list[Row] = field(default_factory=list[Row])
    not_finite: dict[str, int] = field(default_factory=dict[str, int])
    spoilt: dict[str, int] = field(default_factory=dict[str, int])
    unknown: int = 0

    def as_dict(self) -> dict[str, Any]:
        """For the report."""
        return {
            "commands": self.commands,
            "commands_of_unknown_operands": self.unknown,
            "outputs_not_finite": self.not_finite,
            "outputs_spoilt": self.spoilt,
            "found": [row.as_dict() for row in self.found],
            "harmless": [row.as_dict() for row in self.harmless],
        }
