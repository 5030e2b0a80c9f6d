"""Building one net: ops with the names that the vendor's tools give them."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import (
    FunctionType,
    IntegerType,
    ModuleOp,
    NoneType,
    Signedness,
    StringAttr,
    TensorType,
    UnknownLoc,
    f32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY
from xdsl_tpu.dialects.base import NamedOp, is_ranked_tensor
from xdsl_tpu.dialects.input_ranges import INPUT_RANGES, InputRange, ranges_attribute
from xdsl_tpu.dialects.integers import INTEGER
from xdsl_tpu.dialects.language_models import IO_ROOMS, KEPT_INPUTS
from xdsl_tpu.dialects.packed_weights import PackedMatrix
from xdsl_tpu.dialects.precision import ATTRIBUTE as PRECISION
from xdsl_tpu.dialects.precision import Precision
from xdsl_tpu.dialects.weights import Weights, attach
from xdsl_tpu.frontend.llm.model import Linear, Norm

Value: TypeAlias = SSAValue
Array = npt.NDArray[Any]

UI8 = IntegerType(8, Signedness.UNSIGNED)

ACTIVATIONS: dict[str, tuple[type[NamedOp], str, dict[str, Any]]] = {
    "silu": (top.SiLUOp, "silu", {}),
    "gelu": (top.GELUOp, "gelu", {"approx_mode": "normal"}),
    "gelu_pytorch_tanh": (top.GELUOp, "gelu", {"approx_mode": "tanh"}),
    "gelu_new": (top.GELUOp, "gelu", {"approx_mode": "tanh"}),
    "relu": (top.ReluOp, "relu", {}),
    "relu2": (top.ReluOp, "relu", {}),
}
"""By config.json's names: the op, what its name ends in, its attributes."""
SQUARED = ("relu2",)
"""Those of which the result is squared."""


class NetBuilder:
    """A function `main` under construction, and the weights that its ops name.

    With `separate_io` inputs and outputs are to lie apart from other values, new keys and values
    behind their history, each in `rooms` of so many elements if there are any; else with
    `kept_inputs` a run leaves the inputs as they are (`KEPT_INPUTS`).
    """

    def __init__(
        self,
        name: str,
        separate_io: bool = False,
        rooms: Sequence[int] = (),
        kept_inputs: bool = False,
    ) -> None:
        self._name = name
        self._separate_io, self._kept_inputs = separate_io, kept_inputs
        self._rooms = tuple(rooms)
        self._block = Block()
        self._weights = Weights()
        self._made: dict[str, Value] = {}
        self._ranges: dict[str, InputRange] = {}
        none = top.NoneOp.make(UnknownLoc(), (), result_types=[NoneType()])
        self._block.add_op(none)
        self.none: Value = none.output

    def input(self, name: str, shape: Sequence[int], numbers: InputRange | None = None) -> Value:
        """An input: whole numbers of a range, or floats."""
        kind = TensorType(f32 if numbers is None else INTEGER, tuple(shape))
        argument = self._block.insert_arg(kind, len(self._block.args))
        op = top.InputOp.make(name, [argument], result_types=[kind])
        self._block.add_op(op)
        if numbers is not None:
            self._ranges[name] = numbers
        return op.output

    def weight(self, name: str, values: Array, element: Attribute = f32) -> Value:
        """A weight, made when first asked for."""
        if name not in self._made:
            op = top.WeightOp.make(name, (), result_types=[TensorType(element, values.shape)])
            self._block.add_op(op)
            self._weights[name] = values
            self._made[name] = op.output
        return self._made[name]

    def op(
        self,
        kind: type[NamedOp],
        name: str,
        operands: Sequence[Value],
        shape: Sequence[int],
        /,
        **attributes: Any,
    ) -> Value:
        """An op with one result of floats."""
        made = kind.make(name, operands, result_types=[TensorType(f32, tuple(shape))], **attributes)
        self._block.add_op(made)
        return made.results[0]

    def mark(self, value: Value, name: str, attribute: Attribute) -> None:
        """Set an attribute on the op that makes a value."""
        assert isinstance(value.owner, Operation)
        attributes = {**value.owner.attributes, name: attribute}
        value.owner.attributes = dict(sorted(attributes.items()))

    def shape(self, value: Value) -> tuple[int, ...]:
        """The shape of a value."""
        assert is_ranked_tensor(value.type)
        return value.type.get_shape()

    def reshape(self, name: str, value: Value, shape: Sequence[int]) -> Value:
        """The same elements under another shape."""
        return self.op(top.ReshapeOp, name, [value], shape, shape=tuple(shape))

    def norm(self, name: str, value: Value, norm: Norm, own_name: str = "") -> Value:
        """A norm of the last dimension, its weights under a name of their own."""
        shape, own_name = self.shape(value), own_name or name
        if not norm.centred:
            assert norm.weight is not None
            gamma = self._last(f"{own_name}.weight", norm.weight, len(shape))
            return self.op(top.RMSNormOp, name, [value, gamma], shape, eps=norm.eps)
        apart = norm.weight is not None and norm.weight.ndim > 1
        parts = [
            self.none if one is None or apart
            else self._last(f"{own_name}.{part}", one, 1)
            for part, one in (("weight", norm.weight), ("bias", norm.bias))
        ]  # fmt: skip
        out = self.op(top.LayerNormOp, f"{name}.normalized" if apart else name, [value, *parts],
                      shape, axis=len(shape) - 1, eps=norm.eps, normalized_shape=[])  # fmt: skip
        if norm.weight is None or not apart:
            return out
        gamma = self._last(f"{own_name}.weight", norm.weight, len(shape))
        return self.op(top.MulOp, name, [out, gamma], shape)

    def _last(self, name: str, values: Array, rank: int) -> Value:
        """A weight of the last dimensions."""
        return self.weight(name, values.reshape((1,) * (rank - values.ndim) + values.shape))

    def linear(self, name: str, linear: Linear, x: Value) -> Value:
        """x W^T + bias, W in floats or packed."""
        matrix = linear.matrix
        shape = (*self.shape(x)[:-1], matrix.shape[0])
        bias = self.none
        if linear.bias is not None:
            bias = self.weight(f"{name}.bias", linear.bias.reshape(1, 1, -1))
        if isinstance(matrix, PackedMatrix):
            return self._packed(name, matrix, x, bias, shape)
        right = self.weight(f"{name}.weight", np.ascontiguousarray(matrix.T))
        return self.op(top.MatMulOp, name, [x, right, bias], shape)

    def _packed(
        self, name: str, matrix: PackedMatrix, x: Value, bias: Value, shape: Sequence[int]
    ) -> Value:
        scale = self.weight(f"{name}_scale", matrix.scale.astype(np.float32))
        zero = self.weight(f"{name}_zp", matrix.zero, UI8)
        values = self.weight(f"{name}_uint", matrix.values, UI8)
        return self.op(top.A16MatMulOp, name, [x, values, scale, zero, bias], shape,
                       right_transpose=True, q_group_size=matrix.group,
                       weight_bits=matrix.bits)  # fmt: skip

    def head(self, name: str, linear: Linear, x: Value) -> Value:
        """Logits [n, vocabulary] of x [n, hidden]; floats as weight [vocabulary, hidden] times x,
        so that the weight may be that of the embeddings."""
        if isinstance(linear.matrix, PackedMatrix):
            return self.linear(name, linear, x)
        rows = linear.matrix.shape[0]
        weight = self.weight("model.embed_tokens.weight", linear.matrix)
        tokens = self.shape(x)[0]
        column = self.op(top.MatMulOp, f"{name}.column", [weight, x, self.none], (rows, tokens),
                         right_transpose=True)  # fmt: skip
        if linear.bias is not None:
            bias = self.weight(f"{name}.bias", linear.bias[:, None])
            column = self.op(top.AddOp, f"{name}.biased", [column, bias], (rows, tokens))
        if tokens > 1:
            return self.op(top.PermuteOp, name, [column], (tokens, rows), order=(1, 0))
        return self.reshape(name, column, (1, rows))

    def activation(self, name: str, kind: str, value: Value) -> Value:
        """What comes between the matrices of an MLP."""
        op, suffix, attributes = ACTIVATIONS[kind]
        shape = self.shape(value)
        made = self.op(op, f"{name}.{suffix}", [value], shape, **attributes)
        if kind in SQUARED:
            return self.op(top.MulOp, f"{name}.square", [made, made], shape)
        return made

    def capped(self, name: str, value: Value, cap: float) -> Value:
        """cap * tanh(value / cap)."""
        shape = self.shape(value)
        small = self.op(top.MulConstOp, f"{name}.small", [value], shape, const_val=1 / cap)
        bent = self.op(top.TanhOp, f"{name}.tanh", [small], shape)
        return self.op(top.MulConstOp, name, [bent], shape, const_val=cap)

    def place_of_largest(self, name: str, value: Value) -> Value:
        """Where the largest number of each row of value [n, k] is, the first of equals: [n, 1]."""
        kinds = [TensorType(INTEGER, (self.shape(value)[0], 1)), NoneType()]
        op = top.ArgOp.make(name, [value], result_types=kinds, axis=1, keepdims=True,
                            mode="ArgMax", select_last_index=False)  # fmt: skip
        self._block.add_op(op)
        return op.indices

    def best(self, name: str, places: str, value: Value, count: int) -> tuple[Value, Value]:
        """The `count` largest numbers of each row of value [n, k] in order, and where they are."""
        shape = (self.shape(value)[0], count)
        kinds = [TensorType(f32, shape), TensorType(INTEGER, shape)]
        op = top.TopKOp.make([name, places], [value], result_types=kinds, axis=1, K=count)
        self._block.add_op(op)
        return op.values, op.indices

    def finish(self, results: Sequence[Value]) -> ModuleOp:
        """The module, its weights attached."""
        arguments = [argument.type for argument in self._block.args]
        self._block.add_op(ReturnOp(*results))
        signature = FunctionType.from_lists(arguments, [result.type for result in results])
        attributes = {
            **({"module.addr_mode": "io_alone"} if self._separate_io else {}),
            "module.chip": "ALL",
            # A text goes on from every choice: a third less error for a hundredth of the cycles.
            PRECISION: Precision.CLOSE.value,
            "module.platform": "LLM",
            "module.state": "TOP_F32",
            "module.top_run_mode": "STATIC",
            "module.weight_file": f"{self._name}_top_weights.npz",
        }
        function = FuncOp("main", signature, Region(self._block))
        texts: dict[str, Attribute] = {key: StringAttr(value) for key, value in attributes.items()}
        if self._kept_inputs:
            texts[KEPT_INPUTS] = StringAttr("true")
        if self._rooms:
            texts[IO_ROOMS] = I64_ARRAY.convert(self._rooms)
        if self._ranges:
            texts[INPUT_RANGES] = ranges_attribute(self._ranges)
        module = ModuleOp([function], dict(sorted(texts.items())), StringAttr(self._name))
        attach(module, self._weights)
        return module
