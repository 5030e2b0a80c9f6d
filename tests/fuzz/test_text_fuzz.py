"""Damaged IR: `tpu-opt` prints it, or gives one message; it never falls over.

The suite tries 60 texts; `make fuzz` sets XDSL_TPU_FUZZ to try as many as it says, with other
random numbers each time.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fuzz.limits import limited
from tests.tools.small_models import MODELS

from xdsl_tpu.tools.compile_model import compile_model
from xdsl_tpu.tools.tpu_opt import main

TEXTS = int(os.environ.get("XDSL_TPU_FUZZ", "0"))
STAGES = ("top", "tpu", "final", "tile")
PASSES: Sequence[Sequence[str]] = (
    (),
    (),
    ("--canonicalize",),
    ("--shape-infer", "--canonicalize"),
    ("--processor-assign=mode=F16 chip=bm1684x", "--convert-top-to-tpu"),
    ("--verify-addresses", "--verify-layer-groups"),
    ("--lower-to-tile", "--verify-tile-programs"),
    ("--print-op-generic",),
)
_WORD = re.compile(r"[\w.]+|%\w+|[^\s\w]")
_NUMBER = re.compile(r"\d+")
PIECES = (
    *("", "(", ")", "{", "}", "<", ">", "[", "]", ",", ":", "->", "%0", "%", "#", '"', "loc(", "x"),
    *("none", "tensor<", "f32", "-", "0", "\0", "é", "!quant", "i64", "//", "= ", "1x", "?"),
)
NUMBERS = ("0", "1", "-1", "2", "7", "65536", "9223372036854775808", "1e400", "00")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The IR of every stage of two small networks, without their weights."""
    folder = tmp_path_factory.mktemp("text")
    found: dict[str, str] = {}
    for name in ("cnn", "transformer"):
        (folder / f"{name}.onnx").write_bytes(MODELS[name]().SerializeToString())
        compile_model(folder / f"{name}.onnx", folder / name, "F16", "bm1684x")
        final, tiles = (str(folder / name / f"{stage}.mlir") for stage in ("final", "tile"))
        with pytest.raises(SystemExit, match="0"):
            main([final, "--lower-to-tile", "-o", tiles])
        for stage in STAGES:
            found[f"{name} {stage}"] = (folder / name / f"{stage}.mlir").read_text()
    return found


@st.composite
def damages(draw: st.DrawFn) -> list[tuple[int, int, int, str]]:
    """Up to four changes: kind, two places in thousandths of the text, what comes in."""
    place = st.integers(0, 9999)
    word = st.one_of(st.sampled_from(PIECES), st.text(max_size=3))
    change = st.tuples(st.integers(0, 6), place, place, word)
    return draw(st.lists(change, min_size=1, max_size=4))


def damaged(text: str, changes: Sequence[tuple[int, int, int, str]]) -> str:
    """The text after all changes."""
    for kind, one, two, word in changes:
        text = _changed(text, kind, one, two, word)
    return text


def _changed(text: str, kind: int, one: int, two: int, word: str) -> str:
    lines = text.splitlines(keepends=True)
    words = list(_WORD.finditer(text))
    numbers = list(_NUMBER.finditer(text))
    if not (lines and words and numbers):
        return text + word
    here, there = (words[n % len(words)] for n in (one * 37 + two, two * 41 + one))
    match kind:
        case 0:  # cut off
            return text[: len(text) * one // 10000]
        case 1:  # a line less
            del lines[one % len(lines)]
            return "".join(lines)
        case 2:  # a line twice, elsewhere
            lines.insert(two % len(lines), lines[one % len(lines)])
            return "".join(lines)
        case 3:  # another number
            number = numbers[(one * 31 + two) % len(numbers)]
            other = NUMBERS[two % len(NUMBERS)]
            return text[: number.start()] + other + text[number.end() :]
        case 4:  # a word of the text in another's place
            return text[: here.start()] + there[0] + text[here.end() :]
        case 5:  # something in a word's place
            return text[: here.start()] + word + text[here.end() :]
        case _:  # two lines change places
            a, b = one % len(lines), two % len(lines)
            lines[a], lines[b] = lines[b], lines[a]
            return "".join(lines)


@settings(
    max_examples=TEXTS or 60,
    derandomize=not TEXTS,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(st.integers(0, 7), damages(), st.sampled_from(PASSES))
def test_one_message_or_a_result(
    texts: dict[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    which: int,
    changes: list[tuple[int, int, int, str]],
    passes: Sequence[str],
) -> None:
    path = tmp_path / "in.mlir"
    path.write_text(damaged(list(texts.values())[which], changes), "utf-8", "surrogatepass")
    with limited(), pytest.raises(SystemExit) as stopped:
        main([str(path), *passes])
    out, err = capsys.readouterr()
    assert stopped.value.code in (0, 1)
    assert "Traceback" not in err
    assert "internal error" not in err, err
    if stopped.value.code:
        assert out == ""
        assert len([line for line in err.splitlines() if line.startswith("error: ")]) == 1
