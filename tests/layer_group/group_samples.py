"""The groups of real final files, taken apart."""

import gzip
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.text import parse_module
from xdsl_tpu.dialects.tpu import LayerGroupAttr
from xdsl_tpu.passes.layer_group.base_groups import computing_ops
from xdsl_tpu.passes.layer_group.values import AxisSlices, GroupType, Secs

DATA = Path(__file__).parents[1] / "data"
CHIP: Chip = load_chip("bm1684x")
MODELS = (
    "mobilenetv2_100_bm1684x_f16",
    "mobilenetv2_100_bm1684x_int8_sym",
    "resnet50_bm1684x_f16",
    "resnet50_bm1684x_int8_sym",
    "swin_t_bm1684x_f16",
)


@dataclass(frozen=True)
class RealGroup:
    """A tpu.Group whose ops read what its loads read, and `slots`: a value and its layouts."""

    ops: tuple[Operation, ...]
    kind: GroupType
    secs: Secs
    slots: tuple[tuple[SSAValue, LayerGroupAttr], ...]
    loaded: tuple[SSAValue, ...]
    stored: tuple[SSAValue, ...]


@dataclass(frozen=True)
class RealNetwork:
    """A final file with its groups taken apart: `ops` are all that compute, in order."""

    module: ModuleOp
    ops: tuple[Operation, ...]
    groups: tuple[RealGroup, ...]


@cache
def real_network(model: str) -> RealNetwork:
    """The final file of a model. Shared by tests, which must not change it."""
    text = gzip.decompress((DATA / "ir" / f"{model}_final.mlir.gz").read_bytes()).decode()
    module = parse_module(text, model)
    functions = [op for op in module.walk() if isinstance(op, FuncOp)]
    (body,) = [f.body.block for f in functions if f.sym_name.data == "subfunc_0"]
    ops: list[Operation] = []
    groups: list[RealGroup] = []
    for op in computing_ops(body):
        if isinstance(op, tpu.GroupOp):
            groups.append(_taken_apart(op))
            ops.extend(groups[-1].ops)
        else:
            ops.append(op)
    return RealNetwork(module, tuple(ops), tuple(groups))


def _taken_apart(group: tpu.GroupOp) -> RealGroup:
    inner = list(group.body.block.ops)
    loads = [op for op in inner if isinstance(op, tpu.LoadOp)]
    stores = [op for op in inner if isinstance(op, tpu.StoreOp)]
    for load in loads:
        load.output.replace_all_uses_with(load.input)
    for store, result in zip(stores, group.outputs, strict=True):
        result.replace_all_uses_with(store.input)
    ops = [op for op in inner if not isinstance(op, tpu.LoadOp | tpu.StoreOp | tpu.YieldOp)]
    sections = (group.nsecs, group.csecs, group.dsecs, group.hsecs, group.wsecs)
    slots = [(op.results[0], _ginfo(op)) for op in ops]
    slots += [(op.input, _ginfo(op)) for op in (*loads, *stores)]
    return RealGroup(
        tuple(ops),
        GroupType(group.group_type.value.data),
        Secs(*(secs.value.data for secs in sections)),
        tuple(slots),
        tuple(op.input for op in loads),
        tuple(op.input for op in stores),
    )


def _ginfo(op: Operation) -> LayerGroupAttr:
    attr = op.attributes["ginfo"]
    assert isinstance(attr, LayerGroupAttr)
    return attr


def slices_in(ginfo: LayerGroupAttr, axis: str) -> AxisSlices:
    """The parts along an axis that a layout lists."""
    starts, lengths = (ints(getattr(ginfo, f"{axis}_{what}")) for what in ("idx", "slice"))
    return tuple(zip(starts, lengths, strict=True))
