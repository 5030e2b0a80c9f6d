"""Commands simulated from documentation alone, against numpy.

Operands are placed where `backend.operands` says they lie, so that the machine and those rules are
held to each other: the bytes that change must be the ones a rule calls written.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.isa import FORMS, Command, decode, encode
from xdsl_tpu.backend.machine import Machine
from xdsl_tpu.backend.machine.memory import Placed
from xdsl_tpu.backend.machine.status import UNVERIFIED_FUNCTIONS, is_unverified
from xdsl_tpu.backend.machine.table import EXECUTORS
from xdsl_tpu.backend.operands import Access, accesses
from xdsl_tpu.backend.timing import tiu_cycles, transfer
from xdsl_tpu.dialects.errors import TpuError

Array = npt.NDArray[Any]
CHIP = load_chip("bm1684x")
F16 = 1
MASK = {"localmem_mask_l32": 0xFFFF_FFFF, "localmem_mask_h32": 0xFFFF_FFFF}

COVERED: dict[tuple[str, int], str] = {
    ("DMA_tensor", 2): "test_collect",
}
"""The test of each function that no recording covers."""


def _command(form: str, function: int, **fields: int) -> Command:
    """A command as it comes out of a file: encoded and decoded."""
    kind = FORMS[form]
    raw = encode(Command(kind, {"cmd_id": 1, kind.function_field: function, **fields}))
    return decode(raw, kind.engine)


@dataclass
class Run:
    """A command with the arrays that its operands hold, by name; one per piece of an operand."""

    command: Command
    operands: dict[str, Array | tuple[Array, ...]]

    def result(self, dtype: str, name: str = "res0") -> Array:
        """What the command leaves in the written operand `name`."""
        command = self.command
        assert is_unverified(command)
        machine = Machine(CHIP)
        rng = np.random.default_rng(1)
        machine.memory.local.bytes[:] = rng.integers(0, 256, machine.memory.local.bytes.size)
        found = accesses(command, CHIP)
        self._write(machine, found)
        before = machine.memory.local.bytes.copy()
        machine.execute(command)
        changed = machine.memory.local.bytes != before
        assert not changed[~_written(found)].any()
        self._costs_something()
        (target,) = (a for a in found if a.operand == name and a.writes)
        return _placed(machine, target, np.dtype(dtype)).read().copy()

    def _write(self, machine: Machine, found: tuple[Access, ...]) -> None:
        for name, values in self.operands.items():
            pieces = values if isinstance(values, tuple) else (values,)
            places = [a for a in found if a.operand == name and not a.writes]
            for access, piece in zip(places, pieces, strict=bool(places)):
                _placed(machine, access, piece.dtype).write(piece)

    def _costs_something(self) -> None:
        if self.command.form.name.startswith("DMA"):
            assert transfer(self.command, CHIP).cycles >= 1
        else:
            assert tiu_cycles(self.command, CHIP) >= 1


def _placed(machine: Machine, access: Access, dtype: np.dtype[Any]) -> Placed:
    assert dtype.itemsize == access.size
    if access.local:
        return machine.memory.local.place(access.address, access.shape, access.strides, dtype)
    return machine.memory.place(access.address, access.shape, access.strides, dtype)


def _written(found: tuple[Access, ...]) -> npt.NDArray[np.bool_]:
    """The bytes of local memory that the operand rules call written."""
    shadow = Machine(CHIP)
    shadow.memory.local.bytes[:] = 0
    for access in found:
        if access.writes and access.local:
            ones = np.full(access.shape, -1, f"i{access.size}")
            _placed(shadow, access, ones.dtype).write(ones)
    return shadow.memory.local.bytes != 0


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
    command = _command(
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
    command = _command(form, function, **({} if form.startswith("s") or form == "AR" else MASK))
    with pytest.raises(TpuError, match=f"{form} .*this form and function is not simulated"):
        Machine(CHIP).execute(command)


def test_every_unverified_function_is_tested() -> None:
    assert set(EXECUTORS) >= UNVERIFIED_FUNCTIONS
    assert set(COVERED) == UNVERIFIED_FUNCTIONS
    assert all(callable(globals().get(test)) for test in COVERED.values())
