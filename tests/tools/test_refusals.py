"""Bad input: status 1, one message that says what, where and what to do, nothing left behind."""

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tools.running import SCRIPTS, Done, Run
from tests.tools.small_models import write_models

from xdsl_tpu.backend.bmodel import read_bmodel, write_bmodel

IMAGE = (1, 3, 40, 24)


def tree(folder: Path) -> dict[str, bytes]:
    """Every path below a folder with the file's contents."""
    paths = sorted(folder.rglob("*"))
    return {str(p): p.read_bytes() if p.is_file() else b"" for p in paths}


def refused(done: Done, *fragments: str) -> None:
    """One error message that holds all the fragments, and no traceback."""
    assert done.status == 1
    assert done.out == ""
    errors = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, done.err
    message = done.err[done.err.index("error: ") :]
    assert "Traceback" not in done.err
    assert "internal error" not in message
    for fragment in fragments:
        assert fragment in message, message


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with the small models, a file that is no folder and files that are no models."""
    write_models(tmp_path)
    whole = (tmp_path / "cnn.onnx").read_bytes()
    (tmp_path / "cut.onnx").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.onnx").write_text("not a model\n")
    (tmp_path / "model.txt").write_text("not a model\n")
    (tmp_path / "broken.mlir").write_text('func.func @main() { "top.Nothing"( }\n')
    (tmp_path / "lowered.mlir").write_text(
        'module @m attributes {module.state = "TPU_LOWERED"} {\n}\n'
    )
    weight = '%0 = "top.Weight"() : () -> tensor<1x4xf32> loc("w")'
    relu = '%1 = "top.Relu"(%0) : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("y")'
    (tmp_path / "weightless.mlir").write_text(
        'module @m attributes {module.state = "TOP_F32", module.weight_file = "gone.npz"} {\n'
        f"func.func @main() -> tensor<1x4xf32> {{\n{weight}\n{relu}\n"
        "return %1 : tensor<1x4xf32>\n}\n}\n"
    )
    (tmp_path / "chip.toml").write_text('name = "X"\n')
    return tmp_path


COMPILE = {
    "missing file": (["none.onnx"], ["none.onnx", "no such file"]),
    "a folder": (["."], ["a file is wanted"]),
    "no model": (["text.onnx"], ["text.onnx", "not a readable ONNX model"]),
    "cut off": (["cut.onnx"], ["cut.onnx", "not a readable ONNX model"]),
    "unknown suffix": (["model.txt"], ["model.txt", "ONNX model, Top IR or a OneFlow job"]),
    "broken IR": (["broken.mlir"], ["broken.mlir:1:"]),
    "lowered IR": (["lowered.mlir"], ["lowered.mlir", "TPU_LOWERED", "give Top IR"]),
    "no weight file": (["weightless.mlir"], ["gone.npz"]),
    "unknown chip": (["cnn.onnx", "--chip", "bm9999"], ["'bm9999'", "bm1684x", ".toml"]),
    "half a chip": (["cnn.onnx", "--chip", "chip.toml"], ["chip.toml", "lacks the key"]),
    "unknown pass": (
        ["cnn.onnx", "--disable-pass", "canonicalise"],
        ["'canonicalise'", "did you mean 'canonicalize'", "can be left out"],
    ),
    "needed pass": (["cnn.onnx", "--disable-pass", "address-assign"], ["'address-assign'"]),
    "dynamic": (["dynamic.onnx"], ["'x'", "[batch, 16]", "--input-shapes x="]),
    "wrong shape": (["cnn.onnx", "--input-shapes", "image=1x3x8x8"], ["'image'", "[1, 3, 40, 24]"]),
    "wrong name": (["cnn.onnx", "--input-shapes", "img=1x3x40x24"], ["'img'", "image"]),
    "shapes for IR": (["lowered.mlir", "--input-shapes", "x=1x4"], ["--input-shapes"]),
    "unsupported op": (["unsupported.onnx"], ["'determinant'", "Det", "not supported"]),
}


@pytest.mark.parametrize("case", COMPILE)
@pytest.mark.parametrize("output", ["out", "new/deep/out", "old"])
def test_compile(
    case: str, output: str, work: Path, call: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(work)
    (work / "old").mkdir()
    (work / "old" / "model.bmodel").write_text("from before")
    before = tree(work)
    arguments, fragments = COMPILE[case]
    refused(call("tpu-compile", *arguments, "-o", output, "--quiet"), *fragments)
    assert tree(work) == before


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("text.onnx", "no folder"),
        ("text.onnx/deep", "cannot be written"),
        ("/proc/nothing/deep", "cannot be written"),
        ("/dev/full", "no folder"),
    ],
)
def test_compile_into_no_folder(
    output: str, reason: str, work: Path, call: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(work)
    before = tree(work)
    refused(call("tpu-compile", "cnn.onnx", "-o", output, "--quiet"), output, reason)
    assert tree(work) == before


def limited(megabytes: float, *command: object) -> Done:
    """Run a tool that may write files up to a size only, as on a full disk."""
    blocks = int(megabytes * 2048)  # of 512 bytes, in POSIX shells
    script = f'ulimit -f {blocks}; trap "" XFSZ; exec "$0" "$@"'
    arguments = ["sh", "-c", script, *map(str, command)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=120)
    return Done(done.returncode, done.stdout, done.stderr)


def test_compile_on_a_full_disk(work: Path) -> None:
    before = tree(work)
    out = work / "new" / "out"
    done = limited(1 / 64, SCRIPTS / "tpu-compile", work / "cnn.onnx", "-o", out, "--quiet")
    refused(done, str(out), "cannot be written", "give another folder")
    assert tree(work) == before


def inputs(folder: Path, name: str, **arrays: Any) -> str:
    np.savez(folder / f"{name}.npz", **arrays)
    return f"{name}.npz"


@pytest.fixture
def program(compiled: Callable[[str], Path], work: Path) -> Path:
    """`work` with a program, damaged copies of it and inputs that do not fit it."""
    data = (compiled("cnn") / "model.bmodel").read_bytes()
    image = np.random.default_rng(0).standard_normal(IMAGE).astype(np.float32)
    holes = image.copy()
    holes[0, 1, 2, 3] = np.nan
    (work / "good.bmodel").write_bytes(data)
    (work / "cut.bmodel").write_bytes(data[:-1000])
    (work / "tiny.bmodel").write_bytes(data[:10])
    (work / "corrupt.bmodel").write_bytes(data[:5000] + bytes(64) + data[5064:])
    (work / "empty").mkdir()
    inputs(work, "image", image=image)
    inputs(work, "shape", image=image[:, :2])
    inputs(work, "holes", image=holes)
    inputs(work, "names", picture=image)
    inputs(work, "extra", image=image, other=image)
    inputs(work, "text", image=np.full(IMAGE, "a"))
    inputs(work, "complex", image=image * 1j)
    inputs(work, "objects", image=np.array([{}, None]))
    np.save(work / "array.npy", image[..., 1:])
    whole = (work / "image.npz").read_bytes()
    (work / "cut.npz").write_bytes(whole[:500])
    return work


GOOD = "good.bmodel"
RUN = {
    "missing file": (["none.bmodel"], ["none.bmodel", "tpu-compile MODEL"]),
    "empty folder": (["empty"], ["empty/model.bmodel", "tpu-compile MODEL -o empty"]),
    "not a bmodel": (["text.onnx"], ["text.onnx", "not a bmodel"]),
    "cut off": (["cut.bmodel"], ["cut.bmodel", "cut off"]),
    "only a head": (["tiny.bmodel"], ["tiny.bmodel", "not a bmodel"]),
    "corrupt": (["corrupt.bmodel"], ["corrupt.bmodel", "checksum"]),
    "unknown chip": ([GOOD, "--chip", "bm9999"], ["'bm9999'", "bm1684x"]),
    "wrong shape": ([GOOD, "--inputs", "shape.npz"], ["'image'", "[1, 2, 40, 24]", str([*IMAGE])]),
    "NaN": ([GOOD, "--inputs", "holes.npz"], ["'image'", "NaN"]),
    "wrong name": ([GOOD, "--inputs", "names.npz"], ["'image'", "[1, 3, 40, 24]", "picture"]),
    "one too many": ([GOOD, "--inputs", "extra.npz"], ["other", "takes image"]),
    "text": ([GOOD, "--inputs", "text.npz"], ["'image'", "<U1", "f32"]),
    "complex": ([GOOD, "--inputs", "complex.npz"], ["'image'", "complex64"]),
    "objects": ([GOOD, "--inputs", "objects.npz"], ["objects.npz"]),
    "one array": ([GOOD, "--inputs", "array.npy"], ["the program wants"]),
    "cut off inputs": ([GOOD, "--inputs", "cut.npz"], ["cut.npz"]),
    "no inputs": ([GOOD, "--inputs", "none.npz"], ["none.npz", "o such file"]),
    "another model": ([GOOD, "--compare", "transformer.onnx"], ["'tokens'", "compiled from"]),
    "no reference": ([GOOD, "--compare", "none.onnx"], ["none.onnx", "no such file"]),
    "reference no model": ([GOOD, "--compare", "text.onnx"], ["text.onnx", "ONNX"]),
    "outputs nowhere": ([GOOD, "--outputs", "a/b.npz"], ["a/b.npz", "folder"]),
    "report nowhere": ([GOOD, "--report", "a/b.json"], ["a/b.json", "folder"]),
    "timeline a folder": ([GOOD, "--timeline", "empty"], ["empty", "is a directory"]),
    "outputs on a full disk": ([GOOD, "--outputs", "/dev/full"], ["/dev/full", "no space"]),
    "report on a full disk": ([GOOD, "--report", "/dev/full"], ["/dev/full", "no space"]),
}


@pytest.mark.parametrize("case", RUN)
def test_run(case: str, program: Path, call: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(program)
    arguments, fragments = RUN[case]
    if "/dev/full" in arguments and not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    before = tree(program)
    refused(call("tpu-run", *arguments, "--quiet"), *fragments)
    assert tree(program) == before


def test_an_existing_report_survives_a_full_disk(program: Path) -> None:
    (program / "report.json").write_text("from before")
    before = tree(program)
    timeline = ("--timeline", program / "report.json")
    done = limited(1 / 256, SCRIPTS / "tpu-run", program / GOOD, "--quiet", *timeline)
    refused(done, "report.json")
    assert tree(program) == before


def test_foreign_chip_name(program: Path, call: Run) -> None:
    """A program for a chip that is not installed asks for its description."""
    loaded = read_bmodel(program / GOOD)
    loaded.chip = "BM9999"
    write_bmodel(loaded, program / "foreign.bmodel")
    refused(call("tpu-run", program / "foreign.bmodel", "--quiet"), "'BM9999'", "--chip")
    known = ("--chip", "bm1684x", "--quiet")
    assert call("tpu-run", program / "foreign.bmodel", *known).status == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["--seed", "-1"],
        ["--seed", "x"],
        ["--seed", "1", "--inputs", "image.npz"],
        ["--numerics", "perfect"],
        ["--unknown"],
    ],
)
def test_wrong_usage(arguments: list[str], program: Path, call: Run) -> None:
    """argparse's own way: usage, one line, status 2."""
    done = call("tpu-run", program / GOOD, *arguments)
    assert done.status == 2
    assert done.err.splitlines()[-1].startswith("tpu-run: error: ")


@pytest.mark.parametrize("shape", ["1x3x8x8", "=1x3", "x=", "x=1xax3", "x=0x3", "x=1x-3"])
def test_malformed_shapes(shape: str, call: Run) -> None:
    done = call("tpu-compile", "model.onnx", "--input-shapes", shape)
    assert done.status == 2
    assert "NAME=1x3x224x224" in done.err.splitlines()[-1]


def test_standard_output_full_or_closed(program: Path) -> None:
    command = f"{SCRIPTS}/tpu-run {program}/{GOOD}"
    for suffix, status, message in (("> /dev/full", 1, "error: no space left"), ("| true", 0, "")):
        done = subprocess.run(
            ["sh", "-c", f"{command} {suffix}"],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == status
        assert "Traceback" not in done.stderr
        assert "Exception" not in done.stderr
        assert message in done.stderr


def _heed_interrupts() -> None:
    """A shell's background jobs are started with SIGINT ignored, and children inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_interrupt_leaves_nothing(work: Path) -> None:
    """Ctrl-C in the middle of a compilation."""
    large = Path(__file__).parents[2] / "examples" / "swin_t.onnx"
    before = tree(work)
    command = [str(SCRIPTS / "tpu-compile"), str(large), "-o", str(work / "new" / "swin")]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=_heed_interrupts,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (work / "new").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "error: interrupted"
    assert "Traceback" not in err
    assert tree(work) == before
