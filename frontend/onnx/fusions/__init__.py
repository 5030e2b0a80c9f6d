"""Idioms: groups of ONNX nodes that mean one operation, and what puts that operation back."""

from xdsl_tpu.frontend.onnx.fusions.conv import FoldBatchNorm, FoldConvBias
from xdsl_tpu.frontend.onnx.fusions.fusion import Fusion, run_fusions
from xdsl_tpu.frontend.onnx.fusions.gelu import FuseErfGelu, FuseSigmoidGelu, FuseTanhGelu
from xdsl_tpu.frontend.onnx.fusions.group_norm import FuseGroupNorm
from xdsl_tpu.frontend.onnx.fusions.hard import FuseHardSigmoid, FuseHardSwish
from xdsl_tpu.frontend.onnx.fusions.layer_norm import FuseLayerNorm
from xdsl_tpu.frontend.onnx.fusions.mish import FuseMish
from xdsl_tpu.frontend.onnx.fusions.moments import FuseMoments
from xdsl_tpu.frontend.onnx.fusions.silu import FuseSiLU
from xdsl_tpu.frontend.onnx.fusions.softmax import FuseSoftmax

FUSIONS: tuple[Fusion, ...] = (
    FoldBatchNorm(),
    FoldConvBias(),
    FuseLayerNorm(),
    FuseMoments(),
    FuseGroupNorm(),
    FuseSoftmax(),
    FuseErfGelu(),
    FuseTanhGelu(),
    FuseSigmoidGelu(),
    FuseSiLU(),
    FuseMish(),
    FuseHardSwish(),
    FuseHardSigmoid(),
)
"""In the order they run."""

__all__ = ["FUSIONS", "Fusion", "run_fusions"]
