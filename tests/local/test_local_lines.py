"""Products with several rows of a matrix in each lane."""

import pytest
from tests.kernels.harness import Case
from tests.local.groups import run_grouped

from xdsl_tpu.passes.layer_group.values import Secs


def product(kind: str, left: tuple[int, ...], columns: int, relu: str = "false") -> Case:
    case = Case(kind)
    x = case.input("x", left)
    a = case.op("tpu.MulConst", [x], {"const_val": "0.5 : f64"}, "a", left)
    w = case.weight("w", (1, left[-1], columns), left[-1] ** -0.5)
    b = case.weight("b", (1, 1, 1, columns))
    shape = (*left[:-1], columns)
    y = case.op("tpu.MatMul", [a, w, b, "none", "none"], {"do_relu": relu}, "y", shape)
    case.op("tpu.AddConst", [y], {"const_val": "1.0 : f64"}, "z", shape)
    return case


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("relu", ["false", "true"])
@pytest.mark.parametrize("secs", [Secs(), Secs(h=3)], ids=str)
@pytest.mark.parametrize(
    ("left", "columns"),
    [
        ((1, 64, 6, 32), 96),
        ((1, 70, 5, 64), 32),
        ((1, 10, 3, 96), 64),
        ((1, 70, 5, 9), 64),
        ((1, 64, 6, 32), 20),
        ((1, 130, 4, 31), 1),
    ],
)
def test_lines(kind: str, relu: str, secs: Secs, left: tuple[int, ...], columns: int) -> None:
    """Also rows that do not end where a command may begin."""
    run_grouped(product(kind, left, columns, relu), secs=secs)


@pytest.mark.parametrize("bytes_per_lane", [0, 512])
def test_lines_with_little_scratch(bytes_per_lane: int) -> None:
    case = product("f16", (1, 64, 8, 64), 128, "true")
    run_grouped(case, scratch=lambda op: bytes_per_lane)
