"""Quantised convolutions of several images in a group: all rows at once, or not at all."""

import pytest
from tests.quantized.quant_cases import QuantCase, addressed, conv
from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.local.measure import measure
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw


def largest_scratch(images: int, size: int) -> int:
    """Scratch bytes of a lane for a point-wise convolution of whole images."""
    case, chip, shape = QuantCase(), load_chip("bm1684x"), (images, 64, size, size)
    conv(case, case.integers("x", shape), "y", (shape, shape), (1, 1))
    (op,) = (op for op in addressed(case).walk() if isinstance(op, tpu.Conv2DOp))

    def sizes(value: SSAValue) -> Ncdhw:
        return of_value(value, GroupType.NORMAL, chip.lanes)

    return measure(op, sizes, GroupType.NORMAL, chip).scratch


def test_rows_of_several_images_are_not_given_a_new_scale_in_parts() -> None:
    """Their sums fit, or those of one image do in parts; not those of two."""
    assert largest_scratch(2, 64) >= 2 * 64 * 64 * 4
    assert largest_scratch(1, 300) < 300 * 300 * 4
    with pytest.raises(DoesNotFit, match="sums"):
        largest_scratch(2, 200)
