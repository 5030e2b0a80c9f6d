"""Why the nodes of a graph cannot run in their order: a circle, a missing tensor, a late one."""

from collections.abc import Iterator, Mapping

import onnx


def order_problems(graph: onnx.GraphProto) -> Iterator[str]:
    """The first input that is not there when its node needs it, in words; ONNX asks for order."""
    makers = {name: node for node in graph.node for name in node.output if name}
    known = {value.name for value in graph.input} | {t.name for t in graph.initializer}
    known |= {tensor.values.name for tensor in graph.sparse_initializer}
    for node in graph.node:
        for name in node.input:
            if name and name not in known:
                yield _in_words(node, name, makers)
                return
        known.update(node.output)


def _in_words(node: onnx.NodeProto, name: str, makers: Mapping[str, onnx.NodeProto]) -> str:
    what = f"node '{_title(node)}' ({node.op_type}) needs tensor '{name}'"
    if name not in makers:
        return f"{what}, which nothing makes: export the model again, or add it as an input"
    circle = _path(name, set(node.output), makers)
    if circle:
        words = " -> ".join(f"'{_title(makers[one])}'" for one in reversed(circle))
        return (
            f"{what}, which depends on that node itself, by way of {words}: a graph must not go "
            "in a circle; unroll the loop, or give the tensor as an input"
        )
    return f"{what}, which '{_title(makers[name])}' makes only later: sort the nodes"


def _path(name: str, wanted: set[str], makers: Mapping[str, onnx.NodeProto]) -> list[str]:
    """Tensors from `name` back to one of `wanted`, each made from the next; empty without any."""
    came: dict[str, str] = {name: ""}
    queue = [name]
    for tensor in queue:
        if tensor in wanted:
            path = [tensor]
            while came[path[-1]]:
                path.append(came[path[-1]])
            return path[::-1]
        for other in makers[tensor].input if tensor in makers else ():
            if other and other not in came:
                came[other] = tensor
                queue.append(other)
    return []


def _title(node: onnx.NodeProto) -> str:
    return node.name or (node.output[0] if node.output else "")
