"""Pages name files, functions, options and keys that exist."""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from xdsl_tpu.passes import PASSES
from xdsl_tpu.tools import tpu_calibrate, tpu_compile, tpu_generate, tpu_run, tpu_sweep

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "examples" / "README.md"]
)
ROOMS = "dialects|frontend|passes|backend|tools|api|tests|examples|benchmarks|docs"
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)#]*)(?:#([^)]*))?\)")
CITATION = re.compile(r"\b(docs/[\w/]+\.md)(?:#([\w-]+))?")


def named_paths(text: str) -> Iterator[str]:
    """Paths in backticks that begin with a folder of this repository."""
    for code in CODE.findall(text):
        if re.fullmatch(rf"({ROOMS})(/[\w./-]*)?", code):
            yield code


@cache
def anchors(page: Path) -> frozenset[str]:
    """What links to the page's headings say behind the `#`."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    kept = (re.sub(r"[^\w -]", "", heading.lower()) for heading in headings)
    return frozenset(heading.replace(" ", "-") for heading in kept)


def resolves(page: Path, anchor: str) -> bool:
    """Whether a page is there and has the heading."""
    return page.exists() and (not anchor or anchor in anchors(page))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_paths_and_links_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    missing = [path for path in named_paths(text) if not (ROOT / path).exists()]
    links = [link for link in LINK.findall(text) if "://" not in link[0]]
    missing += [
        f"{path}#{anchor}"
        for path, anchor in links
        if not resolves(page.parent / path if path else page, anchor)
    ]
    assert not missing


def sources() -> list[Path]:
    """Files that git knows or would take, other than pages."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    suffixes = {".py", ".toml", ".json", ".mlir"}
    paths = (ROOT / name for name in listed.stdout.splitlines())
    return [path for path in paths if path.suffix in suffixes and path.is_file()]


def test_citations_in_the_code_resolve() -> None:
    """Code cites pages of this repository, by file and heading."""
    cited: dict[tuple[str, str], Path] = {}
    for path in sources():
        for page, anchor in CITATION.findall(path.read_text(encoding="utf-8")):
            cited[page, anchor] = path
    assert len([page for page, _ in cited if page.startswith("docs/hardware/")]) > 15
    missing = {
        f"{page}#{anchor}": path.relative_to(ROOT).as_posix()
        for (page, anchor), path in cited.items()
        if not resolves(ROOT / page, anchor)
    }
    assert not missing


def test_the_code_cites_nothing_that_a_reader_does_not_have() -> None:
    """References by other names than a page's."""
    elsewhere = re.compile(
        r"(instruction|cycles?|layer group|format) references?,|cookbook'?s|lowering notes",
        re.IGNORECASE,
    )
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in sources()
        if path != Path(__file__)
        for match in elsewhere.finditer(path.read_text(encoding="utf-8"))
    ]
    assert not found


def test_the_architecture_names_functions_and_classes_where_they_are() -> None:
    """Every "`name` (`file.py`)" of the page; the file defines or lists the name."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    pairs = re.findall(r"`(\w+)`\s\(`([\w/]+\.py)`", text)
    assert len(pairs) >= 8
    for name, path in pairs:
        source = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"^(def|class) {name}\b|^{name}\b.*=", source, re.MULTILINE), (name, path)


def test_every_room_has_a_row() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = text[text.index("## Rooms") : text.index("## Doors")]
    packages = [path.parent.name for path in (ROOT / "backend").glob("*/__init__.py")]
    assert len(packages) > 5
    assert not [name for name in packages if f"`backend/{name}`" not in rooms]


def options(help_text: str) -> set[str]:
    return set(re.findall(r"--[a-z][a-z-]*", help_text)) - {"--help", "--version"}


@pytest.mark.parametrize(
    "tool",
    [tpu_calibrate, tpu_compile, tpu_generate, tpu_run, tpu_sweep],
    ids=["tpu-calibrate", "tpu-compile", "tpu-generate", "tpu-run", "tpu-sweep"],
)
def test_every_option_is_described(tool: object, capsys: pytest.CaptureFixture[str]) -> None:
    name = str(getattr(tool, "__name__", "")).rsplit(".", 1)[-1].replace("_", "-")
    with pytest.raises(SystemExit):
        getattr(tool, "main")(["--help"])  # noqa: B009
    text = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
    section = text[text.index(f"## {name}") :]
    section = section[: section.index("\n## ", 3)]
    rows = {option for line in section.splitlines() if line.startswith("| `")
            for option in re.findall(r"--[a-z][a-z-]*", line.split("|")[1])}  # fmt: skip
    assert rows == options(capsys.readouterr().out)


def test_the_readme_starts_with_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "test"):
        assert f"make {target} " in text[:1000]
        assert re.search(rf"^{target}:", targets, re.MULTILINE)
    for command in re.findall(r"^\$ (tpu-\w+)", text, re.MULTILINE):
        assert f'{command} = "' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_every_ignored_rule_is_named() -> None:
    """As CONTRIBUTING.md says."""
    bare = re.compile(r"# (?:pyright|type): ignore(?!\[)")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources()
        if path.suffix == ".py" and path != Path(__file__)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if bare.search(line)
    ]
    assert not found


def test_every_pass_has_a_filecheck_file() -> None:
    """As CONTRIBUTING.md says: its name stands in a line that runs it."""
    run = re.compile(r"^(?://|#) RUN: (.*)$", re.MULTILINE)
    texts = (path.read_text("utf-8") for path in (ROOT / "tests" / "filecheck").rglob("*.mlir"))
    lines = " ".join(line for text in texts for line in run.findall(text))
    assert not set(PASSES) - set(re.findall(r"[\w-]+", lines.replace("--", " ")))
