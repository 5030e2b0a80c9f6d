"""The passes `orient-products` and `orient-heads`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top
from xdsl_tpu.passes.canonicalize.permute import PermutesInOne
from xdsl_tpu.passes.layout.names import Names, keep_returned_names
from xdsl_tpu.passes.module_state import State, chip_of, require_state
from xdsl_tpu.passes.orient_products.columns import SoftmaxToColumns
from xdsl_tpu.passes.orient_products.network import HEADS, LAST_TWO, Exchange, Network
from xdsl_tpu.passes.orient_products.rewriting import Rewriting
from xdsl_tpu.passes.tensors import functions


@dataclass(frozen=True)
class OrientProductsPass(ModulePass):
    """Write products transposed, and what lies between them, where fewer transpositions are left.

        Permute  8x48x196 -> 8x196x48
        Slice    8x196x16, three times            Slice   8x16x196, three times
        Permute  8x196x16 -> 8x16x196             MatMul  8x16x196 @ (8x16x196)^T
        MatMul   8x16x196 @ 8x196x16        ->    MatMul  8x16x16 @ 8x16x196
        MatMul   8x196x16 @ 8x16x16
        Permute  8x196x16 -> 8x16x196

    The transpose of x y is y^T x^T; element-wise ops, slices, paddings, concatenations and changes
    of shape in front of matrices do the same on transposed values; a softmax down columns becomes
    one along rows. Each such op is written one way or the other, as a minimum cut of their graph
    says: what is minimised are the cycles of the transpositions that are left, of softmaxes down
    columns, and of products, in which rows lie over the lanes. The right matrix may be read
    transposed for nothing. Everything else keeps its form. `chip` is a name or a `.toml`
    description.
    """

    name = "orient-products"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TOP_F32, self.name, State.TOP_CALIBRATED)
        chip = chip_of(op, self.chip)
        with keep_returned_names(op):
            applier = GreedyRewritePatternApplier([SoftmaxToColumns(chip)])
            PatternRewriteWalker(applier).rewrite_module(op)
            _orient(op, LAST_TWO, chip)


@dataclass(frozen=True)
class OrientHeadsPass(ModulePass):
    """Let what lies between transpositions of rows and heads work on the order that needs fewer.

        Permute  1x785x8x16 -> 1x8x785x16
        Slice    1x8x784x16                     Slice    1x784x8x16
        Permute  1x8x16x784 -> 1x8x784x16  ->   Permute  1x8x16x784 -> 1x784x8x16
        Mul      1x8x784x16                     Mul      1x784x8x16
        Permute  1x8x784x16 -> 1x784x8x16

    Ops that work on any order of dimensions do so on rows x heads x columns, of each image or of
    one, where the transpositions around them are then fewer, by a minimum cut as in
    `orient-products`; transpositions behind each other are one, and one of four dimensions of
    another kind gives what it gives in either order. Products keep their form. `chip` is a name or
    a `.toml` description.
    """

    name = "orient-heads"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TOP_F32, self.name, State.TOP_CALIBRATED)
        with keep_returned_names(op):
            PatternRewriteWalker(PermutesInOne()).rewrite_module(op)
            _orient(op, HEADS, chip_of(op, self.chip))


def _orient(module: ModuleOp, exchange: Exchange, chip: Chip) -> None:
    for func in functions(module):
        network = Network.of(func, chip, exchange)
        if any(exchange.is_swap(op) or isinstance(op, top.SoftmaxOp) for op in network.ops):
            labels = network.labels()
            if any(labels):
                Rewriting(network, labels, Names(module)).run()
                # A result may have the range of what it is moved from: the same to a digit.
                func.update_function_type()
