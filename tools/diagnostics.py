"""`--verify-diagnostics`: the errors that a text announces, and those that there were.

As in mlir-opt, a comment `expected-error {{part of the message}}` announces an error on its line;
`@+1`, `@-2`, `@above`, `@below` one on another line, `@unknown` one that no line is known of, and
`expected-error-re` puts regular expressions between double braces.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ParseError

from xdsl_tpu.dialects.errors import OpsError, TpuError
from xdsl_tpu.dialects.module_info import module_info
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.tools.errors import describe
from xdsl_tpu.tools.verify import WrongOpError, wrong_ops

_EXPECTED = re.compile(
    r"expected-(?P<kind>error|warning|remark|note)(?P<re>-re)?[ \t]*"
    r"(?P<place>@(?:[+-]\d+|above|below|unknown))?[ \t]*\{\{(?P<text>.*)\}\}[ \t]*$"
)
_PLACES = {"@above": -1, "@below": 1}
_INSERTED = re.compile(r"\{\{(.*?)\}\}")


@dataclass(frozen=True)
class Diagnostic:
    """An error or a remark of a tool, and the line that it is about if that is known."""

    kind: str
    line: int | None
    message: str


@dataclass(frozen=True)
class Expected:
    """What a comment on line `written` announces; `line` None: wherever."""

    kind: str
    line: int | None
    pattern: re.Pattern[str]
    text: str
    written: int

    def covers(self, found: Diagnostic) -> bool:
        """Whether this is what was announced."""
        alike = _severity(found.kind) == _severity(self.kind) and found.line in (self.line, None)
        return alike and self.pattern.search(found.message) is not None


def _severity(kind: str) -> str:
    return "remark" if kind == "note" else kind


def announced(text: str) -> list[Expected]:
    """All announcements of a text."""
    return [
        _announcement(match, number)
        for number, line in enumerate(text.split("\n"), 1)
        if (match := _EXPECTED.search(line)) is not None
    ]


def _announcement(match: re.Match[str], written: int) -> Expected:
    place, text = match["place"] or "@+0", match["text"]
    line = None if place == "@unknown" else written + int(_PLACES.get(place) or _offset(place))
    return Expected(match["kind"], line, re.compile(_pattern(match)), text, written)


def _offset(place: str) -> int:
    return int(place[1:])


def _pattern(match: re.Match[str]) -> str:
    if not match["re"]:
        return re.escape(match["text"])
    parts = _INSERTED.split(match["text"])
    return "".join(
        f"(?:{part})" if number % 2 else re.escape(part) for number, part in enumerate(parts)
    )


def of_error(error: Exception, module: ModuleOp | None = None) -> list[Diagnostic]:
    """An error as diagnostics, one for each op that it is about; their lines are not in the text.

    A pass names the op that it cannot take: the line is that of the op of this name in the text
    `module` was read from.
    """
    match error:
        case ParseError():
            return [Diagnostic("error", error.span.get_location().line, error.msg.strip())]
        case WrongOpError():
            wrong = [error] if module is None else wrong_ops(module, "the module")
            return [_of_wrong_op(one) for one in wrong]
        case OpsError():
            found = [(str(problem), f"'{problem.tensor}'") for problem in error.problems]
            return [Diagnostic("error", _line(module, quoted), text) for text, quoted in found]
        case _:
            message = describe(error)
            return [Diagnostic("error", _line(module, message), message)]


def _of_wrong_op(wrong: WrongOpError) -> Diagnostic:
    line = None if wrong.span is None else wrong.span.get_location().line
    return Diagnostic("error", line, wrong.reason)


def _line(module: ModuleOp | None, message: str) -> int | None:
    """Where the text has the first op whose name a message quotes."""
    source = None if module is None else module_info(module).source
    if source is None:
        return None
    for op in source.starts:
        name, span = name_of(op), source.span_of(op)
        if name and span is not None and any(f"{q}{name}{q}" in message for q in "'\""):
            return span.get_location().line
    return None


def check_diagnostics(name: str, expected: Sequence[Expected], found: Sequence[Diagnostic]) -> None:
    """Raise TpuError with all that was announced and did not come, and came unannounced.

    Remarks need not be announced. One whose line nobody knows may be announced anywhere.
    """
    if problems := list(_differences(name, expected, found)):
        raise TpuError("\n".join(problems))


def _differences(
    name: str, expected: Sequence[Expected], found: Sequence[Diagnostic]
) -> Iterator[str]:
    left = list(expected)
    for one in found:
        match = next((other for other in left if other.covers(one)), None)
        if match is not None:
            left.remove(match)
        elif one.kind == "error":
            place = name if one.line is None else f"{name}:{one.line}"
            yield f"{place}: unexpected error: {one.message}"
    for other in left:
        yield f'{name}:{other.written}: expected {other.kind} "{other.text}" was not produced'
