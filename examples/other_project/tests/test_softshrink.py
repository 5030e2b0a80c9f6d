"""Run where both xdsl-tpu and this project are installed: `pytest examples/other_project`."""

import subprocess
import sys
from pathlib import Path

import numpy as np
from tpu_extras.dialect import Extras
from tpu_extras.lower import LowerExtrasPass

from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context, parse_module

FILE = Path(__file__).with_name("softshrink.mlir")
BIN = Path(sys.executable).parent


def run(tool: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [str(BIN / tool), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_rewrite_is_the_formula() -> None:
    ctx = make_context()
    ctx.load_dialect(Extras)
    module = parse_module(FILE.read_text(), FILE.name, ctx)
    LowerExtrasPass().apply(ctx, module)
    module.verify()
    x = np.random.default_rng(0).standard_normal((1, 8, 6, 5)).astype(np.float32)
    (y,) = run_module(module, [x], weights={}).values()
    expected = np.sign(x) * np.maximum(np.abs(x) - np.float32(0.5), 0)
    np.testing.assert_allclose(y, expected, atol=1e-7)
    assert (y == 0).any()
    assert (y != 0).any()


def test_plain_xdsl_opt_knows_both_projects() -> None:
    done = run("xdsl-opt", FILE, "-p", "lower-extras,shape-infer")
    assert done.returncode == 0, done.stderr
    assert "top.Clip" in done.stdout
    assert "extras." not in done.stdout


def test_a_wrong_op_is_refused() -> None:
    text = FILE.read_text().replace("5.000000e-01", "-5.000000e-01")
    done = subprocess.run(
        [str(BIN / "tpu-opt"), "--shape-infer"], input=text, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "bound is -0.5; it must not be negative" in done.stderr
    assert "Traceback" not in done.stderr


def test_from_the_op_to_the_chip(tmp_path: Path) -> None:
    lowered = tmp_path / "top.mlir"
    done = run("tpu-opt", FILE, "--lower-extras", "--shape-infer", "-o", lowered)
    assert done.returncode == 0, done.stderr
    done = run("tpu-compile", lowered, "-o", tmp_path / "out", "--quantize", "F32", "--quiet")
    assert done.returncode == 0, done.stderr
    done = run("tpu-run", tmp_path / "out", "--check", "--compare", lowered)
    assert done.returncode == 0, done.stderr
    assert "1.0000000" in done.stdout
