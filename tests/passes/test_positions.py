"""Positions added to scores by rows and columns of keys: columns of the product, same numbers."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.tensors import shape_of

HEADS, SIDE, SIZE = 2, 32, 4
KEYS = SIDE * SIDE


def attention(
    spelling: str, scale: bool = False, side: int = SIDE, turned: bool = True, heads: int = HEADS
) -> ModuleOp:
    """Scores of an image's pixels with a number for each row and column of keys, and values."""
    net, keys = Net(), side * side
    q = net.input("q", heads, keys, SIZE)
    k = net.input("k", heads, keys, SIZE) if turned else net.input("k", heads, SIZE, keys)
    k = net.op(top.PermuteOp, "kt", (k,), order=[0, 2, 1]) if turned else k
    rows = net.input("rows", heads, side, side, side, 1)
    columns = net.input("columns", heads, side, side, 1, side)
    scores = net.op(top.MatMulOp, "scores", (q, k, net.none))
    if scale:
        scores = net.op(top.MulConstOp, "scaled", (scores,), const_val=0.5)
    total = summed(net, spelling, scores, (rows, columns), (heads, side, side, side, side))
    shares = net.op(top.SoftmaxOp, "shares", (total,), axis=2)
    values = net.input("v", heads, keys, SIZE)
    return net.module(net.op(top.MatMulOp, "y", (shares, values, net.none)))


def summed(
    net: Net, spelling: str, scores: SSAValue, terms: tuple[SSAValue, ...], image: tuple[int, ...]
) -> SSAValue:
    """As MViT spells the sum, term by term, or as SAM does, of both terms first."""
    flat = (image[0], image[1] * image[2], image[3] * image[4])
    if spelling == "terms first":
        both = net.op(top.AddOp, "both", terms)
        both = net.op(top.ReshapeOp, "flat", (both,), shape=flat)
        return net.op(top.AddOp, "sum", (scores, both))
    value = net.op(top.ReshapeOp, "seen", (scores,), shape=image)
    for number, term in enumerate(terms):
        value = net.op(top.AddOp, f"sum{number}", (value, term))
    return net.op(top.ReshapeOp, "flat", (value,), shape=flat)


@pytest.mark.parametrize("spelling", ["terms first", "one by one"])
@pytest.mark.parametrize(("scale", "turned"), [(False, True), (True, True), (False, False)])
def test_positions_are_columns_of_the_product(spelling: str, scale: bool, turned: bool) -> None:
    after = assert_same_numbers(attention(spelling, scale, turned=turned), "canonicalize")
    assert "Add" not in kinds(after)
    scores, _ = ops_of(after, top.MatMulOp)
    assert shape_of(scores.input) == (HEADS, KEYS, SIZE + 2 * SIDE)
    assert shape_of(scores.output) == (HEADS, KEYS, KEYS)


def with_a_class_token(at: tuple[int, int] = (1, 1), rows: int = KEYS) -> ModuleOp:
    """Scores of `rows` pixels with a number for each row and column of keys that are pixels, as
    MViT assigns it to `scores[:, 1:, 1:]`; `at` is how many queries and keys come before."""
    net, (above, left) = Net(), at
    q = net.input("q", HEADS, above + rows, SIZE)
    k = net.input("k", HEADS, SIZE, left + KEYS)
    scores = net.op(top.MatMulOp, "scores", (q, k, net.none))

    def box(name: str, offset: list[int], ends: list[int]) -> SSAValue:
        cut = {"offset": [0, *offset], "ends": [HEADS, *ends], "steps": [1, 1, 1]}
        return net.op(top.SliceOp, name, (scores, *[net.none] * 3), **cut)

    columns = net.input("columns", HEADS, rows, 1, 1, SIDE)
    lines = net.input("rows", HEADS, rows, 1, SIDE, 1)
    both = net.op(top.AddOp, "both", (lines, columns))
    terms = net.op(top.AddOp, "terms", (both, net.input("planes", HEADS, rows, 1, 1, 1)))
    terms = net.op(top.ReshapeOp, "flat", (terms,), shape=(HEADS, rows, KEYS))
    pixels = box("pixels", [above, left], [above + rows, left + KEYS])
    value = net.op(top.AddOp, "sum", (pixels, terms))
    if left:
        parts = (box("left", [above, 0], [above + rows, left]), value)
        value = net.op(top.ConcatOp, "lines", parts, axis=2)
    if above:
        parts = (box("above", [0, 0], [above, left + KEYS]), value)
        value = net.op(top.ConcatOp, "whole", parts, axis=1)
    return net.module(net.op(top.SoftmaxOp, "shares", (value,), axis=2))


@pytest.mark.parametrize("at", [(1, 1), (0, 1), (1, 0), (2, 3)], ids=str)
def test_positions_of_pixels_behind_a_class_token(at: tuple[int, int]) -> None:
    after = assert_same_numbers(with_a_class_token(at), "canonicalize")
    assert "Add" not in kinds(after)
    (scores,) = ops_of(after, top.MatMulOp)
    assert shape_of(scores.input) == (HEADS, at[0] + KEYS, SIZE + 2 * SIDE + 1)
    (shares,) = ops_of(after, top.SoftmaxOp)
    assert shares.input == scores.output


def test_a_sum_that_is_turned_stays() -> None:
    """As many queries as keys: their places cannot be told by sizes."""
    net = Net()
    q, k = net.input("q", HEADS, KEYS + 1, SIZE), net.input("k", HEADS, SIZE, KEYS)
    scores = net.op(top.MatMulOp, "scores", (q, k, net.none))

    def rows(name: str, first: int, end: int) -> SSAValue:
        cut = {"offset": [0, first, 0], "ends": [HEADS, end, KEYS], "steps": [1, 1, 1]}
        return net.op(top.SliceOp, name, (scores, *[net.none] * 3), **cut)

    terms = rows("pixels", 1, KEYS + 1), net.input("term", HEADS, KEYS, 1)
    turned = net.op(top.PermuteOp, "turned", (net.op(top.AddOp, "sum", terms),), order=[0, 2, 1])
    whole = net.op(top.ConcatOp, "whole", (rows("above", 0, 1), turned), axis=1)
    shares = net.op(top.SoftmaxOp, "shares", (whole,), axis=2)
    assert "Add" in kinds(assert_same_numbers(net.module(shares), "canonicalize"))


def test_positions_beside_other_scores_stay() -> None:
    """What lies around the box is not what was there before."""
    net = Net()
    q, k = net.input("q", HEADS, KEYS, SIZE), net.input("k", HEADS, SIZE, KEYS)
    scores = net.op(top.MatMulOp, "scores", (q, k, net.none))
    total = net.op(top.AddOp, "sum", (scores, net.input("term", HEADS, KEYS, 1)))
    whole = net.op(top.ConcatOp, "whole", (net.input("above", HEADS, 1, KEYS), total), axis=1)
    shares = net.op(top.SoftmaxOp, "y", (whole,), axis=2)
    assert "Add" in kinds(assert_same_numbers(net.module(shares), "canonicalize"))


@pytest.mark.parametrize("spelling", ["terms first", "one by one"])
def test_short_rows_are_not_written_out(spelling: str) -> None:
    """Windows of 14x14: a number for each column of keys would be repeated in pieces of 14."""
    after = assert_same_numbers(attention(spelling, side=14, heads=7), "canonicalize")
    assert not {"Add", "Tile"} & set(kinds(after))


def test_factors_are_those_of_the_keys() -> None:
    """Queries may be read for the terms, too, as they are without the factor."""
    net = Net()
    given = net.input("q", HEADS, KEYS, SIZE), net.input("k", HEADS, SIZE, KEYS)
    q, k = (
        net.op(top.MulConstOp, f"{name}s", (one,), const_val=factor)
        for name, one, factor in zip("qk", given, (0.5, 0.25), strict=True)
    )
    scores = net.op(top.MatMulOp, "scores", (q, k, net.none))
    terms = net.op(top.AddOp, "sum", (scores, net.input("term", HEADS, KEYS, 1)))
    shares = net.op(top.SoftmaxOp, "y", (terms,), axis=2)
    after = assert_same_numbers(net.module(shares), "canonicalize")
    (scores_after,) = ops_of(after, top.MatMulOp)
    queries = scores_after.input.owner
    assert isinstance(queries, top.ConcatOp)
    assert isinstance(queries.inputs[0].owner, top.InputOp)
    (scaled,) = ops_of(after, top.MulConstOp)
    assert scaled.const_val.value.data == 0.125


def test_few_scores_stay() -> None:
    after = assert_same_numbers(attention("one by one", side=8), "canonicalize")
    assert kinds(after).count("Add") == 2


def test_terms_of_queries_stay() -> None:
    """What is added along queries is no product of theirs."""
    net = Net()
    q, k = net.input("q", HEADS, KEYS, SIZE), net.input("k", HEADS, SIZE, KEYS)
    scores = net.op(top.MatMulOp, "scores", (q, k, net.none))
    total = net.op(top.AddOp, "sum", (scores, net.input("term", HEADS, 1, KEYS)))
    after = assert_same_numbers(
        net.module(net.op(top.SoftmaxOp, "y", (total,), axis=2)), "canonicalize"
    )
    assert "Add" in kinds(after)


def test_scores_that_others_read_stay() -> None:
    net = Net()
    q, k = net.input("q", HEADS, KEYS, SIZE), net.input("k", HEADS, SIZE, KEYS)
    scores = net.op(top.MatMulOp, "scores", (q, k, net.none))
    total = net.op(top.AddOp, "sum", (scores, net.input("term", HEADS, KEYS, 1)))
    shares = net.op(top.SoftmaxOp, "y", (total,), axis=2)
    after = assert_same_numbers(net.module(shares, scores), "canonicalize")
    assert "Add" in kinds(after)
