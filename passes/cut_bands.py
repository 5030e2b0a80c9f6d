"""The pass `cut-bands`."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from xdsl_tpu.passes.bands import Best, best_bands, chains, cut_into
from xdsl_tpu.passes.layer_group.base_groups import computing_ops
from xdsl_tpu.passes.layer_group.window import WindowCosts
from xdsl_tpu.passes.module_state import chip_of, cores_of
from xdsl_tpu.passes.tensors import functions

BEHIND = 8
"""Ops behind a chain that are looked at with it."""

LITTLE = 0.0175
"""By what share of their time these may be done later with bands, which are done first alone: how
early the weights of what follows come is not known any better."""


@dataclass(frozen=True)
class CutBandsPass(ModulePass):
    """Let the first ops of a network work on some rows of an image while others are loaded.

        %1 = "tpu.Cast"(%0) : 1x3x224x224            %a = "tpu.Rearrange"(%0) : 1x3x115x224
        %2 = "tpu.Conv2D"(%1, ...) : 1x64x112x112    %b = "tpu.Rearrange"(%0) : 1x3x114x224
                                                ->   %1 = "tpu.Cast"(%a), %2 = "tpu.Conv2D"(%1, ..)
                                                     %3 = "tpu.Cast"(%b), %4 = "tpu.Conv2D"(%3, ..)
                                                     %5 = "tpu.Concat"(%2, %4) : 1x64x112x112

    A layer group of one slice loads an image before it begins, one of several slices stores what
    it makes, even where there is room for all of it. Bands are ops of their own in a group of one
    slice: the next is loaded while one is computed, and results stay. How many ops behind an input
    are cut into how many bands is decided by the cycles of the groups that can be made of them,
    and whether any are by those of the ops behind, too: what slices make goes on to its readers in
    one group, and what bands make is stored where readers find no room beside it. A network that
    is not faster stays as it is, and one whose weights take longer than its ops, unless less is
    moved. Where several cores work nothing is cut: they share
    the slices of a group. `chip` is a name or a `.toml` description, by default `module.chip`.
    """

    name = "cut-bands"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chip = chip_of(op, self.chip)
        if cores_of(op) > 1:
            return
        for func in functions(op):
            ops, costs = computing_ops(func.body.block), WindowCosts(chip, op)
            for chain in list(chains(ops)):
                best = best_bands(chain, (), costs.window(chain), ops, costs)
                if best is not None:
                    at = ops.index(chain[-1]) + 1
                    _cut(chain, best, ops[at : at + BEHIND], costs)


def _cut(
    chain: Sequence[Operation], best: Best, behind: Sequence[Operation], costs: WindowCosts
) -> None:
    """Put bands in the place of the first ops of a chain, unless the ops behind are done later.

    Slices of a chain go on to its readers, whose operands need never be whole; bands are joined in
    local memory, and where readers find no room beside that, it is stored and loaded again.
    """
    plain = costs.window([*chain, *behind]).cycles  # before bands read the same weights
    cut = cut_into(chain[: best.end], best.ends)
    if cut is None:
        return
    cut.insert()
    after = [*chain[best.end :], *behind]
    if costs.window([*cut.computing, *after]).cycles > (1 + LITTLE) * plain:
        cut.erase()
    else:
        cut.erase_chain()
