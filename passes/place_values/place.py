"""The pass `place-values`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from xdsl_tpu.dialects.interfaces.lane_view import Lanes
from xdsl_tpu.dialects.weights import known_weights
from xdsl_tpu.passes.layer_group.base_groups import computing_ops
from xdsl_tpu.passes.layer_group.prices import Prices
from xdsl_tpu.passes.module_state import chip_of
from xdsl_tpu.passes.place_values.changes import Changes
from xdsl_tpu.passes.place_values.choose import Chooser, SureChooser
from xdsl_tpu.passes.place_values.components import components
from xdsl_tpu.passes.place_values.mixed import mixed
from xdsl_tpu.passes.place_values.repeat import Repeater
from xdsl_tpu.passes.place_values.rewrite import Rewriter
from xdsl_tpu.passes.tensors import functions


@dataclass(frozen=True)
class PlaceValuesPass(ModulePass):
    """See values that follow each other under the same images and channels.

        %1 = "tpu.Reshape"(%0) : (1x128x768) -> 128x768
        %2 = "tpu.MatMul"(%1, %w) : (128x768, 768x3072) -> 128x3072
        %3 = "tpu.Active"(%2) : (128x3072) -> 128x3072
        %4 = "tpu.Reshape"(%3) : (128x3072) -> 1x128x3072
      ->
        %2 = "tpu.MatMul"(%0, %w) : (1x128x768, 1x768x3072) -> 1x128x3072
        %4 = "tpu.Active"(%2) : (1x128x3072) -> 1x128x3072

    In a layer group the first two sizes of a value are its images and its channels, one channel a
    lane. Ops that compute the same under several shapes (`dialects/interfaces/lane_view.py`) are
    written so that as many values as possible, by their bytes, need not leave local memory, and
    come and go in long runs; where nothing is gained they stay as they are. Where that leaves lanes
    empty, parts of what is linked may fill them, and what lies between is stored. A matrix for each
    head is written for each window where the scores can then be seen as products see them, and a
    row of a mask for each head, if that takes less than half of what is gained. `chip` is a name or
    a `.toml` description, by default `module.chip`.

    With `in_lanes` small values may change their lanes within local memory (`lane-moves`), so that
    an op that its neighbours' lanes do not suit can have its own:

        %2 = "tpu.Reshape"(%1) : (1x1024x49) -> 1x8x128x49       1x1024x49 -> 8x128x49
        %3 = "tpu.MatMul"(%2, %0) : (.., 1x8x49x49)           -> (8x128x49, 8x49x49) -> 8x128x49
        %4 = "tpu.Reshape"(%3) : (1x8x128x49) -> 1x1024x49       8x128x49 -> 1x1024x49
    """

    name = "place-values"

    chip: str = ""
    in_lanes: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chip = chip_of(op, self.chip)
        for func in functions(op):
            block = func.body.block
            changes = Changes(chip, self.in_lanes)
            chooser, sure = (
                Chooser(chip, changes),
                SureChooser(chip, changes, prices=Prices(chip, op)),
            )
            repeater = Repeater(chooser, known_weights(op))
            chosen: dict[SSAValue, Lanes] = {}
            for component in components(computing_ops(block)):
                repeater.repeat(component)
                first = chooser.choose(component)
                parts = mixed(sure, component, first)
                if parts is not None:
                    chosen |= parts
                    continue
                lanes = sure.better(component, first)
                if lanes is not None:
                    chosen |= dict.fromkeys(component.values, lanes)
                    chosen |= chooser.exceptions(component, lanes)
            if chosen:
                Rewriter(block, chosen, known_weights(op)).run()
