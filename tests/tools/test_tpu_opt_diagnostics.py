"""Errors that an input announces, pipelines in mlir-opt's syntax, and readers that leave."""

import subprocess
import sys
from pathlib import Path

import pytest

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.passes.pipeline import split_pipeline
from xdsl_tpu.tools.diagnostics import Diagnostic, announced, check_diagnostics

TPU_OPT = Path(sys.executable).with_name("tpu-opt")


@pytest.mark.parametrize(
    ("comment", "line"),
    [("", 2), ("@+1", 3), ("@-1", 1), ("@above", 1), ("@below", 3), (" @+1", 3)],
)
def test_an_error_is_expected_on_its_line(comment: str, line: int) -> None:
    expected = announced(f"\n// expected-error{comment} {{{{in words}}}}\n")
    check_diagnostics("f", expected, [Diagnostic("error", line, "an error in words")])
    with pytest.raises(TpuError) as raised:
        check_diagnostics("f", expected, [Diagnostic("error", line + 1, "an error in words")])
    assert str(raised.value).splitlines() == [
        f"f:{line + 1}: unexpected error: an error in words",
        'f:2: expected error "in words" was not produced',
    ]


def test_texts_are_no_patterns_unless_they_say_so() -> None:
    found = [Diagnostic("error", 1, "shape [1, 2]")]
    check_diagnostics("f", announced("expected-error {{shape [1, 2]}}"), found)
    check_diagnostics("f", announced("expected-error-re {{shape [1, {{[0-9]}}]}}"), found)
    with pytest.raises(TpuError, match="was not produced"):
        check_diagnostics("f", announced("expected-error {{shape .*}}"), found)


def test_every_announcement_is_for_one_error_and_remarks_need_none() -> None:
    twice = [Diagnostic("error", 1, "a"), Diagnostic("error", 1, "a")]
    with pytest.raises(TpuError, match="f:1: unexpected error: a"):
        check_diagnostics("f", announced("expected-error {{a}}"), twice)
    remark = [Diagnostic("remark", None, "by the way")]
    check_diagnostics("f", [], remark)
    check_diagnostics("f", announced("expected-remark @unknown {{by the way}}"), remark)
    with pytest.raises(TpuError, match='expected error "by the way" was not produced'):
        check_diagnostics("f", announced("expected-error @unknown {{by the way}}"), remark)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("a", [("a", "")]),
        ("builtin.module(a, b{x=1 y=2} , c)", [("a", ""), ("b", "x=1 y=2"), ("c", "")]),
        ("builtin.module(func.func(a),b)", [("a", ""), ("b", "")]),
        ("any(a{file=x/y.z list=1,2 name='}'})", [("a", "file=x/y.z list=1,2 name='}'")]),
        ("", []),
    ],
)
def test_pipelines_of_mlir_opt(text: str, steps: list[tuple[str, str]]) -> None:
    assert split_pipeline(text) == steps


@pytest.mark.parametrize("text", ["a b", "a,", "builtin.module(a", "a)", "a{x=1", ",a"])
def test_wrong_pipelines(text: str) -> None:
    with pytest.raises(TpuError, match="pass pipeline"):
        split_pipeline(text)


@pytest.mark.parametrize("arguments", [["--help"], ["--list-passes"], ["long.mlir"]])
def test_a_reader_that_leaves_is_no_failure(arguments: list[str], tmp_path: Path) -> None:
    ops = "\n".join('"top.None"() : () -> none' for _ in range(3000))
    (tmp_path / "long.mlir").write_text(f"module {{\n{ops}\n}}\n")
    with subprocess.Popen(
        [TPU_OPT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0
