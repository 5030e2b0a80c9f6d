"""One top op through the whole compiler and the machine."""

import numpy as np
from tests.passes.lowering_samples import Array, Sample, module_of

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.pipelines import lower


def simulated(sample: Sample, mode: str) -> tuple[list[Array], list[Array]]:
    """What the machine gives and what the interpreter says of the op itself, in f32.

    The program must have no race and no misplaced operand.
    """
    chip = load_chip("bm1684x")
    module, inputs = module_of(sample)
    expected = list(run_module(module, inputs).values())
    lower(module, mode, chip.instruction_set)
    program = generate(module, weights_of(module), chip)
    outputs = run_program(program, chip, inputs)
    got = [value.astype(np.float32) for value in outputs.values()]
    return got, [np.asarray(value).reshape(g.shape) for value, g in zip(expected, got, strict=True)]


def assert_exact(sample: Sample, mode: str = "F32") -> None:
    """Every value to the bit, of inputs that the mode can hold."""
    for got, expected in zip(*simulated(sample, mode), strict=True):
        np.testing.assert_array_equal(got, expected)


def assert_close(sample: Sample, mode: str, error: float) -> None:
    """Every value within `error` of the largest one."""
    for got, expected in zip(*simulated(sample, mode), strict=True):
        scale = max(float(np.abs(expected).max()), 1e-6)
        assert float(np.abs(got - expected).max()) / scale <= error
