"""The page of a program for two cores: both are shown, and what each waits for of the other."""

import base64
import gzip
import json
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from tests.report.browser import console, evaluate, opened, resized, show
from tests.report.page import (
    Report,
    address_written,
    at,
    click,
    colours,
    column,
    details,
    escape,
    number,
    reset,
    rows,
    search,
    settle,
)
from tests.tools.small_models import MODELS

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.report import explain, html_report, read_groups, run_report
from xdsl_tpu.backend.timing import Ddr, simulate_program
from xdsl_tpu.tools.compile_model import compile_model
from xdsl_tpu.tools.folder import GROUPS

CHIP = load_chip("bm1688")


def written(folder: Path, ddr: Ddr) -> tuple[Path, Report]:
    """The page of a small network for two cores."""
    (folder / "cnn.onnx").write_bytes(MODELS["cnn"]().SerializeToString())
    out = folder / "out"
    program = compile_model(folder / "cnn.onnx", out, "F16", "bm1688", cores=2).program
    timelines = simulate_program(program, CHIP, ddr)
    report = run_report(program, CHIP, timelines, None, {}, ddr)
    report["gap"] = explain(program, timelines, CHIP).as_dict()
    page = folder / f"{ddr}.html"
    page.write_text(html_report(program, timelines, CHIP, report, read_groups(out / GROUPS)))
    return page, report


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Report]:
    return written(tmp_path_factory.mktemp("two"), "each")


@pytest.fixture(scope="module")
def view(two: tuple[Path, Report], tmp_path_factory: pytest.TempPathFactory) -> Generator[Chrome]:
    with opened(tmp_path_factory.mktemp("profile2")) as browser:
        show(browser, two[0])
        yield browser


def data_of(page: Path) -> dict[str, Any]:
    packed = re.search(r'id="data">([^<]+)<', page.read_text(encoding="utf-8"))
    assert packed is not None
    return json.loads(gzip.decompress(base64.b64decode(packed[1])))


def select(chrome: Chrome, page: Path, which: str, index: int) -> dict[str, str]:
    """Open a link to a command; what the panel then says."""
    chrome.get("about:blank")
    chrome.get(f"{page.as_uri()}#view:command={which}-{index}")
    settle(chrome)
    return details(chrome)


def test_the_page_holds_every_command_of_both(two: tuple[Path, Report]) -> None:
    data, report = data_of(two[0]), two[1]
    for part, engine in (("bdc", "tiu"), ("gdma", "gdma")):
        queues = [data["queues"][core[engine]] for core in data["cores"]]
        assert [queue["core"] for queue in queues] == [0, 1]
        busy = [core[part]["busy_cycles"] for core in report["cores"]]
        assert [sum(queue["cycles"]) for queue in queues] == busy
        assert all(busy)
    assert any(queue["awaits"] for queue in data["queues"].values())


def test_both_are_drawn(view: Chrome, two: tuple[Path, Report]) -> None:
    assert console(view) == []
    text = view.find_element(By.ID, "summary").text
    for core, figures in enumerate(two[1]["cores"]):
        assert f"core {core}" in text
        for cycles in figures["usage"].values():
            assert f"{cycles:,}" in text
    assert f"{two[1]['ddr_shared']:,}" in text
    reset(view)
    assert colours(view, "timeline") > 20
    drawn = evaluate(
        view,
        "const names = []; const draw = CanvasRenderingContext2D.prototype.fillText;"
        "CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {"
        "  names.push(text); draw.call(this, text, ...at); };"
        "document.getElementById('zoom-all').click();"
        "return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {"
        "  CanvasRenderingContext2D.prototype.fillText = draw; done(names); })));",
    )
    for name in ("core 0", "core 1", "DDR of all cores", "core 1: DMA busy"):
        assert drawn.count(name) == 1
    for name in ("compute (TIU)", "DMA (GDMA)", "array utilisation", "local-memory banks"):
        assert drawn.count(name) == 2


def test_a_command_says_its_core_and_what_it_waits_for(
    view: Chrome, two: tuple[Path, Report]
) -> None:
    """A message of the other core is a link that leads to what it was sent behind, and back."""
    data = data_of(two[0])
    waiting = [
        (which, index, places[0])
        for which, queue in data["queues"].items()
        for index, places in queue["awaits"]
    ]
    which, index, (sender, sent) = waiting[0]
    cores = [data["queues"][one]["core"] for one in (which, sender)]
    found = select(view, two[0], which, index)
    assert found["core"] == str(cores[0])
    assert f"message behind core {cores[1]}: DMA_" in found["waits for"]
    links = "[...document.querySelectorAll('#details-body button.link')]"
    evaluate(view, f"{links}.find((b) => b.textContent.startsWith('core {cores[1]}')).click()")
    found = details(view)
    assert found["core"] == str(cores[1])
    assert f"core {cores[0]}: DMA_" in found["waited for by"]
    starts = data["queues"][sender]["start"]
    assert f"from {starts[sent]:,}" in found["cycles"]
    address_written(view)
    assert f"command={sender}-{sent}" in view.current_url
    escape(view)


def test_the_critical_path_is_of_both_cores(view: Chrome, two: tuple[Path, Report]) -> None:
    data = data_of(two[0])
    reset(view)
    index = column(view, "layers", "critical")
    assert sum(number(row[index]) for row in rows(view, "layers")) == two[1]["cycles"]
    for which, queue in data["queues"].items():
        for one in data["critical"][which][:1]:
            found = select(view, two[0], which, one)
            assert found["core"] == str(queue["core"])
            assert found["critical path"].startswith("yes")
    assert sum(map(len, data["critical"].values())) > 3
    escape(view)


def test_a_click_finds_the_second_core(view: Chrome) -> None:
    """Rows of the second core lie below those of the first."""
    reset(view)
    canvas = "document.getElementById('timeline').getBoundingClientRect()"
    middle = evaluate(view, f"const box = {canvas}; return box.top + box.height / 2")
    for core, below in ((0, 0.0), (1, middle)):
        place = at(view, f"core{core}layer", below, step=12)
        click(view, place)
        assert details(view)["core"] == str(core)
        assert (place[1] > middle) == (core == 1)
    escape(view)


def test_search_and_graph_know_layers_of_both(view: Chrome, two: tuple[Path, Report]) -> None:
    names = [row["name"] for row in two[1]["layers"]]
    search(view, names[0])
    assert names[0] in {row[1] for row in rows(view, "layers")}
    search(view, "")
    assert len(rows(view, "layers")) == len(names)
    flows = data_of(two[0])["flows"]
    output = sum(moved for _, reader, moved in flows["ddr"] if reader == -1)
    assert output == flows["outputs"][0]["bytes"], "whichever core stored it"


@pytest.mark.parametrize("width", [1000, 1400])
def test_nothing_hangs_over_the_side(view: Chrome, width: int) -> None:
    before = resized(view, width, 1300)
    settle(view)
    needed = evaluate(view, "return document.documentElement.scrollWidth")
    assert needed <= width
    resized(view, *before)


def test_shared_ddr_is_never_faster_than_ddr(tmp_path: Path) -> None:
    """At no time do both cores together move more than the bandwidth that they share."""
    page, report = written(tmp_path, "shared")
    assert report["cycles"] == report["ddr_shared"] > report["ddr_each"]
    data = data_of(page)
    changes: dict[int, float] = {}
    for core in data["cores"]:
        queue = data["queues"][core["gdma"]]
        for start, cycles, moved in zip(
            queue["start"], queue["cycles"], queue["bytes"], strict=True
        ):
            if cycles > 10:
                changes[start] = changes.get(start, 0) + moved / cycles
                changes[start + cycles] = changes.get(start + cycles, 0) - moved / cycles
    rate, most = 0.0, 0.0
    for time in sorted(changes):
        rate += changes[time]
        most = max(most, rate)
    assert most <= data["chip"]["load"] * 1.1  # starts and ends are whole cycles
