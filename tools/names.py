"""Names and sizes on a terminal, the same in every tool."""

from collections.abc import Iterable, Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text

_LEAST = 12
"""Columns that a name needs to be told from others."""
_GAP = "..."


class Name:
    """A name in a table, shortened in the middle where the column is too narrow for it.

    Names of layers begin with the block that they are of and end with what they do. `among` are
    all names of the table: no two that differ are shortened to the same text.
    """

    def __init__(self, text: str, among: Sequence[str] = ()) -> None:
        self.text = text
        self.among = among

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        width = len(self.text)
        return Measurement(min(width, _LEAST), width).with_maximum(options.max_width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        shown = told_apart(self.among, options.max_width).get(self.text)
        shown = shown or shortened(self.text, options.max_width)
        yield Text(shown, no_wrap=True, overflow="crop")


def shortened(text: str, width: int) -> str:
    """A text of at most `width` columns; what does not fit goes from its middle."""
    if len(text) <= width:
        return text
    if width <= len(_GAP):
        return text[:width]
    kept = width - len(_GAP)
    behind = (kept + 1) // 2
    return f"{text[: kept - behind]}{_GAP}{text[len(text) - behind :]}"


def told_apart(texts: Iterable[str], width: int) -> dict[str, str]:
    """Each text in at most `width` columns, such that different ones stay different.

    Those that would be the same with their middles gone keep more of their beginnings or ends, or
    what they differ in first; where no room is left for that, they end with a number.
    """
    alike: dict[str, list[str]] = {}
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts), 1)}
    for text in numbers:
        alike.setdefault(shortened(text, width), []).append(text)
    found = {some[0]: short for short, some in alike.items() if len(some) == 1}
    for some in alike.values():
        if len(some) > 1:
            apart = _apart(some, width, set(found.values()))
            found |= apart or {text: _numbered(text, numbers[text], width) for text in some}
    return found


def _apart(texts: Sequence[str], width: int, taken: set[str]) -> dict[str, str]:
    """Texts that look the same, cut elsewhere; empty where no cut leaves what they differ in."""
    kept = width - len(_GAP)
    middle = kept // 2
    cuts = sorted(range(1, kept), key=lambda front: abs(front - middle))
    for front in cuts:
        shown = [f"{text[:front]}{_GAP}{text[len(text) - kept + front :]}" for text in texts]
        if _are_new(shown, taken):
            return dict(zip(texts, shown, strict=True))
    pairs = enumerate(zip(*texts, strict=False))
    first = next((place for place, some in pairs if len(set(some)) > 1), min(map(len, texts)))
    room = width - 2 * len(_GAP)
    for begin in range(first, max(first - room, 0), -1):
        shown = [f"{_GAP}{text[begin : begin + room]}{_GAP}" for text in texts]
        if room > 0 and _are_new(shown, taken):
            return dict(zip(texts, shown, strict=True))
    return {}


def _are_new(shown: Sequence[str], taken: set[str]) -> bool:
    return len(set(shown)) == len(shown) and taken.isdisjoint(shown)


def _numbered(text: str, number: int, width: int) -> str:
    mark = f"~{number}"
    return shortened(text, max(width - len(mark), 0)) + mark[:width]


def in_bytes(count: int) -> str:
    """A number of bytes in the largest unit of 1000 that leaves a digit before the point."""
    if count < 1e3:
        return f"{count} B"
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"
