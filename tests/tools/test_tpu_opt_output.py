"""`tpu-opt` in process: the files that it leaves, weights above all."""

import contextlib
import os
import re
from pathlib import Path

import numpy as np
import pytest
from tests.tools.opt_running import BARE, RELU, Opt, Outcome, files


def test_changed_weights_are_saved_beside_the_output_under_a_new_name(opt: Opt) -> None:
    before = Path("w.npz").read_bytes()
    outcome = opt("in.mlir", "--canonicalize", "-o", "out.mlir")
    assert outcome == Outcome(0, "", "")
    assert files() == {"in.mlir", "w.npz", "out.mlir", "w_1.npz"}
    assert Path("w.npz").read_bytes() == before
    assert 'module.weight_file = "w_1.npz"' in Path("out.mlir").read_text()
    with np.load("w_1.npz") as saved:
        assert list(saved) == ["s2_merged"]
        np.testing.assert_array_equal(saved["s2_merged"], [[0.5, 1, 2, 3]])


def test_output_in_another_folder_has_its_weights(opt: Opt) -> None:
    Path("sub").mkdir()
    opt("in.mlir", "--canonicalize", "-o", "sub/out.mlir")
    assert {path.name for path in Path("sub").iterdir()} == {"out.mlir", "w.npz"}
    assert opt("sub/out.mlir", "--canonicalize").status == 0
    Path("copy").mkdir()
    opt("in.mlir", "-o", "copy/out.mlir")
    assert Path("copy/w.npz").read_bytes() == Path("w.npz").read_bytes()


def test_unchanged_weights_are_left_alone(opt: Opt) -> None:
    opt("in.mlir", "--cse", "-o", "out.mlir")
    assert files() == {"in.mlir", "w.npz", "out.mlir"}


def test_weights_for_standard_output_are_saved_here(opt: Opt) -> None:
    Path("sub").mkdir()
    for name in ("in.mlir", "w.npz"):
        Path(name).rename(f"sub/{name}")
    outcome = opt("sub/in.mlir", "--canonicalize")
    assert 'module.weight_file = "w.npz"' in outcome.out
    assert outcome.err == "note: changed weights are saved in w.npz\n"
    assert files() == {"sub", "w.npz"}
    assert opt("--canonicalize", stdin=outcome.out).err == ""  # what a pipe reads is whole


@pytest.mark.parametrize("terminal", [False, True])
def test_weights_of_text_that_nothing_keeps_are_not_saved(opt: Opt, terminal: bool) -> None:
    message = "note: changed weights (w.npz) are not saved: the output goes to no file\n"
    if terminal:
        other, ours = os.openpty()
        with os.fdopen(ours, "w") as stream, contextlib.redirect_stdout(stream):
            outcome = opt("in.mlir", "--canonicalize")
        os.close(other)
    else:
        outcome = opt("in.mlir", "--canonicalize", "-o", "/dev/null")
    assert (outcome.status, outcome.err) == (0, message)
    assert files() == {"in.mlir", "w.npz"}


def test_weights_for_a_pipe_are_saved_here(opt: Opt) -> None:
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    outcome = opt("in.mlir", "--canonicalize", "-o", "pipe")
    assert b'weight_file = "w_1.npz"' in os.read(reader, 1 << 16)
    os.close(reader)
    assert outcome.err == "note: changed weights are saved in w_1.npz\n"
    assert files() == {"in.mlir", "w.npz", "w_1.npz", "pipe"}


def test_weights_of_parts_do_not_overwrite_each_other(opt: Opt) -> None:
    text = f"{RELU}\n// -----\n{RELU}"
    opt("--split-input-file", "--canonicalize", "-o", "out.mlir", stdin=text)
    text = Path("out.mlir").read_text()
    assert re.findall(r'weight_file = "([^"]*)"', text) == ["w_1.npz", "w_2.npz"]


def test_weights_from_another_file(opt: Opt) -> None:
    Path("w.npz").rename("other.npz")
    text = RELU.replace(' attributes {module.weight_file = "w.npz"}', "")
    assert opt("--canonicalize", "--weights", "other.npz", stdin=text).status == 0


LOWER = ("--processor-assign=chip=bm1684x mode=F16", "--convert-top-to-tpu=weightFileName=mine.npz")


def named_weights(text: str) -> dict[str, list[float]]:
    """What is in the file that a text names."""
    (name,) = re.findall(r'weight_file = "([^"]*)"', Path(text).read_text())
    with np.load(Path(text).parent / name) as saved:
        return {key: saved[key].astype(float).ravel().tolist() for key in saved}


@pytest.mark.parametrize("together", [True, False])
def test_passes_that_rename_the_weight_file_keep_the_weights(opt: Opt, together: bool) -> None:
    """`processor-tpu-optimize` and `address-assign` name the file after their stage."""
    steps = [*LOWER, "--processor-tpu-optimize", "--weight-reorder"]
    steps += ["--subnet-divide", "--address-assign"]
    last = "in.mlir"
    for number, flags in enumerate(
        [steps] if together else [LOWER, *([step] for step in steps[2:])]
    ):
        output = f"out{number}.mlir"
        assert opt(last, *flags, "-o", output) == Outcome(0, "", "")
        found = named_weights(output)
        assert sorted(found) == ["w1_f16", "w2_f16"]
        assert found["w2_f16"] == [0.5, 0, 0, 0]
        last = output
    assert 'weight_file = "m_tpu_addressed_bm1684x_f16_weight.npz"' in Path(last).read_text()
    if not together:
        assert 'weight_file = "mine.npz"' in Path("out0.mlir").read_text()


def test_renamed_weights_go_with_the_output(opt: Opt) -> None:
    assert opt("in.mlir", *LOWER, "-o", "tpu.mlir").status == 0
    outcome = opt("tpu.mlir", "--processor-tpu-optimize")
    name = "m_tpu_lowered_bm1684x_f16_weight.npz"
    assert outcome.err == f"note: changed weights are saved in {name}\n"
    assert name in outcome.out
    Path("sub").mkdir()
    assert opt("tpu.mlir", "--processor-tpu-optimize", "-o", "sub/opt.mlir").status == 0
    assert named_weights("sub/opt.mlir") == named_weights("tpu.mlir")


def test_given_weights_are_those_that_the_output_names(opt: Opt) -> None:
    np.savez("other.npz", w1=np.ones(4, np.float32), w2=np.ones(4, np.float32))
    before = Path("w.npz").read_bytes()
    assert opt("in.mlir", "--weights", "other.npz", "-o", "out.mlir") == Outcome(0, "", "")
    assert named_weights("out.mlir") == {"w1": [1] * 4, "w2": [1] * 4}
    assert Path("w.npz").read_bytes() == before


def test_weights_of_a_module_that_named_no_file_get_one(opt: Opt) -> None:
    text = BARE.replace(' attributes {module.weight_file = "w.npz"}', "")
    text = re.sub(r".*top.Weight.*\n", "", text).replace("(%0, %1)", "(%0, %0)")
    text = text.replace("(%2, %3)", "(%2, %2)").replace("tensor<1x4xf32>", "tensor<2x4xf32>")
    assert opt("-o", "out.mlir", stdin=text).status == 0
    assert files() == {"in.mlir", "w.npz", "out.mlir"}
    assert "weight_file" not in Path("out.mlir").read_text()


def test_failure_after_a_pass_leaves_nothing(opt: Opt) -> None:
    outcome = opt("in.mlir", "--canonicalize", "--weight-fold", "-o", "/nonexistent/out.mlir")
    assert "error: " in outcome.err
    assert files() == {"in.mlir", "w.npz"}


def test_null_device_stays_a_device(opt: Opt) -> None:
    assert opt("in.mlir", "-o", "/dev/null").status == 0
    assert not Path("/dev/null").is_file()


def test_output_replaces_a_file_and_keeps_its_mode(opt: Opt) -> None:
    Path("out.mlir").write_text("old")
    Path("out.mlir").chmod(0o640)
    opt("in.mlir", "-o", "out.mlir")
    assert Path("out.mlir").read_text() == RELU
    assert Path("out.mlir").stat().st_mode & 0o777 == 0o640
