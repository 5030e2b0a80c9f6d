"""Short questions about values that many passes ask."""

import math
from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import (
    FixedBitwidthType,
    ModuleOp,
    NoneType,
    TensorType,
    UnknownLoc,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_ranked_tensor
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.quant import stored_element


def tensor_type(value: SSAValue) -> TensorType[Attribute]:
    """The ranked tensor type of `value`; TpuError when it has none."""
    kind = value.type
    if not is_ranked_tensor(kind):
        raise TpuError(f"tensor '{name_of(value)}' has type {kind}: run --shape-infer first")
    return kind


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The dimensions of a ranked tensor."""
    return tensor_type(value).get_shape()


def axis_behind_view(axis: int, shape: Sequence[int], other: Sequence[int]) -> int | None:
    """Where a dimension of `shape` is in `other`, the dimensions of another view of the elements.

    It has the same size there, and as many elements are in front of it (and then behind it);
    None where a change of shape cuts it or joins it to others.
    """
    ahead = math.prod(shape[:axis])
    places = (place for place, size in enumerate(other) if size == shape[axis])
    return next((place for place in places if math.prod(other[:place]) == ahead), None)


def element_of(value: SSAValue) -> Attribute:
    """The element type of a ranked tensor."""
    return tensor_type(value).element_type


def number_type(value: SSAValue) -> Attribute:
    """What elements are in memory: a float's type without the range that calibration gave it."""
    return stored_element(element_of(value))


def is_weight(value: SSAValue) -> bool:
    """Whether `value` is a constant of the weight file."""
    return value.owner.__class__ is top.WeightOp


def required_name(thing: Operation | SSAValue) -> str:
    """The name of a value or of an op's (first) result; TpuError when it has none."""
    name = name_of(thing)
    if name is None:
        what = thing.name if isinstance(thing, Operation) else str(thing)
        raise TpuError(f'{what} has no name: every op needs a location such as loc("conv1")')
    return name


def functions(module: ModuleOp) -> Iterator[FuncOp]:
    """All functions of a module and the modules nested in it."""
    return (op for op in module.walk() if isinstance(op, FuncOp))


def element_bytes(value: SSAValue) -> int:
    """Bytes of one element of a tensor in memory."""
    element = number_type(value)
    if not isinstance(element, FixedBitwidthType):
        raise TpuError(f"tensor '{name_of(value)}': elements of type {element} have no size")
    return -(-element.bitwidth // 8)


def size_in_bytes(value: SSAValue) -> int:
    """Bytes of a tensor stored without gaps."""
    return math.prod(shape_of(value)) * element_bytes(value)


def none_of(func: FuncOp) -> top.NoneOp:
    """The function's absent value, made when there is none yet, in front of every group."""
    block = func.body.block
    none = next((op for op in block.ops if isinstance(op, top.NoneOp)), None)
    if none is None:
        none = top.NoneOp.make(UnknownLoc(), (), result_types=[NoneType()])
    else:
        none.detach()
    first = block.first_op
    if first is None:
        raise TpuError(f"function @{func.sym_name.data} is empty")
    block.insert_op_before(none, first)
    return none
