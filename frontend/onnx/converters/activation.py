"""Ops of one tensor, element by element."""

import numpy as np

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.integers import HIGHEST, LOWEST
from xdsl_tpu.frontend.onnx.converters.context import Context, Converter
from xdsl_tpu.frontend.onnx.graph import Node

PLAIN: dict[str, type[NamedOp]] = {
    "Abs": top.AbsOp,
    "Acos": top.ArccosOp,
    "Atanh": top.ArctanhOp,
    "Ceil": top.CeilOp,
    "Cos": top.CosOp,
    "Cosh": top.CoshOp,
    "Erf": top.ErfOp,
    "Exp": top.ExpOp,
    "Floor": top.FloorOp,
    "HardSwish": top.HardSwishOp,
    "Log": top.LogOp,
    "Mish": top.MishOp,
    "Reciprocal": top.ReciprocalOp,
    "Relu": top.ReluOp,
    "Round": top.RoundOp,
    "SiLU": top.SiLUOp,
    "Sigmoid": top.SigmoidOp,
    "Sign": top.SignOp,
    "Sin": top.SinOp,
    "Sinh": top.SinhOp,
    "Softplus": top.SoftplusOp,
    "Softsign": top.SoftsignOp,
    "Sqrt": top.SqrtOp,
    "Tan": top.TanOp,
    "Tanh": top.TanhOp,
}
"""Ops that `top` has with the same meaning and no parameters."""

FLOAT_LIMITS = float(np.finfo(np.float32).min), float(np.finfo(np.float32).max)

GELU_MODES = {"none": "normal", "tanh": "tanh", "sigm": "sigm"}


def convert_plain(context: Context, node: Node) -> None:
    """One op for one op."""
    context.emit(node, PLAIN[node.op_type], [context.value(node.inputs[0])])


def convert_neg(context: Context, node: Node) -> None:
    """Neg -> top.MulConst by -1."""
    context.emit(node, top.MulConstOp, [context.value(node.inputs[0])], const_val=-1.0)


def convert_clip(context: Context, node: Node) -> None:
    """Clip(x, 0, top) -> top.Relu with a limit; other bounds -> top.Clip."""
    x = context.value(node.inputs[0])
    low = context.number(node.input(1), "lower bound")
    high = context.number(node.input(2), "upper bound")
    integers = context.graph.types[node.output].is_integer
    lowest, largest = (LOWEST, HIGHEST) if integers else FLOAT_LIMITS
    if low == 0.0 and (high is None or high > 0.0):
        limit = -1.0 if high is None or high >= largest else high
        context.emit(node, top.ReluOp, [x], relu_limit=limit)
        return
    low = lowest if low is None else max(low, lowest)
    high = largest if high is None else min(high, largest)
    context.emit(node, top.ClipOp, [x], min=min(low, high), max=high)


def convert_gelu(context: Context, node: Node) -> None:
    """Gelu, and the recognised idioms -> top.GELU."""
    mode = GELU_MODES[node.attribute("approximate", "none")]
    node.suffix = "GELU"
    context.emit(node, top.GELUOp, [context.value(node.inputs[0])], approx_mode=mode)


def convert_elu(context: Context, node: Node) -> None:
    """Elu -> top.Elu."""
    alpha = node.attribute("alpha", 1.0)
    context.emit(node, top.EluOp, [context.value(node.inputs[0])], alpha=alpha)


def convert_leaky_relu(context: Context, node: Node) -> None:
    """LeakyRelu -> top.LeakyRelu."""
    alpha = node.attribute("alpha", 0.01)
    context.emit(node, top.LeakyReluOp, [context.value(node.inputs[0])], alpha=alpha)


def convert_hard_sigmoid(context: Context, node: Node) -> None:
    """HardSigmoid -> top.HardSigmoid."""
    context.emit(
        node,
        top.HardSigmoidOp,
        [context.value(node.inputs[0])],
        alpha=node.attribute("alpha", 0.2),
        beta=node.attribute("beta", 0.5),
    )


def convert_prelu(context: Context, node: Node) -> None:
    """PRelu -> top.LeakyRelu for one constant slope, top.PRelu for one per channel.

    Other slopes: Max(x, 0) + slope * Min(x, 0).
    """
    x, name = context.value(node.inputs[0]), node.inputs[1]
    slope = context.graph.constant(name)
    if slope is not None and slope.size == 1:
        context.emit(node, top.LeakyReluOp, [x], alpha=float(slope.reshape(())))
        return
    shape = context.shape(node.inputs[0])
    own = context.shape(name)
    padded = (*[1] * (len(shape) - len(own)), *own)
    if own == shape[1:2] and own != shape[-1:]:  # before opset 7, one per channel
        padded = (1, *own)
    if slope is None or len(shape) < 2 or slope.size != shape[1] or padded[1] != shape[1]:
        above = context.step(node, "above", top.MaxConstOp, [x], shape, const_val=0.0)
        below = context.step(node, "below", top.MinConstOp, [x], shape, const_val=0.0)
        operands = [below, context.value(name)]
        scaled = context.step(node, "scaled", top.MulOp, operands, shape)
        context.emit(node, top.AddOp, [above, scaled])
        return
    per_channel = slope.reshape(1, shape[1], *[1] * (len(shape) - 2))
    context.emit(node, top.PReluOp, [x, context.weight(f"{name}_slope", per_channel)])


CONVERTERS: dict[str, Converter] = {
    **dict.fromkeys(PLAIN, convert_plain),
    "Clip": convert_clip,
    "Elu": convert_elu,
    "GELU": convert_gelu,
    "Gelu": convert_gelu,
    "HardSigmoid": convert_hard_sigmoid,
    "LeakyRelu": convert_leaky_relu,
    "Neg": convert_neg,
    "PRelu": convert_prelu,
}
