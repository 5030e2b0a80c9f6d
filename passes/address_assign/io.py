"""Inputs and outputs that lie apart from the arena, so that they outlive a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.passes.address_assign.buffers import align_up
from xdsl_tpu.passes.address_assign.planner import PAGE_BYTES
from xdsl_tpu.passes.address_assign.views import root_of
from xdsl_tpu.passes.module_state import text_attribute
from xdsl_tpu.passes.tensors import required_name, size_in_bytes

APART = "io_alone"
"""The `module.addr_mode` that says so."""


@dataclass(frozen=True)
class IoLayout:
    """Offset in bytes of each tensor that lies apart, and bytes in all, a multiple of a page."""

    offsets: Mapping[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    size: int = 0


def is_apart(module: ModuleOp) -> bool:
    """Whether inputs and outputs of a module lie apart."""
    return text_attribute(module, "module.addr_mode") == APART


def io_layout(func: FuncOp) -> IoLayout:
    """Arguments in order, then results, each at a page; behind one that `tpu.Append` extends, what
    it appends, without a gap.

    Raises TpuError for a result that is an argument, and an Append of other than a computed value
    to an argument.
    """
    behind = dict(map(_pair, (op for op in func.body.block.ops if isinstance(op, tpu.AppendOp))))
    offsets: dict[SSAValue, int] = {}
    end = 0
    for value in (*func.body.block.args, *_results(func)):
        if value in offsets:
            continue
        offsets[value] = end
        end += size_in_bytes(value)
        if (appended := behind.get(value)) is not None:
            offsets[appended] = end
            end += size_in_bytes(appended)
        end = align_up(end, PAGE_BYTES)
    return IoLayout(offsets, end)


def _pair(op: tpu.AppendOp) -> tuple[SSAValue, SSAValue]:
    """An argument, and the value that goes behind it."""
    first, second = root_of(op.input), root_of(op.behind)
    whole = second.offset == 0 and size_in_bytes(second.source) == size_in_bytes(op.behind)
    if first.offset or not whole or isinstance(first.source.owner, tpu.AppendOp):
        raise TpuError(
            f"tpu.Append '{required_name(op.output)}': what it appends is not a whole value"
        )
    return first.source, second.source


def _results(func: FuncOp) -> list[SSAValue]:
    last = func.body.block.last_op
    assert isinstance(last, ReturnOp)
    roots = [root_of(value).source for value in last.operands]
    return [value for value in roots if not isinstance(value.owner, top.WeightOp)]
