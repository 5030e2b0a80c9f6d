"""An op's kernel on slices without a program: where operands and results would lie, and an emitter
that only counts.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import prod
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter, Operand
from xdsl_tpu.backend.emitter.queues import Span, T
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.kernels.int8.coefficients import layout_of
from xdsl_tpu.backend.kernels.lanes import View
from xdsl_tpu.backend.kernels.support import LocalMemory, dtype_of
from xdsl_tpu.backend.local.context import Form, LocalContext, LocalValue
from xdsl_tpu.backend.local.forms import Arrangement, has_coefficients, row_form
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.backend.local.views import merged_views
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.tensor import DType, LocalTensor, Shape4, aligned, ceil_div, compact
from xdsl_tpu.backend.timing import tiu_cycles, transfer
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import RankedTensor
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, LocalGen, MergesTaps, Ncdhw
from xdsl_tpu.dialects.tpu.local import LocalReshape

NOWHERE = Ncdhw(0, 0, 0, 0, 0)

Sizes = Callable[[SSAValue], Ncdhw]
"""The sizes of an operand's or result's slice, or where it starts in the whole."""

Places = tuple[Sizes, Sizes]
"""Sizes and starts of slices."""


_NONE = Program(name="", chip="", quantize="")
"""The program of emitters that only count, which stays empty."""


class DryEmitter(Emitter):
    """Collects commands without the ids and dependencies that a program needs.

    Commands for places that are alike are made once and counted as often as they would be made.
    More than `most` raise DoesNotFit.
    """

    def __init__(self, chip: Chip, most: int | None = None) -> None:
        super().__init__(chip, _NONE)
        self._most = most
        self._commands: list[tuple[Command, int]] = []
        self._times = 1
        self.local_bytes = 0
        """Of every lane, from the start on, up to where the TIU has written."""

    @contextmanager
    def layer(self, name: str, op: str, zeros: float = 0.0) -> Generator[None]:
        """Layers are of programs."""
        yield

    def alike(self, places: Sequence[T]) -> Iterator[T]:
        """The first place, for which commands count as often as there are places."""
        outer = self._times
        self._times = outer * len(places)
        yield from places[:1]
        self._times = outer

    def _issue(
        self, form: str, fields: dict[str, int], out: LocalTensor, *operands: Operand | None
    ) -> None:
        self.local_bytes = max(self.local_bytes, out.span(self.chip)[1])
        self.issue(form, fields, (), ())

    def issue(
        self, form: str, fields: dict[str, int], reads: Sequence[Span], writes: Sequence[Span]
    ) -> None:
        """Append the command."""
        if self._most is not None and len(self._commands) >= self._most:
            raise DoesNotFit(f"more than {self._most} commands")
        self._commands.append((Command(self.forms[form], fields), self._times))

    @property
    def tiu_cycles(self) -> int:
        """What all commands of the TIU take."""
        made = (m for m in self._commands if m[0].engine is Engine.TIU)
        return sum(times * tiu_cycles(command, self.chip) for command, times in made)

    @property
    def gdma_cycles(self) -> int:
        """What all transfers take."""
        made = (m for m in self._commands if m[0].engine is Engine.GDMA)
        return sum(times * transfer(command, self.chip).cycles for command, times in made)


def context_of(
    op: Operation,
    places: Places,
    kind: GroupType,
    emitter: Emitter,
    scratch: LocalMemory,
) -> LocalContext:
    """The op on slices at addresses that only differ; views share theirs."""
    chip = emitter.chip
    operands: list[LocalValue | None] = []
    for index, operand in enumerate(op.operands):
        if isinstance(operand.type, TensorType):
            address = 0 if _is_view(op, places) else chip.local_bytes // 4 + chip.eu_bytes * index
            operands.append(operand_slice(op, index, places, kind, chip, address))
        else:
            operands.append(None)
    result = op.results[0]
    out = value_slice(result, places, of_value(result, kind, chip.lanes), chip, 0)
    return LocalContext(chip, emitter, op, tuple(operands), out, scratch)


def _is_view(op: Operation, places: Places) -> bool:
    """Whether the result is the operand's memory: of an operand with more rows it is a copy."""
    if not isinstance(op, LocalReshape):
        return False
    given, made = (prod(places[0](value)) for value in (op.operands[0], op.results[0]))
    return given == made


def operand_slice(
    op: Operation,
    index: int,
    places: Places,
    kind: GroupType,
    chip: Chip,
    address: int,
    by_channel: bool = False,
    repeats: bool = False,
) -> LocalValue:
    """An operand's slice at an address, in the form that the op wants.

    `by_channel`: it is of a weight and has the parts of some channels of the result. `repeats`: it
    is of a value of one channel that every lane needs.
    """
    value = op.operands[index]
    full, size = of_value(value, kind, chip.lanes), places[0](value)
    row = Arrangement(Form.ROW) if repeats else row_form(op, index, kind, chip.lanes)
    if row is not None and row.parameter:
        elements = full.n * full.c * full.d * full.h * full.w
        full = size = Ncdhw(1, 1, 1, 1, elements)
    if row is not None:
        shape: Shape4 = (size.n * size.d, chip.lanes, size.h, size.w)
        tensor = aligned(chip, address, shape, element_of(value))
        start = NOWHERE if row.parameter else places[1](value)
        return LocalValue(tensor, start, full, Form.ROW)
    if isinstance(op, MergesTaps) and index == 0 and any(op.merged_taps()):
        return merged_slice(value, op, places, chip, address)
    if has_coefficients(op, index) and (by_channel or size != full):
        shape = (1, size.c, 1, coefficient_bytes(op, size.c, chip))
        tensor = compact(chip, address, shape, element_of(value))
        return LocalValue(tensor, places[1](value), full, Form.COEFFICIENTS)
    return value_slice(value, places, full, chip, address, eu_align=not _is_dense(op, index))


def coefficient_bytes(op: Operation, channels: int, chip: Chip) -> int:
    """Bytes for each of some whole lane groups of channels, or the last ones, of an op whose
    coefficients are merged (`has_coefficients`)."""
    assert isinstance(op, tpu.Conv2DOp)
    part = replace(layout_of(op, chip), channels=channels)
    return ceil_div(part.lane_bytes, part.places)


def _is_dense(op: Operation, index: int) -> bool:
    """Whether an operand is a weight that lies without alignment.

    Of an op that is priced by itself, weights are arguments of its block.
    """
    owner = op.operands[index].owner
    if isinstance(owner, Operation) and not (
        isinstance(owner, top.WeightOp) and owner.allow_split is None
    ):
        return False
    return isinstance(op, LocalGen) and index in op.compact_weights()


def merged_slice(
    value: SSAValue, reader: MergesTaps, places: Places, chip: Chip, address: int
) -> LocalValue:
    """The operand of an op that merges taps, or what that is made from."""
    rows, columns = taps_of(reader, places, chip)
    full = of_value(value, GroupType.NORMAL, chip.lanes)
    lanes = full.c * rows.taps * columns.taps
    shape: Shape4 = (places[0](value).n, lanes, rows.count, columns.count)
    tensor = aligned(chip, address, shape, element_of(value))
    return LocalValue(tensor, places[1](value), full, Form.MERGED)


def taps_of(reader: MergesTaps, places: Places, chip: Chip) -> tuple[View, View]:
    """What the lanes of the operand of an op that merges taps hold."""
    sizes, starts = (place(reader.results[0]) for place in places)
    return merged_views(reader, starts, sizes, chip.lanes)


def value_slice(
    value: SSAValue,
    places: Places,
    full: Ncdhw,
    chip: Chip,
    address: int,
    eu_align: bool = True,
) -> LocalValue:
    """A slice of a value at an address."""
    size = places[0](value)
    shape: Shape4 = (size.n * size.d, size.c, size.h, size.w)
    place = aligned if eu_align else compact
    tensor = place(chip, address, shape, element_of(value))
    return LocalValue(tensor, places[1](value), full, depth=size.d)


def element_of(value: SSAValue) -> DType:
    """The machine's element type of a value."""
    return dtype_of(cast(RankedTensor, value.type).element_type)
