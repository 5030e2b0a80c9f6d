"""Verifying a module so that a message names the op it is about, and where its text is."""

import re
from collections.abc import Iterator
from typing import NoReturn

from xdsl.dialects.builtin import ModuleOp, UnknownLoc
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.lexer import Span

from xdsl_tpu.dialects.module_info import module_info
from xdsl_tpu.dialects.names import name_of

_MOST_QUOTED = 96
"""Characters; source lines of IR run to thousands."""
_HEAD = re.compile(r'(?:%[\w$.:#-]+(?:, %[\w$.:#-]+)* = )?("[^"]*"|[\w.]+)?')
"""The results and the name of an op."""


class WrongOpError(VerifyException):
    """An op that does not hold together; `span` is its name in the text it was read from."""

    def __init__(self, reason: str, span: Span[str] | None) -> None:
        super().__init__(reason if span is None else pointing_at(span, reason))
        self.reason, self.span = reason, span


def verify(module: ModuleOp, what: str) -> None:
    """Verify a module called `what`; raises WrongOpError naming the first op that is wrong."""
    try:
        module.verify()
    except VerifyException as error:
        blame(module, error, what)


def blame(module: ModuleOp, error: VerifyException, what: str) -> NoReturn:
    """Raise the verifier's error again, naming the operation it came from."""
    for wrong in wrong_ops(module, what):
        raise wrong from error
    raise error


def wrong_ops(module: ModuleOp, what: str) -> Iterator[WrongOpError]:
    """What every op that does not hold together has to say, in the order of the module."""
    for op in module.walk():
        try:
            op.verify(verify_nested_ops=False)
        except VerifyException as own:
            name = name_of(op)
            place = "" if name is None and isinstance(op.location, UnknownLoc) else f' "{name}"'
            yield WrongOpError(
                f"{what} is wrong: '{op.name}'{place}: {own}", _name_in_text(module, op)
            )


def _name_in_text(module: ModuleOp, op: Operation) -> Span[str] | None:
    source = module_info(module).source
    line = None if source is None else source.span_of(op)
    if line is None:
        return None
    head = _HEAD.match(line.input.content, line.start)
    if head is None or head[1] is None:
        return line
    return Span(head.start(1), head.end(1), line.input)


def pointing_at(span: Span[str], message: str) -> str:
    """`file:line:col: message`, the line, as far as it is short, and a mark under the span."""
    begin = span.input.get_start_of_line(span.start)
    line = span.input.content[begin : span.input.get_end_of_line(span.start)]
    before = span.start - begin
    text = f"{span.get_location()}: {message}"
    if before > _MOST_QUOTED:
        return text
    shown = line if len(line) <= _MOST_QUOTED else f"{line[:_MOST_QUOTED]} ..."
    width = max(1, min(span.end - span.start, len(shown) - before))
    return f"{text}\n{shown}\n{' ' * before}{'^' * width}"
