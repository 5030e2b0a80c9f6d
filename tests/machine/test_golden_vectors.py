"""Every simulated command against the vendor's C model, bit by bit.

The vectors in tests/data/golden (unit, more) run by default; the environment variable
XDSL_TPU_GOLDEN names other folders with an index.json (separated like PATH) for the full set.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from golden_vectors import Array, Vector, mismatches, prepare, results, values, vectors
from tests.bm1684x import EXECUTORS

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.machine import Machine, Numerics
from xdsl_tpu.backend.machine.status import UNVERIFIED_FUNCTIONS, is_unverified

_DATA = Path(__file__).parents[1] / "data" / "golden"
_SHIPPED = os.pathsep.join(str(_DATA / name) for name in ("unit", "more"))
_FOLDERS = os.environ.get("XDSL_TPU_GOLDEN", _SHIPPED).split(os.pathsep)
_VECTORS = [vector for folder in _FOLDERS for vector in vectors(Path(folder))]

_BLAS_FORMS = {"sCONV", "sMM", "sMM2"}
"""Forms whose float sums differ between the numerics modes."""

_FLOAT_CODES = {1, 2, 5}
_ULP = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23}
_SMALLEST_F16 = 2.0**-24
_F32_NOISE = 2e-6
_GARBAGE = 0xA5


@pytest.fixture(scope="module", params=["exact", "fast"])
def numerics(request: pytest.FixtureRequest) -> Numerics:
    return request.param


@pytest.fixture(scope="module")
def machine(numerics: Numerics) -> Machine:
    return Machine(load_chip("bm1684x"), numerics)


@pytest.mark.parametrize("vector", _VECTORS, ids=lambda v: f"{v.form}-{v.function}-{v.name}")
def test_vector(machine: Machine, numerics: Numerics, vector: Vector) -> None:
    machine.memory.local.bytes[:] = _GARBAGE
    prepare(machine, vector)
    machine.execute(vector.command)
    found = results(machine, vector)
    if numerics == "exact":  # NaNs and signs of zeros too
        assert [int((got != wanted).sum()) for _, got, wanted in found] == [0] * len(found)
        return
    if _only_exact(vector):
        return
    if vector.form not in _BLAS_FORMS:
        assert [mismatches(got, wanted, dtype) for dtype, got, wanted in found] == [0] * len(found)
        return
    magnitudes = _magnitudes(machine, vector)
    for (dtype, got, wanted), total in zip(found, magnitudes, strict=True):
        want = values(wanted, dtype)
        limit = _F32_NOISE * total + _ULP.get(dtype, 0.0) * np.abs(want) + _SMALLEST_F16
        with np.errstate(invalid="ignore"):  # infinities and NaNs must have the same bits
            error = np.abs(values(got, dtype) - want)
        assert np.all((got == wanted) | (error <= limit))


def _only_exact(vector: Vector) -> bool:
    """Edge values: fast numerics use subnormals of f32 and bf16, and BLAS has NaNs of its own."""
    plain = vector.name.endswith("_f16") and vector.form not in _BLAS_FORMS
    return vector.name.startswith("cm_edge") and not plain


def _magnitudes(machine: Machine, vector: Vector) -> list[Array]:
    """The sum of the products' magnitudes: what the machine computes without signs."""
    if vector.command["opd0_prec"] not in _FLOAT_CODES:
        return [np.zeros(())] * len(vector.entry["outputs"])
    machine.memory.local.bytes[:] = 0
    prepare(machine, vector, clear=1)
    machine.execute(vector.command)
    totals = [values(got, dtype) for dtype, got, _ in results(machine, vector)]
    return [np.where(np.isfinite(total), total, 0.0) for total in totals]


def test_every_executor_has_a_vector() -> None:
    covered = {(vector.form, vector.function) for vector in vectors(_DATA / "unit")}
    markers = {key for key in EXECUTORS if key[0] in ("SYSID", "sDMA_sys")}
    assert covered == set(EXECUTORS) - markers - UNVERIFIED_FUNCTIONS


def test_recorded_commands_are_not_called_unverified() -> None:
    assert [v.name for v in _VECTORS if is_unverified(v.command)] == []
