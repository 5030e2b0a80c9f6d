"""`tpu-opt` in process: what it reads, writes, says and returns."""

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from xdsl_tpu.tools.tpu_opt import main, timing_table

RELU = """\
#loc = loc(unknown)
module @m attributes {module.weight_file = "w.npz"} {
  func.func @main(%arg0: tensor<2x4xf32> loc(unknown)) -> tensor<2x4xf32> {
    %0 = "top.Input"(%arg0) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc(#loc1)
    %1 = "top.Weight"() : () -> tensor<1x4xf32> loc(#loc2)
    %2 = "top.Add"(%0, %1) : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32> loc(#loc3)
    %3 = "top.Weight"() : () -> tensor<1x4xf32> loc(#loc4)
    %4 = "top.Add"(%2, %3) : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32> loc(#loc5)
    return %4 : tensor<2x4xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("x")
#loc2 = loc("w1")
#loc3 = loc("s1")
#loc4 = loc("w2")
#loc5 = loc("s2")
"""
ALIASES = ("--mlir-print-debuginfo",)
BARE = re.sub(r" loc\(#?\w*\)|^#loc.*\n", "", RELU, flags=re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    status: object
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs tpu-opt in an empty folder, with an input file `in.mlir` and weights beside it."""
    monkeypatch.chdir(tmp_path)
    Path("in.mlir").write_text(RELU)
    np.savez("w.npz", w1=np.arange(4, dtype=np.float32), w2=np.array([0.5, 0, 0, 0], np.float32))

    def call(*arguments: str, stdin: str | None = None) -> Outcome:
        if stdin is not None:
            stream = io.TextIOWrapper(io.BytesIO(stdin.encode()))
            monkeypatch.setattr(sys, "stdin", stream)
        with pytest.raises(SystemExit) as exit_:
            main(arguments)
        captured = capsys.readouterr()
        return Outcome(exit_.value.code, captured.out, captured.err)

    return call


def files() -> set[str]:
    return {path.name for path in Path().iterdir()}


def error_of(outcome: Outcome, status: int = 1) -> str:
    """The one message; there is no traceback and no output."""
    assert outcome.status == status
    assert outcome.out == ""
    assert outcome.err.startswith("error: ")
    assert "Traceback" not in outcome.err
    return outcome.err.removeprefix("error: ").strip()


# Reading and printing


def test_text_comes_back(run: Run) -> None:
    assert run("in.mlir") == Outcome(0, RELU, "")


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_standard_input(run: Run, arguments: tuple[str, ...]) -> None:
    assert run(*arguments, stdin=RELU).out == RELU


def test_locations_are_printed_when_the_input_has_them(run: Run) -> None:
    assert "loc(" not in run(stdin=BARE).out
    assert "loc(" not in run("in.mlir", "--no-locations").out
    assert run("in.mlir", "--mlir-print-debuginfo").out == RELU


def test_locations_in_place_are_what_plain_xdsl_reads(run: Run) -> None:
    texts = [run("in.mlir", flag).out for flag in ("--print-debuginfo", "--cse")]
    for text in texts:
        assert 'loc("s2")' in text
        assert "#loc" not in text
        assert run(*ALIASES, stdin=text.strip()).out == RELU
    assert run(stdin=texts[1]).out == texts[1]


def test_generic_form(run: Run) -> None:
    text = run("in.mlir", "--print-op-generic").out
    assert '"func.func"() <{' in text
    assert run(stdin=text).out == RELU


def test_parts_of_a_split_input_are_separate(run: Run) -> None:
    text = f"{BARE}\n// -----\n\n{BARE}"
    out = run("--split-input-file", stdin=text).out
    assert out.count("// -----\n") == 1
    assert out.count("module @m") == 2


def test_other_targets_of_xdsl(run: Run) -> None:
    assert "error: " in run("in.mlir", "-t", "nonsense").err
    assert run("in.mlir", "-t", "mlir").out == RELU


# Passes


def test_flags_and_pipelines_run_in_the_order_given(run: Run) -> None:
    outcome = run(
        "in.mlir",
        "--shape-infer",
        "-p",
        "dce,canonicalize",
        "--processor-assign=chip=bm1684x mode=F16",
        "--cse",
        "--print-ir-after-all",
        "--timing",
    )
    assert outcome.status == 0
    assert re.findall(r"IR Dump After \w+ \(([\w-]+)\)", outcome.err) == [
        "shape-infer",
        "dce",
        "canonicalize",
        "processor-assign",
        "cse",
    ]
    steps = [line.split()[-1] for line in outcome.err.splitlines() if " % " in line]
    assert steps[:2] == ["parse", "verify"]
    assert {"canonicalize", "print"} <= set(steps)
    assert 'module.mode = "F16"' in outcome.out
    assert outcome.out.count("top.Add") == 1


def test_bare_flag_before_the_file_does_not_take_it(run: Run) -> None:
    assert run("--cse", "in.mlir", *ALIASES).out == RELU


def test_ir_before_passes(run: Run) -> None:
    err = run("in.mlir", "--canonicalize", "--print-ir-before-all").err
    assert "IR Dump Before CanonicalizePass (canonicalize)" in err
    assert err.count("top.Add") == 2


@pytest.mark.parametrize("flag", ["--help", "--list-passes"])
def test_every_pass_of_ours_has_a_line_and_all_others_are_named(run: Run, flag: str) -> None:
    outcome = run(flag)
    assert outcome.status == 0
    lines = outcome.out.splitlines()
    for name in ("shape-infer", "canonicalize", "convert-top-to-tpu"):
        (line,) = [line for line in lines if line.split()[:1] == [f"--{name}"]]
        assert len(line.split()) > 1, line
    words = set(outcome.out.replace(",", " ").replace("--", " ").split())
    assert {"cse", "licm"} <= words
    assert "not available" not in outcome.out


def test_version(run: Run) -> None:
    assert re.fullmatch(r"tpu-opt \(xdsl-tpu [\d.]+\S*, xDSL [\d.]+\)\n", run("--version").out)


# Errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--canonicalise",), "unknown option or pass '--canonicalise'; did you mean"),
        (("-p", "shape-infor"), "unknown pass 'shape-infor'; did you mean 'shape-infer'"),
        (("--cse=x=1",), "pass 'cse' has no option 'x'"),
        (("--processor-assign",), "pass 'processor-assign' needs the option 'chip'"),
        (("--verify-each=maybe",), "'maybe' is neither true nor false"),
        (("second.mlir",), "unexpected argument 'second.mlir': only one input file"),
    ],
)
def test_wrong_command_lines(run: Run, arguments: tuple[str, ...], message: str) -> None:
    assert message in error_of(run("in.mlir", *arguments, "-o", "out.mlir"), status=2)
    assert "out.mlir" not in files()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("module {\n  oops\n}", "<stdin>:3:1: "),
        ('module {\n  %0 = "foo.bar"() : () -> i32\n}', "is not registered"),
        ('module {\n  "top.Relu"() : () -> ()\n}', "'top.Relu': Expected 1 operand, but got 0"),
        (RELU.replace("#loc5 =", "#loc6 ="), "undefined symbol alias '#loc5'"),
    ],
)
def test_wrong_texts(run: Run, text: str, message: str) -> None:
    assert message in error_of(run("-o", "out.mlir", stdin=text))
    assert "out.mlir" not in files()


def test_wrong_files(run: Run) -> None:
    assert error_of(run("none.mlir")) == "none.mlir: no such file or directory"
    assert "is a directory" in error_of(run("."))
    Path("binary.mlir").write_bytes(b"\xff\xfe\x00")
    said = error_of(run("binary.mlir"))
    assert "binary.mlir: not UTF-8 text" in said
    assert "tpu-compile makes it of models" in said
    assert "folder does not exist" in error_of(run("in.mlir", "-o", "no/such/folder/out.mlir"))


def test_verifier_errors_name_the_op(run: Run) -> None:
    text = RELU.replace("-> tensor<2x4xf32> loc(#loc5)", "-> tensor<2x5xf32> loc(#loc5)")
    text = text.replace("return %4 : tensor<2x4xf32>", "return %4 : tensor<2x5xf32>")
    text = text.replace("-> tensor<2x4xf32> {", "-> tensor<2x5xf32> {")
    assert "the input is wrong: 'top.Add' \"s2\": " in error_of(run(stdin=text))


def test_missing_weights_are_explained(run: Run) -> None:
    Path("w.npz").unlink()
    assert "w.npz does not exist" in error_of(run("in.mlir", "--canonicalize"))
    assert run("in.mlir").status == 0  # nothing needed them


def test_expected_errors_are_output(run: Run) -> None:
    text = 'module {\n  "top.Relu"() : () -> ()\n}\n// -----\nmodule {\n  oops\n}\n'
    outcome = run("--split-input-file", "--verify-diagnostics", "--parsing-diagnostics", stdin=text)
    first, second = outcome.out.split("// -----\n")
    assert outcome.status == 0
    assert "Expected 1 operand" in first
    assert "<stdin>:7:1" in second


def test_internal_errors_are_one_line_unless_asked(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xdsl_tpu.passes.shape_infer import ShapeInferPass

    def fail(*_: object) -> None:
        raise KeyError("a mistake of ours")

    monkeypatch.setattr(ShapeInferPass, "apply", fail)
    assert "internal error: KeyError" in error_of(run("in.mlir", "--shape-infer"))
    assert "Traceback" in run("in.mlir", "--shape-infer", "--debug").err


def test_verification_can_be_left_out(run: Run) -> None:
    text = 'module {\n  "top.Relu"() : () -> ()\n}'
    assert "top.Relu" in run("--disable-verify", stdin=text).out


# Weights


def test_changed_weights_are_saved_beside_the_output_under_a_new_name(run: Run) -> None:
    before = Path("w.npz").read_bytes()
    outcome = run("in.mlir", "--canonicalize", "-o", "out.mlir")
    assert outcome == Outcome(0, "", "")
    assert files() == {"in.mlir", "w.npz", "out.mlir", "w_1.npz"}
    assert Path("w.npz").read_bytes() == before
    assert 'module.weight_file = "w_1.npz"' in Path("out.mlir").read_text()
    with np.load("w_1.npz") as saved:
        assert list(saved) == ["s2_merged"]
        np.testing.assert_array_equal(saved["s2_merged"], [[0.5, 1, 2, 3]])


def test_output_in_another_folder_has_its_weights(run: Run) -> None:
    Path("sub").mkdir()
    run("in.mlir", "--canonicalize", "-o", "sub/out.mlir")
    assert {path.name for path in Path("sub").iterdir()} == {"out.mlir", "w.npz"}
    assert run("sub/out.mlir", "--canonicalize").status == 0
    Path("copy").mkdir()
    run("in.mlir", "-o", "copy/out.mlir")
    assert Path("copy/w.npz").read_bytes() == Path("w.npz").read_bytes()


def test_unchanged_weights_are_left_alone(run: Run) -> None:
    run("in.mlir", "--cse", "-o", "out.mlir")
    assert files() == {"in.mlir", "w.npz", "out.mlir"}


def test_weights_for_standard_output_are_saved_here(run: Run) -> None:
    Path("sub").mkdir()
    for name in ("in.mlir", "w.npz"):
        Path(name).rename(f"sub/{name}")
    outcome = run("sub/in.mlir", "--canonicalize")
    assert 'module.weight_file = "w.npz"' in outcome.out
    assert outcome.err == "note: changed weights are saved in w.npz\n"
    assert files() == {"sub", "w.npz"}
    assert run("--canonicalize", stdin=outcome.out).err == ""  # what a pipe reads is whole


@pytest.mark.parametrize("terminal", [False, True])
def test_weights_of_text_that_nothing_keeps_are_not_saved(run: Run, terminal: bool) -> None:
    message = "note: changed weights (w.npz) are not saved: the output goes to no file\n"
    if terminal:
        other, ours = os.openpty()
        with os.fdopen(ours, "w") as stream, contextlib.redirect_stdout(stream):
            outcome = run("in.mlir", "--canonicalize")
        os.close(other)
    else:
        outcome = run("in.mlir", "--canonicalize", "-o", "/dev/null")
    assert (outcome.status, outcome.err) == (0, message)
    assert files() == {"in.mlir", "w.npz"}


def test_weights_for_a_pipe_are_saved_here(run: Run) -> None:
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    outcome = run("in.mlir", "--canonicalize", "-o", "pipe")
    assert b'weight_file = "w_1.npz"' in os.read(reader, 1 << 16)
    os.close(reader)
    assert outcome.err == "note: changed weights are saved in w_1.npz\n"
    assert files() == {"in.mlir", "w.npz", "w_1.npz", "pipe"}


def test_weights_of_parts_do_not_overwrite_each_other(run: Run) -> None:
    text = f"{RELU}\n// -----\n{RELU}"
    run("--split-input-file", "--canonicalize", "-o", "out.mlir", stdin=text)
    text = Path("out.mlir").read_text()
    assert re.findall(r'weight_file = "([^"]*)"', text) == ["w_1.npz", "w_2.npz"]


def test_weights_from_another_file(run: Run) -> None:
    Path("w.npz").rename("other.npz")
    text = RELU.replace(' attributes {module.weight_file = "w.npz"}', "")
    assert run("--canonicalize", "--weights", "other.npz", stdin=text).status == 0


LOWER = ("--processor-assign=chip=bm1684x mode=F16", "--convert-top-to-tpu=weightFileName=mine.npz")


def named_weights(text: str) -> dict[str, list[float]]:
    """What is in the file that a text names."""
    (name,) = re.findall(r'weight_file = "([^"]*)"', Path(text).read_text())
    with np.load(Path(text).parent / name) as saved:
        return {key: saved[key].astype(float).ravel().tolist() for key in saved}


@pytest.mark.parametrize("together", [True, False])
def test_passes_that_rename_the_weight_file_keep_the_weights(run: Run, together: bool) -> None:
    """`processor-tpu-optimize` and `address-assign` name the file after their stage."""
    steps = [*LOWER, "--processor-tpu-optimize", "--weight-reorder"]
    steps += ["--subnet-divide", "--address-assign"]
    last = "in.mlir"
    for number, flags in enumerate(
        [steps] if together else [LOWER, *([step] for step in steps[2:])]
    ):
        output = f"out{number}.mlir"
        assert run(last, *flags, "-o", output) == Outcome(0, "", "")
        found = named_weights(output)
        assert sorted(found) == ["w1_f16", "w2_f16"]
        assert found["w2_f16"] == [0.5, 0, 0, 0]
        last = output
    assert 'weight_file = "m_tpu_addressed_bm1684x_f16_weight.npz"' in Path(last).read_text()
    if not together:
        assert 'weight_file = "mine.npz"' in Path("out0.mlir").read_text()


def test_renamed_weights_go_with_the_output(run: Run) -> None:
    assert run("in.mlir", *LOWER, "-o", "tpu.mlir").status == 0
    outcome = run("tpu.mlir", "--processor-tpu-optimize")
    name = "m_tpu_lowered_bm1684x_f16_weight.npz"
    assert outcome.err == f"note: changed weights are saved in {name}\n"
    assert name in outcome.out
    Path("sub").mkdir()
    assert run("tpu.mlir", "--processor-tpu-optimize", "-o", "sub/opt.mlir").status == 0
    assert named_weights("sub/opt.mlir") == named_weights("tpu.mlir")


def test_given_weights_are_those_that_the_output_names(run: Run) -> None:
    np.savez("other.npz", w1=np.ones(4, np.float32), w2=np.ones(4, np.float32))
    before = Path("w.npz").read_bytes()
    assert run("in.mlir", "--weights", "other.npz", "-o", "out.mlir") == Outcome(0, "", "")
    assert named_weights("out.mlir") == {"w1": [1] * 4, "w2": [1] * 4}
    assert Path("w.npz").read_bytes() == before


def test_weights_of_a_module_that_named_no_file_get_one(run: Run) -> None:
    text = BARE.replace(' attributes {module.weight_file = "w.npz"}', "")
    text = re.sub(r".*top.Weight.*\n", "", text).replace("(%0, %1)", "(%0, %0)")
    text = text.replace("(%2, %3)", "(%2, %2)").replace("tensor<1x4xf32>", "tensor<2x4xf32>")
    assert run("-o", "out.mlir", stdin=text).status == 0
    assert files() == {"in.mlir", "w.npz", "out.mlir"}
    assert "weight_file" not in Path("out.mlir").read_text()


def test_failure_after_a_pass_leaves_nothing(run: Run) -> None:
    outcome = run("in.mlir", "--canonicalize", "--weight-fold", "-o", "/nonexistent/out.mlir")
    assert "error: " in outcome.err
    assert files() == {"in.mlir", "w.npz"}


def test_null_device_stays_a_device(run: Run) -> None:
    assert run("in.mlir", "-o", "/dev/null").status == 0
    assert not Path("/dev/null").is_file()


def test_output_replaces_a_file_and_keeps_its_mode(run: Run) -> None:
    Path("out.mlir").write_text("old")
    Path("out.mlir").chmod(0o640)
    run("in.mlir", "-o", "out.mlir")
    assert Path("out.mlir").read_text() == RELU
    assert Path("out.mlir").stat().st_mode & 0o777 == 0o640


def test_timing_adds_up_repeated_steps() -> None:
    table = timing_table([("parse", 1.0), ("cse", 2.0), ("cse", 1.0)]).splitlines()
    assert table[2].split() == ["3.0000", "75.0", "%", "2", "cse"]
    assert table[-1].split() == ["4.0000", "total"]
