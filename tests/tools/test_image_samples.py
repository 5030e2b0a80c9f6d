"""Images as samples of a calibration and as the input of a run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from tests.tools.running import Run

import xdsl_tpu as xt
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.passes.calibration.table import CalibrationTable, read_table
from xdsl_tpu.tools.image_files import ImageReader
from xdsl_tpu.tools.preprocess import preprocess_file, preprocess_of

NCHW, NHWC = (1, 3, 4, 6), (1, 4, 6, 3)


def picture(path: Path, rows: int, columns: int, seed: int = 0) -> npt.NDArray[Any]:
    """Random pixels, saved without loss."""
    pixels = np.random.default_rng(seed).integers(0, 256, (rows, columns, 3), np.uint8)
    Image.fromarray(pixels).save(path)
    return pixels


def values(path: Path, shape: tuple[int, ...], **given: Any) -> npt.NDArray[Any]:
    return ImageReader("x", shape, preprocess_of({"scale": 1, **given})).read(path)


def test_pixels_come_as_channels_in_either_order_and_layout(tmp_path: Path) -> None:
    pixels = picture(tmp_path / "a.png", 4, 6).astype(np.float32)
    planes = pixels.transpose(2, 0, 1)[np.newaxis]
    assert (values(tmp_path / "a.png", NCHW) == planes).all()
    assert (values(tmp_path / "a.png", NCHW, pixel_format="bgr") == planes[:, ::-1]).all()
    packed = values(tmp_path / "a.png", NHWC, channel_format="nhwc")
    assert (packed == pixels).all()


def test_mean_and_scale_belong_to_the_network_s_order_of_channels(tmp_path: Path) -> None:
    pixels = picture(tmp_path / "a.png", 4, 6).astype(np.float64)
    means, scales = [10.0, 20.0, 30.0], [0.5, 0.25, 2.0]
    found = values(tmp_path / "a.png", NCHW, pixel_format="bgr", mean=means, scale=scales)
    for channel, (mean, scale) in enumerate(zip(means, scales, strict=True)):
        wanted = (pixels[..., 2 - channel] - mean) * scale
        assert found[0, channel] == pytest.approx(wanted, rel=1e-6)


def test_pytorch_s_std_is_the_same_as_a_scale(tmp_path: Path) -> None:
    picture(tmp_path / "a.png", 4, 6)
    means, stds = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
    one = ImageReader("x", NCHW, preprocess_of({"mean": means, "std": stds}))
    scales = [1 / (255 * std) for std in stds]
    other = values(tmp_path / "a.png", NCHW, mean=[255 * mean for mean in means], scale=scales)
    assert one.read(tmp_path / "a.png") == pytest.approx(other, abs=1e-6)


def test_an_image_is_stretched_or_framed_or_cut(tmp_path: Path) -> None:
    """A white square of 8x8 for a network of 4x8: halved in rows, framed left and right, cut."""
    Image.new("RGB", (8, 8), (255, 255, 255)).save(tmp_path / "a.png")
    shape, keeps = (1, 3, 4, 8), {"keep_aspect_ratio": True}
    assert (values(tmp_path / "a.png", shape) == 255).all()
    framed = values(tmp_path / "a.png", shape, pad_value=7, **keeps)
    assert (framed[..., 2:6] == 255).all()
    assert (np.delete(framed, range(2, 6), -1) == 7).all()
    corner = values(tmp_path / "a.png", shape, pad_type="normal", **keeps)
    assert (corner == np.array([255] * 4 + [0] * 4)).all()
    cut = values(tmp_path / "a.png", shape, keep_ratio_mode="short_side_scale", **keeps)
    assert (cut == 255).all()


def test_the_middle_of_a_larger_image_goes_on(tmp_path: Path) -> None:
    pixels = picture(tmp_path / "a.png", 8, 10)
    found = values(tmp_path / "a.png", NCHW, resize_dims="8x10")
    assert (found[0].transpose(1, 2, 0) == pixels[2:6, 2:8]).all()


def test_cameras_note_which_side_is_up(tmp_path: Path) -> None:
    image = Image.fromarray(picture(tmp_path / "a.png", 6, 4))
    turned = Image.Exif()
    turned[0x0112] = 6  # its first row is the right side
    image.save(tmp_path / "b.png", exif=turned)
    plain = values(tmp_path / "a.png", (1, 3, 6, 4))
    assert (values(tmp_path / "b.png", NCHW) == np.rot90(plain, -1, (2, 3))).all()


def test_gray_images_and_colours_become_one_another(tmp_path: Path) -> None:
    Image.new("L", (6, 4), 9).save(tmp_path / "gray.png")
    assert (values(tmp_path / "gray.png", NCHW) == 9).all()
    Image.new("RGB", (6, 4), (9, 9, 9)).save(tmp_path / "rgb.png")
    gray = values(tmp_path / "rgb.png", (2, 1, 4, 6), pixel_format="gray", keep_aspect_ratio=True)
    assert gray.shape == (2, 1, 4, 6)
    assert (gray == 9).all()


UNKNOWN: list[tuple[Mapping[str, Any], str]] = [
    ({}, "images need to be told how a network takes them"),
    ({"scale": 0}, "scale is 0"),
    ({"mean": "1,x"}, "mean '1,x' is not a number"),
    ({"mean": float("nan")}, "mean nan is not a number"),
    ({"scale": 1, "std": 1}, "both scale and std"),
    ({"scale": 1, "resize_dims": "4"}, "resize_dims '4' is not rows and columns"),
    ({"scale": 1, "pad_value": 256}, "pad_value 256 is not from 0 to 255"),
    ({"scale": 1, "keep_aspect_ratio": "no"}, "neither true nor false"),
    ({"scale": 1, "pixel_format": "yuv"}, "'yuv' is none of rgb, bgr, gray, rgba"),
    ({"scale": 1, "means": 1}, "no such preprocessing: 'means'; there is mean, scale"),
]


@pytest.mark.parametrize(("given", "message"), UNKNOWN)
def test_preprocessing_that_means_nothing(given: Mapping[str, Any], message: str) -> None:
    with pytest.raises(TpuError, match=message):
        preprocess_of(given)


@pytest.mark.parametrize(
    ("shape", "given", "message"),
    [
        ((1, 3, 4), {}, "input 'x' of 1x3x4 takes no images"),
        (NHWC, {}, "input 'x' of 1x4x6x3 has 4 channels as nchw, and rgb has 3"),
        (NCHW, {"mean": [1, 2]}, "mean has 2 numbers"),
        (NCHW, {"resize_dims": [3, 9]}, "resize_dims 3x9 is less than what input 'x' takes, 4x6"),
    ],
)
def test_preprocessing_that_does_not_fit(
    shape: tuple[int, ...], given: Mapping[str, Any], message: str
) -> None:
    with pytest.raises(TpuError, match=message):
        ImageReader("x", shape, preprocess_of({"scale": 1, **given}))


def test_files_that_are_no_images(tmp_path: Path) -> None:
    picture(tmp_path / "a.png", 40, 60)
    whole = (tmp_path / "a.png").read_bytes()
    (tmp_path / "cut.png").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.jpg").write_text("no image")
    Image.fromarray(np.zeros((4, 6), np.uint16)).save(tmp_path / "deep.png")
    for name, message in (
        ("cut.png", "no readable image"),
        ("text.jpg", "no readable image"),
        ("deep.png", "more than 8 bits"),
    ):
        with pytest.raises(TpuError, match=f"{name}: {message}"):
            values(tmp_path / name, NCHW)


# --- as users give them ----------------------------------------------------------------------

TOML = """mean = [123.675, 116.28, 103.53]
scale = [0.0171, 0.0175, 0.0174]
keep_aspect_ratio = true
resize_dims = [48, 48]
"""


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """A folder of two classes, as data sets come."""
    for index, name in enumerate(("cats", "dogs", "dogs")):
        folder = tmp_path / "photos" / name
        folder.mkdir(parents=True, exist_ok=True)
        picture(folder / f"{index}.PNG", 50 + index, 40, index)
    (tmp_path / "photos" / "README").write_text("read by nobody")
    (tmp_path / "p.toml").write_text(TOML)
    return tmp_path / "photos"


def test_a_folder_of_images_gives_the_table_of_its_arrays(
    call: Run, models: Path, photos: Path, tmp_path: Path
) -> None:
    given, table = ("--preprocess", tmp_path / "p.toml"), tmp_path / "images"
    arguments = ("tpu-calibrate", models / "cnn.onnx", "--quiet", "--dataset")
    assert call(*arguments, photos, *given, "-o", table).status == 0
    reader = ImageReader(
        "image", (1, 3, 40, 24), preprocess_of(preprocess_file(tmp_path / "p.toml"))
    )
    files = sorted(photos.rglob("*.PNG"))
    np.save(tmp_path / "x.npy", np.stack([reader.read(file) for file in files]))
    assert call(*arguments, tmp_path / "x.npy", "-o", tmp_path / "arrays").status == 0
    assert table.read_text() == (tmp_path / "arrays").read_text()
    assert "# sample number: 3" in table.read_text()


def test_options_stand_before_the_file(
    call: Run, models: Path, photos: Path, tmp_path: Path
) -> None:
    tables = [tmp_path / "one", tmp_path / "other"]
    told = ("--preprocess", tmp_path / "p.toml")
    for table, more in zip(tables, ((), ("--std", "1", "--mean=0,0,0")), strict=True):
        arguments = ("--dataset", photos, "-o", table, "--num", 1, "--quiet", *told, *more)
        assert call("tpu-calibrate", models / "cnn.onnx", *arguments).status == 0
    first, second = (read_table(table).thresholds["image"] for table in tables)
    assert first.min < 0 <= second.min
    assert second.max <= 1


def test_an_input_that_says_how_it_is_prepared(
    call: Run, models: Path, photos: Path, tmp_path: Path
) -> None:
    """Top IR as the vendor's converter writes it."""
    compiled = tmp_path / "out"
    assert call("tpu-compile", models / "cnn.onnx", "-o", compiled, "--quiet").status == 0
    file = compiled / "top.mlir"
    plain = ("tpu-calibrate", file, "--dataset", photos, "-o", tmp_path / "t", "--quiet")
    assert "images need to be told" in call(*plain).err
    text = file.read_text()
    old = "mean = [0.000000e+00, 0.000000e+00, 0.000000e+00]"
    assert old in text
    file.write_text(text.replace(old, "mean = [1.0, 2.0, 3.0]"))
    assert call(*plain).status == 0
    assert read_table(tmp_path / "t").thresholds["image"].max <= 254


def test_compiling_and_running_with_images(
    call: Run, models: Path, photos: Path, tmp_path: Path
) -> None:
    told, folder = ("--preprocess", tmp_path / "p.toml"), tmp_path / "out"
    arguments = ("--quantize", "INT8", "--calibrate-with", photos, *told, "-o", folder)
    assert call("tpu-compile", models / "cnn.onnx", *arguments, "--quiet").status == 0
    assert (folder / "calibration.cali").exists()
    image = next(photos.rglob("*.PNG"))
    limit = ("--compare", models / "cnn.onnx", "--min-cosine", 0.98, "--quiet")
    done = call("tpu-run", folder, "--inputs", image, *told, *limit)
    assert (done.status, done.err) == (0, "")
    done = call("tpu-run", folder, "--inputs", image)
    assert "images need to be told how a network takes them: give --mean" in done.err
    fields = ("--mean=123.675,116.28,103.53", "--scale", "0.0171,0.0175,0.0174")
    done = call("tpu-run", folder, "--inputs", image, *fields, "--keep-aspect-ratio", *limit)
    assert (done.status, done.err) == (0, "")
    done = call("tpu-run", folder, "--mean", "0", "--seed", "1")
    assert (done.status, "--mean is for an image given as --inputs" in done.err) == (2, True)


def test_the_api_takes_them(models: Path, photos: Path, tmp_path: Path) -> None:
    one = xt.calibrate(models / "cnn.onnx", photos, preprocess=tmp_path / "p.toml")
    other = xt.calibrate(
        models / "cnn.onnx",
        photos,
        preprocess={
            "mean": [123.675, 116.28, 103.53],
            "scale": [0.0171, 0.0175, 0.0174],
            "keep_aspect_ratio": True,
            "resize_dims": [48, 48],
        },
    )
    assert isinstance(one, CalibrationTable)
    assert one.text() == other.text()


def test_where_there_is_nothing_to_prepare(
    call: Run, models: Path, photos: Path, tmp_path: Path
) -> None:
    np.save(tmp_path / "x.npy", np.zeros((1, 3, 40, 24), np.float32))
    table = ("-o", tmp_path / "t", "--quiet")
    for arguments, message in (
        (("--dataset", tmp_path / "x.npy", "--mean", 1), "preprocessing (mean) is for images"),
        (("--dataset", "random", "--mean", 1), "preprocessing (mean) is for images"),
        (("--dataset", photos), "images need to be told"),
        (("--dataset", photos, "--preprocess", tmp_path / "no.toml"), "no.toml: no readable TOML"),
    ):
        done = call("tpu-calibrate", models / "cnn.onnx", *arguments, *table)
        assert done.status == 1
        assert message in done.err
    done = call("tpu-compile", models / "cnn.onnx", "--std", "1", "-o", tmp_path / "no")
    assert (done.status, (tmp_path / "no").exists()) == (1, False)
    assert "--std is for --calibrate-with images" in done.err
