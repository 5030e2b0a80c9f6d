"""Shapes inferred for real networks are those that another compiler inferred."""

import gzip
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import UNRANKED_F32
from xdsl_tpu.dialects.interfaces.shape import ShapeInference, known_shape, with_shape
from xdsl_tpu.dialects.names import names_of
from xdsl_tpu.dialects.text import parse_module

IR = Path(__file__).parents[1] / "data" / "ir"
MODELS = {"swin_t": 300, "resnet50": 73, "mobilenetv2_100": 63}
"""Networks, and at least how many of their tensors two compilers know by the same name."""
KNOWN_BEFOREHAND = (top.InputOp, top.WeightOp, top.NoneOp)


def read(stem: str) -> ModuleOp:
    file = IR / f"{stem}.mlir.gz"
    return parse_module(gzip.decompress(file.read_bytes()).decode(), file.name)


def computing_ops(module: ModuleOp) -> list[ShapeInference]:
    ops = [op for op in module.walk() if op.name.startswith("top.")]
    computing = [op for op in ops if not isinstance(op, KNOWN_BEFOREHAND)]
    inferring = [op for op in computing if isinstance(op, ShapeInference)]
    assert inferring == computing
    return inferring


def shapes(op: Operation) -> list[tuple[int, ...] | None]:
    return [known_shape(result.type) for result in op.results]


def without_leading_ones(shape: tuple[int, ...] | None) -> tuple[int, ...]:
    """The other compiler dropped leading ones around some additions."""
    assert shape
    first = next((index for index, size in enumerate(shape) if size != 1), len(shape))
    return shape[first:]


def core(op: Operation) -> list[tuple[int, ...]]:
    return list(map(without_leading_ones, shapes(op)))


def forget(op: Operation) -> None:
    for result in op.results:
        Rewriter.replace_value_with_new_type(result, UNRANKED_F32)


def infer(op: ShapeInference) -> None:
    for result, shape in zip(op.results, op.infer_shapes(), strict=True):
        Rewriter.replace_value_with_new_type(result, with_shape(result.type, shape))
    op.resolve()


def rewritten(op: Operation) -> bool:
    """Reshapes that the other compiler's patterns made have no `shape`, only a result type."""
    return isinstance(op, top.ReshapeOp) and op.shape is None


@pytest.mark.parametrize("model", MODELS)
def test_every_op_gets_its_shape_back(model: str) -> None:
    module = read(model)
    ops = computing_ops(module)
    expected = {op: (shapes(op), dict(op.attributes)) for op in ops}
    for op in ops:
        if not rewritten(op):
            forget(op)
    for op in ops:
        infer(op)
        assert (shapes(op), op.attributes) == expected[op], names_of(op)
    module.verify()


@pytest.mark.parametrize("model", MODELS)
def test_imported_network_gets_the_shapes_of_the_optimised_one(model: str) -> None:
    imported, optimised = read(f"{model}_origin"), read(model)
    expected = {names_of(op): op for op in computing_ops(optimised)}
    assert all(known_shape(op.results[0].type) is None for op in computing_ops(imported))
    compared = 0
    for op in computing_ops(imported):
        infer(op)
        other = expected.get(names_of(op))
        reshaped = isinstance(op, top.ReshapeOp)
        if other is None or (reshaped and op.attributes != other.attributes):
            continue
        assert core(op) == core(other), names_of(op)
        compared += 1
    for op in computing_ops(imported):
        op.verify()
    assert compared >= MODELS[model]


@pytest.mark.parametrize("model", MODELS)
def test_settled_attributes_are_those_of_the_optimised_network(model: str) -> None:
    imported, optimised = read(f"{model}_origin"), read(model)
    expected = {names_of(op): op for op in computing_ops(optimised)}
    fused = {"do_relu", "relu_limit", "shape", "flatten_start_dim", "normalized_shape"}
    for op in computing_ops(imported):
        infer(op)
        other = expected.get(names_of(op))
        if other is None or other.name != op.name or isinstance(op, top.SqueezeOp):
            continue
        ours = {key: value for key, value in op.attributes.items() if key not in fused}
        theirs = {key: value for key, value in other.attributes.items() if key not in fused}
        assert ours == theirs, names_of(op)
