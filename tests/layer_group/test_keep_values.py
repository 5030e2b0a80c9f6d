"""Values that groups leave in local memory for those behind them."""

from collections.abc import Callable

import numpy as np
import pytest
from tests.kernels.harness import TOLERANCE, Case, check_encoding, execute
from tests.layer_group.small_nets import chain, change, groups_of, info, prepared
from tests.local.test_local_cnn import conv
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import I64_ARRAY, I64_INT
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import make_context, module_text, parse_module
from xdsl_tpu.dialects.weights import attach, weights_of
from xdsl_tpu.passes.address_assign.assign import divided_parts
from xdsl_tpu.passes.layer_group.base_groups import base_groups, computing_ops
from xdsl_tpu.passes.layer_group.build import build_group
from xdsl_tpu.passes.layer_group.clock import Clock
from xdsl_tpu.passes.layer_group.keep_values import keep_values
from xdsl_tpu.passes.layer_group.model import Group
from xdsl_tpu.passes.layer_group.optimal import OptimalSearch
from xdsl_tpu.passes.layer_group.parts import Part
from xdsl_tpu.passes.layer_group.prices import Prices
from xdsl_tpu.passes.layer_group.search import Searcher
from xdsl_tpu.passes.layer_group.values import Secs
from xdsl_tpu.passes.pipeline import make_pass

CHIP = load_chip()
SHAPE = (1, 8, 256, 192)
MEAN = {"keepdims": "true", "mode": '"ReduceMean"'}


def normalised(read_later: bool = False) -> Case:
    """Convolutions of a large map, which is then scaled by its mean: all of it must be there before
    it is scaled. With `read_later` it is added behind ops that work from DDR, too."""
    case = Case("f16")
    x = case.input("x", SHAPE)
    a = conv(case, x, "a", (SHAPE, SHAPE), (1, 1))
    b = conv(case, a, "b", (SHAPE, SHAPE), (3, 3), pads=(1, 1, 1, 1))
    y = case.op("tpu.Add", [b, x], {}, "y", SHAPE)
    rows = case.op("tpu.Reduce", [y, "none", "none"], {**MEAN, "axes": "[3]"}, "r", (*SHAPE[:3], 1))
    mean = (*SHAPE[:2], 1, 1)
    m = case.op("tpu.Reduce", [rows, "none", "none"], {**MEAN, "axes": "[2]"}, "m", mean)
    g = conv(case, m, "g", (mean, mean), (1, 1), relu=-1.0)
    z = case.op("tpu.Mul", [y, g], {}, "z", SHAPE)
    c = conv(case, z, "c", (SHAPE, SHAPE), (3, 3), pads=(1, 1, 1, 1))
    last = case.op("tpu.Add", [c, y], {}, "o", SHAPE)
    if read_later:
        turned = (*SHAPE[:2], SHAPE[3], SHAPE[2])
        order = {"order": "[0, 1, 3, 2]"}
        t = case.op("tpu.Permute", [last, "none"], order, "t", turned)
        u = case.op("tpu.Permute", [t, "none"], order, "u", SHAPE)
        case.op("tpu.Add", [u, y], {}, "e", SHAPE)
    return case


def enlarged() -> Case:
    """Many convolutions of a small map, which in slices would make their margins several times,
    and two results of which are made larger and added."""
    case = Case("f16")
    small, large = (1, 64, 128, 96), (1, 64, 256, 192)
    x = case.input("x", small)
    for name in "abcdefghij":
        x = conv(case, x, name, (small, small), (3, 3), pads=(1, 1, 1, 1))
    twice = {"scale_h": "2 : i64", "scale_w": "2 : i64"}
    u, v = (case.op("tpu.Upsample", [one, "none"], twice, f"{one}_large", large) for one in "ij")
    w = conv(case, v, "w", (large, large), (1, 1))
    case.op("tpu.Add", [u, w], {}, "y", large)
    return case


def compiled(case: Case, keep: bool = True) -> ModuleOp:
    module = case.module()
    options = {"layer-group": "" if keep else "keep=false"}
    for name in ("weight-reorder", "subnet-divide", "layer-group", "address-assign"):
        make_pass(name, options.get(name, "")).apply(make_context(), module)
    module.verify()
    verify(module)
    return module


def verify(module: ModuleOp) -> None:
    make_pass("verify-layer-groups", "").apply(make_context(), module)


def program_of(module: ModuleOp) -> Program:
    program = generate(module, weights_of(module), CHIP)
    check_encoding(program)
    return program


def cycles(program: Program) -> int:
    return simulate(program.tiu, program.gdma, CHIP).total


def stores(module: ModuleOp) -> dict[str, tpu.StoreOp]:
    """Those of what is kept, by name."""
    return {
        name_of(op) or "": op
        for op in module.walk()
        if isinstance(op, tpu.StoreOp) and op.kept is not None
    }


@pytest.mark.parametrize("read_later", [False, True])
def test_a_map_stays_while_its_mean_is_found(read_later: bool) -> None:
    case = normalised(read_later)
    module, plain = compiled(case), compiled(case, keep=False)
    assert not stores(plain)
    assert stores(module)["y"].is_only_kept is not read_later
    program = program_of(module)
    assert cycles(program) < 0.97 * cycles(program_of(plain))
    computes(program, case)


def test_a_straight_group_leaves_what_it_made_before_its_end() -> None:
    case = enlarged()
    module, plain = compiled(case), compiled(case, keep=False)
    first = groups_of(module)[0]
    assert first.hsecs.value.data == 1
    assert set(stores(module)) == {"g"}
    program = program_of(module)
    assert cycles(program) < 0.97 * cycles(program_of(plain))
    computes(program, case)


@pytest.mark.parametrize("slices", [1, 4])
def test_a_straight_group_goes_on_where_the_one_before_left_what_it_made(slices: int) -> None:
    """A group in slices works beside where that is wanted, in other places than alone."""
    case = chain(4, size=32)
    module = prepared(case)
    prices, block = Prices(CHIP, module), divided_parts(module)[2].body.block
    search = OptimalSearch(
        Searcher(CHIP, prices.scratch), prices, base_groups(computing_ops(block))
    )
    cuts = ((search.ops[:2], Secs(h=slices)), (search.ops[2:], Secs()))
    halves = [search.searcher.plan(part, secs) for part, secs in cuts]
    groups = [one for one in halves if isinstance(one, Group)]
    search.parts = [
        Part(start, start + 2, group, Clock(), Clock())
        for start, group in zip((0, 2), groups, strict=True)
    ]
    groups, keeping = keep_values(search, groups)
    none = next(op for op in block.ops if isinstance(op, top.NoneOp))
    for group, kept in reversed([*zip(groups, keeping, strict=True)]):
        build_group(group, none, CHIP, kept)
    make_pass("address-assign", "").apply(make_context(), module)
    verify(module)
    load = _copying(module)
    assert load.kept_at == info(load).out_addr.value.data
    program = program_of(module)
    names = [program.layers[layer].name for layer in (*program.gdma_layers, *program.tiu_layers)]
    assert {"load_x", "c3"} < set(names)
    assert not any("load_c1" in name for name in names)
    computes(program, case)
    change(load, out_addr=info(load).out_addr.value.data + 64)
    with pytest.raises(TpuError, match="where a value is kept"):
        verify(module)


def computes(program: Program, case: Case) -> None:
    """What the interpreter gives, whichever engine runs ahead."""
    (expected,) = run_module(case.module(), case.inputs).values()
    early, late = (execute(program, case, CHIP, ahead) for ahead in (Engine.TIU, Engine.GDMA))
    assert np.array_equal(early, late), "the result depends on which engine runs ahead"
    assert np.abs(early - expected).max() <= TOLERANCE["f16"] * np.abs(expected).max()


def test_tile_programs_say_what_is_kept() -> None:
    module = compiled(normalised())
    direct = program_of(module)
    make_pass("lower-to-tile", "").apply(make_context(), module)
    text = module_text(module)
    place = stores(module)["y"].kept_at
    assert f"on tiu kept {place}" in text
    again = parse_module(text)
    attach(again, weights_of(module))
    assert [c.fields for c in program_of(again).tiu] == [c.fields for c in direct.tiu]


def _forgotten(module: ModuleOp) -> None:
    """The group between does not know of it."""
    del groups_of(module)[1].attributes["kept"]


def _elsewhere(module: ModuleOp) -> None:
    """It is read from another place."""
    load = _copying(module)
    assert load.kept_at is not None
    load.kept = I64_INT.encode(load.kept_at - 64)


def _from_ddr(module: ModuleOp) -> None:
    """It is read from where it never came."""
    del _copying(module).attributes["kept"]


def _in_its_place(module: ModuleOp) -> None:
    """The group between works where it lies."""
    place = stores(module)["y"].kept_at
    assert place is not None
    mean = next(op for op in groups_of(module)[1].body.block.ops if name_of(op) == "m")
    assert isinstance(mean, tpu.ReduceOp)
    change(mean, buffer_addr=place, buffer_size=64)


def _outside(module: ModuleOp) -> None:
    """It does not fit where it shall lie."""
    store = stores(module)["y"]
    store.kept = I64_INT.encode(CHIP.local_bytes - 64)


def _on_inputs(module: ModuleOp) -> None:
    """It lies where the group that makes it works."""
    stores(module)["y"].kept = I64_INT.encode(0)


def _too_small(module: ModuleOp) -> None:
    """Only a part of it is left alone."""
    for group in groups_of(module)[1:]:
        *others, (start, end) = sorted(group.kept_regions)
        bounds = [bound for region in others for bound in region]
        group.kept = I64_ARRAY.encode((*bounds, start, end - 64))


def _copying(module: ModuleOp) -> tpu.LoadOp:
    return next(op for op in module.walk() if isinstance(op, tpu.LoadOp) and op.kept is not None)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_forgotten, "copies what nothing has left"),
        (_elsewhere, "copies what nothing has left"),
        (_from_ddr, "which is not in DDR"),
        (_in_its_place, "where a value is kept"),
        (_outside, "where none can be"),
        (_on_inputs, "where another lies"),
        (_too_small, "where nothing is kept"),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_faults_are_found(spoil: Callable[[ModuleOp], None], message: str) -> None:
    module = compiled(normalised())
    spoil(module)
    with pytest.raises(TpuError, match=message):
        verify(module)
