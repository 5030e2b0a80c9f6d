"""`tpu-run --check`, and commands that are simulated from documentation alone."""

from pathlib import Path

import pytest
from tests.checks.check_samples import change, sample
from tests.tools.running import Run

from xdsl_tpu.backend.bmodel import write_bmodel
from xdsl_tpu.backend.isa import Engine


@pytest.mark.parametrize("asked", [False, True])
def test_a_race_is_reported_when_asked_for(asked: bool, call: Run, tmp_path: Path) -> None:
    program = sample()
    change(program, Engine.GDMA, 3, cmd_id_dep=1)
    path = tmp_path / "racing.bmodel"
    write_bmodel(program, path)
    done = call("tpu-run", path, "--quiet", *(["--check"] if asked else []))
    assert done.status == int(asked)
    if asked:
        assert done.out.startswith("GDMA command 3 (DMA_tensor.copy, layer 'again'): race: ")
        assert done.err.strip() == "error: the program would not run right on a BM1684X: 1 race"


def test_long_lists_are_cut(call: Run, tmp_path: Path) -> None:
    program = sample()
    ids = range(1, len(program.tiu))
    for _ in range(40):
        program.tiu[-1:-1] = [program.tiu[i - 1] for i in ids]
        program.tiu_layers[-1:-1] = [-1 for _ in ids]
    path = tmp_path / "long.bmodel"
    write_bmodel(program, path)
    done = call("tpu-run", path, "--check")
    assert done.status == 1
    lines = done.out.splitlines()
    assert len(lines) == 21
    assert lines[-1].startswith("... and ")
    assert "id out of sequence" in done.err


def test_a_clean_program_says_so(call: Run, tmp_path: Path) -> None:
    path = tmp_path / "clean.bmodel"
    write_bmodel(sample(), path)
    done = call("tpu-run", path, "--check")
    assert done.status == 0
    assert "no findings" in done.out
    assert "unverified" not in done.out


@pytest.mark.parametrize(("source", "target"), [(1, 5), (6, 1)], ids=["f16-bf16", "int4-f16"])
def test_unverified_commands_are_named(source: int, target: int, call: Run, tmp_path: Path) -> None:
    program = sample()
    fields = ("sign", "prec", "const", "addr")
    no_second_operand = {"tsk_opd_num": 1} | {f"opd1_{name}": 0 for name in fields}
    types = {"opd0_prec": source, "res0_prec": target}
    change(program, Engine.TIU, 1, tsk_eu_typ=14, **types, **no_second_operand)
    path = tmp_path / "unverified.bmodel"
    write_bmodel(program, path)
    done = call("tpu-run", path)
    assert done.status == 0
    assert "from documentation alone: 1 x sAR.data_convert" in " ".join(done.out.split())
