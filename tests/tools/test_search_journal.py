"""A search for formats that was stopped goes on where it was, and says what it cannot use."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.tools.running import SCRIPTS, Run

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.tools.mixing import network as measuring
from xdsl_tpu.tools.mixing.journal import FileJournal
from xdsl_tpu.tools.tpu_calibrate import main as tpu_calibrate

SUBJECT = {"version": "1", "model": "a"}


def never() -> float:
    raise AssertionError("measured though it was known")


def test_what_was_measured_is_known_to_the_next(tmp_path: Path) -> None:
    path = tmp_path / "x.journal"
    with FileJournal(path, SUBJECT) as journal:
        assert journal.measured("cosine", ["t", {"b": 1, "a": 2}], lambda: 0.1 + 0.2) == 0.1 + 0.2
        assert journal.measured("cosine", ["t", {"a": 2, "b": 1}], never) == 0.1 + 0.2
    with FileJournal(path, SUBJECT) as journal:
        assert (journal.resumed, journal.begun_anew) == (1, [])
        assert journal.measured("cosine", ["t", {"a": 2, "b": 1}], never) == 0.1 + 0.2
        assert journal.measured("noise", ["t", {"a": 2, "b": 1}], lambda: 3.0) == 3.0


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_line_that_was_cut_off_is_measured_again(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "x.journal"
    with FileJournal(path, SUBJECT) as journal:
        journal.measured("noise", [1], lambda: 1.0)
        journal.measured("noise", [2], lambda: 2.0)
    path.write_text(path.read_text()[:-cut])
    with FileJournal(path, SUBJECT) as journal:
        assert journal.resumed == 1
        assert journal.measured("noise", [1], never) == 1.0
        assert journal.measured("noise", [2], lambda: 2.5) == 2.5
    assert all(json.loads(line) for line in path.read_text().splitlines())
    with FileJournal(path, SUBJECT) as journal:
        assert journal.measured("noise", [2], never) == 2.5


def test_another_subject_begins_anew_and_says_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "x.journal"
    with FileJournal(path, SUBJECT) as journal:
        journal.measured("noise", [1], lambda: 1.0)
    with FileJournal(path, SUBJECT | {"model": "b"}) as journal:
        assert (journal.resumed, journal.begun_anew) == (0, ["model"])
        assert journal.measured("noise", [1], lambda: 4.0) == 4.0


@pytest.mark.parametrize("text", ["", "mine\n", "[1]\n", '{"key": 1}\n'])
def test_a_file_that_is_no_journal_is_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.journal"
    path.write_text(text)
    with pytest.raises(TpuError, match="this file is none"):
        FileJournal(path, SUBJECT)
    assert path.read_text() == text


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("samples") / "x.npz"
    rng = np.random.default_rng(3)
    np.savez(file, image=rng.standard_normal((3, 3, 40, 24)).astype(np.float32))
    return file


def wanted(models: Path, samples: Path, table: Path, target: float = 0.99995) -> list[str | Path]:
    sought = ("--suggest-mixed", "--target-cosine", str(target))
    return [models / "cnn.onnx", "--dataset", samples, "-o", table, *sought]


@pytest.fixture(scope="module")
def whole(models: Path, samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a search that nothing interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.raises(SystemExit, match=r"^0$"):
        tpu_calibrate([str(one) for one in wanted(models, samples, folder / "t.cali")])
    return folder


def stopped(monkeypatch: pytest.MonkeyPatch, after: int) -> Callable[[], None]:
    """Ends a search, as Ctrl-C does, after that many networks in integers."""
    tried, real = 0, measuring.closeness

    def ends(*arguments: np.ndarray) -> object:
        nonlocal tried
        tried += 1
        if tried > after:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(measuring, "closeness", ends)
    return lambda: monkeypatch.setattr(measuring, "closeness", real)


@pytest.mark.parametrize("after", [0, 5])
def test_an_interrupted_search_goes_on_and_finds_the_same(
    call: Run,
    models: Path,
    samples: Path,
    whole: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    after: int,
) -> None:
    parts = tmp_path / "parts"
    parts.mkdir()
    goes_on = stopped(monkeypatch, after)
    done = call("tpu-calibrate", *wanted(models, samples, parts / "t.cali"))
    assert (done.status, done.err.splitlines()[-1]) == (130, "error: interrupted")
    assert [file.name for file in parts.iterdir()] == ["t.cali.journal"]
    known = (parts / "t.cali.journal").read_text().splitlines()[1:]
    goes_on()
    done = call("tpu-calibrate", *wanted(models, samples, parts / "t.cali"))
    assert done.status == 0
    assert f"t.cali.journal: {len(known)} measurements are done already" in done.err.replace(
        "\n", ""
    )
    for name in ("t.cali", "t.qtable"):
        assert (parts / name).read_bytes() == (whole / name).read_bytes()
    journals = [(folder / "t.cali.journal").read_text().splitlines() for folder in (whole, parts)]
    assert sorted(journals[0]) == sorted(journals[1])


def test_a_finished_search_measures_nothing_again_and_another_goal_only_what_is_new(
    call: Run,
    models: Path,
    samples: Path,
    whole: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = shutil.copytree(whole, tmp_path / "again")
    table, journal = folder / "t.cali", folder / "t.cali.journal"
    before, written = journal.read_text(), table.read_bytes()
    monkeypatch.setattr(measuring, "run_module", never)
    assert call("tpu-calibrate", *wanted(models, samples, table)).status == 0
    assert (journal.read_text(), table.read_bytes()) == (before, written)
    monkeypatch.undo()
    assert call("tpu-calibrate", *wanted(models, samples, table, 0.99999)).status == 0
    assert journal.read_text().startswith(before)


def test_other_samples_begin_anew(call: Run, models: Path, samples: Path, tmp_path: Path) -> None:
    table = tmp_path / "t.cali"
    assert call("tpu-calibrate", *wanted(models, samples, table, 0.9)).status == 0
    done = call("tpu-calibrate", *wanted(models, samples, table, 0.9), "--num", 2)
    assert done.status == 0
    assert "because these differ: samples" in done.err.replace("\n", " ")


def test_a_terminated_search_leaves_its_journal_and_nothing_half_written(
    models: Path, samples: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    arguments = [str(one) for one in wanted(models, samples, folder / "t.cali")]
    command = [SCRIPTS / "tpu-calibrate", *arguments]
    journal = folder / "t.cali.journal"
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=os.environ.copy()) as process:
        while process.poll() is None and (
            not journal.exists() or len(journal.read_text().splitlines()) < 3
        ):
            time.sleep(0.005)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate()
    assert (process.returncode, said) == (143, b"error: terminated\n")
    assert [file.name for file in folder.iterdir()] == ["t.cali.journal"]
    assert all(json.loads(line) for line in journal.read_text().splitlines())


def compiled(models: Path, samples: Path, out: Path, cosine: str) -> list[str | Path]:
    sought = ("--calibrate-with", samples, "--min-cosine", cosine)
    return [models / "cnn.onnx", "--quantize", "INT8", *sought, "-o", out, "--quiet"]


def test_a_compilation_that_was_interrupted_goes_on(
    call: Run, models: Path, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "new" / "parts"
    assert call("tpu-compile", *compiled(models, samples, whole, "0.9999")).status == 0
    goes_on = stopped(monkeypatch, 2)
    assert call("tpu-compile", *compiled(models, samples, parts, "0.9999")).status == 130
    assert [file.name for file in parts.iterdir()] == ["calibration.journal"]
    goes_on()
    arguments = compiled(models, samples, parts, "0.9999")[:-1]
    done = call("tpu-compile", *arguments)
    assert done.status == 0
    known = "calibration.journal: 2 measurements are done already"
    assert known in done.err.replace("\n", "")
    for name in ("model.bmodel", "calibration.cali"):
        assert (parts / name).read_bytes() == (whole / name).read_bytes()
    names = [{file.name for file in folder.iterdir()} for folder in (whole, parts)]
    assert names[0] == names[1]
    assert not any("journal" in name for name in names[0])


def test_a_failure_keeps_what_was_measured_and_no_folder_where_that_is_nothing(
    call: Run, models: Path, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise TpuError("no room")

    out = tmp_path / "new" / "out"
    monkeypatch.setattr("xdsl_tpu.tools.calibrated_compile.quantise_model", fails)
    assert call("tpu-compile", *compiled(models, samples, out, "0.9")).status == 1
    assert not out.parent.exists()
    monkeypatch.undo()
    monkeypatch.setattr("xdsl_tpu.api.building.compile_model", fails)
    done = call("tpu-compile", *compiled(models, samples, out, "0.9"))
    assert (done.status, done.err) == (1, "error: no room\n")
    assert [file.name for file in out.iterdir()] == ["calibration.journal"]
