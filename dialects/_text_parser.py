"""Reading MLIR text whose aliases may be defined anywhere, as mlir-opt writes it."""

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import NamedTuple
from weakref import WeakKeyDictionary

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    FusedLoc,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
    NoneAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, TypeAttribute
from xdsl.parser import Parser, ParserState
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Input, Position, Span, Token
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING,
    MLIRLexer,
    MLIRToken,
    MLIRTokenKind,
)

from xdsl_tpu.dialects.module_info import SourceText

_DEFINITION = re.compile(r"^([#!][\w$.]+)[ \t]*=[ \t]*(\S.*)$", re.MULTILINE)

# Spellings that mean the same wherever they stand and that a module repeats all the time: no
# aliases and no strings in them. `!quant` element types nest brackets up to two deep.
# Possessive quantifiers give up at once on a bracket that is never closed.
_INSIDE = r'[^<>"#]*+'
_NESTED = rf"(?:<{_INSIDE}(?:<{_INSIDE}>)?+{_INSIDE}>)?+"
_TENSOR = re.compile(f"tensor<{_INSIDE}{_NESTED}{_INSIDE}>")
_VALUE = re.compile(r"(?:true|false|-?\d+(?: : s?i\d+)?|-?\d+\.\d+(?:[eE][-+]\d+)? : f64)(?=[,}>])")
_INTEGERS = re.compile(r"\[(?:-?\d+(?:, -?\d+)*)?\]")
_ENUM = re.compile(r"#tpu<\w+ \w+>")


_ALONE: Mapping[str, MLIRTokenKind] = {
    spelling: kind
    for spelling, kind in KIND_BY_PUNCTUATION_SPELLING.items()
    if len(spelling) == 1 and spelling not in "-{"  # `->` and `{-#` begin with these
}
"""Characters that are a token, whatever follows them."""


class _Lexer(MLIRLexer):
    """xDSL's, in time linear in the length of a string literal, and quick with single characters.

    xDSL makes a table of these for each token, which took a third of the time of reading a file.

    Where the closing quote is missing, xDSL 0.74's expression tries every way to divide the literal
    into runs of characters, which for a line of IR never ends. Possessive quantifiers match the
    same literals and divide them one way only.
    """

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    _whitespace_regex = re.compile(r"(?:\s++|//[^\n]*+)*+", re.ASCII)

    def lex(self) -> MLIRToken:
        self._consume_whitespace()
        start = self.pos
        kind = _ALONE.get(self.input.content[start : start + 1])
        if kind is None:
            return super().lex()
        self.pos = start + 1
        return Token(kind, Span(start, self.pos, self.input))

    def _lex_string_literal(self, start_pos: Position) -> MLIRToken:
        try:
            return super()._lex_string_literal(start_pos)
        except ParseError as error:
            message = "this string has no closing quote on its line, or an unknown escape in it"
            raise ParseError(error.span, message) from None


class _LinearParser(Parser):
    """An xDSL parser that reads with `_Lexer`."""

    def __init__(self, ctx: Context, source: str, name: str) -> None:
        super().__init__(ctx, "", name)
        self._parser_state = ParserState(_Lexer(Input(source, name)))

    def _parse_location(self) -> LocationAttr:
        """As xDSL's, and fused locations with metadata: `fused<"pass">[#loc1, #loc2]`."""
        if self.parse_optional_keyword("fused") is None:
            return super()._parse_location()
        metadata: Attribute = NoneAttr()
        if self.parse_optional_punctuation("<") is not None:
            metadata = self.parse_attribute()
            self.parse_punctuation(">")
        parts = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
        return FusedLoc(ArrayAttr[Attribute](parts), metadata)


class _Definition(NamedTuple):
    """Where an alias is defined, and how many lines are in front of that."""

    match: re.Match[str]
    lines: int


class _Aliases(dict[str, Attribute]):
    """The aliases of one text, each parsed when first used: a use may precede its definition."""

    def __init__(self, ctx: Context, source: str, name: str) -> None:
        super().__init__()
        self._ctx = ctx
        self._file = name
        self._pending: dict[str, _Definition] = {}
        lines = seen = 0
        for match in _DEFINITION.finditer(source):
            lines += source.count("\n", seen, match.start())
            seen = match.start()
            if match[1] in self._pending:
                span = Span(match.start(1), match.end(1), Input(source, name))
                raise ParseError(span, f"alias '{match[1]}' is defined twice")
            self._pending[match[1]] = _Definition(match, lines)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self._pending

    def __missing__(self, name: str) -> Attribute:
        match, lines = self._pending.pop(name)
        # The right-hand side alone, at its own line and column, so that errors point to it.
        text = "\n" * lines + " " * (match.start(2) - match.start()) + match[2]
        parser = _LinearParser(self._ctx, text, self._file)
        parser.attribute_aliases = self
        value = parser.parse_type() if name.startswith("!") else parser.parse_attribute()
        if parser.pos != match.end(2) - match.start(2) + len(parser.lexer.input) - len(match[2]):
            parser.raise_error(f"unexpected text after the definition of alias '{name}'")
        self[name] = value
        return value

    def resolve_all(self) -> None:
        """Parse what nothing used, so that a mistake in it is found."""
        for name in list(self._pending):
            if name in self._pending:
                self[name]


class MlirParser(_LinearParser):
    """An xDSL parser for text with aliases after their uses and many equal tensor types."""

    def __init__(self, ctx: Context, source: str, name: str = "<string>") -> None:
        blanked = _DEFINITION.sub(lambda match: " " * len(match[0]), source)
        super().__init__(ctx, blanked, name)
        self._aliases = _Aliases(ctx, source, name)
        self.attribute_aliases = self._aliases
        self._tensors: dict[str, TypeAttribute] = {}
        self._literals: dict[str, Attribute] = {"[]": ArrayAttr(())}
        self._elements: dict[str, Attribute] = {}
        self.source = SourceText(Input(source, name), WeakKeyDictionary())

    @property
    def names_aliases(self) -> bool:
        """Whether the text defines aliases of locations."""
        return any(isinstance(value, LocationAttr) for value in self._aliases.values())

    def parse_operation(self) -> Operation:
        """As xDSL's; where the op begins is remembered."""
        start = self._current_token.span.start
        op = super().parse_operation()
        self.source.starts[op] = start
        return op

    def parse_optional_type(self) -> TypeAttribute | None:
        """As xDSL's, but a tensor type spelled like an earlier one is not read again."""
        start = self.pos
        match = _TENSOR.match(self.lexer.input.content, start)
        if match is None:
            with self._verified(start):
                return super().parse_optional_type()
        if (known := self._tensors.get(match[0])) is not None:
            self._resume_from(match.end())
            return known
        parsed = super().parse_optional_type()
        if parsed is not None and self._consumed_to(match.end()):
            self._tensors[match[0]] = parsed
        return parsed

    def parse_optional_attribute(self) -> Attribute | None:
        """As xDSL's, but numbers, lists of integers and enum cases are read only once."""
        source, start = self.lexer.input.content, self.pos
        match = self._literal(source, start)
        if match is None:
            with self._verified(start):
                return super().parse_optional_attribute()
        if (known := self._literals.get(match[0])) is not None:
            self._resume_from(match.end())
            return known
        if source[start] == "[":
            parsed = ArrayAttr(map(self._integer, match[0][1:-1].split(", ")))
            self._resume_from(match.end())
        else:
            parsed = super().parse_optional_attribute()
        if parsed is not None and self._consumed_to(match.end()):
            self._literals[match[0]] = parsed
        return parsed

    @contextmanager
    def _verified(self, start: int) -> Generator[None]:
        """Make an attribute that was read but does not hold together an error where it stands."""
        try:
            yield
        except VerifyException as error:
            self.raise_error(str(error), start)

    @staticmethod
    def _literal(source: str, start: int) -> re.Match[str] | None:
        first = source[start : start + 1]
        if first == "[":
            return _INTEGERS.match(source, start)
        if first == "#":
            return _ENUM.match(source, start)
        return _VALUE.match(source, start)

    def _integer(self, text: str) -> Attribute:
        """An i64 element of a list."""
        if (known := self._elements.get(text)) is None:
            known = self._elements[text] = IntegerAttr(int(text), i64)
        return known

    def _consumed_to(self, end: int) -> bool:
        """Whether the text up to `end`, and only blanks after it, has been read."""
        return not self.lexer.input.content[end : self.pos].strip() and self.pos >= end

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        module = super().parse_module(allow_implicit_module)
        self._aliases.resolve_all()
        return module
