"""Which layer group each layer is in, and why groups end: `groups.json` of a compilation."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xdsl_tpu.dialects.errors import TpuError


@dataclass(frozen=True)
class Groups:
    """`group_of`: the number of a layer's group, from 1. `behind` and `before`: why no group goes
    on behind a layer, or reaches it from there."""

    group_of: Mapping[str, int] = field(default_factory=dict[str, int])
    behind: Mapping[str, str] = field(default_factory=dict[str, str])
    before: Mapping[str, str] = field(default_factory=dict[str, str])

    def boundary(self, name: str) -> str:
        """Why the group ends at this layer, or none begins before it; empty inside a group."""
        return self.behind.get(name) or self.before.get(name, "")


def read_groups(path: Path) -> Groups:
    """The groups in a file that `tpu-compile` wrote; none when there is no such file.

    Raises TpuError when the file is something else.
    """
    if not path.is_file():
        return Groups()
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        group_of = {
            str(name): number
            for number, names in enumerate(found["groups"], 1)
            for name in reversed(names)
        }
        behind = {str(one["last"]): str(one["reason"]) for one in found["boundaries"]}
        before = {str(one["first"]): str(one["reason"]) for one in found["boundaries"]}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TpuError(
            f"{path}: not the groups of a compilation; compile again, or remove it"
        ) from error
    return Groups(group_of, behind, before)
