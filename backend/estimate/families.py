"""Families of networks, told apart by their ops and by the shapes of what goes in and out."""

from collections.abc import Collection, Sequence
from itertools import combinations, pairwise

CNN, TRANSFORMER, DETECTOR = "cnn", "transformer", "detector"
DECODE, PREFILL = "language model decode", "language model prefill"
FAMILIES = (CNN, DETECTOR, DECODE, PREFILL, TRANSFORMER)
"""All of which times are published; the nets of a language model are known by their manifest."""

Shape = tuple[int, ...]

_ATTENTION_OPS = frozenset({"tpu.Softmax", "tpu.LayerNorm"})
_STRIDES = (4, 8, 16, 32, 64, 128)
"""Of the grids on which detectors look for objects: input pixels for each place."""
_FEWEST_GRIDS = 3


def family_of(
    ops: Collection[str], inputs: Sequence[Shape] = (), outputs: Sequence[Shape] = ()
) -> str | None:
    """The family of a network by the names of its ops.

    One with both softmax and layer norm is a transformer (a ConvNeXt has only layer norms, a
    ResNet may end in a softmax); else one with convolutions is a CNN, and a detector if it says
    something of every place of a pyramid of grids over its image.
    """
    if _ATTENTION_OPS.issubset(ops):
        return TRANSFORMER
    if "tpu.Conv2D" not in ops:
        return None
    images = [shape for shape in inputs if len(shape) == 4]
    return DETECTOR if any(_pyramid(image, outputs) for image in images) else CNN


def _pyramid(image: Shape, outputs: Sequence[Shape]) -> bool:
    """Whether there is an output for each of three grids or more, or one for the places of all."""
    height, width = image[2:]
    divides = [stride for stride in _STRIDES if not (height % stride or width % stride)]
    grids = [(height // stride, width // stride) for stride in divides]
    apart = sum(any(_holds(shape, grid) for shape in outputs) for grid in grids)
    return apart >= _FEWEST_GRIDS or any(_places(shape, grids) for shape in outputs)


def _holds(shape: Shape, grid: tuple[int, int]) -> bool:
    """Whether two sizes that follow each other are those of the grid."""
    return grid in pairwise(shape)


def _places(shape: Shape, grids: Sequence[tuple[int, int]]) -> bool:
    """Whether there is a table, one of whose sizes counts the places of three grids or more that
    follow each other, each place as often as there are anchors (at most nine)."""
    if len(shape) < 3:
        return False
    counts = [height * width for height, width in grids]
    runs = combinations(range(len(counts) + 1), 2)
    sums = {sum(counts[a:b]) for a, b in runs if b - a >= _FEWEST_GRIDS}
    return any(size == anchors * one for size in shape for anchors in range(1, 10) for one in sums)
