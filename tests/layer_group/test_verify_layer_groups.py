"""The pass `verify-layer-groups`: accepts sound groups and names every fault planted into one."""

import gzip
from collections.abc import Callable

import pytest
from tests.kernels.harness import Case
from tests.layer_group.group_samples import DATA, MODELS
from tests.layer_group.small_nets import (
    chain,
    change,
    find,
    grouped_by_pass,
    groups_of,
    info,
    residual,
)
from tests.local.groups import grouped
from tests.local.test_local_cnn import conv
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.text import make_context, module_text, parse_module
from xdsl_tpu.dialects.tpu.op import LocalOp
from xdsl_tpu.passes.layer_group.values import Secs
from xdsl_tpu.passes.verify_layer_groups import VerifyLayerGroupsPass

LOCAL_BYTES = 262144


def verify(module: ModuleOp) -> None:
    """Run the pass; it changes nothing."""
    before = module_text(module)
    try:
        VerifyLayerGroupsPass().apply(make_context(), module)
    finally:
        assert module_text(module) == before


def fault_in(module: ModuleOp) -> str:
    """The message of the pass."""
    with pytest.raises(TpuError) as caught:
        verify(module)
    return str(caught.value)


@pytest.mark.parametrize("model", MODELS)
def test_real_final_files_are_accepted(model: str) -> None:
    text = gzip.decompress((DATA / "ir" / f"{model}_final.mlir.gz").read_bytes()).decode()
    module = parse_module(text, model)
    assert groups_of(module)
    VerifyLayerGroupsPass().apply(make_context(), module)


@pytest.mark.parametrize("model", ["mobilenetv2_100_bm1684x_f16", "swin_t_bm1684x_f16"])
def test_a_moved_value_of_a_real_file_is_found(model: str) -> None:
    """Everything of a group at address 0: something must be alive beside something else."""
    text = gzip.decompress((DATA / "ir" / f"{model}_final.mlir.gz").read_bytes()).decode()
    module = parse_module(text, model)
    for op in groups_of(module)[0].body.block.ops:
        if isinstance(op, LocalOp) and op.ginfo is not None:
            change(op, out_addr=0)
    assert "writes" in fault_in(module)


@pytest.mark.parametrize("secs", [Secs(), Secs(h=3), Secs(h=2, w=2)], ids=str)
def test_own_groups_are_accepted(secs: Secs) -> None:
    verify(grouped(residual(), secs=secs))
    verify(grouped_by_pass(chain(5)))


class Halved(Case):
    """An image of which every other row and column goes on, and which is a result itself."""

    def __init__(self) -> None:
        super().__init__("f16")
        shape, half = (1, 8, 16, 16), (1, 8, 8, 8)
        a = self.op("tpu.Relu", [self.input("x", shape)], {}, "a", shape)
        conv(self, a, "y", (shape, half), (2, 2), strides=(2, 2))

    def module(self) -> ModuleOp:
        """With both results."""
        module = super().module()
        (func,) = [op for op in module.walk() if isinstance(op, FuncOp)]
        last = func.get_return_op()
        assert last is not None
        (image,) = [op for op in module.walk() if isinstance(op, tpu.ReluOp)]
        results = [*last.operands, image.results[0]]
        func.body.block.add_op(ReturnOp(*results))
        last.detach()
        last.erase()
        func.update_function_type()
        return module


def test_rows_that_are_stored_need_not_be_those_that_are_read() -> None:
    """Of 16 rows in three parts 6, 5 and 5 are stored, and 6, 6 and 4 are read for 3, 3 and 2."""
    module = grouped(Halved(), secs=Secs(h=3))
    verify(module)
    rows = info(find(module, "a"))
    assert list(zip(ints(rows.h_idx), ints(rows.h_slice), strict=True)) == [(0, 6), (6, 6), (11, 5)]


def straight() -> ModuleOp:
    """One straight group with a pack."""
    return grouped_by_pass(residual())


def sliced() -> ModuleOp:
    """A pipeline over three slices."""
    return grouped(residual(), secs=Secs(h=3))


def _overlap(module: ModuleOp) -> None:
    change(find(module, "b"), out_addr=info(find(module, "a")).out_addr.value.data)


def _onto_scratch(module: ModuleOp) -> None:
    change(find(module, "a"), out_addr=info(find(module, "a")).buffer_addr.value.data)


def _scratch_outside(module: ModuleOp) -> None:
    change(find(module, "a"), buffer_addr=LOCAL_BYTES - 64)


def _outside(module: ModuleOp) -> None:
    change(find(module, "y"), out_addr=LOCAL_BYTES - 64)
    change(find(module, "y", tpu.StoreOp), out_addr=LOCAL_BYTES - 64)


def _unaligned(module: ModuleOp) -> None:
    change(find(module, "a"), out_addr=info(find(module, "a")).out_addr.value.data + 2)


def _too_small(module: ModuleOp) -> None:
    change(find(module, "a"), out_size=info(find(module, "a")).out_size.value.data - 64)


def _compact(module: ModuleOp) -> None:
    change(find(module, "a"), eu_align=False)


def _other_rows(module: ModuleOp) -> None:
    change(find(module, "load_x"), h_idx=[0], h_slice=[11])


def _missing_margin(module: ModuleOp) -> None:
    change(find(module, "load_x"), h_idx=[0, 4, 8], h_slice=[4, 4, 4])


def _same_id(module: ModuleOp) -> None:
    change(find(module, "a"), id=info(find(module, "b")).id.value.data)


def _group(module: ModuleOp) -> tpu.GroupOp:
    return groups_of(module)[0]


def _left_out(module: ModuleOp) -> None:
    gone = info(find(module, "b")).id.value.data
    group = _group(module)
    group.flow = I64_ARRAY.encode([entry for entry in ints(group.flow) if entry != gone])


def _late_load(module: ModuleOp) -> None:
    """The load of x moves to the last time step."""
    moved = info(find(module, "load_x")).id.value.data
    group = _group(module)
    rest = [entry for entry in ints(group.flow) if entry != moved]
    group.flow = I64_ARRAY.encode([*rest, moved])


def _wrong_stage(module: ModuleOp) -> None:
    """Loaded at the end of the round in which it is needed, not of the one before."""
    change(find(module, "load_x"), stage=1)


def _early_store(module: ModuleOp) -> None:
    """The store joins the time step of the op that it stores."""
    group = _group(module)
    store = info(find(module, "y", tpu.StoreOp)).id.value.data
    made = info(find(module, "y")).id.value.data
    rest = [entry for entry in ints(group.flow) if entry != store]
    rest.insert(rest.index(made) + 1, store)
    group.flow = I64_ARRAY.encode(rest)


def _steps_from_two(module: ModuleOp) -> None:
    group = _group(module)
    group.flow = I64_ARRAY.encode([e - 1 if e < 0 else e for e in ints(group.flow)])


def _other_kind(module: ModuleOp) -> None:
    change(find(module, "a"), group_type=2)


def _not_loaded(module: ModuleOp) -> None:
    load = find(module, "load_x")
    find(module, "y").operands[1] = load.operands[0]


def _pack_apart(module: ModuleOp) -> None:
    load = find(module, "load_b_b")
    change(load, out_addr=info(load).out_addr.value.data + 64)


def _pack_too_long(module: ModuleOp) -> None:
    """The transfer writes over what lies behind the pack, as a wider image would."""
    for op in module.walk():
        if isinstance(op, top.WeightOp) and op.pack is not None:
            number, offset, *_ = ints(op.pack)
            width = LOCAL_BYTES // 2
            op.pack = I64_ARRAY.encode([number, offset, width, width * 64])
    pack = info(find(module, "load_a_b", tpu.LoadOp)).out_addr.value.data
    change(_load_beside_packs(module), out_addr=pack + 12288)


def _load_beside_packs(module: ModuleOp) -> LocalOp:
    """The Load of the weight that is in no pack."""
    loads = [op for op in _group(module).body.block.ops if isinstance(op, tpu.LoadOp)]
    weights = {load: load.input.owner for load in loads}
    return next(o for o, w in weights.items() if isinstance(w, top.WeightOp) and w.pack is None)


FAULTS: list[tuple[Callable[[], ModuleOp], Callable[[ModuleOp], None], str]] = [
    (straight, _overlap, "tpu.Conv2D 'b' writes 'b' from [0, 0, 0, 0, 0] on"),
    (straight, _onto_scratch, "of tpu.Conv2D 'a' has 'a' from [0, 0, 0, 0, 0] on"),
    (straight, _scratch_outside, "the scratch of 'a' (tpu.Conv2D) lies "),
    (straight, _outside, "'y' (tpu.Add) lies 576 bytes outside local memory"),
    (straight, _unaligned, "is not aligned to 64"),
    (straight, _too_small, "'a' (tpu.Conv2D) has 576 bytes per lane, its largest slice 640"),
    (straight, _compact, "'a' (tpu.Conv2D) should be aligned"),
    (straight, _other_rows, "'load_x' (tpu.Load) has h slices ((0, 11),), its users need"),
    (sliced, _missing_margin, "'load_x' (tpu.Load) has h slices ((0, 4), (4, 4), (8, 4)), its"),
    (straight, _same_id, "have the same id"),
    (straight, _left_out, "its flow lists 'b' (tpu.Conv2D) 0 times"),
    (straight, _steps_from_two, "the time steps of its flow are"),
    (straight, _other_kind, "'a' (tpu.Conv2D) is of another group type"),
    (straight, _not_loaded, "'y' (tpu.Add) reads 'x' from outside the group"),
    (straight, _pack_apart, "do not lie as in pack 0"),
    (straight, _pack_too_long, "which tpu.Load 'load_a_b' has written over"),
    (sliced, _overlap, "writes 'b' from [0, 0, 0, 4, 0] on"),
    (sliced, _onto_scratch, "of tpu.Conv2D 'a' has 'a' from [0, 0, 0, 8, 0] on"),
    (straight, _late_load, "'a': slice 0 of 'load_x' is not there by then"),
    (sliced, _wrong_stage, "'a': slice 0 of 'load_x' is not there by then"),
]


@pytest.mark.parametrize(
    ("build", "plant", "expected"),
    FAULTS,
    ids=[f"{build.__name__}{plant.__name__}" for build, plant, _ in FAULTS],
)
def test_a_planted_fault_is_named(
    build: Callable[[], ModuleOp], plant: Callable[[ModuleOp], None], expected: str
) -> None:
    module = build()
    verify(module)
    plant(module)
    message = fault_in(module)
    assert expected in message
    assert "group 'y'" in message


def test_a_store_beside_its_op_is_too_early() -> None:
    module = straight()
    _early_store(module)
    assert "tpu.Store 'y': slice 0 of 'y' is not there by then" in fault_in(module)


def test_a_result_may_replace_an_operand_that_nothing_reads_afterwards() -> None:
    module = straight()
    place = info(find(module, "b")).out_addr.value.data
    for kind in (tpu.AddOp, tpu.StoreOp):
        change(find(module, "y", kind), out_addr=place)
    verify(module)
