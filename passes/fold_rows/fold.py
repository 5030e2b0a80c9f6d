"""The pass `fold-rows`."""

import math
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects.errors import DoesNotFit, NoKernel
from xdsl_tpu.dialects.text import module_text
from xdsl_tpu.dialects.weights import known_weights, weights_of
from xdsl_tpu.passes.fold_columns.fold import BYTES
from xdsl_tpu.passes.fold_rows.choice import Folds, Prices, choose_folds
from xdsl_tpu.passes.fold_rows.network import Network, network_of
from xdsl_tpu.passes.fold_rows.regions import Region, computes, folds_within, regions_of
from xdsl_tpu.passes.fold_rows.rewriting import Rewriting
from xdsl_tpu.passes.measured import copied, cut_out, measured
from xdsl_tpu.passes.module_state import State, chip_of, float_format, require_state
from xdsl_tpu.passes.pipelines import ENDS, Settings, passes_behind
from xdsl_tpu.passes.tensors import functions

GAIN, SURE = 1.15, 0.8
"""What a part may take in blocks of what it took without, as around it there may be more to gain,
and from where on the whole, which takes as long to measure as to compile, need not be measured."""


@dataclass(frozen=True)
class FoldRowsPass(ModulePass):
    """Let blocks of an image's rows be channels where these are too few to fill the lanes.

        %y = PRelu(%x) : 1x16x256x256
        %z = Conv(%y) : (1x16x256x256) -> 1x16x256x256, depthwise, 3x3
    ->
        %f = Reshape(%x) : 1x16x256x256 -> 1x64x64x256
        %g = PRelu(%f) : 1x64x64x256
        %h = Concat(last rows of the blocks above, %g, first rows of those below) : 1x64x66x256
        %i = Conv(%h) : (1x64x66x256) -> 1x64x64x256, depthwise, 3x3
        %z = Reshape(%i) : 1x64x64x256 -> 1x16x256x256

    Rows of block p of channel c are those of channel c f + p then, which changes no order of
    elements. A filter sees rows of the blocks beside its own, which come from other lanes: filters
    of zeros and ones bring them. One that mixes channels does so within each block. Local memory of
    all lanes holds images then that some would have to store. Blocks are chosen by estimated cycles
    for `chip`, a name or a `.toml` description, and what they join, then, where that gains little,
    the whole, is measured with them and without. For formats of 8 bits nothing is done.
    """

    name = "fold-rows"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TOP_F32, self.name, State.TOP_CALIBRATED)
        chip, width = chip_of(op, self.chip), BYTES[float_format(op) or "F16"]
        if width < BYTES["F16"]:
            return
        weights, measuring = known_weights(op), _Measuring(ctx, chip, self.chip, width)
        for func in functions(op):
            network, prices = network_of(func), Prices(func, chip, width)
            folds = measuring.choose(func, network, prices)
            if folds is not None:
                Rewriting(func, network, folds, prices, weights).run()


class _Measuring:
    """What functions take with blocks and without: first parts of them, of which those that are
    alike are measured once, then the whole, as other ops are around a part than its loads."""

    def __init__(self, ctx: Context, chip: Chip, description: str, width: int) -> None:
        self._ctx, self._chip, self._width = ctx, chip, width
        self._settings = Settings(description=description, shortfall=False)
        self._known: dict[str, float] = {}

    def choose(self, func: FuncOp, network: Network, prices: Prices) -> Folds | None:
        """The blocks of each set of a function's values; None where there are to be none."""
        chosen = choose_folds(network, prices)
        if chosen is None:
            return None
        folds = dict.fromkeys(network.sets(), 1)
        is_sure = True
        for region in regions_of(func, network, chosen):
            left = self._left_of_part(network, region)
            if left < GAIN:
                folds.update(region.folds)
                is_sure &= left <= SURE
        if all(blocks == 1 for blocks in folds.values()):
            return None
        if is_sure:
            return folds
        ops = [op for op in func.body.block.ops if computes(op)]
        whole = cut_out(ops, "whole")
        left = self._left(whole, network, Region(ops, folds), self._settings)
        return folds if left < 1 else None

    def _left_of_part(self, network: Network, region: Region) -> float:
        part = cut_out(region.ops, "region", values=False)
        key = module_text(part, locations=False)
        if key not in self._known:
            settings = replace(self._settings, inner_io=True, disable=ENDS)
            self._known[key] = self._left(part, network, region, settings)
        return self._known[key]

    def _left(self, plain: ModuleOp, network: Network, region: Region, settings: Settings) -> float:
        """How much of the cycles of `plain`, a copy of a region that is changed, it takes in
        blocks; infinite where it cannot be done so."""
        # As `processor-assign` would have said where it has not run.
        plain.attributes.setdefault("module.mode", StringAttr("F16"))
        plain.attributes["module.chip"] = StringAttr(self._chip.instruction_set)
        folded = copied(plain)
        for func in functions(folded):
            own, prices = network_of(func), Prices(func, self._chip, self._width)
            folds = folds_within(func, own, network, region)
            Rewriting(func, own, folds, prices, weights_of(folded)).run()

        def cycles(module: ModuleOp) -> int:
            passes = passes_behind(FoldRowsPass.name, settings, "tpu")
            return measured(self._ctx, module, passes, self._chip).total

        try:
            return cycles(folded) / cycles(plain)
        except (DoesNotFit, NoKernel):
            return math.inf
