"""Small jobs: one per op, and a few networks; with weights and inputs of seeded random numbers."""

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    f32,
)
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import oneflow
from xdsl_tpu.dialects.interfaces.shape import known_shape
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.oneflow import JobBuilder, OneFlowOp
from xdsl_tpu.dialects.weights import WEIGHT_FILE, Weights, attach

Array = npt.NDArray[Any]
Build = Callable[[JobBuilder], SSAValue]

POSITIVE = ("variance",)
"""What the names of variables end in that must be positive."""


def job(build: Build, name: str = "job", device_tag: str = "cuda") -> ModuleOp:
    """The job that `build` makes, verified, with weights attached."""
    builder = JobBuilder(name, device_tag=device_tag)
    module = builder.module(build(builder))
    module.verify()
    return with_weights(module)


def with_weights(module: ModuleOp) -> ModuleOp:
    """`module` with random values for its variables."""
    weights = Weights()
    for op in module.walk():
        if isinstance(op, oneflow.VariableOp):
            name, shape = str(name_of(op)), known_shape(op.output.type)
            assert shape is not None
            values = numbers(name, shape) / np.float32(max(1.0, np.prod(shape[1:])) ** 0.5)
            weights[name] = np.abs(values) + 0.5 if name.endswith(POSITIVE) else values
    module.attributes[WEIGHT_FILE] = StringAttr("job.npz")
    attach(module, weights)
    return module


def numbers(name: str, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    """Normal numbers, the same for the same name."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return rng.standard_normal(shape, dtype=np.float32)


def inputs_of(module: ModuleOp) -> dict[str, Array]:
    """Random inputs of a job, by name."""
    found: dict[str, Array] = {}
    for op in module.walk():
        if isinstance(op, oneflow.InputOp):
            shape = known_shape(op.output.type)
            assert shape is not None
            found[str(name_of(op))] = numbers(str(name_of(op)), shape)
    return found


def conv(
    b: JobBuilder, name: str, x: SSAValue, channels: int, kernel: int = 3, stride: int = 1,
    *, last: bool = False, bias: bool = False, groups: int = 1, more: SSAValue | None = None,
) -> SSAValue:  # fmt: skip
    """A convolution that keeps the size, or halves it with `stride` 2."""
    shape = known_shape(x.type)
    assert shape is not None
    depth = (shape[3] if last else shape[1]) // groups
    filter_ = (channels, kernel, kernel, depth) if last else (channels, depth, kernel, kernel)
    return b.op(
        oneflow.Conv2DOp,
        name,
        x,
        b.variable(f"{name}.weight", *filter_),
        b.variable(f"{name}.bias", channels) if bias else None,
        more,
        filters=channels,
        padding_before=[kernel // 2] * 2,
        data_format="channels_last" if last else "channels_first",
        kernel_size=[kernel] * 2,
        strides=[stride] * 2,
        dilation_rate=[1, 1],
        groups=groups,
    )


def norm(
    b: JobBuilder,
    name: str,
    x: SSAValue,
    axis: int = 1,
    more: SSAValue | None = None,
    kind: type[OneFlowOp] = oneflow.NormalizationInferOp,
) -> SSAValue:
    """Batch normalisation with moving statistics."""
    shape = known_shape(x.type)
    assert shape is not None
    parameters = [
        b.variable(f"{name}.{what}", shape[axis])
        for what in ("moving_mean", "moving_variance", "gamma", "beta")
    ]
    return b.op(
        kind,
        name,
        x,
        *parameters,
        more,
        axis=axis,
        epsilon=1e-5,
        momentum=0.9,
    )


def pool(
    b: JobBuilder, kind: type[OneFlowOp], name: str, x: SSAValue, last: bool = False, **more: Any
) -> SSAValue:
    """A 3x3 pool that halves the size."""
    attributes = {
        "padding": [1, 1],
        "kernel_size": [3, 3],
        "stride": [2, 2],
        "data_format": "channels_last" if last else "channels_first",
        **more,
    }
    if kind is oneflow.MaxPool2DOp:
        attributes["dilation"] = [1, 1]
    return b.op(kind, name, x, **attributes)


def _unary(kind: type[OneFlowOp], positive: bool = False, **attributes: Any) -> Build:
    def build(b: JobBuilder) -> SSAValue:
        x = b.input("x", 2, 3, 5, 7)
        if positive:
            y = b.op(oneflow.SquareOp, "square", x)
            x = b.op(oneflow.ScalarAddOp, "shift", y, has_float_operand=True, float_operand=0.5)
        return b.op(kind, "y", x, **attributes)

    return build


def _binary(kind: type[OneFlowOp], *shape: int) -> Build:
    def build(b: JobBuilder) -> SSAValue:
        return b.op(kind, "z", b.input("x", 2, 3, 5, 7), b.input("y", *shape))

    return build


def _scalar(kind: type[OneFlowOp], **operand: Any) -> Build:
    return _unary(kind, kind is oneflow.ScalarPowOp, **operand)


def _view(kind: type[OneFlowOp], *shape: int, **attributes: Any) -> Build:
    return lambda b: b.op(kind, "y", b.input("x", *shape), **attributes)


def _product(
    kind: type[OneFlowOp], a: tuple[int, ...], c: tuple[int, ...], **attributes: Any
) -> Build:
    return lambda b: b.op(kind, "y", b.input("a", *a), b.variable("b", *c), **attributes)


def _layer_norm(b: JobBuilder) -> SSAValue:
    return b.op(
        oneflow.LayerNormOp, "y", b.input("x", 2, 5, 8), b.variable("beta", 8),
        b.variable("gamma", 8), center=True, scale=True, begin_norm_axis=2, begin_params_axis=2,
        epsilon=1e-5,
    )  # fmt: skip


def _group_norm(last: bool, activation: str) -> Build:
    def build(b: JobBuilder) -> SSAValue:
        x = b.input("x", *((2, 4, 5, 6) if last else (2, 6, 4, 5)))
        return b.op(
            oneflow.GroupNormOp, "y", x, b.variable("beta", 6), b.variable("gamma", 6),
            affine=True, num_groups=3, epsilon=1e-5, activation=activation,
            data_format="channels_last" if last else "channels_first",
        )  # fmt: skip

    return build


def _dropout(rate: float) -> Build:
    return lambda b: b.op(oneflow.DropoutOp, "y", b.input("x", 2, 5, 8), rate=rate, seed=3)


def _masked(b: JobBuilder) -> SSAValue:
    x = b.input("x", 2, 3, 4, 6)
    mask = b.op(oneflow.RandomMaskLikeOp, "mask", x, rate=0.4, seed=11)
    bias = b.variable("bias", 4)
    return b.op(oneflow.FusedBiasAddMaskScaleOp, "y", x, bias, mask, x, axis=2, scale=1.5)


def _linear(**factors: float) -> Build:
    def build(b: JobBuilder) -> SSAValue:
        operands = b.input("x", 2, 5, 8), b.variable("w", 6, 8), b.variable("bias", 6)
        return b.op(oneflow.FusedMatmulBiasOp, "y", *operands, **factors)

    return build


def _added(b: JobBuilder) -> SSAValue:
    x = b.input("x", 1, 6, 6, 4)
    c = conv(b, "c", x, 4, last=True, bias=True, more=x)
    return norm(b, "n", c, axis=3, more=x)


def _batch_matmul_added(b: JobBuilder) -> SSAValue:
    a, c = b.input("a", 2, 4, 6), b.input("b", 2, 6, 4)
    return b.op(oneflow.BatchMatmulOp, "y", a, c, b.input("more", 2, 4, 4), alpha=0.5)


def _constant(b: JobBuilder) -> SSAValue:
    kind = TensorType(f32, [6, 2, 1, 3])
    values = DenseIntOrFPElementsAttr.from_list(kind, [float(n) / 8 for n in range(36)])
    weight = b.op(oneflow.VariableIROp, "weight", value=values)
    return b.op(
        oneflow.Conv2DOp, "c", b.input("x", 1, 2, 4, 5), weight,
        filters=6, padding_before=[0, 1], data_format="channels_first", kernel_size=[1, 3],
        strides=[1, 1], dilation_rate=[1, 1], groups=1,
    )  # fmt: skip


IMAGE = (2, 6, 8, 8)

SAMPLES: dict[str, Build] = {
    "abs": _unary(oneflow.AbsOp),
    "adaptive pool 1x1": _view(
        oneflow.AdaptiveAvgPool2DOp, *IMAGE, data_format="channels_first", output_size=[1, 1]
    ),
    "adaptive pool channels last": _view(
        oneflow.AdaptiveAvgPool2DOp, *IMAGE, data_format="channels_last", output_size=[2, 4]
    ),
    "add_n": lambda b: b.op(
        oneflow.AddNOp, "y", b.input("p", 2, 3), b.input("q", 2, 3), b.input("r", 2, 3)
    ),
    "add_n2": _binary(oneflow.AddN2Op, 2, 3, 5, 7),
    "avg pool": lambda b: pool(b, oneflow.AvgPool2DOp, "y", b.input("x", *IMAGE)),
    "avg pool counting padding": lambda b: pool(
        b, oneflow.AvgPool2DOp, "y", b.input("x", *IMAGE), last=True, count_include_pad=True
    ),
    "avg pool with divisor": lambda b: pool(
        b, oneflow.AvgPool2DOp, "y", b.input("x", *IMAGE), divisor_override=4
    ),
    "batch_matmul": _product(oneflow.BatchMatmulOp, (2, 4, 6), (2, 6, 5)),
    "batch_matmul added": _batch_matmul_added,
    "bias_add": lambda b: b.op(
        oneflow.BiasAddOp, "y", b.input("x", *IMAGE), b.variable("b", 6), axis=1
    ),
    "bias_add input": lambda b: b.op(
        oneflow.BiasAddOp, "y", b.input("x", 2, 3, 5), b.input("b", 5), axis=2
    ),
    "broadcast_add": _binary(oneflow.BroadcastAddOp, 3, 1, 1),
    "broadcast_div": _binary(oneflow.BroadcastDivOp, 2, 3, 5, 7),
    "broadcast_matmul": _product(oneflow.BroadcastMatmulOp, (2, 4, 6), (5, 6), transpose_b=True),
    "broadcast_maximum": _binary(oneflow.BroadcastMaximumOp, 7),
    "broadcast_minimum": _binary(oneflow.BroadcastMinimumOp, 1, 3, 1, 7),
    "broadcast_mul": _binary(oneflow.BroadcastMulOp, 5, 1),
    "broadcast_sub": _binary(oneflow.BroadcastSubOp, 2, 1, 1, 1),
    "cast": _unary(oneflow.CastOp, dtype=2),
    "cat": lambda b: b.op(
        oneflow.CatOp, "y", b.input("p", 2, 3, 4), b.input("q", 2, 5, 4), axis=1, max_dim_size=8
    ),
    "conv2d": lambda b: conv(b, "c", b.input("x", *IMAGE), 4, stride=2, bias=True),
    "conv2d and normalization, adding": _added,
    "conv2d channels last": lambda b: conv(b, "c", b.input("x", *IMAGE), 4, last=True),
    "conv2d in groups": lambda b: conv(b, "c", b.input("x", *IMAGE), 6, groups=3),
    "dropout": _dropout(0.3),
    "dropout 0": _dropout(0.0),
    "dropout 1": _dropout(1.0),
    "elu": _unary(oneflow.EluOp, alpha=0.7),
    "erf": _unary(oneflow.ErfOp),
    "exp": _unary(oneflow.ExpOp),
    "expand_dims": _view(oneflow.ExpandDimsOp, 2, 3, axis=-2),
    "fast_gelu": _unary(oneflow.FastGeluOp),
    "flatten": _view(oneflow.FlattenOp, 2, 3, 4, 5, start_dim=1, end_dim=-1),
    "fused_bias_add_gelu": lambda b: b.op(
        oneflow.FusedBiasAddGeluOp, "y", b.input("x", *IMAGE), b.variable("b", 8), axis=3
    ),
    "fused_bias_add_mask_scale": _masked,
    "fused_matmul_bias": _linear(),
    "fused_matmul_bias scaled": _linear(alpha=0.5, beta=2.0),
    "gelu": _unary(oneflow.GeluOp),
    "group_norm": _group_norm(last=False, activation="none"),
    "group_norm silu channels last": _group_norm(last=True, activation="silu"),
    "hardsigmoid": _unary(oneflow.HardsigmoidOp),
    "hardswish": _unary(oneflow.HardswishOp),
    "hardtanh": _unary(oneflow.HardtanhOp, min_val=-0.5, max_val=1.0),
    "identity": _unary(oneflow.IdentityOp),
    "layer_norm": _layer_norm,
    "leaky_relu": _unary(oneflow.LeakyReluOp, alpha=0.25),
    "log": _unary(oneflow.LogOp, positive=True),
    "log_softmax": _unary(oneflow.LogSoftmaxOp),
    "matmul": _product(oneflow.MatmulOp, (4, 6), (6, 5)),
    "matmul transposed": _product(
        oneflow.MatmulOp, (6, 4), (5, 6), transpose_a=True, transpose_b=True, alpha=0.25
    ),
    "max pool": lambda b: pool(b, oneflow.MaxPool2DOp, "y", b.input("x", *IMAGE)),
    "max pool up, channels last": lambda b: pool(
        b, oneflow.MaxPool2DOp, "y", b.input("x", *IMAGE), last=True, ceil_mode=True
    ),
    "mish": _unary(oneflow.MishOp),
    "narrow": _view(oneflow.NarrowOp, 2, 6, 5, dim=1, start=2, length=3),
    "negative": _unary(oneflow.NegativeOp),
    "normalization": lambda b: norm(b, "n", b.input("x", *IMAGE)),
    "normalization not in training": lambda b: norm(
        b, "n", b.input("x", *IMAGE), kind=oneflow.NormalizationOp
    ),
    "normalization channels last": lambda b: norm(b, "n", b.input("x", *IMAGE), axis=3),
    "quick_gelu": _unary(oneflow.QuickGeluOp),
    "reciprocal": _unary(oneflow.ReciprocalOp, positive=True),
    "reduce_max": _view(oneflow.ReduceMaxOp, 2, 3, 4, axis=[-1], keepdims=True),
    "reduce_mean": _view(oneflow.ReduceMeanOp, 2, 3, 4, 5, axis=[2, 3], keepdims=False),
    "reduce_sum": _view(oneflow.ReduceSumOp, 2, 3, 4, axis=[1], keepdims=False),
    "relu": _unary(oneflow.ReluOp),
    "reshape": _view(oneflow.ReshapeOp, 2, 3, 4, shape=[6, 4]),
    "rsqrt": _unary(oneflow.RsqrtOp, positive=True),
    "scalar_add": _scalar(oneflow.ScalarAddOp, has_float_operand=True, float_operand=1.25),
    "scalar_div": _scalar(oneflow.ScalarDivOp, has_float_operand=True, float_operand=6.3),
    "scalar_mul": _scalar(oneflow.ScalarMulOp, has_int_operand=True, int_operand=-3),
    "scalar_pow": _scalar(oneflow.ScalarPowOp, has_float_operand=True, float_operand=1.5),
    "sigmoid": _unary(oneflow.SigmoidOp),
    "silu": _unary(oneflow.SiluOp),
    "softmax": _unary(oneflow.SoftmaxOp),
    "sqrt": _unary(oneflow.SqrtOp, positive=True),
    "square": _unary(oneflow.SquareOp),
    "squeeze": _view(oneflow.SqueezeOp, 2, 1, 3, 1, axes=[1, -1]),
    "tanh": _unary(oneflow.TanhOp),
    "variable_ir": _constant,
    "transpose": _view(oneflow.TransposeOp, 2, 3, 4, 5, perm=[0, 2, 3, 1]),
}


def cnn(b: JobBuilder, last: bool = False) -> SSAValue:
    """conv, norm, relu and pool, twice; then a classifier with dropout."""
    x = b.input("image", *((1, 16, 16, 4) if last else (1, 4, 16, 16)))
    for index, channels in enumerate((8, 16)):
        x = conv(b, f"conv{index}", x, channels, last=last)
        x = norm(b, f"norm{index}", x, axis=3 if last else 1)
        x = b.op(oneflow.ReluOp, f"relu{index}", x)
        x = pool(b, oneflow.MaxPool2DOp, f"pool{index}", x, last=last)
    x = b.op(oneflow.FlattenOp, "flat", x, start_dim=1)
    y = b.op(oneflow.MatmulOp, "fc", x, b.variable("fc.weight", 10, 256), transpose_b=True)
    y = b.op(oneflow.BiasAddOp, "fc_bias", y, b.variable("fc.bias", 10), axis=1)
    return b.op(oneflow.DropoutOp, "drop", y, rate=0.25, seed=5)


def residual(b: JobBuilder, last: bool = False) -> SSAValue:
    """A stem and two residual blocks, the second with a stride and a projection."""
    axis = 3 if last else 1

    def block(name: str, x: SSAValue, channels: int, stride: int) -> SSAValue:
        y = norm(b, f"{name}.n1", conv(b, f"{name}.c1", x, channels, 3, stride, last=last), axis)
        y = b.op(oneflow.ReluOp, f"{name}.r1", y)
        y = norm(b, f"{name}.n2", conv(b, f"{name}.c2", y, channels, last=last), axis)
        if stride > 1:
            x = conv(b, f"{name}.c3", x, channels, 1, stride, last=last)
            x = norm(b, f"{name}.n3", x, axis)
        return b.op(oneflow.ReluOp, f"{name}.r2", b.op(oneflow.AddN2Op, f"{name}.sum", y, x))

    x = b.input("image", *((1, 16, 16, 3) if last else (1, 3, 16, 16)))
    x = b.op(oneflow.ReluOp, "stem.r", norm(b, "stem.n", conv(b, "stem.c", x, 8, last=last), axis))
    x = block("b2", block("b1", x, 8, 1), 16, 2)
    form = "channels_last" if last else "channels_first"
    x = b.op(oneflow.AdaptiveAvgPool2DOp, "pool", x, data_format=form, output_size=[1, 1])
    x = b.op(oneflow.ReshapeOp, "flat", x, shape=[1, 16])
    return b.op(
        oneflow.FusedMatmulBiasOp, "fc", x, b.variable("fc.weight", 10, 16), b.variable("fc.b", 10)
    )


def attention(b: JobBuilder) -> SSAValue:
    """Self-attention of two heads with dropout behind its projection, then a normalisation."""
    x = b.input("tokens", 1, 6, 16)

    def linear(name: str) -> SSAValue:
        w = b.variable(f"{name}.weight", 16, 16)
        y = b.op(oneflow.BroadcastMatmulOp, name, x, w, transpose_b=True)
        y = b.op(oneflow.BiasAddOp, f"{name}_bias", y, b.variable(f"{name}.bias", 16), axis=2)
        return b.op(oneflow.ReshapeOp, f"{name}_heads", y, shape=[1, 6, 2, 8])

    q, v = (
        b.op(oneflow.TransposeOp, f"{n}_turn", linear(n), perm=[0, 2, 1, 3]) for n in ("q", "v")
    )
    k = b.op(oneflow.TransposeOp, "k_turn", linear("k"), perm=[0, 2, 3, 1])
    scores = b.op(oneflow.BatchMatmulOp, "scores", q, k)
    scaled = b.op(
        oneflow.ScalarDivOp, "scaled", scores, has_float_operand=True, float_operand=8.0**0.5
    )
    mixed = b.op(oneflow.BatchMatmulOp, "mixed", b.op(oneflow.SoftmaxOp, "soft", scaled), v)
    back = b.op(oneflow.TransposeOp, "back", mixed, perm=[0, 2, 1, 3])
    flat = b.op(oneflow.ReshapeOp, "flat", back, shape=[1, 6, 16])
    out = b.op(oneflow.BroadcastMatmulOp, "out", flat, b.variable("out.weight", 16, 16))
    out = b.op(oneflow.BiasAddOp, "out_bias", out, b.variable("out.bias", 16), axis=2)
    out = b.op(oneflow.DropoutOp, "drop", out, rate=0.1, seed=21)
    summed = b.op(oneflow.AddN2Op, "sum", out, x)
    return b.op(
        oneflow.LayerNormOp, "norm", summed, b.variable("beta", 16), b.variable("gamma", 16),
        center=True, scale=True, begin_norm_axis=2, begin_params_axis=2, epsilon=1e-5,
    )  # fmt: skip


NETWORKS: dict[str, Build] = {
    "cnn": cnn,
    "cnn channels last": lambda b: cnn(b, last=True),
    "residual": residual,
    "residual channels last": lambda b: residual(b, last=True),
    "attention": attention,
}
