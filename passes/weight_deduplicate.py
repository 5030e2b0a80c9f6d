"""The pass `weight-deduplicate`."""

import hashlib
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.tensors import functions, required_name


@dataclass(frozen=True)
class WeightDeduplicatePass(ModulePass):
    """Keep one of several weights that are the same numbers of one type.

        %w1 = Weight() loc("a")                 %w1 = Weight() loc("a")
        %w2 = Weight() loc("b")  // equal  ->   %1 = Conv(%0, %w1), %2 = Conv(%1, %w1)
        %1 = Conv(%0, %w1), %2 = Conv(%1, %w2)

    The first one stays, under its name. Before `weight-reorder`, which gives weights the layout of
    their users.
    """

    name = "weight-deduplicate"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        weights = weights_of(op)
        for func in functions(op):
            first: dict[tuple[Attribute, bytes], top.WeightOp] = {}
            for weight in [one for one in func.body.block.ops if isinstance(one, top.WeightOp)]:
                array = weights[required_name(weight)]
                digest = hashlib.sha256(array.tobytes()).digest()
                kept = first.setdefault((weight.output.type, digest), weight)
                if kept is weight or kept.attributes != weight.attributes:
                    continue
                weight.output.replace_all_uses_with(kept.output)
                weight.detach()
                weight.erase()
