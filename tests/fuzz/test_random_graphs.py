"""Random graphs: compiled and simulated, they give what onnxruntime gives.

The suite tries 60 of single ops in F32, 30 in F16, 12 each in BF16 and INT8, and 18 of idioms;
`make fuzz` sets XDSL_TPU_FUZZ to try as many as it says, with other random numbers each time.
What failed once is kept in `kept.py`.
"""

import os

import pytest
from hypothesis import HealthCheck, assume, given, seed, settings
from hypothesis import strategies as st
from tests.fuzz.graphs import idiomatic, recipes
from tests.fuzz.kept import KEPT
from tests.fuzz.limits import limited
from tests.fuzz.recipes import Recipe, jumps
from tests.fuzz.running import check, largest

GRAPHS = int(os.environ.get("XDSL_TPU_FUZZ", "0"))
SEED = int.from_bytes(os.urandom(4)) if GRAPHS else 1


PASSES = st.sampled_from(((), (), ("layer-group",)))


MOST = 60000
"""What F16 holds, with room for rounding; INT8 computes some ops in it."""


def settings_of(graphs: int) -> settings:
    return settings(
        max_examples=GRAPHS or graphs,
        database=None,
        deadline=None,
        print_blob=False,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


@seed(SEED)
@settings_of(60)
@given(recipes(), PASSES)
def test_like_onnxruntime(recipe: Recipe, disable: tuple[str, ...]) -> None:
    with limited():
        check(recipe, disable)


@seed(SEED)
@settings_of(30)
@given(recipes(), PASSES)
def test_close_in_f16(recipe: Recipe, disable: tuple[str, ...]) -> None:
    assume(largest(recipe) < MOST)
    with limited():
        check(recipe, disable, "F16")


@seed(SEED)
@settings_of(12)
@given(recipes(), PASSES)
def test_close_in_bf16(recipe: Recipe, disable: tuple[str, ...]) -> None:
    with limited():
        check(recipe, disable, "BF16")


@seed(SEED)
@settings_of(12)
@given(recipes(), PASSES)
def test_close_in_int8(recipe: Recipe, disable: tuple[str, ...]) -> None:
    assume(largest(recipe) < MOST and not jumps(recipe))
    with limited():
        check(recipe, disable, "INT8")


@seed(SEED)
@settings_of(10)
@given(idiomatic(), PASSES)
def test_idioms_like_onnxruntime(recipe: Recipe, disable: tuple[str, ...]) -> None:
    with limited():
        check(recipe, disable)


@seed(SEED)
@settings_of(5)
@given(idiomatic(), PASSES)
def test_idioms_close_in_f16(recipe: Recipe, disable: tuple[str, ...]) -> None:
    assume(largest(recipe) < MOST)
    with limited():
        check(recipe, disable, "F16")


@seed(SEED)
@settings_of(3)
@given(idiomatic(), PASSES)
def test_idioms_close_in_int8(recipe: Recipe, disable: tuple[str, ...]) -> None:
    assume(largest(recipe) < MOST and not jumps(recipe))
    with limited():
        check(recipe, disable, "INT8")


@pytest.mark.parametrize("name", KEPT)
def test_what_failed_once(name: str) -> None:
    recipe, disable, *mode = KEPT[name]
    check(recipe, disable, *mode)
