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
    ("sAR", 1): "test_absolute_difference_and_not",
    ("sAR", 27): "test_absolute_difference_and_not",
    **{("sCMP", function): "test_comparisons" for function in (22, 25, 26)},
    **{("sCONV", function): "test_requantised_convolution" for function in (1, 2)},
    **{("sLIN", function): "test_linear" for function in (1, 20, 21)},
    ("sSG", 6): "test_scatter_in_lanes",
    **{("sVC", function): "test_vectors" for function in (0, 2, 3, 4, 5, 7, 8, 9)},
    **{("sVC", function): "test_saturating_vectors" for function in (15, 16, 20)},
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


@pytest.mark.parametrize("code", [F16, F32])
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("function", [1, 20, 21])
def test_linear(function: int, code: int, constant: bool) -> None:
    shape, dtype = (2, 70, 3, 5), DTYPES[code]
    a = _random(shape, dtype)
    b, c = (_random((1, 70, 1, 1), dtype, seed) for seed in (1, 2))
    fields = {"opd0_addr": 0x4000, "opd1_addr": 0x8000, "opd2_addr": 0x9000}
    if constant:
        b = np.full_like(b, 1.5)
        bits = int(b[0, 0, 0, 0].view(f"u{b.itemsize}"))
        fields |= {"opd1_const": 1, "opd1_addr": bits}
    command = _command("sLIN", function, res0_prec=code, **_shape("res0", shape), **fields)
    got = Run(command, {"opd0": a, "opd1": b, "opd2": c}).result(dtype)
    wanted = {1: a * b + c, 20: (a + b) * (a + b), 21: (a - b) * (a - b)}[function]
    assert np.array_equal(got, wanted)


VECTOR: dict[int, tuple[str, Any]] = {
    0: ("f4", np.multiply),
    2: ("f2", np.add),
    3: ("i2", np.subtract),
    4: ("i1", np.maximum),
    5: ("f4", np.minimum),
    7: ("i4", np.bitwise_and),
    8: ("i1", np.bitwise_or),
    9: ("i2", np.bitwise_xor),
}


@pytest.mark.parametrize("function", sorted(VECTOR))
def test_vectors(function: int) -> None:
    """All pairs of 2 * 8 + 3 and 70 * 5 elements."""
    dtype, operation = VECTOR[function]
    code = {v: k for k, v in DTYPES.items()}[dtype]
    a, b = _random((1, 3, 1, 8), dtype), _random((1, 70, 1, 5), dtype, 1)
    got = _vectors(function, code, code, a, b).result(dtype)
    left = a.reshape(-1)[:19].reshape(19, 1, 1, 1)
    assert np.array_equal(got, operation(left, b))


@pytest.mark.parametrize(
    ("function", "operation"), [(15, np.add), (16, np.subtract), (20, np.multiply)]
)
def test_saturating_vectors(function: int, operation: np.ufunc) -> None:
    a, b = _random((1, 3, 1, 8), "i1"), _random((1, 70, 1, 5), "i1", 1)
    got = _vectors(function, I8, I8, a, b).result("i1")
    left = a.reshape(-1)[:19].reshape(19, 1, 1, 1).astype(np.int64)
    assert np.array_equal(got, np.clip(operation(left, b.astype(np.int64)), -128, 127))


def _vectors(function: int, code: int, result: int, a: Array, b: Array) -> Run:
    command = _command(
        "sVC",
        function,
        opd0_sign=1,
        opd1_sign=1,
        res0_prec=result,
        opd0_prec=code,
        opd1_prec=code,
        res0_c=70,
        res0_w=5,
        opd0_c=3,
        opd0_w=8,
        opd1_w=3,
        res0_addr=0x4000,
        opd1_addr=0x2000,
    )
    pieces = a[:, :2], a[:, 2:, :, :3]  # the last block is shorter
    return Run(command, {"opd0": pieces, "opd1": b})


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


def _half_up(values: Array, amount: int) -> Array:
    return (values + (1 << amount >> 1)) >> amount


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("function", [1, 2])
def test_requantised_convolution(function: int, constant: bool) -> None:
    """1 x 1 convolution of 70 channels, an i16 bias, a right shift by 7, relu in function 2."""
    x, w = _random((1, 70, 3, 5), "i1"), _random((10, 70), "i1", 1)
    bias = _random((1, 10, 1, 1), "i2", 2)
    filters = np.zeros((1, 10, 1, 128), np.int8)
    filters[0, :, 0, :70] = w
    fields = {"opd2_addr": 0x9000}
    if constant:
        bias = np.full_like(bias, -300)
        fields = {"opd2_addr": -300 & 0xFFFF, "opd2_const": 1}
    command = _command(
        "sCONV",
        function,
        opd0_sign=1,
        opd1_sign=1,
        opd2_sign=1,
        opd3_const=1,
        res_op_x_str=1,
        res_op_y_str=1,
        opd0_c=70,
        opd0_h=3,
        opd0_w=5,
        opd1_h=1,
        opd1_w=1,
        opd0_addr=0x1000,
        opd1_addr=0x4000,
        res1_addr=7,
        **_shape("res0", (1, 10, 3, 5)),
        **fields,
    )
    got = Run(command, {"opd0": x, "opd1": filters, "opd2": bias}).result("i1")
    total = np.einsum("oc,nchw->nohw", w.astype(np.int64), x.astype(np.int64)) + bias
    wanted = np.clip(_half_up(total, 7), 0 if function == 2 else -128, 127)
    assert np.array_equal(got, wanted)


@pytest.mark.parametrize("function", [22, 25, 26])
def test_comparisons(function: int) -> None:
    shape = (1, 70, 1, 9)
    a, b, c, d = (_random(shape, "f4", seed) for seed in range(4))
    command = _command(
        "sCMP",
        function,
        opd0_prec=F32,
        opd2_prec=F32,
        opd0_sign=1,
        opd0_addr=0x1000,
        opd1_addr=0x2000,
        opd2_addr=0x3000,
        opd3_addr=0x4000,
        res1_addr=0x5000,
        **_shape("res0", shape),
    )
    run = Run(command, {"opd0": a, "opd1": b, "opd2": c, "opd3": d})
    condition = a > b if function == 22 else a < b
    if function == 26:
        assert np.array_equal(run.result("f4"), np.where(condition, c, d))
        return
    assert np.array_equal(run.result("f4"), np.where(condition, a, b))
    assert np.array_equal(run.result("f4", "res1"), np.where(condition, c, d))


def test_absolute_difference_and_not() -> None:
    shape = (1, 70, 2, 3)
    a, b = _random(shape, "f2"), _random(shape, "f2", 1)
    fields = {"opd0_addr": 0x1000, "opd1_addr": 0x2000, **_shape("res0", shape)}
    precisions = {"res0_prec": F16, "opd0_prec": F16, "opd1_prec": F16}
    command = _command("sAR", 27, tsk_opd_num=2, **precisions, **fields)
    assert np.array_equal(Run(command, {"opd0": a, "opd1": b}).result("f2"), np.abs(a - b))
    bits = _random(shape, "i2")
    command = _command("sAR", 1, tsk_opd_num=1, res0_prec=I16, opd0_prec=I16, **fields)
    assert np.array_equal(Run(command, {"opd0": bits}).result("i2"), ~bits)


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


def test_depthwise_with_a_shift() -> None:
    x, kernel = _random((1, 70, 3, 5), "i1"), _random((1, 70, 1, 1), "i1", 1)
    command = _command(
        "sPorD",
        0,
        opd0_sign=1,
        opd1_sign=1,
        opd2_const=1,
        opd3_const=1,
        opd2_n_str=1,
        res_op_x_str=1,
        res_op_y_str=1,
        opd0_h=3,
        opd0_w=5,
        opd1_h=1,
        opd1_w=1,
        opd0_addr=0x1000,
        opd1_addr=0x4000,
        res1_addr=4,
        **_shape("res0", (1, 70, 3, 5)),
    )
    got = Run(command, {"opd0": x, "opd1": kernel}).result("i1")
    total = x.astype(np.int64) * kernel
    rounded = np.sign(total) * ((np.abs(total) + 8) >> 4)
    assert np.array_equal(got, np.clip(rounded, -128, 127))


@pytest.mark.parametrize(
    ("form", "function"),
    [("AR", 0), ("sAR", 18), ("sRQ_DQ", 5), ("sVC", 12), ("DMA_nonzero", 0), ("sDMA_matrix", 0)],
)
def test_the_rest_is_refused_by_name(form: str, function: int) -> None:
    command = _command(form, function, **({} if form.startswith("s") or form == "AR" else MASK))
    with pytest.raises(TpuError, match=f"{form} .*this form and function is not simulated"):
        Machine(CHIP).execute(command)


def test_every_unverified_function_is_tested() -> None:
    assert set(EXECUTORS) >= UNVERIFIED_FUNCTIONS
    assert set(COVERED) == UNVERIFIED_FUNCTIONS
    assert all(callable(globals().get(test)) for test in COVERED.values())
