"""The figures of a program's schedule: as plain values, and as the page that shows them."""

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from xdsl_tpu.api.timing import Timing
from xdsl_tpu.backend.report import Groups, html_report, trace
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.tools.files import check_writable, write_text

HEIGHT = 900
"""Pixels of the page within a notebook."""

Other = tuple[str, Mapping[str, Any]]
"""Another run's title and figures."""


@dataclass(frozen=True)
class Report(Mapping[str, Any]):
    """`report.json` as a mapping; in a notebook the page of `tpu-run --html`.

    Keys: docs/tools.md#reportjson.
    """

    timing: Timing
    data: Mapping[str, Any] = field(repr=False)
    groups: Groups = field(default_factory=Groups, repr=False)
    against: Other | None = field(default=None, repr=False)

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __iter__(self) -> Any:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    @property
    def cycles(self) -> int:
        """Until the last command ends."""
        return self.timing.cycles

    @property
    def layers(self) -> list[dict[str, Any]]:
        """What each layer costs, the most expensive first."""
        return sorted(self.data["layers"], key=lambda row: -row["cycles"])

    @cached_property
    def html(self) -> str:
        """The page as text; it loads nothing."""
        timing = self.timing
        return html_report(
            timing.program, timing.timelines, timing.chip, self.data, self.groups, self.against
        )

    @property
    def trace(self) -> str:
        """The timeline as JSON text for Perfetto."""
        return trace(self.timing.program, self.timing.timelines, self.timing.chip)

    @property
    def json(self) -> str:
        """The figures as JSON text."""
        return json.dumps(dict(self.data), indent=1) + "\n"

    def save(self, path: str | Path) -> Path:
        """Write the page to a file called `.html`, the figures to one called `.json`.

        Raises TpuError for another suffix, OSError when the file cannot be written.
        """
        file = Path(path)
        texts = {".html": lambda: self.html, ".json": lambda: self.json}
        if file.suffix not in texts:
            raise TpuError(f"{file}: a report is a .html or a .json file")
        check_writable(file)
        write_text(file, texts[file.suffix]())
        return file

    def _repr_html_(self) -> str:
        """The page in a frame of its own: its styles and names stay apart from the notebook's."""
        page = html.escape(self.html, quote=True)
        style = f"width:100%;height:{HEIGHT}px;border:0"
        return f'<iframe title="report" style="{style}" srcdoc="{page}"></iframe>'

    def __repr__(self) -> str:
        name = f"{self.data['model']} {self.data['quantize']} on {self.data['chip']}"
        return f"<report: {name}, {self.cycles:,} cycles, {len(self.data['layers'])} layers>"
