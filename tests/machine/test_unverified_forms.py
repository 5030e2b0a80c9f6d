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
I8, F16, F32, I16, I32 = 0, 1, 2, 3, 4
MASK = {"localmem_mask_l32": 0xFFFF_FFFF, "localmem_mask_h32": 0xFFFF_FFFF}
DTYPES = {I8: "i1", F16: "f2", F32: "f4", I16: "i2", I32: "i4"}

COVERED: dict[tuple[str, int], str] = {
    ("sSG", 6): "test_scatter_in_lanes",
    **{("DMA_tensor", function): "test_collect_and_distribute" for function in (2, 4)},
    ("DMA_gather", 0): "test_gather",
    ("DMA_scatter", 0): "test_scatter",
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


def _shape(name: str, shape: tuple[int, ...]) -> dict[str, int]:
    return {f"{name}_{axis}": size for axis, size in zip("nchw", shape, strict=True)}


@pytest.mark.parametrize(
    ("function", "operation"), [(15, np.add), (16, np.subtract), (20, np.multiply)]
)
def _rows(
    function: str, shape: tuple[int, int, int], index: Array, rows: int, local: bool
) -> Command:
    c, h, w = shape
    target = CHIP.local_base + 0x4000 if local else CHIP.ddr_base + 0x10000
    source, indices = CHIP.ddr_base, CHIP.ddr_base + 0x8000
    fields: dict[str, int] = {}
    for side, address in (("src", source), ("dst", target), ("index", indices)):
        fields[f"{side}_start_addr_l32"] = address & 0xFFFF_FFFF
        fields[f"{side}_start_addr_h8"] = address >> 32
    return _command(
        function,
        0,
        stride_enable=1,
        src_data_format=F16,
        constant_value=0x3C00,
        src_cstride=h * w,
        src_hstride=w,
        dst_cstride=rows * w,
        dst_hstride=w,
        index_cstride=index.shape[2],
        index_hstride=1,
        src_csize=c,
        src_hsize=h,
        src_wsize=w,
        dst_csize=max(c, index.shape[1]),
        dst_hsize=rows,
        dst_wsize=w,
        index_csize=index.shape[1],
        index_hsize=index.shape[2],
        **fields,
        **MASK,
    )


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("channels", [(3, 1), (1, 3), (3, 3), (70, 1)])
def test_gather(channels: tuple[int, int], local: bool) -> None:
    """Rows out of range become the constant (1.0)."""
    c = max(channels)
    source = _random((1, channels[0], 9, 4), "f2")
    index = np.random.default_rng(5).integers(0, 12, (1, channels[1], 6, 1)).astype(np.uint32)
    command = _rows("DMA_gather", (channels[0], 9, 4), index, 6, local)
    got = Run(command, {"src": source, "index": index}).result("f2", "dst")
    padded = np.concatenate([source[0], np.ones((channels[0], 3, 4), "f2")], axis=1)
    for channel in range(c):
        rows = index[0, channel % channels[1], :, 0]
        assert np.array_equal(got[0, channel], padded[channel % channels[0]][rows])


@pytest.mark.parametrize("local", [False, True])
def test_scatter(local: bool) -> None:
    """Rows that no index names keep their values; out of range is skipped."""
    source = _random((1, 3, 4, 8), "f2")
    index = np.array([5, 0, 99, 2], np.uint32).reshape(1, 1, 4, 1)
    old = _random((1, 3, 6, 8), "f2", 7)
    command = _rows("DMA_scatter", (3, 4, 8), index, 6, local)
    got = Run(command, {"src": source, "index": index, "dst": old}).result("f2", "dst")
    wanted = old.copy()
    for i, row in enumerate((5, 0, None, 2)):
        if row is not None:
            wanted[0, :, row] = source[0, :, i]
    assert np.array_equal(got, wanted)


@pytest.mark.parametrize("function", [2, 4])
def test_collect_and_distribute(function: int) -> None:
    """(n, c, h, w) to (n, w, h, c), from and to local memory."""
    n, c, h, w = 1, 6, 3, 20
    here, there = CHIP.local_base + 0x4000, CHIP.ddr_base
    source, target = (here, there) if function == 2 else (there, here)
    fields: dict[str, int] = {}
    for side, address in (("src", source), ("dst", target)):
        fields[f"{side}_start_addr_l32"] = address & 0xFFFF_FFFF
        fields[f"{side}_start_addr_h8"] = address >> 32
    command = _command(
        "DMA_tensor",
        function,
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


def test_scatter_in_lanes() -> None:
    """sSG 6 is 14 without its bank rules; 16-bit indices reach more than 256 elements."""
    source = _random((1, 66, 1, 5), "i1")
    index = np.array([300, 2, 0, 299, 7], np.uint16).reshape(1, 1, 1, 5)
    index = np.repeat(index, 66, 1)
    old = _random((1, 66, 1, 301), "i1", 3)
    command = _command(
        "sSG",
        6,
        opd0_w=5,
        opd1_c=66,
        opd1_w=5,
        opd1_prec=I16,
        res0_addr=0x4000,
        opd1_addr=0x1000,
        **_shape("res0", (1, 66, 1, 301)),
    )
    got = Run(command, {"opd0": source, "opd1": index, "res0": old}).result("i1")
    wanted = old.copy()
    wanted[..., index[0, 0, 0]] = source
    assert np.array_equal(got, wanted)


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
