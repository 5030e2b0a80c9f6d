"""Programs of a few commands whose numbers go wrong, written with the emitter."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.diagnosis import Diagnosis, diagnose
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.program import IoTensor, Program
from xdsl_tpu.backend.tensor import DType, LocalTensor, Shape4, aligned, contiguous

CHIP = load_chip("bm1684x")
SHAPE: Shape4 = (1, 6, 4, 8)
WEIGHTS = CHIP.ddr_base
ARENA = CHIP.ddr_base + 0x10000
STEP = 0x2000

Tensors = Callable[[int, DType], LocalTensor]
Body = Callable[[Emitter, Tensors], LocalTensor]
"""Emits layers on local tensors by number (0, 1, ... hold the inputs); returns the result."""


def program(
    body: Body,
    inputs: int = 2,
    dtype: DType = DType.F16,
    out: DType | None = None,
    weights: npt.NDArray[Any] | None = None,
) -> Program:
    """Inputs `x0`, `x1`, .. and the weights into local memory, the body, its result to `y`.

    The weights come behind the inputs.
    """
    image = np.zeros(0, np.uint8) if weights is None else weights.reshape(-1).view(np.uint8)
    made = Program("made", CHIP.name, "F16", coefficients=image, coefficient_address=WEIGHTS)
    made.arena_address, made.arena_bytes = ARENA, 0x8000
    made.inputs = [IoTensor(f"x{i}", ARENA + i * STEP, SHAPE, dtype) for i in range(inputs)]
    made.outputs = [IoTensor("y", ARENA + 0x6000, SHAPE, out or dtype)]
    emitter = Emitter(CHIP, made)

    def local(number: int, kind: DType) -> LocalTensor:
        return aligned(CHIP, number * 0x1000, SHAPE, kind)

    with emitter.layer("loads", "tpu.Load"):
        for number, tensor in enumerate(made.inputs):
            emitter.load(local(number, dtype), contiguous(tensor.address, SHAPE, dtype))
        if weights is not None:
            emitter.load(local(inputs, dtype), contiguous(WEIGHTS, SHAPE, dtype))
    result = body(emitter, local)
    with emitter.layer("y", "tpu.Store"):
        emitter.store(contiguous(ARENA + 0x6000, SHAPE, result.dtype), result)
    emitter.finish()
    return made


def filled(*values: float) -> dict[str, npt.NDArray[np.float32]]:
    """Inputs, each of one value."""
    return {f"x{i}": np.full(SHAPE, value, np.float32) for i, value in enumerate(values)}


def diagnosed(made: Program, values: Sequence[float], **options: Any) -> Diagnosis:
    """The diagnosis of a program on inputs that hold one value each."""
    return diagnose(made, CHIP, filled(*values), **options)[0]
