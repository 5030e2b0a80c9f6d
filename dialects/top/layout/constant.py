"""Weights: constants whose numbers lie beside the IR."""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from xdsl.builder import Builder
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xdsl_tpu.dialects.interfaces.layout import LayoutConstant, Order
from xdsl_tpu.dialects.interfaces.layout_rules import shape_of
from xdsl_tpu.dialects.names import name_loc, name_of
from xdsl_tpu.dialects.top.layout.base import PACKAGE

if TYPE_CHECKING:
    from xdsl_tpu.dialects.weights import Weights


class WeightLayout(LayoutConstant):
    """A weight: transposing it makes another weight."""

    def permuted(self, op: Operation, order: Order, builder: Builder) -> SSAValue | None:
        return permuted_weight(op, shape_of(op.results[0]), order, f"{name_of(op)}_moved", builder)

    def release(self, op: Operation) -> None:
        weights, name = _weights(op), name_of(op)
        if weights is not None and name is not None:
            weights.pop(name, None)


def permuted_weight(
    op: Operation, shape: Sequence[int], order: Order, name: str, builder: Builder
) -> SSAValue:
    """The weight of `op`, seen in `shape`, with its dimensions in another order.

    The new weight is called `name`, or that with a number if it is taken. Without known numbers
    (IR written by hand) only the op is made.
    """
    weights, old = _weights(op), name_of(op)
    unique, number = name, 0
    while weights is not None and unique in weights:
        number += 1
        unique = f"{name}_{number}"
    if weights is not None and old is not None:
        weights[unique] = weights[old].reshape(shape).transpose(order)
    kind = op.results[0].type
    assert isa(kind, TensorType[Attribute])
    weight = import_module(f"{PACKAGE}.source").WeightOp.create(
        result_types=[TensorType(kind.element_type, [shape[axis] for axis in order])],
        attributes=dict(op.attributes),
        location=name_loc(unique),
    )
    return builder.insert(weight).results[0]


def element_of(op: Operation) -> float | None:
    """The number in a weight of one element; None when it is not known, or there are several."""
    weights, name = _weights(op), name_of(op)
    if weights is None or name is None or name not in weights or weights[name].size != 1:
        return None
    return float(weights[name].reshape(-1)[0])


def _weights(op: Operation) -> "Weights | None":
    """The weights of the module that `op` is in, if something says where they are.

    Imported here, as the dialect itself gets by without numpy.
    """
    from xdsl_tpu.dialects.weights import weights_around

    return weights_around(op)
