"""Convolutions and pools of every rank on the machine: what becomes 2-D ones; and
layers that become several ops."""

from typing import Any

import pytest
from tests.kernels.on_machine import assert_close
from tests.passes.lowering_samples import Sample, W, X, normal, positive

from xdsl_tpu.dialects import top

CASES: dict[str, Sample] = {}


def conv(name: str, x: tuple[int, ...], filter_: tuple[int, ...], **attributes: Any) -> None:
    _window_case(top.ConvOp, name, x, filter_, attributes)


def deconv(name: str, x: tuple[int, ...], filter_: tuple[int, ...], **attributes: Any) -> None:
    _window_case(top.DeconvOp, name, x, filter_, attributes)


def _window_case(
    op: Any, name: str, x: tuple[int, ...], filter_: tuple[int, ...], given: dict[str, Any]
) -> None:
    rank = len(x) - 2
    attributes = {
        "kernel_shape": filter_[2:],
        "strides": (1,) * rank,
        "pads": (0,) * 2 * rank,
        "dilations": (1,) * rank,
        **given,
    }
    bias = W(normal(filter_[0])) if given.get("bias", True) else None
    attributes.pop("bias", None)
    CASES[name] = Sample(op, [X(normal(*x)), W(normal(*filter_)), bias], attributes)


def pool(name: str, op: Any, x: tuple[int, ...], **attributes: Any) -> None:
    CASES[name] = Sample(op, [X(normal(*x))], attributes)


conv("1-D", (2, 6, 20), (5, 6, 3), strides=(2,), pads=(1, 2), dilations=(2,))
conv("1-D grouped", (1, 6, 20), (4, 3, 3), group=2)
conv("2-D, uneven pads", (1, 5, 9, 11), (7, 5, 3, 2), pads=(0, 1, 2, 3), dilations=(2, 1))
conv("2-D, far pads", (1, 3, 9, 9), (4, 3, 3, 3), pads=(20, 0, 1, 17))
conv("3-D", (2, 3, 6, 7, 5), (4, 3, 3, 2, 3), pads=(1, 0, 1, 0, 1, 2), strides=(2, 1, 1))
conv("3-D dilated", (1, 4, 9, 6, 6), (6, 4, 3, 2, 2), dilations=(3, 2, 1), do_relu=True)
conv("3-D grouped", (1, 6, 5, 6, 6), (8, 3, 2, 3, 3), group=2, bias=False)
conv("3-D, planes in parts", (2, 16, 9, 5, 6), (16, 16, 3, 3, 3), pads=(1,) * 6, do_relu=True)
conv("3-D, one plane", (1, 4, 1, 6, 6), (5, 4, 3, 3, 3), pads=(1,) * 6, bias=False)
conv("3-D, far pads", (1, 3, 3, 6, 6), (4, 3, 2, 2, 2), pads=(4, 17, 0, 3, 1, 20))
conv("3-D, far taps", (1, 3, 40, 6, 6), (4, 3, 2, 2, 2), dilations=(18, 1, 1), strides=(3, 2, 1))
conv("3-D depthwise", (1, 5, 4, 6, 6), (5, 1, 2, 3, 3), group=5)
# Strides beyond what a command can say.
conv("far patches", (1, 3, 64, 48), (100, 3, 16, 16), strides=(16, 16))
conv("far patches, deep", (2, 70, 40, 57), (20, 70, 20, 17), strides=(20, 20), do_relu=True)
conv("far patches, of many rows", (1, 3, 64, 96), (70, 3, 32, 32), strides=(32, 32))
conv("far rows, merged", (1, 4, 75, 6), (6, 4, 2, 1), strides=(17, 1))
conv("far rows only", (1, 40, 70, 20), (70, 40, 3, 3), strides=(33, 1), pads=(0, 1, 0, 1),
     bias=False)  # fmt: skip
conv("far columns only, reaching into the next", (1, 33, 12, 90), (16, 33, 3, 18), strides=(2, 16),
     pads=(1, 0, 1, 0))  # fmt: skip
conv("far, single taps", (1, 64, 40, 40), (64, 64, 1, 1), strides=(16, 17))
conv("far, in borders", (1, 32, 64, 64), (8, 32, 16, 16), strides=(16, 16), pads=(1, 1, 0, 0))
conv("far, dilated and grouped", (1, 6, 90, 9), (4, 3, 5, 3), strides=(18, 1), group=2,
     dilations=(5, 1), pads=(3, 1, 2, 1))  # fmt: skip
conv("far, 1-D", (2, 5, 100), (7, 5, 30), strides=(20,), pads=(4, 6))
conv("far, depthwise", (1, 8, 64, 64), (8, 1, 3, 3), strides=(17, 1), group=8)
conv("a filter that no lane holds", (1, 4200, 3, 3), (3, 4200, 3, 3), pads=(1,) * 4, do_relu=True)
deconv("transposed", (2, 4, 6, 5), (3, 4, 3, 3), strides=(2, 3), pads=(1, 0, 1, 2))
deconv("transposed 1-D", (1, 3, 9), (5, 3, 4), strides=(3,), output_padding=(2,))
deconv("transposed 3-D", (1, 4, 3, 4, 3), (2, 4, 2, 3, 3), strides=(2, 1, 2))
deconv("transposed 3-D, cut", (1, 4, 5, 4, 3), (6, 4, 3, 2, 3), strides=(2, 2, 2),
       pads=(1, 0, 1, 2, 1, 1), output_padding=(1, 0, 1), do_relu=True)  # fmt: skip
deconv("transposed 3-D, more zeros than taps", (1, 2, 3, 4, 3), (3, 2, 1, 3, 3), strides=(3, 1, 1))
deconv("transposed grouped", (1, 6, 5, 5), (4, 3, 3, 3), group=2, strides=(2, 2), pads=(1,) * 4)
deconv("transposed dilated", (1, 2, 5, 5), (3, 2, 2, 2), dilations=(3, 2), bias=False)
deconv("transposed in tiles", (1, 3, 150, 100), (2, 3, 4, 3), strides=(2, 3), pads=(1, 0, 2, 1))
deconv("transposed, zeros only at the end", (1, 3, 5, 4), (2, 3, 3, 2), strides=(3, 2),
       output_padding=(2, 1))  # fmt: skip
deconv("transposed, more zeros than taps", (1, 2, 5, 5), (3, 2, 2, 2), strides=(4, 3))
deconv("transposed, cut", (1, 2, 6, 6), (3, 2, 2, 2), strides=(2, 2), pads=(3, 2, 4, 0))
pool("maximum 3-D", top.MaxPoolOp, (2, 3, 6, 7, 5), kernel_shape=(2, 3, 2), strides=(2, 1, 2),
     pads=(1, 1, 0, 0, 1, 1))  # fmt: skip
for counted in (False, True):
    pool(f"mean 3-D {counted}", top.AvgPoolOp, (1, 4, 5, 6, 7), kernel_shape=(3, 2, 3),
         strides=(1, 2, 2), pads=(1, 0, 1, 1, 1, 1), count_include_pad=counted)  # fmt: skip
CASES["response norm"] = Sample(top.LRNOp, [X(normal(1, 9, 6, 5))], {"size": 4, "alpha": 0.5})
CASES["response norm, power"] = Sample(
    top.LRNOp, [X(normal(1, 9, 6, 5))], {"size": 3, "alpha": 0.5, "beta": 0.6}
)
CASES["batch norm"] = Sample(
    top.BatchNormOp,
    [X(normal(2, 5, 6)), X(normal(5)), X(positive(5)), X(normal(5)), X(normal(5))],
    {"do_relu": True},
)
CASES["running sums"] = Sample(top.CumSumOp, [X(normal(3, 40, 5)), None], {"axis": 1})
CASES["running sums of rows"] = Sample(top.CumSumOp, [X(normal(3, 40)), None], {"axis": 1})
CASES["linear resize"] = Sample(
    top.InterpOp,
    [X(normal(2, 5, 7, 9)), None],
    {"mode": "linear", "coord_mode": "half_pixel", "scale_h": 2.0, "scale_w": 1.5},
)
ERRORS = {"F32": 2e-6, "F16": 4e-3}


@pytest.mark.parametrize("mode", ERRORS)
@pytest.mark.parametrize("name", CASES)
def test_forms(name: str, mode: str) -> None:
    assert_close(CASES[name], mode, ERRORS[mode])
