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
    top, left, bottom, right = around
    paddings = (0, 0, top, left, 0, 0, bottom, right)
    _check(kind, (2, 70, 9, 14), paddings, mode, secs)


@pytest.mark.parametrize("secs", [Secs(), Secs(h=3), Secs(n=2)], ids=str)
@pytest.mark.parametrize("mode", ["constant", "reflect", "edge"])
@pytest.mark.parametrize("around", [(1, 0), (2, 5)], ids=str)
def test_pad_of_rows(around: tuple[int, int], mode: str, secs: Secs) -> None:
    """Something in front of rows of rank 3 and behind them, as of running sums."""
    _check("f16", (2, 70, 14), (0, 0, around[0], 0, 0, around[1]), mode, secs)


@pytest.mark.parametrize("secs", [Secs(), Secs(n=8), Secs(n=3), Secs(n=4, h=2)], ids=str)
@pytest.mark.parametrize("around", [(1, 0), (0, 1), (1, 2), (3, 0)], ids=str)
def test_pad_of_images(around: tuple[int, int], secs: Secs) -> None:
    """Images before and behind those there are, as of a shift of times; also slices of such."""
    shape = (8 - sum(around), 70, 5, 6)
    _check("f16", shape, (around[0], 0, 0, 0, around[1], 0, 0, 0), "constant", secs)


def _check(
    kind: str, shape: tuple[int, ...], paddings: tuple[int, ...], mode: str, secs: Secs
) -> None:
    """A Pad between ops of a group; `paddings` in front of all dimensions, then behind them."""
    case, rank = Case(kind, 3), len(shape)
    out = tuple(map(sum, zip(shape, paddings[:rank], paddings[rank:], strict=True)))
    a = case.op("tpu.Relu", [case.input("x", shape)], {}, "a", shape)
    attributes = {
        "paddings": str([*paddings]),
        "mode": f"#tpu<Pad_Mode {mode}>",
        "val": "0.75 : f64",
    }
    b = case.op("tpu.Pad", [a, *["none"] * 4], attributes, "b", out)
    case.op("tpu.Relu", [b], {}, "y", out)
    run_grouped(case, secs=secs)
