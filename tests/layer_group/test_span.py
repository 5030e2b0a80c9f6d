"""How transfers of a group of one slice overlap with its ops."""

from collections.abc import Sequence

import pytest

from xdsl_tpu.passes.layer_group.clock import BEGIN, Clock, Step
from xdsl_tpu.passes.layer_group.plan import Item, Plan, Role, Room, plan_straight
from xdsl_tpu.passes.layer_group.plan import Step as PlanStep


def after(clock: Clock, steps: Sequence[tuple[float, float, float]], ahead: float) -> Clock:
    """A group that stores nothing: of each op cycles of computing, loads and weights."""
    course = BEGIN
    for tiu, loads, weights in steps:
        course = course.after(Step(tiu, loads, weights, 0), ahead)
    return clock.after_straight(course.stored(0, ahead))


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([(100, 0, 0)], 100),
        ([(100, 40, 0)], 140),
        ([(50, 40, 0), (50, 40, 0)], 140),  # the second is loaded meanwhile
        ([(50, 40, 0), (50, 80, 0)], 170),  # or not quite
        ([(70, 0, 0), (30, 40, 0)], 100),  # not before the last ops
    ],
)
def test_inputs_are_loaded_while_others_are_worked_on(
    steps: list[tuple[float, float, float]], expected: float
) -> None:
    assert after(Clock(), steps, 1000).chain == expected


@pytest.mark.parametrize(
    ("ahead", "expected"),
    [
        (1000, 200),  # both weights come while the first op computes
        (100, 200),  # just so
        (60, 240),  # all but 40 cycles of the second
        (0, 300),  # each when the op before is done
    ],
)
def test_weights_come_as_far_ahead_as_there_is_room(ahead: float, expected: float) -> None:
    assert after(Clock(), [(100, 0, 0), (50, 0, 50), (50, 0, 50)], ahead).chain == expected


def test_weights_of_late_ops_do_not_hold_up_early_ones() -> None:
    """All transfers take as long as all ops, but those of the first op need not wait for them."""
    assert after(Clock(), [(100, 0, 10), (10, 0, 100)], 1000).chain == 120


@pytest.mark.parametrize(("tiu", "expected"), [(100, 120), (40, 90)])
def test_an_op_begins_with_the_first_part_of_its_weights(tiu: float, expected: float) -> None:
    """And is done when it has worked with the last one, here of four."""
    passage = BEGIN.after(Step(tiu, 0, 80, 0, parts=4), 1000).stored(0, 1000)
    assert Clock().after_straight(passage).chain == expected


def test_weights_come_while_what_is_in_front_of_a_group_is_worked_on() -> None:
    steps = [(50.0, 20.0, 70.0)]
    assert after(Clock(100, 100), steps, 1000) == Clock(240, 190)
    assert after(Clock(100, 30), steps, 1000) == Clock(170, 120)
    assert after(Clock(100, 30), steps, 90) == Clock(170, 150), "no more than there is room for"


def test_results_are_stored_at_the_end() -> None:
    passage = BEGIN.after(Step(100, 40, 0, 0), 1000).stored(10, 1000)
    assert Clock().after_straight(passage) == Clock(150, 50)


def bands(weight: int) -> tuple[list[PlanStep], dict[object, Item]]:
    """Three inputs of 40 bytes, two ops for each, results of 10, and a weight for the last op."""
    ops: list[PlanStep] = []
    items: dict[object, Item] = {}
    for n in range(3):
        ops += [
            PlanStep(f"a{n}", (f"x{n}",), (f"u{n}",)),
            PlanStep(f"b{n}", (f"u{n}",), (f"y{n}",)),
        ]
        items[f"x{n}"] = Item(f"x{n}", Role.INPUT, 40, f"x{n}")
        for name in (f"u{n}", f"y{n}"):
            items[name] = Item(name, Role.INTERNAL, 10, name)
    ops.append(PlanStep("last", ("y0", "y1", "y2", "w"), ("z",)))
    items["w"] = Item("w", Role.WEIGHT, weight, "w")
    items["z"] = Item("z", Role.INTERNAL, 10, "z", stored=True)
    return ops, items


@pytest.mark.parametrize(("size", "loads"), [(200, [0, 0, 0]), (110, [0, 1, 3]), (80, [0, 2, 4])])
def test_inputs_come_as_early_as_there_is_room(size: int, loads: list[int]) -> None:
    plan = plan_straight(*bands(5), Room(size, 1))
    assert isinstance(plan, Plan)
    assert [plan.load_step[f"x{n}"] for n in range(3)] == loads
    assert plan.load_step["w"] == loads[-1], "not ahead of inputs that are needed earlier"
