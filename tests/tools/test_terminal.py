"""What the tools do to a terminal, to pipes and to folders."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table
from tests.tools.running import Run
from tests.tools.small_models import Builder

from xdsl_tpu.tools import commands
from xdsl_tpu.tools.arguments import spread_shapes
from xdsl_tpu.tools.names import Name, in_bytes, shortened, told_apart

TOOLS = ("compile", "run", "calibrate", "sweep", "opt", "generate")


@pytest.fixture
def run(call: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """As `call`, in an empty folder, with an ordinary terminal's width."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return call


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A network with a dynamic batch and long names."""
    net = Builder(0)
    name = "/blocks.0/a_long_name_of_a_block_that_no_column_of_a_table_can_hold/attention/Relu"
    relu = net.node("Relu", ["x"], name)
    net.node("Add", [relu, net.weight("w", 1, 3, 1, 1)], "y")
    built = net.model({"x": ("n", 3, 8, 8)}, {"y": ("n", 3, 8, 8)})
    path = tmp_path / "net.onnx"
    path.write_bytes(built.SerializeToString())
    return path


@pytest.mark.parametrize("width", range(1, 30))
def test_names_lose_their_middle(width: int) -> None:
    text = "/layers_0/attention/projection/MatMul"
    short = shortened(text, width)
    assert len(short) == min(width, len(text))
    if width > 8:
        kept = short.split("...")
        assert text.startswith(kept[0])
        assert text.endswith(kept[1])
    assert shortened(text, len(text)) == text


LAYERS = [f"/layers.{i}/blocks.{j}/attention/MatMul" for i in range(3) for j in range(12)]


@pytest.mark.parametrize(
    "names",
    [
        LAYERS,
        [f"a{'b' * 40}{i}{'c' * 40}" for i in range(20)],
        [f"{'b' * 30}{i}{'c' * 30}{j}{'d' * 30}" for i in range(4) for j in range(4)],
        ["MatMul_1_output", "MatMul_1_output_0_MatMul_f32_reordered", "MatMul_1_output"],
    ],
)
@pytest.mark.parametrize("width", [4, 5, 9, 14, 20, 24, 33, 60, 200])
def test_different_names_stay_different(names: list[str], width: int) -> None:
    shown = told_apart(names, width)
    assert set(shown) == set(names)
    assert len(set(shown.values())) == len(set(names))
    assert max(map(len, shown.values())) <= width
    for name, short in shown.items():
        assert short == name or len(name) > width


def test_names_that_differ_at_an_end_alone_keep_their_middles_gone() -> None:
    assert told_apart(["/stem/Conv_output", "/head/Gemm"], 12) == {
        "/stem/Conv_output": "/ste...utput",
        "/head/Gemm": "/head/Gemm",
    }


def test_layers_of_a_table_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("layer", "cycles")
    for name in LAYERS:
        table.add_row(Name(name, LAYERS), "1,234,567")
    Console(width=36).print(table)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 36
    assert len(set(lines[3:-1])) == len(LAYERS)


def test_a_table_of_long_names_fits(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("layer", "cycles")
    table.add_row(Name("a" * 60 + "/the_end_of_it"), "1,234,567")
    table.add_row(Name("short"), "1")
    Console(width=40).print(table)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 40
    assert sum("end_of_it" in line for line in lines) == 1
    assert len(lines) == 6  # nothing is folded


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_999, "1000.0 kB"), (1_500_000, "1.5 MB")],
)
def test_bytes_have_one_unit_in_all_tools(count: int, text: str) -> None:
    assert in_bytes(count) == text


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("columns", ["80", "200"])
def test_help_fits(tool: str, columns: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "xdsl_tpu", tool, "--help"],
        capture_output=True,
        text=True,
        env={"COLUMNS": columns, "PATH": ""},
        check=True,
    )
    assert done.stdout.startswith(f"usage: tpu-{tool}")
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_the_package_says_which_tools_it_has() -> None:
    known = subprocess.run(
        [sys.executable, "-m", "xdsl_tpu", "--help"], capture_output=True, text=True, check=True
    )
    assert "{calibrate,compile,generate,opt,run,sweep}" in known.stdout
    unknown = subprocess.run(
        [sys.executable, "-m", "xdsl_tpu", "compil"], capture_output=True, text=True, check=False
    )
    assert unknown.returncode == 2
    assert "error: unknown tool 'compil'" in unknown.stderr


@pytest.mark.parametrize(
    ("given", "spread"),
    [
        (["--input-shapes", "x=1x3", "m.onnx"], ["--input-shapes", "x=1x3", "m.onnx"]),
        (
            ["--input-shapes", "x=1x3", "a=b=2", "m.onnx", "y=3"],
            ["--input-shapes", "x=1x3", "--input-shapes", "a=b=2", "m.onnx", "y=3"],
        ),
        (["--input-shapes", "wrong", "m.onnx"], ["--input-shapes", "wrong", "m.onnx"]),
        (["--input-shapes=x=1", "m.onnx"], ["--input-shapes=x=1", "m.onnx"]),
    ],
)
def test_shapes_do_not_take_the_model(given: list[str], spread: list[str]) -> None:
    assert spread_shapes(given) == spread


def test_reports_and_inputs_of_a_run(run: Run, model: Path, tmp_path: Path) -> None:
    """`--report -` is JSON and nothing else; `.gz` is what Perfetto opens; `.npy` is one input."""
    built = run("tpu-compile", "--input-shapes", "x=1x3x8x8", str(model), "-o", "net", "--quiet")
    assert built.status == 0, built.err
    np.save(tmp_path / "x.npy", np.ones((1, 3, 8, 8), np.float32))
    done = run("tpu-run", "net", "--inputs", "x.npy", "--report", "-", "--timeline", "t.json.gz")
    assert done.status == 0, done.err
    assert json.loads(done.out)["cycles"] > 0
    with gzip.open(tmp_path / "t.json.gz", "rt") as stream:
        assert json.load(stream)["traceEvents"]
    first = (tmp_path / "t.json.gz").read_bytes()
    run("tpu-run", "net", "--inputs", "x.npy", "--timeline", "t.json.gz", "--quiet")
    assert (tmp_path / "t.json.gz").read_bytes() == first
    gone = run("tpu-run", "net", "--inputs", "gone.npy")
    assert gone.status == 1
    assert "gone.npy: no such file" in gone.err
    both = run("tpu-run", "net", "--report", "-", "--disassemble")
    assert both.status == 1
    assert "both write to standard output" in both.err


def test_tables_fit_a_pipe(run: Run, model: Path) -> None:
    run("tpu-compile", str(model), "--input-shapes", "x=1x3x8x8", "-o", "net", "--quiet")
    shown = run("tpu-run", "net").out
    assert max(map(len, shown.splitlines())) <= 80
    assert "..." in shown


def test_a_folder_compiled_again_holds_what_belongs_to_the_program(
    run: Run, model: Path, tmp_path: Path
) -> None:
    """Files of the earlier program go, what is not the tool's stays, and nothing is beside it."""
    shapes = ("--input-shapes", "x=1x3x8x8")
    assert run("tpu-compile", str(model), *shapes, "-o", "out", "--quiet").status == 0
    out = tmp_path / "out"
    (out / "notes.txt").write_text("mine")
    first = {path.name for path in out.iterdir()}
    assert run("tpu-compile", str(model), *shapes, "-o", "out", "--quantize", "F32", "--quiet",
               "--disable-pass", "layer-group").status == 0  # fmt: skip
    second = {path.name for path in out.iterdir()}
    assert "groups.json" in first - second
    assert any("f16" in name for name in first)
    assert not any("f16" in name for name in second)
    assert "notes.txt" in second
    written = set(json.loads((out / "compile.json").read_text())["files"])
    assert second - {"notes.txt"} <= written
    assert {path.name for path in tmp_path.iterdir()} == {"out", "net.onnx"}


def test_a_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A null in `sys.modules` is how Python marks what cannot be imported."""
    monkeypatch.setitem(sys.modules, "safetensors", None)
    for name in [name for name in sys.modules if name.startswith("xdsl_tpu.frontend.llm")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "xdsl_tpu.tools.tpu_generate", raising=False)
    monkeypatch.setattr(sys, "argv", ["tpu-generate", "model"])
    with pytest.raises(SystemExit) as ended:
        commands.tpu_generate()
    assert str(ended.value).startswith("error: the package safetensors is missing: install")
    assert capsys.readouterr().err == ""
