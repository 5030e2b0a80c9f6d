"""What a Concat joins is made at its scale where it is made for it alone."""

import pytest
from tests.passes.semantics import Net, ops_of

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.calibration.ranges import Range, range_of, set_range
from xdsl_tpu.passes.calibration.spread import spread_calibration
from xdsl_tpu.passes.tensors import functions


def spread(
    made: Range,
    beside: Range,
    joined: Range,
    reader: bool = False,
    relu: bool = False,
    asymmetric: bool = False,
) -> Range | None:
    """The range of a convolution that is joined with an input, once ranges are spread; another op
    may read the convolution, too."""
    net = Net()
    x = net.input("x", 1, 4, 6, 6)
    window = {"kernel_shape": [1, 1], "strides": [1, 1], "pads": [0] * 4}
    tables = net.weight("w", 4, 4, 1, 1), net.none
    y = net.op(top.ConvOp, "made", (x, *tables), do_relu=relu, **window)
    both = net.op(top.ConcatOp, "both", (y, x), axis=1)
    more = (net.op(top.GELUOp, "more", (y,)),) if reader else ()
    module = net.module(both, *more)
    (conv,), (concat,) = ops_of(module, top.ConvOp), ops_of(module, top.ConcatOp)
    for value, known in ((conv.input, beside), (conv.output, made), (concat.output, joined)):
        set_range(value, known)
    (func,) = functions(module)
    spread_calibration(func, asymmetric=asymmetric)
    return range_of(conv.output)


WIDE, NARROW, POSITIVE = Range(-4.0, 4.0), Range(-1.0, 1.0), Range(0.0, 3.0)


@pytest.mark.parametrize("made", [NARROW, POSITIVE, Range(-4.0, 2.0)])
def test_what_is_made_for_a_concat_has_its_scale(made: Range) -> None:
    """The other operand has another reader, and keeps its own."""
    assert spread(made, NARROW, WIDE) == WIDE


def test_what_has_another_reader_keeps_its_scale() -> None:
    assert spread(NARROW, NARROW, WIDE, reader=True) == NARROW


@pytest.mark.parametrize(("made", "joined"), [(NARROW, POSITIVE), (Range(-4.5, 1.0), WIDE)])
def test_what_a_concat_has_no_room_for_keeps_its_scale(made: Range, joined: Range) -> None:
    """Numbers below zero, or larger ones."""
    assert spread(made, NARROW, joined) == made


@pytest.mark.parametrize("asymmetric", [False, True])
@pytest.mark.parametrize("relu", [False, True])
def test_a_relu_keeps_the_integer_that_it_stops_at(relu: bool, asymmetric: bool) -> None:
    """With zero points, 0 would be another one in a range from below zero."""
    keeps = relu and asymmetric
    found = spread(POSITIVE, NARROW, WIDE, relu=relu, asymmetric=asymmetric)
    assert found == (POSITIVE if keeps else WIDE)
