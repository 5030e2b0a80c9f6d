"""Commands simulated from documentation alone, against numpy."""

import numpy as np
import pytest
from tests.bm1684x import EXECUTORS
from unverified_runs import CHIP, Array, Run, make_command

from xdsl_tpu.backend.machine import Machine
from xdsl_tpu.backend.machine.status import UNVERIFIED_FUNCTIONS
from xdsl_tpu.dialects.errors import TpuError

F16 = 1
MASK = {"localmem_mask_l32": 0xFFFF_FFFF, "localmem_mask_h32": 0xFFFF_FFFF}

COVERED: dict[tuple[str, int], str] = {
    ("DMA_tensor", 2): "test_collect",
}
"""The test of each function that no recording covers."""


def _random(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


def test_collect() -> None:
    """(n, c, h, w) to (n, w, h, c), from local memory."""
    n, c, h, w = 1, 6, 3, 20
    source, target = CHIP.local_base + 0x4000, CHIP.ddr_base
    fields: dict[str, int] = {}
    for side, address in (("src", source), ("dst", target)):
        fields[f"{side}_start_addr_l32"] = address & 0xFFFF_FFFF
        fields[f"{side}_start_addr_h8"] = address >> 32
    command = make_command(
        "DMA_tensor",
        2,
        src_data_format=F16,
        src_nsize=n,
        src_csize=c,
        src_hsize=h,
        src_wsize=w,
        **fields,
        **MASK,
    )
    values = _random((n, c, h, w), "f2")
    got = Run(command, {"src": values}).result("f2", "dst")
    assert np.array_equal(got, values.transpose(0, 3, 2, 1))


@pytest.mark.parametrize(
    ("form", "function"),
    [("AR", 0), ("sAR", 18), ("sRQ_DQ", 5), ("sSG", 7), ("DMA_nonzero", 0), ("sDMA_matrix", 0)],
)
def test_the_rest_is_refused_by_name(form: str, function: int) -> None:
    command = make_command(form, function, **({} if form.startswith("s") or form == "AR" else MASK))
    with pytest.raises(TpuError, match=f"{form} .*this form and function is not simulated"):
        Machine(CHIP).execute(command)


def test_every_unverified_function_is_tested() -> None:
    assert set(EXECUTORS) >= UNVERIFIED_FUNCTIONS
    assert set(COVERED) == UNVERIFIED_FUNCTIONS
    assert all(callable(globals().get(test)) for test in COVERED.values())
