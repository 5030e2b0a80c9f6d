"""Single ops and small graphs of them, built in one line each.

Wherever an activation goes in, its shape does: it then comes from somewhere else.
"""

from collections.abc import Sequence
from math import prod
from typing import Any, TypeAlias

from xdsl.dialects import test
from xdsl.dialects.builtin import NoneType, TensorType, f16, f32
from xdsl.ir import Attribute, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.interfaces.index_map import IndexMap
from xdsl_tpu.dialects.interfaces.movement import Moved, Movement
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.passes.tensors import shape_of

Shape: TypeAlias = tuple[int, ...]
Source: TypeAlias = Shape | SSAValue

INT8 = UniformType.of(8, f32, 0.1)


def value(shape: Shape, element: Attribute = f16, name: str = "x") -> SSAValue:
    """An activation from somewhere else."""
    types = [TensorType(element, shape)]
    return test.TestOp.create(result_types=types, location=name_loc(name)).results[0]


def weight(shape: Shape, element: Attribute = f16, name: str = "w") -> SSAValue:
    """A constant."""
    return top.WeightOp.make(name, (), result_types=[TensorType(element, shape)]).output


def none() -> SSAValue:
    """An absent operand."""
    return top.NoneOp.create(result_types=[NoneType()]).results[0]


def made(
    op: type[NamedOp],
    operands: Sequence[Source],
    target: Shape,
    element: Attribute = f16,
    name: str = "y",
    nones: int = 0,
    **attributes: Any,
) -> NamedOp:
    """An op with one result of shape `target`; `nones` absent operands follow the others."""
    present = [v if isinstance(v, SSAValue) else value(v, element) for v in operands]
    operand_values = [*present, *(none() for _ in range(nones))]
    types = [TensorType(element, target)]
    return op.make(name, operand_values, result_types=types, **attributes)


def best(source: Shape) -> NamedOp:
    """The two best of each row, and their places."""
    return made(tpu.BestOp, [source], (*source[:-1], 4), f32, nones=1, count=2)


def out(op: NamedOp) -> SSAValue:
    """The result of an op."""
    return op.results[0]


def _shape(source: Source) -> Shape:
    return shape_of(source) if isinstance(source, SSAValue) else source


def unary(op: type[NamedOp], source: Source, nones: int = 0, **attributes: Any) -> NamedOp:
    """An op whose result has the shape of its operand."""
    return made(op, [source], _shape(source), nones=nones, **attributes)


def relu(source: Source, name: str = "relu") -> NamedOp:
    return unary(tpu.ReluOp, source, name=name)


def binary(
    op: type[NamedOp], *sources: Source, element: Attribute = f16, name: str = "y"
) -> NamedOp:
    shapes = [_shape(source) for source in sources]
    target = tuple(max(sizes) for sizes in zip(*shapes, strict=True))
    return made(op, sources, target, element, name)


def conv(
    source: Source, channels: int, kernel: int, stride: int = 1, pad: int = 0, name: str = "conv"
) -> NamedOp:
    n, c, h, w = _shape(source)
    target = (n, channels, *((size + 2 * pad - kernel) // stride + 1 for size in (h, w)))
    operands = [source, weight((channels, c, kernel, kernel)), weight((1, channels, 1, 1), f32)]
    return made(
        tpu.Conv2DOp,
        operands,
        target,
        name=name,
        kernel_shape=(kernel, kernel),
        strides=(stride, stride),
        pads=(pad,) * 4,
        with_bias=True,
    )


def pool(source: Source, kernel: int, stride: int, **attributes: Any) -> NamedOp:
    n, c, *sizes = _shape(source)
    rank = len(sizes)
    op = {1: tpu.Pool1DOp, 2: tpu.Pool2DOp, 3: tpu.Pool3DOp}[rank]
    target = (n, c, *((size - kernel) // stride + 1 for size in sizes))
    window = {
        "kernel_shape": (kernel,) * rank,
        "strides": (stride,) * rank,
        "pads": (0,) * (2 * rank),
        "pool_mode": "Max",
    }
    nones = 1 if rank == 3 else 0
    return made(op, [source], target, nones=nones, **window, **attributes)


def matmul(
    left: Source, right: Source, element: Attribute = f16, name: str = "y", **attributes: Any
) -> NamedOp:
    """left times right of matching ranks; a shape on the right is that of a weight."""
    if not isinstance(right, SSAValue):
        right = weight(right, element)
    rows, columns = _shape(left), _shape(right)[-1]
    target = (*rows[:-1], columns)
    return made(tpu.MatMulOp, [left, right], target, element, name, nones=3, **attributes)


def attention(shape: Shape, mask: Shape = (), **attributes: Any) -> NamedOp:
    """Eight rows of two heads of 16 numbers; `shape` is that of all operands and of the result."""
    sizes: dict[str, Any] = {"batch": shape[0], "q_head": 2, "kv_head": 2, "dim": 16}
    sizes |= {"mq": 8, "mk": 8}
    operands = [shape] * 3 + ([mask] if mask else [])
    nones = 5 - len(operands)
    return made(tpu.FAttentionOp, operands, shape, nones=nones, scale=0.25, **sizes, **attributes)


def slice_op(
    source: Source, target: Shape, first: Sequence[int] = (), steps: Sequence[int] = ()
) -> NamedOp:
    rank = len(target)
    first, steps = first or (0,) * rank, steps or (1,) * rank
    ends = [f + (t - 1) * s + 1 for f, t, s in zip(first, target, steps, strict=True)]
    lists: dict[str, Any] = {"offset": list(first), "ends": ends, "steps": list(steps)}
    return made(tpu.SliceOp, [source], target, nones=4, **lists)


def reduce(source: Shape, axes: Sequence[int], mode: str, element: Attribute = f16) -> NamedOp:
    target = tuple(1 if axis in axes else size for axis, size in enumerate(source))
    kept: dict[str, Any] = {"axes": list(axes), "keepdims": True, "mode": mode}
    return made(tpu.ReduceOp, [value(source)], target, element, nones=2, **kept)


def layer_norm(source: Source, axis: int, name: str = "y") -> NamedOp:
    rest = {"normalized_shape": _shape(source)[axis:], "eps": 1e-5, "axis": axis}
    return unary(tpu.LayerNormOp, source, nones=4, name=name, **rest)


def softmax(source: Source, axis: int) -> NamedOp:
    return unary(tpu.SoftmaxOp, source, nones=5, axis=axis)


def concat(axis: int, *sources: Source) -> NamedOp:
    shapes = [list(_shape(source)) for source in sources]
    target = list(shapes[0])
    target[axis] = sum(shape[axis] for shape in shapes)
    return made(tpu.ConcatOp, sources, tuple(target), axis=axis)


def reshape(source: Source, target: Shape, name: str = "y") -> NamedOp:
    return made(tpu.ReshapeOp, [source], target, name=name)


def squeeze(source: Source, target: Shape, axes: Sequence[int]) -> NamedOp:
    return made(tpu.SqueezeOp, [source], target, axes=list(axes))


def permute(source: Source, order: Sequence[int]) -> NamedOp:
    shape = _shape(source)
    target = tuple(shape[axis] for axis in order)
    return made(tpu.PermuteOp, [source], target, nones=1, order=list(order))


def rearrange(
    sources: Sequence[Source],
    target: Shape,
    *moves: IndexMap,
    in_lanes: bool = True,
    border: float | None = None,
) -> NamedOp:
    """Elements of sources, by each one's map, in another order."""
    parts = tuple(Moved(number, one) for number, one in enumerate(moves))
    boxes = tpu.RearrangeOp.listed(Movement(prod(target), parts, border))
    rest: dict[str, Any] = {} if border is None else {"border": border}
    return made(tpu.RearrangeOp, sources, target, boxes=boxes, in_lanes=in_lanes, **rest)


def picked(source: Shape, places: Shape, element: Attribute, axis: int = 2) -> NamedOp:
    """Elements that indices of a type pick, along the last dimension unless said otherwise."""
    which = weight(places, element, "places")
    made_of = (*source[:-1], places[-1]) if axis == 2 else places
    return made(tpu.GatherElementsOp, [source, which], made_of, nones=2, axis=axis)
