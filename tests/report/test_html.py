"""The page of `tpu-run --html` in a browser: it draws, sorts, zooms, and loads nothing."""

import base64
import gzip
import json
import re
from pathlib import Path

import pytest
from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.common.by import By
from tests.report.browser import console, evaluate
from tests.report.page import (
    Report,
    colours,
    column,
    number,
    press,
    press_head,
    reset,
    rows,
    settle,
    visible,
)

from xdsl_tpu.backend.report import Groups
from xdsl_tpu.backend.report.html import PAGE, SCRIPTS


def test_no_errors_and_no_requests(chrome: Chrome) -> None:
    assert console(chrome) == []
    loaded = evaluate(chrome, "return performance.getEntriesByType('resource').length")
    assert loaded == 0
    assert not chrome.find_element(By.ID, "failure").is_displayed()


def test_the_page_holds_everything(run: tuple[Path, Report, Groups]) -> None:
    text = run[0].read_text(encoding="utf-8")
    assert not re.findall(r"<(?:link|img|iframe)\b|src=|@import|url\(|fetch\(", text)
    assert "<!-- " not in text
    assert {path.name for path in PAGE.glob("*.js")} == set(SCRIPTS)
    packed = re.search(r'id="data">([^<]+)<', text)
    assert packed is not None
    data = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    assert len(data["queues"]["tiu"]["start"]) == run[1]["bdc"]["instructions"]
    assert len(data["queues"]["gdma"]["start"]) == run[1]["gdma"]["instructions"]
    assert sum(data["queues"]["gdma"]["cycles"]) == run[1]["gdma"]["busy_cycles"]


def test_the_timeline_is_drawn(chrome: Chrome) -> None:
    reset(chrome)
    assert colours(chrome, "timeline") > 20
    assert colours(chrome, "overview") > 3


def test_the_summary_has_the_report_figures(
    chrome: Chrome, run: tuple[Path, Report, Groups]
) -> None:
    text = chrome.find_element(By.ID, "summary").text
    report = run[1]
    for figure in (*report["floor"].values(), *report["usage"].values(), report["cycles"]):
        assert f"{figure:,}" in text


def test_the_table_has_the_layers(chrome: Chrome, run: tuple[Path, Report, Groups]) -> None:
    _, report, groups = run
    shown = {row[1]: row for row in rows(chrome, "layers")}
    assert set(shown) == {row["name"] for row in report["layers"]}
    cycles, group = column(chrome, "layers", "cycles"), column(chrome, "layers", "group")
    for row in report["layers"]:
        assert number(shown[row["name"]][cycles]) == row["cycles"]
        expected = groups.group_of.get(row["name"])
        assert shown[row["name"]][group] == ("" if expected is None else str(expected))
    reasons = {row[-1] for row in shown.values()} - {""}
    assert reasons <= {*groups.behind.values(), *groups.before.values()}
    assert reasons
    assert groups.group_of


def test_sorting(chrome: Chrome) -> None:
    cycles = column(chrome, "layers", "cycles")
    values = [number(row[cycles]) for row in rows(chrome, "layers")]
    assert values == sorted(values, reverse=True), "first, the most expensive"
    press_head(chrome, "layers", cycles)
    assert [number(row[cycles]) for row in rows(chrome, "layers")] == sorted(values)
    press_head(chrome, "layers", 1)
    names = [row[1] for row in rows(chrome, "layers")]
    press_head(chrome, "layers", 1)
    assert [row[1] for row in rows(chrome, "layers")] == names[::-1] != names
    press_head(chrome, "layers", cycles)


def test_all_columns_are_in_sight(chrome: Chrome) -> None:
    """The table of layers needs no scrolling sideways, with the reasons for boundaries in it."""
    script = (
        "const box = document.getElementById('layers').parentElement;"
        "return [box.scrollWidth, box.clientWidth]"
    )
    needed, given = evaluate(chrome, script)
    assert needed <= given
    column(chrome, "layers", "boundary")


def test_labels_in_boxes_are_not_misleading(chrome: Chrome) -> None:
    """Figures stand whole or not at all; of a name the end is kept."""
    script = (
        "const context = {measureText: (text) => ({width: 10 * text.length})};"
        "return [20, 90, 300].map((width) => [fit(context, ['load 130.6 kB', '130.6 kB'], width),"
        "  fit(context, '/blocks.0/fc1/MatMul', width)])"
    )
    found = evaluate(chrome, (PAGE / "tracks.js").read_text(encoding="utf-8") + script)
    assert found == [
        ["", ""],
        ["130.6 kB", "…1/MatMul"],
        ["load 130.6 kB", "/blocks.0/fc1/MatMul"],
    ]


def test_commands_outside_groups_are_in_no_box(chrome: Chrome) -> None:
    """Two commands of group 6, two of none, one of 6 again, one of 7."""
    script = (
        "class Cover { constructor(starts, cycles) { Object.assign(this, {starts, cycles}); } }"
        "const keys = [6, 6, null, null, 6, 7];"
        "const engine = {start: [0, 10, 20, 30, 40, 50], cycles: [9, 9, 9, 9, 9, 5]};"
        "const {cover, ids} = runs(engine, (i) => keys[i]);"
        "return [ids, cover.starts, cover.cycles]"
    )
    found = evaluate(chrome, (PAGE / "model.js").read_text(encoding="utf-8") + script)
    assert found == [[6, 6, 7], [0, 40, 50], [19, 9, 5]]


def test_filtering(chrome: Chrome, run: tuple[Path, Report, Groups]) -> None:
    field = chrome.find_element(By.ID, "filter")
    field.send_keys("conv2d")
    wanted = {row["name"] for row in run[1]["layers"] if row["op"] == "tpu.Conv2D"}
    assert {row[1] for row in rows(chrome, "layers")} >= wanted
    assert len(rows(chrome, "layers")) < len(run[1]["layers"])
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(Keys.DELETE)
    assert len(rows(chrome, "layers")) == len(run[1]["layers"])


def test_zoom_and_pan(chrome: Chrome, run: tuple[Path, Report, Groups]) -> None:
    total = run[1]["cycles"]
    reset(chrome)
    assert visible(chrome) == (0, total)
    canvas = chrome.find_element(By.ID, "timeline")
    press(chrome, canvas, "+")
    assert visible(chrome) == (total / 4, 3 * total / 4)
    press(chrome, canvas, Keys.ARROW_RIGHT)
    assert visible(chrome) == pytest.approx((0.35 * total, 0.85 * total))
    press(chrome, canvas, "-")
    assert visible(chrome) == (0, total)
    wheel = "arguments[0].dispatchEvent(new WheelEvent('wheel', {deltaY: -120, clientX: 700}))"
    evaluate(chrome, wheel, canvas)
    first, last = visible(chrome)
    assert 0 < first < last < total
    ActionChains(chrome).drag_and_drop_by_offset(canvas, 60, 0).perform()
    moved = visible(chrome)
    assert moved[0] < first
    assert moved[1] - moved[0] == pytest.approx(last - first)
    settle(chrome)
    assert colours(chrome, "timeline") > 10
    press(chrome, canvas, Keys.HOME)
    assert visible(chrome) == (0, total)


def test_a_row_leads_to_its_place(chrome: Chrome, run: tuple[Path, Report, Groups]) -> None:
    reset(chrome)
    evaluate(chrome, "document.querySelector('#layers tbody tr').click()")
    first, last = visible(chrome)
    assert (first, last) != (0, run[1]["cycles"])
    name = rows(chrome, "layers")[0][1]
    assert name in chrome.find_element(By.ID, "details").text
    chosen = chrome.find_elements(By.CSS_SELECTOR, "#roofline circle.chosen")
    assert len(chosen) <= 1
    reset(chrome)


def test_the_tooltip_shows_the_command(chrome: Chrome) -> None:
    """Somewhere along the row of the compute engine there is one."""
    reset(chrome)
    canvas = chrome.find_element(By.ID, "timeline")
    evaluate(chrome, "arguments[0].scrollIntoView()", canvas)
    script = (
        "const box = arguments[0].getBoundingClientRect(), found = new Set();"
        "for (let x = 150; x < box.width; x++) {"
        "  arguments[0].dispatchEvent(new PointerEvent('pointermove',"
        "    {clientX: box.left + x, clientY: box.top + 109}));"
        "  const code = document.querySelector('#tooltip:not([hidden]) code');"
        "  if (code) found.add(code.textContent); }"
        "return [...found]"
    )
    found: list[str] = evaluate(chrome, script, canvas)
    assert found
    assert all(re.match(r"s?[A-Z]\w*\.\w+ id=\d+ ", text) for text in found)


def test_the_roofline_has_points(chrome: Chrome, run: tuple[Path, Report, Groups]) -> None:
    computing = [row for row in run[1]["layers"] if row["operations"]]
    circles = chrome.find_elements(By.CSS_SELECTOR, "#roofline circle")
    assert len(circles) == len(computing) > 3
    script = (
        "return [...document.querySelectorAll('#roofline circle')]"
        ".map((c) => [c.cx.baseVal.value, c.cy.baseVal.value])"
    )
    places: list[list[float]] = evaluate(chrome, script)
    assert all(x > 0 and y > 0 for x, y in places)


def test_the_comparison(chrome: Chrome, run: tuple[Path, Report, Groups]) -> None:
    assert "before.json" in chrome.find_element(By.ID, "compare-title").text
    shown, layers = rows(chrome, "compare"), run[1]["layers"]
    difference = column(chrome, "compare", "difference")
    assert shown[0][0] == layers[3]["name"]
    assert shown[0][difference] == "-1,000,000"
    by_name = {row[0]: row for row in shown}
    assert by_name[layers[0]["name"]][3] == "–", "the other run does not have it"
    sizes = [abs(number(row[difference].replace("+", ""))) for row in shown]
    assert sizes == sorted(sizes, reverse=True)


def test_dark_and_light(chrome: Chrome) -> None:
    """The button changes the colours of the page and of the drawing."""
    script = (
        "return [getComputedStyle(document.body).backgroundColor, "
        "document.getElementById('timeline').toDataURL().length]"
    )
    before = evaluate(chrome, script)
    chrome.find_element(By.ID, "theme").click()
    settle(chrome)
    after = evaluate(chrome, script)
    assert before[0] != after[0]
    chrome.find_element(By.ID, "theme").click()
