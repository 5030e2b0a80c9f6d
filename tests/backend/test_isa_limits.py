"""Limits are the widths of fields, and hold where a command is encoded."""

from dataclasses import asdict, replace

import pytest
from tests.bm1684x import FORMS, INSTRUCTIONS

from xdsl_tpu.backend.isa import Command, EncodingError, encode
from xdsl_tpu.backend.isa.codes import AR, CONV, PorD
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.backend.isa.forms import Field
from xdsl_tpu.backend.isa.limits import Limits
from xdsl_tpu.dialects.interpreters.layouts import WIDEST_ROW
from xdsl_tpu.dialects.tpu.local import MAX_CHANNELS, MAX_STRIDE


def test_limits_of_the_bm1684x() -> None:
    assert asdict(INSTRUCTIONS.limits) == {
        "window_stride": 15,
        "padding": 15,
        "dilation": 16,
        "inserted_zeros": 15,
        "extent": 65535,
        "local_stride": 65535,
    }
    assert INSTRUCTIONS.limits == LIMITS


def test_what_ops_say_without_a_chip_is_what_every_chip_can() -> None:
    assert LIMITS.window_stride == MAX_STRIDE
    assert LIMITS.extent == MAX_CHANNELS
    assert LIMITS.extent == WIDEST_ROW


@pytest.mark.parametrize(
    ("form", "function", "field", "most"),
    [
        ("sCONV", CONV.CONV_NORMAL, "res_op_x_str", LIMITS.window_stride),
        ("sPorD", PorD.MAX_POOL, "res_op_y_str", LIMITS.window_stride),
        ("sCONV", CONV.CONV_NORMAL, "opd0_lf_pad", LIMITS.padding),
        ("sPorD", PorD.AVG_POOL, "opd1_y_ins0", LIMITS.dilation - 1),
        ("sAR", AR.ADD, "res0_w", LIMITS.extent),
        ("sAR", AR.ADD, "opd0_c_str", LIMITS.local_stride),
        ("DMA_matrix", 0, "src_wsize", LIMITS.extent),
    ],
)
def test_one_more_does_not_fit(form: str, function: int, field: str, most: int) -> None:
    fields = {FORMS[form].function_field: function}
    encode(Command(FORMS[form], {**fields, field: most}))
    with pytest.raises(EncodingError, match=f"{field} = {most + 1} does not fit"):
        encode(Command(FORMS[form], {**fields, field: most + 1}))


def test_narrower_fields_lower_the_limit_of_all() -> None:
    """A second instruction set whose pools have strides of 3 bits."""
    pools = FORMS["sPorD"]
    narrow = tuple(
        Field(f.name, f.offset, 3) if f.name == "res_op_x_str" else f for f in pools.fields
    )
    other = Limits.of({**FORMS, "sPorD": replace(pools, fields=narrow)})
    assert other.window_stride == 7
    assert Limits.least([LIMITS, other]) == replace(LIMITS, window_stride=7)
