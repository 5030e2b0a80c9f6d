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
    case_names,
    constant_inputs,
    load_case,
    run_case,
    status_of,
)

EVERY, PARTS = 16, 2
LEAST = 40
"""Node tests of every sixteenth that pass, in each of the parts that may run side by side."""


@pytest.mark.parametrize("part", range(PARTS))
def test_most_pass_and_none_is_wrong(part: int) -> None:
    names = case_names("node")[part * EVERY :: PARTS * EVERY]
    outcomes = [run_case("node", name) for name in names]
    assert not [one for one in outcomes if one.status in (FAILED, CRASH)]
    assert all(one.reason for one in outcomes if one.status == UNSUPPORTED)
    assert Counter(one.status for one in outcomes)[PASSED] >= LEAST


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
