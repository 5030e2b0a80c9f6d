"""Progress: on terminals, in notebooks, and nowhere else."""

import io
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from tests.api.samples import image

import xdsl_tpu as xt
from xdsl_tpu.api import shown


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the kernel of a Jupyter notebook is told to display; there is no Jupyter here."""
    lines: list[Any] = []

    def display(line: object, display_id: bool) -> Any:
        assert display_id
        lines.append(line)
        return SimpleNamespace(update=lines.append)

    shell = SimpleNamespace(kernel=object())
    ipython = SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    return lines


def test_a_bar_in_jupyter(displayed: list[Any], program: xt.Program) -> None:
    program.run(image())
    assert 3 < len(displayed) <= 102
    texts = [line._repr_html_() for line in displayed]
    assert "<span>running cnn</span>" in texts[0]
    total = len(program.commands.tiu) + len(program.commands.gdma)
    assert f'<progress value="{total}" max="{total}">' in texts[-2]
    assert repr(displayed[-2]) == f"running cnn: {total} of {total}"
    assert texts[-1] == "<span></span>"
    before = len(displayed)
    program.run(image(), progress=False)
    assert len(displayed) == before


def test_stages_in_jupyter(displayed: list[Any], model: Any) -> None:
    xt.compile(model)
    said = [repr(line) for line in displayed]
    assert said[0] == "cnn.onnx: compiling"
    assert {"cnn.onnx: import", "cnn.onnx: codegen"} <= set(said)
    assert said[-1] == ""


def test_an_error_takes_the_line_away(displayed: list[Any], model: Any) -> None:
    with pytest.raises(xt.TpuError):
        xt.compile(model, "INT8")
    assert repr(displayed[-1]) == ""


def test_silence_where_nobody_looks(
    program: xt.Program, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program.run(image())
    assert capsys.readouterr() == ("", "")
    written = io.StringIO()
    terminal = Console(file=written, force_terminal=True)

    def console(progress: bool | None) -> Console:
        return terminal

    monkeypatch.setattr(shown, "_console", console)
    program.run(image())
    assert "running cnn" in written.getvalue()
