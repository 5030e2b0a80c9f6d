"""Commands of the BM1688 against the vendor's C model of it, bit by bit."""

from pathlib import Path

import pytest
from golden_vectors import Vector, mismatches, prepare, results, vectors

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.isa import load_instruction_set
from xdsl_tpu.backend.isa.codes import DmaTensor, TransBc
from xdsl_tpu.backend.machine import Machine
from xdsl_tpu.backend.machine.table import executors_of
from xdsl_tpu.backend.operands import accesses

_FOLDER = Path(__file__).parents[1] / "data" / "golden" / "bm1688"
_VECTORS = list(vectors(_FOLDER, load_instruction_set("bm1688")))
_BY_BLAS = {"sCONV", "sMM", "sMM2"}
"""Forms whose float sums differ between the numerics modes."""

_MARKERS = ("SYSID", "sDMA_sys", "SYS_TR_ACC")

UNRECORDED = {
    ("DMA_tensor", DmaTensor.COLLECT),
    ("sTRANS_BC", TransBc.STATIC_BROADCAST),
}


@pytest.fixture(scope="module")
def exact() -> Machine:
    return Machine(load_chip("bm1688"), "exact")


@pytest.fixture(scope="module")
def fast() -> Machine:
    return Machine(load_chip("bm1688"), "fast")


@pytest.mark.parametrize("vector", _VECTORS, ids=lambda v: f"{v.form}-{v.function}-{v.name}")
def test_vector(exact: Machine, fast: Machine, vector: Vector) -> None:
    """Results have the recorded bits; in the fast mode, too, where no products are summed."""
    exact.memory.local.bytes[:] = 0xA5
    prepare(exact, vector)
    exact.execute(vector.command)
    found = results(exact, vector)
    assert [int((got != wanted).sum()) for _, got, wanted in found] == [0] * len(found)
    if vector.form in _BY_BLAS or "edge" in vector.name:
        return
    prepare(fast, vector)
    fast.execute(vector.command)
    for dtype, got, wanted in results(fast, vector):
        assert (got == wanted).all() or not mismatches(got, wanted, dtype)


def test_what_is_declared_of_operands_is_what_was_recorded() -> None:
    """Every recorded result is a declared one, and the other way round."""
    chip = load_chip("bm1688")
    for vector in _VECTORS:
        written = sum(access.writes for access in accesses(vector.command, chip))
        assert written == len(vector.entry["outputs"]), vector.name


def test_most_that_is_simulated_is_recorded() -> None:
    covered = {(vector.form, vector.function) for vector in _VECTORS}
    markers = {key for key in executors_of("bm1688") if key[0] in _MARKERS}
    assert set(executors_of("bm1688")) - markers - covered == UNRECORDED
    assert len(_VECTORS) >= 600
