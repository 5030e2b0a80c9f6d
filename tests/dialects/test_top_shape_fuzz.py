"""Whatever the operands and attributes are, an op gives its shapes or one clear message."""

import random
from collections.abc import Iterator

import pytest
from xdsl.dialects.builtin import NoneType, TensorType, f32
from xdsl.ir import Attribute, Block, Operation
from xdsl.irdl import OptOperandDef, VarOperandDef, VarResultDef

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import (
    BOOL,
    F64,
    F64_ARRAY,
    I32_DENSE,
    I32_INT,
    I64_ARRAY,
    I64_INT,
    SI32,
    TEXT,
    ChoiceKind,
)
from xdsl_tpu.dialects.base import UNRANKED_F32, NamedOp
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, ShapeInference, constants_from

ATTEMPTS = 120


def shaped_ops() -> list[type[NamedOp]]:
    """All ops but If, whose shapes come from its branches."""
    ops = [op for op in top.Top.operations if issubclass(op, ShapeInference)]
    return [op for op in ops if issubclass(op, NamedOp) and op.name != "top.If"]


def integers(rng: random.Random, low: int = -2, high: int = 5) -> list[int]:
    return [rng.randint(low, high) for _ in range(rng.randint(0, 5))]


def value_of(kind: object, rng: random.Random) -> object:
    if isinstance(kind, ChoiceKind):
        return rng.choice(kind.choices)
    if kind == TEXT:
        return rng.choice(("ab,bc->ac", "abc,cd", "a->b", "", "ab->", "..."))
    plain = {
        BOOL: rng.random() < 0.5,
        I64_INT: rng.randint(-2, 4),
        I32_INT: rng.randint(-2, 4),
        SI32: rng.randint(-2, 4),
        F64: rng.uniform(-1, 3),
        I64_ARRAY: integers(rng),
        F64_ARRAY: [float(value) for value in integers(rng)],
        I32_DENSE: integers(rng),
    }
    return next(value for key, value in plain.items() if key == kind)


def operand_types(op: type[NamedOp], rng: random.Random) -> Iterator[Attribute]:
    rank = rng.randint(0, 5)
    for _, definition in op.get_irdl_definition().operands:
        optional = isinstance(definition, OptOperandDef)
        count = rng.randint(0, 1) if optional else 1
        for _ in range(rng.randint(0, 3) if isinstance(definition, VarOperandDef) else count):
            length = rank if rng.random() < 0.7 else rng.randint(0, 5)
            shape = [rng.choice((0, 1, 1, 2, 2, 3, 4, 6)) for _ in range(length)]
            absent = rng.random() < 0.2
            yield NoneType() if absent else TensorType(f32, shape)


def random_op(op: type[NamedOp], rng: random.Random) -> Operation:
    definition = op.get_irdl_definition()
    block = Block(arg_types=tuple(operand_types(op, rng)))
    variable = any(isinstance(result, VarResultDef) for _, result in definition.results)
    results = rng.randint(0, 3) if variable else len(definition.results)
    given = {
        name: value_of(attribute.constr, rng)
        for name, attribute in definition.attributes.items()
        if type(attribute).__name__ != "OptAttributeDef" or rng.random() < 0.5
    }
    types = [NoneType() if rng.random() < 0.2 else UNRANKED_F32 for _ in range(results)]
    return op.make("x", block.args, result_types=types, **given)  # pyright: ignore[reportArgumentType] - any kind of value


@pytest.mark.parametrize("op", shaped_ops(), ids=lambda op: op.__name__)
def test_any_operands_give_shapes_or_a_message(op: type[NamedOp]) -> None:
    rng = random.Random(op.name)
    for _ in range(ATTEMPTS):
        subject = random_op(op, rng)
        assert isinstance(subject, ShapeInference)
        values = {operand: integers(rng, -1, 4) for operand in subject.operands}
        with constants_from(values.get):
            shapes, message = outcome(subject)
        assert message is None or message.startswith(f'{op.name} "x": ')
        assert len(shapes) == len(subject.results) or message is not None
        assert all(size >= 0 for shape in shapes for size in shape)


def outcome(op: ShapeInference) -> tuple[tuple[Shape, ...], str | None]:
    """The shapes, or none and what is wrong."""
    try:
        shapes = op.infer_shapes()
    except ShapeError as error:
        return (), str(error)
    op.resolve()
    assert op.infer_shapes() == shapes
    return shapes, None
