"""`tpu-run --disassemble` and `tpu-opt -t bm1684x-asm`; what a run says about silicon."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.tools.running import Run

from xdsl_tpu.backend.asm import assemble
from xdsl_tpu.backend.bmodel import read_bmodel
from xdsl_tpu.backend.chip import CHIPS
from xdsl_tpu.backend.isa import Engine, encode

Compiled = Callable[[str], Path]


@pytest.mark.parametrize("name", ["cnn", "transformer"])
def test_the_text_is_the_program(name: str, call: Run, compiled: Compiled) -> None:
    folder = compiled(name)
    done = call("tpu-run", folder, "--disassemble")
    assert (done.status, done.err.strip()) == (0, "")
    program = read_bmodel(folder / "model.bmodel")
    again = assemble(done.out, coefficients=program.coefficients)
    for engine in Engine:
        wanted = [encode(command) for command in program.queue(engine)]
        assert [encode(command) for command in again.queue(engine)] == wanted
        assert again.layer_indices(engine) == program.layer_indices(engine)
    assert (again.inputs, again.outputs) == (program.inputs, program.outputs)
    assert again.layers == program.layers
    assert f".program {json.dumps(program.name)}" in done.out


def test_the_compiler_prints_what_the_bmodel_holds(call: Run, compiled: Compiled) -> None:
    folder = compiled("cnn")
    printed = call("tpu-opt", folder / "final.mlir", "-t", "bm1684x-asm")
    assert printed.status == 0, printed.err
    assert printed.out == call("tpu-run", folder, "--disassemble").out


def test_where_the_text_goes(call: Run, compiled: Compiled, tmp_path: Path) -> None:
    folder, file = compiled("cnn"), tmp_path / "cnn.asm"
    printed = call("tpu-run", "--disassemble", folder).out
    done = call("tpu-run", folder, "--disassemble", file)
    assert (done.status, done.out) == (0, "")
    assert file.read_text(encoding="utf-8") == printed
    missing = call("tpu-run", folder, "--disassemble", tmp_path / "none" / "cnn.asm")
    assert missing.status == 1
    assert "none" in missing.err


def test_it_runs_when_another_output_is_asked_for(
    call: Run, compiled: Compiled, tmp_path: Path
) -> None:
    report = tmp_path / "report.json"
    arguments = ("--report", report, "--quiet", "--disassemble", tmp_path / "cnn.asm")
    assert call("tpu-run", compiled("cnn"), *arguments).status == 0
    assert json.loads(report.read_text(encoding="utf-8"))["cycles"] > 0
    done = call("tpu-run", compiled("cnn"), "--report", report, "--disassemble")
    assert done.out.startswith("// ")
    assert "cycles" not in done.out


def test_a_program_is_needed(call: Run) -> None:
    for arguments in ((), ("--disassemble",)):
        done = call("tpu-run", *arguments)
        assert done.status == 2
        assert "DIR|X.bmodel" in done.err


def test_a_run_says_how_far_silicon_is(call: Run, compiled: Compiled, tmp_path: Path) -> None:
    """On the chip that was measured, on the terminal and in the report."""
    folder, report = compiled("cnn"), tmp_path / "report.json"
    words = " ".join(call("tpu-run", folder, "--report", report).out.replace("│", "").split())
    assert "on silicon" in words
    assert "published measurements of F16 cnn: 3 rows" in words
    found = json.loads(report.read_text(encoding="utf-8"))["on_silicon"]
    assert (found["wanted"], found["rows"]) == ("F16 cnn", 3)
    assert f"{found['low']:.3f} - {found['high']:.3f} ms" in words
    own = tmp_path / "own.toml"
    own.write_text((CHIPS / "bm1684x.toml").read_text().replace("load = 58", "load = 59"))
    assert "on silicon" not in call("tpu-run", folder, "--chip", own).out
