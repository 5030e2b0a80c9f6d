"""Arguments that say how images become the input of a network."""

import argparse
from pathlib import Path
from typing import Any

from xdsl_tpu.tools.preprocess import CHOICES, Given, preprocess_file

_TEXTS = {
    "mean": ("A[,B,C]", "subtracted from pixels of 0 to 255, for each channel or for all (0)"),
    "scale": ("A[,B,C]", "what they are then multiplied by (1)"),
    "std": ("A[,B,C]", "in place of --scale, as PyTorch has it: pixels are of 0 to 1, mean, too"),
    "resize_dims": ("HxW", "what images are resized to; the middle of the network's size goes on"),
}
_CHOICES = {
    "keep_ratio_mode": "letterbox fits the image in, short_side_scale cuts its longer side",
    "pad_type": "where a letterbox has its image: center, or normal, its first corner",
    "pixel_format": "the order of channels (rgb)",
    "channel_format": "channels before rows or behind columns (nchw)",
    "interpolation": "how pixels are resized (bilinear)",
}


_NAMES = (*_TEXTS, "keep_aspect_ratio", "pad_value", *_CHOICES)


def add_preprocessing(
    parser: argparse.ArgumentParser,
    title: str = "images as samples",
    text: str = "how they become inputs; by default as the top.Input of IR says",
) -> None:
    """--preprocess and an option for each field, in a group of their own."""
    group = parser.add_argument_group(title, text)
    group.add_argument(
        "--preprocess", type=Path, metavar="FILE.toml", help="the options below, by name"
    )
    for name, (metavar, meaning) in _TEXTS.items():
        group.add_argument(_option(name), metavar=metavar, help=meaning)
    group.add_argument(
        "--keep-aspect-ratio", action="store_true", default=None, help="do not stretch images"
    )
    group.add_argument(
        "--pad-value", type=int, metavar="N", help="the pixels that frame a letterbox (0)"
    )
    for name, meaning in _CHOICES.items():
        group.add_argument(_option(name), choices=CHOICES[name], help=meaning)


def preprocessing(args: argparse.Namespace) -> Given:
    """What a command line says, its options before its file. Raises TpuError for a bad file."""
    given: dict[str, Any] = (
        {} if args.preprocess is None else dict(preprocess_file(args.preprocess))
    )
    said = {name: getattr(args, name) for name in _NAMES if getattr(args, name) is not None}
    if said.keys() & {"scale", "std"}:
        given = {name: value for name, value in given.items() if name not in ("scale", "std")}
    return given | said


def options_given(args: argparse.Namespace) -> list[str]:
    """The options of preprocessing that a command line has."""
    names = ("preprocess", *_NAMES)
    return [_option(name) for name in names if getattr(args, name) is not None]


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")
