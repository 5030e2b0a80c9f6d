"""First ops of a network in bands of rows: the same values, and no more cycles."""

import numpy as np
import pytest
from tests.kernels.harness import Case, Outcome, check_encoding, execute, final
from tests.local.groups import assert_close
from tests.local.test_local_cnn import conv
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.kernels.support import DdrValue
from xdsl_tpu.backend.local.gather import strided
from xdsl_tpu.backend.tensor import DType
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.absorbed import is_absorbed
from xdsl_tpu.dialects.interfaces.index_map import IndexMap
from xdsl_tpu.dialects.interfaces.movement import Along, rectangles
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.bands import best_bands, chains
from xdsl_tpu.passes.layer_group.base_groups import computing_ops
from xdsl_tpu.passes.layer_group.window import Taken, WindowCosts
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.tensors import functions

CAST = {"with_scale": "true", "round_mode": "#tpu<round_mode HalfAwayFromZero>"}


def stem(size: int, kernel: int, stride: int, channels: int = 3) -> Case:
    """An image in f32, its cast, a convolution, a pool and a second convolution."""
    case = Case("f16", seed=5)
    image = (1, channels, size, size)
    x = case.input("x", image, kind="f32")
    q = case.op("tpu.Cast", [x], CAST, "q", image)
    pad = kernel // 2
    half = (size + 2 * pad - kernel) // stride + 1
    out, small = (1, 64, half, half), (1, 64, (half + 1) // 2, (half + 1) // 2)
    window, pads = (kernel, kernel), (pad, pad, pad, pad)
    a = conv(case, q, "a", (image, out), window, (stride, stride), pads, relu=-1.0)
    attributes = {
        "kernel_shape": "[3, 3]",
        "strides": "[2, 2]",
        "pads": "[1, 1, 1, 1]",
        "pool_mode": "#tpu<pool_mode Max>",
    }
    p = case.op("tpu.Pool2D", [a], attributes, "p", small)
    conv(case, p, "y", (small, small), (1, 1))
    return case


def bands(module: ModuleOp) -> list[tpu.Conv2DOp]:
    """The first convolution of every band."""
    convs = [op for op in module.walk() if isinstance(op, tpu.Conv2DOp)]
    return [op for op in convs if "a_rows" in str(op.location)]


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "channels"),
    [(224, 7, 2, 3), (225, 3, 2, 3), (193, 5, 1, 3), (128, 3, 1, 16), (160, 1, 1, 40)],
)
def test_values_stay_the_same(size: int, kernel: int, stride: int, channels: int) -> None:
    case, chip = stem(size, kernel, stride, channels), load_chip()
    (expected,) = run_module(case.module(), case.inputs).values()
    module = final(case)
    assert len(bands(module)) > 1
    program = generate(module, weights_of(module), chip)
    check_encoding(program)
    assert not any("_rows_" in layer.name for layer in program.layers)
    early, late = (execute(program, case, chip, ahead) for ahead in (Engine.TIU, Engine.GDMA))
    assert np.array_equal(early, late)
    cycles = simulate(program.tiu, program.gdma, chip).total
    assert_close(Outcome(early, np.asarray(expected), program, cycles))


@pytest.mark.parametrize(("size", "kernel", "least"), [(224, 7, 0.8), (512, 3, 0.8)])
def test_a_network_is_faster(size: int, kernel: int, least: float) -> None:
    chip = load_chip()
    cycles: list[int] = []
    for cut in (False, True):
        module = final(stem(size, kernel, 2), "" if cut else "cut-bands")
        program = generate(module, weights_of(module), chip)
        cycles.append(simulate(program.tiu, program.gdma, chip).total)
    assert cycles[1] < least * cycles[0]


def test_filter_taps_are_read_from_the_image_itself() -> None:
    module = final(stem(224, 7, 2))
    reads = [op for op in module.walk() if isinstance(op, tpu.RearrangeOp)]
    assert len(reads) == len(bands(module)) > 1
    assert all(any(op.merged_taps()) for op in bands(module))
    assert all(map(is_absorbed, reads))


def test_a_small_image_stays_whole() -> None:
    assert not bands(final(stem(8, 3, 1)))


def squares(of_differences: bool) -> Case:
    """A convolution, squares of its result, or of its differences from their mean over channels,
    and a convolution. The result of the first does not fit local memory with another one of its
    size."""
    case = Case("f16", seed=7)
    image, wide, line = (1, 32, 128, 128), (1, 150, 128, 128), (1, 1, 128, 128)
    x = case.input("x", image, kind="f32")
    q = case.op("tpu.Cast", [x], CAST, "q", image)
    a = conv(case, q, "a", (image, wide), (1, 1))
    if of_differences:
        mean = conv(case, a, "mean", (wide, line), (1, 1))
        a = case.op("tpu.Sub", [a, mean], {}, "differences", wide)
    conv(case, case.op("tpu.Mul", [a, a], {}, "squares", wide), "y", (wide, image), (1, 1))
    return case


@pytest.mark.parametrize("of_differences", [False, True])
def test_bands_are_left_where_their_readers_load_what_they_make(of_differences: bool) -> None:
    """Slices of the convolution go on to all that is made of it."""
    module = squares(of_differences).module()
    for step in ("weight-reorder", "subnet-divide", "cut-bands"):
        make_pass(step, "").apply(make_context(), module)
    assert bool(bands(module)) != of_differences


def weighty(outputs: int) -> Case:
    """Convolutions of an image in f32, and one with so many filters of the squares of what they
    make."""
    case = Case("f16", seed=9)
    image, wide, half = (1, 3, 224, 224), (1, 32, 112, 224), (1, 32, 112, 112)
    x = case.input("x", image, kind="f32")
    q = case.op("tpu.Cast", [x], CAST, "q", image)
    a = conv(case, q, "a", (image, wide), (8, 7), (2, 1), (3, 3, 3, 3))
    b = conv(case, a, "b", (wide, half), (3, 3), (1, 2), (1, 1, 1, 1))
    squares = case.op("tpu.Mul", [b, b], {}, "squares", half)
    conv(case, squares, "y", (half, (1, outputs, 4, 4)), (8, 8), (32, 32), (0, 0, 0, 0))
    return case


@pytest.mark.parametrize(("outputs", "cuts"), [(64, True), (2048, False)])
def test_bands_move_no_more_where_weights_take_longest(outputs: int, cuts: bool) -> None:
    """Three lanes get the rows that bands share twice, in f32, as they do from slices; a Cast of
    the whole image in DDR makes half as much of it, and there is time for that behind weights."""
    module = weighty(outputs).module()
    for step in ("weight-reorder", "subnet-divide"):
        make_pass(step, "").apply(make_context(), module)
    *_, func = functions(module)
    ops, costs = computing_ops(func.body.block), WindowCosts(load_chip(), module)
    chain = next(chains(ops))
    sliced = Taken(costs.window(chain).cycles, 140000, 30000)
    assert (best_bands(chain, (), sliced, ops, costs) is not None) == cuts


def test_rows_lie_in_strides_and_turned_rows_do_not() -> None:
    shape, rows = (1, 3, 9, 8), (1, 3, 4, 8)
    axes = [(Along(n, at=first),) for n, first in zip(rows, (0, 0, 2, 0), strict=True)]
    source = DdrValue(64, shape, DType.F16)
    found = strided(source, rectangles(rows, shape, axes), rows)
    assert found is not None
    assert (found.address, found.shape) == (64 + 2 * 8 * 2, rows)
    assert found.strides[1:] == (72, 8, 1)
    assert strided(source, IndexMap.rolled(shape, (0, 0, 1, 0)), shape) is None
    assert strided(source, IndexMap.identity(27 * 8), (1, 3, 9, 8)) is not None
    crossed = rectangles((1, 3, 4, 8), shape, axes)
    assert strided(source, crossed, (1, 2, 6, 8)) is None
