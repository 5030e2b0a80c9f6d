"""Repeated pixels, to the bit."""

import numpy as np
import pytest
from tests.kernels.harness import Case, run

UPSAMPLES = (((2, 70, 8, 8), (2, 2)), ((1, 3, 5, 7), (3, 1)), ((1, 130, 64, 64), (2, 3)))


@pytest.mark.parametrize("relu", ["false", "true"])
@pytest.mark.parametrize(("shape", "scales"), UPSAMPLES, ids=str)
def test_upsample(shape: tuple[int, ...], scales: tuple[int, int], relu: str) -> None:
    case = Case("f16")
    x = case.input("x", shape)
    attributes = {"scale_h": f"{scales[0]} : i64", "scale_w": f"{scales[1]} : i64", "do_relu": relu}
    result = (*shape[:2], shape[2] * scales[0], shape[3] * scales[1])
    case.op("tpu.Upsample", [x, "none"], attributes, "y", result)
    outcome = run(case)
    assert np.array_equal(outcome.simulated, outcome.expected)
