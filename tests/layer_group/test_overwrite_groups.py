"""Which results of a group lie over operands, and what that is worth."""

import pytest
from tests.kernels.harness import Case
from tests.layer_group.small_nets import prepared
from tests.local.test_local_transformer import linear

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.address_assign.assign import divided_parts
from xdsl_tpu.passes.layer_group import overwrite
from xdsl_tpu.passes.layer_group.base_groups import base_groups, computing_ops, why_not_local
from xdsl_tpu.passes.layer_group.model import Cut, Group, cut_group, plan_group
from xdsl_tpu.passes.layer_group.optimal import OptimalSearch
from xdsl_tpu.passes.layer_group.overwrite import overwriting
from xdsl_tpu.passes.layer_group.prices import Prices
from xdsl_tpu.passes.layer_group.search import Searcher
from xdsl_tpu.passes.layer_group.values import GroupType, Refusal, Secs
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.pipelines import STAGES
from xdsl_tpu.passes.tensors import required_name

CHIP = load_chip()
WHOLE = Secs()
GELU = {"mode": "#tpu<active_mode GELU>"}


def feed_forward(rows: int = 512, inner: int = 3072, layers: int = 2) -> Case:
    """Products of rows of 768 with a GELU between, and what they began with added."""
    case, size = Case("f16"), 768
    x = case.input("x", (1, rows, size))
    for number in range(layers):
        up = linear(case, x, f"up{number}", (1, rows), (size, inner))
        made = case.op("tpu.Active", [up], GELU, f"gelu{number}", (1, rows, inner))
        down = linear(case, made, f"down{number}", (1, rows), (inner, size))
        sums = {"do_relu": "false"}
        x = case.op("tpu.Add", [x, down], sums, f"sum{number}", (1, rows, size))
    return case


def cycles(case: Case) -> int:
    """With whole matrices, of which two have room where results lie over operands only."""
    module = case.module()
    for step in STAGES["final"]:
        if step != "split-products":
            make_pass(step, "").apply(make_context(), module)
    program = generate(module, weights_of(module), CHIP)
    return simulate(program.tiu, program.gdma, CHIP).total


def cut_of(case: Case, secs: Secs = WHOLE) -> Cut:
    _, _, function = divided_parts(prepared(case))
    cut = cut_group(computing_ops(function.body.block), GroupType.NORMAL, secs, CHIP)
    assert not isinstance(cut, Refusal)
    return cut


def over(case: Case, secs: Secs = WHOLE) -> dict[str, str]:
    """The names of results and of the operands that they lie over."""
    found = overwriting(Prices(CHIP), cut_of(case, secs))
    pairs = found.over.items() if found is not None else ()
    return {required_name(one): required_name(other) for one, other in pairs}


def test_weights_are_loaded_where_results_would_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    case = feed_forward()
    faster = cycles(case)
    monkeypatch.setattr(overwrite, "LARGE", 2)
    assert faster < 0.95 * cycles(case)


def test_large_results_lie_over_what_nothing_reads_behind_them() -> None:
    found = over(feed_forward())
    assert found == {"gelu0": "up0", "sum0": "down0", "gelu1": "up1", "sum1": "sum0"}


@pytest.mark.parametrize(("inner", "is_large"), [(512, True), (448, False)])
def test_small_results_have_their_own_place(inner: int, is_large: bool) -> None:
    """With 512 rows a lane has 16 bytes of each column: 8,192 are a 32nd of it."""
    assert ("gelu0" in over(feed_forward(inner=inner, layers=1))) is is_large


def test_what_is_read_again_is_not_written_over() -> None:
    case, shape = Case("f16"), (1, 512, 1024)
    x = linear(case, case.input("x", (1, 512, 64)), "made", (1, 512), (64, 1024))
    y = case.op("tpu.Active", [x], GELU, "gelu", shape)
    z = case.op("tpu.Add", [x, y], {"do_relu": "false"}, "sum", shape)
    linear(case, z, "y", (1, 512), (1024, 64))
    assert over(case) == {"sum": "made"}


def test_what_a_view_shows_is_not_written_over() -> None:
    case, shape = Case("f16"), (1, 512, 1024)
    x = linear(case, case.input("x", (1, 512, 64)), "made", (1, 512), (64, 1024))
    seen = case.op(
        "tpu.Reshape", [x, *["none"] * 4], {"shape": "[1, 512, 32, 32]"}, "seen", (1, 512, 32, 32)
    )
    y = case.op("tpu.Active", [x], GELU, "gelu", shape)
    z = case.op(
        "tpu.Reshape", [y, *["none"] * 4], {"shape": "[1, 512, 32, 32]"}, "again", (1, 512, 32, 32)
    )
    case.op("tpu.Add", [seen, z], {"do_relu": "false"}, "sum", (1, 512, 32, 32))
    assert "gelu" not in over(case)


def test_what_is_loaded_is_not_written_over() -> None:
    case = Case("f16")
    case.op("tpu.Active", [case.input("x", (1, 512, 1024))], GELU, "gelu", (1, 512, 1024))
    assert not over(case)


def test_groups_of_several_slices_keep_results_apart() -> None:
    assert not over(feed_forward(rows=1024, layers=1), Secs(n=1, c=2))


def test_the_second_pass_is_in_the_price() -> None:
    case = feed_forward(layers=1)
    _, _, function = divided_parts(prepared(case))
    ops, prices = computing_ops(function.body.block), Prices(CHIP)
    search = OptimalSearch(Searcher(CHIP, prices.scratch), prices, base_groups(ops, why_not_local))
    plain = search.searcher.plan(ops, Secs())
    assert isinstance(plain, Group)
    cut = overwriting(prices, plain)
    assert cut is not None
    dense = plan_group(cut, CHIP, prices.scratch)
    assert isinstance(dense, Group)
    costs = [search.cost_of(group) for group in (plain, dense)]
    assert costs[0] is not None
    assert costs[1] is not None
    lines = 512 // CHIP.lanes * 768 // CHIP.eu(2)  # of the sum; the GELU ends with another command
    assert costs[1].tiu - costs[0].tiu == lines
    assert dense.plan.activations < plain.plan.activations


def searched(case: Case, asked: list[Cut]) -> Group | Refusal:
    """All ops of a case as one group of one slice; `asked` are those that results may lie over
    operands of."""
    _, _, function = divided_parts(prepared(case))
    prices = Prices(CHIP)

    def tighter(cut: Cut) -> Cut | None:
        asked.append(cut)
        return overwriting(prices, cut)

    searcher = Searcher(CHIP, prices.scratch, over=tighter)
    return searcher.plan(computing_ops(function.body.block), WHOLE)


def gelu_of_product(inner: int) -> Case:
    """Twice 16 bytes of each column in every lane."""
    case = Case("f16")
    up = linear(case, case.input("x", (1, 512, 64)), "up", (1, 512), (64, inner))
    y = case.op("tpu.Active", [up], GELU, "gelu", (1, 512, inner))
    linear(case, y, "down", (1, 512), (inner, 64))
    return case


@pytest.mark.parametrize(
    ("inner", "times", "fits"), [(4096, 0, True), (9216, 1, True), (32768, 0, False)]
)
def test_what_fits_in_no_other_way_is_planned_with_results_over_operands(
    inner: int, times: int, fits: bool
) -> None:
    """And that is only looked at where one result less would be enough."""
    asked: list[Cut] = []
    group = searched(gelu_of_product(inner), asked)
    assert isinstance(group, Group) is fits
    assert len(asked) == times
    if isinstance(group, Group):
        assert bool(group.over) is bool(times)
