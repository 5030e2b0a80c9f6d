"""`tpu-opt` in process: what it reads, writes, says and returns."""

import re
from pathlib import Path

import pytest
from tests.tools.opt_running import ALIASES, BARE, RELU, Opt, Outcome, error_of, files

from xdsl_tpu.tools.tpu_opt import timing_table

# Reading and printing


def test_text_comes_back(opt: Opt) -> None:
    assert opt("in.mlir") == Outcome(0, RELU, "")


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_standard_input(opt: Opt, arguments: tuple[str, ...]) -> None:
    assert opt(*arguments, stdin=RELU).out == RELU


def test_locations_are_printed_when_the_input_has_them(opt: Opt) -> None:
    assert "loc(" not in opt(stdin=BARE).out
    assert "loc(" not in opt("in.mlir", "--no-locations").out
    assert opt("in.mlir", "--mlir-print-debuginfo").out == RELU


def test_locations_in_place_are_what_plain_xdsl_reads(opt: Opt) -> None:
    texts = [opt("in.mlir", flag).out for flag in ("--print-debuginfo", "--cse")]
    for text in texts:
        assert 'loc("s2")' in text
        assert "#loc" not in text
        assert opt(*ALIASES, stdin=text.strip()).out == RELU
    assert opt(stdin=texts[1]).out == texts[1]


def test_generic_form(opt: Opt) -> None:
    text = opt("in.mlir", "--print-op-generic").out
    assert '"func.func"() <{' in text
    assert opt(stdin=text).out == RELU


def test_parts_of_a_split_input_are_separate(opt: Opt) -> None:
    text = f"{BARE}\n// -----\n\n{BARE}"
    out = opt("--split-input-file", stdin=text).out
    assert out.count("// -----\n") == 1
    assert out.count("module @m") == 2


def test_other_targets_of_xdsl(opt: Opt) -> None:
    assert "error: " in opt("in.mlir", "-t", "nonsense").err
    assert opt("in.mlir", "-t", "mlir").out == RELU


# Passes


def test_flags_and_pipelines_run_in_the_order_given(opt: Opt) -> None:
    outcome = opt(
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


def test_flags_as_mlir_opt_calls_them(opt: Opt) -> None:
    flags = ("--mlir-print-ir-after-all", "--mlir-timing", "--mlir-print-op-generic")
    outcome = opt("in.mlir", "--cse", *flags)
    assert outcome.status == 0
    assert "IR Dump After" in outcome.err
    assert " % " in outcome.err
    assert '"func.func"' in outcome.out


def test_bare_flag_before_the_file_does_not_take_it(opt: Opt) -> None:
    assert opt("--cse", "in.mlir", *ALIASES).out == RELU


def test_ir_before_passes(opt: Opt) -> None:
    err = opt("in.mlir", "--canonicalize", "--print-ir-before-all").err
    assert "IR Dump Before CanonicalizePass (canonicalize)" in err
    assert err.count("top.Add") == 2


@pytest.mark.parametrize("flag", ["--help", "--list-passes"])
def test_every_pass_of_ours_has_a_line_and_all_others_are_named(opt: Opt, flag: str) -> None:
    outcome = opt(flag)
    assert outcome.status == 0
    lines = outcome.out.splitlines()
    for name in ("shape-infer", "canonicalize", "convert-top-to-tpu"):
        (line,) = [line for line in lines if line.split()[:1] == [f"--{name}"]]
        assert len(line.split()) > 1, line
    words = set(outcome.out.replace(",", " ").replace("--", " ").split())
    assert {"cse", "licm"} <= words
    assert "not available" not in outcome.out


def test_version(opt: Opt) -> None:
    assert re.fullmatch(r"tpu-opt \(xdsl-tpu [\d.]+\S*, xDSL [\d.]+\)\n", opt("--version").out)


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
def test_wrong_command_lines(opt: Opt, arguments: tuple[str, ...], message: str) -> None:
    assert message in error_of(opt("in.mlir", *arguments, "-o", "out.mlir"), status=2)
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
def test_wrong_texts(opt: Opt, text: str, message: str) -> None:
    assert message in error_of(opt("-o", "out.mlir", stdin=text))
    assert "out.mlir" not in files()


def test_wrong_files(opt: Opt) -> None:
    assert error_of(opt("none.mlir")) == "none.mlir: no such file or directory"
    assert "is a directory" in error_of(opt("."))
    Path("binary.mlir").write_bytes(b"\xff\xfe\x00")
    said = error_of(opt("binary.mlir"))
    assert "binary.mlir: not UTF-8 text" in said
    assert "tpu-compile makes it of models" in said
    assert "folder does not exist" in error_of(opt("in.mlir", "-o", "no/such/folder/out.mlir"))


def test_verifier_errors_name_the_op(opt: Opt) -> None:
    text = RELU.replace("-> tensor<2x4xf32> loc(#loc5)", "-> tensor<2x5xf32> loc(#loc5)")
    text = text.replace("return %4 : tensor<2x4xf32>", "return %4 : tensor<2x5xf32>")
    text = text.replace("-> tensor<2x4xf32> {", "-> tensor<2x5xf32> {")
    assert "the input is wrong: 'top.Add' \"s2\": " in error_of(opt(stdin=text))


def test_missing_weights_are_explained(opt: Opt) -> None:
    Path("w.npz").unlink()
    assert "w.npz does not exist" in error_of(opt("in.mlir", "--canonicalize"))
    assert opt("in.mlir").status == 0  # nothing needed them


def test_expected_errors_are_output(opt: Opt) -> None:
    text = 'module {\n  "top.Relu"() : () -> ()\n}\n// -----\nmodule {\n  oops\n}\n'
    outcome = opt("--split-input-file", "--verify-diagnostics", "--parsing-diagnostics", stdin=text)
    first, second = outcome.out.split("// -----\n")
    assert outcome.status == 0
    assert "Expected 1 operand" in first
    assert "<stdin>:7:1" in second


def test_internal_errors_are_one_line_unless_asked(
    opt: Opt, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xdsl_tpu.passes.shape_infer import ShapeInferPass

    def fail(*_: object) -> None:
        raise KeyError("a mistake of ours")

    monkeypatch.setattr(ShapeInferPass, "apply", fail)
    assert "internal error: KeyError" in error_of(opt("in.mlir", "--shape-infer"))
    assert "Traceback" in opt("in.mlir", "--shape-infer", "--debug").err


def test_verification_can_be_left_out(opt: Opt) -> None:
    text = 'module {\n  "top.Relu"() : () -> ()\n}'
    assert "top.Relu" in opt("--disable-verify", stdin=text).out


def test_timing_adds_up_repeated_steps() -> None:
    table = timing_table([("parse", 1.0), ("cse", 2.0), ("cse", 1.0)]).splitlines()
    assert table[2].split() == ["3.0000", "75.0", "%", "2", "cse"]
    assert table[-1].split() == ["4.0000", "total"]
