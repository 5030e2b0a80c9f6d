"""A small Llama as exporters write it to ONNX: with or without keys and values of earlier tokens.

Norms, rotary positions and attention are spelt in single nodes. With a history each layer takes
`past_key_values.N.key` and `.value` [1, heads, past, size] and gives `present.N.key` and `.value`
with the new tokens behind them.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[Any]
HIDDEN, INNER, HEADS, SHARED, SIZE, VOCABULARY, LAYERS = 128, 256, 4, 2, 64, 192, 2


class Decoder:
    """Nodes and weights of a decoder for `rows` tokens behind `past` others."""

    def __init__(self, rows: int, past: int) -> None:
        self.rows, self.past = rows, past
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.inputs = [
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, rows]),
            helper.make_tensor_value_info("position_ids", TensorProto.INT64, [1, rows]),
            self._float("mask", [1, 1, rows, past + rows]),
        ]
        self.outputs = [self._float("logits", [1, rows, VOCABULARY])]
        self._seed = np.random.default_rng(11)

    def save(self, path: Path) -> None:
        """Write the model."""
        x = self.op("Gather", "embedding", self.matrix("embed", VOCABULARY, HIDDEN), "input_ids")
        angles = self._angles()
        for layer in range(LAYERS):
            x = self._layer(f"l{layer}", layer, x, angles)
        self.product("logits", self._norm("norm", x), HIDDEN, VOCABULARY)
        graph = helper.make_graph(self.nodes, "decoder", self.inputs, self.outputs, self.weights)
        opset = [helper.make_opsetid("", 17)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=8)
        path.write_bytes(model.SerializeToString())

    def feeds(self, seen: int) -> dict[str, Array]:
        """Inputs whose tokens stand behind `seen` ones, the first rows of the history."""
        rng = np.random.default_rng(seen)
        hidden = np.full((self.rows, self.past + self.rows), -10000.0, np.float32)
        hidden[:, :seen] = 0
        hidden[:, self.past :] = np.triu(np.full((self.rows, self.rows), -10000.0), 1)
        found: dict[str, Array] = {
            "input_ids": rng.integers(0, VOCABULARY, (1, self.rows)),
            "position_ids": np.arange(seen, seen + self.rows)[None],
            "mask": hidden[None, None],
        }
        for one in self.inputs[3:]:
            shape = [dim.dim_value for dim in one.type.tensor_type.shape.dim]
            found[one.name] = rng.standard_normal(shape).astype(np.float32)
        return found

    @staticmethod
    def _float(name: str, shape: list[int]) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    def op(self, kind: str, name: str, *inputs: str, **attributes: Any) -> str:
        """One node and its result, both of this name."""
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name, **attributes))
        return name

    def constant(self, name: str, values: Any, kind: Any = np.float32) -> str:
        """A weight with these numbers."""
        self.weights.append(numpy_helper.from_array(np.asarray(values, kind), name))
        return name

    def matrix(self, name: str, rows: int, columns: int) -> str:
        """A weight with random numbers."""
        return self.constant(name, self._seed.standard_normal((rows, columns)) * rows**-0.5)

    def product(self, name: str, x: str, depth: int, columns: int) -> str:
        """x times a matrix of its own."""
        return self.op("MatMul", name, x, self.matrix(f"{name}_w", depth, columns))

    def _norm(self, name: str, x: str) -> str:
        two = self.constant(f"{name}_2", 2.0)
        square = self.op("Pow", f"{name}_square", x, two)
        mean = self.op("ReduceMean", f"{name}_mean", square, axes=[-1], keepdims=1)
        near = self.op("Add", f"{name}_near", mean, self.constant(f"{name}_eps", 1e-6))
        root = self.op("Sqrt", f"{name}_root", near)
        one = self.op("Div", f"{name}_one", self.constant(f"{name}_1", 1.0), root)
        normal = self.op("Mul", f"{name}_normal", x, one)
        gamma = self.constant(f"{name}_w", 1 + 0.1 * self._seed.standard_normal(HIDDEN))
        return self.op("Mul", name, gamma, normal)

    def _angles(self) -> tuple[str, str]:
        places = self.constant("places", [1], np.int64)
        floats = self.op("Cast", "positions", "position_ids", to=TensorProto.FLOAT)
        rows = self.op("Unsqueeze", "position_rows", floats, places)
        speed = 10000.0 ** -(np.arange(0, SIZE, 2) / SIZE)
        speeds = self.constant("speeds", speed.reshape(1, -1, 1))
        turned = self.op(
            "Transpose", "angles_t", self.op("MatMul", "angles", speeds, rows), perm=[0, 2, 1]
        )
        both = self.op("Concat", "angles_2", turned, turned, axis=-1)
        cosine, sine = (self.op(kind, kind.lower(), both) for kind in ("Cos", "Sin"))
        return (
            self.op("Unsqueeze", "cos_heads", cosine, places),
            self.op("Unsqueeze", "sin_heads", sine, places),
        )

    def _turned(self, name: str, x: str, angles: tuple[str, str]) -> str:
        axis = self.constant(f"{name}_axis", [3], np.int64)
        cuts = [self.constant(f"{name}_{at}", [at], np.int64) for at in (0, SIZE // 2, SIZE)]
        low = self.op("Slice", f"{name}_low", x, cuts[0], cuts[1], axis)
        high = self.op("Slice", f"{name}_high", x, cuts[1], cuts[2], axis)
        half = self.op("Concat", f"{name}_half", self.op("Neg", f"{name}_neg", high), low, axis=-1)
        straight = self.op("Mul", f"{name}_cos", x, angles[0])
        return self.op("Add", name, straight, self.op("Mul", f"{name}_sin", half, angles[1]))

    def _heads(self, name: str, x: str, count: int) -> str:
        shape = self.constant(f"{name}_shape", [1, self.rows, count, SIZE], np.int64)
        whole = self.product(f"{name}_proj", x, HIDDEN, count * SIZE)
        return self.op(
            "Transpose", name, self.op("Reshape", f"{name}_split", whole, shape), perm=[0, 2, 1, 3]
        )

    def _with_past(self, name: str, x: str, layer: int) -> str:
        if not self.past:
            return x
        old, new = f"past_key_values.{layer}.{name}", f"present.{layer}.{name}"
        self.inputs.append(self._float(old, [1, SHARED, self.past, SIZE]))
        self.outputs.append(self._float(new, [1, SHARED, self.past + self.rows, SIZE]))
        return self.op("Concat", new, old, x, axis=2)

    def _for_all(self, name: str, x: str) -> str:
        keys, times = self.past + self.rows, HEADS // SHARED
        axis = self.constant(f"{name}_axis", [2], np.int64)
        apart = self.op("Unsqueeze", f"{name}_apart", x, axis)
        wide = self.constant(f"{name}_wide", [1, SHARED, times, keys, SIZE], np.int64)
        shape = self.constant(f"{name}_all_shape", [1, HEADS, keys, SIZE], np.int64)
        return self.op("Reshape", name, self.op("Expand", f"{name}_copies", apart, wide), shape)

    def _attention(self, name: str, layer: int, x: str, angles: tuple[str, str]) -> str:
        q = self._turned(f"{name}_qr", self._heads(f"{name}_q", x, HEADS), angles)
        k = self._turned(f"{name}_kr", self._heads(f"{name}_k", x, SHARED), angles)
        v = self._heads(f"{name}_v", x, SHARED)
        k, v = (self._with_past(what, one, layer) for what, one in (("key", k), ("value", v)))
        keys = self.op("Transpose", f"{name}_kt", self._for_all(f"{name}_ka", k), perm=[0, 1, 3, 2])
        scores = self.op("MatMul", f"{name}_scores", q, keys)
        scaled = self.op("Mul", f"{name}_scaled", scores, self.constant(f"{name}_s", SIZE**-0.5))
        masked = self.op("Add", f"{name}_masked", scaled, "mask")
        shares = self.op("Softmax", f"{name}_shares", masked, axis=-1)
        mixed = self.op("MatMul", f"{name}_mixed", shares, self._for_all(f"{name}_va", v))
        rows = self.op("Transpose", f"{name}_rows", mixed, perm=[0, 2, 1, 3])
        shape = self.constant(f"{name}_flat", [1, self.rows, HIDDEN * 2], np.int64)
        flat = self.op("Reshape", f"{name}_joined", rows, shape)
        return self.product(f"{name}_o", flat, HEADS * SIZE, HIDDEN)

    def _layer(self, name: str, layer: int, x: str, angles: tuple[str, str]) -> str:
        attended = self._attention(name, layer, self._norm(f"{name}_norm", x), angles)
        x = self.op("Add", f"{name}_middle", x, attended)
        normal = self._norm(f"{name}_norm2", x)
        gate = self.product(f"{name}_gate", normal, HIDDEN, INNER)
        silu = self.op("Mul", f"{name}_silu", gate, self.op("Sigmoid", f"{name}_sigmoid", gate))
        both = self.op(
            "Mul", f"{name}_both", silu, self.product(f"{name}_up", normal, HIDDEN, INNER)
        )
        return self.op("Add", f"{name}_out", x, self.product(f"{name}_down", both, INNER, HIDDEN))
