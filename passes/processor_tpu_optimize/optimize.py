"""The pass `processor-tpu-optimize`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern

from xdsl_tpu.dialects import precision, tpu
from xdsl_tpu.dialects.weights import Weights, known_weights
from xdsl_tpu.passes.module_state import (
    State,
    name_weight_file,
    require_state,
    set_module_attributes,
)
from xdsl_tpu.passes.pattern_table import PatternPass, PatternsByOp, PatternTable, rewrite
from xdsl_tpu.passes.processor_tpu_optimize import (
    fit_permute,
    hdim_batch,
    masked_fill,
    permute_add_weight,
    permute_around_add,
    permute_fuse,
    permute_reorder,
    permute_reshape,
    permute_swap,
    reshape_slice,
)
from xdsl_tpu.passes.processor_tpu_optimize.column_product import ColumnProduct
from xdsl_tpu.passes.processor_tpu_optimize.divide_once import DivideOnce
from xdsl_tpu.passes.processor_tpu_optimize.early_cast import CastBeforeMove
from xdsl_tpu.passes.processor_tpu_optimize.group_conv import GroupConvToNormalConv
from xdsl_tpu.passes.processor_tpu_optimize.matmul_left_reuse import MatMulLeftReuse
from xdsl_tpu.passes.processor_tpu_optimize.narrow_active import NarrowActive
from xdsl_tpu.passes.processor_tpu_optimize.remove_reshape import RemoveReshape
from xdsl_tpu.passes.processor_tpu_optimize.skewed_rows import SkewedRows
from xdsl_tpu.passes.processor_tpu_optimize.wide_product import WideProduct


def patterns(weights: Weights | None) -> PatternTable:
    """Which patterns are tried on which op, in order; they change `weights` with the ops."""
    reorder = permute_reorder.PermuteReorderPattern()
    mask = permute_reorder.PermuteFuseAddSoftmax()
    add_weight = permute_add_weight.PermuteAddWeightReorderPattern(weights)
    table: dict[type[Operation], Sequence[RewritePattern]] = {
        kind: (reorder,) for kind in permute_reorder.UNARY
    }
    return table | {
        tpu.ActiveOp: (NarrowActive(), *table.get(tpu.ActiveOp, ())),
        tpu.AddOp: (
            permute_around_add.ErasePermuteAroundAdd(),
            add_weight,
            reorder,
            permute_around_add.MovePermuteAfterAdd(),
            mask,
        ),
        tpu.CastOp: (WideProduct(weights), CastBeforeMove(), *table.get(tpu.CastOp, ())),
        tpu.Conv2DOp: (GroupConvToNormalConv(weights),),
        tpu.DivOp: (DivideOnce(),),
        tpu.MaskedFillOp: (masked_fill.MaskedFillPermuteMove(weights),),
        tpu.MatMulOp: (
            fit_permute.FitPermute2Hdim(),
            hdim_batch.MatMulHdimBatchPattern(weights),
            reshape_slice.MatMulRemoveReshapePattern(),
            ColumnProduct(),
            MatMulLeftReuse(),
        ),
        tpu.MulOp: (add_weight, reorder, mask),
        tpu.MulConstOp: (reorder, permute_reorder.PermuteMulconstSwap()),
        tpu.PadOp: (permute_swap.PermutePadSwap(),),
        tpu.PermuteOp: (
            permute_reshape.ReshapePermuteFuse(),
            permute_reshape.PermuteToReshape(),
            permute_fuse.PermuteFuse(),
            permute_fuse.PermuteFuse2(),
            permute_reshape.PermuteReshapeFuse2(),
        ),
        tpu.ReshapeOp: (RemoveReshape(), permute_reshape.PermuteReshapeFuse()),
        tpu.SliceOp: (permute_swap.PermuteFuseAddSoftmaxSlice(), SkewedRows(weights)),
        tpu.WhereOp: (permute_reorder.PermuteBehindWhere(),),
        tpu.SqueezeOp: (reshape_slice.ReshapeSliceSqueezePattern(),),
        tpu.SubOp: (reorder, mask),
        tpu.TileOp: (permute_swap.PermuteTileSwap(),),
    }


@dataclass(frozen=True)
class ProcessorTpuOptimizePass(PatternPass):
    """Rewrite tpu ops into forms the chip runs faster.

    `precision` is that of the 16-bit kernels, from here to code generation: `close` and `full`
    are recorded in the module, `fast` leaves what the module says (see `dialects.precision`).
    `merge_depthwise=true` makes dense filters of few depthwise ones, too, as the vendor does; the
    matrix unit then takes several times as long as the pooling unit. `chip`, a name or a `.toml`
    description, by default `module.chip`, says how wide the matrix unit is.
    """

    name = "processor-tpu-optimize"

    precision: Literal["fast", "close", "full"] = "fast"
    merge_depthwise: bool = False
    chip: str = ""

    @classmethod
    def table(cls, weights: Weights | None) -> PatternTable:
        return patterns(weights)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TPU_LOWERED, self.name)
        if self.precision != "fast":
            set_module_attributes(op, {precision.ATTRIBUTE: StringAttr(self.precision)})
        rewrite(op, self._told(self.enabled(known_weights(op))))
        name_weight_file(op, "tpu_lowered")

    def _told(self, patterns: PatternsByOp) -> PatternsByOp:
        """The same patterns with this pass's options."""
        of_convolutions = [
            replace(one, merge_depthwise=self.merge_depthwise, chip=self.chip)
            if isinstance(one, GroupConvToNormalConv)
            else one
            for one in patterns.patterns[tpu.Conv2DOp]
        ]
        return PatternsByOp({**patterns.patterns, tpu.Conv2DOp: of_convolutions})
