"""Compiling, running, timing, reporting, saving and loading from Python."""

import html
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.api.samples import IMAGE, cnn, image, written
from tests.tools.running import Run

import xdsl_tpu as xt
from xdsl_tpu.backend.machine import Machine


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return list(a) == list(b) and all(np.array_equal(a[name], b[name]) for name in a)


def test_outputs_have_the_names_of_the_model(program: xt.Program) -> None:
    outputs = program.run(image())
    assert list(outputs) == ["logits", "features"]
    assert {name: array.shape for name, array in outputs.items()} == program.outputs
    assert program.inputs == {"image": IMAGE}


def test_inputs_by_name_in_order_and_alone(program: xt.Program) -> None:
    alone = program.run(image())
    assert same(alone, program.run({"image": image()}))
    assert same(alone, program.run([image()]))
    assert same(alone, program.run((image().tolist(),)))
    assert same(program.run(seed=7), program.run(program.random_inputs(7)))
    assert not same(program.run(seed=7), program.run(seed=8))


def test_inputs_that_do_not_fit(program: xt.Program) -> None:
    with pytest.raises(xt.TpuError, match="2 inputs given, the program takes 1: image"):
        program.run([image(), image()])
    with pytest.raises(xt.TpuError, match="input 'image' is missing"):
        program.run({"picture": image()})
    with pytest.raises(xt.TpuError, match="input 'image' has shape"):
        program.run(image()[0])


def test_the_values_are_those_of_the_tool(
    program: xt.Program, model: Path, tool: Run, tmp_path: Path
) -> None:
    """The same program, bit for bit, the same cycles and outputs."""
    assert tool("tpu-compile", model, "-o", tmp_path / "p").status == 0
    made = (tmp_path / "p" / "model.bmodel").read_bytes()
    assert program.file.read_bytes() == made
    np.savez(tmp_path / "x.npz", image=image())
    options = ("--outputs", tmp_path / "o.npz", "--report", tmp_path / "r.json")
    assert tool("tpu-run", tmp_path / "p", "--inputs", tmp_path / "x.npz", *options).status == 0
    outputs = list(program.run(image()).values())
    with np.load(tmp_path / "o.npz") as saved:
        arrays = [saved[name] for name in saved.files]
    assert all(np.array_equal(a, b) for a, b in zip(outputs, arrays, strict=True))
    report = json.loads((tmp_path / "r.json").read_text())
    mine = program.report()
    for key in set(report) - {"command", "seed", "hashes", "outputs", "wall_seconds"}:
        assert mine[key] == report[key], key
    assert set(mine) == set(report)
    assert mine["hashes"]["program"] == report["hashes"]["program"]


def test_time_computes_no_values(program: xt.Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Machine, "run", None)
    timing = program.time()
    assert timing is program.time()
    assert timing.cycles == program.report().cycles > 0
    assert timing.milliseconds == program.chip.milliseconds(timing.cycles)
    assert max(timing.floor.compute, timing.floor.dma) <= timing.cycles
    busy = timing.usage.both + timing.usage.exposed_dma
    assert timing.busy["dma"] == busy / timing.cycles
    assert timing.on_silicon is not None
    assert timing.on_silicon.low > timing.cycles


def test_a_report_is_a_mapping_a_page_and_files(program: xt.Program, tmp_path: Path) -> None:
    report = program.report()
    page, figures = report.save(tmp_path / "p.html"), report.save(tmp_path / "r.json")
    assert json.loads(figures.read_text()) == dict(report)
    assert page.read_text() == report.html
    shown = report._repr_html_()  # pyright: ignore[reportPrivateUsage]  # what notebooks call
    assert shown.startswith("<iframe ")
    assert html.escape(report.html, quote=True) in shown
    assert json.loads(report.trace)["traceEvents"]
    cycles = [row["cycles"] for row in report.layers]
    assert cycles == sorted(cycles, reverse=True)
    with pytest.raises(xt.TpuError, match=r"a report is a \.html or a \.json file"):
        report.save(tmp_path / "r.txt")


def test_a_chip_of_other_figures(program: xt.Program, model: Path, tmp_path: Path) -> None:
    other = xt.compile(model, chip={"lanes": 32, "ddr_load": 8})
    assert (other.chip.lanes, other.chip.load_bytes_per_cycle) == (32, 8)
    assert other.time().cycles != program.time().cycles
    assert other.time().on_silicon is None
    assert list(other.run(image())) == ["logits", "features"]
    again = xt.load(other.save(tmp_path / "p"))
    assert again.chip == other.chip
    against = other.report(against=program)
    assert against.against is not None
    assert against.against[1]["cycles"] == program.time().cycles
    with pytest.raises(xt.TpuError, match="chip: a chip has no figure 'lane'"):
        xt.compile(model, chip={"lane": 1})
    with pytest.raises(xt.TpuError, match=r"chip: '1\.5' is no value for 'lanes'"):
        xt.compile(model, chip={"lanes": 1.5})
    with pytest.raises(xt.TpuError, match=r"^chip: lanes is 0; it must be above 0"):
        xt.compile(model, chip={"lanes": 0})


def test_saved_and_loaded(program: xt.Program, tmp_path: Path) -> None:
    folder = program.save(tmp_path / "deep" / "p")
    assert {file.name for file in folder.iterdir()} == {f.name for f in program.path.iterdir()}
    again = xt.load(str(folder))
    assert repr(again) == repr(program)
    assert same(again.run(image()), program.run(image()))
    beside = xt.load(folder / "model.bmodel")
    assert beside.outputs == program.outputs
    assert beside.save(tmp_path / "alone") == tmp_path / "alone"
    assert [file.name for file in (tmp_path / "alone").iterdir()] == ["model.bmodel"]
    alone = xt.load(tmp_path / "alone")
    assert "logits" not in alone.outputs
    assert list(alone.outputs.values()) == list(program.outputs.values())
    with pytest.raises(xt.TpuError, match=r"has no final\.mlir; a bmodel alone keeps no IR"):
        alone.module()
    with pytest.raises(xt.TpuError, match="exists and is no folder"):
        program.save(folder / "model.bmodel")
    with pytest.raises(xt.TpuError, match="no such file"):
        xt.load(tmp_path / "nothing")


def test_names_of_another_program_are_not_taken(program: xt.Program, tmp_path: Path) -> None:
    """compile.json beside a bmodel that it is not about."""
    folder = program.save(tmp_path / "p")
    other = xt.compile(written(tmp_path, "transformer"), output=tmp_path / "other")
    (folder / "model.bmodel").write_bytes(other.file.read_bytes())
    assert "logits" not in xt.load(folder).outputs


def test_a_temporary_program_goes_with_its_object(model: Path) -> None:
    made = xt.compile(model)
    folder = made.path
    assert folder.is_dir()
    report = made.report()
    del made
    assert not folder.exists()
    assert report.html


def test_an_output_folder_stays(model: Path, tmp_path: Path) -> None:
    made = xt.compile(str(model), output=tmp_path / "kept")
    del made
    assert (tmp_path / "kept" / "model.bmodel").is_file()


def test_ir_of_each_stage(program: xt.Program, model: Path) -> None:
    names = {stage: {op.name for op in program.module(stage).walk()} for stage in
             ("top", "tpu", "final")}  # fmt: skip
    assert "top.Conv" in names["top"]
    assert "tpu.Conv2D" in names["tpu"] & names["final"]
    modules = xt.top_module(model), program.module("top")
    mine, written = ([op.name for op in module.walk()] for module in modules)
    assert mine == written
    with pytest.raises(xt.TpuError, match="no stage 'middle'"):
        program.module("middle")
    assert "CONV" in program.disassemble()


def test_short_representations(program: xt.Program) -> None:
    assert repr(program) == (
        "<program: cnn F16 on BM1684X, image 1x3x40x24 -> logits 1x10, features 1x16x10x6>"
    )
    cycles = f"{program.time().cycles:,} cycles"
    assert repr(program.time()).startswith(f"<{cycles} (")
    assert cycles in repr(program.report())
    for shown in (program.time(), program.report(), xt.calibrate(cnn())):
        assert len(repr(shown)) < 100


def test_models_in_memory_and_dynamic_shapes() -> None:
    made = xt.compile(cnn(), "f32")
    assert (made.name, made.quantize) == ("small", "F32")
    model = cnn()
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    with pytest.raises(xt.TpuError, match="image"):
        xt.compile(model)
    assert xt.compile(model, input_shapes={"image": IMAGE}).inputs == {"image": IMAGE}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: xt.compile("net.onn"), r"net\.onn: no such file"),
        (lambda: xt.compile(3), "a int is no model"),
        (lambda: xt.compile(cnn(), "F8"), "no number format 'F8': give one of F32, F16"),
        (lambda: xt.compile(cnn(), chip="none"), "no chip 'none'"),
        (lambda: xt.compile(cnn(), disable=["nothing"]), "nothing"),
        (lambda: xt.compile(cnn(), "INT8"), "INT8 needs a calibrated network"),
        (lambda: xt.compile(cnn(), min_cosine=0.9), "needs samples"),
        (lambda: xt.top_module("x.mlir"), r"x\.mlir: no such file"),
        (lambda: xt.calibrate(cnn(), method="most"), "no method 'most': give one of max"),
        (lambda: xt.calibrate(cnn(), engine="steam"), "no engine 'steam'"),
        (lambda: xt.calibrate(cnn(), "none.npz"), r"none\.npz: no such file"),
    ],
)  # fmt: skip
def test_errors_are_the_tools_in_one_message(wrong: Callable[[], object], message: str) -> None:
    with pytest.raises(xt.TpuError, match=message):
        wrong()


def test_malformed_ir_is_a_tpu_error(tmp_path: Path) -> None:
    file = tmp_path / "bad.mlir"
    file.write_text("module {\n")
    with pytest.raises(xt.TpuError, match=r"bad\.mlir:"):
        xt.compile(file)


def test_nothing_is_left_of_a_compilation_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with pytest.raises(xt.TpuError):
        xt.compile(cnn(), "INT8", output=tmp_path / "out")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("shape", ["1x3x8x8", (1, 3.5, 8, 8)])
def test_shapes_are_whole_numbers(shape: Any) -> None:
    with pytest.raises(xt.TpuError, match=r"'image'.*whole numbers"):
        xt.compile(cnn(), input_shapes={"image": shape})


def test_a_name_is_no_list_of_names() -> None:
    with pytest.raises(xt.TpuError, match=r"\['layer-group'\]"):
        xt.compile(cnn(), disable="layer-group")


def test_a_module_is_a_model(program: xt.Program, model: Path) -> None:
    """What passes or a user make of Top IR compiles as its file would; weights go with it."""
    module = xt.top_module(model)
    made = xt.compile(module)
    assert made.name == program.name
    image = np.random.default_rng(4).standard_normal(IMAGE, np.float32)
    found, wanted = list(made.run(image).values()), list(program.run(image).values())
    assert all(np.array_equal(*pair) for pair in zip(found, wanted, strict=True))
    with pytest.raises(xt.TpuError, match="give Top IR"):
        xt.compile(program.module("tpu"))
