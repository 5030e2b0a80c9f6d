"""`import xdsl_tpu` imports nothing, and has every name it promises."""

import ast
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest

import xdsl_tpu as xt

ROOT = Path(__file__).parents[2]


def test_the_import_is_light() -> None:
    probe = (
        "import sys; before = set(sys.modules); import xdsl_tpu;"
        "new = {name.split('.')[0] for name in set(sys.modules) - before};"
        "print(sorted(new - set(sys.stdlib_module_names)));"
        "dir(xdsl_tpu); assert 'numpy' not in sys.modules and 'xdsl' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout == "['xdsl_tpu']\n"


@pytest.mark.parametrize("name", sorted(set(xt.__all__) - {"__version__"}))
def test_every_name_is_there_and_documented(name: str) -> None:
    found = getattr(xt, name)
    assert found is getattr(import_module(found.__module__), name)
    assert found.__doc__
    assert name in dir(xt)


def test_what_a_type_checker_sees_is_what_there_is() -> None:
    tree = ast.parse((ROOT / "src" / "xdsl_tpu" / "__init__.py").read_text(encoding="utf-8"))
    (typed,) = (node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in typed.body if isinstance(node, ast.ImportFrom)]
    seen = {alias.name: node.module for node in imports for alias in node.names}
    assert {*seen, "__version__"} == set(xt.__all__)
    for name, module in seen.items():
        assert getattr(import_module(str(module)), name) is getattr(xt, name)


def test_the_version_is_the_package_s() -> None:
    assert xt.__version__ == version("xdsl-tpu")


def test_other_names_are_an_ordinary_error() -> None:
    with pytest.raises(AttributeError, match="'xdsl_tpu' has no attribute 'nothing'"):
        getattr(xt, "nothing")  # noqa: B009
