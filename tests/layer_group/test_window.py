"""What windows of ops cost: what others read counts once more where it must be loaded again."""

import math

import pytest
from tests.kernels.harness import Case
from tests.local.test_local_cnn import conv
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.passes.layer_group.base_groups import base_groups, why_not_local
from xdsl_tpu.passes.layer_group.optimal import OptimalSearch
from xdsl_tpu.passes.layer_group.prices import Part, Prices
from xdsl_tpu.passes.layer_group.search import Searcher
from xdsl_tpu.passes.layer_group.window import IMPOSSIBLE, WindowCosts
from xdsl_tpu.passes.pipeline import make_pass


def chain(size: int) -> ModuleOp:
    """Three convolutions of 64 channels, filters laid out for the kernels."""
    case = Case("f16", seed=6)
    shape = (1, 64, size, size)
    x = case.input("x", shape)
    for name in ("a", "b", "c"):
        x = conv(case, x, name, (shape, shape), (3, 3), pads=(1, 1, 1, 1))
    module = case.module()
    make_pass("weight-reorder", "").apply(make_context(), module)
    return module


@pytest.mark.parametrize(("size", "is_straight"), [(16, True), (288, False)])
def test_only_what_slices_store_is_loaded_again(size: int, is_straight: bool) -> None:
    module = chain(size)
    convs = [op for op in module.walk() if isinstance(op, tpu.Conv2DOp)]
    window, reader = convs[:2], convs[2]
    chip = load_chip()
    prices = Prices(chip)
    bases = base_groups(window, why_not_local)
    part = OptimalSearch(Searcher(chip, prices.scratch), prices, bases).planned()[-1]
    assert (part.group is not None and part.group.is_straight) == is_straight
    again = prices.load(reader, 0, Part(chip.lanes)).gdma
    assert again > 0
    expected = part.after.end + (0 if is_straight else again)
    assert WindowCosts(chip).window(window).cycles == expected


def test_what_nothing_loads_costs_no_load() -> None:
    """The network's results."""
    convs = [op for op in chain(288).walk() if isinstance(op, tpu.Conv2DOp)]
    chip = load_chip()
    prices = Prices(chip)
    bases = base_groups(convs, why_not_local)
    parts = OptimalSearch(Searcher(chip, prices.scratch), prices, bases).planned()
    assert parts[-1].group is None or not parts[-1].group.is_straight
    assert WindowCosts(chip).window(convs).cycles == parts[-1].after.end


def test_a_limit_changes_nothing_below_it() -> None:
    window = [op for op in chain(16).walk() if isinstance(op, tpu.Conv2DOp)][:2]
    costs = WindowCosts(load_chip())
    taken = costs.straight(window)
    assert math.isfinite(taken.cycles)
    assert costs.straight(window, taken.cycles + 1) == taken
    assert costs.straight(window, taken.cycles) == IMPOSSIBLE


def test_what_has_no_room_is_no_group_below_a_limit_either() -> None:
    convs = [op for op in chain(288).walk() if isinstance(op, tpu.Conv2DOp)]
    costs = WindowCosts(load_chip())
    assert costs.straight(convs) == costs.straight(convs, 1e12) == IMPOSSIBLE
