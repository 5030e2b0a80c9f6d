"""Products: a bias for integers and in MM2, an activation, a new scale, operands of two types."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from xdsl_tpu.backend.isa.bm1684x.elements import PER_CHANNEL
from xdsl_tpu.backend.isa.bm1688.requantised import EPILOGUE, REQUANT_TABLE, SCALED, is_requantised
from xdsl_tpu.backend.isa.codes import CONV, FLOATS, MM, MM2, Precision
from xdsl_tpu.backend.isa.instruction import Described, Family, Operand, Place, Refusal
from xdsl_tpu.backend.isa.terms import Fields, Figures

_MORE = f"opd1_prec opd4_const opd4_addr {EPILOGUE}"


def _of_floats(fields: Fields) -> bool:
    return fields["opd0_prec"] in FLOATS


def _of_integers(fields: Fields) -> bool:
    return not _of_floats(fields)


def _lanes_of_rows(fields: Fields, chip: Figures) -> int:
    return min(fields["res0_c"], chip.lanes)


_NO_ZERO_POINTS = Refusal(
    lambda fields, chip: _of_integers(fields) and not fields["opd4_const"],
    "where zero points (opd4) that are no constant lie is not known",
)
_ONE_FACTOR = Refusal(
    lambda fields, chip: is_requantised(fields) and not fields["opd5_const"],
    "where a product of matrices has a table of factors (opd5) is not known",
)

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


def _with_bias(
    described: Described, biases: tuple[Operand, ...], *refusals: Refusal, table: bool = False
) -> Described:
    others = tuple(one for one in described.operands if one.name != "opd2")
    also = f"{described.also} {_MORE}"
    parameters = (*biases, REQUANT_TABLE) if table else biases
    operands = (*others[:2], *parameters, *others[2:])
    return replace(described, operands=operands, also=also, refusals=refusals, **SCALED)


def _convolution(described: Described) -> Described:
    refusals = (*described.refusals, _NO_ZERO_POINTS)
    return _with_bias(described, _CHANNEL_BIASES, *refusals, table=True)


def _rows(described: Described) -> Described:
    bias = _NUMBERS if MM2.MM2_TT in described.functions else _ROW
    biases = (
        replace(bias, when=_of_floats),
        replace(bias, type=Precision.I32, when=_of_integers),
    )
    own = _with_bias(described, biases, _NO_ZERO_POINTS, _ONE_FACTOR)
    return replace(own, absent=(("opd2_const", 1),))


def families(base: Mapping[str, Family]) -> Iterator[Family]:
    """CONV, MM and MM2."""
    conv, mm, mm2 = (base[name] for name in ("CONV", "MM", "MM2"))
    yield replace(
        conv,
        described=(_convolution(conv.described[0]),),
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
