"""Products of matrices by themselves in slices: right however they are cut, cut about as well as
can be, and no fault planted into the programs of their sums goes unnoticed."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import product as product_of

import pytest
from tests.kernels.harness import check
from tests.kernels.test_kernel_matmul import MatMul

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.kernels.matmul import matmul
from xdsl_tpu.backend.kernels.tiling import Piece, steps_of
from xdsl_tpu.backend.local import alone, cut_search
from xdsl_tpu.backend.local.cut_price import Choice, Price, price_of
from xdsl_tpu.backend.local.cut_search import COLUMNS_FIRST
from xdsl_tpu.backend.local.cuts import LOOPS, Order, Way, cut_into
from xdsl_tpu.backend.local.problem import Problem
from xdsl_tpu.backend.local.slices import Slices
from xdsl_tpu.backend.tile.program import Compute, Sum, TileProgram
from xdsl_tpu.backend.tile.verify import faults
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit

CHIP = load_chip()

PLAIN = MatMul((1, 150, 200), (200, 170), bias=True, relu=6.0)
TURNED = replace(PLAIN, left=(1, 200, 150), constant=False, left_transpose=True, bias=False)
SHARED = MatMul((2, 3, 70, 100), (1, 3, 100, 90), constant=False)


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Ways that are forced must not be remembered."""
    cut_search.chosen.cache_clear()
    yield
    cut_search.chosen.cache_clear()


def forced(monkeypatch: pytest.MonkeyPatch, way: Way) -> None:
    def choose(*_: object) -> Choice:
        return Choice(way, Price(0, 0, CHIP.local_bytes))

    monkeypatch.setattr(alone, "chosen", choose)


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("order", [LOOPS, COLUMNS_FIRST], ids=["rows", "columns"])
@pytest.mark.parametrize("depth", [200, 64])
@pytest.mark.parametrize(
    "product",
    [
        PLAIN,
        replace(PLAIN, right=(170, 200), right_transpose=True),
        TURNED,
        replace(TURNED, right=(1, 170, 200), right_transpose=True),
    ],
    ids=["plain", "right", "left", "both"],
)
def test_any_way_makes_the_product(
    monkeypatch: pytest.MonkeyPatch, product: MatMul, depth: int, order: Order, kind: str
) -> None:
    forced(monkeypatch, Way((1, 64, 1, 96, depth), order=order))
    check(product.case(kind))


@pytest.mark.parametrize("images", [1, 2, 3])
@pytest.mark.parametrize("rows", [70, 64])
def test_matrices_that_several_products_share(
    monkeypatch: pytest.MonkeyPatch, images: int, rows: int
) -> None:
    forced(monkeypatch, Way((images, rows, 1, 64, 64)))
    check(SHARED.case("f16"))


def problem_of(product: MatMul, kind: str) -> Problem:
    op = next(op for op in product.case(kind).module().walk() if isinstance(op, tpu.MatMulOp))
    (way,) = matmul.ways(op, CHIP)
    (seen,) = way.view(op, CHIP)
    return Problem.of(op, seen, way.kernel)


@pytest.mark.parametrize(
    "product",
    [
        MatMul((197, 384), (384, 1536), bias=True),
        MatMul((512, 1024), (1024, 704)),
        MatMul((32, 1024), (1024, 1024)),
    ],
    ids=["columns", "rows", "sums"],
)
def test_what_is_found_is_nearly_the_best(product: MatMul) -> None:
    problem = problem_of(product, "f16")
    op = problem.op([CHIP.ddr_base] * len(problem.types))
    found = cut_search.chosen(problem, CHIP, 1)
    (rows, depth), (_, columns) = product.left, product.right
    parts = product_of(steps_of(rows, 64), steps_of(columns, 64), steps_of(depth, 64))
    prices: list[int] = []
    for (c, w, k), order in product_of(parts, (LOOPS, COLUMNS_FIRST)):
        cut = cut_into(op, Way((1, c, 1, w, k), order=order), CHIP)
        assert cut is not None
        with suppress(DoesNotFit):
            prices.append(price_of(op, problem.kernel, cut, CHIP, 1).cycles)
    assert found is not None
    assert found.cycles <= 1.01 * min(prices)


def summed() -> TileProgram:
    """Rows in three slices, sums in three parts."""
    problem = problem_of(MatMul((150, 150), (150, 170)), "f16")
    op = problem.op([CHIP.ddr_base] * len(problem.types))
    cut = cut_into(op, Way((1, 64, 1, 170, 64)), CHIP)
    assert cut is not None
    slices = Slices(op, problem.kernel, cut, CHIP)
    return slices.program(0, Piece(0, len(slices.places)))


def found_in(program: TileProgram) -> str:
    return "\n".join(faults([program], CHIP))


def sums_of(program: TileProgram) -> list[tuple[int, Compute, Sum]]:
    return [
        (number, step, step.sum)
        for number, step in enumerate(program.steps)
        if isinstance(step, Compute) and step.sum is not None
    ]


def test_no_part_of_a_sum_can_be_left_out() -> None:
    program = summed()
    assert not found_in(program)
    assert len(sums_of(program)) == 9
    for number, _, _ in sums_of(program):
        rest = (*program.steps[:number], *program.steps[number + 1 :])
        assert found_in(replace(program, steps=rest))


def test_a_sum_needs_its_own_parts_of_the_operands() -> None:
    program = summed()
    number, step, part = sums_of(program)[1]
    other = replace(step, sum=replace(part, part=(0, 64)))
    steps = (*program.steps[:number], other, *program.steps[number + 1 :])
    assert "needs w 0 to 64 of" in found_in(replace(program, steps=steps))
    assert "sums up from 0 on what it has up to 64" in found_in(replace(program, steps=steps))


def test_nothing_may_lie_where_a_sum_comes_together() -> None:
    program = summed()
    number, step, part = sums_of(program)[1]
    taken = replace(step, own=part.buffer.place.tensor.span(CHIP))
    steps = (*program.steps[:number], taken, *program.steps[number + 1 :])
    assert "scratch memory" in found_in(replace(program, steps=steps))


def test_every_part_of_a_weight_may_come_before_the_first_slice() -> None:
    """Each has its own place, so that what is computed before hinders none; the two buffers of what
    is computed are taken in turn."""
    program = check(MatMul((1, 512), (512, 1000)).case("f16")).program
    loads = [c for c in program.gdma if c.form.name == "DMA_matrix"][:-1]
    size = 512 * 1000 * 2
    weights = [c["dst_start_addr_l32"] for c in loads if c["src_start_addr_l32"] < size]
    others = [c["dst_start_addr_l32"] for c in loads if c["src_start_addr_l32"] >= size]
    assert len(weights) == len(set(weights)) > 2 >= len(set(others))


def test_large_weights_have_two_buffers() -> None:
    """More than half of local memory stays for what the product is between."""
    program = check(MatMul((1, 8192), (8192, 1024)).case("f16")).program
    places = [c["dst_start_addr_l32"] for c in program.gdma if c.form.name == "DMA_matrix"]
    assert len(places) > 4 * len(set(places))
