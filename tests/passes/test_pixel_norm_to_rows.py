"""Norms over channels become norms of rows: the same numbers."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds

from xdsl_tpu.dialects import top


@pytest.mark.parametrize("shape", [(2, 6, 3, 5), (2, 6, 7), (1, 6, 2, 3, 4)])
@pytest.mark.parametrize("given", ["both", "weight", "bias", "none"])
def test_channels_are_turned_there_and_back(shape: tuple[int, ...], given: str) -> None:
    net = Net()
    size = (1, shape[1], *(1 for _ in shape[2:]))
    weight = net.weight("w", *size) if given in ("both", "weight") else net.none
    bias = net.weight("b", *size) if given in ("both", "bias") else net.none
    x = net.op(top.AbsOp, "a", (net.input("x", *shape),))
    normed = net.op(top.PixelNormOp, "y", (x, weight, bias), eps=1e-6)
    after = assert_same_numbers(net.module(normed), "processor-top-optimize")
    assert kinds(after) == ["Abs", "Permute", "LayerNorm", "Permute"]
