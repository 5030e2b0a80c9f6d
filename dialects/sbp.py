"""The `sbp` dialect: how OneFlow spreads a tensor over devices. Attributes only.

`#sbp.parallel<[] -> [#sbp.B, #sbp.S<0>]>` gives, for every operand and then every result, one
entry: split along an axis (S), broadcast (B) or partial sum (P), or a list of those, one for each
dimension of the device hierarchy.
"""

from collections.abc import Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, IntAttr
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


@irdl_attr_definition
class SplitAttr(ParametrizedAttribute):
    """Cut along one axis: `#sbp.S<0>`."""

    name = "sbp.S"
    axis: IntAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False)),)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.axis.data}>")


@irdl_attr_definition
class BroadcastAttr(ParametrizedAttribute):
    """The same on every device: `#sbp.B`."""

    name = "sbp.B"


@irdl_attr_definition
class PartialSumAttr(ParametrizedAttribute):
    """A part of a sum on every device: `#sbp.P`."""

    name = "sbp.P"


@irdl_attr_definition
class AnyAttr(ParametrizedAttribute):
    """However it comes: `#sbp.Any`."""

    name = "sbp.Any"


Entries: TypeAlias = ArrayAttr[Attribute]
_ONE = (SplitAttr, BroadcastAttr, PartialSumAttr, AnyAttr)


@irdl_attr_definition
class ParallelSignatureAttr(ParametrizedAttribute):
    """How operands and results are spread: `#sbp.parallel<[..] -> [..]>`."""

    name = "sbp.parallel"
    inputs: Entries
    outputs: Entries

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            inputs = _parse_entries(parser)
            parser.parse_punctuation("->")
            return (inputs, _parse_entries(parser))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.inputs)
            printer.print_string(" -> ")
            printer.print_attribute(self.outputs)


def _parse_entries(parser: AttrParser) -> Entries:
    start = parser.pos
    parsed = parser.parse_attribute()
    if not isinstance(parsed, ArrayAttr):
        parser.raise_error("expected a list of sbp attributes", start)
    entries = cast(Entries, parsed)
    for entry in entries:
        nested = cast(Entries, entry).data if isinstance(entry, ArrayAttr) else (entry,)
        if wrong := [one for one in nested if not isinstance(one, _ONE)]:
            parser.raise_error(f"expected #sbp.S<axis>, #sbp.B or #sbp.P, got {wrong[0]}", start)
    return entries


Sbp = Dialect("sbp", [], [*_ONE, ParallelSignatureAttr])
"""The dialect."""
