"""Tokens of one line of assembly, and errors that say where."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NoReturn

from xdsl_tpu.dialects.errors import TpuError

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t]+|//.*)
  | (?P<string>"(?:[^"\\]|\\.)*")
  | (?P<number>0[xX][0-9a-fA-F]+|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
  | (?P<word>\.?[A-Za-z_]\w*(?:\.\w+)*)
  | (?P<mark>[\[\]{}@:=,])
    """,
    re.VERBOSE | re.ASCII,
)


class AsmError(TpuError):
    """Text that is no program, as `file:line:column: message`."""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a line; `kind` is string, number, word, mark or end."""

    kind: str
    text: str
    column: int


class Line:
    """The tokens of a line, taken one after the other."""

    def __init__(self, text: str, number: int = 1, file: str = "<string>") -> None:
        self.number = number
        self.file = file
        self._tokens = list(self._split(text))
        self._next = 0

    def _split(self, text: str) -> Iterable[Token]:
        position = 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                where = Token("end", "", position + 1)
                self.fail(where, f"unexpected character {text[position]!r}")
            if match.lastgroup != "space":
                yield Token(str(match.lastgroup), match.group(), position + 1)
            position = match.end()
        yield Token("end", "", len(text.rstrip()) + 1)

    def fail(self, token: Token, message: str) -> NoReturn:
        """Raise an AsmError that points at a token."""
        raise AsmError(f"{self.file}:{self.number}:{token.column}: {message}")

    @property
    def ended(self) -> bool:
        """Whether all of the line has been taken."""
        return self.peek.kind == "end"

    @property
    def peek(self) -> Token:
        """The next token, which stays."""
        return self._tokens[self._next]

    def take(self) -> Token:
        """The next token; the end of the line can be taken again and again."""
        token = self.peek
        self._next += token.kind != "end"
        return token

    def accept(self, text: str) -> bool:
        """Take the next token if it is this mark or word."""
        matches = self.peek.kind in ("mark", "word") and self.peek.text == text
        self._next += matches
        return matches

    def expect(self, text: str) -> Token:
        """Take this mark; anything else is an error."""
        token = self.take()
        if token.kind != "mark" or token.text != text:
            self.fail(token, f"expected '{text}', found {describe(token)}")
        return token

    def word(self, what: str) -> Token:
        """Take a word; `what` names it in the error."""
        token = self.take()
        if token.kind != "word":
            self.fail(token, f"expected {what}, found {describe(token)}")
        return token

    def integer(self) -> int:
        """Take a whole number that is not negative."""
        token = self.take()
        try:
            value = int(token.text, 0) if token.kind == "number" else -1
        except ValueError:  # 1.5, or 010
            value = -1
        if value < 0:
            self.fail(token, f"expected a whole number, 0 or above, found {describe(token)}")
        return value

    def integers(self, close: str) -> list[int]:
        """Take `1, 2, 3` up to and with the closing mark; the opening one is taken already."""
        if self.accept(close):
            return []
        values = [self.integer()]
        while not self.accept(close):
            if self.peek.text != ",":
                self.fail(self.peek, f"expected ',' or '{close}', found {describe(self.peek)}")
            self.take()
            values.append(self.integer())
        return values

    def string(self, what: str) -> str:
        """Take a quoted text, with the escapes of JSON."""
        token = self.take()
        if token.kind != "string":
            self.fail(token, f"expected {what} in quotes, found {describe(token)}")
        try:
            return str(json.loads(token.text))
        except ValueError:
            self.fail(token, f"{what} has an escape that is not known: {token.text}")


def describe(token: Token) -> str:
    """The token for a message."""
    return "the end of the line" if token.kind == "end" else f"'{token.text}'"


def suggestion(word: str, known: Sequence[str]) -> str:
    """`; did you mean ...?`, or nothing when no known name is near."""
    near = get_close_matches(word, known, n=3, cutoff=0.6)
    quoted = " or ".join(f"'{name}'" for name in near)
    return f"; did you mean {quoted}?" if near else ""
