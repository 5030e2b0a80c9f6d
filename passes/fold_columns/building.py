"""Ops that folding columns puts in."""

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.builder import Builder
from xdsl.dialects.builtin import NoneType, TensorType, UnknownLoc
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.fold_columns.filters import Array
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
