"""Normalisation by the statistics of the tensor itself, as in training."""

from xdsl_tpu.frontend.onnx.compose.body import Body, Composition
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode

TRAINING_MODE = 14
"""The opset from which on an attribute says that statistics are those of the input."""


def batch_normalization(body: Body) -> bool:
    """BatchNormalization(x, .., training_mode = 1) -> (x - mean) scale / Sqrt(variance + eps) + b,
    with mean and (biased) variance over all axes but the channels'.

    It is what a network keeps when it normalises in training mode on purpose: weights that are
    standardised, or statistics of the image. The running statistics go out as
    old momentum + new (1 - momentum).
    """
    node, shape = body.node, body.shape(0)
    if not node.attribute("training_mode", 0):
        if not any(node.outputs[1:]):
            return False
        raise UnsupportedNode("training mode is not supported before opset 14")
    x, scale, bias, *running = node.inputs
    axes = [axis for axis in range(len(shape)) if axis != 1]
    across = [1, shape[1], *[1] * (len(shape) - 2)]
    mean = body.reduce("ReduceMean", x, axes, keepdims=True)
    apart = body.add("Sub", x, mean)
    variance = body.reduce("ReduceMean", body.add("Mul", apart, apart), axes, keepdims=True)
    padded = body.add("Add", variance, body.constant(node.attribute("epsilon", 1e-5)))
    factor = body.add("Div", body.reshape(scale, across), body.add("Sqrt", padded))
    product = body.add("Mul", apart, factor)
    body.add("Add", product, body.reshape(bias, across), output=node.outputs[0])
    momentum = node.attribute("momentum", 0.9)
    for name, old, new in zip(node.outputs[1:], running, (mean, variance), strict=False):
        if name:
            kept = body.add("Mul", old, body.constant(momentum))
            fresh = body.add("Mul", new, body.constant(1 - momentum))
            body.add("Add", kept, body.reshape(fresh, [shape[1]]), output=name)
    return True


COMPOSED: dict[str, Composition] = {"BatchNormalization": batch_normalization}
