"""Planned groups: on random chains and graphs nothing that lives at once shares memory."""

from itertools import pairwise

import numpy as np
import pytest

from xdsl_tpu.backend.first_fit import Buffer, clashes
from xdsl_tpu.passes.layer_group.pipeline import plan_sliced
from xdsl_tpu.passes.layer_group.plan import (
    Item,
    Plan,
    Ring,
    Role,
    Room,
    Step,
    plan_straight,
)
from xdsl_tpu.passes.layer_group.values import Refusal

UNIT = 64
CAPACITY = 1 << 18


def random_group(seed: int, count: int = 30) -> tuple[list[Step], dict[object, Item]]:
    """A chain with skips, weights, a second input, views and two outputs."""
    rng = np.random.default_rng(seed)
    items: dict[object, Item] = {}

    def add(key: str, role: Role, size: int, root: str | None = None) -> str:
        items[key] = Item(key, role, size, root or key)
        return key

    values = [add("x", Role.INPUT, 4000), add("late", Role.INPUT, 3000)]
    ops: list[Step] = []
    for index in range(count):
        reads = [values[-1], str(rng.choice(values[-4:]))]
        if index == count // 2:
            reads.append("late")
        for part in range(int(rng.integers(0, 3))):
            reads.append(add(f"w{index}.{part}", Role.WEIGHT, int(rng.integers(4, 30000))))
        is_view = rng.random() < 0.2
        root = items[values[-1]].root if is_view else None
        made = add(
            f"v{index}", Role.INTERNAL, int(rng.integers(500, 9000)), str(root or f"v{index}")
        )
        ops.append(Step(f"op{index}", tuple(reads), (made,), int(rng.integers(0, 3)) * 1000))
        values.append(made)
    for key in (values[-1], values[count // 3]):
        items[key] = Item(key, items[key].role, items[key].size, items[key].root, stored=True)
    return ops, items


def lifetimes(ops: list[Step], items: dict[object, Item], plan: Plan) -> list[Buffer]:
    """Every buffer with its life in a straight plan, recomputed from the plan alone."""
    touched: dict[object, list[int]] = {}
    for op in ops:
        for key in (*op.reads, *op.makes):
            touched.setdefault(items[key].root, []).append(plan.op_step[op.key])
    for key, step in (*plan.load_step.items(), *plan.store_step.items()):
        touched[items[key].root].append(step)
    buffers = [Buffer(k, items[k].size, min(t), max(t)) for k, t in touched.items()]
    for op in ops:
        if op.scratch:
            step = plan.op_step[op.key]
            buffers.append(Buffer(("scratch", op.key), op.scratch, step, step))
    return buffers


@pytest.mark.parametrize("seed", range(15))
def test_straight_plans(seed: int) -> None:
    ops, items = random_group(seed)
    plan = plan_straight(ops, items, Room(CAPACITY, UNIT))
    assert isinstance(plan, Plan)
    buffers = lifetimes(ops, items, plan)
    addresses = dict(plan.address) | {("scratch", k): a for k, a in plan.scratch.items()}
    assert not [*clashes(buffers, [addresses[b.key] for b in buffers])]
    assert all(addresses[b.key] + b.size <= CAPACITY for b in buffers)
    for op in ops:
        for key in op.reads:
            if key in plan.load_step:
                assert plan.load_step[key] < plan.op_step[op.key]
    for key, step in plan.store_step.items():
        maker = next(op for op in ops if key in op.makes)
        assert step > plan.op_step[maker.key]


@pytest.mark.parametrize("seed", range(5))
def test_weights_run_ahead(seed: int) -> None:
    """With room for all weights they are all issued at the beginning."""
    ops, items = random_group(seed)
    small = {k: Item(k, i.role, min(i.size, 64), i.root, i.stored) for k, i in items.items()}
    plan = plan_straight(ops, small, Room(CAPACITY, UNIT))
    assert isinstance(plan, Plan)
    weights = [k for k, i in small.items() if i.role is Role.WEIGHT]
    assert {plan.load_step[k] for k in weights} == {0}


def sliced_lifetimes(ops: list[Step], items: dict[object, Item], plan: Plan) -> list[Buffer]:
    """Every buffer with its life in a pipeline, recomputed from when it is loaded and stored."""
    last = plan.steps - 1
    buffers: list[Buffer] = []
    for key, item in items.items():
        if item.root != key:
            continue
        steps = [
            plan.op_step[op.key]
            for op in ops
            if any(items[k].root == key for k in (*op.reads, *op.makes))
        ]
        if not steps:
            continue
        stored = [k for k, i in items.items() if i.stored and i.root == key]
        if item.role is Role.WEIGHT or (item.role is Role.INPUT and stored):
            buffers.append(Buffer(key, item.size, 0, last, always=True))
            continue
        start = plan.load_step.get(key, min(steps))
        end = plan.clear_step[stored[0]] - 1 if stored else max(steps)
        assert item.role is not Role.INPUT or start > max(steps)
        assert not stored or 0 <= end < start
        buffers.append(Buffer(key, item.size, start, end, always=start == end + 1))
    return buffers


@pytest.mark.parametrize("capacity", [1 << 18, 1 << 20])
@pytest.mark.parametrize("seed", range(15))
def test_sliced_plans(seed: int, capacity: int) -> None:
    """No buffer is overwritten by the next slice's load, or reused, before its last use."""
    ops, items = random_group(seed, 12)
    plan = plan_sliced(ops, items, Room(capacity, UNIT))
    if capacity < 1 << 20 and isinstance(plan, Refusal):
        return
    assert isinstance(plan, Plan)
    buffers = sliced_lifetimes(ops, items, plan)
    assert not [*clashes(buffers, [plan.address[b.key] for b in buffers])]


@pytest.mark.parametrize("seed", range(15))
def test_sliced_plans_beside_what_lies_there(seed: int) -> None:
    """Nothing is put where others have left something, in two places, one of them odd."""
    ops, items = random_group(seed, 12)
    capacity, spans = 1 << 20, ((0, 5000), (70000, 71000))
    plan = plan_sliced(ops, items, Room(capacity, UNIT, bank=1 << 14, taken=spans))
    assert isinstance(plan, Plan)
    buffers = sliced_lifetimes(ops, items, plan)
    assert not [*clashes(buffers, [plan.address[b.key] for b in buffers])]
    used = [(plan.address[b.key], b.size) for b in buffers]
    used += [(plan.scratch[op.key], op.scratch) for op in ops if op.scratch]
    assert all(at + size <= low or high <= at for at, size in used for low, high in spans)
    assert all(at + size <= capacity for at, size in used)
    without = plan_sliced(ops, items, Room(capacity, UNIT, bank=1 << 14))
    assert isinstance(without, Plan)
    assert 0 in without.address.values()


def test_what_lies_there_counts_where_a_slice_does_not_fit() -> None:
    items: dict[object, Item] = {
        "x": Item("x", Role.INPUT, 600, "x"),
        "y": Item("y", Role.INTERNAL, 600, "y", stored=True),
    }
    ops = [Step("op", ("x",), ("y",))]
    assert isinstance(plan_sliced(ops, items, Room(1280, UNIT)), Plan)
    refused = plan_sliced(ops, items, Room(1344, UNIT, taken=((0, 128),)))
    assert isinstance(refused, Refusal)
    assert refused.over == 64
    split = plan_sliced(ops, items, Room(1408, UNIT, taken=((640, 768),)))
    assert isinstance(split, Plan)
    assert sorted(split.address.values()) == [0, 768]
    between = plan_sliced(ops, items, Room(1408, UNIT, taken=((320, 448),)))
    assert isinstance(between, Refusal)


def test_transfers_have_memory_of_their_own_as_far_as_there_is_room() -> None:
    """The next slice is loaded once this one is read; results stay until they are made again."""
    items: dict[object, Item] = {
        "x": Item("x", Role.INPUT, 64, "x"),
        "a": Item("a", Role.INTERNAL, 64, "a"),
        "b": Item("b", Role.INTERNAL, 64, "b"),
        "y": Item("y", Role.INTERNAL, 64, "y", stored=True),
    }
    chain = [Step("1", ("x",), ("a",)), Step("2", ("a",), ("b",)), Step("3", ("b",), ("y",))]
    found = {room: plan_sliced(chain, items, Room(room, UNIT)) for room in (256, 192, 128, 64)}
    steps = {
        room: (plan.load_step["x"], plan.clear_step["y"])
        for room, plan in found.items()
        if isinstance(plan, Plan)
    }
    assert steps == {256: (2, 3), 192: (2, 1), 128: (4, 1)}


def test_refusals_say_by_how_much() -> None:
    items: dict[object, Item] = {
        "x": Item("x", Role.INPUT, 600, "x"),
        "y": Item("y", Role.INTERNAL, 600, "y", stored=True),
    }
    refused = plan_straight([Step("op", ("x",), ("y",))], items, Room(1024, UNIT))
    assert isinstance(refused, Refusal)
    assert refused.over == 2 * 640 - 1024
    items["w"] = Item("w", Role.WEIGHT, 500, "w")
    refused = plan_straight([Step("op", ("x", "w"), ("y",))], items, Room(1600, UNIT))
    assert isinstance(refused, Refusal)
    assert "512" in refused.reason


def test_the_ring_goes_on_from_group_to_group() -> None:
    items: dict[object, Item] = {
        "w": Item("w", Role.WEIGHT, 128, "w"),
        "x": Item("x", Role.INPUT, 64, "x"),
        "y": Item("y", Role.INTERNAL, 64, "y", stored=True),
    }
    ops = [Step("op", ("x", "w"), ("y",))]
    first = plan_straight(ops, items, Room(1024, UNIT), Ring(256, 256))
    assert isinstance(first, Plan)
    assert first.address["w"] == 256
    second = plan_straight(ops, items, Room(1024, UNIT), Ring(256, 256, first.head))
    assert isinstance(second, Plan)
    assert second.address["w"] == 384


def test_small_weights_fill_a_row_side_by_side() -> None:
    """Those of four ops, which rows for all lanes would part; not where they do not all fit."""
    items: dict[object, Item] = {"v0": Item("v0", Role.INPUT, 64, "v0")}
    for k in range(6):
        items[f"v{k + 1}"] = Item(f"v{k + 1}", Role.INTERNAL, 64, f"v{k + 1}", stored=k == 5)
        items[f"w{k}"] = Item(f"w{k}", Role.WEIGHT, 64, f"w{k}", packs=True)
        items[f"b{k}"] = Item(f"b{k}", Role.WEIGHT, 64, f"b{k}")
    ops = [Step(f"op{k}", (f"v{k}", f"w{k}", f"b{k}"), (f"v{k + 1}",)) for k in range(6)]

    def order(room: Room) -> list[object]:
        plan = plan_straight(ops, items, room)
        assert isinstance(plan, Plan)
        return sorted(
            (key for key, item in items.items() if item.role is Role.WEIGHT),
            key=lambda key: plan.address[key],
        )

    by_use = [f"{letter}{k}" for k in range(6) for letter in "wb"]
    first = ["w0", "w1", "w2", "w3", "b0", "b1", "b2", "b3"]
    assert order(Room(4096, UNIT, row=256)) == [*first, "w4", "w5", "b4", "b5"]
    assert order(Room(4096, UNIT)) == by_use


def test_weights_lie_where_activations_were() -> None:
    """The first value is the largest; the group before and those to come leave more than it."""
    items: dict[object, Item] = {"v0": Item("v0", Role.INPUT, 512, "v0")}
    for k in range(1, 6):
        items[f"v{k}"] = Item(f"v{k}", Role.INTERNAL, 64, f"v{k}", stored=k == 5)
        items[f"w{k}"] = Item(f"w{k}", Role.WEIGHT, 256, f"w{k}")
    ops = [Step(f"op{k}", (f"v{k - 1}", f"w{k}"), (f"v{k}",)) for k in range(1, 6)]
    plan = plan_straight(ops, items, Room(1152, UNIT), Ring(640, 64))
    assert isinstance(plan, Plan)
    assert plan.address["w1"] == 640
    assert min(plan.address[f"w{k}"] for k in range(1, 6)) < 512
    fixed = plan_straight(ops, items, Room(1152, UNIT), Ring(640, 640))
    assert isinstance(fixed, Plan)
    steps = [(plan.load_step[f"w{k}"], fixed.load_step[f"w{k}"]) for k in range(1, 6)]
    assert all(new <= old for new, old in steps)
    assert any(new < old for new, old in steps)


def test_a_group_without_weights_leaves_the_ring_where_it_was() -> None:
    """Else the weights of the next group would wait for those of the one before."""
    items: dict[object, Item] = {
        "x": Item("x", Role.INPUT, 64, "x"),
        "y": Item("y", Role.INTERNAL, 64, "y", stored=True),
    }
    ops = [Step("op", ("x",), ("y",))]
    for head, expected in ((None, 256), (384, 384), (128, 256)):
        plan = plan_straight(ops, items, Room(1024, UNIT), Ring(256, 256, head))
        assert isinstance(plan, Plan)
        assert plan.head == expected


def test_nothing_is_put_over_what_is_still_being_stored() -> None:
    """For as many of the steps behind its own as are asked for."""
    sizes = {"x": 64, "y": 6400, "a": 6400, "b": 6400, "c": 64, "large": 64000, "d": 64}
    items: dict[object, Item] = {
        key: Item(key, Role.INPUT if key == "x" else Role.INTERNAL, size, key, key in ("y", "d"))
        for key, size in sizes.items()
    }
    chain = [("x", "y"), ("x", "a"), ("a", "b"), ("b", "c"), ("c", "large"), ("large", "d")]
    ops = [Step(f"op {made}", (read,), (made,)) for read, made in chain]
    plain = plan_straight(ops, items, Room(CAPACITY, UNIT))
    patient = plan_straight(ops, items, Room(CAPACITY, UNIT), wait=2)
    assert isinstance(plain, Plan)
    assert isinstance(patient, Plan)

    def over(plan: Plan, key: str) -> bool:
        low, high = plan.address["y"], plan.address["y"] + sizes["y"]
        return plan.address[key] < high and low < plan.address[key] + sizes[key]

    assert over(plain, "b")
    assert not any(over(patient, key) for key in ("a", "b"))
    assert patient.activations == plain.activations
    assert patient.store_step == plain.store_step


@pytest.mark.parametrize("wait", [0, 1, 4])
def test_a_store_that_may_take_longer_is_no_more_in_the_way_of_the_next_group(wait: int) -> None:
    """What the next group lies beside is what is needed anyway: first of all what comes last."""
    keys = "xyabz"
    items: dict[object, Item] = {
        key: Item(key, Role.INPUT if key == "x" else Role.INTERNAL, 64, key, key in "yz")
        for key in keys
    }
    ops = [Step(f"op {made}", (read,), (made,)) for read, made in pairwise(keys)]
    plan = plan_straight(ops, items, Room(CAPACITY, UNIT), wait=wait)
    assert isinstance(plan, Plan)
    assert sorted(late.left for late in plan.late) == [0, 1, 2, 2, 4]
    behind = plan_straight(ops, items, Room(CAPACITY, UNIT), before=plan.late)
    alone = plan_straight(ops, items, Room(CAPACITY, UNIT))
    assert isinstance(behind, Plan)
    assert isinstance(alone, Plan)
    assert 0 < behind.beside < len(plan.late)
    assert not alone.beside
