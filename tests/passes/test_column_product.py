"""Products with one column for each of many matrices: sums of products, with the same numbers."""

from typing import Any

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.passes.pipeline import parse_pipeline

OPTIMIZE = "processor-tpu-optimize"
TOLERANCE = {"F32": 1e-5, "F16": 4e-3, "BF16": 4e-2}


def lowered(count: int, mode: str, columns: int = 1, **how: Any) -> ModuleOp:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", count, 7, 5),))
    shape = (columns, 5) if how.get("right_transpose") else (5, columns)
    y = net.op(top.AbsOp, "b", (net.input("y", count, *shape),))
    module = net.module(net.op(top.MatMulOp, "z", (x, y, net.none), **how))
    for one in parse_pipeline(f"convert-top-to-tpu{{mode={mode} chip=bm1684x}}"):
        one.apply(make_context(), module)
    return module


@pytest.mark.parametrize("mode", TOLERANCE)
@pytest.mark.parametrize("transposed", [False, True])
def test_one_column(mode: str, transposed: bool) -> None:
    module = lowered(7, mode, right_transpose=transposed)
    after = kinds(assert_same_numbers(module, OPTIMIZE, tolerance=TOLERANCE[mode]))
    assert "MatMul" not in after
    assert after.count("Reduce") == 1


@pytest.mark.parametrize(
    ("count", "columns", "how"), [(6, 1, {}), (7, 2, {}), (7, 1, {"do_relu": True})]
)
def test_what_stays(count: int, columns: int, how: dict[str, bool]) -> None:
    """Fewer matrices than rows, several columns, a relu."""
    after = assert_same_numbers(lowered(count, "F32", columns, **how), OPTIMIZE, tolerance=1e-5)
    assert kinds(after).count("MatMul") == 1
