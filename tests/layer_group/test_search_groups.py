"""Which groups the searches find, and what the pass writes of them."""

from dataclasses import replace

import numpy as np
import pytest
from tests.kernels.harness import Case, check
from tests.layer_group.op_samples import binary, layer_norm, matmul, out, relu, value, weight
from tests.layer_group.small_nets import (
    chain,
    find,
    grouped_by_pass,
    groups_of,
    info,
    interrupted,
    members,
    prepared,
    residual,
)
from tests.local.test_local_cnn import conv
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.local.schedule import ginfo
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.top.packs import pack_of
from xdsl_tpu.passes.address_assign.assign import divided_parts
from xdsl_tpu.passes.layer_group.base_groups import computing_ops
from xdsl_tpu.passes.layer_group.chain import rechained
from xdsl_tpu.passes.layer_group.model import Group
from xdsl_tpu.passes.layer_group.prices import Prices
from xdsl_tpu.passes.layer_group.search import Searcher, range_problem
from xdsl_tpu.passes.layer_group.slicing import Slicing
from xdsl_tpu.passes.layer_group.values import GroupType, Secs

CHIP = load_chip()


@pytest.mark.parametrize("opt", [1, 2])
def test_a_residual_block_is_one_group(opt: int) -> None:
    (group,) = groups_of(grouped_by_pass(residual(), opt=opt))
    assert members(group) == ["a", "b", "y"]


def test_no_search_makes_no_groups() -> None:
    assert groups_of(grouped_by_pass(residual(), opt=0)) == []


@pytest.mark.parametrize("opt", [1, 2])
def test_an_op_without_local_form_stands_between_groups(opt: int) -> None:
    module = grouped_by_pass(interrupted(), opt=opt)
    assert [members(group) for group in groups_of(module)] == [["a", "b"], ["c", "d"]]


@pytest.mark.parametrize("opt", [1, 2])
def test_the_interpreter_sees_the_same_network(opt: int) -> None:
    for case in (residual(), interrupted()):
        before = run_module(prepared(case), case.inputs)
        after = run_module(grouped_by_pass(case, opt=opt), case.inputs)
        assert before.keys() == after.keys()
        assert all(np.array_equal(before[name], after[name]) for name in before)


def test_ops_can_be_kept_out_of_groups() -> None:
    module = grouped_by_pass(residual(), keep_global=("tpu.Add",))
    assert [members(group) for group in groups_of(module)] == [["a", "b"]]


@pytest.mark.parametrize("options", [{"opt": 3}, {"compress_mode": "activation"}])
def test_options_that_would_change_the_program_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(TpuError, match="layer-group: "):
        grouped_by_pass(residual(), **options)


def chains(count: int, channels: int, size: int, local_bytes: int) -> tuple[Searcher, list[Group]]:
    """Greedy groups of a chain on a chip with less local memory."""
    _, _, function = divided_parts(prepared(chain(count, channels, size)))
    chip = replace(CHIP, local_bytes=local_bytes)
    searcher = Searcher(chip, lambda op, kind, slicing: 256)
    return searcher, searcher.greedy(computing_ops(function.body.block))


def test_local_memory_cuts_a_group_and_says_by_how_much() -> None:
    """Operand and result fill the 16 KiB, so ranges go in slices and hold 2 KiB for each op."""
    _, whole = chains(12, 256, 32, 1 << 18)
    assert [len(group.ops) for group in whole] == [12]
    searcher, cut = chains(12, 256, 32, 16384)
    assert cut
    assert all(len(group.ops) < 8 for group in cut)
    assert any(boundary.over > 0 for boundary in searcher.boundaries)


def test_the_ring_of_weights_goes_on_in_the_next_group() -> None:
    _, _, function = divided_parts(prepared(interrupted()))
    ops = computing_ops(function.body.block)

    def scratch(*_: object) -> int:
        return 256

    searcher = Searcher(CHIP, scratch)
    groups = [searcher.plan(part, Secs()) for part in (ops[:2], ops[3:])]
    assert all(isinstance(group, Group) for group in groups)
    first, second = rechained([g for g in groups if isinstance(g, Group)], CHIP, scratch)
    weights = [
        {group.plan.address[v] for v in group.slicing.loaded if isinstance(v.owner, top.WeightOp)}
        for group in (first, second)
    ]
    assert max(weights[0]) < min(weights[1])
    assert second.plan.activations <= min(weights[0])


def pack_members(module: ModuleOp) -> dict[int, list[tuple[tpu.LoadOp, top.WeightOp]]]:
    """Loads and weights of each pack."""
    found: dict[int, list[tuple[tpu.LoadOp, top.WeightOp]]] = {}
    for group in groups_of(module):
        for op in group.body.block.ops:
            if isinstance(op, tpu.LoadOp) and isinstance(op.input.owner, top.WeightOp):
                place = pack_of(op.input.owner)
                if place is not None:
                    found.setdefault(place.number, []).append((op, op.input.owner))
    return found


@pytest.mark.parametrize("count", [2, 5, 9])
def test_a_pack_writes_its_weights_and_nothing_behind_them(count: int) -> None:
    packs = pack_members(grouped_by_pass(chain(count, channels=80)))
    assert packs
    for members_of_pack in packs.values():
        places = [(ginfo(load), pack_of(weight)) for load, weight in members_of_pack]
        ends: list[int] = []
        for place, pack in places:
            assert pack is not None
            ends.append(pack.offset + place.out_size.value.data)
            assert pack.total_bytes == pack.lane_bytes * CHIP.lanes
        assert {pack.lane_bytes for _, pack in places if pack} == {-(-max(ends) // 64) * 64}


def channels_scaled() -> Case:
    """Few positions: a convolution of short rows, factors, addends and slopes of the channels, a
    table."""
    case = Case("f16")
    x = case.input("x", (1, 20, 8, 4))
    value = conv(case, x, "c", ((1, 20, 8, 4), (1, 1536, 8, 4)), (1, 1))
    for name, kind, channels in (("s", "Mul", 1536), ("t", "Add", 1536), ("u", "Add", 1)):
        weight = case.weight(f"{name}_w", (1, channels, 8 if channels == 1 else 1, 1))
        attributes = {"do_relu": "false"}
        value = case.op(f"tpu.{kind}", [value, weight], attributes, name, (1, 1536, 8, 4))
    slopes = case.weight("p_w", (1, 1536, 1, 1))
    case.op("tpu.PReluOp", [value, slopes], {}, "p", (1, 1536, 8, 4))
    return case


def test_weights_that_have_a_part_for_each_channel_come_in_packs() -> None:
    check(channels_scaled())
    packs = pack_members(grouped_by_pass(channels_scaled()))
    packed = {name_of(weight) for pack in packs.values() for _, weight in pack}
    assert packed >= {"s_w", "t_w", "p_w"}
    assert "u_w" not in packed
    assert any("c_filter" in (name or "") for name in packed)


def test_time_steps_of_a_straight_group() -> None:
    """Op k runs in time step k, after its loads; the store comes in the last one."""
    module = grouped_by_pass(residual())
    (group,) = groups_of(module)
    flow = ints(group.flow)
    assert [entry for entry in flow if entry < 0] == [-1, -2, -3, -4, -5]
    step_of: dict[int, int] = {}
    for entry in flow:
        if entry >= 0:
            step_of[entry] = sum(1 for e in flow[: flow.index(entry)] if e < 0) - 1
    names = ("a", "b", "y")
    assert [step_of[info(find(module, name)).id.value.data] for name in names] == [1, 2, 3]
    assert step_of[info(find(module, "y", tpu.StoreOp)).id.value.data] == 4
    assert step_of[info(find(module, "load_x")).id.value.data] == 0


def test_a_group_has_no_more_slices_than_it_must() -> None:
    """With less and less memory: halves, thirds, quarters."""
    _, _, function = divided_parts(prepared(residual()))
    ops = computing_ops(function.body.block)

    def no_scratch(op: Operation, kind: GroupType, slicing: Slicing) -> int:
        return 0

    groups = [
        Searcher(replace(CHIP, local_bytes=size), no_scratch).in_slices(ops)
        for size in range(32768, 64, -64)
    ]
    slices = [group.secs.total for group in groups if group is not None]
    assert slices == sorted(slices)
    assert list(dict.fromkeys(slices))[:3] == [2, 3, 4]


def test_one_channel_that_the_group_computes_reaches_all_lanes() -> None:
    narrow = relu(value((2, 1, 8, 8)))
    total = binary(tpu.AddOp, value((2, 16, 8, 8)), out(narrow))
    assert range_problem([narrow, total], CHIP.lanes) is None


def test_rows_in_several_dimensions_are_in_no_group() -> None:
    rows = matmul((1, 28, 28, 16), weight((16, 8)))
    searcher = Searcher(CHIP, Prices(CHIP).scratch)
    assert not isinstance(searcher.fit([rows, relu(out(rows))]), Group)
    flat = matmul((1, 784, 16), (1, 16, 8))
    assert isinstance(searcher.fit([flat, relu(out(flat))]), Group)


def test_rows_of_five_dimensions_are_in_groups_as_others_are() -> None:
    norm = layer_norm((1, 4, 8, 8, 16), 4)
    searcher = Searcher(CHIP, Prices(CHIP).scratch)
    assert isinstance(searcher.fit([norm, relu(out(norm))]), Group)
