"""The tile program of a `tpu.Group`: every decision that its time steps and `ginfo` imply.

A slice that lies where the slice before had it is not loaded again.
"""

from collections.abc import Iterator, Sequence
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.lanes import View
from xdsl_tpu.backend.kernels.support import dtype_of, where
from xdsl_tpu.backend.leaves import sliced_kernel
from xdsl_tpu.backend.local.context import Form, LocalKernel, LocalValue
from xdsl_tpu.backend.local.forms import PLAIN, Arrangement, arrangements
from xdsl_tpu.backend.local.image import packed
from xdsl_tpu.backend.local.kept import kept_whole
from xdsl_tpu.backend.local.schedule import (
    Event,
    events,
    free_regions,
    ginfo,
    lifetimes,
    sections,
    slice_of,
    stored_places,
)
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.backend.local.views import merged_views
from xdsl_tpu.backend.tensor import Shape4, align, aligned, compact
from xdsl_tpu.backend.tile.program import Buffer, Compute, Load, Region, Step, Store, TileProgram
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import RankedTensor
from xdsl_tpu.dialects.errors import NoKernel, TpuError
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.top.packs import pack_of
from xdsl_tpu.dialects.tpu.local import LocalReshape

TRANSFERS = (tpu.LoadOp, tpu.StoreOp, tpu.YieldOp)


def build(group: tpu.GroupOp, chip: Chip, core: int = 0) -> TileProgram:
    """What a core does for its slices of a group.

    Raises TpuError naming an op whose ginfo is missing or too small, or that reads what no op of
    the group has made by then.
    """
    return _Builder(group, chip, core).build()


def unsupported(group: tpu.GroupOp) -> list[Operation]:
    """The ops of a group that have no local kernel."""
    inside = group.body.block.ops
    return [op for op in inside if not isinstance(op, TRANSFERS) and sliced_kernel(op) is None]


def local_kernel(op: Operation) -> LocalKernel:
    """The kernel of an op on slices; raises NoKernel when it has none."""
    kernel = sliced_kernel(op)
    if kernel is None:
        raise NoKernel(f"no kernel on slices for {where(op)}")
    return kernel


class _Builder:
    """One group on one core, event by event."""

    def __init__(self, group: tpu.GroupOp, chip: Chip, core: int) -> None:
        self.group, self.chip, self.core = group, chip, core
        self.kind = GroupType(group.group_type.value.data)
        self.sections = sections(group)
        self.cores = ints(group.run_core_id)
        self.schedule = events(group, core)
        self.lifetimes = list(lifetimes(self.schedule, self.sections))
        self.stored = stored_places(self.schedule)
        self.scratch = _scratch(self.schedule)
        self.arrangements = arrangements(group, chip.lanes)
        self.pack_members = _pack_members(group)
        self.kept = [*group.kept_regions, *self._left()]
        self.resident: dict[Operation, tuple[Buffer, Region]] = {}
        self.free: dict[int, tuple[Region, ...]] = {}
        self.buffers: dict[tuple[SSAValue, int], Buffer] = {}

    def build(self) -> TileProgram:
        steps: list[Step] = []
        for event in self.schedule:
            op = event.op
            if isinstance(op, tpu.LoadOp):
                steps += self._load(op, event)
            elif isinstance(op, tpu.StoreOp):
                steps += self._store(op, event)
            else:
                steps.append(self._compute(event))
        return TileProgram(self.group, self.kind, self.core, tuple(steps))

    def _load(self, op: tpu.LoadOp, event: Event) -> list[Load]:
        """Load a slice unless it still lies where it should."""
        place = self._place(op.output, event.slice)
        held = self.resident.get(op)
        if held is not None and held[0].place == place:
            self.buffers[op.output, event.slice] = held[0]
            return []
        weight = packed(op)
        if weight is not None:
            pack = pack_of(weight)
            assert pack is not None
            base = place.tensor.address - pack.offset
            self._overwrite((base, base + pack.lane_bytes))
            members = self.pack_members[pack.number]
            targets = [Buffer(one.output, self._place(one.output, 0)) for one in members]
            for member, buffer in zip(members, targets, strict=True):
                self.resident[member] = buffer, buffer.place.tensor.span(self.chip)
            self.buffers[op.output, event.slice] = self.resident[op][0]
            return [Load(event.step, event.slice, op, op.input, tuple(targets))]
        target = self._written(op.output, event.slice, place)
        self.resident[op] = target, place.tensor.span(self.chip)
        taps = None
        if place.form is Form.MERGED:
            taps = self._taps(self.arrangements[op.output], event.slice)
        kept = op.kept_at
        return [Load(event.step, event.slice, op, op.input, (target,), taps, kept=kept)]

    def _store(self, op: tpu.StoreOp, event: Event) -> list[Store]:
        source = self._read(op, op.input, event.slice)
        start = self._own(op.input, event.slice, source.place.start)
        stores: list[Store] = []
        if (kept := op.kept_at) is not None:
            whole = source.place.start
            stores = [Store(event.step, event.slice, op, op.output, source, whole, (), kept)]
        if not op.is_only_kept:
            free = self._free(event)
            stores.append(Store(event.step, event.slice, op, op.output, source, start, free))
        return stores

    def _left(self) -> Iterator[Region]:
        """Where results are kept for other groups."""
        for op in self.group.body.block.ops:
            if isinstance(op, tpu.StoreOp) and (address := op.kept_at) is not None:
                part = self._place(op.input, 0)
                yield kept_whole(part, address, self.chip).span(self.chip)

    def _own(self, value: SSAValue, index: int, start: Ncdhw) -> Ncdhw:
        """Where a slice begins, without the rows and columns that a slice before it has, too, and
        another core stores."""
        assert isinstance(value.owner, Operation)
        n, c, d, h, w = self.sections[index]
        for axis, before in (("h", (n, c, d, h - 1, w)), ("w", (n, c, d, h, w - 1))):
            if not self.cores or before not in self.sections:
                continue
            if self.cores[self.sections.index(before)] != self.cores[index]:
                sizes, first = slice_of(ginfo(value.owner), before)
                end = getattr(first, axis) + getattr(sizes, axis)
                start = start._replace(**{axis: max(end, getattr(start, axis))})
        return start

    def _compute(self, event: Event) -> Compute:
        op, index = event.op, event.slice
        operands = tuple(
            self._read(op, value, index) if isinstance(value.type, TensorType) else None
            for value in op.operands
        )
        out = self._made(op, index, operands)
        own = _own_scratch(op)
        if own is not None:
            self._overwrite(own)
        free, kernel = self._free(event), local_kernel(op)
        return Compute(event.step, index, op, operands, out, own, free, kernel)

    def _made(self, op: Operation, index: int, operands: Sequence[Buffer | None]) -> Buffer:
        """The buffer of a result; that of a view is what its operand lies in, which stays there."""
        value = op.results[0]
        place, given = self._place(value, index), operands[0] if operands else None
        if isinstance(op, LocalReshape) and given is not None:
            spans = [one.tensor.span(self.chip) for one in (place, given.place)]
            if spans[0] == spans[1]:
                buffer = self.buffers[value, index] = Buffer(value, place)
                return buffer
        return self._written(value, index, place)

    def _free(self, event: Event) -> tuple[Region, ...]:
        """What nothing uses at the time of an event."""
        known = self.free.get(event.step)
        if known is None:
            size = self.chip.local_bytes
            used = {event.step: [*self.scratch.get(event.step, ()), *self.kept]}
            known = tuple(free_regions(self.lifetimes, used, event.step, size, self.stored))
            self.free[event.step] = known
        return known

    def _read(self, op: Operation, value: SSAValue, index: int) -> Buffer:
        found = self.buffers.get((value, index))
        if found is None:
            raise TpuError(f"{where(op)}: slice {index} of '{name_of(value)}' is not there by then")
        return found

    def _written(self, value: SSAValue, index: int, place: LocalValue) -> Buffer:
        """The new buffer of a slice; loaded slices that it lies over are forgotten."""
        self._overwrite(place.tensor.span(self.chip))
        buffer = self.buffers[value, index] = Buffer(value, place)
        return buffer

    def _overwrite(self, span: Region) -> None:
        for op, (_, (low, high)) in list(self.resident.items()):
            if low < span[1] and span[0] < high:
                del self.resident[op]

    def _place(self, value: SSAValue, index: int) -> LocalValue:
        """Where a value of the group lies while slice `index` is worked on."""
        if not isinstance(value.owner, Operation) or value.owner.parent_op() is None:
            raise TpuError(f"'{name_of(value)}' does not come from an op")
        info = ginfo(value.owner)
        sizes, start = slice_of(info, self.sections[index])
        arrangement = self.arrangements.get(value, PLAIN)
        full = of_value(value, self.kind, self.chip.lanes)
        if isinstance(value.owner, tpu.LoadOp) and value.owner.is_idx_weight.value.data:
            sizes, start = full, Ncdhw(0, 0, 0, 0, 0)
        shape: Shape4 = (sizes.d * sizes.n, sizes.c, sizes.h, sizes.w)
        if arrangement.form is Form.MERGED:
            rows, columns = self._taps(arrangement, index)
            lanes = full.c * rows.taps * columns.taps
            shape = (sizes.n, lanes, rows.count, columns.count)
        elif arrangement.parameter:
            elements = full.n * full.c * full.d * full.h * full.w
            shape, full = (1, self.chip.lanes, 1, elements), Ncdhw(1, 1, 1, 1, elements)
            start = Ncdhw(0, 0, 0, 0, 0)
        elif arrangement.form is Form.ROW:
            shape = (shape[0], self.chip.lanes, *shape[2:])
        dtype = dtype_of(cast(RankedTensor, value.type).element_type)
        dense = not bool(info.eu_align.value.data) and arrangement.form is not Form.ROW
        place = compact if dense else aligned
        tensor = place(self.chip, info.out_addr.value.data, shape, dtype)
        low, high = tensor.span(self.chip)
        size = align(info.out_size.value.data, self.chip.eu_bytes)
        if high - low > size:
            raise TpuError(
                f"{where(value.owner)}: slice {index} needs {high - low} bytes per lane, "
                f"but ginfo gives it {size}"
            )
        return LocalValue(tensor, start, full, arrangement.form, sizes.d)

    def _taps(self, arrangement: Arrangement, index: int) -> tuple[View, View]:
        """What a merged operand holds for a slice of its reader's result."""
        reader = arrangement.reader
        assert reader is not None
        sizes, start = slice_of(ginfo(reader), self.sections[index])
        return merged_views(reader, start, sizes, self.chip.lanes)


def _pack_members(group: tpu.GroupOp) -> dict[int, list[tpu.LoadOp]]:
    """The Loads of each pack of weights."""
    members: dict[int, list[tpu.LoadOp]] = {}
    for op in group.body.block.ops:
        weight = packed(op) if isinstance(op, tpu.LoadOp) else None
        if weight is not None and (place := pack_of(weight)) is not None:
            assert isinstance(op, tpu.LoadOp)
            members.setdefault(place.number, []).append(op)
    return members


def _own_scratch(op: Operation) -> Region | None:
    info = ginfo(op)
    start, size = info.buffer_addr.value.data, info.buffer_size.value.data
    return (start, start + size) if size else None


def _scratch(schedule: list[Event]) -> dict[int, list[Region]]:
    """The scratch memory that ops own, by time step."""
    taken: dict[int, list[Region]] = {}
    for event in schedule:
        own = _own_scratch(event.op)
        if own is not None:
            taken.setdefault(event.step, []).append(own)
    return taken
