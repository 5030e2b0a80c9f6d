"""What is known about a module besides its text; it follows the module object, not its clones."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.lexer import Input, Span


@dataclass(frozen=True)
class SourceText:
    """A text, and where in it ops begin; ops that were made later are not known."""

    text: Input[str]
    starts: WeakKeyDictionary[Operation, int]

    def span_of(self, op: Operation) -> Span[str] | None:
        """From the first character of an op to the last one of its line."""
        start = self.starts.get(op)
        if start is None:
            return None
        return Span(start, self.text.get_end_of_line(start), self.text)


@dataclass
class ModuleInfo:
    """Where a module came from."""

    base_dir: Path | None = None
    """The directory that file names in the module are relative to."""

    weight_file: Path | None = None
    """The weight file that its text named when it was read, in use or not."""

    ends_with_blank_line: bool = False
    """Whether its text ended in an empty line, as some tools write it."""

    names_aliases: bool = False
    """Whether its text named locations by aliases, which plain xDSL cannot read."""

    is_part: bool = False
    """Whether it is a part of a network, cut out to be measured: its inputs need not be in DDR."""

    source: SourceText | None = None
    """The text it was read from."""

    notes: list[str] = field(default_factory=list[str])
    """What passes want its user to know, a line each."""

    measured: dict[Hashable, tuple[dict[Hashable, int], dict[Hashable, object]]] = field(
        default_factory=dict[Hashable, tuple[dict[Hashable, int], dict[Hashable, object]]]
    )
    """By chip, what passes have found out about kinds of ops: numbers of these, and of each what
    it costs. Modules that are made of parts of another share it."""


_INFO: WeakKeyDictionary[ModuleOp, ModuleInfo] = WeakKeyDictionary()


def module_info(module: ModuleOp) -> ModuleInfo:
    """The record of `module`, made when first asked for."""
    return _INFO.setdefault(module, ModuleInfo())
