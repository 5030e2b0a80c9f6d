"""Progress where somebody looks: a terminal, a Jupyter or a marimo notebook."""

import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import Any

from rich.console import Console

from xdsl_tpu.tools import progress as tool

Update = Callable[[str], None]
Advance = Callable[[], None]


def working(progress: bool | None, what: str) -> AbstractContextManager[Update]:
    """Say what is being done for as long as it is; the function says it in other words.

    `progress` is whether to; by default where somebody looks.
    """
    if progress is not False and (place := _notebook()) is not None:
        return _said(place(what, None))
    return tool.working(_console(progress), what)


def counted(progress: bool | None, what: str, total: int) -> AbstractContextManager[Advance]:
    """Say how much of `total` is done; the function is called after each."""
    if progress is not False and (place := _notebook()) is not None:
        return _counted(place(what, total), total)
    return tool.counting(_console(progress), what, total)


def _console(progress: bool | None) -> Console:
    """Standard error; quiet unless asked for, or read by somebody."""
    console = Console(stderr=True)
    console.quiet = progress is False or (progress is None and not console.is_terminal)
    return console


class _Jupyter:
    """One line of a notebook's output that is written again and again."""

    def __init__(self, what: str, total: int | None) -> None:
        self.what, self.total = what, total
        display: Any = import_module("IPython.display").display
        self.handle = display(_Line(what, 0, total), display_id=True)

    def show(self, what: str, done: int) -> None:
        self.handle.update(_Line(what or self.what, done, self.total))

    def close(self) -> None:
        self.handle.update(_Line("", 0, None))


@dataclass(frozen=True)
class _Line:
    what: str
    done: int
    total: int | None

    def _repr_html_(self) -> str:
        bar = ""
        if self.total is not None:
            bar = f' <progress value="{self.done}" max="{self.total}"></progress>'
        return f"<span>{escape(self.what)}</span>{bar}"

    def __repr__(self) -> str:
        return self.what if self.total is None else f"{self.what}: {self.done} of {self.total}"


class _Marimo:
    """marimo's own bar or spinner."""

    def __init__(self, what: str, total: int | None) -> None:
        status: Any = import_module("marimo").status
        self.done = 0
        if total is None:
            self.context = status.spinner(title=what, remove_on_exit=True)
        else:
            self.context = status.progress_bar(total=total, title=what, remove_on_exit=True)
        self.bar = self.context.__enter__()

    def show(self, what: str, done: int) -> None:
        if done:
            self.bar.update(increment=done - self.done)
            self.done = done
        else:
            self.bar.update(title=what)

    def close(self) -> None:
        self.context.__exit__(None, None, None)


Place = type[_Jupyter] | type[_Marimo]


def _notebook() -> Place | None:
    """The notebook that this process is the kernel of, if it is one."""
    if (marimo := sys.modules.get("marimo")) is not None and marimo.running_in_notebook():
        return _Marimo
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return _Jupyter if getattr(shell, "kernel", None) is not None else None


@contextmanager
def _said(place: _Jupyter | _Marimo) -> Generator[Update]:
    try:
        yield lambda text: place.show(text, 0)
    finally:
        place.close()


@contextmanager
def _counted(place: _Jupyter | _Marimo, total: int) -> Generator[Advance]:
    """At most a hundred messages: each goes to a browser."""
    done, step = 0, max(1, total // 100)

    def advance() -> None:
        nonlocal done
        done += 1
        if done % step == 0 or done == total:
            place.show("", done)

    try:
        yield advance
    finally:
        place.close()
