"""BM1688, and a third chip that is a description alone, through all the tools."""

import json
from pathlib import Path

import pytest
from tests.tools.running import Run
from tests.tools.test_custom_chip import describe

from xdsl_tpu.backend.bmodel.flatbuffer import read_root
from xdsl_tpu.backend.isa import Engine, load_instruction_set

ZOO = Path(__file__).parents[1] / "data/zoo"
FLOATS = ("cnn", "transformer", "channels", "heads")
THIRD = {
    "count = 64": "count = 32",
    "262144": "131072",
    "bytes = 0x1_0000_0000": "bytes = 0x8000_0000",
}
"""Half the lanes of half the memory, and half the DDR."""


def compiled_and_run(
    call: Run, model: Path, chip: str | Path, quantize: str, folder: Path, *shapes: str
) -> dict[str, float]:
    """Cosines of the outputs; `--check` finds nothing wrong."""
    out, report = folder / "out", folder / "report.json"
    chosen = ("--chip", str(chip), "--quiet")
    done = call("tpu-compile", model, "-o", out, "--quantize", quantize, *shapes, *chosen)
    assert done.status == 0, done.err
    given = model.with_suffix(".inputs.npz")
    inputs = ("--inputs", given) if given.exists() else ()
    done = call("tpu-run", out, "--check", "--compare", model, "--report", report, *inputs, *chosen)
    assert done.status == 0, done.out + done.err
    tensors = json.loads(report.read_text(encoding="utf-8"))["comparison"]["tensors"]
    return {name: tensor["cosine"] for name, tensor in tensors.items()}


@pytest.mark.parametrize("quantize", ["F32", "F16", "BF16"])
@pytest.mark.parametrize("name", FLOATS)
def test_values_on_the_bm1688(
    name: str, quantize: str, call: Run, models: Path, tmp_path: Path
) -> None:
    least = {"F32": 0.99999, "F16": 0.9999, "BF16": 0.999}[quantize]
    found = compiled_and_run(call, models / f"{name}.onnx", "bm1688", quantize, tmp_path)
    assert min(found.values()) >= least


SHAPES = {"dynamic": ("--input-shapes", "x=3x16")}


@pytest.mark.parametrize("name", [*FLOATS, "wide_pads", "dynamic"])
def test_a_third_chip_is_a_description_alone(
    name: str, call: Run, models: Path, tmp_path: Path
) -> None:
    chip = describe(tmp_path / "third.toml", THIRD, "THIRD")
    model, shapes = models / f"{name}.onnx", SHAPES.get(name, ())
    found = compiled_and_run(call, model, chip, "F16", tmp_path, *shapes)
    assert min(found.values()) >= 0.9999


@pytest.mark.parametrize("name", ["dlrm_mlp", "espcn_x3", "lstm_2l_64", "mobilenetv4_conv_small"])
def test_published_networks_on_a_third_chip(name: str, call: Run, tmp_path: Path) -> None:
    chip = describe(tmp_path / "third.toml", THIRD, "THIRD")
    found = compiled_and_run(call, ZOO / f"{name}.onnx", chip, "F16", tmp_path)
    assert min(found.values()) >= 0.9999


def test_every_view_of_a_program(call: Run, models: Path, tmp_path: Path) -> None:
    """Text, timeline, page, and cycles without values; nothing asks for the first chip."""
    out = tmp_path / "out"
    compiled = call("tpu-compile", models / "cnn.onnx", "-o", out, "--chip", "bm1688", "--quiet")
    assert compiled.status == 0, compiled.err
    files = ("--timeline", tmp_path / "t.json", "--html", tmp_path / "p.html")
    text = tmp_path / "x.asm"
    done = call("tpu-run", out, "--no-values", "--quiet", *files, "--disassemble", text)
    assert done.status == 0, done.err
    written = text.read_text(encoding="utf-8")
    assert '.chip "BM1688"' in written
    assert "cmd_id=" not in written
    assert "0xb000000000" in written  # the input, by its tag
    assert "relu=1" in written  # a convolution's own
    assert "BM1688" in (tmp_path / "p.html").read_text(encoding="utf-8")


def test_the_file_is_as_its_runtime_wants_it(call: Run, models: Path, tmp_path: Path) -> None:
    """Places of inputs and outputs are told by tags, and no command has a number."""
    out = tmp_path / "out"
    chosen = ("--chip", "bm1688", "--quiet")
    assert call("tpu-compile", models / "heads.onnx", "-o", out, *chosen).status == 0
    data = (out / "model.bmodel").read_bytes()
    size = int.from_bytes(data[8:12], "little")
    model = read_root("Model", data[64 : 64 + size])
    (net,) = model["net"]
    (parameter,) = net["parameter"]
    assert (model["chip"], net["addr_mode"]) == ("BM1688", 2)
    assert parameter["coeff_mem"]["address"] == 0x90_0000_0000
    assert parameter["ctx_addr"] == 0xA0_0000_0000
    tags = [t["device_addr"] >> 36 & 7 for t in parameter["input_tensor"]]
    tags += [t["device_addr"] >> 36 & 7 for t in parameter["output_tensor"]]
    assert tags == list(range(3, 3 + len(tags)))
    forms = load_instruction_set("bm1688").forms.values()
    assert not any("cmd_id" in form.by_name for form in forms)
    dependencies = {f.by_name["cmd_id_dep"].width for f in forms if "cmd_id_dep" in f.by_name}
    assert dependencies == {24}
    assert {form.engine for form in forms} == set(Engine)
