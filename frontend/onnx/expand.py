"""Ops that ONNX defines by other ops, written out."""

from collections.abc import Callable, Mapping
from typing import Any

import onnx
from onnx import defs, helper, inliner

from xdsl_tpu.frontend.onnx.graph import ValueType
from xdsl_tpu.frontend.onnx.protos import type_proto


def expanded(
    proto: onnx.NodeProto, types: Mapping[str, ValueType], opset: int
) -> list[onnx.NodeProto] | None:
    """The nodes a node stands for by ONNX's own definition; None when it has none.

    `types` are those of its inputs. Values inside get names that start with the node's output.
    """
    proto = _with_defaults(proto, opset)
    inputs = [name for name in dict.fromkeys(proto.input) if name]
    values = [helper.make_value_info(name, type_proto(types[name])) for name in inputs]
    outputs = [onnx.ValueInfoProto(name=name) for name in proto.output if name]
    model = helper.make_model(
        helper.make_graph([proto], "body", values, outputs),
        opset_imports=[helper.make_opsetid("", opset)],
    )
    try:
        body = inliner.inline_selected_functions(
            model, [("", proto.op_type)], inline_schema_functions=True
        )
        nodes = list(body.graph.node)
    except RuntimeError:  # the inliner knows no absent input in front of one that is given
        nodes = _instance(proto, types, opset)
    if not nodes or any(node.op_type == proto.op_type for node in nodes):
        return None
    kept = {*inputs, *proto.output, ""}
    names = {n: n for n in kept}
    for node in nodes:
        names |= {n: f"{proto.output[0]}/{n}" for n in (*node.input, *node.output) if n not in kept}
    for node in nodes:
        _rename(node, names)
    return nodes


def _rename(node: onnx.NodeProto, names: Mapping[str, str]) -> None:
    """Rename what a node reads and gives, and what subgraphs of it take from outside."""
    for values in (node.input, node.output):
        values[:] = [names.get(name, name) for name in values]
    for attribute in node.attribute:
        if not attribute.HasField("g"):
            continue
        graph = attribute.g
        own = {value.name for value in (*graph.input, *graph.initializer)}
        own.update(name for inner in graph.node for name in inner.output)
        outer = {name: new for name, new in names.items() if name not in own}
        for inner in graph.node:
            _rename(inner, outer)
        for value in graph.output:
            value.name = outer.get(value.name, value.name)


def _instance(
    proto: onnx.NodeProto, types: Mapping[str, ValueType], opset: int
) -> list[onnx.NodeProto]:
    """The body that ONNX builds for these input types, with the node's own names; empty without."""
    # onnx declares neither member
    schema: Any = defs.get_schema(proto.op_type, opset, "")
    versions = [v for v in schema.context_dependent_function_opset_versions if v <= opset]
    if not versions:
        return []
    kinds = [type_proto(types[n]) if n else onnx.TypeProto() for n in proto.input]
    serialized = schema.get_context_dependent_function_with_opset_version(
        max(versions), proto.SerializeToString(), [kind.SerializeToString() for kind in kinds]
    )
    function = onnx.FunctionProto.FromString(serialized)
    names = dict.fromkeys([*function.input, *function.output], "")
    names |= dict(zip(function.input, proto.input, strict=False))
    names |= dict(zip(function.output, proto.output, strict=False))
    nodes = list(function.node)
    for node in nodes:
        _rename(node, names)
    return nodes


def _with_defaults(proto: onnx.NodeProto, opset: int) -> onnx.NodeProto:
    """The node with all attributes written out; definitions refer to them without defaults."""
    schema = defs.get_schema(proto.op_type, opset, "")
    given = {attribute.name for attribute in proto.attribute}
    full = onnx.NodeProto()
    full.CopyFrom(proto)
    for name, attribute in schema.attributes.items():
        if name not in given and attribute.default_value.name:
            full.attribute.append(attribute.default_value)
    return full


def plainly(proto: onnx.NodeProto, type_of: Callable[[str], ValueType | None]) -> onnx.NodeProto:
    """A node as it is read here.

    CastLike(x, y) is the Cast of `x` to the type of `y`, and dimensions that a Transpose counts
    from the last one, which ONNX does not know but PyTorch writes, are counted from the first.
    """
    if proto.op_type == "CastLike" and (like := type_of(proto.input[1])) is not None:
        code = type_proto(like).tensor_type.elem_type
        return helper.make_node("Cast", proto.input[:1], proto.output, proto.name, to=code)
    if proto.op_type == "Transpose":
        for attribute in proto.attribute:
            if attribute.name == "perm" and min(attribute.ints, default=0) < 0:
                order = [axis % len(attribute.ints) for axis in attribute.ints]
                return helper.make_node(
                    "Transpose", proto.input, proto.output, proto.name, perm=order
                )
    return proto


def first_opset(op_type: str, opset: int) -> int:
    """`opset`, or the first one that has the op: others are written out in newer ones, too.

    Of ops that only came to take more types, one that takes those.
    """
    if not _FIRST:
        for schema in defs.get_all_schemas_with_history():
            if not schema.domain:
                known = _FIRST.get(schema.name, schema.since_version)
                _FIRST[schema.name] = min(known, schema.since_version)
    return max(opset, _FIRST.get(op_type, opset), GROWN.get(op_type, opset))


GROWN: dict[str, int] = {"DequantizeLinear": 21, "QuantizeLinear": 21}
"""Opsets from which on these take 4 and 16 bits, and blocks, as onnxruntime's own ones do."""

_FIRST: dict[str, int] = {}
