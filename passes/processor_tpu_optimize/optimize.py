"""The pass `processor-tpu-optimize`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker

from xdsl_tpu.passes.module_state import (
    State,
    optional_weights,
    require_state,
    set_module_attributes,
    text_attribute,
    weight_file_name,
)
from xdsl_tpu.passes.processor_tpu_optimize.group_conv import GroupConvToNormalConv
from xdsl_tpu.passes.processor_tpu_optimize.matmul_left_reuse import MatMulLeftReuse
from xdsl_tpu.passes.processor_tpu_optimize.remove_reshape import RemoveReshape


@dataclass(frozen=True)
class ProcessorTpuOptimizePass(ModulePass):
    """Rewrite tpu ops into forms the BM1684X runs faster."""

    name = "processor-tpu-optimize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TPU_LOWERED, self.name)
        patterns = GreedyRewritePatternApplier(
            [GroupConvToNormalConv(optional_weights(op)), MatMulLeftReuse(), RemoveReshape()]
        )
        PatternRewriteWalker(patterns).rewrite_module(op)
        chip, mode = (text_attribute(op, f"module.{key}") for key in ("chip", "mode"))
        if "module.weight_file" in op.attributes and chip and mode:
            file = weight_file_name(op, "tpu_lowered", chip, mode)
            set_module_attributes(op, {"module.weight_file": StringAttr(file)})
