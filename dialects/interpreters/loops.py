"""What a loop means."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interfaces.layout import tensor_shape
from xdsl_tpu.dialects.interfaces.shape import known_shape

Array = npt.NDArray[Any]
Body = Callable[[Sequence[Array]], Sequence[Array]]


def run_loop(op: top.LoopOp, operands: Sequence[Array | None], body: Body) -> tuple[Array, ...]:
    """The results of a loop: carried values, then scan outputs with a new first dimension.

    `body` takes the number of the iteration, the condition and the carried values, and gives the
    condition, the carried values and a slice of each scan output (ONNX operators, Loop).
    """
    limit, condition, *initial = operands
    most = None if limit is None else int(limit.reshape(-1)[0])
    going = condition is None or bool(condition.reshape(-1)[0])
    carried: list[Array] = [value for value in initial if value is not None]
    slices: list[list[Array]] = [[] for _ in op.results[len(carried) :]]
    shapes = [known_shape(argument.type) or () for argument in op.body.block.args[:2]]
    number = 0
    while going and (most is None or number < most):
        scalars = (
            np.full(shape, value, np.float32)
            for shape, value in zip(shapes, (number, 1.0), strict=True)
        )
        condition, *values = body((*scalars, *carried))
        going, number = bool(condition.reshape(-1)[0]), number + 1
        carried, scanned = values[: len(carried)], values[len(carried) :]
        for parts, value in zip(slices, scanned, strict=True):
            parts.append(value)
    scans = zip(op.results[len(carried) :], slices, strict=True)
    return (*carried, *(_stacked(tensor_shape(result.type), parts) for result, parts in scans))


def _stacked(shape: tuple[int, ...] | None, parts: Sequence[Array]) -> Array:
    """Slices behind one another; without any, as many elements as the type has beside them."""
    if parts:
        return np.stack(parts)
    return np.zeros((0, *(shape or (0,))[1:]), np.float32)
