"""A part of the ONNX project's backend tests; benchmarks/onnx_backend.py runs them all."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from tests.onnx_backend.backend_suite import (
    CRASH,
    FAILED,
    PASSED,
    STEPS,
    UNSUPPORTED,
    Outcome,
    case_names,
    constant_inputs,
    load_case,
    run_case,
    status_of,
)

EVERY = 8
LEAST = 160
"""Node tests of every eighth that pass."""


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return [run_case("node", name) for name in case_names("node")[::EVERY]]


def test_most_pass_and_none_is_wrong(outcomes: list[Outcome]) -> None:
    counts = Counter(outcome.status for outcome in outcomes)
    bad = [outcome for outcome in outcomes if outcome.status in (FAILED, CRASH)]
    assert not bad
    assert counts[PASSED] >= LEAST


def test_what_is_unsupported_has_a_reason(outcomes: list[Outcome]) -> None:
    assert all(one.reason for one in outcomes if one.status == UNSUPPORTED)


def test_constant_inputs_step_by_step() -> None:
    steps = constant_inputs(load_case("node", "test_gather_0"))
    assert steps == {STEPS[0]: frozenset(), STEPS[1]: frozenset({"indices"})}
    assert constant_inputs(load_case("node", "test_slice"))[STEPS[0]] == frozenset(
        {"starts", "ends", "axes", "steps"}
    )


def test_a_wrong_value_is_seen() -> None:
    case = load_case("node", "test_relu")
    ((inputs, (expected,)),) = case.data
    wrong = replace(case, data=[(inputs, [expected + np.float32(0.01)])])
    assert status_of(case) == (PASSED, "", STEPS[0])
    status, reason, _ = status_of(wrong)
    assert status == FAILED
    assert "60 of 60 values differ" in reason
