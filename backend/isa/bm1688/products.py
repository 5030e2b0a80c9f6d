"""Products: a bias for integers and in MM2, an activation, operands of two types."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from xdsl_tpu.backend.isa.bm1684x.elements import PER_CHANNEL
from xdsl_tpu.backend.isa.codes import CONV, FLOATS, MM, MM2, Precision
from xdsl_tpu.backend.isa.instruction import Described, Family, Operand, Place
from xdsl_tpu.backend.isa.terms import Fields, Figures

_MORE = "relu rq opd1_prec opd2_n_str res0_sign"


def _of_floats(fields: Fields) -> bool:
    return fields["opd0_prec"] in FLOATS


def _of_integers(fields: Fields) -> bool:
    return not _of_floats(fields)


def _lanes_of_rows(fields: Fields, chip: Figures) -> int:
    return min(fields["res0_c"], chip.lanes)


_WORDS = Operand("opd2", PER_CHANNEL, Precision.I32, Place.COMPACT, constant="opd2_const")
_CHANNEL_BIASES = (
    replace(_WORDS, type=Precision.F32, when=_of_floats),
    replace(_WORDS, when=_of_integers),
)
_ROW = Operand(
    "opd2",
    (1, _lanes_of_rows, 1, "res0_w"),
    Precision.F32,
    Place.COEFFICIENTS,
    constant="opd2_const",
)
"""The bias of every row, which each lane has of its own."""

_NUMBERS = replace(_ROW, shape=(1, "res0_c", 1, 1), place=Place.COMPACT)
"""The bias of a transposed product: one number a row."""


def _with_bias(described: Described, *biases: Operand) -> Described:
    others = tuple(one for one in described.operands if one.name != "opd2")
    also = f"{described.also} {_MORE}"
    return replace(described, operands=(*others[:2], *biases, *others[2:]), also=also)


def _rows(described: Described) -> Described:
    bias = _NUMBERS if MM2.MM2_TT in described.functions else _ROW
    biases = (
        replace(bias, when=_of_floats),
        replace(bias, type=Precision.I32, when=_of_integers),
    )
    return replace(_with_bias(described, *biases), absent=(("opd2_const", 1),), refusals=())


def families(base: Mapping[str, Family]) -> Iterator[Family]:
    """CONV, MM and MM2."""
    conv, mm, mm2 = (base[name] for name in ("CONV", "MM", "MM2"))
    yield replace(
        conv,
        described=(_with_bias(conv.described[0], *_CHANNEL_BIASES),),
        without=frozenset((CONV.CONV_WRQ, CONV.CONV_WRQ_RELU)),
        primed=True,
    )
    plain = mm.described[0]
    yield replace(
        mm,
        described=(replace(plain, also=f"{plain.also} relu rq res0_sign"),),
        without=frozenset((MM.MM_WRQ, MM.MM_WRQ_RELU)),
    )
    yield replace(mm2, described=tuple(map(_rows, mm2.described)), primed=True)
