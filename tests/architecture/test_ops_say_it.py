"""What an op can do is said by the op: passes and backend decide by no op's name, a local form is
where its kernel is, and a new element-wise op is known to few files."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from xdsl.ir import Operation

from xdsl_tpu.backend.leaves import LEAVES
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen

ROOT = Path(__file__).parents[2]
OP_NAME = re.compile(r"(tpu|top)\.[A-Z]\w*")

READS_REPORTS = ("backend/report/", "backend/estimate/", "backend/diagnosis/")
"""What looks at programs: of an op they have nothing but the name."""


def _strings(tree: ast.AST) -> Iterator[ast.Constant]:
    """String constants that are values: no docstrings, no annotations."""
    passed_over: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            passed_over.add(node.value)
        notes = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        for note in filter(None, notes):
            passed_over.update(ast.walk(note))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node not in passed_over:
            yield node


def _op_names(path: Path) -> Iterator[str]:
    for node in _strings(ast.parse(path.read_text(encoding="utf-8"))):
        text = node.value
        if isinstance(text, str) and OP_NAME.fullmatch(text):
            yield f"{path.relative_to(ROOT)}:{node.lineno}: {text}"


def test_passes_and_backend_know_no_op_by_its_name() -> None:
    paths = [path for room in ("passes", "backend") for path in (ROOT / room).rglob("*.py")]
    found = [name for path in paths for name in _op_names(path)]
    assert [one for one in found if not one.startswith(READS_REPORTS)] == []


def _claims_a_local_form(op: type[Operation]) -> bool:
    return issubclass(op, LocalGen) and op.local_support is not LocalGen.local_support


@pytest.mark.parametrize("op", LEAVES, ids=lambda op: op.name)
def test_an_op_with_a_kernel_on_slices_says_that_it_has_a_local_form(op: type[Operation]) -> None:
    if LEAVES[op].sliced is not None:
        assert _claims_a_local_form(op)


def test_group_search_knows_no_class_of_computing_ops() -> None:
    """Loads, Stores, the group, and what only says where values lie are its own; everything else it
    asks by an interface."""
    own = {"GroupOp", "LoadOp", "StoreOp", "YieldOp", "BufferOp", "JoinOp"}
    found: set[str] = set()
    for path in (ROOT / "passes/layer_group").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                is_op = node.value.id == "tpu" and node.attr.endswith("Op")
                found.update([node.attr] if is_op else [])
    assert found <= own


@pytest.mark.parametrize("op", [tpu.LeakyReluOp, tpu.PReluOp])
def test_an_element_wise_op_is_known_to_five_files(op: type[Operation]) -> None:
    """Its class and name, its meaning, how it is computed, and what is lowered to it."""
    word = op.__name__
    known = re.compile(rf"tpu\.{word}\b|^class {word}\b|^    {word},$", re.MULTILINE)
    rooms = ("dialects/tpu", "dialects/interpreters", "dialects/interfaces", "backend", "passes")
    paths = [path for room in rooms for path in (ROOT / room).rglob("*.py")]
    files = [path for path in paths if known.search(path.read_text(encoding="utf-8"))]
    assert len(files) <= 5, files
