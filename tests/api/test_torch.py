"""Programs of torch.export: what PyTorch made of one, and asking it to make it again.

PyTorch is large and no dependency of the tests. Where it is missing, the model that it wrote is
compiled, and asking for more names the extra to install; where it is there, it is asked.
"""

from importlib.util import find_spec
from pathlib import Path
from types import new_class
from typing import Any

import numpy as np
import onnx
import pytest

import xdsl_tpu as xt
from xdsl_tpu.api.torch import is_exported

DATA = Path(__file__).parents[1] / "data" / "torch"
INSTALLED = find_spec("torch") is not None and find_spec("onnxscript") is not None


def kept_model() -> onnx.ModelProto:
    return onnx.ModelProto.FromString((DATA / "net.onnx").read_bytes())


def check(program: xt.Program) -> None:
    """Names, and the values that PyTorch computed."""
    with np.load(DATA / "net.npz") as saved:
        arrays = {name: saved[name] for name in saved.files}
    assert list(program.inputs) == ["image", "scale"]
    outputs = program.run([arrays["image"], arrays["scale"]])
    found = xt.compare(
        program,
        dict(zip(outputs, (arrays["scores"], arrays["features"]), strict=True)),
        [arrays["image"], arrays["scale"]],
    )
    assert found.cosine > 0.99999


def test_what_the_exporter_wrote() -> None:
    check(xt.compile(DATA / "net.onnx"))
    check(xt.compile(kept_model(), "F32"))


def test_a_pt2_file_is_a_model() -> None:
    if not INSTALLED:
        with pytest.raises(xt.TpuError, match=r"need (torch|onnxscript): pip install 'xdsl-tpu\[t"):
            xt.compile(DATA / "net.pt2")
        return
    program = xt.compile(DATA / "net.pt2")
    assert program.name == "net"
    check(program)
    made, kept = xt.from_torch(DATA / "net.pt2").graph, kept_model().graph
    for ends in ("input", "output"):
        names = [[one.name for one in getattr(graph, ends)] for graph in (made, kept)]
        assert names[0] == names[1]


def test_files_that_are_no_programs(tmp_path: Path) -> None:
    with pytest.raises(xt.TpuError, match=r"none\.pt2: no such file"):
        xt.compile(tmp_path / "none.pt2")
    bad = tmp_path / "bad.pt2"
    bad.write_bytes(b"nothing")
    wanted = "not a program that torch.export.save wrote" if INSTALLED else "programs of torch.exp"
    with pytest.raises(xt.TpuError, match=wanted):
        xt.compile(bad)


def test_an_exported_program_is_known_by_its_class() -> None:
    """Without importing PyTorch, which takes seconds."""

    def of(module: str) -> Any:
        return new_class("ExportedProgram", (), {}, lambda body: body.update(__module__=module))()

    assert is_exported(of("torch.export.exported_program"))
    assert not is_exported(of("other.export"))
    assert not is_exported("torch")
