"""Convolutions at strides beyond what a command can say, in another format than their network."""

from typing import Any

import numpy as np
import pytest
from tests.passes.semantics import Net, random_inputs

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.pipelines import lower

TINY = np.float32(1e-9)
"""Of weights that f16 does not hold: what multiplies by them is computed in f32."""


@pytest.mark.parametrize(
    ("size", "window"),
    [
        ((64, 48), {"kernel_shape": (16, 16), "strides": (16, 16), "pads": (0,) * 4}),
        ((64, 48), {"kernel_shape": (7, 3), "strides": (16, 3), "pads": (0,) * 4}),
    ],
)
def test_patches_in_f32_among_f16(size: tuple[int, int], window: dict[str, Any]) -> None:
    """Rows of three channels can be merged as they are loaded in 16 bits alone."""
    net = Net()
    x = net.input("x", 1, 3, *size)
    tables = net.weight("w", 32, 3, *window["kernel_shape"]), net.none
    module, chip = net.module(net.op(top.ConvOp, "y", (x, *tables), **window)), load_chip("bm1684x")
    weights = weights_of(module)
    weights["w"] = weights["w"] * TINY
    inputs = random_inputs(module, 0)
    (expected,) = run_module(module, inputs).values()
    lower(module, "F16", chip.instruction_set)
    program = generate(module, weights_of(module), chip)
    (got,) = run_program(program, chip, inputs).values()
    np.testing.assert_allclose(
        got.reshape(expected.shape), expected, rtol=1e-4, atol=float(1e-6 * TINY)
    )


def test_taps_far_apart_along_a_line_are_reached_on_the_chip() -> None:
    """A line that rows do not divide is filled as an image, in its group."""
    net, chip = Net(), load_chip("bm1684x")
    window = {"kernel_shape": (3, 1), "strides": (1, 1), "pads": (32, 0, 32, 0)}
    window["dilations"] = (32, 1)
    x = net.op(top.TanhOp, "t", (net.input("x", 1, 32, 99, 1),))
    y = net.op(top.ConvOp, "y", (x, net.weight("w", 32, 32, 3, 1), net.none), **window)
    module = net.module(net.op(top.TanhOp, "z", (y,)))
    inputs = random_inputs(module, 0)
    (expected,) = run_module(module, inputs).values()
    lower(module, "F16", chip.instruction_set)
    pads = [op for op in module.walk() if isinstance(op, tpu.PadOp)]
    assert pads
    assert all(isinstance(op.parent_op(), tpu.GroupOp) for op in pads)
    (got,) = run_program(generate(module, weights_of(module), chip), chip, inputs).values()
    np.testing.assert_allclose(got.reshape(expected.shape), expected, atol=5e-3)


@pytest.mark.parametrize(
    ("dilation", "pads", "written"),
    [
        (24, (24, 24, 24, 24), 0),
        (36, (36, 36, 36, 36), 0),
        (18, (18, 19, 18, 18), 1),
        (18, (40, 0, 0, 20), 1),
        (20, (0, 20, 40, 20), 1),
    ],
)
def test_images_have_the_padding_of_what_they_are_taken_from(
    dilation: int, pads: tuple[int, ...], written: int
) -> None:
    """Only what is not a whole element of each image, or more than a command says, is written."""
    net = Net()
    window = {"kernel_shape": (3, 3), "strides": (1, 1), "pads": pads, "dilations": (dilation,) * 2}
    x = net.input("x", 1, 8, 48, 50)
    y = net.op(top.ConvOp, "y", (x, net.weight("w", 8, 8, 3, 3), net.none), **window)
    module = net.module(y)
    inputs = random_inputs(module, 0)
    (expected,) = run_module(module, inputs).values()
    make_pass("convert-top-to-tpu", "mode=F32 chip=bm1684x").apply(make_context(), module)
    pads_made = [op for op in module.walk() if isinstance(op, tpu.PadOp)]
    padded = [op for op in pads_made if "_padded" in (name_of(op) or "")]
    assert len(padded) == written
    (got,) = run_module(module, inputs).values()
    np.testing.assert_allclose(got, expected, atol=1e-3)
