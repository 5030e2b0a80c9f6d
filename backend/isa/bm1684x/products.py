"""Families of the matrix unit and of windows, and the markers of the TIU's queue."""

from dataclasses import replace

from xdsl_tpu.backend.isa.bm1684x.elements import PER_CHANNEL, RESULT, WRITTEN
from xdsl_tpu.backend.isa.codes import (
    CONV,
    FLOATS,
    MM,
    MM2,
    SYSID,
    PorD,
    Precision,
)
from xdsl_tpu.backend.isa.costs import Array, Free, Products, Windows
from xdsl_tpu.backend.isa.instruction import (
    Described,
    Family,
    Lane,
    Operand,
    Place,
    Refusal,
    Shape,
)
from xdsl_tpu.backend.isa.terms import Fields, Figures, Term

MATRIX: Shape = (1, "res0_c", 1, "res0_w")
ANY_SIGN = ("opd0_sign", "opd1_sign", "opd2_sign")


def _of_floats(fields: Fields) -> bool:
    return fields["opd0_prec"] in FLOATS


def _of_integers(fields: Fields) -> bool:
    return not _of_floats(fields)


def _accumulated(shape: Shape) -> tuple[Operand, Operand]:
    """The result, which `res_add` makes an operand too."""
    result = replace(WRITTEN, shape=shape)
    return replace(result, writes=False, when=_is_added_to), result


def _is_added_to(fields: Fields) -> bool:
    return bool(fields["res_add"])


_PADS = Refusal(
    lambda fields, chip: (
        any(fields[f"opd0_{side}_pad"] for side in ("up", "dn", "lf", "rt"))
        and not fields["opd3_const"]
    ),
    "where a pad value (opd3) that is no constant lies is not known",
)
_WINDOW = (
    "opd1_h opd1_w res_op_x_str res_op_y_str opd0_up_pad opd0_dn_pad opd0_lf_pad opd0_rt_pad "
    "opd0_x_ins0 opd0_y_ins0 opd1_x_ins0 opd1_y_ins0 pad_mode opd3_addr"
)

# --- CONV -----------------------------------------------------------------------------------------


def _taps(fields: Fields, chip: Figures) -> int:
    """Elements of one output channel's filter: input channels in whole blocks of the array."""
    block = chip.input_channels(fields["opd0_prec"])
    return -(-fields["opd0_c"] // block) * block * fields["opd1_h"] * fields["opd1_w"]


_BIAS = Operand("opd2", PER_CHANNEL, Precision.F32, Place.COMPACT, constant="opd2_const")


def _conv(*functions: CONV, bias: Operand, idle: str = "") -> Described:
    image = Operand(
        "opd0", ("res0_n", "opd0_c", "opd0_h", "opd0_w"), "opd0_prec", Place.CODED, packed=True
    )
    filters = Operand(
        "opd1",
        (1, "res0_c", 1, _taps),
        "opd0_prec",
        Place.COMPACT,
        constant="opd1_const",
        packed=True,
    )
    operands = (image, filters, bias, *_accumulated(RESULT))
    also = f"{_WINDOW} kernel_rotate opd3_const res_add"
    return Described(functions, operands, also, idle=idle, refusals=(_PADS,))


_CONV = (
    _conv(CONV.CONV_NORMAL, bias=replace(_BIAS, when=_of_floats)),
    replace(
        _conv(CONV.CONV_WRQ, bias=replace(_BIAS, type=Precision.I16), idle="opd3_const"),
        signed=ANY_SIGN,
        saturates=True,
    ),
    replace(
        _conv(CONV.CONV_WRQ_RELU, bias=replace(_BIAS, type=Precision.I16), idle="opd3_const"),
        signed=False,
        saturates=True,
    ),
)

# --- MM: matrices in column blocks; the last block of the left one may be narrower ----------------


def _left(fields: Fields) -> tuple[int, int]:
    """Rows and columns of the left matrix as it is stored."""
    return fields["opd0_n"], fields["opd0_w"] * (fields["opd0_c"] - 1) + fields["opd1_w"]


def _mm_rows(fields: Fields, chip: Figures) -> int:
    return _left(fields)[1 if fields["left_tran"] else 0]


def _mm_depth(fields: Fields, chip: Figures) -> int:
    return _left(fields)[0 if fields["left_tran"] else 1]


def _mm(function: MM, bias: Operand, also: str = "", idle: str = "") -> Described:
    left = Operand(
        "opd0",
        ("opd0_n", "opd0_c", 1, "opd0_w"),
        "opd0_prec",
        Place.BLOCKS,
        constant="opd0_const",
        packed=True,
        last="opd1_w",
    )
    right = Operand("opd1", (_mm_depth, "res0_c", 1, "res0_w"), "opd0_prec", packed=True)
    result = _accumulated((_mm_rows, "res0_c", 1, "res0_w"))
    also = f"left_tran res_add {also}"
    return Described((function,), (left, right, bias, *result), also, idle=f"opd2_n_str {idle}")


_COLUMN_BIAS = Operand("opd2", MATRIX, Precision.F32, constant="opd2_const")
_SHORT_BIAS = replace(_COLUMN_BIAS, type=Precision.I16)

_MM = (
    _mm(MM.MM_NORMAL, replace(_COLUMN_BIAS, when=_of_floats), idle="opd2_sign"),
    replace(_mm(MM.MM_WRQ, _SHORT_BIAS, "opd3_addr"), signed=ANY_SIGN, saturates=True),
    replace(_mm(MM.MM_WRQ_RELU, _SHORT_BIAS, "opd3_addr"), signed=False, saturates=True),
)

# --- MM2: one row per lane; nn (M, K) x (K, N), nt (M, K) x (N, K), tt (K, N) and (M, K) ----------

_ZERO_POINT = Refusal(
    lambda fields, chip: _of_integers(fields) and not fields["opd2_const"],
    "where a zero point (opd2) that is no constant lies is not known",
)


def _mm2(function: MM2, left: tuple[Term, Term], right: tuple[Term, Term], idle: str) -> Described:
    operands = tuple(
        Operand(name, (1, rows, 1, columns), "opd0_prec", constant=f"{name}_const", packed=True)
        for name, (rows, columns) in (("opd0", left), ("opd1", right))
    )
    also = "opd2_addr opd2_const res_add"
    results = _accumulated(MATRIX)
    return Described((function,), (*operands, *results), also, idle=idle, refusals=(_ZERO_POINT,))


_MM2 = (
    _mm2(MM2.MM2_NN, ("res0_c", "opd1_c"), ("opd1_c", "res0_w"), idle="opd1_w"),
    _mm2(MM2.MM2_NT, ("res0_c", "opd1_w"), ("res0_w", "opd1_w"), idle="opd1_c"),
    _mm2(MM2.MM2_TT, ("opd1_w", "res0_w"), ("res0_c", "opd1_w"), idle="opd1_c"),
)
_MM2_COST = Array((), "res0_c", ("res0_w",), "opd1_w")

# --- PorD: windows per channel --------------------------------------------------------------------

_WINDOWED = Operand("opd0", ("res0_n", "res0_c", "opd0_h", "opd0_w"), "opd0_prec", in_step=True)
_FILTER = Operand(
    "opd1",
    (1, "res0_c", "opd1_h", "opd1_w"),
    "opd0_prec",
    Place.COMPACT,
    constant="opd1_const",
)
_POOL_BIAS = replace(_BIAS, type="opd0_prec", when=_of_floats)
_SUM_BIAS = replace(_BIAS, type=Precision.I32, when=_of_integers)


def _pool(
    function: PorD, parameters: tuple[Operand, ...] = (), also: str = "", idle: str = ""
) -> Described:
    also = f"{_WINDOW} opd3_const {also}"
    operands = (_WINDOWED, *parameters, WRITTEN)
    return Described((function,), operands, also, idle=idle, refusals=(_PADS,))


_DEPTHWISE = (_FILTER, _POOL_BIAS, _SUM_BIAS)
_OF_DEPTHWISE = "kernel_rotate opd2_n_str res1_addr"
_PARAMETERS = "opd1_const opd1_addr opd2_const opd2_addr"

_POOLS = (
    replace(_pool(PorD.DEPTHWISE, _DEPTHWISE, _OF_DEPTHWISE, "opd2_sign"), saturates=True),
    replace(
        _pool(PorD.DEPTHWISE_RELU, _DEPTHWISE, _OF_DEPTHWISE),
        unread="opd2_sign",
        signed=False,
        saturates=True,
    ),
    _pool(PorD.AVG_POOL, also="opd1_addr opd1_const opd2_addr", idle="opd2_const opd2_n_str"),
    _pool(PorD.MAX_POOL, idle=_PARAMETERS),
)

FAMILIES = (
    Family(
        "CONV",
        CONV,
        Array(("res0_n", "opd1_h", "opd1_w"), "res0_c", ("res0_h", "res0_w"), "opd0_c"),
        "sCONV",
        _CONV,
        Lane.FIRST,
    ),
    Family(
        "MM",
        MM,
        Products(_mm_rows, _mm_depth, frozenset((MM.MM_WRQ, MM.MM_WRQ_RELU))),
        "sMM",
        _MM,
        Lane.FIRST,
    ),
    Family(
        "MM2",
        MM2,
        {
            MM2.MM2_NN: replace(_MM2_COST, depth="opd1_c"),
            MM2.MM2_NT: _MM2_COST,
            MM2.MM2_TT: _MM2_COST,
        },
        "sMM2",
        _MM2,
        Lane.FIRST,
    ),
    Family("PorD", PorD, Windows(strided=3), "sPorD", _POOLS),
    Family("SEG", None, None),
    Family("SYSID", SYSID, Free(), "SYSID", (Described((SYSID.NOP, SYSID.END), ()),)),
)
