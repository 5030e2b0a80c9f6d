"""The pass `weight-reorder`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, ModuleOp, StringAttr
from xdsl.passes import ModulePass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.weights import Weights, known_weights
from xdsl_tpu.passes.module_state import (
    State,
    chip_of,
    cores_of,
    require_state,
    set_module_attributes,
)
from xdsl_tpu.passes.weight_reorder.conv import reorder_conv
from xdsl_tpu.passes.weight_reorder.matmul import reorder_matmul
from xdsl_tpu.passes.weight_reorder.merge_choice import choose_merges
from xdsl_tpu.passes.weight_reorder.merge_rule import is_quantized, merge_by_rule, merges
from xdsl_tpu.passes.weight_reorder.packed import reorder_packed
from xdsl_tpu.passes.weight_reorder.quantized_conv import merge_conv, takes_offset
from xdsl_tpu.passes.weight_reorder.scale import reorder_scale
from xdsl_tpu.passes.weight_reorder.zeros import count_zeros

_WORD = 4
"""Bytes."""


@dataclass(frozen=True)
class WeightReorderPass(ModulePass):
    """Bring weights into the layouts the chip reads.

    Filter, bias and requantisation of a quantised convolution become one weight:

        %y = "tpu.Conv2D"(%x, %w, %b) {coeff_merged = false, multiplier = [..], rshift = [..], ..}
            : (.., tensor<64x64x3x3xsi8>, tensor<1x64x1x1xi32>)
        %y = "tpu.Conv2D"(%x, %m, %none) {coeff_merged = true, ..}
            : (.., tensor<1x64x1x640xsi8>, none)

    Filters of few channels may have kernel rows, or rows and columns, merged into the channels.
    That fills the cube better, but loads the input once for each: it is done where the ops around
    are done earlier with it, by measured cycles. `measure=false` merges rows wherever that fills
    the cube better, `use_3ic=false` nothing. `merge_columns=true` merges columns, too, wherever
    they fit: the vendor's choice, which is not measured. Coefficients of 8-bit convolutions are
    merged for the lanes of `chip`, a name or a `.toml` description, by default `module.chip`.
    Where a chip's convolutions do not scale their sums, the bias is part of the scaling behind
    them, which is in f32 then (`requant_floats`): nothing writes it to where sums begin.
    `offsets=false` leaves biases among the sums, as the vendor does.
    What multiplies by weights of which a twentieth or more is zero, says which part (`zeros`).
    """

    name = "weight-reorder"

    use_3ic: bool = True
    merge_columns: bool = False
    measure: bool = True
    offsets: bool = True
    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TPU_LOWERED, self.name)
        weights = known_weights(op)
        chip = chip_of(op, self.chip)
        mergeable: dict[tpu.Conv2DOp, int] = {}
        possible: dict[tpu.Conv2DOp, Sequence[int]] = {}
        for inner in list(op.walk()):
            if weights is not None and isinstance(inner, tpu.Conv2DOp | tpu.MatMulOp):
                count_zeros(inner, weights)
            if isinstance(inner, tpu.Conv2DOp):
                self._choose_offset(inner, weights, chip)
                lanes = chip.weight_lanes
                mode = merge_by_rule(inner, lanes, self.merge_columns) if self.use_3ic else 0
                if mode:
                    mergeable[inner], possible[inner] = mode, merges(inner, lanes)
                else:
                    _reorder(inner, weights, chip, 0)
            elif isinstance(inner, tpu.MatMulOp):
                reorder_matmul(inner, weights, chip)
            elif isinstance(inner, tpu.ScaleOp):
                reorder_scale(inner, weights)
            elif isinstance(inner, tpu.A16MatMulOp | tpu.MlpOp):
                reorder_packed(inner, weights, chip)
        if self.measure and not self.merge_columns:
            mergeable = _worth_it(possible, chip, cores_of(op) == 1)
        for conv, mode in mergeable.items():
            _reorder(conv, weights, chip, mode)
        set_module_attributes(op, {"module.state": StringAttr(State.TPU_REORDERED)})

    def _choose_offset(self, conv: tpu.Conv2DOp, weights: Weights | None, chip: Chip) -> None:
        # A factor and an offset take a lane's width, as three words that are integers do.
        fit = chip.weight_lanes.words * _WORD <= chip.eu_bytes
        if not self.offsets or chip.instructions.requantises or not fit:
            return
        if is_quantized(conv) and takes_offset(conv, chip.weight_lanes, weights):
            conv.requant_floats = BoolAttr.from_bool(True)


def _reorder(conv: tpu.Conv2DOp, weights: Weights | None, chip: Chip, mode: int) -> None:
    if is_quantized(conv):
        merge_conv(conv, weights, chip.weight_lanes, mode)
    else:
        reorder_conv(conv, weights, chip.weight_lanes.row, mode)


def _worth_it(
    possible: Mapping[tpu.Conv2DOp, Sequence[int]], chip: Chip, bands: bool
) -> dict[tpu.Conv2DOp, int]:
    """What is merged of what could be, function by function."""
    blocks = dict.fromkeys(block for conv in possible if (block := conv.parent) is not None)
    chosen: dict[tpu.Conv2DOp, int] = {}
    for block in blocks:
        inside = {conv: modes for conv, modes in possible.items() if conv.parent is block}
        chosen |= choose_merges(block, inside, chip, bands)
    return chosen
