"""Writing a planned group into the IR: tpu.Group with its Loads, ops, Stores and time steps."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import BOOL, I64_INT
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.local_gen import MergesTaps
from xdsl_tpu.dialects.names import LAYER, fused_loc, layer_of
from xdsl_tpu.dialects.records import record
from xdsl_tpu.dialects.tpu.attributes import LayerGroupAttr
from xdsl_tpu.passes.layer_group.lmem_size import slice_bytes
from xdsl_tpu.passes.layer_group.model import Group
from xdsl_tpu.passes.layer_group.values import AXES, ValueSlices
from xdsl_tpu.passes.tensors import is_weight, required_name

PIPELINE_STAGES = 3
LOAD, COMPUTE, STORE = range(PIPELINE_STAGES)


@record(frozen=True)
class Keeping:
    """What of a group's values is kept in local memory, by its byte in every lane: what it reads,
    and what it makes and is of no use in DDR, or is; and where others have left something."""

    read: Mapping[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    made: Mapping[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    only: Collection[SSAValue] = ()
    others: Sequence[tuple[int, int]] = ()


NOTHING_KEPT = Keeping()


def build_group(
    group: Group, none: top.NoneOp, chip: Chip, keeping: Keeping = NOTHING_KEPT
) -> tpu.GroupOp:
    """Replace the ops of a planned group by a tpu.Group; returns it."""
    return _Builder(group, none, chip, keeping).build()


class _Builder:
    def __init__(self, group: Group, none: top.NoneOp, chip: Chip, keeping: Keeping) -> None:
        self.group, self.none, self.chip, self.keeping = group, none, chip, keeping
        self.plan, self.slices = group.plan, group.slicing.of
        self.inside = set(group.ops)
        is_straight = group.is_straight
        self.load_stage = COMPUTE if is_straight else LOAD
        self.store_stage = COMPUTE if is_straight else STORE
        self.ids, self.flow = self._number()

    def _number(self) -> tuple[dict[tuple[str, object], int], list[int]]:
        """Ids, stage by stage and step by step, and the same listed by time step."""
        plan, slicing = self.plan, self.group.slicing
        entries: list[tuple[int, int, int, tuple[str, object]]] = []
        for value in slicing.loaded:
            entries.append((self.load_stage, plan.load_step[value], 0, ("load", value)))
        for value in slicing.stored:
            entries.append((self.store_stage, plan.store_step[value], 1, ("store", value)))
        for op in self.group.ops:
            entries.append((COMPUTE, plan.op_step[op], 2, ("op", op)))
        entries.sort(key=lambda entry: entry[:3])
        ids = {key: index for index, (*_, key) in enumerate(entries)}
        flow: list[int] = []
        for step in range(plan.steps):
            here = [(rank, ids[key]) for _, at, rank, key in entries if at == step]
            flow.append(-(step + 1))
            flow += [index for rank, index in here if rank == 2]
            flow += [index for rank, index in here if rank != 2]
        return ids, flow

    def build(self) -> tpu.GroupOp:
        stored, inside = self.group.slicing.stored, self.inside
        names = [required_name(value) for value in stored]
        loads = [self._load(value) for value in self.group.slicing.loaded]
        for load in loads:
            load.input.replace_uses_with_if(load.output, lambda use: use.operation in inside)
        made = self._group(names, stored)
        Rewriter.insert_op(made, InsertPoint.after(self.group.ops[-1]))
        for value, result in zip(stored, made.outputs, strict=True):
            value.replace_uses_with_if(result, lambda use: use.operation not in inside)
        for op in self.group.ops:
            op.detach()
            self._place(op)
        stores = [self._store(value) for value in stored]
        results = tpu.YieldOp.make(fused_loc(names), [store.output for store in stores])
        made.body.block.add_ops([*loads, *self.group.ops, *stores, results])
        return made

    def _group(self, names: Sequence[str], stored: Sequence[SSAValue]) -> tpu.GroupOp:
        secs, others = self.group.secs, self.keeping.others
        return tpu.GroupOp.make(
            fused_loc(names),
            [v for v in self.group.slicing.loaded if not is_weight(v)],
            result_types=[value.type for value in stored],
            regions=[Region(Block())],
            nsecs=secs.n,
            csecs=secs.c,
            dsecs=secs.d,
            hsecs=secs.h,
            wsecs=secs.w,
            swpipl_stage_num=PIPELINE_STAGES,
            group_type=int(self.group.kind),
            flow=self.flow,
            **({"run_core_id": self.group.core_of} if self.group.cores > 1 else {}),
            **({"kept": [bound for region in others for bound in region]} if others else {}),
        )

    def _load(self, value: SSAValue) -> tpu.LoadOp:
        slices = self.slices[value]
        constant = all(len(slices.along(axis)) == 1 for axis in AXES)
        held = slices.hold or (is_weight(value) and self.group.is_straight and constant)
        load = tpu.LoadOp.make(
            f"load_{required_name(value)}",
            [value],
            result_types=[value.type],
            lmem_type=0 if held else 1,
            use_3ic_optimize=self._merged_lanes(value),
            ginfo=self._ginfo(value, self.load_stage, self.ids["load", value]),
        )
        if value in self.keeping.read:
            load.kept = I64_INT.encode(self.keeping.read[value])
        _of_layer(load, value, "load_")
        return load

    def _merged_lanes(self, value: SSAValue) -> int:
        """What the op that reads the value with filter taps as channels says of them."""
        for use in value.uses:
            op = use.operation
            if op in self.inside and isinstance(op, MergesTaps) and use.index == 0:
                return op.tap_code()
        return 0

    def _store(self, value: SSAValue) -> tpu.StoreOp:
        store = tpu.StoreOp.make(
            required_name(value),
            [value, self.none.output],
            result_types=[value.type],
            ginfo=self._ginfo(value, self.store_stage, self.ids["store", value]),
        )
        if value in self.keeping.made:
            store.kept = I64_INT.encode(self.keeping.made[value])
        if value in self.keeping.only:
            store.only_kept = BOOL.encode(True)
        _of_layer(store, value)
        return store

    def _place(self, op: Operation) -> None:
        """Give an op its ginfo, from its first result."""
        result = next(value for value in op.results if not is_none(value))
        scratch = (self.plan.scratch.get(op, 0), self.plan.scratch_bytes.get(op, 0))
        op.attributes["ginfo"] = self._ginfo(result, COMPUTE, self.ids["op", op], scratch)

    def _ginfo(
        self, value: SSAValue, stage: int, identity: int, scratch: tuple[int, int] = (0, 0)
    ) -> LayerGroupAttr:
        slices = self.slices[value]
        return LayerGroupAttr.of(
            out_addr=self.plan.address[value],
            out_size=slice_bytes(value, self.slices, self.inside, self.chip),
            buffer_addr=scratch[0],
            buffer_size=scratch[1],
            eu_align=slices.eu_align,
            can_merge=False,
            in_hslice_offset=(),
            **_axes(slices),
            id=identity,
            stage=stage,
            slice_idx=0,
            group_type=int(self.group.kind),
        )


def _axes(slices: ValueSlices) -> dict[str, Sequence[int]]:
    fields: dict[str, Sequence[int]] = {}
    for axis in AXES:
        parts = slices.along(axis)
        fields[f"{axis}_idx"] = [start for start, _ in parts]
        fields[f"{axis}_slice"] = [length for _, length in parts]
    return fields


def _of_layer(transfer: Operation, value: SSAValue, label: str = "") -> None:
    """Name the layer of a transfer where its value is a part of what a layer makes."""
    if isinstance(value.owner, Operation) and LAYER in value.owner.attributes:
        transfer.attributes[LAYER] = StringAttr(f"{label}{layer_of(value.owner)}")
