"""Seeded ONNX models of a few thousand weights, for running the tools on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[Any]
Dimension = int | str


class Builder:
    """Nodes and seeded weights of one model; every method returns its result's name."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def weight(self, name: str, *shape: int, scale: float = 0.2, offset: float = 0.0) -> str:
        values = self.random.standard_normal(shape, np.float32) * scale + offset
        return self.constant(name, values)

    def constant(self, name: str, values: Array | float) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(values, np.float32), name))
        return name

    def shape(self, name: str, *sizes: int) -> str:
        self.constants.append(numpy_helper.from_array(np.array(sizes, np.int64), name))
        return name

    def node(self, kind: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], output, **attributes))
        return output

    def model(
        self, inputs: dict[str, Sequence[Dimension]], outputs: dict[str, Sequence[Dimension]]
    ) -> onnx.ModelProto:
        taken, given = (
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in values.items()]
            for values in (inputs, outputs)
        )
        graph = helper.make_graph(self.nodes, "small", taken, given, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def cnn() -> onnx.ModelProto:
    """Convolutions (strided, depthwise, pointwise), pooling, a residual, two outputs."""
    b = Builder(1)
    x = b.node("Conv", ["image", b.weight("w0", 16, 3, 3, 3), b.weight("b0", 16)], "stem",
               kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])  # fmt: skip
    x = b.node("Relu", [x], "stem_relu")
    x = b.node("MaxPool", [x], "pooled", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    y = b.node("Conv", [x, b.weight("w1", 16, 1, 3, 3)], "depthwise",
               kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=16)  # fmt: skip
    limits = [b.constant(name, value) for name, value in (("zero", 0), ("six", 6))]
    y = b.node("Clip", [y, *limits], "r6")
    y = b.node("Conv", [y, b.weight("w2", 16, 16, 1, 1)], "pointwise", kernel_shape=[1, 1])
    features = b.node("Add", [x, y], "features")
    x = b.node("GlobalAveragePool", [features], "mean")
    x = b.node("Flatten", [x], "flat", axis=1)
    b.node("Gemm", [x, b.weight("w3", 10, 16), b.weight("b3", 10)], "logits", transB=1)
    return b.model({"image": (1, 3, 40, 24)}, {"logits": (1, 10), "features": (1, 16, 10, 6)})


def transformer(tokens: int = 10, width: int = 24) -> onnx.ModelProto:
    """One attention head and a GELU block, each behind a layer norm with a residual."""
    b = Builder(2)
    x = b.node("LayerNormalization", _norm(b, "tokens", "n0", width), "normed", axis=-1)
    q, k, v = (
        b.node("MatMul", [x, b.weight(f"w_{name}", width, width)], name) for name in ("q", "k", "v")
    )
    scores = b.node("MatMul", [q, b.node("Transpose", [k], "kt", perm=[0, 2, 1])], "scores")
    scores = b.node("Mul", [scores, b.constant("scale", width**-0.5)], "scaled")
    mixed = b.node("MatMul", [b.node("Softmax", [scores], "attention", axis=-1), v], "mixed")
    x = b.node("Add", ["tokens", mixed], "residual")
    y = b.node("LayerNormalization", _norm(b, x, "n1", width), "normed1", axis=-1)
    y = b.node("MatMul", [y, b.weight("w_up", width, 4 * width)], "up")
    y = b.node("Add", [y, b.weight("b_up", 4 * width)], "biased")
    y = b.node("MatMul", [_gelu(b, y), b.weight("w_down", 4 * width, width)], "down")
    b.node("Add", [x, y], "out")
    return b.model({"tokens": (1, tokens, width)}, {"out": (1, tokens, width)})


def _norm(b: Builder, x: str, name: str, width: int) -> list[str]:
    return [x, b.weight(f"{name}_gain", width, offset=1.0), b.weight(f"{name}_shift", width)]


def _gelu(b: Builder, x: str) -> str:
    """x/2 * (1 + erf(x / sqrt 2)), as exporters decompose it."""
    erf = b.node("Erf", [b.node("Div", [x, b.constant("root2", 2**0.5)], "g0")], "g1")
    half = b.node("Mul", [x, b.node("Add", [erf, b.constant("one", 1)], "g2")], "g3")
    return b.node("Mul", [half, b.constant("half", 0.5)], "gelu")


def channels(count: int = 150) -> onnx.ModelProto:
    """Convolutions of more channels than most chips have lanes."""
    b = Builder(7)
    x = b.node("Conv", ["image", b.weight("w0", count, 3, 3, 3), b.weight("b0", count)], "stem",
               kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])  # fmt: skip
    x = b.node("Relu", [x], "r0")
    x = b.node("Conv", [x, b.weight("w1", count, 1, 3, 3), b.weight("b1", count)], "depthwise",
               kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=count)  # fmt: skip
    x = b.node("Relu", [x], "r1")
    x = b.node("Conv", [x, b.weight("w2", count, count, 1, 1), b.weight("b2", count)], "point",
               kernel_shape=[1, 1])  # fmt: skip
    b.node("Conv", [b.node("Relu", [x], "r2"), b.weight("w3", 5, count, 3, 3)], "out",
           kernel_shape=[3, 3])  # fmt: skip
    return b.model({"image": (1, 3, 16, 14)}, {"out": (1, 5, 6, 5)})


def heads(tokens: int = 70, count: int = 3, width: int = 16) -> onnx.ModelProto:
    """Attention of several heads over more tokens than most chips have lanes."""
    b = Builder(6)
    size = count * width
    split = b.shape("split", 1, tokens, count, width)

    def head(name: str, perm: list[int]) -> str:
        x = b.node("MatMul", ["tokens", b.weight(f"w_{name}", size, size)], name)
        return b.node(
            "Transpose", [b.node("Reshape", [x, split], f"{name}1")], f"{name}2", perm=perm
        )

    q, k, v = head("q", [0, 2, 1, 3]), head("k", [0, 2, 3, 1]), head("v", [0, 2, 1, 3])
    scores = b.node("Mul", [b.node("MatMul", [q, k], "s0"), b.constant("scale", width**-0.5)], "s1")
    mixed = b.node("MatMul", [b.node("Softmax", [scores], "s2", axis=-1), v], "m0")
    mixed = b.node("Transpose", [mixed], "m1", perm=[0, 2, 1, 3])
    joined = b.node("Reshape", [mixed, b.shape("join", 1, tokens, size)], "m2")
    b.node("MatMul", [joined, b.weight("w_out", size, size)], "out")
    return b.model({"tokens": (1, tokens, size)}, {"out": (1, tokens, size)})


def wide_pads() -> onnx.ModelProto:
    """A first convolution whose result is larger than its operand, then SiLU."""
    b = Builder(5)
    x = b.node("Conv", ["image", b.weight("w0", 16, 3, 2, 2), b.weight("b0", 16)], "wider",
               kernel_shape=[2, 2], pads=[1, 1, 1, 1])  # fmt: skip
    x = b.node("Conv", [b.node("Relu", [x], "relu"), b.weight("w1", 24, 16, 1, 1)], "pointwise",
               kernel_shape=[1, 1])  # fmt: skip
    b.node("Mul", [b.node("Sigmoid", [x], "sigmoid"), x], "out")
    return b.model({"image": (1, 3, 15, 7)}, {"out": (1, 24, 16, 8)})


def dynamic() -> onnx.ModelProto:
    """A matrix product over a batch of unknown size."""
    b = Builder(3)
    b.node("MatMul", ["x", b.weight("w", 16, 8)], "y")
    return b.model({"x": ("batch", 16)}, {"y": ("batch", 8)})


def unsupported() -> onnx.ModelProto:
    """An op that no converter knows."""
    b = Builder(4)
    b.node("Det", ["x"], "determinant")
    return b.model({"x": (1, 4, 4)}, {"determinant": (1,)})


MODELS = {
    f.__name__: f for f in (cnn, transformer, channels, heads, wide_pads, dynamic, unsupported)
}


def write_models(folder: Path) -> None:
    """Each model as `<name>.onnx`."""
    for name, build in MODELS.items():
        (folder / f"{name}.onnx").write_bytes(build().SerializeToString())
