"""Something put around images within a layer group: values equal the interpreter's."""

import pytest
from tests.kernels.harness import Case
from tests.local.groups import run_grouped

from xdsl_tpu.passes.layer_group.values import Secs


@pytest.mark.parametrize("secs", [Secs(), Secs(h=3), Secs(n=2), Secs(w=2)], ids=str)
@pytest.mark.parametrize("mode", ["constant", "reflect", "edge"])
@pytest.mark.parametrize("around", [(1, 1, 1, 1), (3, 0, 2, 5), (0, 2, 0, 0)], ids=str)
@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_pad(kind: str, around: tuple[int, int, int, int], mode: str, secs: Secs) -> None:
    """Also slices that begin or end in the border."""
    case = Case(kind, 3)
    shape = (2, 70, 9, 14)
    top, left, bottom, right = around
    out = (2, 70, 9 + top + bottom, 14 + left + right)
    a = case.op("tpu.Relu", [case.input("x", shape)], {}, "a", shape)
    attributes = {
        "paddings": f"[0, 0, {top}, {left}, 0, 0, {bottom}, {right}]",
        "mode": f"#tpu<Pad_Mode {mode}>",
        "val": "0.75 : f64",
    }
    b = case.op("tpu.Pad", [a, *["none"] * 4], attributes, "b", out)
    case.op("tpu.Relu", [b], {}, "y", out)
    run_grouped(case, secs=secs)


@pytest.mark.parametrize("secs", [Secs(), Secs(h=3), Secs(n=2)], ids=str)
@pytest.mark.parametrize("mode", ["constant", "reflect", "edge"])
@pytest.mark.parametrize("around", [(1, 0), (2, 5)], ids=str)
def test_pad_of_rows(around: tuple[int, int], mode: str, secs: Secs) -> None:
    """Something in front of rows of rank 3 and behind them, as of running sums."""
    case = Case("f16", 3)
    shape, out = (2, 70, 14), (2, 70, 14 + sum(around))
    a = case.op("tpu.Relu", [case.input("x", shape)], {}, "a", shape)
    attributes = {
        "paddings": f"[0, 0, {around[0]}, 0, 0, {around[1]}]",
        "mode": f"#tpu<Pad_Mode {mode}>",
        "val": "0.75 : f64",
    }
    b = case.op("tpu.Pad", [a, *["none"] * 4], attributes, "b", out)
    case.op("tpu.Relu", [b], {}, "y", out)
    run_grouped(case, secs=secs)
