"""The layers of an INT8 network that compute on floats all the same."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, ModuleOp
from xdsl.ir import Attribute

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_ranked_tensor
from xdsl_tpu.dialects.main_function import find_main
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.quant import UniformType, stored_element
from xdsl_tpu.passes.tensors import element_of

_FORMATS: dict[type[Attribute], str] = {
    Float16Type: "F16",
    BFloat16Type: "BF16",
    Float32Type: "F32",
}

_NO_LAYERS = (
    *(tpu.CastOp, tpu.ReshapeOp, tpu.PermuteOp, tpu.SliceOp, tpu.ConcatOp, tpu.PadOp),
    *(tpu.UnsqueezeOp, tpu.SqueezeOp, tpu.TileOp, top.InputOp, top.WeightOp, top.NoneOp),
)
"""Ops that compute nothing."""


@dataclass(frozen=True)
class FloatLayer:
    """A layer's name, its op (without the dialect), and the format it computes in."""

    name: str
    op: str
    mode: str


@dataclass(frozen=True)
class Layers:
    """How many layers compute on integers, and which on floats."""

    in_8_bits: int
    in_float: Sequence[FloatLayer]

    def summary(self) -> dict[str, Any]:
        """What `compile.json` holds of it."""
        return {"in_8_bits": self.in_8_bits, "in_float": [asdict(one) for one in self.in_float]}

    def text(self) -> str:
        """One line for people."""
        if not self.in_float:
            return f"all {self.in_8_bits} layers in 8 bits"
        kinds = Counter(f"{one.op} in {one.mode}" for one in self.in_float)
        shown = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        return f"{self.in_8_bits} layers in 8 bits; {len(self.in_float)} are not: {shown}"


def layers_of(module: ModuleOp) -> Layers:
    """The layers of a module of tpu IR that are in 8 bits and that are not."""
    whole, floats = 0, list[FloatLayer]()
    for op in find_main(module)[1].body.block.ops:
        if isinstance(op, _NO_LAYERS) or not op.results or not is_ranked_tensor(op.results[0].type):
            continue
        element = element_of(op.results[0])
        mode = _FORMATS.get(type(stored_element(element)))
        if isinstance(element, UniformType):
            whole += 1
        elif mode is not None:
            kind = op.name.partition(".")[2]
            floats.append(FloatLayer(name_of(op.results[0]) or "", kind, mode))
    return Layers(whole, floats)
