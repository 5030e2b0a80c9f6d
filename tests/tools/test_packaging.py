"""The package as others get it: built, installed without its dependencies, and complete."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from email import message_from_bytes
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
ROOMS = ("dialects", "frontend", "passes", "backend", "tools", "api")
SUFFIXES = (".py", ".toml", ".json", ".fbs", ".html", ".css", ".js")
QUIET = ("--quiet", "--disable-pip-version-check")
ORIGIN = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "remote.origin.url",
    "GIT_CONFIG_VALUE_0": "git@git.example.org:group/xdsl-tpu.git",
}
INSTALL = ("install", *QUIET, "--no-compile")


def run(*command: object, cwd: Path | None = None) -> str:
    """The standard output of a command that must succeed."""
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, cwd=cwd, timeout=300
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


def sources() -> set[str]:
    """Every file of the six rooms that is part of the package, as `room/…/name`."""
    return {
        path.relative_to(REPOSITORY).as_posix()
        for room in ROOMS
        for path in (REPOSITORY / room).rglob("*")
        if path.is_file() and path.suffix in SUFFIXES
    }


def packaged(wheel: Path) -> set[str]:
    """The files of the rooms in a wheel."""
    names = zipfile.ZipFile(wheel).namelist()
    inside = {name.removeprefix("xdsl_tpu/") for name in names if name.startswith("xdsl_tpu/")}
    return {name for name in inside if name.split("/")[0] in ROOMS}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel made from it, of a checkout cloned from `ORIGIN`."""
    folder = tmp_path_factory.mktemp("dist")
    with pytest.MonkeyPatch.context() as patch:
        for key, value in ORIGIN.items():
            patch.setenv(key, value)
        run(sys.executable, "-m", "build", "--outdir", folder, REPOSITORY)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


def test_every_module_is_found_under_the_one_import_name() -> None:
    for source in sorted(sources()):
        if not source.endswith(".py"):
            continue
        name = source.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        spec = find_spec(f"xdsl_tpu.{name}")
        assert spec is not None, source
        assert spec.origin is not None, f"{source} is in a folder without __init__.py"
        assert Path(spec.origin).resolve() == REPOSITORY / source


def test_no_room_is_importable_by_its_own_name() -> None:
    """Two names for one module would give two classes for each op."""
    probe = (
        f"import sys; sys.path[:] = [p for p in sys.path if p not in ('', {str(REPOSITORY)!r})];"
        "from importlib.util import find_spec;"
        f"print([room for room in {ROOMS!r} if find_spec(room)])"
    )
    assert run(sys.executable, "-c", probe, cwd=Path(sysconfig.get_path("stdlib"))) == "[]\n"


def test_wheel_has_every_file_and_nothing_beside_the_package(wheel: Path) -> None:
    assert packaged(wheel) >= sources()
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert tops == {"xdsl_tpu", f"xdsl_tpu-{wheel.name.split('-')[1]}.dist-info"}


def test_an_installed_package_runs_as_a_module(wheel: Path, tmp_path: Path) -> None:
    """From the wheel itself, not from the folders that the tests import."""
    zipfile.ZipFile(wheel).extractall(tmp_path)
    probe = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import runpy; sys.argv = ['x']; "
    probe += "import xdsl_tpu; print(xdsl_tpu.__file__); sys.argv[1:] = ['--help']; "
    shown = run(sys.executable, "-c", probe + "runpy.run_module('xdsl_tpu', run_name='__main__')")
    assert shown.startswith(str(tmp_path))
    assert "usage" in shown


def test_the_metadata_says_what_the_package_is(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    said = message_from_bytes(archive.read(name))
    assert said["License-Expression"] == "Apache-2.0 AND BSD-2-Clause"
    assert "Typing :: Typed" in said.get_all("Classifier", [])
    assert {"torch", "notebook", "docs", "reference"} <= set(said.get_all("Provides-Extra", []))
    assert said["Version"] == wheel.name.split("-")[1]
    assert "Source, https://git.example.org/group/xdsl-tpu" in said.get_all("Project-URL", [])
    folder = f"{name.removesuffix('METADATA')}licenses"
    for text in ("LICENSE", "LICENSES/Apache-2.0.txt", "LICENSES/BSD-2-Clause.txt"):
        assert f"{folder}/{text}" in archive.namelist()


def test_the_sdist_can_be_tested(built: Path, tmp_path: Path) -> None:
    """It has all that `make test` needs but the links, which `make` makes."""
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    texts = ("LICENSE", "LICENSES/BSD-2-Clause.txt", "README.md", "CHANGELOG.md", "docs/api.md")
    for name in ("Makefile", "mkdocs.yml", *texts):
        assert (folder / name).is_file(), name
    run("make", "links", cwd=folder)
    assert {path.name for path in (folder / "src" / "xdsl_tpu").iterdir()} >= set(ROOMS)
    command = (sys.executable, "-m", "pytest", "-q", "tests/chip", "tests/api/test_lazy.py")
    environment = os.environ | {"PYTHONPATH": str(folder / "src")}
    probe = "import xdsl_tpu.tools.files as m; print(m.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", probe], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(str(folder))
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_zip_archive_of_the_repository_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    """In such an archive, which is what a download link gives, symlinks become text files."""
    if not (REPOSITORY / ".git").exists():
        pytest.skip("not a git checkout")
    archive = tmp_path / "archive.zip"
    run("git", "archive", "--format=zip", f"--output={archive}", "HEAD", cwd=REPOSITORY)
    command = (sys.executable, "-m", "pip", "wheel", *QUIET, "--no-deps", "--wheel-dir", tmp_path)
    run(*command, archive)
    (made,) = tmp_path.glob("*.whl")
    committed = run("git", "ls-files", "--", *ROOMS, cwd=REPOSITORY).split()
    assert packaged(made) == {name for name in committed if name.split("/")[0] in ROOMS}


def test_dialects_need_nothing_but_xdsl(wheel: Path, tmp_path: Path) -> None:
    """A fresh environment with xDSL alone: no numpy, no onnx."""
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "env")
    binaries = tmp_path / "env" / ("Scripts" if sys.platform == "win32" else "bin")
    python = binaries / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, *INSTALL, f"xdsl=={version('xdsl')}")
    run(*pip, *INSTALL, "--no-deps", wheel)
    probe = (
        "import sys; from importlib.util import find_spec;"
        "from xdsl_tpu.dialects import top, tpu, text;"
        "assert find_spec('numpy') is None and find_spec('onnx') is None;"
        "assert not [r for r in ('dialects', 'passes', 'backend', 'tools', 'api') if find_spec(r)];"
        "print(top.ConvOp.name)"
    )
    assert run(python, "-c", probe, cwd=tmp_path) == "top.Conv\n"
    model = tmp_path / "m.mlir"
    model.write_text('%0 = "top.None"() : () -> none\n"test.op"(%0) : (none) -> ()\n')
    assert '"top.None"() : () -> none' in run(binaries / "xdsl-opt", model)
    wrapped = run(binaries / "xdsl-opt", "--help")
    assert "tpu-canonicalize" in "".join(wrapped.split())
