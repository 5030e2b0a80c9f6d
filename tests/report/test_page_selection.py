"""Selecting, searching, totals and links on the page of `tpu-run --html`."""

from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from tests.report.browser import console, evaluate, opened, resized
from tests.report.page import (
    Report,
    address_written,
    at,
    click,
    column,
    details,
    escape,
    number,
    press,
    reset,
    rows,
    search,
    settle,
    visible,
)

from xdsl_tpu.backend.report import Groups


def test_a_click_keeps_the_view(chrome: Chrome, run: tuple[Path, Report, Groups]) -> None:
    """Neither the window nor the timeline moves, and the command's text stays in the panel."""
    reset(chrome)
    canvas = chrome.find_element(By.ID, "timeline")
    evaluate(chrome, "arguments[0].scrollIntoView()", canvas)
    press(chrome, canvas, "+")
    place = at(chrome, "CONV")
    before = visible(chrome), evaluate(chrome, "return scrollY")
    click(chrome, place)
    assert (visible(chrome), evaluate(chrome, "return scrollY")) == before
    panel = chrome.find_element(By.ID, "details")
    assert panel.is_displayed()
    found = details(chrome)
    assert found["command"].startswith(("CONV", "sCONV"))
    names = {row["name"] for row in run[1]["layers"]}
    assert found["layer"] in names
    chosen = chrome.find_elements(By.CSS_SELECTOR, "#layers tr.chosen")
    assert [row.text.split()[1] for row in chosen] == [found["layer"]]
    evaluate(chrome, "scrollTo(0, 0)")
    assert panel.is_displayed()
    assert details(chrome) == found
    escape(chrome)
    assert not panel.is_displayed()
    assert not chrome.find_elements(By.CSS_SELECTOR, "#layers tr.chosen")
    reset(chrome)


def test_what_waits_for_what_leads_there_and_back(chrome: Chrome) -> None:
    reset(chrome)
    click(chrome, at(chrome, "CONV"))
    first = details(chrome)
    assert "DMA_" in first["waits for"]
    assert first["behind"]
    links = "[...document.querySelectorAll('#details-body button.link')]"
    wanted = first["waits for"].split(" · ")[0]
    evaluate(chrome, f"{links}.find((b) => b.textContent === arguments[0]).click()", wanted)
    second = details(chrome)
    assert second["command"].startswith("DMA_")
    assert "CONV" in second["waited for by"]
    title = chrome.find_element(By.ID, "details-title").text
    back = second["waited for by"].split("\n")[0]
    evaluate(chrome, f"{links}.find((b) => b.textContent === arguments[0]).click()", back)
    assert chrome.find_element(By.ID, "details-title").text != title
    escape(chrome)


def test_the_panel_is_copied_as_text(chrome: Chrome) -> None:
    reset(chrome)
    click(chrome, at(chrome, "CONV"))
    evaluate(
        chrome,
        "window.copied = []; document.execCommand = () => copied.push("
        "document.activeElement.value);"
        "navigator.clipboard.writeText = async (text) => { copied.push(text); };"
        "document.getElementById('panel-copy').click()",
    )
    settle(chrome)
    (text,) = evaluate(chrome, "return window.copied")
    lines = dict(line.split(": ", 1) for line in text.splitlines()[1:])
    found = details(chrome)
    assert lines["command"] == found["command"]
    assert set(lines) == set(found)
    assert chrome.find_element(By.ID, "panel-copy").text == "copied"
    escape(chrome)


def test_the_critical_path_is_a_row(chrome: Chrome, run: tuple[Path, Report, Groups]) -> None:
    """It has a command at every cycle of the run, and says so in the panel."""
    reset(chrome)
    box: dict[str, float] = evaluate(
        chrome, "return document.getElementById('timeline').getBoundingClientRect()"
    )
    for share in (0.01, 0.5, 0.99):
        x = box["left"] + 148 + share * (box["width"] - 156)
        click(chrome, (x, box["top"] + 22 + 7))
        assert details(chrome)["critical path"].startswith("yes")
    column(chrome, "layers", "critical")
    rows_shown = rows(chrome, "layers")
    index = column(chrome, "layers", "critical")
    assert sum(number(row[index]) for row in rows_shown) == run[1]["cycles"]
    escape(chrome)


def test_totals_by_op_and_by_block(chrome: Chrome, run: tuple[Path, Report, Groups]) -> None:
    for table in ("ops", "blocks"):
        shown, expected = rows(chrome, table), run[1]["totals"][table]
        assert [number(row[2]) for row in shown] == [row["cycles"] for row in expected]
    evaluate(chrome, "document.querySelector('#ops tbody tr').click()")
    wanted = {row["name"] for row in run[1]["layers"]
              if row["op"] == run[1]["totals"]["ops"][0]["name"]}  # fmt: skip
    assert {row[1] for row in rows(chrome, "layers")} == wanted
    search(chrome, "")


def test_a_search_of_several_words(chrome: Chrome, run: tuple[Path, Report, Groups]) -> None:
    names = {row["name"] for row in run[1]["layers"]}
    search(chrome, "conv2d  Depth")
    assert {row[1] for row in rows(chrome, "layers")} == {n for n in names if "depthwise" in n}
    search(chrome, "conv2d nothing")
    assert rows(chrome, "layers") == []
    search(chrome, "")
    assert len(rows(chrome, "layers")) == len(names)


def test_a_link_restores_the_view(
    chrome: Chrome, run: tuple[Path, Report, Groups], tmp_path_factory: pytest.TempPathFactory
) -> None:
    reset(chrome)
    press(chrome, chrome.find_element(By.ID, "timeline"), "+")
    click(chrome, at(chrome, "CONV"))
    search(chrome, "conv")
    address_written(chrome)
    link = str(chrome.current_url)
    assert "#view:" in link
    assert "search=conv" in link
    assert "command=" in link
    before = visible(chrome), details(chrome), rows(chrome, "layers")
    with opened(tmp_path_factory.mktemp("other")) as other:
        other.get(link)
        ready = "return document.documentElement.dataset.ready === 'true'"
        WebDriverWait(other, 60).until(lambda one: evaluate(one, ready))
        assert visible(other) == pytest.approx(before[0], abs=1)
        assert details(other) == before[1]
        assert rows(other, "layers") == before[2]
    search(chrome, "")
    escape(chrome)
    reset(chrome)
    WebDriverWait(chrome, 5).until(lambda one: "#" not in str(one.current_url))


def test_a_link_of_another_run_does_no_harm(
    run: tuple[Path, Report, Groups], tmp_path_factory: pytest.TempPathFactory
) -> None:
    with opened(tmp_path_factory.mktemp("another")) as other:
        other.get(f"{run[0].as_uri()}#view:cycles=9-3&command=tiu-999999&layer=none")
        ready = "return document.documentElement.dataset.ready === 'true'"
        WebDriverWait(other, 60).until(lambda one: evaluate(one, ready))
        assert visible(other) == (0, run[1]["cycles"])
        assert not other.find_element(By.ID, "details").is_displayed()
        assert console(other) == []


@pytest.mark.parametrize("width", [700, 1000, 1400])
def test_narrow_windows(chrome: Chrome, width: int) -> None:
    """The page itself never scrolls sideways; a table that does says so."""
    before = resized(chrome, width, 1300)
    settle(chrome)
    settle(chrome)
    script = (
        "return [document.documentElement.scrollWidth <= innerWidth,"
        "[...document.querySelectorAll('.scroll')].filter((box) => box.checkVisibility())"
        ".map((box) => [box.scrollWidth - box.clientWidth > 1,"
        " box.classList.contains('more-right'), !box.nextSibling.hidden])]"
    )
    fits, boxes = evaluate(chrome, script)
    resized(chrome, *before)
    settle(chrome)
    assert fits
    assert all(wide == marked == said for wide, marked, said in boxes), boxes
    assert width > 700 or any(wide for wide, *_ in boxes)


def test_gap_silicon_and_origin_are_on_the_page(
    chrome: Chrome, run: tuple[Path, Report, Groups]
) -> None:
    cards, report = chrome.find_element(By.ID, "cards").text, run[1]
    assert f"{report['gap']['ratio']:.2f}×" in cards
    assert f"{report['on_silicon']['low']:.3f}–{report['on_silicon']['high']:.3f} ms" in cards
    assert report["on_silicon"]["wanted"] in cards
    origin = chrome.find_element(By.ID, "origin").text
    assert "tpu-run out" in origin
    assert "a" * 64 in origin


def test_a_colour_means_one_thing(chrome: Chrome) -> None:
    """No two entries of the legend, nor ops and instructions, look the same."""
    script = (
        "return [...document.querySelectorAll('#legend > div')].map((line) =>"
        " [...line.querySelectorAll('i')].map((i) => getComputedStyle(i).backgroundColor))"
    )
    layers, compute, dma, critical, _ = evaluate(chrome, script)
    for one in (layers, compute, dma, critical):
        assert len(set(one)) == len(one)
    assert not set(layers) & set(compute)
    assert not set(dma) & set(critical)
