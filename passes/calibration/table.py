"""The calibration table: a text file with one threshold for every tensor of a network.

    # mlir version: ...
    # op_name    threshold    min    max
    input 4.8521175 -4.8521175 4.4760108
    /act1/Relu_output_0_Relu 1.6154466 -0.0000000 1.6154466

`threshold` is the largest magnitude that quantisation keeps, `min` and `max` are what was seen.
The format is that of tpu-mlir's calibration tool, so tables can be exchanged in both directions.
Blocks that follow the thresholds under a heading such as `#weight_scale` are kept as they are.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from xdsl_tpu.dialects.errors import TpuError

LARGEST = 6.5e4
"""What an infinity in a table, or of a mask, is read as: about the largest f16."""

LOST = 1e-4
"""The part of a threshold that seven places may lose; else its line has exponents."""

_COLUMNS = "# op_name    threshold    min    max"


@dataclass(frozen=True)
class Threshold:
    """What is known of one tensor: the kept magnitude and the extremes seen."""

    threshold: float
    min: float
    max: float


@dataclass(repr=False)
class CalibrationTable:
    """Thresholds by tensor name, with the comments before and the blocks behind them."""

    thresholds: dict[str, Threshold] = field(default_factory=dict[str, Threshold])
    header: list[str] = field(default_factory=list[str])
    trailer: list[str] = field(default_factory=list[str])

    def text(self) -> str:
        """The file's contents."""
        lines = [*self.header, _COLUMNS]
        for name, one in self.thresholds.items():
            lost = abs(float(f"{one.threshold:.7f}") - one.threshold)
            digits = ".7f" if lost <= LOST * one.threshold else ".6e"
            numbers = (one.threshold, one.min, one.max)
            lines.append(" ".join((name, *(format(number, digits) for number in numbers))))
        return "\n".join((*lines, *self.trailer)) + "\n"

    def save(self, path: str | Path) -> Path:
        """Write the file. Raises OSError when it cannot be written."""
        file = Path(path)
        file.write_text(self.text(), encoding="utf-8")
        return file

    def __repr__(self) -> str:
        return f"<calibration table: thresholds of {len(self.thresholds)} tensors>"


def read_table(path: str | Path) -> CalibrationTable:
    """The table in a file; TpuError when it cannot be read or is none."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise TpuError(
            f"calibration table {file}: no such file; make one with tpu-calibrate"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise TpuError(f"calibration table {file} cannot be read: {error}") from error
    return parse_table(text, str(file))


def parse_table(text: str, source: str = "text") -> CalibrationTable:
    """The table that `text` is; `source` names it in messages."""
    table = CalibrationTable()
    for number, line in enumerate(text.splitlines(), 1):
        comment = line.startswith("#")
        if table.trailer or (comment and table.thresholds):
            table.trailer.append(line)
        elif comment:
            if line.split() != _COLUMNS.split():
                table.header.append(line)
        elif line.strip():
            name, threshold = _entry(line, f"{source}:{number}")
            if name in table.thresholds:
                raise TpuError(f"{source}:{number}: tensor '{name}' has a line already")
            table.thresholds[name] = threshold
    if not table.thresholds:
        raise TpuError(
            f"{source} has no line of the form 'name threshold min max': "
            "it is not a calibration table"
        )
    return table


def _entry(line: str, where: str) -> tuple[str, Threshold]:
    words = line.rsplit(maxsplit=3)
    try:
        name, *numbers = words
        threshold, low, high = map(_number, numbers)
    except ValueError:
        raise TpuError(
            f"{where}: expected 'name threshold min max', found '{line.strip()[:120]}'"
        ) from None
    if any(map(math.isnan, (threshold, low, high))) or threshold < 0 or low > high:
        raise TpuError(f"{where}: tensor '{name}' has no valid range: {' '.join(words[1:])}")
    return name, Threshold(threshold, low, high)


def _number(text: str) -> float:
    return max(-LARGEST, min(LARGEST, value)) if math.isinf(value := float(text)) else value


BIAS_CORRECTIONS = "#bias_correction"
"""The heading of a block of numbers to add to biases: `name c0,c1,..`, one for each channel."""


def with_bias_corrections(
    table: CalibrationTable, corrections: Mapping[str, Sequence[float]]
) -> CalibrationTable:
    """A table with a block of corrections behind its thresholds, in place of one it has."""
    lines = [
        f"{name} {','.join(f'{value:.7g}' for value in values)}"
        for name, values in corrections.items()
    ]
    kept = [line for block in _blocks(table) if block[0] != BIAS_CORRECTIONS for line in block]
    trailer = [*kept, BIAS_CORRECTIONS, *lines] if lines else kept
    return CalibrationTable(dict(table.thresholds), list(table.header), trailer)


def bias_corrections(table: CalibrationTable, source: str = "table") -> dict[str, list[float]]:
    """Op name -> what is added to its bias, channel by channel; TpuError for a damaged line."""
    found: dict[str, list[float]] = {}
    for block in _blocks(table):
        for line in block[1:] if block[0] == BIAS_CORRECTIONS else ():
            name, _, numbers = line.rpartition(" ")
            try:
                found[name.strip()] = [float(one) for one in numbers.split(",")]
            except ValueError:
                found[name.strip()] = [math.nan]
            if not name.strip() or not all(map(math.isfinite, found[name.strip()])):
                raise TpuError(
                    f"{source}: expected 'name c0,c1,..' below {BIAS_CORRECTIONS}, "
                    f"found '{line.strip()[:120]}'"
                )
    return found


def _blocks(table: CalibrationTable) -> list[list[str]]:
    """The lines behind the thresholds, a list from each heading to the next."""
    blocks: list[list[str]] = []
    for line in table.trailer:
        if line.startswith("#") or not blocks:
            blocks.append([])
        blocks[-1].append(line)
    return blocks
