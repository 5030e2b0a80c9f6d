"""Masks of several sequences, repeated for the heads of each: the same numbers."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, ops_of
from tests.passes.test_place_values import PASSES
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.passes.place_values import repeat
from xdsl_tpu.passes.tensors import shape_of

IN_LANES = f'{PASSES[:-1]} in_lanes="true"}}'


def masked(*shape: int, layers: int = 2) -> ModuleOp:
    """Scores of 16 sequences of 4 heads with an input, after a function, added to them."""
    net = Net()
    mask = net.op(top.AbsOp, "mask", (net.input("m", *shape),))
    found: list[SSAValue] = []
    for number in range(layers):
        q, k = net.input(f"q{number}", 16, 4, 49, 32), net.input(f"k{number}", 16, 4, 32, 49)
        scores = net.op(top.MatMulOp, f"scores{number}", (q, k, net.none))
        scores = net.op(top.AddOp, f"sum{number}", (scores, mask))
        found.append(net.op(top.SoftmaxOp, f"softmax{number}", (scores,), axis=3))
    return net.module(*found)


@pytest.mark.parametrize("shape", [(16, 1, 1, 49), (1, 4, 1, 49)], ids=str)
def test_rows_are_repeated_once_for_all_layers(shape: tuple[int, ...]) -> None:
    after = assert_same_numbers(masked(*shape), IN_LANES)
    (tile,) = ops_of(after, tpu.TileOp)
    assert shape_of(tile.output) == (16, 4, 1, 49)
    for added in ops_of(after, tpu.AddOp):
        assert shape_of(added.output) == (64, 49, 49)
        assert shape_of(added.inputs[1]) == (64, 1, 49)


@pytest.mark.parametrize("shape", [(16, 1, 49, 49), (16, 4, 1, 49), (1, 1, 1, 49)], ids=str)
def test_matrices_and_rows_of_all_or_none_stay(shape: tuple[int, ...]) -> None:
    after = assert_same_numbers(masked(*shape), IN_LANES)
    assert not ops_of(after, tpu.TileOp)


def test_it_must_be_worth_the_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeat, "TIMES", 10**4)
    after = assert_same_numbers(masked(16, 1, 1, 49), IN_LANES)
    assert not ops_of(after, tpu.TileOp)
