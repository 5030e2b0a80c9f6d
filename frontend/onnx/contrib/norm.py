"""Normalisations of sums, of embeddings, and of groups of channels."""

import numpy as np

from xdsl_tpu.frontend.onnx.compose.body import Body, Composition
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode


def layer_norm(body: Body) -> None:
    """LayerNormalization as onnxruntime has it in models of an opset that has none."""
    node = body.node
    if any(node.outputs[1:]):
        raise UnsupportedNode("its mean and deviation are not given")
    names = [name for name in node.inputs if name]
    body.add("LayerNormalization", *names, output=node.output, **_options(body, 1e-5))


def rms_norm(body: Body) -> None:
    """SimplifiedLayerNormalization(x, scale) -> RMSNormalization."""
    if any(body.node.outputs[1:]):
        raise UnsupportedNode("its deviation is not given")
    names = body.node.inputs[:2]
    body.add("RMSNormalization", *names, output=body.node.output, **_options(body, 1e-5))


def skip_layer_norm(body: Body) -> None:
    """SkipLayerNormalization(x, skip, gamma, beta, bias) -> LayerNormalization(x + bias + skip)."""
    gamma, beta, bias = (body.node.input(index) for index in (2, 3, 4))
    parameters = [gamma, beta] if beta else [gamma]
    _of_sum(body, "LayerNormalization", parameters, bias, body.node.attribute("epsilon", 1e-12))


def skip_rms_norm(body: Body) -> None:
    """SkipSimplifiedLayerNormalization(x, skip, gamma, bias) -> RMSNormalization of the sum."""
    gamma, bias = body.node.input(2), body.node.input(3)
    _of_sum(body, "RMSNormalization", [gamma], bias, body.node.attribute("epsilon", 1e-5))


def _of_sum(body: Body, op_type: str, parameters: list[str], bias: str, epsilon: float) -> None:
    node = body.node
    total = next(iter(node.outputs[3:]), "")
    if any(node.outputs[1:3]):
        raise UnsupportedNode("its mean and deviation are not given")
    x, skip = node.inputs[:2]
    if bias and not body.graph.made_by(x, "MatMul") and body.graph.made_by(skip, "MatMul"):
        x, skip = skip, x  # a product takes its bias with it
    x = body.add("Add", x, bias) if bias else x
    x = body.add("Add", x, skip, output=total)
    body.add(op_type, x, *parameters, output=node.output, axis=-1, epsilon=epsilon)


def embed_layer_norm(body: Body) -> None:
    """EmbedLayerNormalization -> LayerNormalization of Gather(words) + positions (+ segments).

    The mask's number of ones, its second output, is what `Attention` takes for lengths.
    """
    node = body.node
    ids, segments, words, places, kinds, gamma, beta = node.inputs[:7]
    batch, length = body.shape(0)
    position_ids = node.input(8)
    if position_ids:
        position = body.add("Gather", places, position_ids)
    else:
        position = body.slice(places, 0, 0, length)
    total = next(iter(node.outputs[2:]), "")
    x = body.add("Gather", words, ids)
    if segments:
        x = body.add("Add", x, body.add("Gather", kinds, segments))
    x = body.add("Add", x, position, output=total)
    epsilon = node.attribute("epsilon", 1e-12)
    body.add("LayerNormalization", x, gamma, beta, output=node.output, axis=-1, epsilon=epsilon)
    lengths, mask = next(iter(node.outputs[1:2]), ""), node.input(7)
    if lengths and mask:
        body.reduce("ReduceSum", mask, [1], keepdims=False, output=lengths)
    elif lengths:
        body.add("Identity", body.constant(np.zeros(batch, np.int32)), output=lengths)


def group_norm(body: Body) -> None:
    """GroupNorm(x, gamma, beta), SkipGroupNorm(.., skip, bias) -> InstanceNormalization of groups.

    Channels come last where it says so (`channels_last`); activation 1 is SiLU.
    """
    node, shape = body.node, body.shape(0)
    x, gamma, beta = node.inputs[:3]
    if bias := node.input(4):
        x = body.add("Add", x, bias)
    if skip := node.input(3):
        wide = [shape[0], 1, 1, shape[-1]]
        skip = body.reshape(skip, wide) if len(body.shape(3)) == 2 else skip
        x = body.add("Add", x, skip, output=next(iter(node.outputs[1:]), ""))
    is_last = bool(node.attribute("channels_last", 1))
    if is_last:
        shape = (shape[0], shape[3], *shape[1:3])
        x = body.transpose(x, (0, 3, 1, 2))
    groups, channels = node.attributes["groups"], shape[1]
    one, zero = (np.full(groups, value, np.float32) for value in (1, 0))
    ends = [body.add("CastLike", body.constant(end), node.inputs[0]) for end in (one, zero)]
    flat = body.reshape(x, (shape[0], groups, -1))
    epsilon = node.attribute("epsilon", 1e-5)
    flat = body.add("InstanceNormalization", flat, *ends, epsilon=epsilon)
    y = body.reshape(flat, shape)
    parts = (body.add("CastLike", name, node.inputs[0]) for name in (gamma, beta))
    weight, offset = (body.reshape(name, (channels, 1, 1)) for name in parts)
    y = body.add("Add", body.add("Mul", y, weight), offset)
    if node.attribute("activation", 0):
        y = body.add("Mul", y, body.add("Sigmoid", y))
    if is_last:
        body.transpose(y, (0, 2, 3, 1), node.output)
    else:
        body.add("Identity", y, output=node.output)


def _options(body: Body, epsilon: float) -> dict[str, float]:
    node = body.node
    return {"axis": node.attribute("axis", -1), "epsilon": node.attribute("epsilon", epsilon)}


COMPOSED: dict[str, Composition] = {
    "EmbedLayerNormalization": embed_layer_norm,
    "GroupNorm": group_norm,
    "LayerNormalization": layer_norm,
    "SimplifiedLayerNormalization": rms_norm,
    "SkipGroupNorm": group_norm,
    "SkipLayerNormalization": skip_layer_norm,
    "SkipSimplifiedLayerNormalization": skip_rms_norm,
}
