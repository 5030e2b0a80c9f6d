"""The pass `verify-layer-groups`."""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.local.schedule import ginfo, is_held
from xdsl_tpu.backend.tile.build import build
from xdsl_tpu.backend.tile.verify import faults
from xdsl_tpu.dialects import tile, top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.top.packs import PackPlace, pack_of
from xdsl_tpu.dialects.tpu.attributes import LayerGroupAttr
from xdsl_tpu.dialects.tpu.op import LocalOp
from xdsl_tpu.passes.layer_group.lmem_size import slice_bytes
from xdsl_tpu.passes.layer_group.slicing import Slicing, slice_group
from xdsl_tpu.passes.layer_group.values import AXES, AxisSlices, GroupType, Secs
from xdsl_tpu.passes.module_state import chip_of

_SILENT = (top.WeightOp, top.NoneOp, top.InputOp, tpu.BufferOp, tpu.JoinOp, tile.ProgramOp)
"""Ops that have no commands, so that they leave local memory alone."""


@dataclass(frozen=True)
class VerifyLayerGroupsPass(ModulePass):
    """Prove that every `tpu.Group` computes what its ops say, in the memory that they name.

    Everything is recomputed from the IR: which part of each value every slice needs and its bytes.
    Of the loads, computations and stores that will be issued, for several slices those of the
    unrolled pipeline, all is proved that `verify-tile-programs` does; not with `tiles=false`,
    where commands are generated next, which proves it, too. All faults found are reported.
    """

    name = "verify-layer-groups"

    chip: str = ""
    tiles: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        groups = [inner for inner in op.walk() if isinstance(inner, tpu.GroupOp)]
        if not groups:
            return
        chip = chip_of(op, self.chip)
        blocks = dict.fromkeys(group.parent_block() for group in groups)
        kept = [fault for block in blocks if block is not None for fault in kept_faults(block)]
        faults = kept + [
            f"group '{name_of(group)}': {fault}"
            for group in groups
            for fault in group_faults(group, chip, self.tiles)
        ]
        if faults:
            listed = "".join(f"\n  {fault}" for fault in faults)
            raise TpuError(f"faults in layer groups ({len(faults)}):{listed}")


def group_faults(group: tpu.GroupOp, chip: Chip, tiles: bool = True) -> Iterator[str]:
    """One line for everything that is wrong with a group.

    What is recomputed needs a sound structure, so that faults of structure come alone.
    """
    structure = [*_structure_faults(group), *_flow_faults(group)]
    yield from structure
    if structure:
        return
    slices = list(_slice_faults(group, chip))
    yield from slices
    yield from _place_faults(group, chip)
    yield from _pack_faults(group, chip)
    if slices or not tiles:
        return
    cores = sorted({*ints(group.run_core_id)} or {0})
    try:
        programs = [build(group, chip, core) for core in cores]
    except TpuError as error:
        yield str(error)
    else:
        yield from faults(programs, chip)


def kept_faults(block: Block) -> Iterator[str]:
    """What a group copies from local memory has been left there by one before it, and all between
    them leave it alone."""
    lying: dict[SSAValue, tuple[int, int | None]] = {}
    for op in block.ops:
        if not isinstance(op, tpu.GroupOp):
            if not isinstance(op, _SILENT):
                lying.clear()
            continue
        ends = dict(op.kept_regions)
        lying = {
            value: (at, ends[at])
            for value, (at, end) in lying.items()
            if at in ends and end in (None, ends[at])
        }
        for load in op.body.block.ops:
            at = load.kept_at if isinstance(load, tpu.LoadOp) else None
            if at is not None and lying.get(load.operands[0], (None,))[0] != at:
                yield f"{described(load)} copies what nothing has left at byte {at}"
        last = op.body.block.last_op
        assert last is not None
        for result, stored in zip(op.outputs, last.operands, strict=False):
            store = stored.owner
            if isinstance(store, tpu.StoreOp) and (at := store.kept_at) is not None:
                lying[result] = at, None
                if store.is_only_kept:
                    yield from _unkept_uses(result)


def _unkept_uses(result: SSAValue) -> Iterator[str]:
    """Uses of what does not come to DDR other than copies."""
    for use in result.uses:
        reader = use.operation
        copies = isinstance(reader, tpu.LoadOp) and reader.kept is not None
        if not copies and not isinstance(reader, tpu.GroupOp):
            yield f"{described(reader)} reads '{name_of(result)}', which is not in DDR"


def described(op: Operation) -> str:
    """An op's name in quotes and what it is."""
    return f"'{name_of(op)}' ({op.name})"


def pack_place(op: Operation) -> PackPlace | None:
    """The place in a pack of the weight that a Load brings."""
    if not isinstance(op, tpu.LoadOp) or not isinstance(op.input.owner, top.WeightOp):
        return None
    return pack_of(op.input.owner)


def _body(group: tpu.GroupOp) -> list[Operation]:
    return [op for op in group.body.block.ops if not isinstance(op, tpu.YieldOp)]


def _computing(group: tpu.GroupOp) -> list[Operation]:
    return [op for op in _body(group) if not isinstance(op, tpu.LoadOp | tpu.StoreOp)]


def _structure_faults(group: tpu.GroupOp) -> Iterator[str]:
    """Values cross the border of a group through Loads and Stores only."""
    inside = set(_body(group))
    for op in inside:
        if not isinstance(op, LocalOp) or op.ginfo is None:
            yield f"{described(op)} has no ginfo"
        if op.results and isinstance(op, LocalOp) and not _same_kind(op, group):
            yield f"{described(op)} is of another group type"
        for operand in op.operands:
            if is_none(operand):
                continue
            local = operand.owner in inside
            if isinstance(op, tpu.LoadOp) == local:
                where = "inside" if local else "outside"
                yield f"{described(op)} reads '{name_of(operand)}' from {where} the group"
    last = group.body.block.last_op
    if not isinstance(last, tpu.YieldOp):
        yield "it does not end in tpu.Yield"
        return
    for value in last.operands:
        if not isinstance(value.owner, tpu.StoreOp):
            yield f"it yields '{name_of(value)}', which no tpu.Store makes"
    if len(last.operands) != len(group.outputs):
        yield f"it yields {len(last.operands)} values for {len(group.outputs)} results"


def _same_kind(op: LocalOp, group: tpu.GroupOp) -> bool:
    if op.ginfo is None:
        return True
    return op.ginfo.group_type.value.data == group.group_type.value.data


def _flow_faults(group: tpu.GroupOp) -> Iterator[str]:
    """The flow lists every op exactly once, and time steps count from 0."""
    owners: dict[int, Operation] = {}
    for op in _body(group):
        if not isinstance(op, LocalOp) or op.ginfo is None:
            continue
        identity = op.ginfo.id.value.data
        if identity in owners:
            yield f"{described(owners[identity])} and {described(op)} have the same id {identity}"
        owners[identity] = op
    flow = ints(group.flow)
    if flow in ((), (0,)):
        return
    heads = [entry for entry in flow if entry < 0]
    if heads != [-(step + 1) for step in range(len(heads))] or flow[0] != -1:
        yield f"the time steps of its flow are {heads}, not -1, -2 and so on"
    listed = [entry for entry in flow if entry >= 0]
    for identity, op in owners.items():
        count = listed.count(identity)
        if count != 1:
            yield f"its flow lists {described(op)} {count} times"
    for entry in listed:
        if entry not in owners:
            yield f"its flow lists id {entry}, which no op has"


def _slice_faults(group: tpu.GroupOp, chip: Chip) -> Iterator[str]:
    """Slices, alignment and bytes follow from the sections."""
    copies = _reading_outside(group)
    kind = GroupType(group.group_type.value.data)
    counts = (group.nsecs, group.csecs, group.dsecs, group.hsecs, group.wsecs)
    ops = list(copies.values())
    secs = Secs(*(count.value.data for count in counts))
    slicing = slice_group(ops, kind, secs, chip, tuple(_stored(group, copies)))
    try:
        if isinstance(slicing, Slicing):
            yield from _ginfo_faults(group, copies, slicing, chip)
        else:
            yield f"it cannot be cut like this: {slicing.reason}"
    finally:
        for copy in reversed(copies.values()):
            copy.erase()


def _stored(group: tpu.GroupOp, copies: dict[Operation, Operation]) -> Iterator[SSAValue]:
    """The copies of results that leave the group, whether ops within it read them, too, or not."""
    for op, copy in copies.items():
        for result, same in zip(op.results, copy.results, strict=True):
            stores = any(isinstance(use.operation, tpu.StoreOp) for use in result.uses)
            if not is_none(same) and (stores or not same.uses):
                yield same


def _reading_outside(group: tpu.GroupOp) -> dict[Operation, Operation]:
    """Copies of the ops that compute, which read from outside what they read from Loads."""
    values: dict[SSAValue, SSAValue] = {
        op.output: _loaded(op) for op in _body(group) if isinstance(op, tpu.LoadOp)
    }
    return {op: op.clone(values) for op in _computing(group)}


def _loaded(load: tpu.LoadOp) -> SSAValue:
    """What a Load brings: its input, but where that is some of it."""
    return load.output if load.reads_elsewhere else load.input


def _ginfo_faults(
    group: tpu.GroupOp, copies: dict[Operation, Operation], slicing: Slicing, chip: Chip
) -> Iterator[str]:
    inside = set(copies.values())
    for op in _body(group):
        if isinstance(op, tpu.LoadOp):
            value = _loaded(op)
        elif isinstance(op, tpu.StoreOp):
            assert isinstance(op.input.owner, Operation)
            copy = copies.get(op.input.owner)
            if copy is None:
                continue  # what is loaded may be stored as it is
            results: list[SSAValue] = list(op.input.owner.results)
            value = copy.results[results.index(op.input)]
        else:
            value = next(v for v in copies[op].results if not is_none(v))
        slices = slicing.of.get(value)
        if slices is None:
            yield f"{described(op)} loads what nothing reads"
            continue
        info = ginfo(op)
        is_table = isinstance(op, tpu.LoadOp) and bool(op.is_idx_weight)
        for axis in () if is_table else AXES:
            found, wanted = parts(info, axis), slices.along(axis)
            if found != wanted:
                yield f"{described(op)} has {axis} slices {found}, its users need {wanted}"
        if bool(info.eu_align) != slices.eu_align:
            wanted_layout = "aligned" if slices.eu_align else "compact"
            yield f"{described(op)} should be {wanted_layout} in local memory"
        size, needed = info.out_size.value.data, slice_bytes(value, slicing.of, inside, chip)
        if size < needed:
            yield f"{described(op)} has {size} bytes per lane, its largest slice {needed}"


def parts(info: LayerGroupAttr, axis: str) -> AxisSlices:
    """The (start, length) that a ginfo lists along an axis."""
    starts, lengths = (ints(getattr(info, f"{axis}_{what}")) for what in ("idx", "slice"))
    return tuple(zip(starts, lengths, strict=False))


def _place_faults(group: tpu.GroupOp, chip: Chip) -> Iterator[str]:
    """Everything lies inside local memory, aligned where it has to be."""
    for op in _body(group):
        info = ginfo(op)
        places = [
            ("", info.out_addr.value.data, info.out_size.value.data),
            ("the scratch of ", info.buffer_addr.value.data, info.buffer_size.value.data),
        ]
        for what, start, size in places:
            if size and (start < 0 or start + size > chip.local_bytes):
                over = max(start + size - chip.local_bytes, -start)
                yield f"{what}{described(op)} lies {over} bytes outside local memory"
        aligned = bool(info.eu_align)
        address = info.out_addr.value.data
        if aligned and address % chip.eu_bytes:
            yield f"{described(op)} at byte {address} is not aligned to {chip.eu_bytes}"
        constant = all(len(parts(info, axis)) == 1 for axis in AXES)
        if is_held(op) and not constant:
            yield f"{described(op)} is loaded once but its part changes from slice to slice"


def _pack_faults(group: tpu.GroupOp, chip: Chip) -> Iterator[str]:
    """The weights of a pack lie as its image does, inside it."""
    bases: dict[int, tuple[int, Operation]] = {}
    for op in _body(group):
        place = pack_place(op)
        if place is None:
            continue
        info = ginfo(op)
        base = info.out_addr.value.data - place.offset
        first, other = bases.setdefault(place.number, (base, op))
        if base != first:
            yield f"{described(op)} and {described(other)} do not lie as in pack {place.number}"
        over = place.offset + info.out_size.value.data - place.lane_bytes
        if over > 0:
            yield f"{described(op)} lies {over} bytes outside pack {place.number}"
        if place.total_bytes != place.lane_bytes * chip.lanes:
            yield f"pack {place.number} has not {place.lane_bytes} bytes for each lane"
        if base < 0 or base + place.lane_bytes > chip.local_bytes:
            yield f"the transfer of pack {place.number} writes outside local memory"
        if not is_held(op):
            yield f"{described(op)} is in pack {place.number} but not held"
