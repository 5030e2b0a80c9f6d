"""Reading MLIR text whose aliases may be defined anywhere, as mlir-opt writes it."""

import re

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, TypeAttribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span

_DEFINITION = re.compile(r"^([#!][\w$.]+)[ \t]*=[ \t]*(\S.*)$", re.MULTILINE)

# A tensor type without strings in it; `!quant` types nest brackets up to two deep.
_TENSOR = re.compile(r'tensor<[^<>"]*(?:<[^<>"]*(?:<[^<>"]*>)?[^<>"]*>)?[^<>"]*>')


class _Aliases(dict[str, Attribute]):
    """The aliases of one text, each parsed when first used: a use may precede its definition."""

    def __init__(self, ctx: Context, source: str, name: str) -> None:
        super().__init__()
        self._ctx = ctx
        self._source = source
        self._file = name
        self._pending: dict[str, re.Match[str]] = {}
        for match in _DEFINITION.finditer(source):
            if match[1] in self._pending:
                span = Span(match.start(1), match.end(1), Input(source, name))
                raise ParseError(span, f"alias '{match[1]}' is defined twice")
            self._pending[match[1]] = match

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self._pending

    def __missing__(self, name: str) -> Attribute:
        match = self._pending.pop(name)
        parser = Parser(self._ctx, _from_here(self._source, match), self._file)
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


def _from_here(source: str, match: re.Match[str]) -> str:
    """The right-hand side alone, at its own line and column, so that errors point to it."""
    line_start = source.rfind("\n", 0, match.start(2)) + 1
    return "\n" * source.count("\n", 0, line_start) + " " * (match.start(2) - line_start) + match[2]


class MlirParser(Parser):
    """An xDSL parser for text with aliases after their uses and many equal tensor types."""

    def __init__(self, ctx: Context, source: str, name: str = "<string>") -> None:
        blanked = _DEFINITION.sub(lambda match: " " * len(match[0]), source)
        super().__init__(ctx, blanked, name)
        self._aliases = _Aliases(ctx, source, name)
        self.attribute_aliases = self._aliases
        self._tensors: dict[str, TypeAttribute] = {}

    def parse_optional_type(self) -> TypeAttribute | None:
        """As xDSL's, but a tensor type spelled like an earlier one is not read again."""
        match = _TENSOR.match(self.lexer.input.content, self.pos)
        if match is None:
            return super().parse_optional_type()
        if (known := self._tensors.get(match[0])) is not None:
            self._resume_from(match.end())
            return known
        parsed = super().parse_optional_type()
        if parsed is not None:
            self._tensors[match[0]] = parsed
        return parsed

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        module = super().parse_module(allow_implicit_module)
        self._aliases.resolve_all()
        return module
