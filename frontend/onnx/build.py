"""From an ONNX message to a `Graph`: one walk over the nodes that follows aliases, computes what
is constant, and gives every other value its static type."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, checker, defs, helper, numpy_helper, shape_inference

from xdsl_tpu.frontend.onnx.cells import LOOPS
from xdsl_tpu.frontend.onnx.compose import COMPOSED, Body, Composition
from xdsl_tpu.frontend.onnx.compose.recurrent import WRITTEN_OUT
from xdsl_tpu.frontend.onnx.contrib import CONTRIB, DOMAIN, ON_INTEGERS
from xdsl_tpu.frontend.onnx.evaluate import ELEMENTWISE, RANDOM, SHAPE_QUERIES, evaluate
from xdsl_tpu.frontend.onnx.expand import expanded, first_opset, plainly
from xdsl_tpu.frontend.onnx.graph import Array, Graph, Node, ValueType, is_uniform
from xdsl_tpu.frontend.onnx.load import NEWEST_OPSET, opset_of
from xdsl_tpu.frontend.onnx.problems import Problem, UnsupportedNode, node_problem
from xdsl_tpu.frontend.onnx.protos import (
    attribute_values,
    has_data,
    negative_size,
    static_type,
    tensor_array,
    type_proto,
)
from xdsl_tpu.frontend.onnx.qdq import weight_scales
from xdsl_tpu.frontend.onnx.refill import Stripped, stripped_weights
from xdsl_tpu.frontend.onnx.sequences import SEQUENCES, refused

FOLD_LIMIT = 1 << 26
"""Constants of more elements are only made when they need no storage of their own."""

DATA_LIMIT = 1024
"""Shape inference is shown constant inputs of at most this many elements."""

VIEWS = frozenset(
    {"ConstantOfShape", "Expand", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"}
)
"""Ops whose result can share its storage with the input."""


class GraphBuilder:
    """Builds the graph of a model whose input types are known; notes problems and goes on.

    `supported` says whether an op type can be converted; only nodes that are not constant are
    asked about.
    """

    def __init__(
        self,
        model: onnx.ModelProto,
        base: Path,
        inputs: Mapping[str, ValueType],
        supported: Callable[[str], bool],
    ) -> None:
        self.problems: list[Problem] = []
        self._model = model
        self._base = base
        self._supported = supported
        self._opset = opset_of(model)
        self._stripped = stripped_weights(model)
        self._composed = COMPOSED
        self._assumed: Mapping[str, ValueType] = {}
        self._initializers: dict[str, TensorProto] = {}
        self._alias: dict[str, str] = {}
        self._unknown: set[str] = set()
        self.sequences: dict[str, list[str]] = {}
        self._graph = Graph(model.graph.name, inputs, ())
        self._graph.types.update(inputs)

    def build(self) -> Graph:
        """The graph, dead nodes removed. Look at `problems` before using it."""
        self._walk(self._model.graph)
        graph = self._graph
        for output in self._model.graph.output:
            name = self._resolve(output.name)
            if name not in graph.types and name not in self._unknown:
                is_list = name in self.sequences
                words = "it is a sequence of tensors" if is_list else "nothing computes it"
                self.problems.append(Problem(f"output '{output.name}'", words))
            graph.outputs.append(name)
        if not self.problems:
            graph.prune_all()
        first = {
            name: value
            for name in self._initializers
            if (value := graph.constant(name)) is not None
        }
        graph.constants = first | graph.constants
        return graph

    def _walk(self, proto: onnx.GraphProto) -> None:
        self._initializers.update({tensor.name: tensor for tensor in proto.initializer})
        for node in proto.node:
            self._visit(node)

    def _visit(self, proto: onnx.NodeProto) -> None:
        proto = plainly(proto, lambda name: self._graph.types.get(self._resolve(name)))
        node = Node(
            proto.op_type,
            [self._resolve(name) for name in proto.input],
            list(proto.output),
            attribute_values(proto),
            proto.name,
            self._opset,
        )
        contrib = CONTRIB.get(proto.op_type) if proto.domain == DOMAIN else None
        if proto.domain not in ("", "ai.onnx") and contrib is None:
            known = f"this op of domain '{DOMAIN}' is not supported"
            other = f"ops of domain '{proto.domain}' are not supported"
            self._reject(node, known if proto.domain == DOMAIN else other)
        elif any(name in self._unknown for name in node.inputs):
            self._follow_unknown(node, contrib is not None)
        elif reason := refused(node, self.sequences):
            self._reject(node, reason)
        elif missing := [n for n in node.inputs if n and not self._is_known(n)]:
            self._reject(node, f"nothing defines its input '{missing[0]}'")
        elif contrib is not None:
            self._compose(node, contrib)
        elif node.op_type in SEQUENCES:
            self._write_out(node, SEQUENCES[node.op_type])
        elif not self._is_alias(node) and not self._fold(node, proto):
            self._append(node, proto)

    def _is_known(self, name: str) -> bool:
        return name in self._graph.types or name in self.sequences

    def _resolve(self, name: str) -> str:
        """The value behind a name; an initializer becomes a constant when first named."""
        name = self._alias.get(name, name)
        if name not in self._graph.types and (tensor := self._initializers.get(name)):
            self._load(tensor)
        return name

    def _load(self, tensor: TensorProto) -> None:
        entry: Stripped | None = self._stripped.get(tensor.name)
        if entry is None and not has_data(tensor):
            self.problems.append(
                Problem(f"initializer '{tensor.name}'", "its values are missing from the model")
            )
            self._unknown.add(tensor.name)
            return
        value = tensor_array(tensor, self._base) if entry is None else entry.values()
        self._graph.add_constant(tensor.name, value)

    def _reject(self, node: Node, reason: str) -> None:
        types = [self._graph.types.get(name) for name in node.inputs]
        self.problems.append(node_problem(node, types, reason))
        self._unknown.update(filter(None, node.outputs))

    def _follow_unknown(self, node: Node, is_contrib: bool) -> None:
        """Nothing can be said about a node behind a bad one, except that its op is bad too."""
        if (
            is_contrib
            or self._supported(node.op_type)
            or node.op_type in FREE | COMPOSED.keys() | LOOPS.keys() | SEQUENCES.keys()
        ):
            self._unknown.update(filter(None, node.outputs))
        else:
            self._reject(node, self._unsupported(node))

    def _unsupported(self, node: Node) -> str:
        if node.op_type == "Dropout":
            return "it drops numbers at random, as in training; export the model after model.eval()"
        if self._opset > NEWEST_OPSET:
            return f"this op is not supported (and opset {self._opset} is newer than tested)"
        return "this op is not supported"

    def _is_alias(self, node: Node) -> bool:
        """Handle nodes that only give a value another name, or choose between subgraphs."""
        if node.op_type == "If" and (taken := self._graph.constant(node.inputs[0])) is not None:
            branch = node.attributes["then_branch" if taken.item() else "else_branch"]
            self._walk(branch)
            values = [self._resolve(output.name) for output in branch.output]
            self._alias.update(zip(node.outputs, values, strict=True))
            return True
        if node.op_type == "Identity" or self._is_inference_dropout(node):
            self._alias[node.output] = node.inputs[0]
            return True
        return False

    def _is_inference_dropout(self, node: Node) -> bool:
        if node.op_type != "Dropout":
            return False
        training, ratio = (self._graph.constant(node.input(index)) for index in (2, 1))
        is_idle = not node.input(2) or (training is not None and not training.item())
        if not is_idle and (ratio is None or ratio.item()):
            return False
        for mask in filter(None, node.outputs[1:]):
            kept = np.broadcast_to(np.True_, self._graph.shape(node.inputs[0]))
            self._graph.add_constant(mask, kept)
        return True

    def _fold(self, node: Node, proto: onnx.NodeProto) -> bool:
        """Replace a node by constants when its inputs are constant, or only shapes matter."""
        values = self._constant_outputs(node, proto)
        if values is None:
            return False
        for name, value in zip(node.outputs, values, strict=False):
            if name:
                self._graph.add_constant(name, value)
        if node.op_type == "DequantizeLinear":
            scales = weight_scales(node, [self._graph.constant(name) for name in node.inputs])
            if scales is not None:
                self._graph.scales[node.output] = scales
        return True

    def _constant_outputs(self, node: Node, proto: onnx.NodeProto) -> list[Array] | None:
        if node.op_type == "Constant":
            return [_constant(node)]
        if node.op_type in SHAPE_QUERIES:
            return [SHAPE_QUERIES[node.op_type](node, self._graph.shape(node.inputs[0]))]
        inputs = [self._graph.constant(name) for name in node.inputs]
        given = [x for name, x in zip(node.inputs, inputs, strict=True) if name]
        if not given or any(x is None for x in given) or node.op_type in RANDOM | {"If", "Loop"}:
            return None
        types = self._infer(node, proto)
        if isinstance(types, str) or not self._worth_folding(node, types, inputs):
            return None
        try:
            with np.errstate(all="ignore"):
                return evaluate(node, proto, inputs)
        except Exception:  # the node is then converted, or reported, like any other
            return None

    def _worth_folding(
        self, node: Node, types: Iterable[ValueType | None], inputs: Iterable[Array | None]
    ) -> bool:
        size = sum(int(np.prod(t.shape)) for t in types if t)
        if size <= FOLD_LIMIT or node.op_type in VIEWS:
            return True
        uniform = all(is_uniform(x) for x in inputs if x is not None)
        return node.op_type in ELEMENTWISE and uniform

    def _append(self, node: Node, proto: onnx.NodeProto) -> None:
        if node.op_type in LOOPS:
            return self._write_out(node, LOOPS[node.op_type])
        composition = self._composed.get(node.op_type) or ON_INTEGERS.get(node.op_type)
        if composition is None and not self._supported(node.op_type):
            return self._expand(node, proto)
        types = self._infer(node, proto)
        if isinstance(types, str):
            return self._reject(node, types)
        if composition is not None and self._compose(node, composition):
            return
        types = [t or self._assumed.get(n) for t, n in zip(types, node.outputs, strict=True)]
        for index, (name, kind) in enumerate(zip(node.outputs, types, strict=True)):
            if name and kind is None:
                return self._reject(node, f"the shape of its output '{name}' depends on data")
            if name and kind and 0 in kind.shape:
                self._graph.add_constant(name, np.zeros(kind.shape, kind.dtype))
                node.outputs[index] = ""
        if not any(node.outputs):
            return
        self._graph.add(node)
        for name, kind in zip(node.outputs, types, strict=True):
            if name and kind:
                self._graph.types[name] = kind

    def _compose(self, node: Node, composition: Composition) -> bool:
        """Continue with the nodes an op is written out in; False when it is left as it is."""
        body = Body(self._graph, node)
        try:
            if composition(body) is False:
                return False
        except UnsupportedNode as error:
            self._reject(node, str(error))
            return True
        for part in body.protos:
            self._visit(part)
        return True

    def _write_out(self, node: Node, function: Callable[["GraphBuilder", Node], None]) -> None:
        """Continue with the bodies of a loop, or with what a sequence holds."""
        try:
            function(self, node)
        except UnsupportedNode as error:
            self._reject(node, str(error))

    def visit(self, proto: onnx.NodeProto) -> None:
        """Add a node behind the others (see `unroll.Host`)."""
        self._visit(proto)

    def constant(self, name: str) -> Array | None:
        """The value of `name` when it is constant."""
        return self._graph.constant(self._resolve(name))

    def size(self) -> int:
        """How many nodes there are."""
        return len(self._graph.nodes)

    def kind(self, name: str) -> ValueType | None:
        """Type of a value when it is known."""
        return self._graph.types.get(self._resolve(name))

    def inner(
        self,
        body: onnx.GraphProto,
        inputs: Mapping[str, ValueType],
        constants: Mapping[str, Array],
        counters: Mapping[str, Array],
    ) -> Graph | None:
        """The graph of a body alone (see `cells.frames.Inside`), its layers step by step."""
        opsets = [helper.make_opsetid("", self._opset)]
        model = helper.make_model(body, opset_imports=opsets, ir_version=self._model.ir_version)
        types: Mapping[str, ValueType] = {}
        for known in ({**constants, **counters}, constants):
            inner = GraphBuilder(model, self._base, inputs, lambda _: True)
            inner._composed, inner._assumed = COMPOSED | WRITTEN_OUT, types
            for name, value in known.items():
                inner._graph.add_constant(name, value)
            graph = inner.build()
            if known is constants:
                return None if inner.problems else graph
            types = inner._graph.types
        return None

    def shape(self, name: str) -> tuple[int, ...]:
        """Static shape of a value; UnsupportedNode behind a node that could not be read."""
        known = self._graph.types.get(self._resolve(name))
        if known is None:
            raise UnsupportedNode(f"the shape of '{name}' is not known")
        return known.shape

    def call(self, name: str, value: str) -> None:
        """Give a value another name."""
        if value in self._unknown:
            self._unknown.add(name)
        else:
            self._alias[name] = self._resolve(value)

    def _expand(self, node: Node, proto: onnx.NodeProto) -> None:
        """Continue with the nodes ONNX defines an unsupported one by, if it does."""
        types = {
            name: self._graph.types[used]
            for name, used in zip(proto.input, node.inputs, strict=True)
            if name
        }
        body = expanded(proto, types, self._opset)
        if body is None:
            return self._reject(node, self._unsupported(node))
        for part in body:
            self._visit(part)

    def _infer(self, node: Node, proto: onnx.NodeProto) -> list[ValueType | None] | str:
        """Type of every output (None: not static), or why ONNX itself refuses the node."""
        if node.op_type in SAME_AS_INPUT:
            return [self._graph.types[node.inputs[0]]]
        names = [name for name in proto.input if name]
        used = [name for name in node.inputs if name]
        types = {n: type_proto(self._graph.types[u]) for n, u in zip(names, used, strict=True)}
        data = {
            name: numpy_helper.from_array(np.array(value, order="C"), name)
            for name, u in zip(names, used, strict=True)
            if (value := self._graph.constant(u)) is not None and value.size <= DATA_LIMIT
        }
        try:
            opset = first_opset(node.op_type, self._opset)
            schema = defs.get_schema(node.op_type, opset, "")
            found = shape_inference.infer_node_outputs(
                schema,
                proto,
                types,
                data,
                opset_imports=[helper.make_opsetid("", opset)],
                ir_version=self._model.ir_version,
            )
        except defs.SchemaError:
            return f"opset {self._opset} has no such op"
        except _REFUSALS as error:
            return " ".join(str(error).split())
        for name in filter(found.__contains__, node.outputs):
            if (size := negative_size(found[name])) is not None:
                return f"its output '{name}' would have a size of {size}"
        return [static_type(found[name]) if name in found else None for name in node.outputs]


_REFUSALS = (shape_inference.InferenceError, checker.ValidationError, TypeError, ValueError)
"""What ONNX raises for a node that its schema does not allow."""


def _constant(node: Node) -> Array:
    """The value of a Constant node, in whichever of its attributes."""
    (key, value), *_ = node.attributes.items()
    dtypes: dict[str, Any] = {"value_int": np.int64, "value_ints": np.int64}
    dtypes |= {"value_float": np.float32, "value_floats": np.float32}
    return value if key == "value" else np.asarray(value, dtypes.get(key))


SAME_AS_INPUT = frozenset({"GroupNormalization"})
"""Ops ONNX infers no shape for although it is that of the input."""

FREE = {"Constant", "ConstantOfShape", "Dropout", "EyeLike", "Identity", "If", "Shape", "Size"}
"""Ops that disappear here and so need no conversion."""
