"""An op by itself, from DDR to DDR: its kernel works on a slice while others are moved.

How the result may be cut, and what a slice needs of the operands, the op says itself (`LocalGen`),
as it does for groups. Cuts are compared by the cycles of the commands that they would issue.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from xdsl.dialects.builtin import IntegerAttr, NoneAttr, TensorType, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.shares import parts_of, take
from xdsl_tpu.backend.kernels.support import KernelContext, LocalMemory, pipelined, where
from xdsl_tpu.backend.kernels.tiling import Piece, cut, pipeline_cycles, steps_of
from xdsl_tpu.backend.local.context import Form, LocalKernel, LocalValue
from xdsl_tpu.backend.local.cuts import Cut, Place
from xdsl_tpu.backend.local.dry import (
    NOWHERE,
    DryEmitter,
    Sizes,
    operand_slice,
    taps_of,
    value_slice,
)
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.backend.tensor import ceil_div
from xdsl_tpu.backend.tile.emit import issue
from xdsl_tpu.backend.tile.program import Buffer, Compute, Load, Step, Store, TileProgram
from xdsl_tpu.backend.tile.verify import check
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.lane_view import Viewed
from xdsl_tpu.dialects.interfaces.local_gen import (
    Axis,
    GroupType,
    LocalGen,
    MergesTaps,
    Ncdhw,
    Part,
    Range,
)
from xdsl_tpu.dialects.interfaces.shape import Shape

KIND = GroupType.NORMAL
CUT: tuple[Axis, ...] = ("n", "c", "h", "w")
"""The axes along which a result is cut; rows stay whole where that fits, and so do weights."""

WORSE = 1.1
"""Fewer rows are not looked at once some take this many times the best."""

GAIN = 0.995
"""Nor fewer channels or images with all their rows once some take more than this share of what
more of them take."""


def in_slices(
    kernel: LocalKernel, view: Callable[[Operation], Viewed] | None = None
) -> Callable[[KernelContext, Operation], None]:
    """The kernel of an op by itself, made of the one that it has on slices.

    `view` gives shapes that lie better in the lanes than the op's own.
    """

    def alone(context: KernelContext, op: Operation) -> None:
        chip = context.chip
        shapes = view(op) if view is not None else Viewed((None,) * len(op.operands), ())
        problem = _Problem.of(op, shapes, kernel)
        steps, by_channel = _choose(problem, chip, context.cores)
        if not steps:
            raise DoesNotFit(f"{where(op)}: local memory is too small for the smallest slice of it")
        seen = problem.op([_address(value) for value in (*op.operands, *op.results)])
        found = _cut(seen, steps, by_channel, chip)
        assert found is not None
        builder = _Builder(seen, kernel, found, chip)
        count = len(builder.places)
        parts = parts_of(context, count, 1) or (Piece(0, count),)
        programs = tuple(builder.program(core, part) for core, part in enumerate(parts))
        check(programs, chip)
        program = programs[0] if len(parts) == 1 else take(context, programs)
        for step in program.steps:
            issue(context.emitter, KIND, step)

    return alone


@dataclass(frozen=True)
class _Problem:
    """An op under the shapes that it is seen in, wherever its operands and results lie."""

    kind: type[Operation]
    attributes: tuple[tuple[str, Attribute], ...]
    types: tuple[Attribute, ...]
    kernel: LocalKernel

    @classmethod
    def of(cls, op: Operation, view: Viewed, kernel: LocalKernel) -> "_Problem":
        """An op of one result, by a view of it or as it stands."""
        shapes = (*view.operands, view.result or None)
        values = zip((*op.operands, *op.results), shapes, strict=True)
        types = tuple(_type(value.type, shape) for value, shape in values)
        attributes = {**op.attributes, **view.attributes}
        return cls(type(op), tuple(sorted(attributes.items())), types, kernel)

    def op(self, addresses: Sequence[Attribute]) -> LocalGen:
        """The op by itself; its operands are arguments of a block."""
        pairs = zip(self.types, addresses, strict=True)
        types = [
            TensorType(kind.element_type, kind.get_shape(), at)
            if isa(kind, TensorType[Attribute])
            else kind
            for kind, at in pairs
        ]
        operands = Block(arg_types=types[:-1]).args
        made = self.kind.create(
            operands=operands, result_types=types[-1:], attributes=dict(self.attributes)
        )
        assert isinstance(made, LocalGen)
        return made


def _address(value: SSAValue) -> Attribute:
    """Where a value lies, as its type says."""
    kind = value.type
    return kind.encoding if isa(kind, TensorType[Attribute]) else NoneAttr()


def _type(kind: Attribute, shape: Shape | None) -> Attribute:
    """A type without an address, in another shape if one is given."""
    if not isa(kind, TensorType[Attribute]):
        return kind
    return TensorType(kind.element_type, kind.get_shape() if shape is None else shape)


@lru_cache(maxsize=1 << 10)
def _choose(problem: _Problem, chip: Chip, cores: int) -> tuple[tuple[int, ...], bool]:
    """The sizes of slices along n, c, h and w that are done first, and whether weights are cut,
    too; none when nothing fits."""
    search = _Search(problem, chip, cores)
    for width in search.steps[3]:
        search.all_of(width)
        if search.best is not None:
            return search.best.sizes, search.best.by_channel
    return (), False


@dataclass(frozen=True, slots=True)
class _Choice:
    """Sizes of slices, whether weights are cut, too, and what that takes."""

    sizes: tuple[int, ...]
    by_channel: bool
    cycles: int


class _Search:
    """For the cheapest sizes of slices."""

    def __init__(self, problem: _Problem, chip: Chip, cores: int) -> None:
        self.op = problem.op([IntegerAttr(chip.ddr_base, i64)] * len(problem.types))
        self.kernel, self.chip, self.cores = problem.kernel, chip, cores
        full = of_value(self.op.results[0], KIND, chip.lanes)
        self.steps = [_steps(self.op, axis, getattr(full, axis), chip) for axis in CUT]
        merges = isinstance(self.op, MergesTaps) and any(self.op.merged_taps())
        # Each slice is loaded by many commands where taps are merged into its channels.
        self.gain = GAIN if merges else 1
        self.best: _Choice | None = None

    def all_of(self, width: int) -> None:
        """Try all sizes with so many columns."""
        images, channels, rows, _ = self.steps
        for n, c in product(images, channels):
            before = self.best
            # Channels are outside of rows: only for several images are weights loaded again.
            cuts_weights = c < channels[0] and bool(self.op.channel_weights())
            for by_channel in (False, True) if cuts_weights and n < images[0] else (cuts_weights,):
                self._rows(n, c, width, by_channel)
            if before is None or self.best is None or before.sizes[2] < rows[0]:
                continue
            if self.best.cycles > GAIN * before.cycles:
                break

    def _rows(self, n: int, c: int, width: int, by_channel: bool) -> None:
        for h in self.steps[2]:
            found = _cut(self.op, (n, c, h, width), by_channel, self.chip)
            if found is None:
                continue
            try:
                cycles = _cycles(self.op, self.kernel, found, self.chip, self.cores)
            except DoesNotFit:
                continue
            if self.best is None or cycles < self.gain * self.best.cycles:
                self.best = _Choice((n, c, h, width), by_channel, cycles)
            elif cycles > WORSE * self.best.cycles:
                break


def _steps(op: LocalGen, axis: Axis, size: int, chip: Chip) -> list[int]:
    """Sizes of slices along an axis, from all of it to the least, each about half the one before;
    of rows, which share what windows read, all that are worth trying."""
    if not op.may_split(axis, KIND):
        return [size]
    unit = chip.lanes if axis == "c" else 1
    steps = steps_of(size, unit)
    if axis == "h":
        return list(steps)
    found = [size]
    for step in steps:
        if 2 * step <= found[-1] + unit or step == steps[-1] < found[-1]:
            found.append(step)
    return found


def _cut(op: LocalGen, steps: Sequence[int], by_channel: bool, chip: Chip) -> Cut | None:
    """The result in parts of these sizes, and what each needs; None when it cannot be cut so."""
    result: SSAValue = op.results[0]
    given = [v for v in (*op.operands, result) if isinstance(v.type, TensorType)]
    whole = {value: of_value(value, KIND, chip.lanes) for value in given}
    along = [_parts(axis, whole[result], step) for axis, step in zip(CUT, steps, strict=True)]
    parts: dict[SSAValue, tuple[tuple[Range, ...], ...]] = {
        result: tuple(tuple((p.start, p.length) for p in ps) for ps in along)
    }
    cut_weights = _cut_weights(op, whole) if by_channel and len(along[1]) > 1 else ()
    for index, operand in enumerate(op.operands):
        if operand not in whole:
            continue
        needed = tuple(_needed(op, index, ps, whole[operand]) for ps in along)
        if () in needed:
            return None
        if index in cut_weights:
            needed = (needed[0], parts[result][1], *needed[2:])
        parts[operand] = needed
    return Cut(result, parts, whole, cut_weights)


def _cut_weights(op: LocalGen, whole: Mapping[SSAValue, Ncdhw]) -> tuple[int, ...]:
    """Weights of which a slice has its channels alone; all of what has one element for each."""
    given = ((index, whole.get(op.operands[index])) for index in op.channel_weights())
    return tuple(index for index, size in given if size is not None and size.h * size.w > 1)


def _parts(axis: Axis, whole: Ncdhw, step: int) -> list[Part]:
    size: int = getattr(whole, axis)
    return [Part(axis, piece.start, piece.size, size, KIND) for piece in cut(size, step)]


def _parameters(op: LocalGen) -> tuple[int, ...]:
    """Operands that every slice needs whole."""
    return (*op.compact_weights(), *op.row_operands())


def _needed(op: LocalGen, index: int, parts: Sequence[Part], whole: Ncdhw) -> tuple[Range, ...]:
    """What parts of the result along one axis need of an operand; nothing when one needs none."""
    size = getattr(whole, parts[0].axis)
    if len(parts) == 1 or index in _parameters(op):
        return ((0, size),) * len(parts)
    found = [op.backward(part, index, size) for part in parts]
    return tuple(one for one in found if one is not None) if None not in found else ()


def _cycles(op: LocalGen, kernel: LocalKernel, found: Cut, chip: Chip, cores: int) -> int:
    """What a cut takes the core that does most: of slices of one size that load as much, one is
    run dry."""
    builder = _Builder(op, kernel, found, chip)
    inner = builder.places.index(found.inner)
    places = builder.places[: ceil_div(len(builder.places), cores)]
    if len(builder.places) < cores:
        places = builder.places
    kinds = [(found.sizes(place), builder.news(number)) for number, place in enumerate(places)]
    known: dict[tuple[Place, tuple[int, ...]], tuple[int, int, int]] = {}
    for number in (inner, *range(len(places))):
        if (kind := kinds[number]) not in known:
            load = _dry(builder.load(number, kind[1]), chip).gdma_cycles
            rest = _dry((builder.compute(number, 0), builder.store(number)), chip)
            known[kind] = load, rest.tiu_cycles, rest.gdma_cycles
    first = _dry(builder.load(inner, builder.held), chip).gdma_cycles
    return first + pipeline_cycles((known[kind] for kind in kinds), len(places))


def _dry(steps: Iterable[Step], chip: Chip) -> DryEmitter:
    """The commands of some steps, only counted."""
    emitter = DryEmitter(chip)
    for step in steps:
        issue(emitter, KIND, step)
    return emitter


class _Builder:
    """What is done with each slice, and where everything lies: two buffers of what changes from
    slice to slice, one of the rest."""

    def __init__(self, op: LocalGen, kernel: LocalKernel, found: Cut, chip: Chip) -> None:
        self.op, self.kernel, self.cut, self.chip = op, kernel, found, chip
        self.places = found.places
        self._turns: dict[int, list[int]] = {}
        self._buffers: dict[tuple[int, int], Buffer] = {}
        self._made: dict[int, Buffer] = {}
        self._at: dict[int, tuple[int, int]] = {}
        memory = LocalMemory(chip)
        for index, operand in enumerate(op.operands):
            if operand not in found.parts:
                continue
            size = self._room(index)
            first = memory.take(size)
            self._turns[index] = found.turns(operand)
            stays = self._turns[index][-1] == 0
            self._at[index] = first, first if stays else memory.take(size)
        size = self._bytes(self._result(self._largest, 0))
        self._out_at = memory.take(size), memory.take(size)
        self._free = ((memory.take(0), chip.local_bytes),)
        self.held = tuple(index for index, turns in self._turns.items() if turns[-1] == 0)
        self._first = sorted(self._turns, key=self._room)

    def program(self, core: int, part: Piece) -> TileProgram:
        """A core's slices as a software pipeline: the next one is loaded while one is computed."""
        numbers = range(part.start, part.end)
        steps: list[Step] = []
        pipelined(
            numbers,
            lambda number, slot: steps.extend(
                self.load(number, self.news(number) if number > part.start else self._first)
            ),
            lambda number, slot: steps.append(self.compute(number, slot)),
            lambda number, slot: steps.append(self.store(number)),
        )
        return TileProgram(self.op, KIND, core, tuple(steps))

    @property
    def _largest(self) -> tuple[Sizes, Sizes]:
        return self.cut.room, lambda value: NOWHERE

    def _bytes(self, value: LocalValue) -> int:
        low, high = value.tensor.span(self.chip)
        return high - low

    def _room(self, index: int) -> int:
        """Bytes for the largest slice of an operand: of merged taps borders take less than they
        need of it."""
        largest = self._slice(index, self._largest, 0)
        if largest.form is not Form.MERGED:
            return self._bytes(largest)
        slices = (self._slice(index, self.cut.at(place), 0) for place in self.places)
        return max(map(self._bytes, slices))

    def _result(self, places: tuple[Sizes, Sizes], address: int) -> LocalValue:
        out = self.op.results[0]
        return value_slice(out, places, self.cut.whole[out], self.chip, address)

    def _slice(self, index: int, places: tuple[Sizes, Sizes], address: int) -> LocalValue:
        by_channel = index in self.cut.by_channel
        return operand_slice(self.op, index, places, KIND, self.chip, address, by_channel)

    def _operand(self, index: int, number: int) -> Buffer:
        """What a slice needs of an operand; the same as the slice before where that needs it."""
        turn = self._turns[index][number]
        known = self._buffers.get((index, turn))
        if known is None:
            place, address = self.cut.at(self.places[number]), self._at[index][turn % 2]
            lies = self._slice(index, place, address)
            known = self._buffers[index, turn] = Buffer(self.op.operands[index], lies)
        return known

    def news(self, number: int) -> tuple[int, ...]:
        """The operands of which a slice needs what the one before it did not; not those of which
        all slices need the same."""
        moving = ((index, turns) for index, turns in self._turns.items() if turns[-1])
        return tuple(i for i, turns in moving if not number or turns[number - 1] < turns[number])

    def load(self, number: int, operands: Iterable[int]) -> Iterator[Load]:
        """Bring operands of a slice into local memory."""
        op = self.op
        for index in operands:
            target, taps = self._operand(index, number), None
            if target.place.form is Form.MERGED:
                assert isinstance(op, MergesTaps)
                taps = taps_of(op, self.cut.at(self.places[number]), self.chip)
            yield Load(number, number, op, op.operands[index], (target,), taps, self._free)

    def compute(self, number: int, slot: int) -> Compute:
        """Compute a slice."""
        op = self.op
        operands = tuple(
            self._operand(index, number) if index in self._at else None
            for index in range(len(op.operands))
        )
        lies = self._result(self.cut.at(self.places[number]), self._out_at[slot])
        self._made[number] = out = Buffer(op.results[0], lies)
        return Compute(number + 1, number, op, operands, out, None, self._free, self.kernel)

    def store(self, number: int) -> Store:
        """Bring a slice of the result to DDR."""
        source = self._made[number]
        to, start = self.op.results[0], source.place.start
        return Store(number + 2, number, self.op, to, source, start, self._free)
