"""`--cores 2` through the tools: the same numbers as on one core, to the bit, where the passes of
both are the same (`turn-products` does nothing on several cores, and rounds biases elsewhere)."""

import json
from pathlib import Path

import numpy as np
import pytest
from onnx import GraphProto, TensorProto, helper, numpy_helper
from tests.tools.running import Run

CHIP = ("--chip", "bm1688", "--quiet")


def outputs(
    call: Run, model: Path, folder: Path, cores: int, *options: str
) -> dict[str, np.ndarray]:
    out, file = folder / f"on{cores}", folder / f"on{cores}.npz"
    done = call("tpu-compile", model, "-o", out, "--cores", str(cores), *options, *CHIP)
    assert done.status == 0, done.err
    done = call("tpu-run", out, "--check", "--numerics", "exact", "--outputs", file, *CHIP)
    assert done.status == 0, done.out + done.err
    with np.load(file) as found:
        return dict(found)


RANDOM = ("--quantize", "INT8", "--calibrate-with", "random", "--min-cosine", "0.01")
FORMATS = {
    "F16": ("--quantize", "F16"),
    "F32": ("--quantize", "F32"),
    "BF16": ("--quantize", "BF16"),
    "INT8": RANDOM,
}


@pytest.mark.parametrize(
    ("name", "quantize"),
    [
        *(("cnn", one) for one in FORMATS),
        *(("transformer", one) for one in FORMATS),
        ("channels", "F16"),
        ("heads", "F16"),
    ],
)
def test_outputs_are_those_of_one_core(
    name: str, quantize: str, call: Run, models: Path, tmp_path: Path
) -> None:
    model = models / f"{name}.onnx"
    options = *FORMATS[quantize], "--disable-pass", "turn-products"
    one, two = (outputs(call, model, tmp_path, cores, *options) for cores in (1, 2))
    assert one.keys() == two.keys()
    for key, values in one.items():
        np.testing.assert_array_equal(values, two[key])
    files = (tmp_path / f"on{cores}" / "compile.json" for cores in (1, 2))
    floors = [json.loads(file.read_text())["floor"]["cycles"] for file in files]
    assert floors[1] == pytest.approx(floors[0] / 2, abs=1)  # they share all of it out


def written(graph: GraphProto, folder: Path) -> Path:
    opset = [helper.make_opsetid("", 13)]
    model = folder / "model.onnx"
    made = helper.make_model(graph, opset_imports=opset, ir_version=8)
    model.write_bytes(made.SerializeToString())
    return model


def test_movement_is_shared(call: Run, tmp_path: Path) -> None:
    """A transposition that no group reads or writes: each core stores half of it."""
    node = helper.make_node("Transpose", ["x"], ["y"], perm=[0, 2, 1])
    shapes = {"x": [4, 96, 200], "y": [4, 200, 96]}
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in shapes.items()
    ]
    model = written(helper.make_graph([node], "moves", values[:1], values[1:]), tmp_path)
    one, two = (outputs(call, model, tmp_path, cores) for cores in (1, 2))
    for key, values in one.items():
        np.testing.assert_array_equal(values, two[key])
    report = tmp_path / "report.json"
    assert not call("tpu-run", tmp_path / "on2", "--report", report, *CHIP).status
    first, second = json.loads(report.read_text(encoding="utf-8"))["cores"]
    assert first["gdma"]["busy_cycles"] == pytest.approx(second["gdma"]["busy_cycles"], rel=0.1)


@pytest.mark.parametrize(("quantize", "wide"), [("F16", 128), ("INT8", 512)])
def test_filters_are_shared_by_output_channels(
    quantize: str, wide: int, call: Run, tmp_path: Path
) -> None:
    """Little to compute with many weights: each core loads the filters of its channels. Large ones
    of 8 bits, with their biases and factors, come some places at a time."""
    random, options = np.random.default_rng(2), FORMATS[quantize]
    arrays = {
        name: random.standard_normal(shape).astype(np.float32) / 16
        for name, shape in (("w", (wide, 64, 3, 3)), ("b", (wide,)))
    }
    node = helper.make_node("Conv", ["x", "w", "b"], ["y"], pads=[1, 1, 1, 1])
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, channels, 4, 4])
        for name, channels in (("x", 64), ("y", wide))
    ]
    weights = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph([node], "filters", values[:1], values[1:], weights)
    model = written(graph, tmp_path)
    one, two = (outputs(call, model, tmp_path, cores, *options) for cores in (1, 2))
    assert one.keys() == two.keys()
    for key, found in one.items():
        np.testing.assert_array_equal(found, two[key])
    loads: list[int] = []
    for cores in (1, 2):
        report = tmp_path / "report.json"
        out = tmp_path / f"on{cores}"
        assert not call("tpu-run", out, "--no-values", "--report", report, *CHIP).status
        gdma = json.loads(report.read_text(encoding="utf-8"))["gdma"]
        loads.append(gdma["bytes"]["load"])
    image = 64 * 4 * 4 * 4
    assert loads[1] <= loads[0] + image, "no weight is loaded twice"
    assert "csecs = 2 " in (tmp_path / "on2" / "final.mlir").read_text(encoding="utf-8")


def test_every_view_tells_of_both(call: Run, models: Path, tmp_path: Path) -> None:
    out, report, line = (tmp_path / name for name in ("out", "report.json", "timeline.json"))
    asm = tmp_path / "x.asm"
    assert not call("tpu-compile", models / "cnn.onnx", "-o", out, "--cores", "2", *CHIP).status
    views = ("--report", report, "--timeline", line, "--disassemble", asm, "--no-values")
    assert not call("tpu-run", out, *views, *CHIP).status
    figures = json.loads(report.read_text(encoding="utf-8"))
    assert len(figures["cores"]) == 2
    assert figures["ddr_shared"] >= figures["cycles"]
    events = json.loads(line.read_text(encoding="utf-8"))["traceEvents"]
    assert {event["pid"] for event in events} == {1, 2, 3}  # the third: DDR of both
    assert "\n.core 1\n" in asm.read_text(encoding="utf-8")
    assert json.loads((out / "compile.json").read_text(encoding="utf-8"))["cores"] == 2


@pytest.mark.parametrize(
    ("chip", "cores", "message"),
    [
        ("bm1684x", "2", "2 cores are wanted of BM1684X, which has 1"),
        ("bm1688", "3", "3 cores are wanted of BM1688, which has 2"),
        ("bm1688", "0", "0 cores are wanted of BM1688"),
    ],
)
def test_more_cores_than_there_are(
    chip: str, cores: str, message: str, call: Run, models: Path, tmp_path: Path
) -> None:
    model = models / "cnn.onnx"
    done = call("tpu-compile", model, "-o", tmp_path / "o", "--chip", chip, "--cores", cores)
    assert done.status == 1
    assert message in done.err


@pytest.mark.parametrize("option", ["--find-bad", "--compare-layers"])
def test_views_of_one_core_say_so(option: str, call: Run, models: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert not call("tpu-compile", models / "cnn.onnx", "-o", out, "--cores", "2", *CHIP).status
    done = call("tpu-run", out, option, *CHIP)
    assert done.status == 1
    assert "look at one core" in done.err


def test_how_ddr_is_counted_is_asked_for(call: Run, models: Path, tmp_path: Path) -> None:
    out, report = tmp_path / "out", tmp_path / "report.json"
    assert not call("tpu-compile", models / "cnn.onnx", "-o", out, "--cores", "2", *CHIP).status
    found: dict[str, dict[str, int]] = {}
    for way in ("each", "shared"):
        done = call(
            "tpu-run", out, "--no-values", "--ddr", way, "--report", report, "--chip", "bm1688"
        )
        assert not done.status, done.err
        found[way] = json.loads(report.read_text(encoding="utf-8"))
        assert ("sharing the bandwidth" in done.out) == (way == "shared")
    for way, figures in found.items():
        assert figures["cycles"] == found["each"][f"ddr_{way}"] == found["shared"][f"ddr_{way}"]
    alone = tmp_path / "alone"
    assert not call("tpu-compile", models / "cnn.onnx", "-o", alone, *CHIP).status
    done = call("tpu-run", alone, "--no-values", "--ddr", "shared", *CHIP)
    assert done.status == 1
    assert "this program is for one core" in done.err
