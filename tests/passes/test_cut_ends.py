"""Last ops of a network in bands of rows: the same values, and no more cycles."""

from itertools import pairwise

import numpy as np
import pytest
from tests.kernels.harness import Case, check_encoding, execute, final
from tests.local.test_local_cnn import conv
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.cut_ends import band_ends
from xdsl_tpu.passes.tensors import shape_of

CAST = {"with_scale": "true", "round_mode": "#tpu<round_mode HalfAwayFromZero>"}

ADD = {"do_relu": "false", "relu_limit": "-1.0 : f64"}


def upscaler(
    size: tuple[int, int], block: int, colours: int = 1, crd: bool = True, relu: bool = False
) -> Case:
    """Convolutions and a sum, then a convolution whose channels become pixels in f32."""
    case = Case("f16", seed=7)
    height, width = size
    given, image, deep = (
        (1, 4, height, width),
        (1, 64, height, width),
        (1, colours * block * block, height, width),
    )
    large = (1, colours, height * block, width * block)
    before = conv(case, case.input("x", given), "a", (given, image), (3, 3), pads=(1, 1, 1, 1))
    value = conv(case, before, "b", (image, image), (3, 3), pads=(1, 1, 1, 1))
    value = case.op("tpu.Add", [before, value], ADD, "s", image)
    value = conv(case, value, "c", (image, deep), (3, 3), pads=(1, 1, 1, 1))
    if relu:
        value = case.op("tpu.Relu", [value], {"relu_limit": "-1.0 : f64"}, "r", deep)
    if block > 1:
        attributes = {
            "block_h": f"{block} : i64",
            "block_w": f"{block} : i64",
            "is_CRD": str(crd).lower(),
            "is_inversed": "false",
        }
        value = case.op("tpu.Depth2Space", [value], attributes, "d", large)
    case.op("tpu.Cast", [value], CAST, "y", large, "f32")
    return case


def parts(module: ModuleOp) -> list[tuple[int, ...]]:
    """The shapes of the bands of a result."""
    joins = [op for op in module.walk() if isinstance(op, tpu.JoinOp)]
    return [shape_of(part) for join in joins for part in join.inputs]


@pytest.mark.parametrize(
    "case",
    [
        upscaler((128, 96), 3),
        upscaler((128, 96), 3, relu=True),
        upscaler((100, 128), 4, crd=False),
        upscaler((160, 112), 2),
        upscaler((128, 128), 1),
    ],
    ids=("crd", "relu", "dcr", "pairs", "plain"),
)
def test_values_stay_the_same(case: Case) -> None:
    chip = load_chip()
    (expected,) = run_module(case.module(), case.inputs).values()
    module = final(case)
    assert len(parts(module)) > 1
    program = generate(module, weights_of(module), chip)
    check_encoding(program)
    assert not any("_rows_" in layer.name for layer in program.layers)
    early, late = (execute(program, case, chip, ahead) for ahead in (Engine.TIU, Engine.GDMA))
    assert np.array_equal(early, late)
    assert np.abs(early - expected).max() < 1e-3 * np.abs(expected).max()


def test_rows_of_a_band_lie_over_the_lanes() -> None:
    found = parts(final(upscaler((128, 96), 3)))
    assert sum(shape[1] for shape in found) == 128
    assert all(shape[0] == 1 and shape[2:] == (1, 3 * 3 * 96) for shape in found)


def test_a_network_is_faster() -> None:
    chip = load_chip()
    cycles: list[int] = []
    for cut in (False, True):
        module = final(upscaler((192, 160), 3), "" if cut else "cut-ends")
        program = generate(module, weights_of(module), chip)
        cycles.append(simulate(program.tiu, program.gdma, chip).total)
    assert cycles[1] < 0.93 * cycles[0]


@pytest.mark.parametrize(
    "case",
    [
        upscaler((128, 96), 3, colours=3),  # rows of the colours alternate
        upscaler((8, 96), 3),  # no rows to cut
        upscaler((512, 512), 2),  # beyond local memory
    ],
    ids=("colours", "few rows", "too large"),
)
def test_what_stays_whole(case: Case) -> None:
    assert not parts(final(case))


@pytest.mark.parametrize(
    ("rows", "most", "least"), [(224, 64, 16), (225, 32, 8), (17, 64, 16), (16, 64, 16), (1, 32, 8)]
)
def test_bands_cover_all_rows_and_end_short(rows: int, most: int, least: int) -> None:
    ends = list(band_ends(rows, most, least))
    sizes = [end - start for start, end in pairwise(ends)]
    assert (ends[0], ends[-1]) == (0, rows)
    assert sizes == sorted(sizes, reverse=True)
    assert max(sizes) <= most
    assert sizes[-1] <= least
