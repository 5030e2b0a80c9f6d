"""Pooling on the simulated machine against the interpreter."""

from dataclasses import dataclass

import pytest
from tests.kernels.harness import Case, check, check_encoding
from tests.local.groups import run_grouped

from xdsl_tpu.dialects.errors import TpuError


@dataclass(frozen=True)
class Pool:
    """A pooling; `pads` are those before all axes, then those after."""

    x: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[int, ...]
    mode: str = "Max"
    counted: bool = False
    relu: float | None = None

    @property
    def out(self) -> tuple[int, ...]:
        axes = len(self.kernel)
        sizes = (
            (self.x[2 + i] + self.pads[i] + self.pads[axes + i] - self.kernel[i]) // self.strides[i]
            for i in range(axes)
        )
        return (*self.x[:2], *(size + 1 for size in sizes))

    def case(self, kind: str) -> Case:
        case = Case(kind)
        x = case.input("x", self.x)
        attributes = {
            "kernel_shape": str(list(self.kernel)),
            "strides": str(list(self.strides)),
            "pads": str(list(self.pads)),
            "pool_mode": f"#tpu<pool_mode {self.mode}>",
            "count_include_pad": str(self.counted).lower(),
            "do_relu": str(self.relu is not None).lower(),
            "relu_limit": f"{self.relu if self.relu is not None else -1.0:.6e} : f64",
        }
        case.op(f"tpu.Pool{len(self.kernel)}D", [x], attributes, "y", self.out)
        return case


POOLS = {
    "stem": Pool((1, 64, 30, 30), (3, 3), (2, 2), (1, 1, 1, 1)),
    "images and row tiles": Pool((3, 70, 90, 80), (2, 2), (2, 2), (0, 0, 0, 0), relu=-1.0),
    "global": Pool((1, 200, 7, 7), (7, 7), (1, 1), (0, 0, 0, 0), "Avg", True),
    "global with a large stride": Pool((1, 10, 17, 17), (17, 17), (17, 17), (0, 0, 0, 0), "Avg"),
    "pads not counted": Pool((2, 30, 13, 15), (3, 5), (1, 2), (1, 2, 1, 2), "Avg"),
    "pads counted": Pool((1, 80, 12, 12), (3, 3), (2, 2), (1, 1, 1, 1), "Avg", True),
    "line": Pool((2, 40, 100), (4,), (4,), (0, 0), "Avg"),
    "padded line": Pool((1, 5, 33), (3,), (2,), (1, 1)),
}


@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.parametrize("pool", POOLS.values(), ids=POOLS)
def test_pool(pool: Pool, kind: str) -> None:
    check(pool.case(kind))


def test_more_rows_than_a_command_holds() -> None:
    """By itself in parts; a slice of so many is refused before there is a command."""
    case = Pool((1, 8, 80_000), (2,), (2,), (0, 0)).case("f16")
    check_encoding(check(case).program)
    with pytest.raises(TpuError, match="80000 rows are more than one command holds"):
        run_grouped(case)
