"""Pools written out: one strided slice for each place of the window, compared one by one.

For what no pooling op can say: where a maximum was found.
"""

from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.frontend.onnx.converters.context import Context
from xdsl_tpu.frontend.onnx.graph import Node
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode

LOWEST = float(np.finfo(np.float32).min)
"""Padding that never wins a maximum."""

MOST_TAPS = 512
"""Places of a window that are written out."""


@dataclass(frozen=True)
class Axis:
    """A window along one dimension of `size`, at `out` places."""

    size: int
    out: int
    kernel: int
    stride: int
    dilation: int
    before: int
    after: int

    @property
    def missing(self) -> int:
        """Elements behind the end that the last window reaches for."""
        reach = (self.out - 1) * self.stride + (self.kernel - 1) * self.dilation + 1
        return max(0, reach - self.before - self.size)

    def coordinates(self, tap: int) -> npt.NDArray[np.int64]:
        """What a tap reads at each place; padding has coordinates outside the dimension."""
        return np.arange(self.out) * self.stride + tap * self.dilation - self.before

    def counts(self, padding: bool) -> npt.NDArray[np.int64]:
        """Elements in each window; padding counts if asked for, what is beyond it never."""
        low, high = (-self.before, self.size + self.after) if padding else (0, self.size)
        read = np.array([self.coordinates(tap) for tap in range(self.kernel)])
        return ((read >= low) & (read < high)).sum(0)


def axes_of(context: Context, node: Node) -> list[Axis]:
    """The windows of a pooling node."""
    sizes = context.shape(node.inputs[0])[2:]
    places = context.shape(node.output)[2:]
    kernel, rank = node.attributes["kernel_shape"], len(sizes)
    strides = node.attribute("strides", [1] * rank)
    dilations = node.attribute("dilations", [1] * rank)
    pads = node.attribute("pads", [0] * 2 * rank)
    auto = node.attribute("auto_pad", "NOTSET")
    result: list[Axis] = []
    for i, (size, out) in enumerate(zip(sizes, places, strict=True)):
        before, after = pads[i], pads[rank + i]
        if auto != "NOTSET":
            reach = (out - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1
            total = max(0, reach - size) if auto.startswith("SAME") else 0
            small, large = total // 2, total - total // 2
            before, after = (small, large) if auto != "SAME_LOWER" else (large, small)
        result.append(Axis(size, out, kernel[i], strides[i], dilations[i], before, after))
    return result


class Taps:
    """What each place of the window reads, as tensors of the result's shape."""

    def __init__(self, context: Context, node: Node, x: SSAValue, fill: float) -> None:
        self.context = context
        self.node = node
        self.axes = axes_of(context, node)
        self.places = list(product(*(range(axis.kernel) for axis in self.axes)))
        if len(self.places) > MOST_TAPS:
            raise UnsupportedNode(f"a window of {len(self.places)} elements that cannot be pooled")
        self.shape = (*context.shape(node.inputs[0])[:2], *(axis.out for axis in self.axes))
        self._x = self._padded(x, fill)

    def _padded(self, x: SSAValue, fill: float) -> SSAValue:
        before = [0, 0, *(axis.before for axis in self.axes)]
        after = [0, 0, *(axis.missing for axis in self.axes)]
        shape = self.context.shape(self.node.inputs[0])
        wide = [b + n + a for b, n, a in zip(before, shape, after, strict=True)]
        if wide == list(shape):
            return x
        paddings = [*before, *after]
        return self.context.step(
            self.node, "padded", top.PadOp, [x], wide, paddings=paddings, val=fill, mode="constant"
        )

    def read(self, number: int) -> SSAValue:
        """The tensor of one place."""
        tap = self.places[number]
        offset = [0, 0, *(t * axis.dilation for t, axis in zip(tap, self.axes, strict=True))]
        steps = [1, 1, *(axis.stride for axis in self.axes)]
        ends = [o + (n - 1) * s + 1 for o, n, s in zip(offset, self.shape, steps, strict=True)]
        operands = [self._x, *[self.context.none] * 3]
        return self.context.step(
            self.node,
            f"tap{number}",
            top.SliceOp,
            operands,
            self.shape,
            offset=offset,
            ends=ends,
            steps=steps,
        )

    def positions(self, number: int, column_major: bool) -> SSAValue:
        """Where in the whole input the elements of one place lie, counted row by row."""
        sizes = [axis.size for axis in self.axes]
        strides = [prod(sizes[i + 1 :]) for i in range(len(sizes))]
        if column_major:
            strides = [prod(sizes[:i]) for i in range(len(sizes))]
        planes = np.arange(prod(self.shape[:2])).reshape(*self.shape[:2], *(1,) * len(sizes))
        total = planes * prod(sizes)
        for place, (axis, tap) in enumerate(zip(self.axes, self.places[number], strict=True)):
            spread = [1] * len(self.shape)
            spread[2 + place] = axis.out
            total = total + axis.coordinates(tap).reshape(spread) * strides[place]
        return self.context.weight(f"{self.node.output}_positions{number}", total)

    def largest(self, column_major: bool) -> tuple[SSAValue, SSAValue]:
        """The first of the largest elements of every window, and where it is."""
        step, node = self.context.step, self.node
        best, where = self.read(0), self.positions(0, column_major)
        for number in range(1, len(self.places)):
            value, place = self.read(number), self.positions(number, column_major)
            better = step(
                node, f"better{number}", top.CompareOp, [value, best], self.shape, mode="Greater"
            )
            where = step(node, f"place{number}", top.WhereOp, [better, place, where], self.shape)
            best = step(node, f"best{number}", top.MaxOp, [best, value], self.shape)
        return best, where
