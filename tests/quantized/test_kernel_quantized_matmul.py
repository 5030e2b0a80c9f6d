"""Products of integer matrices over DDR: every element is the interpreter's."""

from dataclasses import dataclass

import numpy as np
import pytest
from tests.kernels.harness import Shape
from tests.quantized.quant_cases import S8, U8, QuantCase, check, product_attributes

pytestmark = pytest.mark.usefixtures("on_both_chips")


@dataclass(frozen=True)
class Product:
    """`left` x `right`, which is a weight when `constant`."""

    left: Shape
    right: Shape
    constant: bool = True
    left_transpose: bool = False
    right_transpose: bool = False
    hdim_is_batch: bool = False
    bias: bool = False

    @property
    def out(self) -> Shape:
        if self.hdim_is_batch:
            b, m, heads, _ = self.left
            return b, m, heads, self.right[1 if self.right_transpose else 3]
        n = self.right[-2 if self.right_transpose else -1]
        m = self.left[-1 if self.left_transpose else -2]
        return (*np.broadcast_shapes(self.left[:-2], self.right[:-2]), m, n)

    def case(self, left: str, right: str, out: str) -> QuantCase:
        case = QuantCase()
        depth = self.left[-2 if self.left_transpose else -1]
        x = case.integers("x", self.left, left)
        if self.constant:
            w = case.constants("w", self.right, "i8")
        else:
            w = case.integers("w", self.right, right)
        limit = 3000
        b = case.constants("b", (1, 1, self.out[-1]), "i32", limit) if self.bias else "none"
        attributes = product_attributes(
            depth,
            left_transpose=self.left_transpose,
            right_transpose=self.right_transpose,
            hdim_is_batch=self.hdim_is_batch,
            do_relu=out == U8,
        )
        case.op("tpu.MatMul", [x, w, b, "none", "none"], attributes, "y", self.out, out)
        return case


PRODUCTS = {
    "tiny": Product((3, 5), (5, 7)),
    "odd sizes, bias": Product((1, 70, 67), (67, 131), bias=True),
    "classifier": Product((1, 300), (300, 1000), bias=True),
    "tokens": Product((1, 197, 96), (96, 384), bias=True),
    "many windows": Product((16, 49, 64), (64, 64), bias=True),
    "right transposed": Product((1, 100, 40), (1, 90, 40), constant=False, right_transpose=True),
    "left transposed": Product((2, 70, 50), (2, 70, 40), constant=False, left_transpose=True),
    "batches": Product((6, 49, 32), (6, 32, 49), constant=False),
    "batches of heads": Product((4, 3, 49, 49), (4, 3, 49, 32), constant=False),
    "scores": Product(
        (4, 49, 3, 32), (4, 49, 3, 32), constant=False, right_transpose=True, hdim_is_batch=True
    ),
    "attended": Product((4, 49, 3, 49), (4, 49, 3, 32), constant=False, hdim_is_batch=True),
    "long scores": Product(
        (1, 197, 2, 64), (1, 197, 2, 64), constant=False, right_transpose=True, hdim_is_batch=True
    ),
    "long attended": Product((1, 197, 2, 197), (1, 197, 2, 64), constant=False, hdim_is_batch=True),
}


@pytest.mark.parametrize("kinds", [(S8, S8, S8), (U8, S8, S8), (U8, S8, U8)], ids=["i", "ui", "uu"])
@pytest.mark.parametrize("product", PRODUCTS.values(), ids=PRODUCTS)
def test_products(product: Product, kinds: tuple[str, str, str]) -> None:
    check(product.case(*kinds))
