"""The arguments that `tpu-compile` has for language models."""

import argparse
from pathlib import Path

LENGTH = 512
"""Tokens of prompt and text, unless --seq says otherwise."""


def add_language_model(parser: argparse.ArgumentParser) -> None:
    """--llm, and what goes with it."""
    parser.add_argument(
        "--llm",
        type=Path,
        metavar="FOLDER",
        help="compile a language model instead: a Hugging Face folder with config.json and "
        ".safetensors files",
    )
    parser.add_argument(
        "--seq", type=int, metavar="N", help=f"with --llm: tokens of prompt and text ({LENGTH})"
    )
    parser.add_argument(
        "--chunk",
        type=int,
        metavar="N",
        help="with --llm: a prompt comes N tokens at a time; histories of N, 2N .. tokens have "
        "nets of their own",
    )
    parser.add_argument(
        "--steps",
        type=int,
        nargs="+",
        metavar="N",
        help="with --llm: decoding nets that take N tokens in one step besides those for one",
    )
    parser.add_argument(
        "--group",
        type=int,
        choices=(32, 64, 128),
        help="of matrices in 4 or 8 bits: weights that share a scale (64; 32 as the model has it)",
    )
    parser.add_argument(
        "--symmetric",
        action="store_true",
        help="of matrices in 4 or 8 bits: zero points in the middle",
    )
    parser.add_argument(
        "--lm-head",
        choices=("F16", "W8", "W4"),
        help="with --llm: format of the output matrix (F16)",
    )
