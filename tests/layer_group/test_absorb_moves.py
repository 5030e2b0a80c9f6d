"""Movement before a group becomes strides of its Loads; values stay the same."""

import numpy as np
import pytest
from tests.kernels.harness import Case, Outcome, check_encoding, execute
from tests.layer_group.small_nets import groups_of, prepared
from tests.local.groups import SCRATCH, WHOLE, assert_close
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.local.gather import reading
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.absorbed import ABSORBED, is_absorbed, set_absorbed
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.local_gen import GroupType
from xdsl_tpu.dialects.interfaces.movement import movement_of
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import make_context, module_text, parse_module
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes import PASSES
from xdsl_tpu.passes.address_assign.assign import address_of, divided_parts
from xdsl_tpu.passes.layer_group.base_groups import computing_ops
from xdsl_tpu.passes.layer_group.build import build_group
from xdsl_tpu.passes.layer_group.model import cut_group, plan_group
from xdsl_tpu.passes.layer_group.values import Refusal, Secs

CHANNELS = 256


def windows(shift: int = 0, kind: str = "f16", channels: int = CHANNELS) -> Case:
    """A 28 x 28 image of tokens, rolled if wanted, cut into 16 windows; then a + relu(a)."""
    case = Case(kind)
    image = (1, 28, 28, channels)
    value = case.input("x", image)
    if shift:
        offset = f"[0, {shift}, {shift}, 0]"
        value = case.op("tpu.SwapDimInner", [value], {"offset": offset}, "shifted", image)
    split, order = (1, 4, 7, 4, 7, channels), "[0, 1, 3, 2, 4, 5]"
    value = case.op("tpu.Reshape", [value], {"shape": _list(split)}, "split", split)
    turned = (1, 4, 4, 7, 7, channels)
    value = case.op("tpu.Permute", [value, "none"], {"order": order}, "turned", turned)
    tokens = (16, 49, channels)
    value = case.op("tpu.Reshape", [value], {"shape": _list(tokens)}, "tokens", tokens)
    relu = case.op("tpu.Relu", [value], {}, "relu", tokens)
    case.op("tpu.Add", [value, relu], {}, "y", tokens)
    return case


def merged() -> Case:
    """Tokens 2 x 2 side by side in the channels."""
    case = Case("f16")
    value = case.input("x", (1, 28, 28, CHANNELS))
    wide = (1, 14, 14, 4 * CHANNELS)
    flags = {name: "true" for name in ("is_inversed", "is_CRD", "swap_cr")}
    flags |= {"in_is_NCHW": "false", "out_is_NCHW": "false", "is_CRD": "false"}
    flags |= {"block_h": "2 : i64", "block_w": "2 : i64"}
    value = case.op("tpu.Depth2Space", [value], flags, "wide", wide)
    tokens = (1, 196, 4 * CHANNELS)
    value = case.op("tpu.Reshape", [value], {"shape": _list(tokens)}, "tokens", tokens)
    relu = case.op("tpu.Relu", [value], {}, "relu", tokens)
    case.op("tpu.Add", [value, relu], {}, "y", tokens)
    return case


def _list(sizes: tuple[int, ...]) -> str:
    return str(list(sizes))


def _scratch(*_: object) -> int:
    return SCRATCH


def absorbed(case: Case, secs: Secs = WHOLE, kind: GroupType = GroupType.NORMAL) -> ModuleOp:
    """The case with its point-wise ops in a group, after the pass."""
    module = prepared(case)
    chip = load_chip()
    _, _, function = divided_parts(module)
    inside = ("tpu.Relu", "tpu.Add")
    ops = [op for op in computing_ops(function.body.block) if op.name in inside]
    group = plan_group(cut_group(ops, kind, secs, chip), chip, _scratch)
    assert not isinstance(group, Refusal), f"the group was refused: {group}"
    none = next(op for op in function.body.block.ops if isinstance(op, top.NoneOp))
    build_group(group, none, chip)
    PASSES["absorb-moves"]()().apply(make_context(), module)
    module.verify()
    return module


def marked(module: ModuleOp) -> list[str]:
    """The names of the absorbed ops."""
    return [name_of(op) or "" for op in module.walk() if is_absorbed(op)]


def outcome_of(case: Case, module: ModuleOp) -> Outcome:
    """Simulated in two orders, and what the interpreter says before the pass."""
    chip = load_chip()
    (expected,) = run_module(case.module(), case.inputs).values()
    for name in ("address-assign", "verify-addresses"):
        PASSES[name]()().apply(make_context(), module)
    program = generate(module, weights_of(module), chip)
    check_encoding(program)
    early, late = (execute(program, case, chip, ahead) for ahead in (Engine.TIU, Engine.GDMA))
    assert np.array_equal(early, late)
    cycles = simulate(program.tiu, program.gdma, chip).total
    return Outcome(early, np.asarray(expected), program, cycles)


CUTS = [WHOLE, Secs(n=4), Secs(n=2, h=2)]


@pytest.mark.parametrize("secs", CUTS, ids=str)
@pytest.mark.parametrize("shift", [0, 3])
def test_windows_are_cut_by_the_loads(shift: int, secs: Secs) -> None:
    case = windows(shift)
    module = absorbed(case, secs)
    assert marked(module) == [*(["shifted"] if shift else []), "turned"]
    outcome = outcome_of(case, module)
    assert_close(outcome)
    assert {layer.op for layer in outcome.program.layers} & {"tpu.Permute", "tpu.SwapDimInner"} == (
        set()
    )


@pytest.mark.parametrize("secs", [WHOLE, Secs(n=7), Secs(n=3, h=2)], ids=str)
def test_slices_are_taken_by_the_loads(secs: Secs) -> None:
    """Some images and channels, as a shift of times takes them."""
    case = Case("f16")
    shape, part = (8, 256, 14, 14), (7, 64, 14, 14)
    value = case.input("x", shape)
    lists = {"offset": "[1, 64, 0, 0]", "ends": "[8, 128, 14, 14]", "steps": "[1, 1, 1, 1]"}
    value = case.op("tpu.Slice", [value, *["none"] * 4], lists, "some", part)
    relu = case.op("tpu.Relu", [value], {}, "relu", part)
    case.op("tpu.Add", [value, relu], {}, "y", part)
    module = absorbed(case, secs)
    assert marked(module) == ["some"]
    assert_close(outcome_of(case, module))


@pytest.mark.parametrize("kind", ["f32", "bf16"])
def test_other_formats(kind: str) -> None:
    case = windows(5, kind)
    assert_close(outcome_of(case, absorbed(case)))


def test_patch_merging_is_done_by_the_load() -> None:
    case = merged()
    module = absorbed(case)
    assert marked(module) == ["wide"]
    assert_close(outcome_of(case, module))


def test_it_takes_fewer_cycles() -> None:
    case = windows(3)
    module, plain = absorbed(case), absorbed(case)
    for op in plain.walk():
        set_absorbed(op, False)
    with_, without = outcome_of(case, module), outcome_of(case, plain)
    assert np.array_equal(with_.simulated, without.simulated)
    assert with_.cycles < 0.7 * without.cycles


def test_interpreted_values_stay_and_the_mark_survives_text() -> None:
    case = windows(3)
    module = absorbed(case)
    again = parse_module(module_text(module))
    assert marked(again) == marked(module)
    (expected,) = run_module(case.module(), case.inputs).values()
    (actual,) = run_module(again, case.inputs, weights_of(module)).values()
    assert np.array_equal(expected, actual)


def test_the_source_keeps_its_memory_until_the_load() -> None:
    module = absorbed(windows(3))
    for name in ("address-assign", "verify-addresses"):
        PASSES[name]()().apply(make_context(), module)
    _, _, function = divided_parts(module)
    (x,) = function.body.block.args
    values = {name_of(op): op.results[0] for op in function.body.block.ops if op.results}
    assert {address_of(values[name]) for name in ("shifted", "split", "turned", "tokens")} == {
        address_of(x)
    }
    (group,) = groups_of(module)
    assert address_of(group.outputs[0]) != address_of(x)


def test_element_by_element_is_left_to_the_permute() -> None:
    case = Case("f16")
    shape, turned = (1, 64, 56, 56), (1, 56, 56, 64)
    value = case.input("x", shape)
    order = {"order": "[0, 2, 3, 1]"}
    value = case.op("tpu.Permute", [value, "none"], order, "turned", turned)
    case.op("tpu.Relu", [value], {}, "y", turned)
    assert not marked(absorbed(case))


def test_a_result_that_others_use_is_made() -> None:
    case = windows()
    case.op("tpu.Concat", ["y", "tokens"], {"axis": "2 : si32"}, "end", (16, 49, 2 * CHANNELS))
    assert not marked(absorbed(case))


def test_a_result_that_the_network_returns_is_made() -> None:
    case = windows()
    case.last = "tokens"
    module = absorbed(case)
    assert not marked(module)


def test_only_movement_can_be_read_through() -> None:
    case = Case("f16")
    value = case.input("x", (1, 4, 4, 4))
    case.op("tpu.Relu", [value], {}, "y", (1, 4, 4, 4))
    relu = next(op for op in case.module().walk() if op.name == "tpu.Relu")
    assert movement_of(relu) is None
    assert reading(relu.results[0]) is None


def test_a_wrong_address_of_an_absorbed_op_is_found() -> None:
    module = absorbed(windows())
    PASSES["address-assign"]()().apply(make_context(), module)
    turned: Operation = next(op for op in module.walk() if isinstance(op, tpu.PermuteOp))
    del turned.attributes[ABSORBED]
    with pytest.raises(TpuError, match="share bytes"):
        PASSES["verify-addresses"]()().apply(make_context(), module)
