"""Names and sizes on a terminal, the same in every tool."""

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text

_LEAST = 12
"""Columns that a name needs to be told from others."""
_GAP = "..."


class Name:
    """A name in a table, shortened in the middle where the column is too narrow for it.

    Names of layers begin with the block that they are of and end with what they do.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        width = len(self.text)
        return Measurement(min(width, _LEAST), width).with_maximum(options.max_width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(shortened(self.text, options.max_width), no_wrap=True, overflow="crop")


def shortened(text: str, width: int) -> str:
    """A text of at most `width` columns; what does not fit goes from its middle."""
    if len(text) <= width:
        return text
    if width <= len(_GAP):
        return text[:width]
    kept = width - len(_GAP)
    behind = (kept + 1) // 2
    return f"{text[: kept - behind]}{_GAP}{text[len(text) - behind :]}"


def in_bytes(count: int) -> str:
    """A number of bytes in the largest unit of 1000 that leaves a digit before the point."""
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"
