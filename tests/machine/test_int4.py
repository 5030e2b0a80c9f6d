"""int4 operands, and int16 ones of convolutions, against numpy: no recording covers them."""

import numpy as np
import numpy.typing as npt
import pytest
from unverified_runs import CHIP, Array, Run, make_command

from xdsl_tpu.backend.machine import Machine
from xdsl_tpu.backend.machine.status import is_unverified
from xdsl_tpu.backend.operands import accesses
from xdsl_tpu.backend.timing import tiu_cycles
from xdsl_tpu.dialects.errors import TpuError

I8, F16, I16, I32, I4 = 0, 1, 3, 4, 6
MATRICES = {"res0_addr": 0x8000, "opd1_addr": 0x4000, "opd2_const": 1, "opd0_prec": I4}
SIGNS = [(1, 1), (0, 1), (0, 0)]


def _values(shape: tuple[int, ...], signed: int, seed: int) -> npt.NDArray[np.int64]:
    low = -8 if signed else 0
    return np.random.default_rng(seed).integers(low, low + 16, shape)


def _packed(values: Array) -> Array:
    """(n, c, h, w) as bytes (n, c, 1, b): the earlier element in the low half."""
    n, c, h, w = values.shape
    flat = np.zeros((n, c, 1, -(-h * w // 2) * 2), np.uint8)
    flat[:, :, 0, : h * w] = values.reshape(n, c, h * w) & 15
    return flat[..., 0::2] | flat[..., 1::2] << 4


def _unpacked(packed: Array, shape: tuple[int, ...], signed: int) -> Array:
    n, c, h, w = shape
    halves = np.stack([packed & 15, packed >> 4], -1).reshape(n, c, -1)[..., : h * w]
    values = halves.reshape(shape).astype(np.int64)
    return (values ^ 8) - 8 if signed else values


@pytest.mark.parametrize(("sign0", "sign1"), SIGNS)
@pytest.mark.parametrize("function", [4, 5, 6])
def test_matrices_by_rows(function: int, sign0: int, sign1: int) -> None:
    m, k, n, zero_point = 70, 137, 21, 3
    left, right = _values((m, k), sign0, 1), _values((k, n), sign1, 2)
    if function == 6:  # opd1 x opd0
        left, right = _values((m, k), sign1, 1), _values((k, n), sign0, 2)
    wanted = left @ (right - zero_point) if function != 6 else (left - zero_point) @ right
    stored = {4: (left, right), 5: (left, right.T), 6: (right, left)}[function]
    opd0, opd1 = (_packed(matrix[None, :, None]) for matrix in stored)
    depth = {"opd1_c": k} if function == 4 else {"opd1_w": k}
    command = make_command(
        "sMM2",
        function,
        **MATRICES | depth,
        res0_c=m,
        res0_w=n,
        res0_prec=I32,
        opd0_sign=sign0,
        opd1_sign=sign1,
        opd2_addr=zero_point,
    )
    got = Run(command, {"opd0": opd0, "opd1": opd1}).result("i4")
    assert np.array_equal(got[0, :, 0], wanted)


@pytest.mark.parametrize(("sign0", "sign1"), SIGNS)
@pytest.mark.parametrize("function", [1, 2])
def test_matrices_in_blocks(function: int, sign0: int, sign1: int) -> None:
    rows, blocks, width, last, out_blocks, out_width = 5, 3, 32, 21, 2, 18
    depth = (blocks - 1) * width + last
    left, right = _values((rows, depth), sign0, 3), _values((depth, 36), sign1, 4)
    full = left[:, :-last].reshape(rows, blocks - 1, 1, width)
    opd0 = (_packed(full), _packed(left[:, None, None, -last:]))
    opd1 = _packed(right.reshape(depth, out_blocks, 1, out_width))
    bias, shift = 9, 4
    command = make_command(
        "sMM",
        function,
        **MATRICES,
        res0_c=out_blocks,
        res0_w=out_width,
        res0_prec=I32 if function == 1 else I8,
        opd0_n=rows,
        opd0_c=blocks,
        opd0_w=width,
        opd1_w=last,
        opd0_sign=sign0,
        opd1_sign=sign1,
        opd2_addr=bias if function == 2 else 0,
        opd3_addr=shift << 8 if function == 2 else 0,
    )
    got = Run(command, {"opd0": opd0, "opd1": opd1}).result("i4" if function == 1 else "i1")
    wanted = left @ right
    if function == 2:
        wanted = np.clip((wanted + bias + (1 << shift - 1)) >> shift, -128, 127)
    assert np.array_equal(got.reshape(rows, -1), wanted)


def _int16(values: Array) -> Array:
    return values.astype(np.int16)


def _convolution(inputs: Array, weights: Array, pad_value: int) -> Array:
    """3 x 3, stride 1, one row and column of padding on every side."""
    padded = np.pad(inputs, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=pad_value)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return np.einsum("nihwyx,oiyx->nohw", windows, weights)


@pytest.mark.parametrize(
    ("code", "function", "sign0"), [(I4, 0, 1), (I4, 0, 0), (I4, 1, 1), (I4, 2, 0), (I16, 0, 1)]
)
def test_convolution(code: int, function: int, sign0: int) -> None:
    n, ic, oc, h, w = 2, 130, 66, 5, 7
    cube = {I4: 128, I16: 32}[code]
    channels = -(-ic // cube) * cube
    inputs, weights = _values((n, ic, h, w), sign0, 5), _values((oc, ic, 3, 3), 1, 6)
    blocks = np.full((oc, channels, 9), 5)  # what fills the last block must not matter
    blocks[:, :ic] = weights.reshape(oc, ic, 9)
    table = blocks.reshape(oc, -1, cube, 9).swapaxes(2, 3).reshape(1, oc, 1, -1)
    zero_point, bias, shift, pad_value = -2, 9, 6, 3 if function == 0 else 0
    command = make_command(
        "sCONV",
        function,
        res0_n=n,
        res0_c=oc,
        res0_h=h,
        res0_w=w,
        opd0_c=ic,
        opd0_h=h,
        opd0_w=w,
        opd1_h=3,
        opd1_w=3,
        res_op_x_str=1,
        res_op_y_str=1,
        **{f"opd0_{side}_pad": 1 for side in ("up", "dn", "lf", "rt")},
        res0_addr=0x8000,
        opd1_addr=0x10000,
        opd0_prec=code,
        res0_prec=I8 if function else I32,
        opd0_sign=sign0,
        opd1_sign=1,
        opd2_const=1,
        opd2_sign=1,
        opd2_addr=bias if function else zero_point & (15 if code == I4 else 0xFFFF),
        opd3_const=1,
        opd3_addr=shift if function else pad_value,
    )
    operands = {"opd0": inputs, "opd1": table}
    pack = {I4: _packed, I16: _int16}[code]
    run = Run(command, {name: pack(values) for name, values in operands.items()})
    if function == 0:
        wanted = _convolution(inputs, weights - zero_point, pad_value)
    else:
        total = (_convolution(inputs, weights, 0) + bias + (1 << shift - 1)) >> shift
        wanted = np.clip(total, *((-128, 127) if function == 1 else (0, 255)))
    dtype = {0: "i4", 1: "i1", 2: "u1"}[function]
    assert np.array_equal(run.result(dtype), wanted)


SHAPE = (2, 67, 3, 5)
"""Channels of 15 elements: half a byte is left over."""

DTYPES = {I8: ("u1", "i1"), I16: ("u2", "i2"), I32: ("u4", "i4"), F16: ("f2", "f2")}


def _elementwise(function: int, **fields: int) -> dict[str, int]:
    sizes = dict(zip(("res0_n", "res0_c", "res0_h", "res0_w"), SHAPE, strict=True))
    return {"tsk_opd_num": 1, "res0_addr": 0x8000, "tsk_eu_typ": function, **sizes, **fields}


@pytest.mark.parametrize("signed", [0, 1])
@pytest.mark.parametrize("code", DTYPES)
def test_casts_from_int4(code: int, signed: int) -> None:
    values = _values(SHAPE, signed, 7)
    fields = _elementwise(14, opd0_prec=I4, opd0_sign=signed, res0_prec=code, opd2_sign=1)
    got = Run(make_command("sAR", 14, **fields), {"opd0": _packed(values)}).result(DTYPES[code][1])
    assert np.array_equal(got, values)


@pytest.mark.parametrize("signed", [0, 1])
@pytest.mark.parametrize("code", DTYPES)
def test_casts_to_int4_saturate(code: int, signed: int) -> None:
    values = np.random.default_rng(8).integers(-40, 40, SHAPE).astype(DTYPES[code][1])
    values = values / values.dtype.type(2) if code == F16 else values
    fields = _elementwise(14, opd0_prec=code, opd0_sign=1, res0_prec=I4, opd2_sign=signed)
    got = Run(make_command("sAR", 14, **fields), {"opd0": values}).result("u1")
    wanted = np.clip(np.rint(values), *((-8, 7) if signed else (0, 15)))
    assert np.array_equal(_unpacked(got, SHAPE, signed), wanted)


def test_half_a_byte_left_over_keeps_its_value() -> None:
    fields = _elementwise(19, opd0_prec=I4, res0_prec=I4, opd0_const=1, opd0_addr=5)
    machine = Machine(CHIP)
    machine.memory.local.bytes[:] = 0xA9
    machine.execute(make_command("sAR", 19, **fields))
    assert machine.memory.local.bytes[0x8000:0x8009].tolist() == [0x55] * 7 + [0xA5, 0xA9]


def test_copies_and_fills() -> None:
    values = _values(SHAPE, 0, 9)
    fields = _elementwise(19, opd0_prec=I4, res0_prec=I4)
    got = Run(make_command("sAR", 19, **fields), {"opd0": _packed(values)}).result("u1")
    assert np.array_equal(_unpacked(got, SHAPE, 0), values)
    filling = make_command("sAR", 19, **fields, opd0_const=1, opd0_addr=0xFB)
    got = Run(filling, {}).result("u1")
    assert np.array_equal(_unpacked(got, SHAPE, 1), np.full(SHAPE, -5))


@pytest.mark.parametrize(
    ("form", "function", "fields", "reason"),
    [
        ("sAR", 2, {"opd0_prec": I4, "opd1_prec": I4, "res0_prec": I4}, "int4 here"),
        ("sAR", 19, {"opd0_prec": I4, "res0_prec": I4, "res0_str": 3}, "int4 with explicit"),
        ("sPorD", 1, {"opd0_prec": I4, "res0_prec": I4}, "int4 here"),
        ("sRQ_DQ", 1, {"opd0_prec": I32, "res0_prec": I4}, "int4 here"),
        ("sTRANS_BC", 2, {"res0_prec": I4}, "int4 here"),
        ("DMA_general", 0, {"src_data_format": I4}, "int4 here"),
        ("sMM2", 4, {"opd0_prec": I4, "opd2_const": 1, "res0_prec": I4}, "int4 here"),
    ],
)
def test_other_int4_is_refused(
    form: str, function: int, fields: dict[str, int], reason: str
) -> None:
    mask = {"localmem_mask_l32": 0xFFFF_FFFF, "localmem_mask_h32": 0xFFFF_FFFF}
    sizes = dict.fromkeys(("res0_n", "res0_c", "res0_h", "res0_w"), 1)
    if form == "sMM2":
        sizes = {"res0_c": 1, "res0_w": 1, "opd1_c": 1}
    fields = fields | (mask | {"src_cstride": 1} if form == "DMA_general" else sizes)
    command = make_command(form, function, **fields)
    with pytest.raises(TpuError, match=rf"{form} .*{reason}"):
        Machine(CHIP).execute(command)
    with pytest.raises(TpuError, match="int4"):
        accesses(command, CHIP)


def test_estimated_cycles() -> None:
    """Twice the input channels per cycle of int8; element-wise commands cost what int8 does."""
    sizes = {"res0_c": 64, "res0_w": 64, "opd1_c": 256, "res0_prec": I32}
    costs = [tiu_cycles(make_command("sMM2", 4, **sizes, opd0_prec=p), CHIP) for p in (I4, I8)]
    assert costs == [32, 64]
    with pytest.raises(TpuError, match="no cycle formula for opd0_prec = 7"):
        tiu_cycles(make_command("sMM2", 4, **sizes, opd0_prec=7), CHIP)


def test_recorded_int16_is_verified() -> None:
    assert not is_unverified(make_command("sMM", 1, opd0_prec=I16))
    assert is_unverified(make_command("sCONV", 0, opd0_prec=I16))
