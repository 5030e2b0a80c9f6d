"""Variables: constants whose numbers lie beside the IR, or in it."""

from itertools import product
from math import prod
from typing import Any, cast

from xdsl.builder import Builder
from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.dialects.interfaces.layout import (
    LayoutConstant,
    Order,
    permuted_type,
)
from xdsl_tpu.dialects.interfaces.layout_rules import reordered, shape_of
from xdsl_tpu.dialects.names import OP_NAME, name_of
from xdsl_tpu.dialects.oneflow.layout.base import SI64


class VariableLayout(LayoutConstant):
    """A variable: transposing it makes another variable, where its numbers are known.

    Where they are not, in text without weights, the transposition stays: whoever reads the text
    has the numbers under the old name only.
    """

    def permuted(self, op: Operation, order: Order, builder: Builder) -> SSAValue | None:
        from xdsl_tpu.dialects.weights import weights_around

        weights, old = weights_around(op), name_of(op)
        if weights is None or old is None or old not in weights or len(op.results) != 1:
            return None
        name, number = f"{old}_moved", 0
        while name in weights:
            number += 1
            name = f"{old}_moved_{number}"
        weights[name] = weights[old].transpose(order)
        sizes = reordered(shape_of(op.results[0]), order)
        attributes: dict[str, Attribute] = {**op.attributes, OP_NAME: StringAttr(name)}
        if "shape" in attributes:
            attributes["shape"] = ArrayAttr([IntegerAttr(size, SI64) for size in sizes])
        if "output_lbns" in attributes:
            attributes["output_lbns"] = ArrayAttr([StringAttr(f"{name}/out")])
        made = type(op).create(
            operands=op.operands,
            result_types=[permuted_type(op.results[0].type, order)],
            attributes=attributes,
            location=op.location,
        )
        return builder.insert(made).results[0]


class ElementsLayout(LayoutConstant):
    """A variable_ir: another one with the elements in another order."""

    def permuted(self, op: Operation, order: Order, builder: Builder) -> SSAValue | None:
        old = cast(DenseIntOrFPElementsAttr[Any], op.attributes["value"])
        shape, elements = shape_of(op.results[0]), list(old.get_values())
        strides = reordered([prod(shape[axis + 1 :]) for axis in range(len(shape))], order)
        indices = product(*(range(size) for size in reordered(shape, order)))
        moved = [
            elements[sum(i * s for i, s in zip(index, strides, strict=True)) % len(elements)]
            for index in indices
        ]
        kind = cast(Any, permuted_type(op.results[0].type, order))
        attributes: dict[str, Attribute] = {
            **op.attributes,
            "value": DenseIntOrFPElementsAttr.from_list(kind, moved),
        }
        if (name := name_of(op)) is not None:
            attributes[OP_NAME] = StringAttr(f"{name}_moved")
        made = type(op).create(result_types=[kind], attributes=attributes, location=op.location)
        return builder.insert(made).results[0]
