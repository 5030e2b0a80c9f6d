"""What becomes of an image before a network sees it, as `top.Input` and model zoos say it."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from xdsl_tpu.dialects.attrs import floats, ints
from xdsl_tpu.dialects.errors import TpuError

if TYPE_CHECKING:  # it takes longer to import than everything else that reads a command line
    from xdsl_tpu.dialects import top

CHANNELS = {"rgb": 3, "bgr": 3, "gray": 1, "rgba": 4}
"""Orders of channels that files of images can be brought to."""

CHOICES = {
    "pixel_format": tuple(CHANNELS),
    "channel_format": ("nchw", "nhwc"),
    "keep_ratio_mode": ("letterbox", "short_side_scale"),
    "pad_type": ("center", "normal"),
    "interpolation": ("bilinear", "bicubic", "nearest"),
}

LARGEST_PIXEL = 255
_NUMBERS = ("mean", "scale", "std")


@dataclass(frozen=True)
class Preprocess:
    """How pixels from 0 to 255 become a network's input.

    An image is resized to `resize_dims` (rows, columns; by default what the network takes). With
    `keep_aspect_ratio` it fits inside, framed with `pad_value` (`letterbox`; the image in the
    middle, or with `pad_type` `normal` in the first corner), or covers them and loses its edges
    (`short_side_scale`). The middle of that, as large as the network's input, goes on in the order
    of `pixel_format`, as (x - mean) * scale, channels before rows or behind columns
    (`channel_format`). `mean` and `scale` have one number a channel, in that order, or one for all.

    The names and their meaning are those of tpu-mlir's `model_transform`.
    """

    mean: tuple[float, ...] = (0.0,)
    scale: tuple[float, ...] = (1.0,)
    resize_dims: tuple[int, int] | None = None
    keep_aspect_ratio: bool = False
    keep_ratio_mode: str = "letterbox"
    pad_value: int = 0
    pad_type: str = "center"
    pixel_format: str = "rgb"
    channel_format: str = "nchw"
    interpolation: str = "bilinear"


Given = Mapping[str, Any]
"""Some fields of a `Preprocess` by name, and `std` in place of `scale`."""

NAMES = (*(one.name for one in fields(Preprocess)), "std")


def preprocess_of(given: Given, entry: "top.InputOp | None" = None) -> Preprocess:
    """What was given, and what an input says of itself where nothing was.

    `std` stands for PyTorch's way of saying it: `mean` and `std` are of pixels from 0 to 1.
    Raises TpuError for what is unknown or has no meaning, and when nobody says how pixels become
    numbers: a calibration on pixels that the network never sees would be worthless.
    """
    checked = {name: _checked(name, value) for name, value in given.items()}
    said = _said_by(entry)
    if not any(said.get("mean", ())) and all(one == 1 for one in said.get("scale", ())):
        said = {}  # as importers write it where nobody has said anything
    if not checked.keys() & set(_NUMBERS) and not said:
        raise TpuError(
            "images need to be told how a network takes them: give --mean with --scale or --std, "
            "or --preprocess FILE.toml (--scale 1 for pixels from 0 to 255 as they are)"
        )
    if "std" in checked:
        if "scale" in checked:
            raise TpuError("preprocessing with both scale and std: give one of them")
        checked["scale"] = tuple(1 / (LARGEST_PIXEL * std) for std in checked.pop("std"))
        checked["mean"] = tuple(LARGEST_PIXEL * mean for mean in checked.get("mean", (0.0,)))
    return Preprocess(**{**said, **checked})


def preprocess_file(path: Path) -> Given:
    """The fields that a TOML file gives. Raises TpuError for what is none, and names its place."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise TpuError(f"{path}: no readable TOML file ({error})") from error
    try:
        return {name: _checked(name, value) for name, value in given.items()}
    except TpuError as error:
        raise TpuError(f"{path}: {error}") from error


def _said_by(entry: "top.InputOp | None") -> dict[str, Any]:
    if entry is None or entry.pixel_format is None:
        return {}
    flag = entry.keep_aspect_ratio
    texts = (
        ("pixel_format", entry.pixel_format),
        ("channel_format", entry.channel_format),
        ("keep_ratio_mode", entry.keep_ratio_mode),
        ("pad_type", entry.pad_type),
    )
    said: dict[str, Any] = {name: text.data for name, text in texts if text is not None}
    if entry.mean is not None and len(entry.mean):
        said["mean"] = floats(entry.mean)
    if entry.scale is not None and len(entry.scale):
        said["scale"] = floats(entry.scale)
    if entry.pad_value is not None:
        said["pad_value"] = entry.pad_value.value.data
    if flag is not None:
        said["keep_aspect_ratio"] = bool(flag)
    checked = {name: _checked(name, value) for name, value in said.items()}
    sizes = () if entry.resize_dims is None else ints(entry.resize_dims)
    return checked | ({"resize_dims": sizes} if len(sizes) == 2 else {})


def _checked(name: str, value: object) -> Any:
    """A field's value as `Preprocess` keeps it."""
    if name in _NUMBERS:
        numbers = _numbers(value)
        if not numbers or not all(map(math.isfinite, numbers)):
            raise TpuError(f"{name} {value!r} is not a number, or one for each channel")
        if name != "mean" and 0 in numbers:
            raise TpuError(f"{name} is 0: every pixel would be the same")
        return numbers
    if name == "resize_dims":
        sizes = _numbers(value)
        if len(sizes) != 2 or any(size < 1 or size != int(size) for size in sizes):
            raise TpuError(f"resize_dims {value!r} is not rows and columns, as 256x256")
        return int(sizes[0]), int(sizes[1])
    if name == "keep_aspect_ratio":
        if not isinstance(value, bool):
            raise TpuError(f"keep_aspect_ratio {value!r} is neither true nor false")
        return value
    if name == "pad_value":
        if not isinstance(value, int) or not 0 <= value <= LARGEST_PIXEL:
            raise TpuError(f"pad_value {value!r} is not from 0 to {LARGEST_PIXEL}")
        return value
    if name not in CHOICES:
        raise TpuError(f"no such preprocessing: '{name}'; there is {', '.join(NAMES)}")
    if value not in CHOICES[name]:
        raise TpuError(f"{name} {value!r} is none of {', '.join(CHOICES[name])}")
    return value


def _numbers(value: object) -> tuple[float, ...]:
    """Numbers in a list, in a text with commas or an x between them, or one alone."""
    if isinstance(value, str):
        values: Sequence[object] = value.replace("x", ",").split(",")
    elif isinstance(value, list | tuple):
        values = cast("Sequence[object]", value)
    else:
        values = (value,)
    try:
        return tuple(float(cast("float", one)) for one in values)
    except (TypeError, ValueError):
        return ()
