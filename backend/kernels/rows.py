"""Boxes for ops along one dimension: softmax, normalisation, reduction.

Such an op sees its tensor as (outer, size, inner). The dimension goes to the height of a local
tensor and is never cut; the others are spread over lanes, n and w.
"""

from collections.abc import Sequence

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.mapping import ElementWise, run_boxes
from xdsl_tpu.backend.kernels.regions import Box
from xdsl_tpu.backend.kernels.support import DdrValue, KernelContext
from xdsl_tpu.backend.tensor import Shape4

FULL = "full"  # (outer, size, inner)
REDUCED = "reduced"  # (outer, 1, inner)
PARAMETER = "parameter"  # (size,), the same for all rows


def row_layer(
    context: KernelContext,
    values: Sequence[DdrValue],
    kinds: Sequence[str],
    extent: tuple[int, int, int],
    op: ElementWise,
) -> None:
    """Emit a layer along one dimension; `extent` is (outer, size, inner), tensor 0 the result.

    `kinds` says of each tensor whether it has the dimension (FULL), 1 in its place (REDUCED), or
    nothing but the dimension (PARAMETER).
    """
    chip = context.chip
    box = _box(chip, extent, kinds)
    run_boxes(context, values, op, [box], (1, chip.lanes, extent[1], 1))


def _box(chip: Chip, extent: tuple[int, int, int], kinds: Sequence[str]) -> Box:
    outer, size, inner = extent
    lanes = max((n for n in range(1, chip.lanes + 1) if inner % n == 0), default=1)
    if min(outer, chip.lanes) >= lanes:
        sizes: Shape4 = (1, outer, size, inner)
        steps = {kind: _outer_on_lanes(kind, size, inner) for kind in set(kinds)}
    else:
        width = inner // lanes
        sizes = (outer, lanes, size, width)
        steps = {kind: _inner_on_lanes(kind, size, inner, width) for kind in set(kinds)}
    return Box(sizes, (0,) * len(kinds), tuple(steps[kind] for kind in kinds))


def _outer_on_lanes(kind: str, size: int, inner: int) -> Shape4:
    if kind == PARAMETER:
        return 0, 0, 1, 0
    if kind == REDUCED:
        return 0, inner, 0, 1
    return 0, size * inner, inner, 1


def _inner_on_lanes(kind: str, size: int, inner: int, width: int) -> Shape4:
    if kind == PARAMETER:
        return 0, 0, 1, 0
    if kind == REDUCED:
        return inner, width, 0, 1
    return size * inner, width, inner, 1
