"""What a command line costs before the tool has anything to do."""

import subprocess
import sys
from pathlib import Path

import pytest

from xdsl_tpu.passes.calibration.methods import METHODS
from xdsl_tpu.tools import choices
from xdsl_tpu.tools.mixing.automatic import AUTO

WORK = {
    "onnx",
    "xdsl_tpu.backend.codegen",
    "xdsl_tpu.backend.leaves",
    "xdsl_tpu.dialects.interpreters",
    "xdsl_tpu.frontend",
    "xdsl_tpu.passes.canonicalize",
    "xdsl_tpu.passes.layer_group",
}
"""What compiles and runs, which takes long to import."""


_SCRIPT = """
import sys
from xdsl_tpu.__main__ import main
file = sys.argv.pop()
try:
    main()
finally:
    print(*sys.modules, file=open(file, "w"))
"""


def _imported(folder: Path, *words: str) -> tuple[int, set[str]]:
    """The status of a command line, and every module that it imported."""
    modules = folder / "modules"
    command = [sys.executable, "-c", _SCRIPT, *words, str(modules)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, set(modules.read_text().split())


@pytest.mark.parametrize("tool", ["calibrate", "compile", "generate", "opt", "run", "sweep"])
@pytest.mark.parametrize(("word", "status"), [("--help", 0), ("--no-such-option", 2)])
def test_help_and_mistakes_import_nothing_that_works(
    tool: str, word: str, status: int, tmp_path: Path
) -> None:
    found, modules = _imported(tmp_path, tool, word)
    assert found == status
    assert "xdsl_tpu.tools" in modules
    assert not modules & WORK


def test_only_the_passes_that_are_named_are_loaded(tmp_path: Path) -> None:
    empty, out = tmp_path / "empty.mlir", tmp_path / "out.mlir"
    empty.write_text("module {}\n")
    for flag, loaded in (("--cse", False), ("--topo-sort", True)):
        status, modules = _imported(tmp_path, "opt", flag, str(empty), "-o", str(out))
        assert status == 0
        assert ("xdsl_tpu.passes.topo_sort" in modules) == loaded
        assert not modules & WORK


def test_methods_that_can_be_named_are_those_there_are() -> None:
    """They are named apart from what carries them out, so that help need not import it."""
    assert set(choices.METHODS) == {"max", *METHODS, AUTO}
