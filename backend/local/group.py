"""Emitting `tpu.Group`: transfers and kernels in the order of its time steps.

What must wait for what follows from the local memory that commands touch, as everywhere in the
emitter; the group only decides the order of emission and where everything lies.
"""

from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.kernels.lanes import View
from xdsl_tpu.backend.kernels.support import DdrValue, KernelContext, ddr_value, dtype_of, where
from xdsl_tpu.backend.leaves import sliced_kernel
from xdsl_tpu.backend.local.context import Form, LocalContext, LocalValue, Scratch
from xdsl_tpu.backend.local.forms import PLAIN, Arrangement, arrangements
from xdsl_tpu.backend.local.gather import load_gathered, reading
from xdsl_tpu.backend.local.gather_rows import load_rows
from xdsl_tpu.backend.local.image import load_pack, packed
from xdsl_tpu.backend.local.lane_image import load_image, store_image
from xdsl_tpu.backend.local.schedule import (
    Event,
    Sections,
    events,
    free_regions,
    ginfo,
    is_held,
    lifetimes,
    sections,
)
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.backend.local.transfer import load_merged, load_slice, store_slice
from xdsl_tpu.backend.local.views import merged_views
from xdsl_tpu.backend.tensor import Shape4, align, aligned, compact
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import I64Array, ints
from xdsl_tpu.dialects.base import RankedTensor
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.top.packs import pack_of
from xdsl_tpu.dialects.tpu.attributes import LayerGroupAttr

SlicePlace = tuple[int, SSAValue, LocalValue]
"""An entry of `Program.layers`, its result, and the slice of it that is then in local memory."""

TRANSFERS = (tpu.LoadOp, tpu.StoreOp, tpu.YieldOp)


def unsupported(group: tpu.GroupOp) -> list[Operation]:
    """The ops of a group that have no local kernel."""
    inside = group.body.block.ops
    return [op for op in inside if not isinstance(op, TRANSFERS) and sliced_kernel(op) is None]


def emit_group(
    context: KernelContext,
    group: tpu.GroupOp,
    places: list[SlicePlace] | None = None,
    core: int = 0,
) -> None:
    """Emit a core's slices of a group; `places` gets where the result of each layer is.

    Raises TpuError naming the op whose kernel cannot work on its slice or in its scratch.
    """
    _Group(context, group, [] if places is None else places, core).emit()


class _Group:
    """One group at work."""

    def __init__(
        self, context: KernelContext, group: tpu.GroupOp, places: list[SlicePlace], core: int
    ) -> None:
        self.places = places
        self.chip = context.chip
        self.emitter = context.emitter
        self.kind = GroupType(group.group_type.value.data)
        self.sections = sections(group)
        self.cores = ints(group.run_core_id)
        self.schedule = events(group, core)
        self.lifetimes = list(lifetimes(self.schedule))
        self.buffers = _buffers(self.schedule)
        self.arrangements = arrangements(group, self.chip.lanes)
        self.resident: dict[Operation, tuple[Ncdhw, tuple[int, int]]] = {}
        self.pack_members = _pack_members(group)

    def emit(self) -> None:
        """Emit everything in order."""
        for event in self.schedule:
            op = event.op
            if isinstance(op, tpu.LoadOp):
                self._load(op, event.slice)
            elif isinstance(op, tpu.StoreOp):
                self._store(op, event)
            else:
                self._compute(event)

    def _load(self, op: tpu.LoadOp, index: int) -> None:
        """Load a slice unless it still lies where it should."""
        target = self._value(op.output, index)
        before = self.resident.get(op)
        if before is not None and before[0] == target.start:
            return
        weight = packed(op)
        if weight is not None:
            self._load_pack(op, weight, target)
            return
        span = target.tensor.span(self.chip)
        self._overwrite(span)
        owner: Operation = op
        if is_held(op):
            owner = next((use.operation for use in op.output.uses), op)
        read = reading(op.input)
        if read is not None and read.picker is not None:
            owner = read.picker
        with self.emitter.layer(name_of(owner) or "", owner.name):
            source = self._source(op, target)
            if target.form is Form.MERGED:
                views = self._views(self.arrangements[op.output], index)
                load_merged(self.emitter, target, source, views)
            elif read is not None and read.rows is not None:
                table, index_ = ddr_value(read.rows.table), ddr_value(read.rows.index)
                load_rows(self.emitter, target, table, index_)
            elif read is not None:
                load_gathered(self.emitter, target, ddr_value(read.source), read.moves)
            elif op.indexing_map_s2l is not None:
                load_image(self.emitter, target, source)
            else:
                load_slice(self.emitter, target, source)
        self.resident[op] = (target.start, span)

    def _store(self, op: tpu.StoreOp, event: Event) -> None:
        scratch = Scratch(self.chip, self._free(event))
        with self.emitter.layer(name_of(op) or "", op.name):
            source = self._own(op.input, event.slice)
            if op.indexing_map_l2s is not None:
                store_image(self.emitter, source, ddr_value(op.output))
            elif all(source.tensor.shape):
                store_slice(self.emitter, source, ddr_value(op.output), scratch)
        for span in scratch.taken:
            self._overwrite(span)

    def _own(self, value: SSAValue, index: int) -> LocalValue:
        """The slice of a value without the rows and columns that a slice before it has, too, and
        another core stores."""
        slice_ = self._value(value, index)
        assert isinstance(value.owner, Operation)
        n, c, d, h, w = self.sections[index]
        for axis, before in (("h", (n, c, d, h - 1, w)), ("w", (n, c, d, h, w - 1))):
            if not self.cores or before not in self.sections:
                continue
            if self.cores[self.sections.index(before)] != self.cores[index]:
                sizes, start = slice_of(ginfo(value.owner), before)
                end = getattr(start, axis) + getattr(sizes, axis)
                slice_ = slice_.behind(axis, end, self.chip)
        return slice_

    def _load_pack(self, op: tpu.LoadOp, weight: top.WeightOp, target: LocalValue) -> None:
        """Load all weights of a pack at once; the other Loads of the pack then find them there."""
        pack = pack_of(weight)
        assert pack is not None
        address = target.tensor.address - pack.offset
        span = (address, address + pack.lane_bytes)
        self._overwrite(span)
        base = ddr_value(op.input).address - pack.offset
        user = next((use.operation for use in op.output.uses), op)
        with self.emitter.layer(name_of(user) or "", user.name):
            load_pack(self.emitter, address, base, pack)
        for other in self.pack_members[pack.number]:
            value = self._value(other.output, 0)
            self.resident[other] = (value.start, value.tensor.span(self.chip))

    def _source(self, op: tpu.LoadOp, target: LocalValue) -> DdrValue:
        source = ddr_value(op.input)
        if self.arrangements.get(op.output, PLAIN).parameter:
            return DdrValue(source.address, (source.elements,), source.dtype)
        return source

    def _compute(self, event: Event) -> None:
        op = event.op
        out = self._value(op.results[0], event.slice)
        scratch = self._scratch(event)
        operands = tuple(self._operand(value, event.slice) for value in op.operands)
        context = LocalContext(self.chip, self.emitter, op, operands, out, scratch, self.kind)
        kernel = sliced_kernel(op)
        assert kernel is not None, f"{op.name} has passed `unsupported`"
        with self.emitter.layer(name_of(op) or "", op.name):
            try:
                kernel(context)
            except TpuError as error:
                raise TpuError(f"{where(op)}, slice {event.slice} of its group: {error}") from error
        self.places.append((len(self.emitter.program.layers) - 1, op.results[0], out))
        self._overwrite(out.tensor.span(self.chip))
        for span in scratch.taken:
            self._overwrite(span)

    def _scratch(self, event: Event) -> Scratch:
        """The op's own buffer, and in reserve (or without one) what else is free just now."""
        info = ginfo(event.op)
        start, size = info.buffer_addr.value.data, info.buffer_size.value.data
        free = self._free(event)
        if not size:
            return Scratch(self.chip, free, spare=free)
        return Scratch(self.chip, [(start, start + size)], free, free)

    def _free(self, event: Event) -> list[tuple[int, int]]:
        """What nothing uses at the time of an event."""
        return free_regions(self.lifetimes, self.buffers, event.step, self.chip.local_bytes)

    def _overwrite(self, span: tuple[int, int]) -> None:
        """Forget loaded slices that a write to these bytes destroys."""
        for op, (_, (low, high)) in list(self.resident.items()):
            if low < span[1] and span[0] < high:
                del self.resident[op]

    def _operand(self, value: SSAValue, index: int) -> LocalValue | None:
        return self._value(value, index) if isinstance(value.type, TensorType) else None

    def _value(self, value: SSAValue, index: int) -> LocalValue:
        """Where a value of the group lies while slice `index` is worked on."""
        if not isinstance(value.owner, Operation) or value.owner.parent_op() is None:
            raise TpuError(f"'{name_of(value)}' does not come from an op")
        info = ginfo(value.owner)
        sizes, start = slice_of(info, self.sections[index])
        arrangement = self.arrangements.get(value, PLAIN)
        shape: Shape4 = (sizes.d * sizes.n, sizes.c, sizes.h, sizes.w)
        full = of_value(value, self.kind, self.chip.lanes)
        if arrangement.form is Form.MERGED:
            shape = self._merged_shape(arrangement, index, full, sizes.n)
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
        return LocalValue(tensor, start, full, arrangement.form, arrangement.rotation, sizes.d)

    def _merged_shape(
        self, arrangement: Arrangement, index: int, full: Ncdhw, images: int
    ) -> Shape4:
        rows, columns = self._views(arrangement, index)
        return images, full.c * rows.taps * columns.taps, rows.count, columns.count

    def _views(self, arrangement: Arrangement, index: int) -> tuple[View, View]:
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


def _buffers(schedule: list[Event]) -> dict[int, list[tuple[int, int]]]:
    """The scratch memory that ops own, by time step."""
    taken: dict[int, list[tuple[int, int]]] = {}
    for event in schedule:
        info = ginfo(event.op)
        start, size = info.buffer_addr.value.data, info.buffer_size.value.data
        if size:
            taken.setdefault(event.step, []).append((start, start + size))
    return taken


def slice_of(info: LayerGroupAttr, index: Sections) -> tuple[Ncdhw, Ncdhw]:
    """Sizes and start of a slice along all axes; an axis with one entry is not cut."""
    sizes: dict[str, int] = {}
    starts: dict[str, int] = {}
    for axis, k in zip("ncdhw", index, strict=True):
        lengths = ints(cast(I64Array, getattr(info, f"{axis}_slice")))
        places = ints(cast(I64Array, getattr(info, f"{axis}_idx")))
        if len(lengths) > 1 and k >= len(lengths):
            raise TpuError(f"section {k} is wanted of {axis}_slice {list(lengths)}")
        at = k if len(lengths) > 1 else 0
        sizes[axis], starts[axis] = lengths[at], places[at]
    return Ncdhw(**sizes), Ncdhw(**starts)
