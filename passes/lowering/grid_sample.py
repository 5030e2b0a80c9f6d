"""Sampling an image at computed positions: rows of pixels gathered by index, then weighted.

The image becomes a matrix with one row a pixel. Positions are whole numbers and fractions in f32
whatever the mode; an index of a pixel is exact up to 2^24.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.tpu import ActiveMode
from xdsl_tpu.passes.lowering.context import F32, LoweringContext, Lowerings
from xdsl_tpu.passes.lowering.steps import Steps
from xdsl_tpu.passes.tensors import shape_of

EXACT = 1 << 24
"""Indices up to this are exact in f32."""

FAR = float(1 << 20)
"""Positions further out are as far as this one."""

CUBIC = -0.75
"""The parameter of the cubic kernel (ONNX operators, GridSample)."""

BILINEAR, NEAREST = 0, 1
ZEROS, BORDER = 0, 1


@dataclass(frozen=True)
class _Tap:
    """Pixels along one axis, by index, and how much of each; None: all of it."""

    index: SSAValue
    weight: SSAValue | None


@dataclass(frozen=True)
class _Axis:
    """One spatial axis of `size` pixels, and what its steps are called."""

    do: Steps
    label: str
    size: int
    padding: int
    align_corners: bool

    @property
    def pad(self) -> int:
        """Pixels of zeros on either side."""
        return int(self.padding == ZEROS)

    @property
    def length(self) -> int:
        """Pixels with their padding."""
        return self.size + 2 * self.pad

    def step(
        self, label: str, op: type[NamedOp], *operands: SSAValue, **attributes: Any
    ) -> SSAValue:
        """An op on vectors like its first operand."""
        shape = shape_of(operands[0])
        return self.do.step(f"{self.label}_{label}", op, operands, shape, **attributes)

    def scaled(self, label: str, x: SSAValue, factor: float, term: float) -> SSAValue:
        """factor x + term."""
        if factor != 1.0:
            x = self.step(f"{label}_factor", tpu.MulConstOp, x, const_val=factor)
        return self.step(label, tpu.AddConstOp, x, const_val=term) if term else x

    def active(self, label: str, x: SSAValue, mode: ActiveMode) -> SSAValue:
        """A function of one number."""
        return self.step(label, tpu.ActiveOp, x, mode=mode)

    def clipped(self, label: str, x: SSAValue, low: float, high: float) -> SSAValue:
        """x between two bounds."""
        x = self.step(f"{label}_low", tpu.MaxConstOp, x, const_val=low)
        return self.step(label, tpu.MinConstOp, x, const_val=high)

    def pixels(self, position: SSAValue) -> SSAValue:
        """Positions from -1 to 1 in pixels."""
        edges = self.size - 1 if self.align_corners else self.size
        x = self.scaled("pixels", position, edges / 2, (self.size - 1) / 2)
        return self.clipped("near", x, -FAR, FAR)

    def inside(self, label: str, x: SSAValue) -> SSAValue:
        """Where x is read: at itself, on the border, or where it is reflected to; counted from
        the first pixel of the padding."""
        if self.padding not in (ZEROS, BORDER):
            x = self._reflected(label, x)
        x = self.scaled(f"{label}_padded", x, 1.0, float(self.pad))
        return self.clipped(f"{label}_inside", x, 0.0, float(self.length - 1))

    def _reflected(self, label: str, x: SSAValue) -> SSAValue:
        """lo + span - |m - span|, m = (x - lo) mod 2 span: the bounds are the middle of the outer
        pixels with `align_corners`, their outer edges without."""
        low, span = (0.0, self.size - 1.0) if self.align_corners else (-0.5, float(self.size))
        if not span:
            return self.scaled(f"{label}_only", x, 0.0, 0.0)
        offset = self.scaled(f"{label}_offset", x, 1.0, -low)
        turns = self.scaled(f"{label}_turns", offset, 0.5 / span, 0.0)
        whole = self.active(f"{label}_whole", turns, ActiveMode.FLOOR)
        start = self.scaled(f"{label}_start", whole, 2 * span, 0.0)
        phase = self.step(f"{label}_phase", tpu.SubOp, offset, start)
        away = self.scaled(f"{label}_away", phase, 1.0, -span)
        size = self.active(f"{label}_size", away, ActiveMode.ABSVAL)
        return self.scaled(f"{label}_reflected", size, -1.0, span + low)

    def nearest(self, x: SSAValue) -> list[_Tap]:
        """The pixel nearest to x; of two the even one."""
        if self.padding == ZEROS:
            return [_Tap(self.inside("nearest", self.active("round", x, ActiveMode.ROUND)), None)]
        return [_Tap(self.active("round", self.inside("nearest", x), ActiveMode.ROUND), None)]

    def linear(self, x: SSAValue) -> list[_Tap]:
        """The two pixels around x."""
        x = self.inside("at", x)
        first = self.active("first", x, ActiveMode.FLOOR)
        second = self.scaled("next", first, 1.0, 1.0)
        second = self.step("second", tpu.MinConstOp, second, const_val=float(self.length - 1))
        rest = self.step("rest", tpu.SubOp, x, first)
        return [_Tap(first, self.scaled("share", rest, -1.0, 1.0)), _Tap(second, rest)]

    def cubic(self, x: SSAValue) -> list[_Tap]:
        """The four pixels around x, each of which is brought inside by itself."""
        floor = self.active("floor", x, ActiveMode.FLOOR)
        rest = self.step("rest", tpu.SubOp, x, floor)
        near = (CUBIC + 2, -(CUBIC + 3), 0.0, 1.0)
        far = (CUBIC, -5 * CUBIC, 8 * CUBIC, -4 * CUBIC)
        taps: list[_Tap] = []
        for shift, curve in ((-1, far), (0, near), (1, near), (2, far)):
            sign = 1.0 if shift < 1 else -1.0
            away = self.scaled(f"away{shift}", rest, sign, -sign * shift)
            weight = self._polynomial(f"weight{shift}", away, curve)
            place = self.inside(f"tap{shift}", self.scaled(f"place{shift}", floor, 1.0, shift))
            # reflected places of whole numbers are whole only when edges are
            taps.append(_Tap(self.active(f"index{shift}", place, ActiveMode.ROUND), weight))
        return taps

    def _polynomial(self, label: str, x: SSAValue, factors: Sequence[float]) -> SSAValue:
        """By Horner's rule, the highest power first."""
        value = self.scaled(f"{label}_0", x, factors[0], factors[1])
        for place, term in enumerate(factors[2:], 1):
            value = self.step(f"{label}_{place}_power", tpu.MulOp, value, x)
            value = self.scaled(f"{label}_{place}", value, 1.0, term)
        return value


def _grid_sampler(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """grid_sampler(x, g) -> the sum of Gather(pixels of x, index) * weight over all taps."""
    assert isinstance(op, top.GridSamplerOp)
    do, shape, places = Steps(op, ctx), shape_of(op.input), shape_of(op.grid)
    padding, align = op.padding_mode.value.data, bool(op.align_corners.value.data)
    axes = [
        _Axis(do, "zyx"[place - 5 + len(shape) - 2], size, padding, align)
        for place, size in enumerate(shape[2:], 5 - len(shape[2:]))
    ]
    count = shape[0] * math.prod(axis.length for axis in axes)
    if count > EXACT:
        raise do.refuse(f"its image has {count} pixels; indices are exact up to {EXACT}")
    rows = math.prod(places[:-1])
    taps = [
        _taps(axis, op.mode.value.data, _coordinate(do, axis, op.grid, len(axes) - 1 - number))
        for number, axis in enumerate(axes)
    ]
    table = _table(do, op.input, axes)
    base = _bases(do, axes, shape[0], rows)
    corners = list(product(*taps))
    # What is computed of all corners stands together, so that it can stay on the chip.
    indices = [
        _index(do, number, corner, axes, base, rows) for number, corner in enumerate(corners)
    ]
    size = (rows, shape[1])
    reads = [
        do.step(f"read{number}", tpu.GatherOp, [table, index], size, ctx.element, axis=0)
        for number, index in enumerate(indices)
    ]
    total: SSAValue | None = None
    for number, (corner, read) in enumerate(zip(corners, reads, strict=True)):
        part = _weighted(do, number, corner, read)
        if total is not None:
            part = do.step(f"total{number}", tpu.AddOp, [total, part], size, ctx.element)
        total = part
    assert total is not None
    if op.channel_last.value.data:
        return [do.last(tpu.ReshapeOp, [total], ctx.element, shape=[*places[:-1], shape[1]])]
    return [_result(do, total, shape[0], places[1:-1])]


def _taps(axis: _Axis, mode: int, position: SSAValue) -> list[_Tap]:
    x = axis.pixels(position)
    if mode == NEAREST:
        return axis.nearest(x)
    return axis.linear(x) if mode == BILINEAR else axis.cubic(x)


def _coordinate(do: Steps, axis: _Axis, grid: SSAValue, column: int) -> SSAValue:
    """One column of the grid as a vector of all positions."""
    rank = shape_of(grid)[-1]
    rows = math.prod(shape_of(grid)[:-1])
    flat = do.reshaped(f"{axis.label}_grid", do.ctx.as_type(grid, F32), (rows, rank), F32)
    part = do.step(
        f"{axis.label}_column",
        tpu.SliceOp,
        [flat],
        (rows, 1),
        offset=[0, column],
        steps=[1, 1],
        ends=[rows, column + 1],
        axes=[],
    )
    return do.reshaped(f"{axis.label}_positions", part, (rows,), F32)


def _table(do: Steps, x: SSAValue, axes: Sequence[_Axis]) -> SSAValue:
    """The image as a matrix of pixels, with zeros around where they are read."""
    element, (batch, channels) = do.ctx.element, shape_of(x)[:2]
    x = do.ctx.as_type(x, element)
    pads = [axis.pad for axis in axes]
    lengths = [axis.length for axis in axes]
    if any(pads):
        paddings = [0, 0, *pads, 0, 0, *pads]
        x = do.step(
            "padded",
            tpu.PadOp,
            [x],
            (batch, channels, *lengths),
            element,
            paddings=paddings,
            val=0.0,
            mode="constant",
        )
    size = math.prod(lengths)
    image = do.reshaped("image", x, (batch, channels, size), element)
    pixels = do.step(
        "pixels", tpu.PermuteOp, [image], (batch, size, channels), element, order=[0, 2, 1]
    )
    return do.reshaped("table", pixels, (batch * size, channels), element)


def _bases(do: Steps, axes: Sequence[_Axis], batch: int, rows: int) -> SSAValue | None:
    """The index of the first pixel of each position's image; None when there is one image."""
    if batch == 1:
        return None
    size = math.prod(axis.length for axis in axes)
    return do.weight("images", np.repeat(np.arange(batch) * size, rows // batch))


def _index(
    do: Steps,
    number: int,
    corner: Sequence[_Tap],
    axes: Sequence[_Axis],
    base: SSAValue | None,
    rows: int,
) -> SSAValue:
    """The row of the table that holds the pixels at one combination of taps."""
    index = corner[0].index
    for tap, axis in zip(corner[1:], axes[1:], strict=True):
        label = f"{axis.label}{number}"
        length = float(axis.length)
        lines = do.step(f"{label}_lines", tpu.MulConstOp, [index], (rows,), const_val=length)
        index = do.step(f"{label}_index", tpu.AddOp, [lines, tap.index], (rows,))
    if base is not None:
        index = do.step(f"row{number}", tpu.AddOp, [index, base], (rows,))
    return index


def _weighted(do: Steps, number: int, corner: Sequence[_Tap], read: SSAValue) -> SSAValue:
    """Pixels, a row a position, times the weights of their taps."""
    weights = [tap.weight for tap in corner if tap.weight is not None]
    if not weights:
        return read
    rows = shape_of(read)[0]
    weight = weights[0]
    for place, other in enumerate(weights[1:]):
        weight = do.step(f"weight{number}_{place}", tpu.MulOp, [weight, other], (rows,))
    column = do.reshaped(f"column{number}", weight, (rows, 1), F32)
    pair = [read, column]
    return do.step(f"weighted{number}", tpu.MulOp, pair, shape_of(read), do.ctx.element)


def _result(do: Steps, total: SSAValue, batch: int, places: Sequence[int]) -> SSAValue:
    """Rows of pixels back as an image."""
    element, channels = do.ctx.element, shape_of(total)[1]
    size = math.prod(places)
    rows = do.reshaped("rows", total, (batch, size, channels), element)
    shape = (batch, channels, size)
    turned = do.step("turned", tpu.PermuteOp, [rows], shape, element, order=[0, 2, 1])
    return do.last(tpu.ReshapeOp, [turned], element, shape=[batch, channels, *places])


LOWERINGS: Lowerings = {top.GridSamplerOp: _grid_sampler}
