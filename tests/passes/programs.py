"""Networks as programs: what the machine gives beside what the interpreter gives."""

import numpy as np
from tests.passes.semantics import random_inputs
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.pipelines import lower


def assert_close_in_program(module: ModuleOp, mode: str, part: float = 5e-3) -> None:
    """Lower a network of one result, check its program, and hold what it gives on random inputs
    against the interpreter: off by less than that part of the largest number."""
    chip = load_chip("bm1684x")
    inputs = random_inputs(module, 0)
    (expected,) = run_module(module, inputs).values()
    lower(module, mode, chip.instruction_set)
    program = generate(module, weights_of(module), chip)
    (got,) = run_program(program, chip, inputs).values()
    error = np.abs(np.asarray(got, np.float32).reshape(expected.shape) - expected).max()
    assert error < part * np.abs(expected).max()
