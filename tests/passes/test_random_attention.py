"""Random networks of transposes, splits and products compute the same after the whole pipeline.

XDSL_TPU_FUZZ says how many each test tries, where the suite tries a few.
"""

import os
from collections import Counter

import numpy as np
import pytest
from tests.passes.random_attention import network
from tests.passes.rounding import assert_rounding_explains, largest_excess
from tests.passes.semantics import assert_same_numbers, compiled, kinds

from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.pipelines import REQUIRED, STAGES, patterns_of

PASSES = tuple(name for stage in STAGES.values() for name in stage)
GRAPHS = int(os.environ.get("XDSL_TPU_FUZZ", "0"))
BATCH = 5

NEEDED = frozenset(("ConvRowsToPlanes", "SplitToSlice", "UnpackToSlices"))
"""Patterns that lower what the chip has no op for: they are no optimisation."""


def pipeline(mode: str = "F32", off: frozenset[str] = frozenset()) -> str:
    """All stages, without the patterns (or whole passes) of `off`."""
    texts: list[str] = []
    for name in PASSES:
        if name in off:
            continue
        options = [f"mode={mode}", "chip=bm1684x"] if name == "processor-assign" else []
        if own := sorted(patterns_of(name) & off):
            options.append(f"disable={','.join(own)}")
        texts.append(f"{name}{{{' '.join(options)}}}" if options else name)
    return ",".join(texts)


@pytest.mark.parametrize("start", range(0, GRAPHS or 15, BATCH))
def test_the_pipeline_changes_no_numbers(start: int) -> None:
    """All tensors that are still there under their names have the numbers they had."""
    for seed in range(start, start + BATCH):
        assert_same_numbers(network(seed), pipeline(), seed, tolerance=1e-4)


STEEP = {"F16": (169, 280, 340, 360), "BF16": (66, 82, 153)}
"""Networks that make much of a little: a number near the threshold of a comparison (169), a norm
over two close numbers (280), a sine or exponential of large numbers."""


@pytest.mark.parametrize("mode", ["F16", "BF16"])
def test_narrow_formats_are_as_close_as_rounding_allows(mode: str) -> None:
    for seed in (*range(100, 100 + (GRAPHS or 3)), *STEEP[mode]):
        assert_rounding_explains(network(seed), pipeline(mode), mode, seed)


def test_an_error_that_rounding_does_not_explain_is_found() -> None:
    """One weight wrong by 2 parts in 100 lies within a tolerance for whole tensors."""
    module = network(101)
    changed = compiled(module, pipeline("F16"))
    assert largest_excess(module, changed, "F16", 101).ratio <= 1
    weights = weights_of(changed)
    name = max(weights, key=lambda one: weights[one].size)
    weights[name] = weights[name] * weights[name].dtype.type(1.02)
    assert largest_excess(module, changed, "F16", 101).ratio > 1


@pytest.mark.parametrize("start", range(200, 200 + (GRAPHS or 10), BATCH))
def test_any_patterns_can_be_left_out(start: int) -> None:
    """What is left of the patterns is correct without the others."""
    names = sorted({name for one in PASSES for name in patterns_of(one)} - NEEDED)
    optional = sorted(set(PASSES) - REQUIRED - {"verify-addresses", "verify-layer-groups"})
    for seed in range(start, start + BATCH):
        rng = np.random.default_rng(seed)
        share = rng.choice([0.1, 0.3, 0.6])
        off = {name for name in names if rng.random() < share}
        off |= {name for name in optional if rng.random() < 0.1}
        assert_same_numbers(network(seed), pipeline(off=frozenset(off)), seed, tolerance=1e-4)


def test_a_reshaped_weight_is_read_as_what_it_is() -> None:
    """Without `weight-fold`, `place-values` finds the Reshapes of weights that `drop-unit-dims`
    writes."""
    wanted = {"drop-unit-dims", "place-values"}
    off = {name for one in PASSES for name in patterns_of(one)} - NEEDED
    off |= set(PASSES) - REQUIRED - {"verify-addresses", "verify-layer-groups"} - wanted
    assert_same_numbers(network(217), pipeline(off=frozenset(off)), 217, tolerance=1e-4)


def test_networks_differ_and_hold_what_attention_is_made_of() -> None:
    """Otherwise the tests above could not fail."""
    found = [tuple(kinds(network(seed))) for seed in range(100)]
    counts = Counter(kind for ops in found for kind in set(ops))
    assert len(set(found)) > 95
    for kind in ("Permute", "Reshape", "MatMul", "Softmax", "Add", "Slice", "Squeeze"):
        assert counts[kind] > 30
    assert counts["Split"] > 15
    assert kinds(network(3)) == kinds(network(3))
