"""What a buffer holds and how it lies over the lanes."""

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

LAYOUTS = ("aligned", "compact")
"""Rows of a channel padded to the EU width, or not."""

PLAIN = "plain"
FORMS = (PLAIN, "row", "merged", "coefficients")
"""How the lanes are filled: lane c has channel c, all have the same, a channel seen through one
filter tap each, or all coefficients of channels c, c + lanes, .."""

AXES = 5
"""Of a whole value: n, c, d, h, w."""

Ints = ArrayAttr[IntAttr]


@irdl_attr_definition
class BufferType(ParametrizedAttribute, TypeAttribute):
    """A slice in local memory.

        !tile.buffer<1x64x7x56xf16, aligned, [0, 0, 0, 7, 0] of [1, 64, 1, 56, 56]>

    (depth * n, c, h, w) elements: of the whole, whose sizes along n, c, d, h, w are given last,
    what begins at the index before. `row`, `merged` or `coefficients` stands behind where lanes are
    not filled channel by channel, and `depth 2` where it is more than 1.
    """

    name = "tile.buffer"

    shape: Ints
    element_type: Attribute
    layout: StringAttr
    start: Ints
    full: Ints
    form: StringAttr
    depth: IntAttr

    @classmethod
    def of(
        cls,
        shape: Sequence[int],
        element_type: Attribute,
        layout: str,
        start: Sequence[int],
        full: Sequence[int],
        form: str = PLAIN,
        depth: int = 1,
    ) -> Self:
        """Build from plain values."""
        return cls(
            _encoded(shape),
            element_type,
            StringAttr(layout),
            _encoded(start),
            _encoded(full),
            StringAttr(form),
            IntAttr(depth),
        )

    def verify(self) -> None:
        if len(self.shape) != 4:
            raise VerifyException(f"a buffer has 4 dimensions, not {len(self.shape)}")
        if len(self.start) != AXES or len(self.full) != AXES:
            raise VerifyException(f"start and sizes of the whole are {AXES} numbers each")
        if self.layout.data not in LAYOUTS:
            raise VerifyException(f"layout '{self.layout.data}' is none of {', '.join(LAYOUTS)}")
        if self.form.data not in FORMS:
            raise VerifyException(f"form '{self.form.data}' is none of {', '.join(FORMS)}")
        if self.depth.data < 1 or plain(self.shape)[0] % self.depth.data:
            raise VerifyException(
                f"{plain(self.shape)[0]} images and depths are no multiple of depth "
                f"{self.depth.data}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        form, depth = PLAIN, 1
        with parser.in_angle_brackets():
            shape, element_type = parser.parse_ranked_shape()
            parser.parse_punctuation(",")
            layout = parser.parse_identifier()
            parser.parse_punctuation(",")
            start = parse_integers(parser)
            parser.parse_characters("of")
            full = parse_integers(parser)
            while parser.parse_optional_punctuation(",") is not None:
                word = parser.parse_identifier()
                if word == "depth":
                    depth = parser.parse_integer()
                else:
                    form = word
        built = cls.of(shape, element_type, layout, start, full, form, depth)
        return built.parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_dimension_list(plain(self.shape))
            printer.print_string("x")
            printer.print_attribute(self.element_type)
            start, full = plain(self.start), plain(self.full)
            printer.print_string(f", {self.layout.data}, {list(start)} of {list(full)}")
            if self.form.data != PLAIN:
                printer.print_string(f", {self.form.data}")
            if self.depth.data > 1:
                printer.print_string(f", depth {self.depth.data}")


def plain(numbers: Ints) -> tuple[int, ...]:
    """The integers of a list."""
    return tuple(number.data for number in numbers)


def _encoded(numbers: Sequence[int]) -> Ints:
    return ArrayAttr(map(IntAttr, numbers))


def parse_integers(parser: AttrParser) -> list[int]:
    """`[1, 2]`."""
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
