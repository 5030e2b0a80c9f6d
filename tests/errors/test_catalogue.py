"""The catalogue of wrong inputs: one message, the right status, nothing left behind."""

import shlex
from importlib import import_module
from pathlib import Path

import pytest
from tests.errors.bad_files import write_bad_files
from tests.errors.catalogue import CATALOGUE, OPT, Case, page

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad")
    write_bad_files(folder)
    return folder


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    """Every path below a folder, with size and time of change."""
    facts = ((path, path.stat()) for path in sorted(folder.rglob("*")))
    return {str(path): (stat.st_size, stat.st_mtime_ns) for path, stat in facts}


def call(case: Case, *more: str) -> object:
    """The status with which the tool ends."""
    main = import_module(f"xdsl_tpu.tools.{case.tool.replace('-', '_')}").main
    arguments = shlex.split(case.arguments)
    quiet = () if case.tool == OPT else ("--quiet",)
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, *quiet, *more])
    return stopped.value.code


@pytest.fixture(params=CATALOGUE, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> Case:
    if "/dev/full" in request.param.arguments and not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    if "/proc/" in request.param.arguments and not Path("/proc").is_dir():
        pytest.skip("no /proc here")
    return request.param


def test_one_message_and_nothing_left(
    case: Case, bad: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(bad)
    before = tree(bad)
    status = call(case)
    out, err = capsys.readouterr()
    assert (status, out) == (case.status, "")
    assert "Traceback" not in err
    assert "internal error" not in err
    lines = [line for line in err.splitlines() if "error: " in line]
    assert len(lines) == 1, err
    assert err.startswith(("error: ", "usage: "))
    for text in case.says:
        assert text in err
    assert tree(bad) == before


FIRST = {case.tool: case for case in reversed(CATALOGUE) if case.status == 1}


@pytest.mark.parametrize("tool", FIRST)
def test_debug_shows_where(
    tool: str, bad: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(bad)
    assert call(FIRST[tool], "--debug") == 1
    err = capsys.readouterr().err
    assert err.startswith("Traceback")
    assert err.splitlines()[-1].startswith("error: ")


def test_the_page_is_the_catalogue() -> None:
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    assert text == page(), "write it anew: python -m tests.errors.catalogue > docs/errors.md"


def test_no_case_twice_and_enough_of_them() -> None:
    assert len({case.name for case in CATALOGUE}) == len(CATALOGUE) >= 60
    assert len({(case.tool, case.arguments) for case in CATALOGUE}) == len(CATALOGUE)
    assert all(case.says for case in CATALOGUE)
