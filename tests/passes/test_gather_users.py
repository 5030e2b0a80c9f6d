"""Ops that come together for the weight they share compute what they did."""

from dataclasses import dataclass
from itertools import count

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import NoKernel
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import make_context, parse_module
from xdsl_tpu.passes import gather_users, op_reorder
from xdsl_tpu.passes.pipeline import make_pass

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
    make_pass("op-reorder", "measure=false").apply(make_context(), module)
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
    make_pass("op-reorder", "measure=false").apply(make_context(), module)
    assert order(module) == expected


@dataclass
class Line:
    total: int


@pytest.mark.parametrize(
    ("gathered", "expected"), [(9, "a c b d"), (10, "a b c d"), (11, "a b c d")]
)
def test_only_what_is_faster(gathered: int, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network as it was takes ten cycles here."""
    asked = count()

    def measured(*_: object) -> Line:
        return Line(gathered if next(asked) == 0 else 10)

    monkeypatch.setattr(op_reorder, "measured", measured)
    module = network(TWO_IMAGES)
    make_pass("op-reorder").apply(make_context(), module)
    assert order(module) == expected
    assert next(asked) == 2


def test_what_cannot_be_measured_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(*_: object) -> Line:
        raise NoKernel("none")

    monkeypatch.setattr(op_reorder, "measured", measured)
    module = network(TWO_IMAGES)
    make_pass("op-reorder").apply(make_context(), module)
    assert order(module) == "a b c d"
