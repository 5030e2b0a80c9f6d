"""Texts in and out: `tpu-generate --prompt` with a tokenizer in the folder, and without one."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.llm.tiny import write

from xdsl_tpu.frontend.llm.stages import Stages
from xdsl_tpu.tools import tpu_generate
from xdsl_tpu.tools.llm.compile_llm import TOKENIZER, compile_llm

WORDS = {f"word{index}": index for index in range(96)}
SPLIT = {"type": "Whitespace"}
LENGTH = 12


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose tokens are words, compiled with its tokenizer."""
    folder = tmp_path_factory.mktemp("texts")
    model = write(folder / "model", "llama")
    entries: dict[str, Any] = {
        "version": "1.0",
        "added_tokens": [],
        "model": {"type": "WordLevel", "vocab": WORDS, "unk_token": "word0"},
        "pre_tokenizer": SPLIT,
    }
    (model / TOKENIZER).write_text(json.dumps(entries), encoding="utf-8")
    compile_llm(model, folder / "out", None, Stages(LENGTH), "bm1684x")
    return folder / "out"


def generate(*words: str | Path) -> int:
    with pytest.raises(SystemExit) as done:
        tpu_generate.main([str(word) for word in words])
    return int(done.value.code or 0)


def test_a_prompt_is_its_tokens(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reports = [tmp_path / name for name in ("text.json", "ids.json")]
    starts: list[Sequence[str]] = [["--prompt", "word5 word7 word9"], ["--ids", "5", "7", "9"]]
    for start, report in zip(starts, reports, strict=True):
        assert generate(program, *start, "--tokens", "3", "--report", report) == 0
    text, ids = (json.loads(report.read_text()) for report in reports)
    assert text == ids
    assert text["prompt"] == [5, 7, 9]
    assert text["text"] == " ".join(f"word{token}" for token in text["tokens"])
    assert f"word5 word7 word9 {text['text']}" in capsys.readouterr().out


def test_without_a_tokenizer_tokens_are_numbers(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    for one in program.iterdir():
        if one.name != TOKENIZER:
            (bare / one.name).symlink_to(one)
    assert generate(bare, "--ids", "5", "7", "--tokens", "2") == 0
    assert capsys.readouterr().out.startswith("5 7 ")
    assert generate(bare, "--prompt", "word5") == 1
    assert "there is none, so a text has no tokens; give --ids" in capsys.readouterr().err
    (bare / TOKENIZER).write_text("{}", encoding="utf-8")
    assert generate(bare, "--prompt", "word5") == 1
    assert "no tokenizer" in capsys.readouterr().err


WRONG: dict[str, tuple[list[str], str]] = {
    "nothing": ([], "give --prompt TEXT or --ids ID .."),
    "empty": (["--prompt", ""], "the prompt has no tokens"),
    "long": (["--prompt", "word1 " * LENGTH, "--tokens", "2"], "do not fit into the 12"),
    "longer": (["--ids", *map(str, range(13)), "--tokens", "1"], "do not fit into the 12"),
    "vocabulary": (["--ids", "96"], "the model has tokens 0 to 95"),
    "steps": (["--ids", "1", "--lookup", "4"], "compile the model with --steps 4"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_refused(program: Path, case: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, message = WRONG[case]
    assert generate(program, *words, *(() if "--tokens" in words else ("--tokens", "2"))) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert message in said
