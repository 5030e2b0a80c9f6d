"""The page of a small network, in a browser."""

import copy
from collections.abc import Generator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from tests.report.browser import opened, show
from tests.report.page import Report
from tests.report.programs import CHIP
from tests.tools.small_models import MODELS

from xdsl_tpu.backend.report import Groups, explain, html_report, read_groups, run_report
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.tools.compile_model import compile_model
from xdsl_tpu.tools.folder import GROUPS


@pytest.fixture(scope="package")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Report, Groups]:
    """The page of a small network, against a run in which one layer was slower and one is gone."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "cnn.onnx").write_bytes(MODELS["cnn"]().SerializeToString())
    # The classifier stays a product, in a group of its own: there are boundaries to give reasons.
    compiled = compile_model(
        folder / "cnn.onnx", folder / "out", "F16", "bm1684x", disable=("RowToPixel",)
    )
    program = compiled.program
    timeline = simulate(program.tiu, program.gdma, CHIP)
    origin: Report = {"version": "1", "command": "tpu-run out", "seed": None}
    origin["hashes"] = {"program": "a" * 64, "weights": {"w.npz": "b" * 64}, "inputs": None}
    report = origin | run_report(program, CHIP, [timeline], None, {})
    report["gap"] = explain(program, [timeline], CHIP).as_dict()
    other = copy.deepcopy(report)
    other["cycles"] += 1_000_000 - other["layers"].pop(0)["cycles"]
    other["layers"][2]["cycles"] += 1_000_000
    groups = read_groups(folder / "out" / GROUPS)
    page = folder / "page.html"
    page.write_text(html_report(program, [timeline], CHIP, report, groups, ("before.json", other)))
    return page, report, groups


@pytest.fixture(scope="package")
def chrome(
    run: tuple[Path, Report, Groups], tmp_path_factory: pytest.TempPathFactory
) -> Generator[Chrome]:
    with opened(tmp_path_factory.mktemp("profile")) as browser:
        show(browser, run[0])
        yield browser
