"""The pass `weight-reorder`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interpreters.coefficients import Lanes
from xdsl_tpu.passes.module_state import (
    State,
    optional_weights,
    require_state,
    set_module_attributes,
    text_attribute,
)
from xdsl_tpu.passes.tensors import element_bytes
from xdsl_tpu.passes.weight_reorder.conv import reorder_conv
from xdsl_tpu.passes.weight_reorder.matmul import reorder_matmul
from xdsl_tpu.passes.weight_reorder.quantized_conv import merge_conv


@dataclass(frozen=True)
class WeightReorderPass(ModulePass):
    """Bring weights into the layouts the chip reads.

    Filter, bias and requantisation of a quantised convolution become one weight:

        %y = "tpu.Conv2D"(%x, %w, %b) {coeff_merged = false, multiplier = [..], rshift = [..], ..}
            : (.., tensor<64x64x3x3xsi8>, tensor<1x64x1x1xi32>)
        %y = "tpu.Conv2D"(%x, %m, %none) {coeff_merged = true, ..}
            : (.., tensor<1x64x1x640xsi8>, none)

    `use_3ic=false` keeps the filters of first layers from being merged with kernel rows and
    columns. They are merged with rows alone where rows and columns would fit, unless
    `merge_columns=true`: every merged column is loaded once more. Coefficients of 8-bit
    convolutions are merged for the lanes of `chip`, a name or a `.toml` description, by default
    `module.chip`.
    """

    name = "weight-reorder"

    use_3ic: bool = True
    merge_columns: bool = False
    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TPU_LOWERED, self.name)
        weights = optional_weights(op)
        chip = load_chip(self.chip or text_attribute(op, "module.chip") or "bm1684x")
        of_chip = Lanes(chip.lanes, chip.eu_bytes)
        for inner in list(op.walk()):
            if isinstance(inner, tpu.Conv2DOp) and _is_quantized(inner):
                merge_conv(inner, weights, self.use_3ic, of_chip, self.merge_columns)
            elif isinstance(inner, tpu.Conv2DOp):
                reorder_conv(inner, weights, self.use_3ic, self.merge_columns)
            elif isinstance(inner, tpu.MatMulOp):
                reorder_matmul(inner, weights)
        set_module_attributes(op, {"module.state": StringAttr(State.TPU_REORDERED)})


def _is_quantized(op: tpu.Conv2DOp) -> bool:
    """Whether coefficients are still to be merged: an 8-bit filter of its own."""
    return element_bytes(op.filter) == 1 and not bool(op.coeff_merged)
