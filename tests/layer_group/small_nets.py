"""Small networks through the pass `layer-group`, and changing what it wrote."""

from collections.abc import Sequence
from typing import Any

from tests.kernels.harness import Case
from tests.local.test_local_cnn import conv
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY, I64_INT
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.tpu import LayerGroupAttr
from xdsl_tpu.dialects.tpu.op import LocalOp
from xdsl_tpu.passes import PASSES
from xdsl_tpu.passes.layer_group.layer_group import LayerGroupPass


def residual(size: int = 12, channels: int = 70) -> Case:
    """conv-relu, conv, add of the input, relu."""
    case = Case("f16")
    shape = (1, channels, size, size)
    x = case.input("x", shape)
    a = conv(case, x, "a", (shape, shape), (3, 3), pads=(1, 1, 1, 1), relu=-1.0)
    b = conv(case, a, "b", (shape, shape), (1, 1))
    case.op("tpu.Add", [b, x], {"do_relu": "true"}, "y", shape)
    return case


def chain(count: int, channels: int = 64, size: int = 8) -> Case:
    """`count` 1x1 convolutions one after the other, named c0, c1, .."""
    case = Case("f16")
    shape = (1, channels, size, size)
    value = case.input("x", shape)
    for index in range(count):
        value = conv(case, value, f"c{index}", (shape, shape), (1, 1))
    return case


def interrupted() -> Case:
    """Two convolutions, an op that has no local form, two more."""
    case = Case("f16")
    shape, turned = (1, 64, 8, 16), (1, 64, 16, 8)
    value = case.input("x", shape)
    for name in ("a", "b"):
        value = conv(case, value, name, (shape, shape), (1, 1))
    value = case.op("tpu.Permute", [value, "none"], {"order": "[0, 1, 3, 2]"}, "p", turned)
    for name in ("c", "d"):
        value = conv(case, value, name, (turned, turned), (1, 1))
    return case


def prepared(case: Case) -> ModuleOp:
    """The case as the pass finds it."""
    module = case.module()
    for name in ("weight-reorder", "subnet-divide"):
        PASSES[name]()().apply(make_context(), module)
    return module


def grouped_by_pass(case: Case, **options: Any) -> ModuleOp:
    """The case after `layer-group`, with its options."""
    module = prepared(case)
    LayerGroupPass(**options).apply(make_context(), module)
    module.verify()
    return module


def groups_of(module: ModuleOp) -> list[tpu.GroupOp]:
    """The groups in order."""
    return [op for op in module.walk() if isinstance(op, tpu.GroupOp)]


def members(group: tpu.GroupOp) -> list[str]:
    """The names of the ops that compute."""
    transfers = (tpu.LoadOp, tpu.StoreOp, tpu.YieldOp)
    return [name_of(op) or "" for op in group.body.block.ops if not isinstance(op, transfers)]


def find(module: ModuleOp, name: str, kind: type[Operation] = LocalOp) -> LocalOp:
    """The op of a group with a name; `kind` tells a Store from the op it stores."""
    for group in groups_of(module):
        for op in group.body.block.ops:
            wanted = isinstance(op, kind) and (
                kind is tpu.StoreOp or not isinstance(op, tpu.StoreOp)
            )
            if wanted and name_of(op) == name and isinstance(op, LocalOp):
                return op
    raise AssertionError(f"no op '{name}' in a group")


def info(op: LocalOp) -> LayerGroupAttr:
    """The ginfo of an op that has one."""
    assert op.ginfo is not None
    return op.ginfo


def change(op: LocalOp, **new: int | bool | Sequence[int]) -> None:
    """Replace fields of an op's ginfo."""
    old = info(op)
    keys = [key for key, _ in LayerGroupAttr.get_irdl_definition().parameters]
    values = [_encoded(new[key]) if key in new else getattr(old, key) for key in keys]
    op.attributes["ginfo"] = LayerGroupAttr.new(values)


def _encoded(value: int | bool | Sequence[int]) -> Attribute:
    if isinstance(value, bool):
        return BOOL.encode(value)
    return I64_INT.encode(value) if isinstance(value, int) else I64_ARRAY.encode(value)
