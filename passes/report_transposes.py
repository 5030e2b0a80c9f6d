"""`report-transposes`: which moves of data are left, what they cost and why they are left."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.absorbed import is_absorbed
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.tpu.op import LocalOp
from xdsl_tpu.passes.canonicalize.permute_order import Permutation
from xdsl_tpu.passes.graph import users
from xdsl_tpu.passes.module_state import chip_of
from xdsl_tpu.passes.processor_tpu_optimize.permutes import HEADS
from xdsl_tpu.passes.tensors import shape_of, size_in_bytes

RENAMES = (tpu.ReshapeOp, tpu.SqueezeOp, tpu.UnsqueezeOp)
"""Ops that move data only when operand and result have different addresses."""

_TRANSPARENT = (*RENAMES, tpu.CastOp, tpu.LoadOp, tpu.StoreOp)
_ABSORBED = "absorbed into the strided loads of a group"
_LOCAL = "in local memory, inside a group"
_TURNS = ((1, 0), (0, 2, 1))
"""Orders that transpose matrices."""


@dataclass(frozen=True)
class Move:
    """One op that only moves data. `bytes` are those of its result, `cycles` those it takes alone.

    `order` is the order of a Permute, else empty. An `absorbed` op is not executed: its bytes are
    0, and its cycles are what the Loads that read through it take longer than plain ones. A
    `local` op stands in a group and works from local memory: it moves no bytes of DDR, and its
    cycles are those of its commands on all slices.
    """

    name: str
    op: str
    shape: tuple[int, ...]
    order: tuple[int, ...]
    bytes: int
    cycles: int
    absorbed: bool
    local: bool
    reason: str


@dataclass(frozen=True)
class ReportTransposesPass(ModulePass):
    """List every transpose that is left with its bytes, its cycles and why it was not removed.

    The table goes to standard error, with `json` also to a file. The IR must be lowered; it does
    not change. Ops listed: Permute, Depth2Space, SwapDimInner, and Reshape, Squeeze or Unsqueeze
    that copy from one address to another, in DDR or in local memory.
    """

    name = "report-transposes"

    json: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if any(isinstance(inner, top.PermuteOp | top.MatMulOp) for inner in op.walk()):
            raise TpuError(f"{self.name}: the module is top IR; run --convert-top-to-tpu first")
        chip = chip_of(op)
        found = list(moves(op, chip))
        print(table(found), file=sys.stderr)
        if self.json:
            rows = [asdict(move) for move in found]
            Path(self.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def moves(module: ModuleOp, chip: Chip) -> Iterator[Move]:
    """The ops of a lowered module that only move data, in order."""
    for op in module.walk():
        reason = _REASONS.get(type(op))
        if reason is None or (isinstance(op, RENAMES) and _in_place(op)):
            continue
        (result,) = op.results
        absorbed, local = is_absorbed(op), isinstance(op.parent_op(), tpu.GroupOp)
        where = f"{_ABSORBED}; " if absorbed else f"{_LOCAL}; " if local else ""
        yield Move(
            name=str(name_of(op)),
            op=op.name,
            shape=shape_of(op.operands[0]),
            order=ints(op.order) if isinstance(op, tpu.PermuteOp) else (),
            bytes=0 if absorbed or local else size_in_bytes(result),
            cycles=_cycles(op, chip),
            absorbed=absorbed,
            local=local,
            reason=where + reason(op),
        )


def table(found: list[Move]) -> str:
    """The report as text: a line for each op, then the sums."""
    lines = [f"{'cycles':>10} {'bytes':>10}  op"]
    for move in found:
        shape = "x".join(map(str, move.shape))
        order = f" {list(move.order)}" if move.order else ""
        lines.append(
            f"{move.cycles:>10,} {move.bytes:>10,}  {move.op} {shape}{order} '{move.name}'"
        )
        lines.append(f"{'':>24}{move.reason}")
    cycles, size = sum(move.cycles for move in found), sum(move.bytes for move in found)
    permutes = sum(bool(move.order) for move in found)
    sums = f"{cycles:>10,} {size:>10,}  {len(found)} ops, {permutes} of them Permutes"
    if absorbed := sum(move.absorbed for move in found):
        sums += f"; {absorbed} absorbed"
    if local := sum(move.local for move in found):
        sums += f"; {local} in local memory"
    lines.append(sums)
    return "\n".join(lines)


def _cycles(op: Operation, chip: Chip) -> int:
    """What the op takes where it stands. Imports are here, as no other pass needs kernels."""
    if is_absorbed(op):
        return import_module("xdsl_tpu.passes.layer_group.absorb").absorbed_cycles(op, chip)
    if isinstance(op.parent_op(), tpu.GroupOp):
        return import_module("xdsl_tpu.backend.local.in_group").cycles_in_group(op, chip)
    return import_module("xdsl_tpu.backend.layer_cost").timeline_alone(op, chip).total


def _in_place(op: Operation) -> bool:
    """Whether a Reshape needs no copy: operand and result share an address, or have none.

    In a group the addresses are those of local memory.
    """
    places = [_address(value) for value in (op.operands[0], op.results[0])]
    return None in places or places[0] == places[1]


def _address(value: SSAValue) -> int | None:
    maker = value.owner
    if isinstance(maker, LocalOp) and isinstance(maker.parent_op(), tpu.GroupOp):
        return None if maker.ginfo is None else maker.ginfo.out_addr.value.data
    kind = value.type
    if isa(kind, TensorType[Attribute]) and isa(kind.encoding, IntegerAttr):
        return kind.encoding.value.data
    return None


def _why_permute(op: Operation) -> str:
    assert isinstance(op, tpu.PermuteOp)
    before, after = _kind(_maker(op.input)), _kinds(_readers(op.output))
    order, whole = ints(op.order), Permutation(shape_of(op.input), ints(op.order))
    if (edge := _edge(op)) is not None:
        return edge
    if order == HEADS:
        return _why_heads(op, before, after)
    if any(one is not None and one.order in _TURNS for one in map(whole.at_rank, (2, 3))):
        return f"channels first to last or back: {before} and {after} have no form for the other"
    if (blocks := whole.at_rank(4)) is not None and blocks.order == HEADS:
        _, rows, columns, run = blocks.shape
        return (
            f"windows: {before} and {after} go through the image in different orders, "
            f"{rows}x{columns} runs of {run} elements change places"
        )
    return f"{before} gives another order than {after} reads, and neither takes it in"


def _why_heads(op: tpu.PermuteOp, before: str, after: str) -> str:
    """The reason for one that swaps rows and heads, which products can take in."""
    if not any(isinstance(user, tpu.MatMulOp) for user in users(op.output)):
        return f"rows and heads are swapped between {before} and {after}, which need them so"
    if not op.output.has_one_use():
        return "it has several uses, and a product takes in only a Permute of its own"
    return "the product's operands differ in batch or heads, or more bytes would move"


def _why_rotation(op: Operation) -> str:
    assert isinstance(op, tpu.SwapDimInnerOp)
    rotated = [axis for axis, offset in enumerate(ints(op.offset)) if offset]
    return _edge(op) or f"shifted windows: dimensions {rotated} are rotated, all elements move"


def _why_blocks(op: Operation) -> str:
    assert isinstance(op, tpu.Depth2SpaceOp)
    size = f"{op.block_h.value.data}x{op.block_w.value.data}"
    return _edge(op) or f"blocks of {size} pixels become channels, or channels blocks"


def _why_copy(op: Operation) -> str:
    return _edge(op) or "operand and result lie at different addresses"


_REASONS: Mapping[type[Operation], Callable[[Operation], str]] = {
    tpu.PermuteOp: _why_permute,
    tpu.Depth2SpaceOp: _why_blocks,
    tpu.SwapDimInnerOp: _why_rotation,
    **dict.fromkeys(RENAMES, _why_copy),
}


def _edge(op: Operation) -> str | None:
    """The reason at the edge of the network, where orders are given."""
    if any(isinstance(user, ReturnOp) for user in _readers(op.results[0])):
        return "the network returns its result in this order"
    if isinstance(_maker(op.operands[0]), top.InputOp):
        return "the network is given its input in the other order"
    return None


def _maker(value: SSAValue) -> Operation | None:
    """The op that computes `value`, through renames, casts and the borders of groups."""
    op = value.owner
    if isinstance(op, _TRANSPARENT):
        return _maker(op.operands[0])
    if isinstance(op, tpu.GroupOp) and isinstance(value, OpResult):
        last = op.body.block.last_op
        return None if last is None else _maker(last.operands[value.index])
    return op if isinstance(op, Operation) else None


def _readers(value: SSAValue) -> list[Operation]:
    """The ops that compute with `value`, through renames, casts and the borders of groups."""
    found: list[Operation] = []
    for use in value.uses:
        op = use.operation
        if isinstance(op, _TRANSPARENT):
            found += _readers(op.results[0])
        elif isinstance(op, tpu.YieldOp) and isinstance(group := op.parent_op(), tpu.GroupOp):
            found += _readers(group.results[use.index])
        elif not isinstance(op, tpu.GroupOp):  # the Load in its body is a user, too
            found.append(op)
    return found


def _kind(op: Operation | None) -> str:
    """What sort of op, in a word."""
    return "the function" if op is None else op.name.rpartition(".")[2]


def _kinds(ops: Sequence[Operation]) -> str:
    return " and ".join(dict.fromkeys(map(_kind, ops)))
