"""`split-long-rows`: rows longer than a lane are computed in parts, with the same numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.pipeline import parse_pipeline
from xdsl_tpu.passes.pipelines import lower

CHIP = load_chip()
TOLERANCE = {"F32": 1e-5, "F16": 4e-3, "BF16": 4e-2}
Made = Callable[[Net, int], SSAValue]


def _norm_operands(net: Net, x: SSAValue, *shape: int) -> tuple[SSAValue, ...]:
    return x, net.weight("w", *shape), net.weight("b", *shape)


def group_norm(net: Net, size: int) -> SSAValue:
    x = net.input("x", 2, 12, size // 4)
    operands = _norm_operands(net, x, 1, 12, 1)
    return net.op(top.GroupNormOp, "y", operands, num_groups=3, eps=1e-5)


def group_norm_of_images(net: Net, size: int) -> SSAValue:
    operands = _norm_operands(net, net.input("x", 2, 70, 40, size // 1400), 1, 70, 1, 1)
    return net.op(top.GroupNormOp, "y", operands, num_groups=2, eps=1e-5)


def plain_group_norm_of_volumes(net: Net, size: int) -> SSAValue:
    operands = (net.input("x", 1, 6, 4, 25, size // 600), net.none, net.none)
    return net.op(top.GroupNormOp, "y", operands, num_groups=1, eps=1e-5)


def group_norm_of_channels(net: Net, size: int) -> SSAValue:
    operands = _norm_operands(net, net.input("x", 1, 2 * size, 1), 1, 2 * size, 1)
    return net.op(top.GroupNormOp, "y", operands, num_groups=2, eps=1e-5)


def instance_norm(net: Net, size: int) -> SSAValue:
    operands = _norm_operands(net, net.input("x", 1, 3, 2, size // 2), 1, 3, 1, 1)
    return net.op(top.InstanceNormOp, "y", operands, eps=1e-5)


def norm_of_a_large_image(net: Net, size: int) -> SSAValue:
    operands = _norm_operands(net, net.input("x", 2, 66, 24, size), 1, 66, 1, 1)
    return net.op(top.GroupNormOp, "y", operands, num_groups=22, eps=1e-5)


def norm_of_all_channels(net: Net, size: int) -> SSAValue:
    operands = _norm_operands(net, net.input("x", 1, 130, 4, size), 1, 130, 1, 1)
    return net.op(top.GroupNormOp, "y", operands, num_groups=1, eps=1e-5)


def layer_norm(net: Net, size: int) -> SSAValue:
    operands = _norm_operands(net, net.input("x", 3, size), size)
    return net.op(top.LayerNormOp, "y", operands, normalized_shape=[size], axis=1, eps=1e-5)


def plain_layer_norm(net: Net, size: int) -> SSAValue:
    operands = (net.input("x", 3, 2, size // 2), net.none, net.none)
    shape = [2, size // 2]
    return net.op(top.LayerNormOp, "y", operands, normalized_shape=shape, axis=1, eps=1e-5)


def rms_norm(net: Net, size: int) -> SSAValue:
    operands = (net.input("x", 3, size), net.weight("w", size))
    return net.op(top.RMSNormOp, "y", operands, eps=1e-5)


def lengths_of_channels(net: Net, size: int) -> SSAValue:
    x = net.op(top.AbsOp, "a", (net.input("x", 1, 3, 100, size // 100),))
    rows = net.op(top.ReshapeOp, "rows", (x,), shape=[1, 1, 3, size])
    rows = net.op(top.RMSNormOp, "norm", (rows, net.none), eps=1e-5)
    return net.op(top.MulConstOp, "y", (rows,), const_val=0.25)


def softmax(net: Net, size: int) -> SSAValue:
    return net.op(top.SoftmaxOp, "y", (net.input("x", 2, size),), axis=1, beta=0.5)


def softmax_of_the_least(net: Net, size: int) -> SSAValue:
    return net.op(top.SoftmaxOp, "y", (net.input("x", 2, size),), axis=1, beta=-0.5)


def softmax_of_columns(net: Net, size: int) -> SSAValue:
    return net.op(top.SoftmaxOp, "y", (net.input("x", 2, size, 3),), axis=1)


def whole_image(net: Net, size: int) -> SSAValue:
    shape = [size // 100, 100]
    x = net.input("x", 1, 3, *shape)
    options: dict[str, Any] = {"kernel_shape": shape, "strides": [1, 1], "pads": [0] * 4}
    return net.op(top.AvgPoolOp, "y", (x,), **options)


def reduced(mode: str) -> Made:
    def make(net: Net, size: int) -> SSAValue:
        x = net.input("x", 2, size // 2, 2, 3)
        return net.op(top.ReduceOp, "y", (x,), axes=[1, 2], keepdims=False, mode=mode)

    return make


@dataclass(frozen=True)
class Row:
    """An op of one row size; the size to split."""

    make: Made
    size: int = 40000

    def module(self, size: int) -> ModuleOp:
        net = Net()
        return net.module(self.make(net, size))


ROWS = {
    "group norm": Row(group_norm),
    "group norm of images": Row(group_norm_of_images, 42000),
    "plain group norm of volumes": Row(plain_group_norm_of_volumes, 42000),
    "group norm of channels": Row(group_norm_of_channels, 10000),
    "instance norm": Row(instance_norm),
    "layer norm": Row(layer_norm),
    "plain layer norm": Row(plain_layer_norm, 2 * 20011),  # with a prime factor
    "rms norm": Row(rms_norm),
    "lengths of channels": Row(lengths_of_channels),
    "softmax": Row(softmax),
    "softmax of the least": Row(softmax_of_the_least),
    "softmax of columns": Row(softmax_of_columns),
    "mean of an image": Row(whole_image, 80000),
    **{mode: Row(reduced(mode)) for mode in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceL2")},
    "ReduceMin": Row(reduced("ReduceMin"), 2 * 20011),
    "ReduceL1": Row(reduced("ReduceL1"), 300_000),  # parts of parts
}


IMAGES = {
    "norm of a large image": Row(norm_of_a_large_image, 28),
    "norm of all channels": Row(norm_of_all_channels, 16),
}
"""Ops of rows that would fit a lane, but are computed in parts all the same."""

SPLIT = ROWS | IMAGES


def lowering(mode: str) -> str:
    return f"convert-top-to-tpu{{mode={mode} chip=bm1684x}}"


@pytest.mark.parametrize("mode", TOLERANCE)
@pytest.mark.parametrize("name", SPLIT)
def test_parts_give_the_same(name: str, mode: str) -> None:
    row = SPLIT[name]
    module = row.module(row.size)
    for one in parse_pipeline(lowering(mode)):
        one.apply(make_context(), module)
    after = assert_same_numbers(module, "split-long-rows", tolerance=TOLERANCE[mode])
    assert kinds(after).count("Reduce") >= 2
    assert not set(kinds(after)) & {"GroupNorm", "InstanceNorm", "LayerNorm", "Softmax", "Pool2D"}


@pytest.mark.parametrize("disable", [(), ("layer-group",)], ids=("groups", "single"))
@pytest.mark.parametrize("name", SPLIT)
def test_compiled(name: str, disable: tuple[str, ...]) -> None:
    row = SPLIT[name]
    module = row.module(row.size)
    x = np.random.default_rng(3).standard_normal(_input_shape(module), np.float32)
    (wanted,) = run_module(module, {"x": x}).values()
    lower(module, "F32", CHIP.instruction_set, disable)
    program = generate(module, weights_of(module), CHIP)
    (found,) = run_program(program, CHIP, {"x": x}).values()
    scale = max(1.0, float(np.abs(wanted).max()))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5 * scale)


def test_far_from_zero() -> None:
    """Moments are combined without the difference of large numbers."""
    net = Net()
    module = net.module(group_norm_of_images(net, 42000))
    x = np.random.default_rng(5).standard_normal(_input_shape(module), np.float32) + 300
    (wanted,) = run_module(module, {"x": x}).values()
    lower(module, "F32", CHIP.instruction_set)
    program = generate(module, weights_of(module), CHIP)
    (found,) = run_program(program, CHIP, {"x": x}).values()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=5e-4)


def _input_shape(module: ModuleOp) -> tuple[int, ...]:
    (op,) = (op for op in module.walk() if isinstance(op, top.InputOp))
    kind: Any = op.output.type
    return kind.get_shape()


@pytest.mark.parametrize("mode", ["F32", "F16"])
@pytest.mark.parametrize("name", ROWS)
def test_the_longest_row_that_stays_fits(name: str, mode: str) -> None:
    """What the pass leaves alone, kernels take; what they take is not far beyond."""
    row = ROWS[name]
    low, high = 1000, row.size
    while high - low > 200:
        middle = (low + high) // 400 * 200
        if _stays(row.module(middle), mode):
            low = middle
        else:
            high = middle
    module = row.module(low)
    lower(module, mode, CHIP.instruction_set, ("layer-group", "split-long-rows"))
    generate(module, weights_of(module), CHIP)


def _stays(module: ModuleOp, mode: str) -> bool:
    before: list[str] = []
    for one in parse_pipeline(f"{lowering(mode)},split-long-rows"):
        before = kinds(module)
        one.apply(make_context(), module)
    return kinds(module) == before
