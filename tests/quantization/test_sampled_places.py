"""Places that an image is sampled at are in floats in INT8 networks."""

from tests.passes.semantics import Net
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.lowering.sampled_places import sampled_places
from xdsl_tpu.passes.tensors import functions


def marked(*behind: str, sampled: bool = True) -> set[str]:
    """Offsets, what is done to them, and an image that is sampled there, or not."""
    net = Net()
    given = (net.input("q", 1, 16, 8), net.weight("w", 8, 2), net.none)
    value: SSAValue = net.op(top.MatMulOp, "offsets", given)
    for kind in behind:
        match kind:
            case "times":
                value = net.op(top.MulConstOp, kind, (value,), const_val=0.5)
            case "less":
                value = net.op(top.SubConstOp, kind, (value,), const_val=1.0)
            case "moved":
                value = net.op(top.ReshapeOp, kind, (value,), shape=(1, 4, 4, 2))
            case "tanh":
                value = net.op(top.TanhOp, kind, (value,))
            case _:
                value = net.op(top.AddOp, kind, (value, net.input("points", 1, 16, 2)))
    if sampled:
        given = (net.input("x", 1, 3, 9, 9), value)
        value = net.op(top.GridSamplerOp, "y", given, mode=0, padding_mode=0, align_corners=False)
    (func,) = functions(net.module(value))
    return {name_of(op.results[0]) or "" for op in sampled_places(func)}


def test_arithmetic_behind_offsets_is_found() -> None:
    found = {"times", "plus", "less", "moved"}
    assert marked("times", "plus", "less", "moved") == found
    assert marked("plus", "tanh", "times", "moved") == {"times", "moved"}


def test_what_computes_offsets_and_what_is_not_sampled_stays() -> None:
    assert marked("moved") == {"moved"}
    assert not marked("times", "plus", sampled=False)
