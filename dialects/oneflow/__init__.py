"""The `oneflow` dialect: jobs of the framework OneFlow.

    from xdsl_tpu.dialects import oneflow

Ops are in one file per family; see `docs/oneflow.md` for what is read, run and compiled.
"""

from xdsl.ir import Dialect

from xdsl_tpu.dialects.oneflow.activation import (
    AbsOp,
    CastOp,
    EluOp,
    ErfOp,
    ExpOp,
    FastGeluOp,
    GeluOp,
    HardsigmoidOp,
    HardswishOp,
    HardtanhOp,
    IdentityOp,
    LeakyReluOp,
    LogOp,
    MishOp,
    NegativeOp,
    QuickGeluOp,
    ReciprocalOp,
    ReluOp,
    RsqrtOp,
    SigmoidOp,
    SiluOp,
    SqrtOp,
    SquareOp,
    TanhOp,
)
from xdsl_tpu.dialects.oneflow.arithmetic import (
    AddN2Op,
    AddNOp,
    BroadcastAddOp,
    BroadcastDivOp,
    BroadcastMaximumOp,
    BroadcastMinimumOp,
    BroadcastMulOp,
    BroadcastSubOp,
    ScalarAddOp,
    ScalarDivOp,
    ScalarMulOp,
    ScalarPowOp,
)
from xdsl_tpu.dialects.oneflow.base import OneFlowOp
from xdsl_tpu.dialects.oneflow.bias_add import (
    BiasAddOp,
    FusedBiasAddGeluOp,
    FusedBiasAddMaskScaleOp,
)
from xdsl_tpu.dialects.oneflow.build import JobBuilder
from xdsl_tpu.dialects.oneflow.conv import Conv2DOp
from xdsl_tpu.dialects.oneflow.dropout import DropoutOp, RandomMaskLikeOp, dropout_scale
from xdsl_tpu.dialects.oneflow.job import JobOp, ReturnOp
from xdsl_tpu.dialects.oneflow.matmul import (
    BatchMatmulOp,
    BroadcastMatmulOp,
    FusedMatmulBiasOp,
    MatmulOp,
)
from xdsl_tpu.dialects.oneflow.norm import (
    GroupNormOp,
    LayerNormOp,
    LogSoftmaxOp,
    NormalizationInferOp,
    NormalizationOp,
    SoftmaxOp,
)
from xdsl_tpu.dialects.oneflow.pool import AdaptiveAvgPool2DOp, AvgPool2DOp, MaxPool2DOp
from xdsl_tpu.dialects.oneflow.reduce import ReduceMaxOp, ReduceMeanOp, ReduceSumOp
from xdsl_tpu.dialects.oneflow.shape import (
    CatOp,
    ExpandDimsOp,
    FlattenOp,
    NarrowOp,
    ReshapeOp,
    SqueezeOp,
    TransposeOp,
)
from xdsl_tpu.dialects.oneflow.system import InputOp, OutputOp, VariableIROp, VariableOp
from xdsl_tpu.dialects.oneflow.types import (
    CharElementType,
    InvalidElementType,
    OFRecordElementType,
    TensorBufferElementType,
)

OneFlow = Dialect(
    "oneflow",
    [
        AbsOp, AdaptiveAvgPool2DOp, AddN2Op, AddNOp, AvgPool2DOp, BatchMatmulOp, BiasAddOp,
        BroadcastAddOp, BroadcastDivOp, BroadcastMatmulOp, BroadcastMaximumOp, BroadcastMinimumOp,
        BroadcastMulOp, BroadcastSubOp, CastOp, CatOp, Conv2DOp, DropoutOp, EluOp, ErfOp, ExpOp,
        ExpandDimsOp, FastGeluOp, FlattenOp, FusedBiasAddGeluOp, FusedBiasAddMaskScaleOp,
        FusedMatmulBiasOp, GeluOp, GroupNormOp, HardsigmoidOp, HardswishOp, HardtanhOp, IdentityOp,
        InputOp, JobOp, LayerNormOp, LeakyReluOp, LogOp, LogSoftmaxOp, MatmulOp, MaxPool2DOp,
        MishOp, NarrowOp, NegativeOp, NormalizationInferOp, NormalizationOp, OutputOp, QuickGeluOp,
        RandomMaskLikeOp, ReciprocalOp, ReduceMaxOp, ReduceMeanOp, ReduceSumOp, ReluOp, ReshapeOp,
        ReturnOp, RsqrtOp, ScalarAddOp, ScalarDivOp, ScalarMulOp, ScalarPowOp, SigmoidOp, SiluOp,
        SoftmaxOp, SqrtOp, SquareOp, SqueezeOp, TanhOp, TransposeOp,
        VariableIROp, VariableOp,
    ],
    [CharElementType, InvalidElementType, OFRecordElementType, TensorBufferElementType],
)  # fmt: skip
"""The dialect."""

__all__ = [
    "AbsOp", "AdaptiveAvgPool2DOp", "AddN2Op", "AddNOp", "AvgPool2DOp", "BatchMatmulOp",
    "BiasAddOp", "BroadcastAddOp", "BroadcastDivOp", "BroadcastMatmulOp", "BroadcastMaximumOp",
    "BroadcastMinimumOp", "BroadcastMulOp", "BroadcastSubOp", "CastOp", "CatOp", "CharElementType",
    "Conv2DOp", "DropoutOp", "EluOp", "ErfOp", "ExpOp", "ExpandDimsOp", "FastGeluOp", "FlattenOp",
    "FusedBiasAddGeluOp", "FusedBiasAddMaskScaleOp", "FusedMatmulBiasOp", "GeluOp", "GroupNormOp",
    "HardsigmoidOp", "HardswishOp", "HardtanhOp", "IdentityOp", "InputOp", "InvalidElementType",
    "JobBuilder", "JobOp", "LayerNormOp", "LeakyReluOp", "LogOp", "LogSoftmaxOp", "MatmulOp",
    "MaxPool2DOp", "MishOp", "NarrowOp", "NegativeOp", "NormalizationInferOp", "NormalizationOp",
    "OFRecordElementType", "OneFlow", "OneFlowOp", "OutputOp", "QuickGeluOp", "RandomMaskLikeOp",
    "ReciprocalOp", "ReduceMaxOp", "ReduceMeanOp", "ReduceSumOp", "ReluOp", "ReshapeOp", "ReturnOp",
    "RsqrtOp", "ScalarAddOp", "ScalarDivOp", "ScalarMulOp", "ScalarPowOp", "SigmoidOp", "SiluOp",
    "SoftmaxOp", "SqrtOp", "SquareOp", "SqueezeOp", "TanhOp", "TensorBufferElementType",
    "TransposeOp", "VariableIROp", "VariableOp", "dropout_scale",
]  # fmt: skip
