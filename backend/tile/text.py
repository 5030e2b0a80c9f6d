"""Tile programs as ops of the dialect `tile`, and back: what is read issues the same commands."""

from collections.abc import Iterator
from dataclasses import astuple
from typing import TypeVar

from xdsl.dialects.builtin import IntegerType, Signedness, bf16, f16, f32
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.lanes import View
from xdsl_tpu.backend.kernels.support import dtype_of, where
from xdsl_tpu.backend.local.context import Form, LocalValue
from xdsl_tpu.backend.local.schedule import ginfo
from xdsl_tpu.backend.tensor import DType, Layout, Shape4, aligned, compact
from xdsl_tpu.backend.tile.build import local_kernel
from xdsl_tpu.backend.tile.program import Buffer, Compute, Load, Region, Step, Store, TileProgram
from xdsl_tpu.dialects import tile, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw
from xdsl_tpu.dialects.tile.buffer import plain
from xdsl_tpu.dialects.tile.ops import TAP_NUMBERS
from xdsl_tpu.dialects.tpu.op import LocalOp

FLOATS: dict[DType, Attribute] = {DType.F16: f16, DType.F32: f32, DType.BF16: bf16}
PLACES = {Layout.ALIGNED: aligned, Layout.COMPACT: compact}

Op = TypeVar("Op", bound=Operation)


def programs_of(group: tpu.GroupOp) -> list[tile.ProgramOp]:
    """The tile programs that stand behind a group."""
    found: list[tile.ProgramOp] = []
    after = group.next_op
    while isinstance(after, tile.ProgramOp):
        found.append(after)
        after = after.next_op
    return found


def program_of(group: tpu.GroupOp, chip: Chip, core: int) -> TileProgram | None:
    """What the text says that a core does for a group; None where it says nothing of any core.

    Raises TpuError when it has no program for this core, or one that does not fit the group.
    """
    programs = programs_of(group)
    if not programs:
        return None
    mine = [one for one in programs if one.core.value.data == core]
    if len(mine) != 1:
        raise TpuError(f"{where(group)}: {len(mine)} tile programs for core {core}, 1 expected")
    return read(mine[0], group, chip)


def write(program: TileProgram) -> tile.ProgramOp:
    """The op that says what a tile program is."""
    return _Writer().write(program)


class _Writer:
    """Allocates a buffer where it is first used."""

    def __init__(self) -> None:
        self.ops: list[Operation] = []
        self.values: dict[Buffer, SSAValue] = {}

    def write(self, program: TileProgram) -> tile.ProgramOp:
        for step in program.steps:
            op = self._step(step)
            op.location = step.op.location
            self.ops.append(op)
        made = tile.ProgramOp.of(program.core, self.ops)
        made.location = program.op.location
        return made

    def _step(self, step: Step) -> tile.StepOp:
        when = {"slice": step.slice, "step": step.step}
        id = _id(step.op)
        if isinstance(step, Load):
            targets = [self._value(one) for one in step.targets]
            taps = [number for view in step.taps or () for number in astuple(view)]
            return tile.LoadOp.of(id, targets, taps=taps, kept=step.kept, **when)
        free = [bound for region in step.free for bound in region]
        if isinstance(step, Store):
            source = self._value(step.source)
            return tile.StoreOp.of(id, source, step.start, free=free, kept=step.kept, **when)
        operands = [None if one is None else self._value(one) for one in step.operands]
        out = self._value(step.out)
        return tile.ComputeOp.of(
            id, step.op.name, operands, out, own=step.own or (), free=free, **when
        )

    def _value(self, buffer: Buffer) -> SSAValue:
        known = self.values.get(buffer)
        if known is None:
            owner, place = buffer.value.owner, buffer.place
            assert isinstance(owner, Operation)
            alloc = tile.AllocOp.of(_id(owner), place.tensor.address, _type(place))
            alloc.location = owner.location
            self.ops.append(alloc)
            known = self.values[buffer] = alloc.buffer
        return known


def _id(op: Operation) -> int:
    return ginfo(op).id.value.data


def _type(place: LocalValue) -> tile.BufferType:
    tensor = place.tensor
    return tile.BufferType.of(
        tensor.shape,
        _element(tensor.dtype),
        tensor.layout.name.lower(),
        place.start,
        place.full,
        place.form.value,
        place.depth,
    )


def _element(dtype: DType) -> Attribute:
    if dtype in FLOATS:
        return FLOATS[dtype]
    unsigned = not dtype.signed
    return IntegerType(8 * dtype.bytes, Signedness.UNSIGNED if unsigned else Signedness.SIGNLESS)


def read(op: tile.ProgramOp, group: tpu.GroupOp, chip: Chip) -> TileProgram:
    """The tile program that an op says, for the group whose ops it names.

    Raises TpuError when the group has no such op.
    """
    return _Reader(op, group, chip).read()


class _Reader:
    """Finds the ops and the buffers that a program names."""

    def __init__(self, program: tile.ProgramOp, group: tpu.GroupOp, chip: Chip) -> None:
        self.program, self.group, self.chip = program, group, chip
        inside = [op for op in group.body.block.ops if isinstance(op, LocalOp)]
        self.by_id = {_id(op): op for op in inside}
        self.buffers: dict[SSAValue, Buffer] = {}

    def read(self) -> TileProgram:
        kind = GroupType(self.group.group_type.value.data)
        return TileProgram(self.group, kind, self.program.core.value.data, tuple(self._steps()))

    def _steps(self) -> Iterator[Step]:
        for op in self.program.body.block.ops:
            if isinstance(op, tile.AllocOp):
                self.buffers[op.buffer] = self._buffer(op)
                continue
            assert isinstance(op, tile.StepOp)
            when = op.step.value.data, op.slice.value.data
            if isinstance(op, tile.LoadOp):
                targets = tuple(self.buffers[one] for one in op.targets)
                load = self._op(op, tpu.LoadOp)
                kept = _kept(op)
                yield Load(*when, load, load.input, targets, _taps(op), kept=kept)
            elif isinstance(op, tile.StoreOp):
                start, source = Ncdhw(*ints(op.start)), self.buffers[op.source]
                store, free = self._op(op, tpu.StoreOp), _regions(ints(op.free))
                yield Store(*when, store, store.output, source, start, free, _kept(op))
            elif isinstance(op, tile.ComputeOp):
                yield self._compute(op, when)

    def _compute(self, op: tile.ComputeOp, when: tuple[int, int]) -> Compute:
        done = self._op(op, LocalOp)
        if done.name != op.kind.data:
            raise TpuError(f"{where(self.group)}: op {op.id.value.data} is no {op.kind.data}")
        operands = tuple(None if one is None else self.buffers[one] for one in op.all_operands)
        if len(operands) != len(done.operands):
            raise TpuError(f"{where(done)} has {len(done.operands)} operands, not {len(operands)}")
        own = _regions(ints(op.own))
        own, free = _regions(ints(op.own)), _regions(ints(op.free))
        mine = own[0] if own else None
        out = self.buffers[op.out]
        return Compute(*when, done, operands, out, mine, free, local_kernel(done))

    def _op(self, op: tile.StepOp, kind: type[Op]) -> Op:
        found = self.by_id.get(op.id.value.data)
        if not isinstance(found, kind):
            raise TpuError(
                f"{where(self.group)}: {op.name} names op {op.id.value.data}, no {kind.name}"
            )
        return found

    def _buffer(self, op: tile.AllocOp) -> Buffer:
        owner = self.by_id.get(op.id.value.data)
        if owner is None or not owner.results:
            raise TpuError(f"{where(self.group)}: no op {op.id.value.data} makes what is allocated")
        kind = op.buffer.type
        assert isinstance(kind, tile.BufferType)
        n, c, h, w = plain(kind.shape)
        shape: Shape4 = (n, c, h, w)
        place = PLACES[Layout[kind.layout.data.upper()]]
        tensor = place(self.chip, op.address.value.data, shape, dtype_of(kind.element_type))
        start, full = Ncdhw(*plain(kind.start)), Ncdhw(*plain(kind.full))
        local = LocalValue(tensor, start, full, Form(kind.form.data), kind.depth.data)
        return Buffer(owner.results[0], local)


def _taps(op: tile.LoadOp) -> tuple[View, View] | None:
    if op.taps is None:
        return None
    numbers = ints(op.taps)
    return View(*numbers[:TAP_NUMBERS]), View(*numbers[TAP_NUMBERS:])


def _kept(op: tile.LoadOp | tile.StoreOp) -> int | None:
    return None if op.kept is None else op.kept.value.data


def _regions(bounds: tuple[int, ...]) -> tuple[Region, ...]:
    return tuple(zip(bounds[::2], bounds[1::2], strict=True))
