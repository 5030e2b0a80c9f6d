"""Sums of samples as products with shares of pixels: the kernel in DDR and on slices."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.kernels.harness import Case, run
from tests.local.groups import run_grouped
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters.numerics.grid_sample import BILINEAR, ZEROS, grid_sample
from xdsl_tpu.passes.layer_group.values import Secs

Array = npt.NDArray[Any]
Size = tuple[int, int]


def sampled(
    kind: str,
    places: tuple[int, int],
    heads: tuple[int, int, int],
    size: Size,
    *,
    weighted: bool = True,
) -> Case:
    """`places`: images and rows of each; `heads`: their number, columns and points of each.

    Places reach as far beyond the image on every side as half of it.
    """
    case, (height, width), (count, columns, points) = Case(kind), size, heads
    images, rows = places
    pixels = case.input("p", (images, height * width, count * columns))
    shape = (images, rows, count * points)
    random = np.random.default_rng(7)
    for name, length in (("x", width), ("y", height)):
        case.input(name, shape, kind="f32")
        case.inputs[name] = random.uniform(-length / 2, 1.5 * length, shape).astype(np.float32)
    weights = case.input("w", shape) if weighted else "none"
    numbers = {"heads": count, "height": height, "width": width}
    attributes = {name: f"{value} : i64" for name, value in numbers.items()}
    result = (images, rows, count * columns)
    case.op("tpu.SampledSum", [pixels, "x", "y", weights], attributes, "out", result)
    return case


def wanted(case: Case, heads: tuple[int, int, int], size: Size) -> Array:
    """The same by ONNX's GridSample, head by head."""
    (count, columns, points), (height, width) = heads, size
    pixels, x, y = (case.inputs[name] for name in "pxy")
    weights = case.inputs.get("w", np.ones_like(x))
    found = list[Array]()
    for head in range(count):
        image = pixels[..., head * columns : (head + 1) * columns].astype(np.float32)
        image = np.moveaxis(image, 1, 2).reshape(len(image), columns, height, width)
        some = slice(head * points, (head + 1) * points)
        grid = np.stack(
            [
                (2 * place[..., some] + 1) / length - 1
                for place, length in ((x, width), (y, height))
            ],
            -1,
        )
        samples = grid_sample(image, grid, BILINEAR, ZEROS, align_corners=False)
        found.append((samples * weights[:, None, :, some]).sum(-1))
    return np.moveaxis(np.concatenate(found, 1), 1, 2)


SHAPES = [
    pytest.param((1, 100), (8, 32, 4), (10, 10), id="heads"),
    pytest.param((2, 70), (1, 40, 1), (7, 9), id="images"),
    pytest.param((1, 65), (3, 16, 2), (4, 5), id="columns-of-half-a-line"),
    pytest.param((1, 3), (2, 33, 3), (1, 6), id="one-row"),
    pytest.param((1, 200), (2, 32, 4), (40, 41), id="many-pixels"),
]


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize(("places", "heads", "size"), SHAPES)
@pytest.mark.parametrize("weighted", [True, False])
def test_kernel(
    kind: str, places: Size, heads: tuple[int, int, int], size: Size, weighted: bool
) -> None:
    case = sampled(kind, places, heads, size, weighted=weighted)
    outcome = run(case)
    right = wanted(case, heads, size)
    error = np.abs(outcome.simulated - right).max() / np.abs(right).max()
    assert error < {"f32": 1e-5, "f16": 4e-3, "bf16": 3e-2}[kind]


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize(("places", "heads", "size"), SHAPES)
def test_in_a_group(kind: str, places: Size, heads: tuple[int, int, int], size: Size) -> None:
    case = sampled(kind, places, heads, size)
    shape = (*places, heads[0] * heads[1])
    case.op("tpu.AddConst", ["out"], {"const_val": "1.0 : f64"}, "z", shape)
    run_grouped(case, secs=Secs(n=places[0]))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("tensor<1x3x6xf32>", "tensor<1x3x6xf16>", "places are f32"),
        ("width = 6", "width = 5", "1x3x6 places of 2 heads do not fit pixels 1x6x66"),
        ("heads = 2", "heads = 4", "1x3x6 places of 4 heads do not fit pixels 1x6x66"),
    ],
)
def test_what_does_not_fit_is_named(old: str, new: str, why: str) -> None:
    case = sampled("f16", (1, 3), (2, 33, 3), (1, 6))
    case.types = {name: kind.replace(old, new) for name, kind in case.types.items()}
    case.lines = [line.replace(old, new) for line in case.lines]
    with pytest.raises((VerifyException, TpuError), match=why):
        case.module().verify()
