"""Fused attention on the simulated machine against the interpreter."""

from dataclasses import dataclass

import pytest
from tests.kernels.harness import Case, Shape, check


@dataclass(frozen=True)
class Attention:
    """Sizes of an attention; `mask` is the shape of one that is an input."""

    rows: int = 64
    keys: int = 64
    depth: int = 64
    heads: int = 1
    kv_heads: int = 0
    width: int = 0
    batch: int = 1
    mask: Shape | None = None
    scale: float = 0.0
    ranges: tuple[int, ...] = ()
    head_major: tuple[int, ...] = (0, 0, 0, 0)

    def case(self, kind: str = "f16") -> Case:
        case = Case(kind)
        kv_heads, width = self.kv_heads or self.heads, self.width or self.depth
        q = case.input("q", self._shape(0, self.rows, self.heads, self.depth))
        k = case.input("k", self._shape(1, self.keys, kv_heads, self.depth))
        v = case.input("v", self._shape(2, self.keys, kv_heads, width))
        mask = "none" if self.mask is None else case.input("mask", self.mask)
        numbers = {"batch": self.batch, "q_head": self.heads, "kv_head": kv_heads}
        numbers |= {"dim": self.depth, "mq": self.rows, "mk": self.keys}
        attributes = {name: f"{value} : i64" for name, value in numbers.items()}
        attributes["scale"] = f"{self.scale or self.depth**-0.5:.6e} : f64"
        if self.ranges:
            attributes["key_ranges"] = f"[{', '.join(map(str, self.ranges))}]"
        if any(self.head_major):
            attributes["head_major"] = f"[{', '.join(map(str, self.head_major))}]"
        out = self._shape(3, self.rows, self.heads, width)
        case.op("tpu.FAttention", [q, k, v, mask, "none"], attributes, "y", out)
        return case

    def _shape(self, which: int, rows: int, heads: int, columns: int) -> Shape:
        if self.head_major[which]:
            return self.batch, heads, rows, columns
        return self.batch, rows, heads, columns

    @property
    def products(self) -> float:
        """Cycles of the two products on a full array."""
        each = self.batch * self.heads * self.rows * self.keys
        return each * (self.depth + (self.width or self.depth)) / 8192


FORMS = {
    "one head": Attention(),
    "rows beside lane groups": Attention(70, 33, 40, heads=3),
    "few lanes": Attention(49, 49, 32, heads=4, batch=3),
    "grouped heads": Attention(130, 70, 24, heads=6, kv_heads=2, batch=2),
    "values of another size": Attention(66, 100, 16, heads=2, width=72),
    "one row": Attention(1, 130, 80, heads=4, kv_heads=1),
    "heads of 10": Attention(64, 64, 10, heads=6),
    "heads of 160": Attention(20, 200, 160, heads=2),
    "heads first": Attention(70, 100, 40, 4, 2, batch=2, head_major=(1, 1, 1, 1)),
    "keys with heads first": Attention(70, 100, 32, heads=4, head_major=(0, 1, 0, 0)),
    "values with heads first": Attention(130, 70, 32, heads=4, head_major=(0, 0, 1, 1)),
    "mask for all heads": Attention(70, 100, 32, heads=4, mask=(1, 1, 70, 100)),
    "mask of each head": Attention(70, 100, 32, heads=4, mask=(4, 70, 100)),
    "mask of each batch": Attention(20, 40, 32, heads=2, batch=3, mask=(3, 1, 20, 40)),
    "mask of keys": Attention(70, 100, 32, heads=4, batch=2, mask=(2, 1, 1, 100)),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_equals_the_interpreter(form: Attention) -> None:
    check(form.case())
