"""Running the tools: as a user does (`tool`), or within this process (`call`), which is faster."""

import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from tests.tools.running import SCRIPTS, Done, Run
from tests.tools.small_models import write_models


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
