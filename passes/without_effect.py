"""Passes of the vendor's command lines that have nothing to do here, and why."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xdsl_tpu.dialects.module_info import module_info


@dataclass(frozen=True)
class PassWithoutEffect(ModulePass):
    """A pass that changes nothing and leaves a note that says why."""

    reason: ClassVar[str]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        module_info(op).notes.append(f"{self.name} does nothing: {self.reason}")


@dataclass(frozen=True)
class InitPass(PassWithoutEffect):
    """Opens nothing: weights are read when they are needed."""

    name = "init"
    reason = "weights are read when they are needed, and the chip is asked for by its name"

    freq: int | None = None
    weight_in_mem: bool = False
    level: int | None = None


@dataclass(frozen=True)
class DeinitPass(PassWithoutEffect):
    """Saves nothing: changed weights are saved with the text."""

    name = "deinit"
    reason = "changed weights are saved with the text"

    no_save_weight: bool = False


@dataclass(frozen=True)
class StructOptimizePass(PassWithoutEffect):
    """Matches nothing: structures of several ops are found by `canonicalize`."""

    name = "struct-optimize"
    reason = "structures of several ops are found by canonicalize and processor-top-optimize"


@dataclass(frozen=True)
class PruningPass(PassWithoutEffect):
    """Prunes nothing: weights come as the network has them."""

    name = "pruning"
    reason = "the chip gains nothing by weights that are zero; give a network that was pruned"

    config: str = ""


@dataclass(frozen=True)
class ConvertQdqPass(PassWithoutEffect):
    """Converts nothing: the import of ONNX takes QDQ pairs as ranges."""

    name = "convert-qdq-to-calibrated-dialect"
    reason = "the import of ONNX makes ranges of pairs of QuantizeLinear and DequantizeLinear"


@dataclass(frozen=True)
class AffineOptPass(PassWithoutEffect):
    """Merges nothing: `merge-moves` composes movements by the price of their commands."""

    name = "affine-opt"
    reason = "merge-moves composes chains of movements, by the price of their commands"

    min_continuous_bytes: int = 512


@dataclass(frozen=True)
class AfterLayerGroupWeightReorderPass(PassWithoutEffect):
    """Reorders nothing: `layer-group` packs the weights of its groups itself."""

    name = "after-layergroup-weight-reorder"
    reason = "layer-group itself packs the weights of a group as its lanes take them"


@dataclass(frozen=True)
class CoreParallelPass(PassWithoutEffect):
    """Divides nothing: the chip has one core."""

    name = "core-parallel"
    reason = "the chip has one core"


@dataclass(frozen=True)
class DevParallelPass(PassWithoutEffect):
    """Divides nothing: a program is for one chip."""

    name = "dev-parallel"
    reason = "a program is for one chip"


@dataclass(frozen=True)
class OpDividePass(PassWithoutEffect):
    """Divides nothing: kernels cut what does not fit local memory."""

    name = "op-divide"
    reason = "kernels and layer groups cut what does not fit local memory"


@dataclass(frozen=True)
class OptPostProcessorPass(PassWithoutEffect):
    """Optimises nothing: nothing is behind the network on the chip."""

    name = "opt-post-processor"
    reason = "programs have no part that another processor runs"


@dataclass(frozen=True)
class ShapeOptimizePass(PassWithoutEffect):
    """Reshapes nothing: `place-values` chooses what of a value lies over the lanes."""

    name = "shape-optimize"
    reason = "place-values chooses the shapes under which ops work"


@dataclass(frozen=True)
class TimeFixedSubnetPass(PassWithoutEffect):
    """Divides nothing: a program is one subnet."""

    name = "time-fixed-subnet"
    reason = "a program is one subnet, which runs in one go"

    json_file: str = ""


@dataclass(frozen=True)
class ConvertTopToLinalgPass(PassWithoutEffect):
    """Converts nothing: the way to the chip is `convert-top-to-tpu`."""

    name = "convert-top-to-linalg"
    reason = "the way to the chip is convert-top-to-tpu"

    include_weight: bool = False


@dataclass(frozen=True)
class ConvertTopToTosaPass(PassWithoutEffect):
    """Converts nothing: the way to the chip is `convert-top-to-tpu`."""

    name = "convert-top-to-tosa"
    reason = "the way to the chip is convert-top-to-tpu"

    include_weight: bool = False
