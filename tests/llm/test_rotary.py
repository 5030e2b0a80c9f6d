"""What rotary scalings say that no model of `test_scaled.py` shows, and what is refused."""

from typing import Any

import numpy as np
import pytest

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.llm.rotary import SCALINGS, Rotary, rotary_of

PAIRS = 16
LONG = {"type": "longrope", "original_max_position_embeddings": 32, "short_factor": [1.0] * PAIRS}


def made(scaling: dict[str, Any], head: int = 2 * PAIRS, positions: int = 64) -> Rotary:
    return rotary_of({"rope_scaling": scaling}, head, positions, "full_attention")


def turns(rotary: Rotary, length: int = 8) -> np.ndarray[Any, Any]:
    return SCALINGS[rotary.kind](rotary, length)[0]


@pytest.mark.parametrize("factor", [1.0, 2.0, 8.0])
def test_ntk_slows_the_slowest_pair_by_the_factor(factor: float) -> None:
    """And the fastest not at all, whatever the length; those between by powers of it."""
    plain, scaled = turns(made({})), turns(made({"type": "ntk", "factor": factor}))
    exponents = np.arange(PAIRS) / (PAIRS - 1)
    np.testing.assert_allclose(scaled, plain * factor**-exponents, rtol=1e-5)
    rotary = made({"type": "ntk", "factor": factor})
    np.testing.assert_array_equal(turns(rotary, 1), turns(rotary, 1000))
    assert rotary.reach == 64 * factor


@pytest.mark.parametrize("kind", ["ntk", "dynamic"])
def test_a_single_pair_turns_as_ever(kind: str) -> None:
    rotary = made({"type": kind, "factor": 4.0}, head=2)
    assert turns(rotary, 200).tolist() == [1.0]


def test_older_names_of_longrope() -> None:
    for kind in ("su", "yarn"):
        found = made({**LONG, "type": kind, "long_factor": [2.0] * PAIRS})
        assert found.kind == "longrope"


@pytest.mark.parametrize(
    ("scaling", "said"),
    [
        ({"type": "spiral"}, "rotary scaling 'spiral' is not supported"),
        ({"type": "linear"}, "needs 'factor'"),
        ({"type": "linear", "factor": 0}, "'factor' is not above 0"),
        ({"type": "dynamic", "factor": -2}, "'factor' is not above 0"),
        (LONG, "needs 16 numbers in 'long_factor'"),
        ({**LONG, "long_factor": [2.0] * 15}, "needs 16 numbers in 'long_factor'"),
        ({**LONG, "long_factor": [0.0] * PAIRS}, "no finite angles"),
        (
            {"type": "llama3", "factor": 2, "low_freq_factor": 4, "high_freq_factor": 4},
            "'low_freq_factor' is not below",
        ),
        ({"type": "yarn", "factor": 2, "original_max_position_embeddings": 0}, "not above 0"),
    ],
)
def test_what_is_refused(scaling: dict[str, Any], said: str) -> None:
    """When the model is read, not when a long sequence is."""
    with pytest.raises(TpuError, match=said):
        made(scaling)


def test_pairs() -> None:
    with pytest.raises(TpuError, match="they come in pairs"):
        made({}, head=7)
