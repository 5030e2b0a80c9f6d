"""Random graphs on chips of little memory: slices, tiles and values in DDR where usual chips need
none.

A few lanes of 8 or 16 KiB hold hardly more than one tensor of these graphs. The suite tries 12 in
F32, 6 each in F16 and INT8; `make fuzz` sets XDSL_TPU_FUZZ to try as many as it says. A refusal
is a failure, too: 8 KiB are enough for a slice of any of these ops.
"""

from pathlib import Path

import pytest
from hypothesis import assume, given, seed
from hypothesis import strategies as st
from tests.fuzz.graphs import idiomatic, recipes
from tests.fuzz.kept_small import KEPT_SMALL
from tests.fuzz.limits import limited
from tests.fuzz.recipes import Recipe, jumps
from tests.fuzz.running import check, largest
from tests.fuzz.test_random_graphs import MOST, PASSES, SEED, settings_of
from tests.tools.test_custom_chip import describe

SMALL = {
    "4 lanes of 8 KiB": {"count = 64": "count = 4", "eu_bytes = 64": "eu_bytes = 4"},
    "8 lanes, much faster DDR": {
        "count = 64": "count = 8",
        "eu_bytes = 64": "eu_bytes = 8",
        "load = 58": "load = 1000",
    },
    "4 lanes, slow DDR": {
        "count = 64": "count = 4",
        "eu_bytes = 64": "eu_bytes = 4",
        "load = 58": "load = 4",
    },
    "16 lanes of 8 KiB": {"count = 64": "count = 16", "eu_bytes = 64": "eu_bytes = 16"},
    "4 lanes of 16 KiB": {
        "262144": "16384",
        "count = 64": "count = 4",
        "eu_bytes = 64": "eu_bytes = 4",
    },
}
"""Widths and lanes are as many elements, so that every matrix can be transposed."""

USUAL = {"262144": "8192"}

CHOSEN = st.sampled_from(tuple(SMALL))
GRAPHS = recipes(8) | idiomatic()


@pytest.fixture(scope="module")
def chips(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Descriptions by name."""
    folder: Path = tmp_path_factory.mktemp("chips")
    return {
        name: str(describe(folder / f"chip{number}.toml", USUAL | changes, "SMALL"))
        for number, (name, changes) in enumerate(SMALL.items())
    }


@seed(SEED)
@settings_of(12)
@given(GRAPHS, PASSES, CHOSEN)
def test_like_onnxruntime(
    chips: dict[str, str], recipe: Recipe, disable: tuple[str, ...], chip: str
) -> None:
    with limited():
        check(recipe, disable, "F32", chips[chip])


@seed(SEED)
@settings_of(6)
@given(GRAPHS, PASSES, CHOSEN)
def test_close_in_f16(
    chips: dict[str, str], recipe: Recipe, disable: tuple[str, ...], chip: str
) -> None:
    assume(largest(recipe) < MOST)
    with limited():
        check(recipe, disable, "F16", chips[chip])


@seed(SEED)
@settings_of(6)
@given(GRAPHS, PASSES, CHOSEN)
def test_close_in_int8(
    chips: dict[str, str], recipe: Recipe, disable: tuple[str, ...], chip: str
) -> None:
    assume(largest(recipe) < MOST and not jumps(recipe))
    with limited():
        check(recipe, disable, "INT8", chips[chip])


@pytest.mark.parametrize("name", KEPT_SMALL)
def test_what_failed_once(name: str, chips: dict[str, str]) -> None:
    kept = KEPT_SMALL[name]
    check(kept.recipe, kept.disable, kept.mode, chips[kept.chip])
