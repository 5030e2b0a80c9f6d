"""The pass `share-weights`."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.weights import known_weights
from xdsl_tpu.passes.tensors import functions, required_name

Values: TypeAlias = npt.NDArray[Any]

_SAMPLES = 64
"""Numbers of two weights that are compared first."""


@dataclass(frozen=True)
class ShareWeightsPass(ModulePass):
    """Let ops that do the same with equal numbers read one weight.

        %w1 = Weight() loc("a")                          %w1 = Weight() loc("a")
        %w2 = Weight() loc("b")  // equal           ->   %1 = MatMul(%0, %w1)
        %1 = MatMul(%0, %w1), %2 = MatMul(%1, %w2)       %2 = MatMul(%1, %w1)

    Layers of one network that are the same, or one head on several images, get copies of their
    weights, of which each would be loaded. One weight lies in DDR once, and where the layer groups
    leave room for it it is loaded once. Ops of one kind, with the same attributes and the weight
    in the same place, want it in the same layout. Those of fewer than `least` bytes come together
    with others anyway; those that are one number everywhere are equal by chance.
    """

    name = "share-weights"

    least: int = 1 << 16

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        weights = known_weights(op)
        if weights is None:
            return
        for func in functions(op):
            alike: dict[Hashable, list[top.WeightOp]] = {}
            for weight in list(func.body.block.ops):
                if not isinstance(weight, top.WeightOp) or len(list(weight.output.uses)) != 1:
                    continue
                values = weights[required_name(weight)]
                if values.nbytes < self.least or _is_one_number(values):
                    continue
                found = alike.setdefault((_use(weight), _sample(values)), [])
                equal = (one for one in found if _same(weights[required_name(one)], values))
                kept = next(equal, None)
                if kept is None:
                    found.append(weight)
                    continue
                weight.output.replace_all_uses_with(kept.output)
                weight.detach()
                weight.erase()


def _use(weight: top.WeightOp) -> Hashable:
    """What a weight is, and how its one reader reads it."""
    (use,) = weight.output.uses
    own, its = (frozenset(op.attributes.items()) for op in (weight, use.operation))
    return weight.output.type, own, type(use.operation), use.index, its


def _sample(values: Values) -> bytes:
    """Some of the numbers, by which most weights differ."""
    return values.reshape(-1)[:: max(1, values.size // _SAMPLES)].tobytes()


def _is_one_number(values: Values) -> bool:
    sample = np.frombuffer(_sample(values), values.dtype)
    return bool((sample == sample[0]).all() and (values == sample[0]).all())


def _same(one: Values, other: Values) -> bool:
    """Bit for bit."""
    return one is other or one.tobytes() == other.tobytes()
