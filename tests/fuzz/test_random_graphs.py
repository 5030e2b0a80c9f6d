"""Random graphs: compiled in F32 and simulated, they give what onnxruntime gives.

The suite tries 300; `make fuzz` sets XDSL_TPU_FUZZ to try as many as it says, with other random
numbers each time. What failed once is kept in `kept.py`.
"""

import os

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from tests.fuzz.kept import KEPT
from tests.fuzz.recipes import Recipe
from tests.fuzz.running import check
from tests.fuzz.strategies import recipes

GRAPHS = int(os.environ.get("XDSL_TPU_FUZZ", "0"))


@seed(int.from_bytes(os.urandom(4)) if GRAPHS else 1)
@settings(
    max_examples=GRAPHS or 300,
    database=None,
    deadline=None,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(recipes(), st.sampled_from(((), (), ("layer-group",))))
def test_like_onnxruntime(recipe: Recipe, disable: tuple[str, ...]) -> None:
    check(recipe, disable)


@pytest.mark.parametrize("name", KEPT)
def test_what_failed_once(name: str) -> None:
    recipe, disable = KEPT[name]
    check(recipe, disable)
