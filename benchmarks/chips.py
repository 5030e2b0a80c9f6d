"""Networks on the BM1688: cycles of one core and of two, and the vendor's of its programs.

    python benchmarks/chips.py --models DIR [--only REGEX] [--json FILE]

The vendor's estimate counts transfers of its layer groups at 15 GB/s and all others at 24, and why
is not known. Both ends are given for ours: all at 24 GB/s, which it is planned for, and all at 15.
Of two cores each has all of the bandwidth of DDR, as the vendor counts; beside that what it is when
they share it.
"""

import argparse
import re
import sys
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from figures import json_file, write_json
from networks import EXAMPLES, ToolFailure, run_tool

from xdsl_tpu.backend.bmodel import read_bmodel
from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.timing import Ddr, simulate_program

CHIP = "bm1688"

SLOW = 15 / 24
"""The share of the rate at which the vendor counts Loads and Stores of its layer groups."""

VENDOR = {
    "resnet18": (2_415_265, 1_704_596),
    "deit_tiny_patch16_224": (2_565_183, 2_557_500),
    "mobilenetv3_large_100": (1_060_110, 1_086_890),
    "swin_t": None,
    "resnet50": None,
    "vit_small_patch16_224": None,
}
"""Cycles of the vendor's F16 programs (tpu-mlir 1.30.2) on one core and on two, where known."""


@dataclass(frozen=True)
class Row:
    """Cycles of one network in F16."""

    network: str
    vendor_one_core: int | None
    vendor_two_cores: int | None
    ours: int | None
    ours_at_15: int | None
    ours_two_cores: int | None = None
    ours_two_cores_shared: int | None = None
    message: str = ""


def slowed(chip: Chip) -> Chip:
    """The chip with every transfer from or to DDR at the vendor's lower rate."""
    return replace(
        chip,
        load_bytes_per_cycle=chip.load_bytes_per_cycle * SLOW,
        store_bytes_per_cycle=chip.store_bytes_per_cycle * SLOW,
    )


def cycles(program: Program, chip: Chip, ddr: Ddr = "each") -> int:
    """Until the last core is done."""
    return simulate_program(program, chip, ddr)[0].total


def measured(name: str, models: Path) -> Row:
    """Compile a network and count; the row says so when that is impossible."""
    one, two = VENDOR[name] or (None, None)
    found = [path for folder in (models, EXAMPLES) if (path := folder / f"{name}.onnx").is_file()]
    if not found:
        return Row(name, one, two, None, None, message="the network is not there")
    chip = load_chip(CHIP)
    try:
        alone, both = (compiled(found[0], cores) for cores in (1, 2))
    except ToolFailure as failure:
        return Row(name, one, two, None, None, message=str(failure))
    return Row(
        name,
        one,
        two,
        cycles(alone, chip),
        cycles(alone, slowed(chip)),
        cycles(both, chip),
        cycles(both, chip, "shared"),
    )


def compiled(model: Path, cores: int) -> Program:
    """A network in F16 for some cores. Raises ToolFailure."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ("--quantize", "F16", "--chip", CHIP, "-o", folder, "--quiet")
        run_tool("tpu-compile", model, *arguments, "--cores", str(cores))
        return read_bmodel(Path(folder, "model.bmodel"))


HEADINGS = (
    *("network", "vendor 1", "vendor 2", "ours 1", "at 15 GB/s", "ours 2", "shared", "gain"),
)


def shown(rows: list[Row]) -> str:
    """The rows for a terminal: cycles of one core and of two."""
    lines: list[tuple[str, ...]] = [HEADINGS]
    for row in rows:
        numbers = (
            row.vendor_one_core,
            row.vendor_two_cores,
            row.ours,
            row.ours_at_15,
            row.ours_two_cores,
            row.ours_two_cores_shared,
        )
        texts = ["-" if number is None else f"{number:,}" for number in numbers]
        gain = f"{row.ours / row.ours_two_cores:.2f}" if row.ours and row.ours_two_cores else "-"
        lines.append((row.network, *texts, gain))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            text.rjust(width) if place else text.ljust(width)
            for place, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def main() -> None:
    """Print the table; status 1 when a network that is there did not compile."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--models", type=Path, default=EXAMPLES, metavar="DIR")
    parser.add_argument("--only", default="", metavar="REGEX", help="networks by name")
    parser.add_argument("--json", type=json_file, metavar="FILE")
    args = parser.parse_args()
    rows = [measured(name, args.models) for name in VENDOR if re.search(args.only, name)]
    print(shown(rows))
    write_json(args.json, [asdict(row) for row in rows])
    for row in rows:
        if row.message:
            print(f"{row.network}: {row.message}", file=sys.stderr)
    sys.exit(any(row.message and "not there" not in row.message for row in rows))


if __name__ == "__main__":
    main()
