"""Ops that folding columns puts in."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from xdsl.builder import Builder
from xdsl.dialects.builtin import LocationAttr, NoneType, TensorType, UnknownLoc
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.fold_columns.filters import Array, FoldedSlide
from xdsl_tpu.passes.fold_columns.network import Sliding, columns_axis
from xdsl_tpu.passes.tensors import element_of, number_type, shape_of


class Building:
    """Puts ops into a function, at the place of `builder`, and the numbers of their weights into
    `weights`, if there are any."""

    def __init__(self, func: FuncOp, weights: Weights | None) -> None:
        self._weights = weights
        self._builder = Builder(InsertPoint.at_start(func.body.block))
        self._none = self._builder.insert(
            top.NoneOp.make(UnknownLoc(), (), result_types=[NoneType()])
        ).output

    def _convolution(
        self,
        kind: type[Sliding],
        name: str,
        value: SSAValue,
        ends: tuple[SSAValue, TensorType[Any]],
        filters: tuple[int, int, Callable[[], Array]],
        window: tuple[int, int, int, int],
        group: int = 1,
    ) -> SSAValue:
        """A filter over the columns of `value`: `ends` are what it reads and what it makes,
        `filters` have so many outputs and inputs, `window` is kernel, stride and pads."""
        rank, axis = len(shape_of(value)) - 2, columns_axis(shape_of(value)) - 2
        if rank == 1 and kind is top.ConvOp:
            rank = 2  # `Conv1dTo2d` has widened all others

        def along(size: int, others: int) -> list[int]:
            return [size if a == axis else others for a in range(rank)]

        (kernel, stride, *pads), (outputs, inputs, data) = window, filters
        shape = (outputs, inputs, *along(kernel, 1))
        made = kind.make(
            name,
            [
                ends[0],
                self._new_weight(f"{name}_of_{outputs}", shape, number_type(value), data),
                self._none,
            ],
            result_types=[ends[1]],
            kernel_shape=along(kernel, 1),
            strides=along(stride, 1),
            pads=[n for pad in pads for n in along(pad, 0)],
            group=group,
        )
        return self._builder.insert(made).results[0]

    def _new_weight(
        self, name: str, shape: Sequence[int], element: Attribute, data: Callable[[], Array]
    ) -> SSAValue:
        if self._weights is not None:
            self._weights[name] = data().reshape(shape)
        kind = TensorType(element, shape)
        return self._builder.insert(top.WeightOp.make(name, (), result_types=[kind])).output

    def _reshape(self, x: SSAValue, shape: Sequence[int], name: str) -> SSAValue:
        kind = TensorType(element_of(x), shape)
        made = top.ReshapeOp.make(name, [x], result_types=[kind], shape=list(shape))
        return self._builder.insert(made).output

    def _permute(self, x: SSAValue, order: Sequence[int], name: str) -> SSAValue:
        shape = shape_of(x)
        kind = TensorType(element_of(x), [shape[axis] for axis in order])
        made = top.PermuteOp.make(name, [x], result_types=[kind], order=list(order))
        return self._builder.insert(made).output


_Edge = TypeVar("_Edge")


class Folding(Building, ABC, Generic[_Edge]):
    """A function on its way to folded values; each is made in the folds that are read.

    `edges` are the ops between values of several folds.
    """

    def __init__(
        self, func: FuncOp, weights: Weights | None, edges: Mapping[Operation, _Edge]
    ) -> None:
        super().__init__(func, weights)
        self._func, self._edges = func, edges
        self._made: dict[SSAValue, dict[int, SSAValue]] = {}

    def run(self) -> None:
        """Rewrite every op that works on folded values."""
        replaced: list[Operation] = []
        for op in list(self._func.body.block.ops):
            self._builder = Builder(InsertPoint.before(op))
            edge = self._edges.get(op)
            if edge is not None and self._cross(edge):
                replaced.append(op)
            elif edge is None and self._is_folded(op):
                self._follow(op)
                replaced.append(op)
            else:
                for place, value in enumerate(op.operands):
                    if value in self._made:
                        op.operands[place] = self._in(value, 1)
        for op in reversed(replaced):
            op.detach()
            op.erase()

    @abstractmethod
    def _cross(self, edge: _Edge) -> bool:
        """Fold what lies between values as far as these are; False when nothing changes."""

    @abstractmethod
    def _is_folded(self, op: Operation) -> bool:
        """Whether all values of an op have one fold, which is more than 1."""

    @abstractmethod
    def _follow(self, op: Operation) -> None:
        """Fold such an op."""

    @abstractmethod
    def _in(self, value: SSAValue, fold: int) -> SSAValue:
        """A value in some fold: as it was made, or moved to where it is read."""


def as_convolution(
    op: Sliding, operands: Sequence[SSAValue], kind: TensorType[Any], location: LocationAttr
) -> top.ConvOp:
    """A filter with other operands and another result, which slides over its input; its window is
    still to be set in all dimensions of a transposed one."""
    attributes = {name: one for name, one in op.attributes.items() if name != "output_padding"}
    return top.ConvOp.create(
        operands=operands, result_types=[kind], attributes=attributes, location=location
    )


def set_window(op: Sliding, how: FoldedSlide, axis: int) -> None:
    """Write the folded window of one dimension of the kernel."""
    slide, rank = how.slide, len(op.kernel_shape)

    def with_entry(values: Sequence[int], place: int, entry: int) -> Any:
        return I64_ARRAY.encode([entry if i == place else v for i, v in enumerate(values)])

    op.kernel_shape = with_entry(ints(op.kernel_shape), axis, slide.kernel)
    op.strides = with_entry(ints(op.strides), axis, slide.stride)
    op.dilations = with_entry(ints(op.dilations or ()) or (1,) * rank, axis, 1)
    pads = with_entry(ints(op.pads) or (0,) * 2 * rank, axis, slide.before)
    op.pads = with_entry(ints(pads), rank + axis, slide.after)
    if isinstance(op, top.DeconvOp):
        op.output_padding = with_entry(ints(op.output_padding or ()) or (0,) * rank, axis, 0)
