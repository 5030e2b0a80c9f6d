"""What is compared with what it was chosen from is in one number format with it."""

import pytest
from tests.passes.semantics import Net
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.lowering.ties import compared_selections
from xdsl_tpu.passes.tensors import functions


def marked(*behind: str, swapped: bool = False, other: bool = False) -> set[str]:
    """Heat maps, what is chosen from them, and a comparison with them or with others."""
    net = Net()
    maps = net.op(top.SigmoidOp, "maps", (net.input("x", 1, 4, 6, 6),))
    value: SSAValue = maps
    for kind in behind:
        match kind:
            case "pool":
                window = {"kernel_shape": (3, 3), "strides": (1, 1), "pads": (1, 1, 1, 1)}
                value = net.op(top.MaxPoolOp, kind, (value,), **window)
            case "relu":
                value = net.op(top.ReluOp, kind, (value,))
            case "column":
                value = net.op(top.ReshapeOp, kind, (value,), shape=(1, 4, 1, 1))
            case mode:
                given = {"axes": [2, 3], "keepdims": False, "mode": mode}
                value = net.op(top.ReduceOp, kind, (value,), **given)
    beside = net.input("z", 1, 4, 6, 6) if other else maps
    given = (beside, value) if swapped else (value, beside)
    module = net.module(net.op(top.CompareOp, "y", given, mode="Equal"))
    (func,) = functions(module)
    return {name_of(op.results[0]) or "" for op in compared_selections(func)}


@pytest.mark.parametrize("swapped", [False, True])
def test_peaks_of_heat_maps_are_found(swapped: bool) -> None:
    assert marked("pool", swapped=swapped) == {"pool"}
    assert marked("ReduceMax", "column", swapped=swapped) == {"ReduceMax", "column"}


def test_what_is_no_choice_or_of_others_stays() -> None:
    assert not marked("relu")
    assert not marked("ReduceSum", "column")
    assert not marked("pool", other=True)
    assert not marked("pool", "relu")
