"""Where samples along one axis of an image come from: pixels by index, and how much of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.tpu import ActiveMode
from xdsl_tpu.passes.lowering.steps import Steps
from xdsl_tpu.passes.tensors import shape_of

FAR = float(1 << 20)
"""Positions further out are as far as this one."""

CUBIC = -0.75
"""The parameter of the cubic kernel (ONNX operators, GridSample)."""

BILINEAR, NEAREST = 0, 1
ZEROS, BORDER = 0, 1


@dataclass(frozen=True)
class Tap:
    """Pixels along one axis, by index, and how much of each; None: all of it."""

    index: SSAValue
    weight: SSAValue | None


@dataclass(frozen=True)
class Axis:
    """One spatial axis of `size` pixels, and what its steps are called."""

    do: Steps
    label: str
    size: int
    mode: int
    padding: int
    align_corners: bool

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
        """Where x is read: at itself, on the border, or where it is reflected to."""
        if self.padding not in (ZEROS, BORDER):
            x = self._reflected(label, x)
        return self.clipped(f"{label}_inside", x, 0.0, float(self.size - 1))

    def whole(self, label: str, index: SSAValue) -> Tap:
        """The pixel at a whole number; outside of an image with zeros around it none of it."""
        inside = self.inside(label, index)
        if self.padding != ZEROS:
            # reflected places of whole numbers are whole only when edges are
            return Tap(self.active(f"{label}_index", inside, ActiveMode.ROUND), None)
        near = self._near(label, index, inside)
        return Tap(inside, self.step(f"{label}_counts", tpu.MaxConstOp, near, const_val=0.0))

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

    def nearest(self, x: SSAValue) -> list[Tap]:
        """The pixel nearest to x; of two the even one."""
        if self.padding == ZEROS:
            return [self.whole("nearest", self.active("round", x, ActiveMode.ROUND))]
        return [Tap(self.active("round", self.inside("nearest", x), ActiveMode.ROUND), None)]

    def linear(self, x: SSAValue) -> list[Tap]:
        """The two pixels around x."""
        if self.padding == ZEROS:
            return self._linear_to_zero(x)
        x = self.inside("at", x)
        first = self.active("first", x, ActiveMode.FLOOR)
        second = self.scaled("next", first, 1.0, 1.0)
        second = self.step("second", tpu.MinConstOp, second, const_val=float(self.size - 1))
        rest = self.step("rest", tpu.SubOp, x, first)
        return [Tap(first, self.scaled("share", rest, -1.0, 1.0)), Tap(second, rest)]

    def _linear_to_zero(self, x: SSAValue) -> list[Tap]:
        """The same in an image with zeros around it, which is not made: pixels i and i + 1 with
        those outside moved to the edge, c and d.

        The shares are 1 - |x - c| and 1 - |x - d|. Where both are the same pixel, one of the two is
        outside and the other, d, has the pixel's whole share: c's is multiplied by d - c.
        """
        last = float(self.size - 1)
        x = self.clipped("at", x, -1.0, float(self.size))
        first = self.active("first", x, ActiveMode.FLOOR)
        second = self.scaled("next", first, 1.0, 1.0)
        second = self.step("second", tpu.MinConstOp, second, const_val=last)
        first = self.clipped("edge", first, 0.0, last)
        apart = self.step("apart", tpu.SubOp, second, first)
        share = self.step("share", tpu.MulOp, self._near("first", x, first), apart)
        return [Tap(first, share), Tap(second, self._near("second", x, second))]

    def _near(self, label: str, x: SSAValue, pixel: SSAValue) -> SSAValue:
        """1 - |x - pixel|."""
        away = self.step(f"{label}_away", tpu.SubOp, x, pixel)
        size = self.active(f"{label}_distance", away, ActiveMode.ABSVAL)
        return self.scaled(f"{label}_near", size, -1.0, 1.0)

    def cubic(self, x: SSAValue) -> list[Tap]:
        """The four pixels around x, each of which is brought inside by itself."""
        floor = self.active("floor", x, ActiveMode.FLOOR)
        rest = self.step("rest", tpu.SubOp, x, floor)
        near = (CUBIC + 2, -(CUBIC + 3), 0.0, 1.0)
        far = (CUBIC, -5 * CUBIC, 8 * CUBIC, -4 * CUBIC)
        taps: list[Tap] = []
        for shift, curve in ((-1, far), (0, near), (1, near), (2, far)):
            sign = 1.0 if shift < 1 else -1.0
            away = self.scaled(f"away{shift}", rest, sign, -sign * shift)
            weight = self._polynomial(f"weight{shift}", away, curve)
            pixel = self.whole(f"tap{shift}", self.scaled(f"place{shift}", floor, 1.0, shift))
            if pixel.weight is not None:
                weight = self.step(f"share{shift}", tpu.MulOp, weight, pixel.weight)
            taps.append(Tap(pixel.index, weight))
        return taps

    def _polynomial(self, label: str, x: SSAValue, factors: Sequence[float]) -> SSAValue:
        """By Horner's rule, the highest power first."""
        value = self.scaled(f"{label}_0", x, factors[0], factors[1])
        for place, term in enumerate(factors[2:], 1):
            value = self.step(f"{label}_{place}_power", tpu.MulOp, value, x)
            value = self.scaled(f"{label}_{place}", value, 1.0, term)
        return value


def taps_of(axis: Axis, position: SSAValue) -> list[Tap]:
    """The pixels along one axis that make what is read at positions from -1 to 1."""
    x = axis.pixels(position)
    if axis.mode == NEAREST:
        return axis.nearest(x)
    return axis.linear(x) if axis.mode == BILINEAR else axis.cubic(x)
