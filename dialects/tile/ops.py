"""Programs, buffers and what the two engines do with them.

Ops of a program name the op of the group that they work for by its id in `ginfo`.
"""

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    BaseAttr,
    IRDLOperation,
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects.attrs import I64_ARRAY, I64_INT, I64Array, ints
from xdsl_tpu.dialects.tile.buffer import AXES, BufferType, parse_integers

BUFFER = BaseAttr(BufferType)

TAP_NUMBERS = 11
"""Numbers that say how an axis whose filter taps are merged into the lanes is seen."""


@irdl_op_definition
class ProgramOp(IRDLOperation):
    """What a core does for the `tpu.Group` before it, in the order in which commands are issued.

        tile.program core 0 {
          %0 = tile.alloc 0 at 0 : !tile.buffer<1x3x8x8xf16, ...>
          %1 = tile.alloc 1 at 128 : !tile.buffer<1x3x8x8xf16, ...>
          tile.load 0 to %0 slice 0 step 0 on gdma
          tile.compute 1 tpu.Relu(%0) to %1 slice 0 step 1 on tiu free [256, 131072]
          tile.store 2 from %1 [0, 0, 0, 0, 0] slice 0 step 2 on gdma free [256, 131072]
        }

    Time steps never go back; slices are counted as the group counts them.
    """

    name = "tile.program"

    core = attr_def(I64_INT)
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    @classmethod
    def of(cls, core: int, ops: Sequence[Operation]) -> Self:
        """Build from the ops of the body."""
        return cls.build(attributes={"core": I64_INT.encode(core)}, regions=[Region(Block(ops))])

    def verify_(self) -> None:
        last = 0
        for op in self.body.block.ops:
            if not isinstance(op, AllocOp | StepOp):
                raise VerifyException(f"{op.name} in a tile.program")
            if isinstance(op, StepOp):
                if (step := op.step.value.data) < last:
                    raise VerifyException(f"a {op.name} of step {step} stands behind step {last}")
                last = op.step.value.data

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_characters("core")
        core = I64_INT.encode(parser.parse_integer())
        return cls.build(attributes={"core": core}, regions=[parser.parse_region()])

    def print(self, printer: Printer) -> None:
        printer.print_string(f" core {self.core.value.data} ")
        printer.print_region(self.body)


@irdl_op_definition
class AllocOp(IRDLOperation):
    """A slice of the result of op `id`, from byte `address` of every lane on."""

    name = "tile.alloc"

    id = attr_def(I64_INT)
    address = attr_def(I64_INT)
    buffer = result_def(BUFFER)

    @classmethod
    def of(cls, id: int, address: int, kind: BufferType) -> Self:
        """Build from plain values."""
        attributes = {"id": I64_INT.encode(id), "address": I64_INT.encode(address)}
        return cls.build(attributes=attributes, result_types=[kind])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        id = parser.parse_integer()
        parser.parse_characters("at")
        address = parser.parse_integer()
        parser.parse_punctuation(":")
        kind = parser.parse_type()
        if not isinstance(kind, BufferType):
            parser.raise_error(f"expected a !tile.buffer, got {kind}")
        return cls.of(id, address, kind)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.id.value.data} at {self.address.value.data} : ")
        printer.print_attribute(self.buffer.type)


class StepOp(IRDLOperation, ABC):
    """What an engine does to slice `slice` in time step `step` for op `id` of the group."""

    ENGINE: ClassVar[str]

    id = attr_def(I64_INT)
    slice = attr_def(I64_INT)
    step = attr_def(I64_INT)

    def print_when(self, printer: Printer) -> None:
        """Slice, time step and engine."""
        slice, step = self.slice.value.data, self.step.value.data
        printer.print_string(f" slice {slice} step {step} on {self.engine()}")

    def engine(self) -> str:
        """Which engine does it, and of what is kept where."""
        return self.ENGINE

    @classmethod
    def parse_when(cls, parser: Parser) -> tuple[int, int]:
        """Slice and time step, before the engine."""
        found: list[int] = []
        for word in ("slice", "step"):
            parser.parse_characters(word)
            found.append(parser.parse_integer())
        parser.parse_characters("on")
        return found[0], found[1]


def _when(id: int, slice: int, step: int, kept: int | None = None) -> dict[str, Attribute]:
    numbers = {"id": id, "slice": slice, "step": step} | ({} if kept is None else {"kept": kept})
    return {name: I64_INT.encode(number) for name, number in numbers.items()}


class TransferOp(StepOp, ABC):
    """The GDMA moves a slice; if the whole value is `kept` in local memory, from that byte of every
    lane on, the TIU copies it."""

    ENGINE: ClassVar[str] = "gdma"

    kept = opt_attr_def(I64_INT)

    def engine(self) -> str:
        return self.ENGINE if self.kept is None else f"tiu kept {self.kept.value.data}"

    @classmethod
    def parse_kept(cls, parser: Parser) -> int | None:
        """The engine, and where the value is kept if it is."""
        if parser.parse_optional_keyword(cls.ENGINE) is not None:
            return None
        parser.parse_characters("tiu")
        parser.parse_characters("kept")
        return parser.parse_integer()


@irdl_op_definition
class LoadOp(TransferOp):
    """A slice is brought in; of a pack of weights, all of them.

    `taps`, for rows and then columns: what the lanes hold where filter taps are merged into them.
    """

    name = "tile.load"

    taps = opt_attr_def(I64_ARRAY)
    targets = var_operand_def(BUFFER)

    @classmethod
    def of(
        cls,
        id: int,
        targets: Sequence[SSAValue],
        slice: int,
        step: int,
        taps: Sequence[int] = (),
        kept: int | None = None,
    ) -> Self:
        """Build from plain values."""
        attributes = _when(id, slice, step, kept)
        if taps:
            attributes["taps"] = I64_ARRAY.encode(taps)
        return cls.build(operands=[targets], attributes=attributes)

    def verify_(self) -> None:
        if not self.targets:
            raise VerifyException("a load has no buffer")
        if self.taps is not None and len(self.taps) != 2 * TAP_NUMBERS:
            raise VerifyException(f"taps are {TAP_NUMBERS} numbers each for rows and columns")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        id = parser.parse_integer()
        parser.parse_characters("to")
        targets = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, lambda: _parse_buffer(parser)
        )
        when, kept = cls.parse_when(parser), cls.parse_kept(parser)
        taps: list[int] = []
        if parser.parse_optional_keyword("taps") is not None:
            taps = parse_integers(parser) + parse_integers(parser)
        return cls.of(id, targets, *when, taps, kept)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.id.value.data} to ")
        printer.print_list(self.targets, printer.print_operand)
        self.print_when(printer)
        if self.taps is not None:
            taps = list(ints(self.taps))
            printer.print_string(f" taps {taps[:TAP_NUMBERS]} {taps[TAP_NUMBERS:]}")


@irdl_op_definition
class StoreOp(TransferOp):
    """A slice is taken to DDR, from index `start` of the whole on.

    `free`: pairs of first and last + 1 byte of every lane that it may use.
    """

    name = "tile.store"

    start = attr_def(I64_ARRAY)
    free = attr_def(I64_ARRAY)
    source = operand_def(BUFFER)

    @classmethod
    def of(
        cls,
        id: int,
        source: SSAValue,
        start: Sequence[int],
        slice: int,
        step: int,
        free: Sequence[int] = (),
        kept: int | None = None,
    ) -> Self:
        """Build from plain values."""
        lists = {"start": I64_ARRAY.encode(start), "free": I64_ARRAY.encode(free)}
        return cls.build(operands=[source], attributes={**_when(id, slice, step, kept), **lists})

    def verify_(self) -> None:
        if len(self.start) != AXES:
            raise VerifyException(f"start has {len(self.start)} numbers, not {AXES}")
        _check_regions("free", self.free)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        id = parser.parse_integer()
        parser.parse_characters("from")
        source = _parse_buffer(parser)
        start = parse_integers(parser)
        when, kept = cls.parse_when(parser), cls.parse_kept(parser)
        return cls.of(id, source, start, *when, _parse_regions(parser, "free"), kept)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.id.value.data} from ")
        printer.print_operand(self.source)
        printer.print_string(f" {list(ints(self.start))}")
        self.print_when(printer)
        _print_regions(printer, "free", self.free)


@irdl_op_definition
class ComputeOp(StepOp):
    """A slice of op `id`, which is a `kind`, is computed; `absent` operands are printed `none`.

    `own`: first and last + 1 byte of its scratch memory; `free`: pairs of what else it may use.
    """

    name = "tile.compute"
    ENGINE: ClassVar[str] = "tiu"

    kind = attr_def(StringAttr)
    absent = attr_def(I64_ARRAY)
    own = attr_def(I64_ARRAY)
    free = attr_def(I64_ARRAY)
    given = var_operand_def(BUFFER)
    out = operand_def(BUFFER)

    @classmethod
    def of(
        cls,
        id: int,
        kind: str,
        operands: Sequence[SSAValue | None],
        out: SSAValue,
        slice: int,
        step: int,
        own: Sequence[int] = (),
        free: Sequence[int] = (),
    ) -> Self:
        """Build from plain values; operands that are absent are None."""
        absent = [index for index, one in enumerate(operands) if one is None]
        lists = {"absent": absent, "own": own, "free": free}
        attributes = _when(id, slice, step) | {n: I64_ARRAY.encode(v) for n, v in lists.items()}
        given = [one for one in operands if one is not None]
        return cls.build(operands=[given, out], attributes={**attributes, "kind": StringAttr(kind)})

    @property
    def all_operands(self) -> tuple[SSAValue | None, ...]:
        """As the op has them, None where one is absent."""
        absent, given = set(ints(self.absent)), iter(self.given)
        count = len(absent) + len(self.given)
        return tuple(None if index in absent else next(given) for index in range(count))

    def verify_(self) -> None:
        count = len(self.absent) + len(self.given)
        absent = ints(self.absent)
        if len(set(absent)) < len(absent) or any(not 0 <= index < count for index in absent):
            raise VerifyException(f"of {count} operands {list(absent)} are said to be absent")
        _check_regions("own", self.own)
        _check_regions("free", self.free)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        id, kind = parser.parse_integer(), parser.parse_identifier()
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: _parse_operand(parser)
        )
        parser.parse_characters("to")
        out = _parse_buffer(parser)
        when = cls.parse_when(parser)
        parser.parse_characters(cls.ENGINE)
        own, free = _parse_regions(parser, "own"), _parse_regions(parser, "free")
        return cls.of(id, kind, operands, out, *when, own, free)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.id.value.data} {self.kind.data}(")
        printer.print_list(self.all_operands, lambda one: _print_operand(printer, one))
        printer.print_string(") to ")
        printer.print_operand(self.out)
        self.print_when(printer)
        _print_regions(printer, "own", self.own)
        _print_regions(printer, "free", self.free)


def _print_operand(printer: Printer, operand: SSAValue | None) -> None:
    if operand is None:
        printer.print_string("none")
    else:
        printer.print_operand(operand)


def _parse_buffer(parser: Parser) -> SSAValue:
    """A buffer by its name; its type stands where it is allocated, before all uses."""
    operand = parser.parse_unresolved_operand()
    known = parser.ssa_values.get(operand.operand_name, ())
    if operand.index >= len(known):
        parser.raise_error(f"%{operand.operand_name} is not allocated before it", operand.span)
    return known[operand.index]


def _parse_operand(parser: Parser) -> SSAValue | None:
    return None if parser.parse_optional_keyword("none") is not None else _parse_buffer(parser)


def _print_regions(printer: Printer, word: str, regions: I64Array) -> None:
    bounds = ints(regions)
    if bounds:
        pairs = zip(bounds[::2], bounds[1::2], strict=True)
        printer.print_string(f" {word} {' '.join(str(list(pair)) for pair in pairs)}")


def _parse_regions(parser: Parser, word: str) -> list[int]:
    found: list[int] = []
    if parser.parse_optional_keyword(word) is not None:
        more = parser.parse_optional_comma_separated_list
        while (pair := more(parser.Delimiter.SQUARE, parser.parse_integer)) is not None:
            found += pair
    return found


def _check_regions(word: str, regions: I64Array) -> None:
    bounds = ints(regions)
    pairs = zip(bounds[::2], bounds[1::2], strict=False)
    if len(bounds) % 2 or any(not 0 <= low <= high for low, high in pairs):
        raise VerifyException(
            f"{word} is {list(bounds)}, which are no pairs of first and last byte"
        )
