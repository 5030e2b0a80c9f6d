"""What is verified between passes: whatever changed, and nothing less than xDSL finds."""

from collections.abc import Callable

import pytest
from tests.passes.semantics import Net
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType, f32
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.interfaces.shape import ShapeInference
from xdsl_tpu.passes.verification import Verifier

Damage = Callable[[dict[str, Operation]], None]


def _module() -> tuple[ModuleOp, dict[str, Operation]]:
    net = Net()
    x = net.input("x", 1, 4, 8, 8)
    halves = net.op(top.ConcatOp, "both", (net.op(top.ReluOp, "relu", (x,)), x), axis=1)
    module = net.module(net.op(top.SqrtOp, "root", (halves,)))
    ops: dict[str, Operation] = {
        op.name.split(".")[-1]: op for op in module.walk() if isinstance(op, ShapeInference)
    }
    return module, ops


def _type(value: SSAValue, *shape: int) -> None:
    Rewriter.replace_value_with_new_type(value, TensorType(f32, shape))


def _attribute_of_another_kind(ops: dict[str, Operation]) -> None:
    ops["Concat"].attributes["axis"] = StringAttr("rows")


def _attribute_that_changes_the_shape(ops: dict[str, Operation]) -> None:
    ops["Concat"].attributes["axis"] = top.ConcatOp.make("y", (), axis=2).attributes["axis"]


def _type_of_an_operand(ops: dict[str, Operation]) -> None:
    _type(ops["Relu"].operands[0], 1, 4, 8, 7)


def _type_of_a_result(ops: dict[str, Operation]) -> None:
    _type(ops["Concat"].results[0], 1, 8, 8, 9)


def _another_operand(ops: dict[str, Operation]) -> None:
    ops["Sqrt"].operands[0] = ops["Relu"].results[0]


def _too_few_operands(ops: dict[str, Operation]) -> None:
    ops["Sqrt"].operands = ()


def _erased_operand(ops: dict[str, Operation]) -> None:
    op = ops["Relu"]
    op.results[0].erase(safe_erase=False)
    op.detach()


def _wrong_block(ops: dict[str, Operation]) -> None:
    ops["Sqrt"].parent = None


def _is_refused(verify: Callable[[], None]) -> bool:
    try:
        verify()
    except (VerifyException, ValueError):
        return True
    return False


@pytest.mark.parametrize(
    "damage",
    [
        _attribute_of_another_kind,
        _attribute_that_changes_the_shape,
        _type_of_an_operand,
        _type_of_a_result,
        _another_operand,
        _too_few_operands,
        _erased_operand,
        _wrong_block,
    ],
)
def test_damage_behind_a_verification_is_found(damage: Damage) -> None:
    module, ops = _module()
    verifier = Verifier()
    verifier.verify(module)
    damage(ops)
    assert _is_refused(lambda: module.verify())
    assert _is_refused(lambda: verifier.verify(module))


def test_ops_are_verified_once_while_they_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    module, ops = _module()
    seen: list[str] = []
    verify = NamedOp.verify

    def noted(self: NamedOp, verify_nested_ops: bool = True) -> None:
        seen.append(self.name)
        verify(self, verify_nested_ops)

    monkeypatch.setattr(NamedOp, "verify", noted)
    verifier = Verifier()
    verifier.verify(module)
    assert {"top.Relu", "top.Concat", "top.Sqrt"} <= set(seen)
    seen.clear()
    verifier.verify(module)
    assert seen == []
    ops["Relu"].attributes["relu_limit"] = top.ReluOp.make("y", (), relu_limit=6.0).attributes[
        "relu_limit"
    ]
    verifier.verify(module)
    assert seen == ["top.Relu"]
