"""The site of the pages builds, and a dead link stops it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def build(config: Path, site: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", config, "-d", site]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, env=environment
    )


def test_every_page_is_on_the_site_and_no_link_is_dead(tmp_path: Path) -> None:
    done = build(ROOT / "mkdocs.yml", tmp_path / "site")
    assert done.returncode == 0, done.stdout + done.stderr
    pages = {
        path.relative_to(ROOT / "docs").with_suffix("") for path in (ROOT / "docs").rglob("*.md")
    }
    for page in pages:
        name = page.parent if page.name == "README" else page
        assert (tmp_path / "site" / name / "index.html").is_file(), page
    start = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert 'href="get_started/"' in start
    assert "docs/" not in [link for link in start.split('href="')[1:] if link.startswith("docs/")]


def test_a_dead_link_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# One\n\n[two](two.md) [three](index.md#no)\n")
    (tmp_path / "mkdocs.yml").write_text(
        "site_name: x\nvalidation: {links: {not_found: warn, anchors: warn}}\n"
    )
    done = build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert done.returncode == 1
    assert "two.md" in done.stderr
    assert "#no" in done.stderr
