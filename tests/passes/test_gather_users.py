"""Ops that come together for the weight they share compute what they did."""

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import make_context, parse_module
from xdsl_tpu.passes import gather_users
from xdsl_tpu.passes.layer_group import orders
from xdsl_tpu.passes.layer_group.clock import Clock
from xdsl_tpu.passes.layer_group.optimal import OptimalSearch
from xdsl_tpu.passes.layer_group.orders import Found, first_done
from xdsl_tpu.passes.module_state import chip_of
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.tensors import functions

SIZE = 16
KIND, WEIGHT = f"tensor<1x{SIZE}xf32>", f"tensor<{SIZE}x{SIZE}xf32>"
TWO_IMAGES = ["a = x w", "b = a v", "c = y w", "d = c v"]


def network(lines: list[str]) -> ModuleOp:
    """`out = left right` for every product and sum; weights are `u`, `v` and `w`."""
    body = ""
    for line in lines:
        out, _, left, right = line.split()
        where = f' loc("{out}")\n'
        if right in "uvw":
            kinds = f"({KIND}, {WEIGHT}, none, none, none) -> {KIND}"
            body += f'%{out} = "tpu.MatMul"(%{left}, %{right}, %n, %n, %n) : {kinds}{where}'
        else:
            body += f'%{out} = "tpu.Add"(%{left}, %{right}) : ({KIND}, {KIND}) -> {KIND}{where}'
    made = [line.split()[0] for line in lines]
    read = {name for line in lines for name in line.split()[2:]}
    last = [name for name in made if name not in read]
    weights = "\n".join(f'%{w} = "top.Weight"() : () -> {WEIGHT} loc("{w}")' for w in "uvw")
    return parse_module(f"""
      module @net attributes {{module.chip = "bm1684x"}} {{
        func.func @main(%p: {KIND} loc(unknown), %q: {KIND} loc(unknown)) -> (
            {", ".join(KIND for _ in last)}) {{
          %x = "top.Input"(%p) : ({KIND}) -> {KIND} loc("x")
          %y = "top.Input"(%q) : ({KIND}) -> {KIND} loc("y")
          %n = "top.None"() : () -> none
          {weights}
          {body}
          return {", ".join("%" + one for one in last)} : {", ".join(KIND for _ in last)}
        }}
      }}""")


def gather(module: ModuleOp) -> None:
    for func in functions(module):
        gather_users.gather_users(func.body.block, chip_of(module))


def order(module: ModuleOp) -> str:
    kinds = (tpu.MatMulOp, tpu.AddOp)
    return " ".join(name_of(op) or "" for op in module.walk() if isinstance(op, kinds))


@pytest.fixture(autouse=True)
def small_weights_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather_users, "LEAST", 4 * SIZE * SIZE)
    monkeypatch.setattr(gather_users, "HELD", 1 << 40)


@pytest.mark.parametrize("seed", range(12))
def test_numbers_stay(seed: int) -> None:
    """Random networks of products with three weights, and sums."""
    rng = np.random.default_rng(seed)
    values, lines, moved = ["x", "y"], list[str](), [f"t{i}" for i in range(14)]
    for out in moved:
        left, right = rng.choice(values[-6:]), rng.choice([*"uvwuvw", *values[-6:]])
        lines.append(f"{out} = {left} {right}")
        values.append(out)
    module = network(lines)
    inputs = {name: rng.standard_normal((1, SIZE)).astype(np.float32) for name in "xy"}
    weights = {w: rng.standard_normal((SIZE, SIZE)).astype(np.float32) for w in "uvw"}
    before = run_module(module, inputs, weights)
    gather(module)
    module.verify()
    after = run_module(module, inputs, weights)
    assert list(after) == list(before)
    for name, array in after.items():
        np.testing.assert_array_equal(array, before[name])


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (TWO_IMAGES, "a c b d"),
        ([*TWO_IMAGES, "e = y w"], "a c e b d"),  # all that read it
        (["a = x w", "b = a v", "c = b w", "d = c v"], "a b c d"),  # each needs the one before
        # What the second one needs goes in front of both.
        (["a = x w", "b = a v", "s = y y", "c = s w", "d = c v"], "s a c b d"),
    ],
)
def test_order(lines: list[str], expected: str) -> None:
    module = network(lines)
    gather(module)
    assert order(module) == expected


def ended(end: int, gdma: int) -> OptimalSearch:
    return cast(OptimalSearch, SimpleNamespace(end=lambda: Clock(end, gdma)))


@pytest.mark.parametrize(
    ("end", "gdma", "expected"),
    [
        (998, 500, "a c b d"),
        (1002, 300, "a b c d"),
        (1001, 399, "a c b d"),  # about as long, with fewer transfers
        (999, 400, "a b c d"),
    ],
)
def test_the_order_that_is_done_first(end: int, gdma: int, expected: str) -> None:
    """A network that is expected to take 1000 cycles as it is, 400 of them of transfers."""
    ends = iter([(1000, 400), (end, gdma)])
    module = network(TWO_IMAGES)
    func = next(iter(functions(module)))
    found = first_done(func, chip_of(module), lambda: Found(ended(*next(ends)), [], []))
    assert found.search.end().end == (end if expected == "a c b d" else 1000)
    assert order(module) == expected
    module.verify()


@pytest.mark.parametrize(
    ("option", "expected"), [("", "a c b d"), ("gather=false", "a b c d"), ("opt=0", "a b c d")]
)
def test_layer_group_asks(option: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_better(*_: object) -> bool:
        return True

    monkeypatch.setattr(orders, "_is_better", is_better)
    module = network(TWO_IMAGES)
    make_pass("subnet-divide").apply(make_context(), module)
    make_pass("layer-group", option).apply(make_context(), module)
    assert order(module) == expected
