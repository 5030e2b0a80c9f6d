"""What `REUSE.toml` says of files and licences: others' data are not called ours."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
ANNOTATIONS: list[dict[str, Any]] = tomllib.loads((REPOSITORY / "REUSE.toml").read_text())[
    "annotations"
]
VENDOR = "2022 Sophgo Technologies Inc."


def matched(pattern: str) -> set[str]:
    files = (path for path in REPOSITORY.glob(pattern.replace("/**", "/**/*")) if path.is_file())
    return {path.relative_to(REPOSITORY).as_posix() for path in files}


def holders(file: str) -> list[str]:
    """The last annotation that matches says whose it is."""
    found: list[str] = []
    for one in ANNOTATIONS[1:]:
        if any(file in matched(pattern) for pattern in one["path"]):
            named = one["SPDX-FileCopyrightText"]
            found = [named] if isinstance(named, str) else named
    return found


@pytest.mark.parametrize("annotation", ANNOTATIONS[1:], ids=lambda one: one["path"][0])
def test_every_pattern_is_of_files_that_are_there(annotation: dict[str, Any]) -> None:
    assert annotation["precedence"] == "override"
    for pattern in annotation["path"]:
        assert matched(pattern), pattern


def test_every_licence_has_its_text() -> None:
    named = {str(one["SPDX-License-Identifier"]) for one in ANNOTATIONS}
    texts = {path.stem for path in (REPOSITORY / "LICENSES").iterdir()}
    assert named == texts
    ours = (REPOSITORY / "LICENSES" / "Apache-2.0.txt").read_text()
    assert ours == (REPOSITORY / "LICENSE").read_text()


@pytest.mark.parametrize(
    "file",
    [
        "tests/data/golden/unit/index.json",
        "tests/data/ir/swin_t.mlir.gz",
        "tests/data/cycles/README.md",
        "backend/machine/static_images/bm1684x.bin",
        "benchmarks/data/vendor_cycles.csv",
    ],
)
def test_what_the_vendors_tools_made_is_named_so(file: str) -> None:
    assert (REPOSITORY / file).is_file()
    assert VENDOR in holders(file)


def test_what_is_ours_is_ours() -> None:
    for file in ("README.md", "tests/data/exported/README.md", "benchmarks/data/README.md"):
        assert holders(file) == []
