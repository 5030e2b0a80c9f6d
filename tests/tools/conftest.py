"""Running the tools: as a user does (`tool`), or within this process (`call`), which is faster."""

import io
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from tests.tools.opt_running import RELU, Opt, Outcome
from tests.tools.running import SCRIPTS, Done, Run
from tests.tools.small_models import write_models

from xdsl_tpu.tools import tpu_opt


@pytest.fixture(scope="session")
def tool() -> Run:
    """`tool("tpu-run", *arguments)`: the installed console script as a process."""

    def run(name: str, *arguments: object, cwd: Path | None = None) -> Done:
        command = [str(SCRIPTS / name), *map(str, arguments)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=300, cwd=cwd
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Run:
    """`call("tpu-run", *arguments)`: the same entry point, in this process."""

    def run(name: str, *arguments: object) -> Done:
        module = import_module(f"xdsl_tpu.tools.{name.replace('-', '_')}")
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            module.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert isinstance(stopped.value.code, int)
        return Done(stopped.value.code, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the small models."""
    folder = tmp_path_factory.mktemp("models")
    write_models(folder)
    return folder


@pytest.fixture(scope="session")
def compiled(
    models: Path, tmp_path_factory: pytest.TempPathFactory, tool: Run
) -> Callable[[str], Path]:
    """`compiled("cnn")`: the folder that tpu-compile wrote for a small model in F16."""
    folders: dict[str, Path] = {}

    def folder_of(name: str) -> Path:
        if name not in folders:
            folders[name] = tmp_path_factory.mktemp("compiled") / name
            done = tool("tpu-compile", models / f"{name}.onnx", "-o", folders[name])
            assert done.status == 0, done.err
        return folders[name]

    return folder_of


@pytest.fixture
def opt(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opt:
    """Runs tpu-opt in an empty folder, with an input file `in.mlir` and weights beside it."""
    monkeypatch.chdir(tmp_path)
    Path("in.mlir").write_text(RELU)
    np.savez("w.npz", w1=np.arange(4, dtype=np.float32), w2=np.array([0.5, 0, 0, 0], np.float32))

    def call(*arguments: str, stdin: str | None = None) -> Outcome:
        if stdin is not None:
            stream = io.TextIOWrapper(io.BytesIO(stdin.encode()))
            monkeypatch.setattr(sys, "stdin", stream)
        with pytest.raises(SystemExit) as exit_:
            tpu_opt.main(arguments)
        captured = capsys.readouterr()
        return Outcome(exit_.value.code, captured.out, captured.err)

    return call
