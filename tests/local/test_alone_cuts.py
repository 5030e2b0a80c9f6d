"""An op by itself gives the same however its result is cut, also in ways that no price chooses."""

from collections.abc import Iterator

import pytest
from tests.kernels.harness import Case, check
from tests.kernels.test_kernel_conv import Conv
from tests.local.test_local_equals_global import CASES, IN_F32

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.leaves import LEAVES
from xdsl_tpu.backend.local import alone
from xdsl_tpu.backend.local.alone import Cheapest, InSlices
from xdsl_tpu.backend.local.cut_price import Choice, Price
from xdsl_tpu.backend.local.cuts import CUT, KIND, LOOPS, Way, cut_into
from xdsl_tpu.backend.local.problem import Problem
from xdsl_tpu.backend.local.shapes import of_value

NOTHING = Price(0, 0, load_chip().local_bytes)

SLICED = {op.name for op, leaf in LEAVES.items() if isinstance(leaf.alone, InSlices | Cheapest)}


def finest(problem: Problem, chip: Chip) -> Iterator[Choice]:
    """The result whole, and in the smallest slices along one axis after the other, with weights cut
    and whole; sums in the shortest parts."""
    op = problem.op([chip.ddr_base] * len(problem.types))
    full = of_value(op.results[0], KIND, chip.lanes)
    whole = (*(getattr(full, axis) for axis in CUT), op.summed())
    yield Choice(Way(whole), NOTHING)
    for place, loop in enumerate(LOOPS):
        step = chip.lanes if loop in ("c", "k") else 1
        cuts = (*op.cut_alone(), "k")  # there is nothing to cut where nothing is summed up
        if step >= whole[place] or loop not in cuts:
            continue
        sizes = (*whole[:place], step, *whole[place + 1 :])
        for by_channel in (False, True) if loop == "c" and op.channel_weights() else (False,):
            if cut_into(op, way := Way(sizes, by_channel), chip) is not None:
                yield Choice(way, NOTHING)


def check_every_cut(case: Case, monkeypatch: pytest.MonkeyPatch) -> int:
    """One cut of each view after the other; how many the view with most of them has."""
    most, number = 1, 0

    def pick(problem: Problem, chip: Chip, cores: int) -> Choice:
        nonlocal most
        choices = list(finest(problem, chip))
        most = max(most, len(choices))
        return choices[min(number, len(choices) - 1)]

    monkeypatch.setattr(alone, "chosen", pick)
    while number < most:
        check(case)
        number += 1
    return most


@pytest.mark.parametrize("name", [name for name in CASES if name.split()[0] in SLICED])
def test_every_cut_gives_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("f32" if name in IN_F32 else "f16")
    CASES[name](case)
    check_every_cut(case, monkeypatch)


GROUPED = {
    "groups of a lane group": Conv((1, 20, 7, 7), 128, group=2),
    "groups of several": Conv((2, 128, 5, 6), 384, group=2, strides=(2, 1), relu=6.0),
    "three": Conv((1, 30, 5, 5), 192, group=3),
    "many": Conv((1, 64, 4, 4), 256, group=4, kernel=(1, 1), pads=(0, 0, 0, 0), bias=False),
}


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("conv", GROUPED.values(), ids=GROUPED)
def test_output_channels_of_a_group_are_cut(
    conv: Conv, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a slice lies within one group it has the input of that group alone."""
    assert check_every_cut(conv.case(kind), monkeypatch) >= 4
