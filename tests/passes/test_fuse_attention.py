"""`fuse-attention`: products and softmax become one op, whoever wrote them."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from tests.passes.semantics import assert_same_numbers, compiled, kinds, ops_of
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.text import parse_module
from xdsl_tpu.dialects.weights import Weights, attach
from xdsl_tpu.passes.fuse_attention.ranges import key_ranges

Shape = tuple[int, ...]
ALWAYS = "fuse-attention{when=always}"


@dataclass
class Text:
    """A function of f16 values, written line by line."""

    inputs: dict[str, Shape] = field(default_factory=dict[str, Shape])
    lines: list[str] = field(default_factory=list[str])
    shapes: dict[str, Shape] = field(default_factory=dict[str, Shape])

    def input(self, name: str, *shape: int) -> str:
        self.inputs[name] = self.shapes[name] = shape
        return name

    def weight(self, name: str, *shape: int) -> str:
        self.shapes[name] = shape
        self.lines.append(f'%{name} = "top.Weight"() : () -> {kind(shape)} loc("{name}")')
        return name

    def op(self, op: str, name: str, operands: str, attributes: str, *shape: int) -> str:
        self.shapes[name] = shape
        given = operands.split()
        types = ", ".join("none" if one == "none" else kind(self.shapes[one]) for one in given)
        values = ", ".join(f"%{one}" for one in given)
        self.lines.append(
            f'%{name} = "tpu.{op}"({values}) {{{attributes}}} : ({types}) -> {kind(shape)} '
            f'loc("{name}")'
        )
        return name

    def permute(self, name: str, value: str, *order: int) -> str:
        shape = [self.shapes[value][axis] for axis in order]
        return self.op("Permute", name, f"{value} none", f"order = {list(order)}", *shape)

    def reshape(self, name: str, value: str, *shape: int) -> str:
        return self.op("Reshape", name, value, "", *shape)

    def matmul(self, name: str, a: str, b: str, flags: str = "") -> str:
        left, right = self.shapes[a], self.shapes[b]
        columns = right[-2] if "right_transpose" in flags else right[-1]
        return self.op("MatMul", name, f"{a} {b} none none none", flags, *left[:-1], columns)

    def softmax(self, name: str, value: str) -> str:
        shape = self.shapes[value]
        attributes = f"axis = {len(shape) - 1} : si32"
        return self.op("Softmax", name, f"{value} none none none none none", attributes, *shape)

    def text(self, result: str) -> str:
        given = ", ".join(f"%{n}_in: {kind(s)} loc(unknown)" for n, s in self.inputs.items())
        inputs = "\n".join(
            f'%{n} = "top.Input"(%{n}_in) : ({kind(s)}) -> {kind(s)} loc("{n}")'
            for n, s in self.inputs.items()
        )
        body = "\n".join(['%none = "top.None"() : () -> none loc(unknown)', inputs, *self.lines])
        out = kind(self.shapes[result])
        return f"""module attributes {{module.state = "TPU_LOWERED", module.mode = "F16",
            module.chip = "bm1684x"}} {{ func.func @main({given}) -> {out} {{
            {body}
            return %{result} : {out} loc(unknown) }} loc(unknown) }} loc(unknown)"""


def kind(shape: Shape) -> str:
    return f"tensor<{'x'.join(map(str, shape))}xf16>"


def by_tokens(batch: int = 1, mask: Shape | None = None, scale: str = "scores") -> str:
    """Rows and heads swapped before the products, as exporters write it."""
    t = Text()
    q = t.permute("qp", t.input("q", batch, 6, 4, 8), 0, 2, 1, 3)
    k = t.permute("kp", t.input("k", batch, 10, 4, 8), 0, 2, 3, 1)
    v = t.permute("vp", t.input("v", batch, 10, 4, 8), 0, 2, 1, 3)
    if scale == "keys":
        k = t.op("MulConst", "scaled", k, "const_val = 0.25 : f64", *t.shapes[k])
    value = t.matmul("s", q, k)
    if scale == "scores":
        value = t.op("MulConst", "scaled", value, "const_val = 0.25 : f64", *t.shapes[value])
    if mask is not None:
        other = t.input("mask", *mask)
        value = t.op("Add", "masked", f"{other} {value}", "", *t.shapes[value])
    if scale == "last":
        value = t.op("MulConst", "scaled", value, "const_val = 0.25 : f64", *t.shapes[value])
    out = t.matmul("y", t.softmax("p", value), v)
    return t.text(t.permute("z", out, 0, 2, 1, 3))


def three_dimensions(batch: int = 2) -> str:
    """Batch and heads as one dimension."""
    t = Text()
    matrices: list[str] = []
    for name, rows in (("q", 6), ("k", 10), ("v", 10)):
        moved = t.permute(f"{name}p", t.input(name, batch, rows, 4, 8), 0, 2, 1, 3)
        matrices.append(t.reshape(f"{name}r", moved, batch * 4, rows, 8))
    q, k, v = matrices
    value = t.matmul("s", q, k, "right_transpose = true")
    out = t.matmul("y", t.softmax("p", value), v)
    out = t.reshape("yr", out, batch, 4, 6, 8)
    return t.text(t.permute("z", out, 0, 2, 1, 3))


def shared_heads() -> str:
    """Two heads of keys for six of queries, repeated by a Tile."""
    t = Text()
    q = t.input("q", 1, 6, 5, 8)
    every: list[str] = []
    for name in ("k", "v"):
        given = t.input(name, 1, 2, 7, 8)
        apart = t.op("Unsqueeze", f"{name}u", given, "axes = [2]", 1, 2, 1, 7, 8)
        tiled = t.op("Tile", f"{name}t", f"{apart} none", "tile = [1, 1, 3, 1, 1]", 1, 2, 3, 7, 8)
        every.append(t.reshape(f"{name}r", tiled, 1, 6, 7, 8))
    k, v = every
    value = t.softmax("p", t.matmul("s", q, k, "right_transpose = true"))
    return t.text(t.matmul("y", value, v))


def scaled_heads() -> str:
    """The scores of each head multiplied by a number, and a bias of each head added."""
    t = Text()
    q, k, v = (t.input(name, 2, 3, 6, 8) for name in ("q", "k", "v"))
    value = t.matmul("s", q, k, "right_transpose = true")
    w = t.weight("w", 3, 1, 1, 1)
    value = t.op(
        "Conv2D", "c", f"{value} {w} none",
        "kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], group = 3 : i64, "
        "with_bias = false, do_relu = false",
        *t.shapes[value],
    )  # fmt: skip
    value = t.op("Add", "b", f"{value} {t.weight('bias', 1, 3, 6, 6)}", "", *t.shapes[value])
    return t.text(t.matmul("y", t.softmax("p", value), v))


def talking_heads() -> str:
    """Heads mixed in front of the softmax and behind it."""
    t = Text()
    q, k, v = (t.input(name, 1, 3, 6, 8) for name in ("q", "k", "v"))

    def mixed(name: str, value: str) -> str:
        last = t.permute(f"{name}l", value, 0, 2, 3, 1)
        given = f"{last} {t.weight(f'{name}w', 3, 3)} {t.weight(f'{name}b', 1, 1, 1, 3)} none none"
        product = t.op("MatMul", f"{name}m", given, "", 1, 6, 6, 3)
        return t.permute(name, product, 0, 3, 1, 2)

    scores = mixed("a", t.matmul("s", q, k, "right_transpose = true"))
    return t.text(t.matmul("y", mixed("b", t.softmax("p", scores)), v))


SPELLINGS = {
    "scale on the scores": by_tokens(),
    "scale on the keys": by_tokens(scale="keys"),
    "scale behind the mask": by_tokens(mask=(1, 1, 6, 10), scale="last"),
    "mask of each head": by_tokens(mask=(1, 4, 6, 10)),
    "mask of keys": by_tokens(batch=2, mask=(2, 1, 1, 10)),
    "mask of each image": by_tokens(batch=2, mask=(2, 1, 6, 10)),
    "mask of few dimensions": by_tokens(batch=2, mask=(6, 10)),
    "three dimensions": three_dimensions(),
    "three dimensions, one batch": three_dimensions(1),
    "shared heads": shared_heads(),
    "scaled heads": scaled_heads(),
    "talking heads": talking_heads(),
}


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS)
def test_fused_attention_computes_the_same(text: str) -> None:
    after = assert_same_numbers(text, ALWAYS, tolerance=3e-3)
    assert "Softmax" not in kinds(after)
    assert kinds(after).count("FAttention") == 1


@pytest.mark.parametrize("name", ["scale on the scores", "three dimensions", "mask of each head"])
def test_no_permute_is_left(name: str) -> None:
    after = compiled_text(SPELLINGS[name], f"{ALWAYS},processor-tpu-optimize")
    assert "Permute" not in kinds(after)


def test_shared_heads_are_read_once() -> None:
    after = compiled_text(SPELLINGS["shared heads"], ALWAYS)
    (op,) = ops_of(after, tpu.FAttentionOp)
    assert (op.q_head.value.data, op.kv_head.value.data) == (6, 2)
    assert "Tile" not in kinds(after)


def compiled_text(text: str, passes: str) -> ModuleOp:
    return compiled(parse_module(text), passes)


def twice_used() -> str:
    t = Text()
    q, k, v = (t.input(name, 1, 2, 6, 8) for name in ("q", "k", "v"))
    p = t.softmax("p", t.matmul("s", q, k, "right_transpose = true"))
    y = t.matmul("y", p, v)
    return t.text(t.matmul("both", p, y))


def other_axis() -> str:
    t = Text()
    q, k, v = (t.input(name, 1, 2, 6, 8) for name in ("q", "k", "v"))
    s = t.matmul("s", q, k, "right_transpose = true")
    p = t.op("Softmax", "p", f"{s} none none none none none", "axis = 2 : si32", 1, 2, 6, 6)
    return t.text(t.matmul("y", p, v))


@pytest.mark.parametrize("text", [twice_used(), other_axis()], ids=["used twice", "other axis"])
def test_other_products_stay(text: str) -> None:
    assert "FAttention" not in kinds(compiled_text(text, ALWAYS))


def measured(rows: int, heads: int) -> list[str]:
    t = Text()
    given = [t.input(name, 1, rows, heads, 64) for name in ("q", "k", "v")]
    q, k, v = (t.permute(f"{name}p", name, 0, 2, 1, 3) for name in given)
    p = t.softmax("p", t.matmul("s", q, k, "right_transpose = true"))
    out = t.permute("z", t.matmul("y", p, v), 0, 2, 1, 3)
    return kinds(compiled_text(t.text(out), "fuse-attention"))


def test_only_what_is_faster_is_fused() -> None:
    assert measured(1024, 2) == ["FAttention", "Permute", "Permute"]
    assert "FAttention" not in measured(16, 2)


def causal(rows: int, keys: int) -> np.ndarray:
    return np.triu(np.full((rows, keys), -np.inf, np.float32), 1 + keys - rows)


def test_ranges_of_a_causal_mask() -> None:
    assert key_ranges(causal(130, 130)) == (0, 64, 1, 64, 0, 128, 65, 128, 0, 130, 129, 130)


def test_ranges_of_a_window() -> None:
    mask = causal(128, 128)
    mask[np.tril_indices(128, -40)] = -np.inf
    assert key_ranges(mask) == (0, 64, 0, 64, 25, 128, 25, 128)


def test_rows_that_see_nothing_see_everything() -> None:
    mask = causal(64, 96)
    mask[3] = -np.inf
    assert key_ranges(mask) is None


def test_a_bias_hides_nothing() -> None:
    assert key_ranges(np.ones((1, 3, 70, 70), np.float32)) is None


def test_a_causal_mask_shortens_the_rows() -> None:
    t = Text()
    q, k, v = (t.input(name, 1, 2, 128, 16) for name in ("q", "k", "v"))
    s = t.matmul("s", q, k, "right_transpose = true")
    s = t.op("Add", "m", f"{s} {t.weight('mask', 1, 1, 128, 128)}", "", 1, 2, 128, 128)
    module = parse_module(t.text(t.matmul("y", t.softmax("p", s), v)))
    weights = Weights()
    weights["mask"] = causal(128, 128).astype(np.float16).reshape(1, 1, 128, 128)
    attach(module, weights)
    after = compiled(module, ALWAYS)
    (op,) = ops_of(after, tpu.FAttentionOp)
    assert ints(op.key_ranges) == (0, 64, 1, 64, 0, 128, 65, 128)
