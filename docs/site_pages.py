"""Pages of the site that are files outside this folder, and links between them (mkdocs.yml)."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
OUTSIDE = {
    "README.md": "index.md",
    "examples/README.md": "examples.md",
    "CONTRIBUTING.md": "contributing.md",
}
"""File of the repository -> page of the site."""

_NOT_ON_THE_SITE = re.compile(
    r"\[([^\]]*)\]\((?:LICENSE|CHANGELOG\.md|docs/reference/|other_project/README\.md)\)"
)
"""Links to files that the site has not: their words stay."""


def moved(text: str, source: str) -> str:
    """The text of a page with links as the site has them; `source` is its file."""
    text = _NOT_ON_THE_SITE.sub(r"\1", text)
    up = "../" * source.count("/")
    if source in OUTSIDE:
        text = text.replace(f"]({up}docs/", "](")
    for file, page in OUTSIDE.items():
        text = text.replace(f"]({up}{file}", f"]({page}") if source in OUTSIDE else text
        text = text.replace(f"](../{file}", f"]({page}")
    return text


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages."""
    kind: Any = import_module("mkdocs.structure.files").File
    for file, page in OUTSIDE.items():
        text = moved((ROOT / file).read_text(encoding="utf-8"), file)
        files.append(kind.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links of the pages in this folder."""
    if page.file.src_uri in OUTSIDE.values():
        return markdown
    return moved(markdown, f"docs/{page.file.src_uri}")
