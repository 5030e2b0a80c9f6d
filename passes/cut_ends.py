"""The pass `cut-ends`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from xdsl_tpu.passes.layer_group.base_groups import computing_ops
from xdsl_tpu.passes.layer_group.window import WindowCosts
from xdsl_tpu.passes.module_state import chip_of, cores_of
from xdsl_tpu.passes.part_results import results_of
from xdsl_tpu.passes.tails import CutTail, Tail, tail_of
from xdsl_tpu.passes.tensors import functions

HEIGHTS = ((64, 16), (32, 16), (32, 8))
"""Rows that bands have at most, and that the last one has, which are tried."""

BEFORE = 8
"""Ops in front of a tail that are looked at with it: what it reads may be in local memory."""

FEWEST = 2
"""Bands of a result."""


@dataclass(frozen=True)
class CutEndsPass(ModulePass):
    """Let rows of a network's result be stored while the next ones are computed.

        %1 = "tpu.Conv2D"(%0, ..) : 1x9x64x64           %a = "tpu.Slice"(%0) : 1x16x33x64
        %2 = "tpu.Depth2Space"(%1) : 1x1x192x192        %b = "tpu.Conv2D"(%a, ..) : 1x9x32x64
        %3 = "tpu.Cast"(%2) : 1x1x192x192 (f32)   ->    %c = "tpu.Rearrange"(%b) {in_lanes}
        return %3                                       %d = "tpu.Rearrange"(%c) {in_lanes}
                                                        %e = "tpu.Cast"(%d) : 1x32x1x576 (f32)
                                                        .. the same for the next 32 rows ..
                                                        %j = "tpu.Join"(%e, ..) : 1x64x1x576
                                                        %3 = "tpu.Reshape"(%j) : 1x1x192x192

    A result that a convolution makes, behind which values only move and are cast, is stored when
    all of it is there, and nothing is computed meanwhile. Bands of it are ops of their own in a
    group of one slice: each is stored while the next ones are computed, and the last ones are
    short. Where values move, rows come to lie over the lanes within local memory. The rows of the
    image that a band has must be rows of the result, one behind the other, so that images of
    several colours are left as they are. It is done where the ops are done earlier with it, and
    not for several cores, which share the slices of what they store. `chip` is a name or a `.toml`
    description, by default `module.chip`.
    """

    name = "cut-ends"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chip = chip_of(op, self.chip)
        if cores_of(op) > 1:
            return
        for func in functions(op):
            costs = WindowCosts(chip, op)
            for value in results_of(func):
                tail = tail_of(value)
                if tail is not None:
                    _cut(tail, computing_ops(func.body.block), costs)


def _cut(tail: Tail, ops: Sequence[Operation], costs: WindowCosts) -> None:
    """Cut a tail into the bands with which it is done first, if any; `ops` are all of the
    network."""
    others = ops[: ops.index(tail.ops[0])][-BEFORE:]
    fewest, best = costs.window([*others, *tail.ops]).cycles, None

    for most, least in HEIGHTS:
        ends = list(band_ends(tail.rows, most, least))
        if len(ends) <= FEWEST:
            continue
        cut = CutTail(tail, ends)
        if not cut.is_right:
            return
        cut.insert()
        taken = costs.window([*others, *cut.computing]).cycles - cut.hidden(costs)
        cut.erase()
        if taken < fewest:
            fewest, best = taken, ends
    if best is not None:
        cut = CutTail(tail, best)
        cut.insert()
        cut.erase_tail()


def band_ends(rows: int, most: int, least: int) -> Iterator[int]:
    """Where bands begin, the last of which are short, as nothing hides their stores: each has half
    of the rows that are left, in whole times of `least`."""
    start = 0
    while start < rows:
        yield start
        half = -(-(rows - start) // (2 * least)) * least
        start += min(most, half)
    yield rows
