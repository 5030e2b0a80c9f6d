"""The graph of groups on the page of `tpu-run --html`."""

import re
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from tests.report.browser import console, evaluate, opened
from tests.report.page import Report, address_written, details, escape, settle

from xdsl_tpu.backend.report import Groups

Run = tuple[Path, Report, Groups]


def lines(chrome: Chrome) -> list[list[str]]:
    """Title, ops and figures of every line."""
    script = (
        "return [...document.querySelectorAll('#graph .lines .node')].map((node) =>"
        " [node.querySelector('bdi').textContent, ...[...node.children].slice(1)"
        ".map((one) => one.textContent.trim())])"
    )
    return evaluate(chrome, script)


def rails(chrome: Chrome, kind: str, lifted: bool = False) -> int:
    """How many values of a kind are drawn, or lifted out."""
    mark = ".on" if lifted else ""
    return len(chrome.find_elements(By.CSS_SELECTOR, f"#graph path.{kind}{mark}:not(.head)"))


def press(chrome: Chrome, what: str) -> None:
    evaluate(chrome, f"document.querySelector(`{what}`).click()")
    settle(chrome)


def test_groups_and_the_values_between_them(chrome: Chrome, run: Run) -> None:
    """A line for each group and each layer of none, the network's ends around them."""
    _, report, groups = run
    shown = lines(chrome)
    numbers = {groups.group_of.get(row["name"]) for row in report["layers"]}
    assert {line[0] for line in shown} >= {f"group {one}" for one in numbers if one}
    alone = {row["name"] for row in report["layers"] if row["name"] not in groups.group_of}
    assert {line[0] for line in shown} >= alone
    assert shown[0][1].startswith("input")
    assert shown[-1][1].startswith("output")
    inside = [line for line in shown if not line[1].startswith(("input", "output"))]
    assert sum(int(line[5].replace(",", "")) for line in inside) == report["cycles"]
    assert rails(chrome, "ddr") >= len(inside), "every line but the last gives something to another"


def test_an_opened_group_shows_what_stays_on_the_chip(chrome: Chrome, run: Run) -> None:
    _, report, groups = run
    before, outside = lines(chrome), rails(chrome, "local")
    press(chrome, "#graph .node.group button")
    number = next(int(line[0].split()[1]) for line in before if line[0].startswith("group"))
    members = [
        row["name"]
        for row in report["layers"]
        if groups.group_of.get(row["name"]) == number and row["op"] != "tpu.Load"
    ]
    opened_lines = lines(chrome)
    assert len(opened_lines) == len(before) + len(members) > len(before)
    assert {line[0] for line in opened_lines} >= set(members)
    assert rails(chrome, "local") > outside
    press(chrome, "#graph-close")
    assert lines(chrome) == before
    press(chrome, "#graph-open")
    everyone = {row["name"] for row in report["layers"] if row["op"] != "tpu.Load"}
    assert {line[0] for line in lines(chrome)} >= everyone
    press(chrome, "#graph-close")


def test_a_click_selects_and_says_what_goes_where(chrome: Chrome, run: Run) -> None:
    """A group, then a layer: the panel names what is taken, of which line, and by which way."""
    press(chrome, "#graph .node.group")
    group = chrome.find_element(By.ID, "details-title").text
    assert group.startswith("group ")
    titles = [line[0] for line in lines(chrome)]
    above = titles[: titles.index(group)]
    for taken in details(chrome)["takes"].splitlines():
        line = re.fullmatch(r".+B (?:by way of DDR|within local memory) of (.+)", taken)
        assert line
        assert line[1] in above
    assert 0 < rails(chrome, "ddr", lifted=True) < rails(chrome, "ddr")
    press(chrome, "#graph .node.group button")
    press(chrome, "#graph .node.member")
    found = details(chrome)
    assert chrome.find_element(By.ID, "details-title").text in {r["name"] for r in run[1]["layers"]}
    assert "within local memory to" in found["gives"]
    assert len(chrome.find_elements(By.CSS_SELECTOR, "#graph .node.chosen")) == 1
    # One rail for each maker: what it takes, and its own, whoever reads that.
    kept = found.get("takes", "").count("within local memory")
    assert rails(chrome, "local", lifted=True) == kept + 1
    escape(chrome)
    assert not chrome.find_elements(By.CSS_SELECTOR, "#graph .node.chosen")
    press(chrome, "#graph-close")


def test_a_rail_says_its_bytes_and_leads_to_its_maker(chrome: Chrome) -> None:
    script = (
        "const rail = [...document.querySelectorAll('#graph path.ddr:not(.head)')].pop();"
        "rail.dispatchEvent(new PointerEvent('pointermove', {clientX: 90, clientY: 90}));"
        "const text = document.getElementById('tooltip').innerText;"
        "rail.dispatchEvent(new PointerEvent('pointerleave', {}));"
        "rail.dispatchEvent(new MouseEvent('click', {}));"
        "return text"
    )
    text: str = evaluate(chrome, script)
    name, *rest = text.splitlines()
    assert "DDR" in " ".join(rest)
    assert any(line.endswith("B") for line in rest)
    assert chrome.find_element(By.ID, "details-title").text == name
    escape(chrome)


def test_a_selection_elsewhere_is_marked(chrome: Chrome) -> None:
    press(chrome, "#layers tbody tr")
    (chosen,) = chrome.find_elements(By.CSS_SELECTOR, "#graph .node.chosen")
    title = chrome.find_element(By.ID, "details-title").text
    assert details(chrome)["group"] in chosen.text or title in chosen.text
    escape(chrome)
    press(chrome, "#zoom-all")


def test_a_link_restores_open_groups(
    chrome: Chrome, tmp_path_factory: pytest.TempPathFactory
) -> None:
    press(chrome, "#graph .node.group button")
    address_written(chrome)
    link, before = str(chrome.current_url), lines(chrome)
    assert "groups=" in link
    press(chrome, "#graph-close")
    address_written(chrome)
    with opened(tmp_path_factory.mktemp("graph")) as other:
        other.get(link)
        ready = "return document.documentElement.dataset.ready === 'true'"
        WebDriverWait(other, 60).until(lambda one: evaluate(one, ready))
        assert lines(other) == before
        assert console(other) == []
