"""tpu-calibrate as a command, and tpu-compile with what it wrote."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from tests.tools.running import Done, Run


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    np.savez(tmp_path / "x.npz", image=rng.standard_normal((5, 3, 40, 24)).astype(np.float32))
    return tmp_path / "x.npz"


def test_the_console_script_writes_a_table(
    tool: Run, models: Path, samples: Path, tmp_path: Path
) -> None:
    table = tmp_path / "cnn.cali"
    done = tool("tpu-calibrate", models / "cnn.onnx", "--dataset", samples, "-o", table)
    assert (done.status, done.out) == (0, "")
    assert "tensors, written to" in done.err
    lines = table.read_text().splitlines()
    assert "# sample number: 5" in lines
    assert "# op_name    threshold    min    max" in lines
    assert any(line.startswith("image ") for line in lines)


@pytest.mark.parametrize("method", ["percentile", "kl", "mse"])
def test_methods_that_need_histograms(
    call: Run, models: Path, samples: Path, tmp_path: Path, method: str
) -> None:
    table = tmp_path / "t"
    arguments = ("--dataset", samples, "-o", table, "--num", 2, "--method", method, "--quiet")
    done = call("tpu-calibrate", models / "cnn.onnx", *arguments)
    assert (done.status, done.out, done.err) == (0, "", "")
    assert f"method: {method}" in table.read_text()
    assert "# sample number: 2" in table.read_text()


def test_a_folder_of_files_and_top_ir(
    call: Run, models: Path, samples: Path, tmp_path: Path
) -> None:
    compiled, data = tmp_path / "out", tmp_path / "data"
    assert call("tpu-compile", models / "cnn.onnx", "-o", compiled, "--quiet").status == 0
    data.mkdir()
    for index, sample in enumerate(np.load(samples)["image"]):
        np.save(data / f"{index}.npy", sample[np.newaxis])
    tables = [tmp_path / "one", tmp_path / "other"]
    for model, where, table in (
        (models / "cnn.onnx", samples, tables[0]),
        (compiled / "top.mlir", data, tables[1]),
    ):
        arguments = ("--dataset", where, "-o", table, "--engine", "interpreter", "--quiet")
        assert call("tpu-calibrate", model, *arguments).status == 0
    one, other = (table.read_text().splitlines() for table in tables)
    assert one == other


BAD = {
    "nan": np.full((1, 3, 40, 24), np.nan, np.float32),
    "shape": np.zeros((1, 3, 8, 8), np.float32),
    "text": np.array(["a"]),
    "huge": np.full((1, 3, 40, 24), 1e300),
    "empty": np.zeros((0, 3, 40, 24), np.float32),
}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nan", "nan.npy: image contains NaN or infinity"),
        ("huge", "huge.npy: image has numbers beyond those of f32"),
        ("shape", "shape.npy: image has shape 1x3x8x8; the model takes 1x3x40x24"),
        ("text", "text.npy: image has elements of <U1, not numbers"),
        ("empty", "empty.npy: image holds no sample"),
    ],
)
def test_bad_data(call: Run, models: Path, tmp_path: Path, name: str, message: str) -> None:
    np.save(tmp_path / f"{name}.npy", BAD[name])
    done = call(
        "tpu-calibrate", models / "cnn.onnx", "--dataset", tmp_path / f"{name}.npy",
        "-o", tmp_path / "t",
    )  # fmt: skip
    assert done.status == 1
    assert message in done.err
    assert done.err.count("error:") == 1
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("absent.onnx", "--dataset", "DATA"), "absent.onnx: no such file"),
        (("MODEL", "--dataset", "absent.npz"), "absent.npz: no such file or folder"),
        (("MODEL", "--dataset", "EMPTY"), "no .npz or .npy file and no image in this folder"),
        (
            ("MODEL", "--dataset", "MODEL"),
            "no readable .npz or .npy file of arrays (it is none, or holds",
        ),
        (("top.mlir", "--dataset", "DATA"), "no such file"),
    ],
)
def test_missing_files(
    call: Run,
    models: Path,
    samples: Path,
    tmp_path: Path,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    (tmp_path / "empty").mkdir()
    names = {"MODEL": models / "cnn.onnx", "DATA": samples, "EMPTY": tmp_path / "empty"}
    given = [names.get(argument, argument) for argument in arguments]
    done = call("tpu-calibrate", *given, "-o", tmp_path / "t")
    assert done.status == 1
    assert message in done.err


def test_an_input_without_an_array(call: Run, models: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.zeros(3), b=np.zeros(3))
    done = call(
        "tpu-calibrate", models / "cnn.onnx", "--dataset", tmp_path / "x.npz", "-o", tmp_path / "t"
    )
    assert done.status == 1
    assert "no array for input 'image'; it has a, b" in done.err


def test_patterns_left_out_leave_other_tensors(
    call: Run, models: Path, samples: Path, tmp_path: Path
) -> None:
    model, table, without = models / "cnn.onnx", tmp_path / "t", ("--disable-pass", "FuseRelu")
    compiled = ("tpu-compile", model, "--quantize", "INT8", "-o", tmp_path / "out", *without)
    calibrated = ("tpu-calibrate", model, "--dataset", samples, "-o", table)
    assert call(*calibrated).status == 0
    done = call(*compiled, "--calibration-table", table)
    assert done.status == 1
    assert "and the same --disable-pass:\n  stem_Conv" in done.err
    assert call(*calibrated, *without).status == 0
    assert "\nstem_Conv " in table.read_text()
    assert call(*compiled, "--calibration-table", table).status == 0
    done = call(*calibrated, "--disable-pass", "FuseEverything")
    assert done.status == 1
    assert "FuseEverything" in done.err


def test_int8_needs_a_table_of_this_model(
    call: Run, models: Path, samples: Path, tmp_path: Path
) -> None:
    table, output = tmp_path / "t", tmp_path / "out"
    quantize = ("--quantize", "INT8", "-o", output)
    done = call("tpu-compile", models / "cnn.onnx", *quantize)
    assert done.status == 1
    assert "give tpu-compile a --calibration-table" in done.err
    made = call("tpu-calibrate", models / "cnn.onnx", "--dataset", samples, "-o", table)
    assert made.status == 0
    done = call("tpu-compile", models / "transformer.onnx", *quantize, "--calibration-table", table)
    assert done.status == 1
    assert "tensors; make a table for this model with tpu-calibrate" in done.err
    done = call(
        "tpu-compile", models / "cnn.onnx", *quantize, "--calibration-table", tmp_path / "absent"
    )
    assert "absent: no such file; make one with tpu-calibrate" in done.err
    modes = tmp_path / "modes"
    modes.write_text("logits F17\n")
    done = call(
        "tpu-compile", models / "cnn.onnx", *quantize, "--calibration-table", table,
        "--quantize-table", modes,
    )  # fmt: skip
    assert "modes:1: mode F17 is not one of F32, F16, BF16, INT8" in done.err
    modes.write_text("elsewhere F16\n")
    done = call(
        "tpu-compile", models / "cnn.onnx", *quantize, "--calibration-table", table,
        "--quantize-table", modes,
    )  # fmt: skip
    assert "none of its 1 ops is in the model" in done.err
    assert not output.exists()
    modes.write_text("logits F16\nelsewhere F16\n")
    done = call(
        "tpu-compile", models / "cnn.onnx", *quantize, "--calibration-table", table,
        "--quantize-table", modes,
    )  # fmt: skip
    assert done.status == 0
    assert (
        "1 of its lines names no op of the model, and counts for nothing: 'elsewhere'" in done.err
    )


def suggested(
    call: Run, models: Path, samples: Path, folder: Path, target: float
) -> tuple[Done, Path]:
    table = folder / "cnn.cali"
    wanted = ("--suggest-mixed", "--target-cosine", target)
    done = call("tpu-calibrate", models / "cnn.onnx", "--dataset", samples, "-o", table, *wanted)
    return done, table.with_suffix(".qtable")


def test_a_mixed_table_reaches_the_target_and_says_what_it_costs(
    call: Run, models: Path, samples: Path, tmp_path: Path
) -> None:
    done, table = suggested(call, models, samples, tmp_path, 0.99998)
    assert done.status == 0, done.err
    found = re.search(
        r"(\d+) layers in F16, .*cosine ([0-9.]+) -> ([0-9.]+), cycles ([0-9,]+) -> ([0-9,]+)",
        done.out.replace("\n", " "),
    )
    assert found is not None, done.out
    assert float(found[2]) < 0.99998 <= float(found[3])
    modes = [line.split() for line in table.read_text().splitlines() if line[0] != "#"]
    assert len(modes) == int(found[1]) >= 1
    assert all(mode == "F16" for _, mode in modes)
    out = tmp_path / "out"
    tables = ("--calibration-table", tmp_path / "cnn.cali", "--quantize-table", table)
    arguments = ("--quantize", "INT8", *tables, "-o", out, "--quiet")
    assert call("tpu-compile", models / "cnn.onnx", *arguments).status == 0
    report = tmp_path / "report.json"
    assert call("tpu-run", out, "--report", report, "--quiet").status == 0
    assert json.loads(report.read_text())["cycles"] == int(found[5].replace(",", ""))


def test_nothing_is_suggested_where_8_bits_will_do(call: Run, models: Path, tmp_path: Path) -> None:
    """A network that meets the target, and is not faster with any of its layers in F16."""
    table = tmp_path / "heads.qtable"
    arguments = ("--dataset", "random", "-o", table.with_suffix(".cali"))
    wanted = ("--suggest-mixed", "--target-cosine", 0.9)
    done = call("tpu-calibrate", models / "heads.onnx", *arguments, *wanted)
    assert done.status == 0, done.err
    assert "0 layers in F16" in done.out
    assert all(line[0] == "#" for line in table.read_text().splitlines())


def test_a_target_beyond_f16_takes_f32(
    call: Run, models: Path, samples: Path, tmp_path: Path
) -> None:
    done, table = suggested(call, models, samples, tmp_path, 0.9999999999)
    assert done.status == 0, done.err
    assert "layers in F32" in done.out
    modes = [line.split()[1] for line in table.read_text().splitlines() if line[0] != "#"]
    assert set(modes) == {"F32"}


def test_biases_are_corrected(call: Run, models: Path, samples: Path, tmp_path: Path) -> None:
    """The mean of what each channel of a layer gives comes closer to the float network's."""
    table = tmp_path / "cnn.cali"
    options = ("--dataset", samples, "-o", table, "--bias-correction")
    done = call("tpu-calibrate", models / "cnn.onnx", *options)
    assert done.status == 0, done.err
    assert "method max, biases corrected: cosine 0.99" in done.out
    block = table.read_text().partition("#bias_correction\n")[2].splitlines()
    assert len(block) >= 2
    assert all(len(line.split()) == 2 for line in block)


def test_one_command_calibrates_and_compiles(
    call: Run, models: Path, samples: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    options = ("--quantize", "INT8", "--calibrate-with", samples, "--min-cosine", "0.99998")
    done = call("tpu-compile", models / "cnn.onnx", *options, "-o", out)
    assert done.status == 0, done.err
    assert "on the samples" in done.out
    layers = json.loads((out / "compile.json").read_text())["layers"]
    assert layers["in_float"]
    assert {one["mode"] for one in layers["in_float"]} <= {"F16", "BF16", "F32"}
    assert f"{len(layers['in_float'])} are not: " in done.out.replace("\n", " ")
    again = tmp_path / "again"
    tables = ("--calibration-table", out / "calibration.cali")
    modes = ("--quantize-table", out / "calibration.qtable")
    done = call(
        *("tpu-compile", models / "cnn.onnx", "--quantize", "INT8", *tables, *modes, "-o", again)
    )
    assert done.status == 0, done.err
    assert (again / "model.bmodel").read_bytes() == (out / "model.bmodel").read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--min-cosine", "0.9"), "--min-cosine needs samples"),
        (("--quantize", "F32", "--calibrate-with", "random"), "formats narrower than F32"),
        (("--quantize", "BF16", "--calibrate-with", "random"), "needs --min-cosine"),
        (("--calibrate-with", "random", "--calibration-table", "t"), "makes the tables itself"),
        (("--calibrate-with", "absent"), "absent: no such file or folder"),
    ],
)
def test_options_of_the_one_command(
    call: Run, models: Path, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    out = tmp_path / "out"
    done = call("tpu-compile", models / "cnn.onnx", "--quantize", "INT8", *options, "-o", out)
    assert done.status == 1
    assert message in done.err
    assert not out.exists()


@pytest.mark.parametrize("option", ["--percentile", "--target-cosine"])
def test_options_of_what_is_not_asked_for(
    call: Run, models: Path, tmp_path: Path, option: str
) -> None:
    arguments = ("--dataset", "random", "-o", tmp_path / "t", option, "0.9")
    done = call("tpu-calibrate", models / "cnn.onnx", *arguments)
    assert (done.status, (tmp_path / "t").exists()) == (2, False)
    assert f"{option} is for --" in done.err
