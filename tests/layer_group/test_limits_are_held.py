"""Every number and comparison in what ops say of their local forms has a sample that holds it.

Each is changed by one (5 to 4 and 6, `>` to `>=`) in a copy of the function; then some sample op of
`test_local_support` must get another answer.
"""

import ast
import copy
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from types import FunctionType

import pytest
from tests.layer_group.test_local_support import GLOBAL, LOCAL

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, LocalGen
from xdsl_tpu.dialects.interfaces.shape import ShapeError

TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}

SAMPLES: list[NamedOp] = [*(op for _, op, _ in GLOBAL), *(op for _, op in LOCAL)]


def said() -> list[FunctionType]:
    """Every function by which an op says whether it has a local form, and what they call."""
    found: dict[FunctionType, None] = {}
    for op in tpu.Tpu.operations:
        if issubclass(op, LocalGen):
            first = inspect.getattr_static(op, "local_support")
            found |= dict.fromkeys(_called(first, op, set()))
    return [one for one in found if one is not LocalGen.local_support]


def _called(function: object, op: type, seen: set[object]) -> Iterator[FunctionType]:
    """A function, and those of the dialect that it calls: its own class's private ones, and those
    of modules."""
    if not isinstance(function, FunctionType) or function in seen:
        return
    if not function.__module__.startswith("xdsl_tpu.dialects.tpu."):
        return
    seen.add(function)
    yield function
    for node in ast.walk(_source(function)):
        if isinstance(node, ast.Name):
            yield from _called(function.__globals__.get(node.id), op, seen)
        elif isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            yield from _called(inspect.getattr_static(op, node.attr, None), op, seen)


def limits(function: FunctionType) -> list[tuple[int, int]]:
    """The nodes of its source, in the order of a walk, that are numbers or comparisons, and how
    each can be changed: a number by what, a comparison at which place. Places in a list are none.
    """
    found: list[tuple[int, int]] = []
    tree = _source(function)
    places = {inner for node in ast.walk(tree) for inner in _inside(node)}
    for index, node in enumerate(ast.walk(tree)):
        if node not in places and _number(node, function) is not None:
            found += [(index, -1), (index, 1)]
        if isinstance(node, ast.Compare) and any(type(one) in TURNED for one in node.ops):
            found += [(index, place) for place, one in enumerate(node.ops) if type(one) in TURNED]
    return found


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """What says a place in a list."""
    if isinstance(node, ast.Subscript):
        yield from ast.walk(node.slice)
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "self.static_shape":
        yield from node.args


def _source(function: FunctionType) -> ast.Module:
    return ast.parse(textwrap.dedent(inspect.getsource(function)))


def _number(node: ast.AST, function: FunctionType) -> int | None:
    """A number, or the name of one."""
    value: object = None
    if isinstance(node, ast.Constant):
        value = node.value
    elif isinstance(node, ast.Name) and node.id.isupper():
        value = function.__globals__.get(node.id)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def changed(function: FunctionType, index: int, by: int) -> FunctionType:
    """A copy in which one node is another."""
    tree = copy.deepcopy(_source(function))
    node = list(ast.walk(tree))[index]
    if isinstance(node, ast.Compare):
        node.ops[by] = TURNED[type(node.ops[by])]()
    else:
        number = _number(node, function)
        assert number is not None
        _Put(node, number + by).visit(tree)
    # Within a function that has a `__class__`, as `super` wants it.
    around = ast.parse("def made(__class__):\n    return 0")
    (outer,) = around.body
    assert isinstance(outer, ast.FunctionDef)
    outer.body = [*tree.body, ast.Return(ast.Name(function.__name__, ast.Load()))]
    names: dict[str, Callable[[object], FunctionType]] = {}
    exec(compile(ast.fix_missing_locations(around), __name__, "exec"), function.__globals__, names)
    return names["made"](inspect.getclosurevars(function).nonlocals.get("__class__"))


class _Put(ast.NodeTransformer):
    """Puts a number in the place of a node."""

    def __init__(self, node: ast.AST, number: int) -> None:
        self.node, self.number = node, number

    def visit(self, node: ast.AST) -> ast.AST:
        return ast.Constant(self.number) if node is self.node else self.generic_visit(node)


def answers() -> Iterator[str | None]:
    for op in SAMPLES:
        assert isinstance(op, LocalGen)
        for kind in (GroupType.NORMAL, GroupType.SMALL_C):
            try:
                yield op.local_support(kind)
            except (IndexError, ShapeError) as error:  # another answer, too
                yield str(error)


def _owners(function: FunctionType) -> Iterator[tuple[object, str]]:
    """Classes and modules that have a function under its name."""
    for module in [m for n, m in sys.modules.items() if n.startswith("xdsl_tpu.dialects")]:
        for place in (module, *(v for v in vars(module).values() if isinstance(v, type))):
            if vars(place).get(function.__name__) is function:
                yield place, function.__name__


CASES = [
    pytest.param(function, index, by, id=f"{function.__qualname__}-{index}-{by}")
    for function in said()
    for index, by in limits(function)
]


@pytest.mark.parametrize(("function", "index", "by"), CASES)
def test_a_limit_that_moves_is_seen(
    function: FunctionType, index: int, by: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = list(answers())
    other = changed(function, index, by)
    for place, name in dict.fromkeys(_owners(function)):
        monkeypatch.setattr(place, name, other)
    assert list(answers()) != before


def test_there_are_limits() -> None:
    assert len(CASES) > 60
