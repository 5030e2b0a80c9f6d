"""Random graphs of integers, indices and masks: compiled and simulated in F32 and in F16 they give
the integers that onnxruntime gives, and floats as close as the format allows.

The suite tries a few; `make fuzz` sets XDSL_TPU_FUZZ to try as many as it says, others each time.
"""

import os
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from tests.fuzz.integer_graphs import random_graph
from tests.fuzz.running import CHIP, CLOSE, NARROW

from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.main_function import find_main, output_names
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes.pipelines import lower

GRAPHS = int(os.environ.get("XDSL_TPU_FUZZ", "0"))
FIRST = int.from_bytes(os.urandom(4)) if GRAPHS else 1
AT_ONCE = 3
"""Graphs that one test tries."""

LIMITS = {"top": CLOSE, "F32": CLOSE, "F16": NARROW}


def expected(model: onnx.ModelProto, feeds: dict[str, Any]) -> list[Any]:
    runtime: Any = onnxruntime  # it has no types
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return list(session.run(None, feeds))


def simulated(model: onnx.ModelProto, feeds: dict[str, Any], mode: str) -> list[Any]:
    module = import_onnx(model)
    if mode == "top":
        # One tensor may be several outputs.
        named = run_module(module, feeds)
        return [named[name] for name in output_names(*find_main(module))]
    lower(module, mode, CHIP.instruction_set)
    program = generate(module, weights_of(module), CHIP)
    return list(run_program(program, CHIP, feeds).values())


def check(seed: int) -> None:
    model, feeds = random_graph(seed)
    names = [output.name for output in model.graph.output]
    wanted = expected(model, feeds) if names else []
    for mode, limit in LIMITS.items() if names else ():
        for name, value, found in zip(names, wanted, simulated(model, feeds, mode), strict=True):
            what = f"seed {seed}, {mode}, output '{name}'"
            assert found.shape == (value.shape or (1,)), what
            if value.dtype == np.float32:
                assert np.abs(found - value).max() <= limit * max(1, np.abs(value).max()), what
            else:
                assert np.array_equal(found.reshape(value.shape), value.astype(found.dtype)), what


@pytest.mark.parametrize("start", range(0, GRAPHS or 6, AT_ONCE))
def test_like_onnxruntime(start: int) -> None:
    for seed in range(FIRST + start, FIRST + start + AT_ONCE):
        check(seed)
