"""The pass `split-long-rows`."""

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.quant import stored_element
from xdsl_tpu.dialects.weights import Weights, known_weights
from xdsl_tpu.passes.lowering.context import F32, LoweringContext
from xdsl_tpu.passes.module_state import State, chip_of, require_state
from xdsl_tpu.passes.split_long_rows.rows import Rows
from xdsl_tpu.passes.split_long_rows.table import SPLITS
from xdsl_tpu.passes.tensors import element_of, functions


@dataclass(frozen=True)
class SplitLongRowsPass(ModulePass):
    """Compute along rows that do not fit the memory of a lane in parts.

    Norms, softmax, reductions and pools of whole images keep a row, an image or a group of
    channels, in one lane. One that is too long for it is computed in f32 by other ops, from sums
    or maxima of parts, which lie in many lanes:

        %y = "tpu.Reduce"(%x) {axes = [1], mode = "ReduceSum", ..} : (2x40000) -> 2x1
        %a = "tpu.Reshape"(%x) : (2x40000) -> 2x32x1250x1
        %b = "tpu.Reduce"(%a) {axes = [2], mode = "ReduceSum", ..} : (2x32x1250x1) -> 2x32x1x1
        %c = "tpu.Reshape"(%b) : (2x32x1x1) -> 2x32x1
        %y = "tpu.Reduce"(%c) {axes = [1], mode = "ReduceSum", ..} : (2x32x1) -> 2x1x1, reshaped

    Norms of images keep the channels in their lanes: moments of the rows of every channel are
    made where the image is, in slices if need be; channels of a group are brought together by a
    product with a matrix of ones, and the norm is a factor and a summand for each channel. So are
    those of large images whose rows would fit, and of few groups, which would leave lanes idle:
    their own ops work from DDR only, these anywhere.
    Rows that were images and are divided by their length are images again for that long.

    `chip`, a name or a `.toml` description, says how large that memory is; by default
    `module.chip`.
    """

    name = "split-long-rows"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TPU_LOWERED, self.name)
        chip = chip_of(op, self.chip)
        weights = known_weights(op)
        for func in functions(op):
            _split(func, chip, weights)


def _split(func: FuncOp, chip: Chip, weights: Weights | None) -> None:
    entry = func.body.block
    for op in list(entry.ops):
        split = SPLITS.get(type(op))
        if split is None or not _all_float(op):
            continue
        builder = Builder(InsertPoint.before(op))
        context = LoweringContext(F32, weights, entry, builder, chip)
        value = split(op, Rows(chip, context))
        if value is None:
            continue
        given = [operand.owner for operand in op.operands]
        op.results[0].replace_all_uses_with(value)
        op.detach()
        op.erase()
        for maker in given:
            _erase_unread(maker)


def _erase_unread(maker: Operation | Block | None) -> None:
    """Erase what nothing reads any more, a boundary of groups if it stayed."""
    while isinstance(maker, top.WeightOp | tpu.CastOp | tpu.ReshapeOp):
        if maker.output.first_use is not None:
            return
        before = maker.operands[0].owner if maker.operands else None
        maker.detach()
        maker.erase()
        maker = before


def _all_float(op: Operation) -> bool:
    """Whether nothing is quantised: 8-bit forms have kernels of their own."""
    values = (value for value in (*op.operands, *op.results) if not is_none(value))
    return all(isinstance(stored_element(element_of(value)), AnyFloat) for value in values)
