"""`shape-infer`: every tensor gets a shape, and what is constant is computed.

Done in the order of the ops: tuples are taken apart, shared weights are cloned (later passes
change weights in place of their single user), result types are set, attributes that depend on
shapes are settled, and ops on weights alone become weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import (
    Float32Type,
    FunctionType,
    ModuleOp,
    NoneType,
    TensorType,
    UnrankedTensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.integers import is_integer_tensor
from xdsl_tpu.dialects.interfaces.shape import ShapeInference, known_shape
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.top.abstract import BroadcastOp
from xdsl_tpu.passes.constants import (
    constant_of,
    copy_weight,
    known_constants,
    make_weight,
    reshaped_weight,
)
from xdsl_tpu.passes.graph import is_returned, uses_in_order
from xdsl_tpu.passes.tensors import element_of, functions, required_name, shape_of


@dataclass(frozen=True)
class ShapeInferPass(ModulePass):
    """Infer all shapes, clone weights with several users, fold what is constant."""

    name = "shape-infer"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions(op):
            dissolve_tuples(function)
            clone_shared_weights(function)
            with known_constants():
                for inner in list(function.walk()):
                    if inner is not function and inner.parent is not None:
                        _visit(inner)
            set_function_type(function)


def dissolve_tuples(function: FuncOp) -> None:
    """Replace Tuple and UnTuple: users take the tuple's elements as operands of their own."""
    for op in list(function.walk()):
        if isinstance(op, top.UnTupleOp) and len(op.results) == len(op.operands):
            for result, operand in zip(op.results, tuple(op.operands), strict=True):
                result.replace_all_uses_with(operand)
            Rewriter.erase_op(op)
        elif isinstance(op, top.TupleOp):
            for user in {use.operation for use in op.results[0].uses}:
                user.operands = _spliced(user.operands, op.results[0], op.operands)
            Rewriter.erase_op(op)


def _spliced(
    operands: Sequence[SSAValue], replaced: SSAValue, parts: Sequence[SSAValue]
) -> list[SSAValue]:
    return [part for operand in operands for part in (parts if operand is replaced else (operand,))]


def clone_shared_weights(function: FuncOp) -> None:
    """Give each use of a weight a weight of its own, `w` -> `w_<k-1>`, ..., `w_0`.

    A name that another tensor has (exporters count like this, too) gets `_copy` behind it.
    """
    taken = {name_of(result) for op in function.walk() for result in op.results}
    for weight in [op for op in function.walk() if isinstance(op, top.WeightOp)]:
        if not weight.output.has_more_than_one_use():
            continue
        uses = uses_in_order(weight.output)
        for index, use in enumerate(uses):
            name = f"{required_name(weight)}_{len(uses) - 1 - index}"
            while name in taken:
                name += "_copy"
            taken.add(name)
            clone = copy_weight(weight, name)
            Rewriter.insert_op(clone, InsertPoint.before(weight))
            use.operation.operands[use.index] = clone.output
        Rewriter.erase_op(weight)


def set_function_type(function: FuncOp) -> None:
    """Make the signature say what the body takes and returns."""
    terminator = function.body.block.last_op
    if not isinstance(terminator, ReturnOp):
        return
    inputs = [argument.type for argument in function.body.block.args]
    outputs = [operand.type for operand in terminator.operands]
    function.function_type = FunctionType.from_lists(inputs, outputs)


def _visit(op: Operation) -> None:
    """Infer one op, after all ops before it; drop or fold it when that is possible."""
    if is_trivially_dead(op):
        Rewriter.erase_op(op)
        return
    if not isinstance(op, ShapeInference):
        return
    if isinstance(op, BroadcastOp):
        _pad_weights(op)
    shapes = op.infer_shapes()
    op.resolve()
    for result, shape in zip(tuple(op.results), shapes, strict=True):
        if not isinstance(result.type, NoneType) and known_shape(result.type) != shape:
            Rewriter.replace_value_with_new_type(result, _with_shape(result.type, shape))
    if _is_foldable(op):
        _fold(op)


def _with_shape(declared: Attribute, shape: Sequence[int]) -> Attribute:
    match declared:
        case TensorType():
            return TensorType(declared.element_type, shape, declared.encoding)
        case UnrankedTensorType():
            return TensorType(declared.element_type, shape)
        case _:
            raise TpuError(f"a result of type {declared} cannot have the shape {tuple(shape)}")


def _pad_weights(op: Operation) -> None:
    """Give weights of lower rank leading dimensions of 1, so that all operands align."""
    ranks = [len(known_shape(operand.type) or ()) for operand in op.operands]
    for index, operand in enumerate(tuple(op.operands)):
        weight = operand.owner
        if not isinstance(weight, top.WeightOp) or not operand.has_one_use():
            continue
        shape = shape_of(operand)
        if prod(shape) > 1 and len(shape) < max(ranks):
            padded = reshaped_weight(weight, (1,) * (max(ranks) - len(shape)) + shape)
            Rewriter.replace_op(weight, padded)
            op.operands[index] = padded.output


def _is_foldable(op: Operation) -> bool:
    """Whether an op computes the same in every run and its results may become weights.

    Expand is left alone, as its result is larger than its operand for no gain, and so is what
    the function returns; only f32 and integers are computed here.
    """
    operands = [operand for operand in op.operands if not is_none(operand)]
    return (
        bool(operands)
        and all(constant_of(operand) is not None for operand in operands)
        and isinstance(op.parent_op(), FuncOp)
        and not isinstance(op, top.ExpandOp)
        and not is_returned(op)
        and all(
            isinstance(element_of(result), Float32Type) or is_integer_tensor(result)
            for result in op.results
        )
    )


def _fold(op: Operation) -> None:
    """Compute an op whose operands are weights; its results become weights of their names."""
    from xdsl_tpu.dialects.interpreters import SUPPORTED_OPS, TensorInterpreter

    if type(op) not in SUPPORTED_OPS or op.regions:
        return
    inputs = tuple(constant_of(operand) for operand in op.operands)
    computed = TensorInterpreter.of(ModuleOp([]), {}).run_op(op, inputs)
    folded = [
        make_weight(op, required_name(result), values, element_of(result))
        for result, values in zip(op.results, computed, strict=True)
    ]
    sources = dict.fromkeys(op.operands)
    Rewriter.replace_op(op, folded, [weight.output for weight in folded])
    for source in sources:
        if isinstance(source.owner, Operation) and is_trivially_dead(source.owner):
            Rewriter.erase_op(source.owner)
