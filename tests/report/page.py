"""What is seen of a page in the browser, and what a user does there."""

from typing import Any

from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait
from tests.report.browser import evaluate

Report = dict[str, Any]


def rows(chrome: Chrome, table: str) -> list[list[str]]:
    """The text of every cell, row by row, as shown."""
    script = (
        "return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)]"
        ".filter((row) => !row.hidden).map((row) => [...row.cells].map((c) => c.textContent))"
    )
    return evaluate(chrome, script, table)


def colours(chrome: Chrome, canvas: str) -> int:
    """How many different colours a canvas shows."""
    script = (
        "const canvas = document.getElementById(arguments[0]);"
        "const { width, height } = canvas;"
        "const data = canvas.getContext('2d').getImageData(0, 0, width, height).data;"
        "return new Set(new Uint32Array(data.buffer)).size"
    )
    return evaluate(chrome, script, canvas)


def settle(chrome: Chrome) -> None:
    """Wait until the next two frames have been drawn."""
    wait = "(done) => requestAnimationFrame(() => requestAnimationFrame(done))"
    evaluate(chrome, f"return new Promise({wait})")


def press(chrome: Chrome, element: WebElement, key: str) -> None:
    """Send a key and wait until the page has handled it: a slow browser answers before it has."""
    heard = "addEventListener('keyup', () => { window.heard = true; }, {once: true})"
    evaluate(chrome, f"window.heard = false; {heard}")
    element.send_keys(key)
    WebDriverWait(chrome, 20).until(lambda one: evaluate(one, "return window.heard"))
    settle(chrome)


def address_written(chrome: Chrome) -> None:
    """Wait until the view is in the address: its timer of 150 ms ends before a later, longer one.

    What the address holds already may be of an earlier view with the same words.
    """
    evaluate(chrome, "return new Promise((done) => setTimeout(done, 200))")


def visible(chrome: Chrome) -> tuple[float, float]:
    data: dict[str, str] = evaluate(chrome, "return {...document.getElementById('range').dataset}")
    return float(data["from"]), float(data["to"])


def reset(chrome: Chrome) -> None:
    evaluate(chrome, "document.getElementById('zoom-all').click()")
    settle(chrome)


def column(chrome: Chrome, table: str, title: str) -> int:
    heads: list[str] = evaluate(
        chrome,
        "return [...document.querySelectorAll(`#${arguments[0]} th`)].map((h) => h.textContent)",
        table,
    )
    return heads.index(title)


def press_head(chrome: Chrome, table: str, index: int) -> None:
    evaluate(
        chrome,
        "document.querySelectorAll(`#${arguments[0]} th button`)[arguments[1]].click()",
        *(table, index),
    )


def number(text: str) -> int:
    return int(text.replace(",", ""))


def at(chrome: Chrome, track: str, below: float = 0, step: int = 1) -> tuple[float, float]:
    """Where in the window the first command of a row of the timeline is; of rows `below` there.
    Every `step` pixels are looked at."""
    script = (
        "const view = arguments[0], box = view.getBoundingClientRect();"
        "const top = Math.max(24, Math.ceil(arguments[2] - box.top));"
        "const [width, step] = [box.width, arguments[3]];"
        "for (let y = top; y < box.height; y += 4) for (let x = 150; x < width; x += step) {"
        "  view.dispatchEvent(new PointerEvent('pointermove',"
        "    {clientX: box.left + x, clientY: box.top + y}));"
        "  const tip = document.getElementById('tooltip');"
        "  if (!tip.hidden && tip.textContent.includes(arguments[1]))"
        "    return [box.left + x, box.top + y]; }"
    )
    return evaluate(chrome, script, chrome.find_element(By.ID, "timeline"), track, below, step)


def click(chrome: Chrome, place: tuple[float, float]) -> None:
    script = (
        "const view = arguments[0];"
        "for (const kind of ['pointerdown', 'pointerup']) view.dispatchEvent(new PointerEvent(kind,"
        "  {clientX: arguments[1][0], clientY: arguments[1][1], pointerId: 1, bubbles: true}))"
    )
    view = chrome.find_element(By.ID, "timeline")
    evaluate(chrome, "arguments[0].setPointerCapture = () => {}", view)
    evaluate(chrome, script, view, place)
    settle(chrome)


def details(chrome: Chrome) -> dict[str, str]:
    """The panel, as terms and what they say."""
    script = (
        "return Object.fromEntries([...document.querySelectorAll('#details-body dt')]"
        ".map((term) => [term.textContent, term.nextSibling.innerText]))"
    )
    return evaluate(chrome, script)


def escape(chrome: Chrome) -> None:
    press(chrome, chrome.find_element(By.TAG_NAME, "body"), Keys.ESCAPE)


def search(chrome: Chrome, words: str) -> None:
    script = (
        "const field = document.getElementById('filter'); field.value = arguments[0];"
        "field.dispatchEvent(new Event('input'))"
    )
    evaluate(chrome, script, words)
