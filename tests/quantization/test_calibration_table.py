"""The text of calibration tables, in both directions."""

import gzip
from pathlib import Path

import pytest

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.passes.calibration.table import LARGEST, parse_table, read_table

TABLES = Path(__file__).parents[1] / "data" / "calibration"


@pytest.mark.parametrize("name", ["mobilenetv2_100", "resnet50", "swin_t"])
def test_real_tables_are_read_and_written_unchanged(name: str) -> None:
    text = (TABLES / f"{name}.cali").read_text()
    table = parse_table(text, name)
    assert table.text() == text
    one = table.thresholds["input"]
    assert (one.threshold, one.min, one.max) == (4.8521175, -4.8521175, 4.4760108)


def test_a_name_may_contain_blanks() -> None:
    table = parse_table("a name 1.5 -1.5 1.0\n")
    assert table.thresholds["a name"].threshold == 1.5


def test_infinite_bounds_become_the_largest() -> None:
    one = parse_table("x inf -inf inf\n").thresholds["x"]
    assert (one.threshold, one.min, one.max) == (LARGEST, -LARGEST, LARGEST)


def test_blocks_behind_the_thresholds_are_kept() -> None:
    line = "x 1.0000000 0.0000000 1.0000000"
    text = f"# op_name    threshold    min    max\n{line}\n#weight_scale\nx_weight 1 2\n"
    table = parse_table(text)
    assert list(table.thresholds) == ["x"]
    assert table.text() == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a calibration table"),
        ("# only comments\n", "is not a calibration table"),
        ("x 1.0 2.0\n", "t:1: expected 'name threshold min max', found 'x 1.0 2.0'"),
        ("x one two three\n", "t:1: expected"),
        ("x nan 0 1\n", "t:1: tensor 'x' has no valid range: nan 0 1"),
        ("x 1 2 1\n", "has no valid range"),
        ("x -1 0 1\n", "has no valid range"),
        ("x 1 0 1\n\nx 2 0 2\n", "t:3: tensor 'x' has a line already"),
    ],
)
def test_what_is_no_table_is_refused(text: str, message: str) -> None:
    with pytest.raises(TpuError, match=message.replace("(", r"\(")):
        parse_table(text, "t")


def test_binary_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_bytes(gzip.compress(b"x 1 0 1"))
    with pytest.raises(TpuError, match="cannot be read"):
        read_table(path)
