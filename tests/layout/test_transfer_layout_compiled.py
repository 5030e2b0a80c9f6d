"""A network with transpositions around its convolutions, compiled with and without the pass."""

from pathlib import Path

import numpy as np
import pytest
from tests.layout.channel_last import make_channel_last
from tests.layout.layout_samples import conv
from tests.passes.semantics import Net
from xdsl.dialects.builtin import ModuleOp, StringAttr

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context, print_module
from xdsl_tpu.dialects.weights import WEIGHT_FILE, weights_of
from xdsl_tpu.passes.layout.count import transpositions
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.pipelines import Quantization
from xdsl_tpu.tools.check import check
from xdsl_tpu.tools.compile_model import compile_model

TO_LAST = (0, 2, 3, 1)


def network() -> ModuleOp:
    """Two convolutions and a sum over a shortcut, a pool, a classifier."""
    net = Net()
    x = net.op(top.ReluOp, "r0", (conv(net, "c0", net.input("x", 1, 3, 16, 24), 3, 16),))
    y = net.op(top.ReluOp, "r1", (conv(net, "c1", x, 16, 16),))
    z = net.op(top.AddOp, "sum", (conv(net, "c2", y, 16, 16), x))
    mean = net.op(top.ReduceOp, "mean", (z,), axes=[2, 3], keepdims=True, mode="ReduceMean")
    flat = net.op(top.ReshapeOp, "flat", (mean,), shape=(1, 16))
    return net.module(net.op(top.MatMulOp, "y", (flat, net.weight("w", 16, 10), net.none)))


@pytest.fixture
def channel_last(tmp_path: Path) -> Path:
    """The network in channel-last form, as a file with its weights beside it."""
    module = network()
    make_channel_last(module)
    module.verify()
    weights_of(module).save(tmp_path / "net.npz")
    module.attributes[WEIGHT_FILE] = StringAttr("net.npz")
    path = tmp_path / "net.mlir"
    with path.open("w", encoding="utf-8") as stream:
        print_module(module, stream)
    return path


def test_channel_last_form_computes_the_same() -> None:
    first, last = network(), network()
    make_channel_last(last)
    last.verify()
    assert transpositions(last).count == 6  # before and after each convolution
    x = np.random.default_rng(0).standard_normal((1, 3, 16, 24), np.float32)
    (expected,) = run_module(first, {"x": x}).values()
    (found,) = run_module(last, {"x": x.transpose(TO_LAST)}).values()
    np.testing.assert_allclose(found, expected, atol=1e-5)
    make_pass("transfer-layout", "target=NCHW").apply(make_context(), last)
    assert transpositions(last).count == 1  # of the input


def test_compiled_program_is_faster_and_right(channel_last: Path, tmp_path: Path) -> None:
    chip = load_chip("bm1684x")
    x = np.random.default_rng(0).standard_normal((1, 3, 16, 24), np.float32)
    (expected,) = run_module(network(), {"x": x}).values()
    cycles: dict[str | None, int] = {}
    for options in (None, "target=NCHW cost=cycles", "target=NCHW strategy=greedy"):
        program = compile_model(
            channel_last, tmp_path / "out", "F32", "bm1684x", transfer_layout=options
        ).program
        check(program, chip)
        (found,) = run_program(program, chip, {"x": x.transpose(TO_LAST)}).values()
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6 * np.abs(expected).max())
        cycles[options] = simulate(program.tiu, program.gdma, chip).total
    # Canonical forms let most of them meet without it.
    assert cycles["target=NCHW cost=cycles"] < 0.9 * cycles[None]


def test_every_transposition_that_remains_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    module = network()
    make_channel_last(module)
    make_pass("transfer-layout", "target=NCHW explain=true").apply(make_context(), module)
    head, *lines = capsys.readouterr().err.splitlines()
    assert "with min-cut 1 transposition" in head
    (line,) = lines
    assert "between top.Conv 'c0' (channel-first) and top.Input 'x' (channel-last)" in line


def test_options_are_checked(channel_last: Path, tmp_path: Path) -> None:
    for options, message in (
        ("target=NCWH", "'NCWH' is not of type NCHW|NHWC"),
        ("cost=speed", "'speed' is not of type count|bytes|cycles"),
        ("taget=NCHW", "did you mean 'target'"),
    ):
        with pytest.raises(TpuError, match=message.replace("|", r"\|")):
            compile_model(channel_last, tmp_path / "out", "F16", "bm1684x", transfer_layout=options)
        assert not (tmp_path / "out").exists()


def test_integer_programs_take_the_pass_before_types_are_known(
    channel_last: Path, tmp_path: Path
) -> None:
    """Cycles are those of float then; without a table the compilation ends with that error."""
    with pytest.raises(TpuError, match="calibration"):
        compile_model(
            channel_last, tmp_path / "out", "INT8", "bm1684x",
            quantization=Quantization(), transfer_layout="cost=cycles",
        )  # fmt: skip
