"""How loads of a group of one slice overlap with what does not need them."""

import pytest

from xdsl_tpu.passes.layer_group.clock import Clock, Cost, span_of
from xdsl_tpu.passes.layer_group.plan import Item, Plan, Role, Room, Step, plan_straight


@pytest.mark.parametrize(
    ("tiu", "loads", "expected"),
    [
        (100.0, [], 100.0),
        (100.0, [(40.0, 100.0)], 140.0),  # all of it waits
        (100.0, [(40.0, 100.0), (40.0, 50.0)], 140.0),  # the second is loaded meanwhile
        (100.0, [(40.0, 100.0), (80.0, 50.0)], 170.0),  # or not quite
        (100.0, [(40.0, 30.0)], 100.0),  # not before the last ops
    ],
)
def test_span(tiu: float, loads: list[tuple[float, float]], expected: float) -> None:
    assert span_of(tiu, loads) == expected


def test_a_group_is_done_when_its_span_is_over() -> None:
    cost = Cost(tiu=100, loads=80, stores=10, weights=0, local_bytes=0, span=140)
    assert Clock().after_straight(cost, 0).chain == 150


def bands(weight: int) -> tuple[list[Step], dict[object, Item]]:
    """Three inputs of 40 bytes, two ops for each, results of 10, and a weight for the last op."""
    ops: list[Step] = []
    items: dict[object, Item] = {}
    for n in range(3):
        ops += [Step(f"a{n}", (f"x{n}",), (f"u{n}",)), Step(f"b{n}", (f"u{n}",), (f"y{n}",))]
        items[f"x{n}"] = Item(f"x{n}", Role.INPUT, 40, f"x{n}")
        for name in (f"u{n}", f"y{n}"):
            items[name] = Item(name, Role.INTERNAL, 10, name)
    ops.append(Step("last", ("y0", "y1", "y2", "w"), ("z",)))
    items["w"] = Item("w", Role.WEIGHT, weight, "w")
    items["z"] = Item("z", Role.INTERNAL, 10, "z", stored=True)
    return ops, items


@pytest.mark.parametrize(("size", "loads"), [(200, [0, 0, 0]), (110, [0, 1, 3]), (80, [0, 2, 4])])
def test_inputs_come_as_early_as_there_is_room(size: int, loads: list[int]) -> None:
    plan = plan_straight(*bands(5), Room(size, 1))
    assert isinstance(plan, Plan)
    assert [plan.load_step[f"x{n}"] for n in range(3)] == loads
    assert plan.load_step["w"] == loads[-1], "not ahead of inputs that are needed earlier"
