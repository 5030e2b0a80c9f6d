"""Whole programs of the BM1688 with the outputs of the vendor's runtime on its C model.

Each file has a bmodel as this compiler once wrote it, its inputs, and what that runtime gave.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xdsl_tpu.backend.asm import assemble, disassemble
from xdsl_tpu.backend.bmodel import read_bmodel
from xdsl_tpu.backend.checks import check_program
from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.backend.program import Program

_FOLDER = Path(__file__).parents[1] / "data" / "golden" / "bm1688" / "programs"
_NAMES = sorted(path.stem for path in _FOLDER.glob("*.npz"))
_CHIP = load_chip("bm1688")


def recorded(name: str, folder: Path) -> tuple[Program, dict[str, Any], dict[str, Any]]:
    with np.load(_FOLDER / f"{name}.npz") as file:
        data = dict(file)
    path = folder / "model.bmodel"
    path.write_bytes(data.pop("bmodel").tobytes())
    inputs = {key.removeprefix("in_"): data[key] for key in data if key.startswith("in_")}
    outputs = {key.removeprefix("out_"): data[key] for key in data if key.startswith("out_")}
    return read_bmodel(path), inputs, outputs


def test_there_are_enough() -> None:
    assert len(_NAMES) >= 5
    assert {name.rsplit("_", 1)[1] for name in _NAMES} == {"f16", "bf16", "f32", "int8"}


@pytest.mark.parametrize("name", _NAMES)
def test_outputs_are_those_of_the_vendors_runtime(name: str, tmp_path: Path) -> None:
    program, inputs, wanted = recorded(name, tmp_path)
    found = run_program(program, _CHIP, inputs, "exact")
    assert found.keys() == wanted.keys()
    for key, values in wanted.items():
        np.testing.assert_array_equal(found[key].reshape(values.shape), values)
    for key, values in run_program(program, _CHIP, inputs, "fast").items():
        np.testing.assert_allclose(values, found[key], rtol=0.02, atol=0.02)


@pytest.mark.parametrize("name", _NAMES)
def test_nothing_is_wrong_with_them(name: str, tmp_path: Path) -> None:
    program, _, _ = recorded(name, tmp_path)
    assert not check_program(program, _CHIP)
    again = assemble(disassemble(program), "x.asm", program.coefficients, "bm1688")
    for here, there in zip(program.cores, again.cores, strict=True):
        assert [there.tiu, there.gdma] == [here.tiu, here.gdma]
    together = bool(program.io_bytes)
    tags = {tensor.address >> 36 & 7 for tensor in program.inputs + program.outputs}
    assert tags == {0} if together else tags <= {3, 4, 5, 6}
