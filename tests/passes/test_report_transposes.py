"""The report of surviving transposes: what it counts, and that its cycles are the kernels'."""

import json
from pathlib import Path

import pytest
from tests.kernels.harness import Case
from tests.layer_group.small_nets import grouped_by_pass, groups_of
from tests.layer_group.test_absorb_moves import absorbed, marked, merged, windows
from tests.passes.real_networks import real_text
from tests.passes.semantics import Net
from tests.passes.test_swin_stages import SWIN, VIT, optimized
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.layer_cost import timeline_alone
from xdsl_tpu.backend.timing import Direction, tiu_cycles
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.absorbed import set_absorbed
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import make_context, module_text, parse_module
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.report_transposes import Move, moves

CHIP = load_chip("bm1684x")


def report(module: ModuleOp) -> list[Move]:
    return list(moves(module, CHIP))


def test_swin_keeps_windows_rotations_merges_and_one_change_of_layout() -> None:
    found = report(optimized(SWIN, "F16"))
    kinds = [move.op for move in found]
    assert kinds.count("tpu.Permute") == 21
    assert kinds.count("tpu.SwapDimInner") == 10
    assert kinds.count("tpu.Depth2Space") == 3
    assert len(found) == 34
    reasons = [move.reason.partition(":")[0] for move in found]
    assert reasons.count("windows") == 20
    assert reasons.count("shifted windows") == 10
    assert reasons.count("channels first to last or back") == 1
    assert all(move.cycles > 0 and move.bytes > 0 for move in found)


def test_vit_keeps_the_change_of_layout_behind_its_patches() -> None:
    patches, move = report(optimized(VIT, "F32"))
    assert patches.shape == (1, 3, 14, 16, 224)  # rows of its patches become channels
    assert (move.op, move.shape, move.order) == ("tpu.Permute", (1, 384, 196), (0, 2, 1))
    assert move.bytes == 384 * 196 * 4


def test_cycles_are_those_of_the_kernel() -> None:
    """Twice the bytes take about twice the time, and every byte is moved."""
    costs: list[int] = []
    for columns in (96, 192):
        net = Net()
        x = net.op(top.AbsOp, "a", (net.input("x", 1, 56, 8, 7, columns),))
        y = net.op(top.PermuteOp, "p", (x,), order=(0, 2, 1, 3, 4))
        module = net.module(net.op(top.AbsOp, "y", (y,)))
        make_pass("convert-top-to-tpu", "mode=F32 chip=bm1684x").apply(make_context(), module)
        (move,) = report(module)
        costs.append(move.cycles)
        (op,) = (op for op in module.walk() if isinstance(op, tpu.PermuteOp))
        moved = timeline_alone(op, CHIP).bytes_moved
        through_local = min(moved[Direction.LOAD], moved[Direction.STORE])
        assert through_local + moved[Direction.COPY] >= move.bytes
    assert 1.7 < costs[1] / costs[0] < 2.3


def test_report_is_written_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = optimized(VIT, "F16")
    before = module_text(module)
    file = tmp_path / "moves.json"
    make_pass("report-transposes", f"json={file}").apply(make_context(), module)
    assert module_text(module) == before
    (row,) = json.loads(file.read_text(encoding="utf-8"))
    assert row["order"] == [0, 2, 1]
    keys = {"name", "op", "shape", "order", "bytes", "cycles", "absorbed", "local", "reason"}
    assert set(row) == keys
    assert row["absorbed"] is False
    assert row["local"] is False
    assert "1 ops, 1 of them Permutes" in capsys.readouterr().err


def test_top_ir_is_refused() -> None:
    net = Net()
    module = net.module(net.op(top.PermuteOp, "p", (net.input("x", 2, 3),), order=(1, 0)))
    with pytest.raises(TpuError, match=r"top IR; run --convert-top-to-tpu first"):
        make_pass("report-transposes").apply(make_context(), module)


def test_op_without_a_kernel_is_named() -> None:
    net = Net()
    x = net.input("x", 2, 3)
    net.module(x)
    op = tpu.TriluOp.make("back", (x,), result_types=[x.type], upper=1, diagonal=0)
    with pytest.raises(TpuError, match=r"no kernel for tpu.Trilu 'back'"):
        timeline_alone(op, CHIP)


def test_vendors_final_file_is_read_through_its_groups() -> None:
    found = report(parse_module(real_text("swin_t_bm1684x_f16_final")))
    assert [move.op for move in found].count("tpu.Permute") == 21
    assert [move.op for move in found].count("tpu.SwapDimInner") == 20
    assert not [move for move in found if "Group" in move.reason or "Load" in move.reason]
    windows = [move.reason for move in found if move.reason.startswith("windows")]
    assert len(windows) == 20
    assert all("MatMul" in reason for reason in windows)


def test_absorbed_moves_cost_what_their_loads_take_longer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = absorbed(windows(3))
    before = module_text(module)
    file = tmp_path / "moves.json"
    make_pass("report-transposes", f"json={file}").apply(make_context(), module)
    assert module_text(module) == before
    rows = {row["name"]: row for row in json.loads(file.read_text(encoding="utf-8"))}
    marks = set(marked(module))
    assert marks == {name for name, row in rows.items() if row["absorbed"]} == {"shifted", "turned"}
    for name in marks:
        assert rows[name]["bytes"] == 0
        assert rows[name]["reason"].startswith("absorbed into the strided loads of a group; ")
    assert f"{len(marks)} absorbed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("case", "names"), [(windows(3), ("shifted", "turned")), (merged(), ("wide",))]
)
def test_absorbing_costs_less_than_moving(case: Case, names: tuple[str, ...]) -> None:
    """Loads in another order are measured. Whole rows move for nothing, parts of rows do not."""
    inside = {move.name: move for move in report(absorbed(case))}
    plain = absorbed(case)
    for op in plain.walk():
        set_absorbed(op, False)
    executed = {move.name: move for move in report(plain)}
    for name in names:
        assert 0 <= inside[name].cycles < executed[name].cycles / 10
        assert not executed[name].absorbed
    assert "wide" not in names or inside["wide"].cycles > 0


def turning(images: int) -> Case:
    """Channels to the end of the pixels and back, a roll of the rows, then a turn of the image."""
    case = Case("f16")
    image, pixels = (images, 96, 56, 28), (images, 56, 28, 96)
    value = case.op("tpu.Relu", [case.input("x", image)], {}, "a", image)
    for name, shape, order in (("end", pixels, "[0, 2, 3, 1]"), ("front", image, "[0, 3, 1, 2]")):
        value = case.op("tpu.Permute", [value, "none"], {"order": order}, name, shape)
        value = case.op("tpu.MulConst", [value], {"const_val": "0.5 : f64"}, f"{name}_y", shape)
    value = case.op("tpu.SwapDimInner", [value], {"offset": "[0, 0, 3, 0]"}, "rolled", image)
    value = case.op("tpu.Relu", [value], {}, "b", image)
    turned = (images, 96, 28, 56)
    value = case.op("tpu.Permute", [value, "none"], {"order": "[0, 1, 3, 2]"}, "turned", turned)
    case.op("tpu.Relu", [value], {}, "y", turned)
    return case


@pytest.mark.parametrize("images", [1, 24])
def test_moves_in_groups_cost_their_commands_in_local_memory(images: int) -> None:
    """Twenty-four images are more than local memory holds, so that the groups work in slices."""
    module = grouped_by_pass(turning(images))
    assert any(group.nsecs.value.data > 1 for group in groups_of(module)) == (images > 1)
    found = {move.name: move for move in report(module)}
    inside = {str(name_of(op)) for group in groups_of(module) for op in group.body.block.ops}
    assert {name for name, move in found.items() if move.local} == {"end", "front", "rolled"}
    assert inside.isdisjoint({"turned"})
    assert not found["turned"].local
    assert found["turned"].bytes == images * 96 * 56 * 28 * 2
    make_pass("address-assign", "").apply(make_context(), module)
    assert {move.name: move.cycles for move in report(module)} == {
        name: move.cycles for name, move in found.items()
    }
    program = generate(module, weights_of(module), CHIP)
    for name in ("end", "front", "rolled"):
        layers = {i for i, layer in enumerate(program.layers) if layer.name == name}
        pairs = zip(program.tiu, program.tiu_layers, strict=True)
        issued = sum(tiu_cycles(command, CHIP) for command, layer in pairs if layer in layers)
        assert found[name].bytes == 0
        assert found[name].cycles == issued > 0
        assert found[name].reason.startswith("in local memory, inside a group; ")
    assert "in local memory" not in found["turned"].reason
