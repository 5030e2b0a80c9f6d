"""Values between groups lie in DDR as in the lanes: the same numbers, in fewer cycles."""

from functools import partial

import numpy as np
import pytest
from tests.kernels.harness import Case
from tests.layer_group.small_nets import prepared
from tests.layer_group.test_absorb_moves import outcome_of
from tests.local.groups import SCRATCH, WHOLE, assert_close
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interfaces.local_gen import GroupType
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.passes import PASSES
from xdsl_tpu.passes.address_assign.assign import divided_parts
from xdsl_tpu.passes.address_assign.lifetimes import lifetimes
from xdsl_tpu.passes.layer_group.base_groups import computing_ops
from xdsl_tpu.passes.layer_group.build import build_group
from xdsl_tpu.passes.layer_group.image_rooms import room_in_ddr
from xdsl_tpu.passes.layer_group.model import cut_group, plan_group
from xdsl_tpu.passes.layer_group.values import Refusal, Secs

Shape = tuple[int, ...]


def pair(
    first: Shape, second: Shape | None = None, kind: str = "f16", turn: Shape | None = None
) -> Case:
    """relu(x) + x, and the same of that, perhaps under another shape or turned along some axes."""
    case = Case(kind)
    x = case.input("x", first)
    relu = case.op("tpu.Relu", [x], {}, "a_relu", first)
    value = case.op("tpu.Add", [x, relu], {}, "a", first)
    if second is not None:
        value = case.op("tpu.Reshape", [value], {"shape": str(list(second))}, "seen", second)
    if turn is not None:
        value = case.op("tpu.SwapDimInner", [value], {"offset": str(list(turn))}, "turned", first)
    relu = case.op("tpu.Relu", [value], {}, "b_relu", second or first)
    case.op("tpu.Add", [value, relu], {}, "b", second or first)
    return case


def _scratch(*_: object) -> int:
    return SCRATCH


def apart(case: Case, secs: Secs = WHOLE, keep: bool = True) -> ModuleOp:
    """The case as two groups, after the pass."""
    module, chip = prepared(case), load_chip()
    _, _, function = divided_parts(module)
    none = next(op for op in function.body.block.ops if isinstance(op, top.NoneOp))
    for letter, own in (("a", WHOLE), ("b", secs)):
        ops = [
            op for op in computing_ops(function.body.block)
            if str(name_of(op)) in (letter, f"{letter}_relu")
        ]  # fmt: skip
        group = plan_group(cut_group(ops, GroupType.NORMAL, own, chip), chip, _scratch)
        assert not isinstance(group, Refusal), f"the group was refused: {group}"
        build_group(group, none, chip)
    PASSES["absorb-moves"]()().apply(make_context(), module)
    if keep:
        PASSES["keep-lanes"]()().apply(make_context(), module)
    module.verify()
    return module


def maps(module: ModuleOp) -> list[str]:
    """The orders of Stores and Loads that are not row-major."""
    stores = [op.indexing_map_l2s for op in module.walk() if isinstance(op, tpu.StoreOp)]
    loads = [op.indexing_map_s2l for op in module.walk() if isinstance(op, tpu.LoadOp)]
    return [str(one) for one in (*stores, *loads) if one is not None]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((1, 640, 32), None),
        ((1, 200, 32), None),
        ((1, 653, 96), None),
        ((9, 49, 32), None),
        ((2, 128, 2, 32), None),
        ((1, 640, 32), (10, 64, 32)),
        ((10, 64, 32), (1, 640, 2, 16)),
        ((5, 128, 32), (1, 640, 32)),
        ((1, 640, 24), None),  # rows do not fill the EUs
        ((1, 653, 40), None),
        ((10, 49, 24), None),
        ((1, 640, 32), (5, 128, 1, 32)),
    ],
    ids=str,
)
def test_short_rows_lie_lane_by_lane(first: Shape, second: Shape | None) -> None:
    case = pair(first, second)
    module, plain = apart(case), apart(case, keep=False)
    assert len(maps(module)) == 2
    assert not maps(plain)
    with_, without = outcome_of(case, module), outcome_of(case, plain)
    assert_close(with_)
    assert np.array_equal(with_.simulated, without.simulated)
    assert with_.cycles < without.cycles


@pytest.mark.parametrize("kind", ["f32", "bf16"])
def test_other_formats(kind: str) -> None:
    case = pair((1, 650, 32), kind=kind)
    module = apart(case)
    assert len(maps(module)) == 2
    assert_close(outcome_of(case, module))


ROW_MAJOR = {
    "rows of 256 bytes are moved at the full rate": ((1, 640, 128), None, WHOLE),
    "rows of 256 bytes with their gaps": ((1, 640, 100), None, WHOLE),
    "one row a lane": ((1, 64, 32), None, WHOLE),
    "rounds of fewer lanes lie between others": ((2, 96, 32), None, WHOLE),
    "they are read from other lanes": ((1, 640, 32), (20, 32, 32), WHOLE),
    "they are read in parts": ((4, 64, 32), None, Secs(n=2)),
}


@pytest.mark.parametrize("why", ROW_MAJOR)
def test_others_stay_row_major(why: str) -> None:
    first, second, secs = ROW_MAJOR[why]
    case = pair(first, second)
    module = apart(case, secs)
    assert not maps(module)
    assert_close(outcome_of(case, module))


def test_gaps_have_room_in_ddr() -> None:
    """Nothing else lies where the gaps are, which the Store writes."""
    module = apart(pair((1, 640, 24)))
    for name in ("address-assign", "verify-addresses"):
        PASSES[name]()().apply(make_context(), module)
    _, _, function = divided_parts(module)
    live = lifetimes(function, room=partial(room_in_ddr, chip=load_chip()))
    assert {buffer.size for buffer in live.buffers} == {640 * 24 * 2, 640 * 64}


def test_rows_that_loads_move_stay_row_major() -> None:
    case = pair((16, 64, 24), turn=(0, 5, 0))
    module = apart(case)
    assert not maps(module)
    assert_close(outcome_of(case, module))


def test_what_an_op_in_ddr_reads_stays_row_major() -> None:
    case = pair((1, 640, 32))
    case.op("tpu.Permute", ["a", "none"], {"order": "[1, 0, 2]"}, "turned", (640, 1, 32))
    assert not maps(apart(case))


def test_the_map_says_where_elements_lie() -> None:
    (store, load) = maps(apart(pair((1, 640, 32))))
    assert store == load
    assert "mod 64" in store
