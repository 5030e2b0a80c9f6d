"""Rows of planes in slices of some columns."""

import pytest
from tests.kernels.harness import Case
from tests.local.groups import run_grouped

from xdsl_tpu.passes.layer_group.values import Secs

SHAPE = (1, 5, 7, 300)


def along_rows(kind: str, op: str) -> Case:
    case = Case(kind)
    x = case.op("tpu.MulConst", [case.input("x", SHAPE)], {"const_val": "2.0 : f64"}, "a", SHAPE)
    if op == "tpu.Softmax":
        attributes, rest, shape = {"axis": "2 : si32"}, ["none"] * 5, SHAPE
    else:
        attributes = {"axes": "[2]", "keepdims": "true", "mode": '"ReduceL2"'}
        rest, shape = ["none"] * 2, (1, 5, 1, 300)
    y = case.op(op, [x, *rest], attributes, "y", shape)
    case.op("tpu.AddConst", [y], {"const_val": "1.0 : f64"}, "z", shape)
    return case


@pytest.mark.parametrize("kind", ["f32", "f16"])
@pytest.mark.parametrize("op", ["tpu.Softmax", "tpu.Reduce"])
@pytest.mark.parametrize("secs", [Secs(), Secs(w=2), Secs(w=7)], ids=str)
def test_columns(kind: str, op: str, secs: Secs) -> None:
    run_grouped(along_rows(kind, op), secs=secs)
