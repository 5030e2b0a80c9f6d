"""A recipe compiled and simulated, beside onnxruntime."""

from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime
from tests.fuzz.recipes import Recipe, feeds

from xdsl_tpu import calibrate
from xdsl_tpu import compile as compile_model
from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes.pipelines import STAGES, Settings, lower, run_stage

CHIP = load_chip()
CLOSE = 2e-4
"""Largest error, relative to the largest magnitude of a tensor (and to 1)."""

NARROW = 4e-3
"""The same in F16, beside what small changes on the way do to the results."""


class Rounding(NamedTuple):
    """What a format does to the results: `close` as above, beside what changes on the way do."""

    close: float
    change: float
    """Such a change, relative to the largest magnitude of a tensor: about two roundings."""


ROUNDINGS = {
    "F16": Rounding(NARROW, 2.0**-10),
    "BF16": Rounding(3e-2, 2.0**-7),
    "INT8": Rounding(3e-2, 2.0**-6),
}

WORSE = 8
"""How many times as far the results in a narrow format may be off as those of small changes."""


def expected(model: onnx.ModelProto, recipe: Recipe) -> list[Any]:
    """The outputs by onnxruntime, without its optimisations."""
    runtime: Any = onnxruntime  # it has no types
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return list(session.run(None, feeds(recipe)))


def largest(recipe: Recipe) -> float:
    """The largest magnitude of any result on the way, by onnxruntime."""
    every = expected(recipe.model(every=True), recipe)
    return max((float(np.abs(value).max(initial=0)) for value in every), default=0.0)


def simulated(
    recipe: Recipe, mode: str, disable: tuple[str, ...] = (), chip: str = ""
) -> list[Any]:
    """The outputs of the compiled program on the machine model.

    Programs of 8 bits are calibrated on the inputs that they are run with. Those for a chip by
    its description are also checked for races and misplaced operands.
    """
    if mode == "INT8":
        model, given = recipe.model(), feeds(recipe)
        table = calibrate(model, given, progress=False)
        program = compile_model(
            model,
            mode,
            chip=chip or "bm1684x",
            calibration=table,
            disable=disable,
            progress=False,
        )
        return list(program.run(given).values())
    if chip:
        return _on_another(recipe, mode, disable, chip)
    module = import_onnx(recipe.model())
    lower(module, mode, CHIP.instruction_set, disable)
    program = generate(module, weights_of(module), CHIP)
    return list(run_program(program, CHIP, feeds(recipe)).values())


def _on_another(recipe: Recipe, mode: str, disable: tuple[str, ...], path: str) -> list[Any]:
    """The outputs on a chip that is a description."""
    module, chip = import_onnx(recipe.model()), load_chip(path)
    settings = Settings(mode, chip.instruction_set, disable, path)
    for stage in STAGES:
        run_stage(module, stage, settings)
    program = generate(module, weights_of(module), chip)
    return list(run_program(program, chip, feeds(recipe)).values())


def check(recipe: Recipe, disable: tuple[str, ...] = (), mode: str = "F32", chip: str = "") -> None:
    """Compare all outputs with onnxruntime's, in narrow formats as closely as the graph allows."""
    wanted = expected(recipe.model(), recipe)
    assert all(np.isfinite(reference).all() for reference in wanted), "not a fair test"
    scales = [max(1.0, float(np.abs(reference).max(initial=0))) for reference in wanted]
    allowed = [CLOSE * scale for scale in scales]
    if mode != "F32":
        rounding = ROUNDINGS[mode]
        changed = (disturbed(recipe, seed, rounding.change) for seed in range(2))
        far = [[_far(a, b) for a, b in zip(wanted, one, strict=True)] for one in changed]
        # A root of almost nothing may become one of a negative number: then nothing is known.
        worst = [float(np.nan_to_num(np.max(each), nan=np.inf)) for each in zip(*far, strict=True)]
        allowed = [rounding.close * s + WORSE * w for s, w in zip(scales, worst, strict=True)]
    found = simulated(recipe, mode, disable, chip)
    assert [value.shape for value in found] == [reference.shape for reference in wanted]
    for value, reference, limit in zip(found, wanted, allowed, strict=True):
        error = _far(value, reference)
        assert error <= limit, f"off by {error:.3g}, {limit:.3g} allowed"


def _far(value: Any, reference: Any) -> float:
    return float(np.abs(value.astype(np.float64) - reference).max(initial=0))


def disturbed(recipe: Recipe, seed: int, change: float) -> list[Any]:
    """The outputs by onnxruntime when small numbers are added to the result of every step.

    They say how far rounding on the way may lead: a norm of almost equal numbers makes much of it.
    """
    random = np.random.default_rng(seed)
    values = expected(recipe.model(every=True), recipe)
    noise = {n: _noise(value, random, change) for n, value in enumerate(values, len(recipe.inputs))}
    return expected(recipe.model(noise=noise), recipe)


def _noise(value: Any, random: np.random.Generator, change: float) -> Any:
    shape: tuple[int, ...] = value.shape
    noise = random.random(shape, np.float32) - np.float32(0.5)
    return noise * np.float32(2 * change * np.abs(value).max(initial=0))
