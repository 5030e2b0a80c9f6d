"""Cutting the boxes of elements that a layer works on into local tensors."""

from collections.abc import Callable
from dataclasses import dataclass

from xdsl_tpu.backend.tensor import Shape4, ceil_div
from xdsl_tpu.dialects.errors import DoesNotFit


@dataclass(frozen=True, slots=True)
class Box:
    """A 4-D range of elements: sizes, and per tensor the element offset and strides."""

    sizes: Shape4
    offsets: tuple[int, ...]
    strides: tuple[Shape4, ...]

    def cut(self, start: Shape4, sizes: Shape4) -> "Box":
        """The part of these sizes that begins at `start`."""
        offsets = tuple(
            offset + sum(i * s for i, s in zip(start, strides, strict=True))
            for offset, strides in zip(self.offsets, self.strides, strict=True)
        )
        return Box(sizes, offsets, self.strides)


def tiles(box: Box, fits: Callable[[Shape4], bool], units: Shape4) -> list[Box]:
    """Cut a box into equal parts for which `fits` holds, n first and w last.

    Parts are multiples of `units`. Raises TpuError when a part of `units` does not
    fit.
    """
    parts = list(box.sizes)
    while not fits((parts[0], parts[1], parts[2], parts[3])):
        axis = next((a for a in range(4) if parts[a] > units[a]), None)
        if axis is None:
            raise DoesNotFit(
                f"local memory is too small for the smallest part {units} of {box.sizes}; "
                "give a chip with more bytes_per_lane"
            )
        pieces = ceil_div(parts[axis], units[axis])
        parts[axis] = ceil_div(pieces, 2) * units[axis]
    cuts: list[Box] = []
    for n in range(0, box.sizes[0], parts[0]):
        for c in range(0, box.sizes[1], parts[1]):
            for h in range(0, box.sizes[2], parts[2]):
                for w in range(0, box.sizes[3], parts[3]):
                    start = (n, c, h, w)
                    left = zip(parts, box.sizes, start, strict=True)
                    a, b, d, e = (min(p, size - i) for p, size, i in left)
                    cuts.append(box.cut(start, (a, b, d, e)))
    return cuts
