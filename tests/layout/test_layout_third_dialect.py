"""The passes on a dialect that they have never heard of."""

import random

import numpy as np
import pytest
from tests.layout.third_dialect import (
    BoundOp,
    FilterOp,
    ForkOp,
    KnownOp,
    ParcelType,
    StubbornOp,
    SumOp,
    TurnOp,
    evaluate,
    function,
    tensor,
)
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, SSAValue

from xdsl_tpu.dialects.interfaces.layout import Layout
from xdsl_tpu.passes.layout.comparison import exhaustive
from xdsl_tpu.passes.layout.costs import CopyCosts
from xdsl_tpu.passes.layout.count import transpositions
from xdsl_tpu.passes.layout.model import build_model
from xdsl_tpu.passes.layout.problem import LayoutError
from xdsl_tpu.passes.pipeline import make_pass

N, C, H, W = 1, 3, 2, 5
FIRST, LAST = tensor(N, C, H, W), tensor(N, H, W, C)
TO_LAST, TO_FIRST = (0, 2, 3, 1), (0, 3, 1, 2)


def run(module: ModuleOp, *passes: str) -> None:
    for one in passes:
        name, _, options = one.partition(" ")
        make_pass(name, options).apply(Context(), module)
        module.verify()


def kinds(module: ModuleOp) -> list[str]:
    names = [op.name for op in module.walk() if op.name.startswith("third.")]
    return [name.removeprefix("third.") for name in names]


def add(block: Block, kind: type[Operation], *operands: SSAValue, format: str = "") -> SSAValue:
    """An op of one result of its operand's type."""
    attributes = {"format": StringAttr(format)} if format else {}
    op = kind.create(operands=operands, result_types=[operands[0].type], attributes=attributes)
    block.add_op(op)
    return op.results[0]


def two_filters() -> ModuleOp:
    """The article's example: x -> conv -> relu -> conv -> relu -> out."""
    block = Block(arg_types=[FIRST])
    x = block.args[0]
    for _ in range(2):
        x = add(block, SumOp, add(block, FilterOp, x, format="first"))
    return function([FIRST], [x], block)


def test_greedy_gives_the_simplified_form() -> None:
    module = two_filters()
    x = np.random.default_rng(0).random((N, C, H, W))
    (before,) = evaluate(module, [x])
    run(module, "auto-nhwc")
    assert kinds(module) == ["turn", "filter", "sum", "filter", "sum", "turn"]
    assert [op.format.data for op in module.walk() if isinstance(op, FilterOp)] == ["last"] * 2
    np.testing.assert_array_equal(evaluate(module, [x])[0], before)


@pytest.mark.parametrize("strategy", ["min-cut", "greedy"])
def test_target_gives_two_transpositions(strategy: str) -> None:
    module = two_filters()
    run(module, f"transfer-layout target=NHWC strategy={strategy}")
    assert transpositions(module).count == 2
    run(module, "transfer-layout target=NCHW")
    assert kinds(module) == ["filter", "sum"] * 2


def test_redundant_pairs_go_whatever_the_order() -> None:
    block = Block(arg_types=[FIRST])
    order = (3, 0, 2, 1)
    back = tuple(order.index(axis) for axis in range(4))
    first = TurnOp.of(block.args[0], order)
    block.add_ops([first, second := TurnOp.of(first.result, back)])
    module = function([FIRST], [add(block, SumOp, second.result)], block)
    run(module, "eliminate-redundant-transpose")
    assert kinds(module) == ["sum"]


def test_first_of_a_pair_stays_for_its_other_user() -> None:
    block = Block(arg_types=[FIRST])
    first = TurnOp.of(block.args[0], TO_LAST)
    block.add_ops([first, second := TurnOp.of(first.result, TO_FIRST)])
    outs = [add(block, SumOp, first.result), add(block, SumOp, second.result)]
    module = function([FIRST], outs, block)
    run(module, "eliminate-redundant-transpose")
    assert kinds(module) == ["turn", "sum", "sum"]


def test_other_pairs_stay() -> None:
    block = Block(arg_types=[FIRST])
    first = TurnOp.of(block.args[0], TO_LAST)
    block.add_ops([first, second := TurnOp.of(first.result, TO_LAST)])
    module = function([FIRST], [second.result], block)
    run(module, "eliminate-redundant-transpose")
    assert kinds(module) == ["turn", "turn"]


def test_op_that_cannot_have_its_layout_is_an_error() -> None:
    block = Block(arg_types=[FIRST])
    module = function([FIRST], [add(block, StubbornOp, block.args[0])], block)
    with pytest.raises(LayoutError, match=r"third.stubborn must be channel-last"):
        run(module, "transfer-layout")


def test_no_solution_names_both_ops() -> None:
    """A parcel cannot be transposed, and its two ends are bound to different layouts."""
    block = Block(arg_types=[ParcelType()])
    one = add(block, BoundOp, block.args[0], format="first")
    between = add(block, SumOp, one, one)
    add(block, FilterOp, between, format="first")
    module = function([ParcelType()], [block.args[0]], block)
    message = r"no solution: third.bound must be channel-first and third.filter channel-last"
    with pytest.raises(LayoutError, match=message):
        run(module, "transfer-layout target=NHWC")
    run(module, "transfer-layout target=NCHW")


def test_constants_are_turned_for_nothing() -> None:
    block = Block(arg_types=[FIRST])
    known = KnownOp.create(result_types=[FIRST])
    block.add_op(known)
    y = add(block, SumOp, add(block, FilterOp, block.args[0], format="first"), known.result)
    module = function([FIRST], [add(block, FilterOp, y, format="first")], block)
    x = np.random.default_rng(0).random((N, C, H, W))
    (before,) = evaluate(module, [x])
    run(module, "transfer-layout target=NHWC")
    assert kinds(module) == ["turn", "known", "filter", "sum", "filter", "turn"]
    np.testing.assert_allclose(evaluate(module, [x])[0], before)


def random_program(rng: random.Random) -> ModuleOp:
    """Sums, forks, filters and bound ops on tensors of both layouts, with transpositions."""
    block = Block(arg_types=[FIRST, LAST])
    values: list[SSAValue] = list(block.args)
    for _ in range(rng.randint(4, 14)):
        x = rng.choice(values[-6:])
        format = "first" if x.type == FIRST else "last"
        match rng.choice(("sum", "sum", "fork", "filter", "bound", "turn", "turn", "known")):
            case "sum":
                others = [y for y in values if y.type == x.type]
                values.append(add(block, SumOp, x, *rng.choices(others, k=rng.randint(1, 2))))
            case "fork":
                fork = ForkOp.create(operands=[x], result_types=[x.type] * 2)
                block.add_op(fork)
                values += fork.results
            case "filter":
                values.append(add(block, FilterOp, x, format=format))
            case "bound":
                values.append(add(block, BoundOp, x, format=format))
            case "turn":
                block.add_op(turn := TurnOp.of(x, TO_LAST if x.type == FIRST else TO_FIRST))
                values.append(turn.result)
            case _:
                block.add_op(known := KnownOp.create(result_types=[x.type]))
                values.append(known.result)
    outputs = [value for value in values if not list(value.uses)][:4] or values[-1:]
    return function([FIRST, LAST], outputs, block)


@pytest.mark.parametrize("target", ["NCHW", "NHWC"])
def test_random_programs_compute_the_same_with_the_least_transpositions(target: str) -> None:
    rng = random.Random(target)
    numbers = np.random.default_rng(1)
    layout = Layout.CHANNEL_LAST if target == "NHWC" else Layout.CHANNEL_FIRST
    fewer = 0
    for _ in range(100):
        module = random_program(rng)
        other, greedy = module.clone(), module.clone()
        inputs = [numbers.random((N, C, H, W)), numbers.random((N, H, W, C))]
        before = evaluate(module, inputs)
        model = build_model(module, CopyCosts.of("count", "bm1684x", "F16"), layout)
        best = exhaustive(model.problem)
        run(module, f"transfer-layout target={target}")
        assert transpositions(module).count == best.first
        run(greedy, f"transfer-layout target={target} strategy=greedy")
        assert transpositions(greedy).count >= best.first
        fewer += transpositions(greedy).count > best.first
        run(other, "auto-nhwc")
        for changed in (module, greedy, other):
            for one, now in zip(before, evaluate(changed, inputs), strict=True):
                np.testing.assert_allclose(now, one)
    assert fewer
