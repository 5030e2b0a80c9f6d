"""Families that work element by element, on tables, or move data between lanes."""

from dataclasses import replace

from xdsl_tpu.backend.isa.codes import (
    AR,
    CMP,
    LIN,
    RQ_DQ,
    SFU,
    SG,
    SGL,
    VC,
    TransBc,
)
from xdsl_tpu.backend.isa.costs import ElementWise, OneBank, Passes
from xdsl_tpu.backend.isa.instruction import (
    EITHER_SIGN,
    Described,
    Family,
    Lane,
    Operand,
    Place,
    Refusal,
    Shape,
    always,
)
from xdsl_tpu.backend.isa.terms import Fields, Figures

RESULT: Shape = ("res0_n", "res0_c", "res0_h", "res0_w")
PER_CHANNEL: Shape = (1, "res0_c", 1, 1)
SHAPE = "res0_n res0_c res0_h res0_w"
ROWS: Shape = ("res0_n", "res0_c", 1, "res0_w")
READ = Operand("opd0", RESULT, "opd0_prec", in_step=True)
WRITTEN = Operand("res0", RESULT, "res0_prec", writes=True)

# --- AR -------------------------------------------------------------------------------------------


def _has_first(fields: Fields) -> bool:
    return fields["tsk_opd_num"] > 0


def _has_second(fields: Fields) -> bool:
    return fields["tsk_opd_num"] > 1


_FIRST = replace(READ, place=Place.CODED, constant="opd0_const", when=_has_first)
_SECOND = replace(_FIRST, name="opd1", type="opd1_prec", constant="opd1_const", when=_has_second)
_RESULT = replace(WRITTEN, place=Place.CODED)
_CAST = (replace(_FIRST, when=always, packed=True), replace(_RESULT, packed=True))
_THIRD = Refusal(
    lambda fields, chip: fields["tsk_opd_num"] > 2 and not fields["opd2_const"],
    "the layout of a third operand that is no constant is not known",
)


def _ar(
    *functions: AR, also: str = "", unread: str = "", idle: str = "", saturates: bool = False
) -> Described:
    """Two operands and a result; fields of the third are read by few."""
    operands = (_FIRST, _SECOND, _RESULT)
    also = f"tsk_opd_num {also}"
    return Described(functions, operands, also, unread, idle, (_THIRD,), saturates=saturates)


_SIGNS = "opd0_sign opd1_sign"
_SHIFT = "opd2_const opd2_addr opd2_n_str"

_AR = (
    _ar(AR.MUL, AR.ADD, AR.SUB, AR.MAX, AR.MIN, AR.FSUB_ABS),
    _ar(AR.NOT, unread=_SIGNS, idle="opd1_prec"),
    _ar(AR.LOGIC_SHIFT, AR.ROTATE_SHIFT, also="opd2_n_str", idle=_SIGNS),
    _ar(AR.ARITH_SHIFT, also="opd2_n_str", idle="opd1_sign"),
    _ar(AR.AND, AR.OR, AR.XOR, idle=_SIGNS),
    _ar(
        AR.SELECT_GREATER,
        AR.SELECT_EQUAL,
        AR.SELECT_LESS,
        also="opd2_addr opd2_const",
        idle="opd2_prec",
    ),
    _ar(AR.DIV, AR.MUL_DHR, also="opd2_n_str"),
    _ar(AR.ADD_SATURATE, AR.MUL_SATURATE, also=_SHIFT, saturates=True),
    replace(_ar(AR.SUB_SATURATE, also=_SHIFT, saturates=True), signed=True),
    _ar(AR.ABS, unread="opd1_sign", idle="opd1_prec"),
    replace(
        _ar(AR.COPY, unread="opd1_prec opd1_sign", idle="opd0_prec opd0_sign"),
        operands=tuple(replace(one, packed=True) for one in (_FIRST, _SECOND, _RESULT)),
    ),
    Described(
        (AR.DATA_CONVERT,),
        _CAST,
        also="opd2_n_str opd2_sign",
        idle="opd1_addr tsk_opd_num",
        signed=("opd2_sign",),
        saturates=True,
    ),
)

# --- CMP ------------------------------------------------------------------------------------------

_COMPARED = tuple(
    Operand(name, RESULT, kind, place, constant=f"{name}_const", in_step=True)
    for name, kind, place in (
        ("opd0", "opd0_prec", Place.CODED),
        ("opd1", "opd0_prec", Place.CODED),
        ("opd2", "opd2_prec", Place.ALIGNED),
        ("opd3", "opd2_prec", Place.ALIGNED),
    )
)
_SELECTED = replace(WRITTEN, type="opd2_prec")

_CMP = (
    Described(
        (CMP.GT_AND_SELECT_GT, CMP.LT_AND_SELECT_LT),
        (*_COMPARED, replace(WRITTEN, type="opd0_prec"), replace(_SELECTED, name="res1")),
    ),
    Described(
        (CMP.SELECT_GT, CMP.SELECT_EQ, CMP.SELECT_LT), (*_COMPARED, _SELECTED), idle="res1_addr"
    ),
)

# --- SFU, LIN, RQ_DQ ------------------------------------------------------------------------------


def _table_lanes(fields: Fields, chip: Figures) -> int:
    return min(fields["res0_c"], chip.lanes)


_TABLE = Operand("opd1", (1, _table_lanes, 1, "opd1_n"), "opd0_prec", Place.COEFFICIENTS)

_SFU = (
    Described((SFU.TAYLOR_4X, SFU.TAYLOR), (READ, _TABLE, WRITTEN), idle="opd2_n_str"),
    Described((SFU.NORMALIZE,), (READ, WRITTEN), idle="opd1_addr opd1_n opd2_n_str"),
    Described((SFU.RSQRT,), (READ, WRITTEN), also="opd2_n_str", idle="opd1_n"),
)

_TERM = replace(READ, type="res0_prec")
_FACTOR = Operand("opd1", PER_CHANNEL, "res0_prec", Place.COMPACT, constant="opd1_const")
_ADDEND = replace(_FACTOR, name="opd2", constant="opd2_const")

_LIN = (
    Described((LIN.MAC,), (_TERM, _FACTOR, _ADDEND, WRITTEN)),
    Described((LIN.SQUARE_SUM, LIN.SQUARE_DIFF), (_TERM, _FACTOR, WRITTEN), idle="opd2_addr"),
)


def _requant(function: RQ_DQ, words: int, also: str = "", idle: str = "") -> Described:
    """Parameters are constants or a few words per channel."""
    table = Operand("opd1", (1, "res0_c", 1, words), None, constant="opd1_const")
    to_integers = function in (RQ_DQ.RQ0, RQ_DQ.RQ1)
    return Described(
        (function,),
        (READ, table, WRITTEN),
        f"opd2_addr {also}",
        idle=idle,
        signed=("opd2_sign",) if to_integers else EITHER_SIGN,
        saturates=to_integers,
    )


_RQ_DQ = (
    _requant(RQ_DQ.RQ0, 2, also="opd2_sign", idle="opd0_sign opd2_n_str"),
    _requant(RQ_DQ.RQ1, 3, also="opd2_sign opd2_n_str", idle="opd0_sign"),
    replace(_requant(RQ_DQ.DQ0, 2, idle="opd2_sign opd2_n_str"), scale="opd2_addr"),
    _requant(RQ_DQ.DQ1, 3, also="opd2_sign opd2_n_str"),
)

# --- SG: tables of a channel or of a lane, indices along w ----------------------------------------

_INDEX = Operand("opd1", ROWS, "opd1_prec")
_LOOKED_UP = Operand("opd0", (1, "res0_c", 1, "opd0_w"), "res0_prec", Place.TABLE)
_SCATTERED = replace(_LOOKED_UP, shape=(1, "res0_c", 1, "opd1_w"))

_SG = (
    Described(
        (SG.PE_S_GATHER_D1COOR, SG.PE_S_GATHER_HZD),
        (_LOOKED_UP, replace(_INDEX, in_step=True), WRITTEN),
        also="opd0_h opd0_prec opd1_c",
        idle="opd1_w opd2_const",
    ),
    # Which elements a scatter writes depends on its indices; the others keep their values, so the
    # result is an operand as well.
    Described(
        (SG.PE_S_SCATTER_D1COOR, SG.PE_S_SCATTER_HZD),
        (
            _SCATTERED,
            replace(_INDEX, shape=("res0_n", "res0_c", 1, "opd1_w")),
            replace(WRITTEN, shape=ROWS, writes=False),
            WRITTEN,
        ),
        also="opd0_h opd0_prec opd0_w opd1_c",
        idle="opd2_const",
    ),
)

# --- TRANS_BC -------------------------------------------------------------------------------------

_LIKE_RESULT = replace(_TERM, in_step=False)
_TURNED = replace(_LIKE_RESULT, shape=("res0_n", "res0_w", "res0_h", "res0_c"))
_STATIC = replace(_LIKE_RESULT, place=Place.STATIC)
_COMPACT = replace(WRITTEN, place=Place.COMPACT)


def _moved(function: TransBc, source: Operand, result: Operand) -> Described:
    return Described((function,), (source, result), SHAPE, idle="opd0_c opd0_w")


_TRANS_BC = (
    _moved(TransBc.CW_TRANSPOSE, _TURNED, replace(WRITTEN, place=Place.LINES)),
    _moved(TransBc.WC_TRANSPOSE, _TURNED, WRITTEN),
    _moved(TransBc.LANE_COPY, _TERM, WRITTEN),
    _moved(
        TransBc.LANE_BROADCAST, replace(_TERM, shape=("res0_n", 1, "res0_h", "res0_w")), WRITTEN
    ),
    _moved(
        TransBc.STATIC_BROADCAST,
        replace(_STATIC, shape=(1, 1, 1, "res0_w")),
        replace(_COMPACT, shape=(1, "res0_c", 1, "res0_w")),
    ),
    _moved(
        TransBc.STATIC_DISTRIBUTE,
        replace(_STATIC, shape=(1, 1, 1, "res0_c")),
        replace(_COMPACT, shape=PER_CHANNEL),
    ),
)

_LINE = Passes(("res0_prec",), times=(), line=("res0_w",), rounds=False)
_BETWEEN_LANES = Passes(("res0_prec",), one_bank=OneBank.OF_ONE_LANE)

# --- VC -------------------------------------------------------------------------------------------


def _vector_rows(fields: Fields, chip: Figures) -> int:
    return (fields["opd0_c"] - 1) * fields["opd0_w"] + fields["opd1_w"]


_VECTORS = (
    Operand("opd0", (1, "opd0_c", 1, "opd0_w"), "opd0_prec", Place.BLOCKS, last="opd1_w"),
    Operand("opd1", (1, "res0_c", 1, "res0_w"), "opd1_prec"),
    replace(WRITTEN, shape=(_vector_rows, "res0_c", 1, "res0_w")),
)

_VC = (
    Described((VC.MUL, VC.ADD, VC.SUB, VC.MAX, VC.MIN, VC.AND, VC.OR, VC.XOR), _VECTORS),
    Described((VC.ADD_SATURATE, VC.MUL_SATURATE), _VECTORS, saturates=True),
    Described((VC.SUB_SATURATE,), _VECTORS, signed=True, saturates=True),
    Described((VC.SELECT_GT, VC.SELECT_EQ, VC.SELECT_LT), _VECTORS, also="opd2_addr"),
    Described((VC.DIV,), _VECTORS, idle="opd2_addr opd2_n_str"),
    Described((VC.MUL_DHR,), _VECTORS, also="opd2_n_str", idle="opd2_addr"),
)

# --- all of them ----------------------------------------------------------------------------------

_ELEMENT = Passes(("res0_prec",), times=("res0_n", "res0_w"), line=())
_SCATTER = replace(_ELEMENT, times=("res0_n", "opd0_h", "opd0_w"))
_SG_COSTS = (
    dict.fromkeys(SG, _ELEMENT)
    | dict.fromkeys((SG.PL_SCATTER_D1COOR, SG.PL_SCATTER_D2COOR, SG.PE_S_SCATTER_D1COOR), _SCATTER)
    | {
        SG.PE_S_SCATTER_HZD: replace(_SCATTER, factor=1.5),
        SG.PE_S_GATHER_HZD: replace(_ELEMENT, factor=1.5),
        SG.PE_S_MASK_SELECT_HZD: replace(_ELEMENT, factor=3),
    }
)
"""One element per lane and cycle; a scatter takes those of its operand."""

_COPIED = Passes(("res0_prec",), times=("res0_n", "res0_h", 2), line=("res0_w",))
_BOTH = ("res0_prec", "opd0_prec")

FAMILIES = (
    Family(
        "AR",
        AR,
        ElementWise(frozenset((AR.MAC, AR.COPY)), newton={AR.DIV: (15, 8)}),
        "sAR",
        _AR,
        signed_floats=True,
    ),
    Family("LAR", AR, None),
    Family(
        "CMP",
        CMP,
        Passes(("opd0_prec", "opd2_prec"), times=("res0_n", 2)),
        "sCMP",
        _CMP,
        signed_floats=True,
    ),
    Family("LIN", LIN, Passes(("res0_prec",)), "sLIN", _LIN),
    Family("RQ_DQ", RQ_DQ, Passes(4, one_bank=OneBank.OF_A_LANE), "sRQ_DQ", _RQ_DQ),
    Family(
        "SFU",
        SFU,
        dict.fromkeys((SFU.TAYLOR_4X, SFU.TAYLOR), Passes(_BOTH, times=("res0_n", "opd1_n")))
        | {SFU.NORMALIZE: Passes(_BOTH), SFU.RSQRT: Passes(_BOTH, times=("res0_n", 30))},
        "sSFU",
        _SFU,
    ),
    Family("SG", SG, _SG_COSTS, "sSG", _SG),
    Family(
        "SGL",
        SGL,
        {
            SGL.PE_S_GATHER_LINE: _COPIED,
            SGL.PE_S_SCATTER_LINE: replace(_COPIED, times=("res0_n", "opd0_h", 2)),
        },
    ),
    Family(
        "TRANS_BC",
        TransBc,
        {
            TransBc.CW_TRANSPOSE: replace(_LINE, times=("res0_n", "res0_h"), line=("res0_c",)),
            TransBc.WC_TRANSPOSE: replace(_LINE, times=("res0_n", "res0_h")),
            TransBc.LANE_COPY: replace(_BETWEEN_LANES, times=("res0_n", "res0_c")),
            TransBc.LANE_BROADCAST: _BETWEEN_LANES,
            TransBc.STATIC_BROADCAST: _LINE,
            TransBc.STATIC_DISTRIBUTE: replace(_LINE, line=("res0_c",)),
        },
        "sTRANS_BC",
        _TRANS_BC,
        Lane.ANY,
    ),
    Family(
        "VC",
        VC,
        Passes(("res0_prec", "opd0_prec", "opd1_prec"), times=(_vector_rows,), line=("res0_w",)),
        "sVC",
        _VC,
        Lane.ANY,
    ),
)
