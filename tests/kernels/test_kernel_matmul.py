"""Matrix products on the simulated machine against the interpreter."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests.kernels.harness import Case, Outcome, Shape, check, run

from xdsl_tpu.backend.chip import load_chip


@dataclass(frozen=True)
class MatMul:
    """A product of `left` with `right`, a weight when `constant`, and a bias of n numbers."""

    left: Shape
    right: Shape
    constant: bool = True
    left_transpose: bool = False
    right_transpose: bool = False
    hdim_is_batch: bool = False
    bias: bool = False
    relu: float | None = None
    result: str = ""
    """The type of result and bias where it is not that of the operands."""

    @property
    def out(self) -> Shape:
        k = self.left[-1]
        if self.hdim_is_batch:
            b, m, heads, _ = self.left
            return b, m, heads, self.right[1 if self.right_transpose else 3]
        n = self.right[-2 if self.right_transpose else -1]
        m = k if self.left_transpose else self.left[-2]
        return (*np.broadcast_shapes(self.left[:-2], self.right[:-2]), m, n)

    def case(self, kind: str) -> Case:
        case = Case(kind)
        depth = self.left[-2 if self.left_transpose else -1]
        x = case.input("x", self.left)
        make = case.weight if self.constant else case.input
        w = make("w", self.right, depth**-0.5)
        b = case.weight("b", (self.out[-1],), kind=self.result) if self.bias else "none"
        attributes = {
            "left_transpose": str(self.left_transpose).lower(),
            "right_transpose": str(self.right_transpose).lower(),
            "hdim_is_batch": str(self.hdim_is_batch).lower(),
            "do_relu": str(self.relu is not None).lower(),
            "relu_limit": f"{self.relu if self.relu is not None else -1.0:.6e} : f64",
        }
        case.op("tpu.MatMul", [x, w, b, "none", "none"], attributes, "y", self.out, self.result)
        return case


def outcome(product: MatMul, kind: str) -> Outcome:
    return check(product.case(kind))


PRODUCTS = {
    "tiny": MatMul((3, 5), (5, 7)),
    "odd sizes, bias, relu": MatMul((1, 70, 67), (67, 131), bias=True, relu=-1.0),
    "classifier": MatMul((1, 300), (300, 1000), bias=True),
    "tokens": MatMul((1, 197, 96), (96, 384), bias=True, relu=6.0),
    "many windows": MatMul((16, 49, 64), (64, 64), bias=True),
    "rank 4": MatMul((1, 14, 14, 64), (64, 32)),
    "right transposed": MatMul((1, 100, 40), (1, 90, 40), constant=False, right_transpose=True),
    "left transposed": MatMul((2, 70, 50), (2, 70, 40), constant=False, left_transpose=True),
    "batches": MatMul((6, 49, 32), (6, 32, 49), constant=False),
    "broadcast batches": MatMul((2, 3, 20, 10), (1, 3, 10, 30), constant=False),
    "scores": MatMul(
        (4, 49, 3, 32), (4, 49, 3, 32), constant=False, right_transpose=True, hdim_is_batch=True
    ),
    "attended": MatMul((4, 49, 3, 49), (4, 49, 3, 32), constant=False, hdim_is_batch=True),
    "long scores": MatMul(
        (1, 197, 2, 64), (1, 197, 2, 64), constant=False, right_transpose=True, hdim_is_batch=True
    ),
    "long attended": MatMul((1, 197, 2, 197), (1, 197, 2, 64), constant=False, hdim_is_batch=True),
}


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("product", PRODUCTS.values(), ids=PRODUCTS)
def test_product(product: MatMul, kind: str) -> None:
    outcome(product, kind)


WIDE = {
    "rows": MatMul((1, 300), (300, 1000), bias=True, relu=-1.0, result="f32"),
    "tiles": MatMul((1, 512, 64), (64, 8000), result="f32"),
    "batches": MatMul((6, 49, 32), (6, 32, 49), constant=False, result="f32"),
    "transposed": MatMul((2, 70, 50), (2, 70, 40), False, left_transpose=True, result="f32"),
}
"""Products stored as the f32 numbers they are summed in."""


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("product", WIDE.values(), ids=WIDE)
def test_wide_results(product: MatMul, kind: str) -> None:
    outcome(product, kind)


SMALL = replace(load_chip(), local_bytes=4096)
"""So little memory that K must be split and heads do not fit side by side."""


@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.parametrize(
    "product",
    [
        MatMul((1, 300), (300, 330), bias=True, relu=-1.0),
        MatMul((70, 700), (700, 100)),
        MatMul((70, 700), (700, 100), bias=True, result="f32"),
        PRODUCTS["long attended"],
        PRODUCTS["long scores"],
    ],
    ids=["bias", "deep", "wide", "attended", "scores"],
)
def test_little_local_memory(product: MatMul, kind: str) -> None:
    check(product.case(kind), SMALL)


@pytest.mark.parametrize("product", [PRODUCTS["attended"], PRODUCTS["left transposed"]])
def test_a_chip_with_fewer_lanes(product: MatMul) -> None:
    check(product.case("f16"), replace(load_chip(), lanes=32, local_bytes=32768))


@pytest.mark.parametrize(
    ("product", "floor", "most"),
    [
        # floor: operand bytes at 58, result bytes at 44 per cycle: docs/hardware/cycles.md
        (MatMul((1, 2048), (2048, 1000), bias=True), 70772, 1.02),
        (MatMul((1, 197, 384), (384, 1536), bias=True), 36795, 1.15),
        (
            MatMul(
                (16, 49, 6, 32),
                (16, 49, 6, 32),
                constant=False,
                right_transpose=True,
                hdim_is_batch=True,
            ),
            20800,
            1.1,
        ),
    ],
    ids=["classifier", "tokens", "heads"],
)
def test_layers_stay_near_the_cost_of_their_bytes(product: MatMul, floor: int, most: float) -> None:
    assert floor <= run(product.case("f16")).cycles <= most * floor
