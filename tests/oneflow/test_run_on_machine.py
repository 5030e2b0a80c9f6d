"""OneFlow jobs on the machine model give what the interpreter gives, dropout included."""

from pathlib import Path

import numpy as np
import pytest
from tests.oneflow.jobs import NETWORKS, Array, inputs_of, job

from xdsl_tpu.backend.bmodel import read_bmodel
from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.execute import random_inputs, random_masks, run_program
from xdsl_tpu.backend.program import Program
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context, print_module, read_module
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.tools.check import check
from xdsl_tpu.tools.compile_model import compile_model
from xdsl_tpu.tools.module_weights import attach_to_model
from xdsl_tpu.tools.tpu_run import main as tpu_run

DATA = Path(__file__).parents[1] / "data" / "oneflow"
TOLERANCE = {"F32": 2e-6, "F16": 6e-3}


@pytest.fixture(scope="module")
def chip() -> Chip:
    return load_chip("bm1684x")


def written(network: str, folder: Path, fuse: bool) -> Path:
    """A job as a user has it: its text, which names no weights, and an npz file beside it."""
    module = job(NETWORKS[network])
    weights_of(module).save(folder / "job.npz")
    del module.attributes["module.weight_file"]
    if fuse:
        make_pass("fuse-bias-add-dropout").apply(make_context(), module)
    path = folder / "job.mlir"
    with path.open("w", encoding="utf-8") as stream:
        print_module(module, stream)
    return path


def compiled(path: Path, quantize: str) -> Program:
    folder = path.with_suffix("")
    compile_model(path, folder, quantize, "bm1684x")
    return read_bmodel(folder / "model.bmodel")


def assert_as_interpreted(
    path: Path, program: Program, inputs: dict[str, Array], chip: Chip, quantize: str
) -> None:
    module = read_module(path)
    attach_to_model(module, path)
    expected = list(run_module(module, inputs).values())
    found = list(run_program(program, chip, inputs).values())
    for one, other in zip(found, expected, strict=True):
        scale = max(1.0, float(np.abs(other).max()))
        np.testing.assert_allclose(one, other, rtol=0, atol=TOLERANCE[quantize] * scale)


@pytest.mark.parametrize("quantize", ["F32", "F16"])
@pytest.mark.parametrize("network", NETWORKS)
def test_networks(network: str, quantize: str, tmp_path: Path, chip: Chip) -> None:
    path = written(network, tmp_path, fuse=quantize == "F32")
    program = compiled(path, quantize)
    check(program, chip)
    inputs = inputs_of(read_module(path))
    assert_as_interpreted(path, program, inputs, chip, quantize)


@pytest.mark.parametrize("file", ["bias_add_dropout", "bias_add_dropout_fused"])
@pytest.mark.parametrize("rate", [0.0, 0.5, 1.0])
def test_published_jobs(file: str, rate: float, tmp_path: Path, chip: Chip) -> None:
    text = (DATA / f"{file}.mlir").read_text(encoding="utf-8")
    path = tmp_path / "job.mlir"
    path.write_text(text.replace("rate = 1.000000e+00", f"rate = {rate}"), encoding="utf-8")
    program = compiled(path, "F32")
    assert_as_interpreted(path, program, random_inputs(program, 1), chip, "F32")


def test_masks_are_in_the_file_and_can_be_given(tmp_path: Path, chip: Chip) -> None:
    path = written("attention", tmp_path, fuse=True)
    program = compiled(path, "F32")
    ((name, mask),) = program.random_masks.items()
    assert (mask.seed, mask.rate) == (21, pytest.approx(0.1))
    assert [t.name for t in program.inputs] == ["tokens", name]
    inputs = random_inputs(program, 0)
    assert inputs.keys() == {"tokens"}
    (made,) = run_program(program, chip, inputs).values()
    (given,) = run_program(program, chip, inputs | random_masks(program)).values()
    np.testing.assert_array_equal(made, given)
    ones = {name: np.ones(program.inputs[1].shape, np.int8)}
    (kept,) = run_program(program, chip, inputs | ones).values()
    assert (made != kept).any()


def test_command_line_needs_nothing_but_the_job(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written("cnn", tmp_path, fuse=True)
    compiled(path, "F16")
    top = path.with_suffix("") / "top.mlir"
    for reference in (path, top):
        with pytest.raises(SystemExit) as status:
            tpu_run([str(path.with_suffix("")), "--check", "--compare", str(reference)])
        assert status.value.code == 0
        words = " ".join(capsys.readouterr().out.replace("│", " ").split())
        assert "cosine 1.000000" in words or "cosine 0.99999" in words
