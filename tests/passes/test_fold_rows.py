"""Blocks of rows as channels: every op that works on them, the choice, and programs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of, random_inputs
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.weights import clone_with_weights, weights_of
from xdsl_tpu.passes.fold_rows.choice import Prices, choose_folds
from xdsl_tpu.passes.fold_rows.network import network_of
from xdsl_tpu.passes.fold_rows.rewriting import Rewriting
from xdsl_tpu.passes.pipelines import lower
from xdsl_tpu.passes.tensors import functions, required_name, shape_of

PASS = "fold-rows"

Build = Callable[[Net, SSAValue], SSAValue]


def conv(
    net: Net, name: str, x: SSAValue, shape: tuple[int, ...], biased: bool = True, **window: Any
) -> SSAValue:
    """A filter (outputs, inputs of a group, kh, kw); its result has as many rows unless given."""
    pads = [size // 2 for size in shape[2:]]
    how: dict[str, Any] = {"kernel_shape": shape[2:], "strides": [1, 1], "pads": [*pads, *pads]}
    bias = net.weight(f"{name}_b", shape[0]) if biased else net.none
    operands = (x, net.weight(f"{name}_w", *shape), bias)
    return net.op(top.ConvOp, name, operands, **{**how, **window})


def halves(net: Net, x: SSAValue) -> SSAValue:
    """The product of the first channels and the others, and both in a row."""
    ends = ([0, 4], [4, 8])
    parts = [
        net.op(
            top.SliceOp,
            f"half{place}",
            (x, net.none, net.none, net.none),
            axes=[1],
            offset=[first],
            ends=[end],
            steps=[1],
        )
        for place, (first, end) in enumerate(ends)
    ]
    product = net.op(top.MulOp, "gate", parts)
    return net.op(top.ConcatOp, "both", (product, parts[0]), axis=1)


def squeezed(net: Net, x: SSAValue) -> SSAValue:
    """Channels weighted by their means."""
    window: dict[str, Any] = {"kernel_shape": [], "strides": [], "pads": []}
    mean = net.op(top.AvgPoolOp, "mean", (x,), **window)
    weights = conv(net, "squeeze", mean, (8, 8, 1, 1))
    return net.op(top.MulOp, "weighted", (x, weights))


def pooled(kind: type[top.MaxPoolOp | top.AvgPoolOp], kernel: list[int]) -> Build:
    def build(net: Net, x: SSAValue) -> SSAValue:
        window: dict[str, Any] = {"kernel_shape": kernel, "strides": kernel, "pads": [0] * 4}
        return net.op(kind, "pool", (x,), **window)

    return build


def spread(net: Net, x: SSAValue) -> SSAValue:
    how: dict[str, Any] = {"block_h": 2, "block_w": 2, "is_CRD": False, "is_inversed": False}
    return net.op(top.Depth2SpaceOp, "spread", (x,), **how)


def doubled(net: Net, x: SSAValue) -> SSAValue:
    return net.op(top.ConcatOp, "rows", (x, x), axis=2)


def spread_by_channels(net: Net, x: SSAValue) -> SSAValue:
    how: dict[str, Any] = {"block_h": 2, "block_w": 2, "is_CRD": True, "is_inversed": False}
    return net.op(top.Depth2SpaceOp, "spread", (x,), **how)


def normed(net: Net, x: SSAValue) -> SSAValue:
    weights = (net.weight("nw", 8), net.weight("nb", 8))
    return net.op(top.PixelNormOp, "norm", (x, *weights), eps=1e-5)


def filtered(shape: tuple[int, ...], **window: Any) -> Build:
    return lambda net, x: conv(net, "conv", x, shape, **window)


def network(build: Build, size: tuple[int, int] = (24, 10), images: int = 2) -> ModuleOp:
    """Something done to an image of eight channels between ops that work on each element."""
    net = Net()
    x = net.op(top.SiLUOp, "before", (net.input("i", images, 8, *size),))
    return net.module(net.op(top.AbsOp, "after", (build(net, x),)))


FORMS: dict[str, tuple[Build, tuple[str, ...]]] = {
    "point": (filtered((12, 8, 1, 1)), ("Conv",)),
    "dense": (filtered((4, 8, 3, 3)), ("Slice", "Conv", "Slice", "Conv", "Concat", "Conv")),
    "depthwise": (
        filtered((8, 1, 3, 3), group=8, biased=False, do_relu=True),
        ("Slice", "Conv", "Slice", "Conv", "Concat", "Conv"),
    ),
    "high": (
        filtered((8, 1, 7, 3), group=8),
        ("Slice", "Conv", "Slice", "Conv", "Concat", "Conv"),
    ),
    "apart": (
        filtered((8, 8, 3, 3), dilations=[2, 1], pads=[2, 1, 2, 1]),
        ("Slice", "Conv", "Slice", "Conv", "Concat", "Conv"),
    ),
    "strided": (
        filtered((16, 8, 3, 3), strides=[2, 2], pads=[1, 1, 0, 1]),
        ("Slice", "Conv", "Concat", "Conv"),
    ),
    "below": (filtered((16, 8, 3, 3), pads=[0, 1, 2, 1]), ("Slice", "Conv", "Concat", "Conv")),
    "patches": (filtered((16, 8, 2, 2), strides=[2, 2], pads=[0] * 4), ("Conv",)),
    "halves": (halves, ("Slice", "Slice", "Mul", "Concat")),
    "squeezed": (squeezed, ("AvgPool", "Conv", "Conv", "Conv", "Mul")),
    "maxima": (pooled(top.MaxPoolOp, [2, 5]), ("MaxPool",)),
    "means": (pooled(top.AvgPoolOp, [3, 2]), ("AvgPool",)),
    "spread": (spread, ("Depth2Space",)),
    "constant": (
        lambda net, x: net.op(top.AddOp, "add", (x, net.weight("c", 2, 8, 1, 1))),
        (),
    ),
    "slopes": (
        lambda net, x: net.op(top.PReluOp, "prelu", (x, net.weight("s", 1, 8, 1, 1))),
        ("PRelu",),
    ),
}


def in_blocks(module: ModuleOp, blocks: int) -> ModuleOp:
    """A copy with so many blocks of all values, as far as they have rows for them."""
    after, chip = clone_with_weights(module), load_chip()
    for func in functions(after):
        found = network_of(func)
        folds = {one: 1 if one.rows % blocks else blocks for one in found.sets()}
        Rewriting(func, found, folds, Prices(func, chip, 2), weights_of(after)).run()
    after.verify()
    return after


def assert_same(before: ModuleOp, after: ModuleOp) -> None:
    """All that both have by the same name has the same numbers."""
    seen: list[dict[str, Any]] = [{}, {}]
    for module, values in ((before, seen[0]), (after, seen[1])):
        run_module(module, random_inputs(before, 0), trace=values.__setitem__)
    assert "after" in seen[0].keys() & seen[1].keys()
    for name in seen[0].keys() & seen[1].keys():
        assert np.allclose(seen[0][name], seen[1][name], rtol=1e-4, atol=1e-4), name


@pytest.mark.parametrize("blocks", [2, 4])
@pytest.mark.parametrize("form", FORMS)
def test_the_same_numbers(form: str, blocks: int) -> None:
    build, wanted = FORMS[form]
    before = network(build)
    after = in_blocks(before, blocks)
    assert_same(before, after)
    if wanted:
        assert kinds(after) == ["Reshape", "SiLU", *wanted, "Abs", "Reshape"]


def test_norms_of_pixels_leave_their_lanes() -> None:
    before = network(normed)
    after = in_blocks(before, 4)
    assert_same(before, after)
    wanted = ["Reshape", "SiLU", "Reshape", "PixelNorm", "Reshape", "Abs", "Reshape"]
    assert kinds(after) == wanted


def test_a_halo_is_at_most_a_block() -> None:
    """Seven rows of a filter see three of each neighbour, and blocks have two."""
    before = network(filtered((8, 1, 7, 3), group=8), (8, 10))
    after = in_blocks(before, 4)
    assert_same(before, after)
    (only,) = ops_of(after, top.ConvOp)
    assert ints(only.pads) == (3, 1, 3, 1)


@pytest.mark.parametrize(
    "build",
    [
        filtered((8, 2, 3, 3), group=4),
        filtered((8, 8, 3, 3), pads=[0, 1, 0, 1]),
        filtered((8, 8, 3, 3), strides=[2, 1], pads=[0, 1, 0, 1]),
        doubled,
        spread_by_channels,
    ],
    ids=["groups", "fewer rows", "no whole stride", "more rows", "channels first"],
)
def test_what_does_not_work_on_blocks_reads_images(build: Build) -> None:
    before = network(build)
    after = in_blocks(before, 4)
    assert_same(before, after)
    assert [kind for kind in kinds(after) if kind not in ("Reshape", "SiLU", "Abs")] == [
        kind for kind in kinds(before) if kind not in ("SiLU", "Abs")
    ]


def chain(channels: int = 16, size: tuple[int, int] = (256, 256)) -> ModuleOp:
    """Functions and filters of each channel."""
    net = Net()
    x = net.input("i", 1, channels, *size)
    for name in ("a", "b"):
        x = net.op(top.SiLUOp, f"{name}s", (x,))
        x = conv(net, name, x, (channels, 1, 3, 3), group=channels)
    return net.module(net.op(top.AbsOp, "after", (x,)))


def test_few_channels_become_many() -> None:
    module = chain()
    module.attributes["module.chip"] = StringAttr("bm1684x")
    after = assert_same_numbers(module, PASS, tolerance=1e-4)
    shapes = {required_name(op): shape_of(op.output) for op in ops_of(after, top.SiLUOp)}
    assert set(shapes.values()) == {(1, 64, 64, 256)}


@pytest.mark.parametrize(
    ("channels", "size", "mode"),
    [(64, (64, 64), "F16"), (16, (251, 256), "F16"), (16, (256, 256), "INT8")],
    ids=str,
)
def test_left_alone(channels: int, size: tuple[int, int], mode: str) -> None:
    """Enough channels, rows that have no blocks, bytes."""
    module = chain(channels, size)
    module.attributes["module.mode"] = StringAttr(mode)
    assert "Reshape" not in kinds(assert_same_numbers(module, PASS, tolerance=1e-4))


def test_filters_of_all_channels_are_left_to_columns() -> None:
    """A filter within each block multiplies all others by zeros: no estimate is for it."""
    net = Net()
    x = net.input("i", 1, 8, 64, 256)
    for name in ("a", "b", "c", "d"):
        x = conv(net, name, x, (8, 8, 3, 3))
    (func,) = functions(net.module(x))
    assert choose_folds(network_of(func), Prices(func, load_chip(), 2)) is None


@pytest.mark.parametrize("mode", ["F16", "BF16", "F32"])
@pytest.mark.parametrize("build", [halves, squeezed, normed], ids=["halves", "squeezed", "normed"])
def test_in_programs(mode: str, build: Build) -> None:
    """Ops around filters, in blocks, as commands."""
    chip = load_chip()
    plain = network(
        lambda net, x: build(net, conv(net, "c", x, (8, 1, 3, 3), group=8)), (32, 24), 1
    )
    module = in_blocks(plain, 4)
    inputs = random_inputs(plain, 0)
    (expected,) = run_module(plain, inputs).values()
    lower(module, mode, chip.instruction_set)
    program = generate(module, weights_of(module), chip)
    (got,) = run_program(program, chip, inputs).values()
    error = np.abs(np.asarray(got, np.float32).reshape(expected.shape) - expected).max()
    assert error < {"F16": 5e-3, "BF16": 4e-2, "F32": 1e-4}[mode] * np.abs(expected).max()
