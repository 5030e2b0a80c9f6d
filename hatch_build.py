# SPDX-License-Identifier: Apache-2.0
"""Links in the package's metadata, from where it was cloned, as its version is from its tags."""

import re
import subprocess
from email import message_from_bytes
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Links(MetadataHookInterface):
    """`urls`: of an sdist those that it was made with, else of the clone's origin if on the web."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the links; a tree that was not cloned from a public address has none."""
        root = Path(self.root)
        kept = root / "PKG-INFO"
        if kept.is_file():
            links = message_from_bytes(kept.read_bytes()).get_all("Project-URL", [])
            metadata["urls"] = dict(link.split(", ", 1) for link in links)
        elif address := _web_address(_origin(root)):
            pages = f"{address}/blob/HEAD"
            metadata["urls"] = {
                "Source": address,
                "Issues": f"{address}/issues",
                "Documentation": f"{address}/tree/HEAD/docs",
                "Changelog": f"{pages}/CHANGELOG.md",
            }


def _origin(root: Path) -> str:
    asked = ["git", "-C", str(root), "config", "--get", "remote.origin.url"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:  # no git
        return ""


def _web_address(origin: str) -> str | None:
    """`https://HOST/PATH` of an origin reached by https or ssh, without a user's name or key."""
    user, host, path = r"(?:[^@/]*@)?", r"([\w-]+(?:\.[\w-]+)+)", r"([^:]+?)(?:\.git)?/?"
    reached = rf"(?:(?:https|ssh)://{user}{host}(?::\d+)?/|[\w.-]+@{host}:){path}"
    if found := re.fullmatch(reached, origin):
        return f"https://{found[1] or found[2]}/{found[3]}"
    return None
