"""Sums and maxima along the height of a local tensor.

A pool with a kernel of k rows and one column, moved by k, reduces the height k-fold at full
width; a few such steps reduce it to 1. Rows of a matrix are reduced by viewing (1, r, 1, w) as
(1, r, w, 1), which is the same memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from xdsl_tpu.backend.emitter import Emitter, Window
from xdsl_tpu.backend.kernels.mapping import Scratch
from xdsl_tpu.backend.tensor import DType, LocalTensor, ceil_div

LARGEST_STEP = 15
"""Strides and pads of a pool are four-bit fields."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """The kernel heights that reduce `height` rows to one."""

    height: int
    steps: tuple[int, ...]

    def heights(self) -> list[int]:
        """The height after each step."""
        heights: list[int] = []
        height = self.height
        for step in self.steps:
            height = ceil_div(height, step)
            heights.append(height)
        return heights

    def scratch(self, dtype: DType) -> tuple[Scratch, ...]:
        """Room for the intermediate results and the final one."""
        return tuple(Scratch(dtype, height) for height in self.heights())


def plan_reduction(height: int, width: int, eu: int) -> Reduction:
    """The cheapest chain of pools for `height` rows of `width` elements, `eu` of them a cycle."""
    return Reduction(height, _steps(height, width, eu)[1])


@cache
def _steps(height: int, width: int, eu: int) -> tuple[int, tuple[int, ...]]:
    """Cycles and kernel heights of the cheapest chain (cycle reference: pools with kh > 1)."""
    if height == 1:
        return 0, ()
    best: tuple[int, tuple[int, ...]] | None = None
    for step in range(2, LARGEST_STEP + 1):
        rest = ceil_div(height, step)
        cycles, steps = _steps(rest, width, eu)
        cycles += ceil_div(rest * width, eu) * step
        if best is None or cycles < best[0]:
            best = (cycles, (step, *steps))
    assert best is not None
    return best


def reduce_height(
    emitter: Emitter,
    x: LocalTensor,
    plan: Reduction,
    stages: Sequence[LocalTensor],
    maximum: bool = False,
) -> LocalTensor:
    """Reduce x (n, c, height, w) to (n, c, 1, w) by sum or maximum; returns the last stage.

    `stages` are the tensors of `plan.scratch`. A height of 1 returns x itself.
    """
    for step, stage in zip(plan.steps, stages, strict=True):
        missing = stage.shape[2] * step - x.shape[2]
        window = Window((step, 1), (step, 1), (0, missing, 0, 0))
        if maximum:
            emitter.max_pool(stage, x, window)
        else:
            emitter.avg_pool(stage, x, window, 1.0)
        x = stage
    return x
