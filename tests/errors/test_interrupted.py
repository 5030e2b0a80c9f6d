"""A full disk, Ctrl-C and SIGTERM in the middle of the work, in processes of their own."""

import json
import os
import resource
import shutil
import signal
import subprocess
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.tools.running import SCRIPTS
from tests.tools.small_models import write_models

from xdsl_tpu.tools.compile_model import compile_model

WAIT = 120

BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}
"""On a full disk Python itself would leave the first bytes of what it compiles, and the next
process that imports the module could not read them."""


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work")
    write_models(folder)
    compile_model(folder / "cnn.onnx", folder / "cnn", "F16", "bm1684x")
    image = np.random.default_rng(0).standard_normal((1, 3, 40, 24)).astype(np.float32)
    np.savez(folder / "image.npz", image=image)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    paths = sorted(folder.rglob("*"))
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in paths}


def run(
    work: Path, prepare: Callable[[], None], *command: object
) -> subprocess.CompletedProcess[str]:
    arguments = [str(SCRIPTS / str(command[0])), *map(str, command[1:])]
    return subprocess.run(
        arguments, cwd=work, capture_output=True, text=True, check=False, timeout=WAIT,
        preexec_fn=prepare, env=os.environ | BYTECODE,
    )  # fmt: skip


def nearly_full() -> None:
    """Files end after 3000 bytes, as on a full disk, with an error instead of a signal."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


@pytest.mark.parametrize(
    "command",
    [
        ("tpu-compile", "cnn.onnx", "-o", "out", "--quiet"),
        ("tpu-run", "cnn", "--timeline", "timeline.json", "--quiet"),
        ("tpu-run", "cnn", "--html", "page.html", "--report", "report.json", "--quiet"),
        ("tpu-opt", "cnn/tpu.mlir", "--weight-reorder", "-o", "out.mlir"),
        ("tpu-sweep", "cnn.onnx", "-o", "sweep", "--jobs", "1", "--quiet"),
    ],
    ids=lambda command: " ".join(command[:1] + command[2:4]),
)
def test_a_disk_that_gets_full(command: tuple[str, ...], work: Path) -> None:
    before = contents(work)
    done = run(work, nearly_full, *command)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    assert [line for line in done.stderr.splitlines() if line.startswith("error: ")], done.stderr
    left = {path for path in contents(work) if path not in before}
    if command[0] == "tpu-sweep":  # it keeps the table of what failed
        assert json.loads((work / "sweep" / "sweep.json").read_text())
        shutil.rmtree(work / "sweep")
    else:
        assert not left
    assert contents(work) == before


INTERRUPT = """
import os, signal, sys, time
from importlib import import_module
number, module, function, tool, *arguments = sys.argv[1:]
number = int(number)
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # who runs the tests may ignore it, as nohup does
main = import_module("xdsl_tpu.tools." + tool.replace("-", "_"))
place = import_module(module)
def struck(*given, **named):
    os.kill(os.getpid(), number)
    while True:  # the signal may reach another thread first: no pause() then ends
        time.sleep(0.01)
setattr(place, function, struck)
main.main(arguments)
"""
"""Runs a tool that gets a signal the moment it calls a function."""

ENDS = {
    signal.SIGINT: "error: interrupted",
    signal.SIGTERM: "error: terminated",
    signal.SIGHUP: "error: hung up",
}


@pytest.mark.parametrize(
    ("number", "place", "command"),
    [
        (signal.SIGTERM, "xdsl_tpu.tools.compile_model write_bmodel",
         "tpu-compile cnn.onnx -o new/out --quiet"),
        (signal.SIGTERM, "xdsl_tpu.tools.tpu_run trace",
         "tpu-run cnn --outputs o.npz --timeline t.json --quiet"),
        (signal.SIGHUP, "xdsl_tpu.tools.tpu_opt print_module",
         "tpu-opt cnn/tpu.mlir --weight-reorder -o o.mlir"),
        *((signal.SIGINT, *case) for case in (
        ("xdsl_tpu.tools.compile_model generate", "tpu-compile cnn.onnx -o out --quiet"),
        ("xdsl_tpu.tools.tpu_run run_program", "tpu-run cnn --outputs o.npz --quiet"),
        ("xdsl_tpu.tools.tpu_calibrate calibrate_model",
         "tpu-calibrate cnn.onnx --dataset image.npz -o table --quiet"),
        ("xdsl_tpu.tools.tpu_opt print_module", "tpu-opt cnn/tpu.mlir --weight-reorder -o o.mlir"),
        )),
    ],
)  # fmt: skip
def test_ended_in_the_middle(
    number: signal.Signals, place: str, command: str, work: Path, tmp_path: Path
) -> None:
    before = contents(work)
    script = tmp_path / "interrupt.py"
    script.write_text(INTERRUPT)
    done = subprocess.run(
        [os.fspath(SCRIPTS / "python"), str(script), str(int(number)), *place.split(),
         *command.split()],
        cwd=work, capture_output=True, text=True, check=False, timeout=WAIT,
    )  # fmt: skip
    assert done.returncode == 128 + number, done.stderr
    assert done.stderr.splitlines()[-1] == ENDS[number]
    assert "Traceback" not in done.stderr
    assert contents(work) == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_sweep_ends_its_workers(number: signal.Signals, work: Path, tmp_path: Path) -> None:
    """They remove what they made, and none goes on."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    command = ["tpu-sweep", "cnn.onnx", "-o", tmp_path / "sweep", "--jobs", "1", "--quiet"]
    command += ["--chip-grid", "lanes=32,64 ddr_load=20,30,40,50,60"]
    process = subprocess.Popen(
        [str(SCRIPTS / "tpu-sweep"), *map(str, command[1:])],
        cwd=work, env=os.environ | {"TMPDIR": str(temporary)}, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    end = time.monotonic() + WAIT
    while not list(temporary.glob("*/tpu-sweep-*")):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.01)
    process.send_signal(number)
    _, said = process.communicate(timeout=WAIT)
    assert process.returncode == 128 + number
    assert said.splitlines()[-1] == ENDS[number]
    assert not list(temporary.iterdir())


EARLY = """
import os, signal, sys
from importlib.abc import MetaPathFinder
command, place, *sys.argv[1:] = sys.argv[1:]
signal.signal(signal.SIGINT, signal.default_int_handler)
class Strike(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == place:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Strike())
from xdsl_tpu.tools import commands
getattr(commands, command)()
"""
"""Runs a console script that gets SIGINT the moment it imports a module."""


def console_scripts() -> dict[str, str]:
    """Names of the console scripts and what they call."""
    with (Path(__file__).parents[2] / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["project"]["scripts"]


@pytest.mark.parametrize("name", console_scripts())
@pytest.mark.parametrize("place", ["xdsl", "numpy"])
def test_interrupted_while_it_starts(name: str, place: str, tmp_path: Path) -> None:
    module, _, function = console_scripts()[name].partition(":")
    assert module == "xdsl_tpu.tools.commands"
    script = tmp_path / "early.py"
    script.write_text(EARLY)
    needed = ("-o", "none.cali", "--dataset", "none") if name == "tpu-calibrate" else ()
    arguments = (function, place, "none", "--debug", *needed)
    done = subprocess.run(
        [os.fspath(SCRIPTS / "python"), str(script), *arguments],
        capture_output=True, text=True, check=False, timeout=WAIT,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "error: interrupted\n")
