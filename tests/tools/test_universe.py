"""What plain xDSL tools get when this package is installed."""

import subprocess
import sys
from pathlib import Path

import pytest
from xdsl.universe import XDSL_UNIVERSE, Universe

from xdsl_tpu.passes import PASSES
from xdsl_tpu.tools.tpu_opt import TpuOptMain
from xdsl_tpu.tools.universe import ASM, UNIVERSE

XDSL_OPT = Path(sys.executable).with_name("xdsl-opt")


def test_importing_it_imports_no_dialect_and_no_numpy() -> None:
    """Every xDSL tool of the environment imports the universe whenever it starts."""
    program = (
        "import sys, xdsl_tpu.tools.universe;"
        "heavy = [m for m in sys.modules if m.split('.')[0] in ('numpy', 'onnx')"
        " or m.startswith(('xdsl_tpu.dialects', 'xdsl_tpu.passes.'))];"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_names_are_ours_alone() -> None:
    """A name that xDSL has too would break every xDSL tool of the environment."""
    assert not UNIVERSE.all_dialects.keys() & XDSL_UNIVERSE.all_dialects.keys()
    assert not UNIVERSE.all_passes.keys() & XDSL_UNIVERSE.all_passes.keys()


def test_everything_loads_under_its_name() -> None:
    for name, load in UNIVERSE.all_dialects.items():
        assert load().name == name
    for name, load in UNIVERSE.all_passes.items():
        assert load().name == name


def test_all_passes_but_the_one_xdsl_has_are_there() -> None:
    assert PASSES.keys() - UNIVERSE.all_passes.keys() == {"canonicalize"}
    assert "tpu-canonicalize" in UNIVERSE.all_passes


def test_it_is_found_by_its_entry_point() -> None:
    found = Universe.get_multiverse()
    assert UNIVERSE.all_passes.keys() <= found.all_passes.keys()
    assert {"top", "tpu", "quant"} <= found.all_dialects.keys()


def test_plain_xdsl_opt_runs_our_passes_on_our_dialect() -> None:
    text = """
      func.func @main(%a: tensor<4xf32>) -> tensor<*xf32> {
        %x = "top.Input"(%a) : (tensor<4xf32>) -> tensor<4xf32>
        %y = "top.MulConst"(%x) {const_val = 1.0 : f64} : (tensor<4xf32>) -> tensor<*xf32>
        return %y : tensor<*xf32>
      }"""
    command = [str(XDSL_OPT), "-p", "shape-infer,tpu-canonicalize"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "top.Input" in done.stdout
    assert "top.MulConst" not in done.stdout


def test_plain_xdsl_opt_says_what_no_commands_are_made_of() -> None:
    text = """
      func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
        %x = "top.Input"(%a) : (tensor<4xf32>) -> tensor<4xf32>
        return %x : tensor<4xf32>
      }"""
    command = [str(XDSL_OPT), "-t", ASM]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "address-assign" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_what_is_installed_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the entry points of an environment takes longer than a small input does."""
    TpuOptMain(["--list-passes"])

    def never() -> Universe:
        raise AssertionError("looked again")

    monkeypatch.setattr(Universe, "get_multiverse", never)
    driver = TpuOptMain(["--list-passes"])
    assert set(XDSL_UNIVERSE.all_passes) | set(PASSES) <= set(driver.available_passes)
    assert ASM in driver.available_targets
