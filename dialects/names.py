"""Names of tensors.

A tensor's name is the location of the op that makes it: `loc("conv1")`. Weights, calibration and
traces are looked up by it, so every op gets one. An op with several results carries one name per
result in a fused location: `loc(fused["values", "indices"])`.

Ops of `oneflow` have their name in an attribute, `op_name = "conv1"`; it counts before a location.
"""

from collections.abc import Iterable
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    FusedLoc,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
)
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

OP_NAME = "op_name"
"""The attribute that names an op of `oneflow`."""


def name_of(subject: Operation | SSAValue) -> str | None:
    """The name of a value, or of an op's first result; None when its location is no name.

    Result `i` of an op whose location is fused has the `i`-th name; result `i` of an op named by
    an attribute has that name with `_i` behind it, but for the first.
    """
    if isinstance(subject, Operation):
        return _op_name(subject, 0) or _name(subject.location, 0)
    if isinstance(subject, OpResult):
        owner, index = subject.op, subject.index
        return _op_name(owner, index) or _name(owner.location, index)
    if isinstance(subject, BlockArgument):
        return _name(subject.location, 0)
    return None


def names_of(op: Operation) -> tuple[str | None, ...]:
    """The names of all results of an op."""
    return tuple(map(name_of, op.results))


LAYER = "layer"
"""Attribute of an op that computes a part of a layer: the layer's name."""


def layer_of(op: Operation) -> str:
    """What the layer is called that an op computes or takes part in; empty without a name."""
    layer = op.attributes.get(LAYER)
    return layer.data if isinstance(layer, StringAttr) else name_of(op) or ""


def name_loc(name: str) -> LocationAttr:
    """The location that gives a tensor its name: `loc("name")`."""
    return NameLoc(StringAttr(name), NoneAttr())


def fused_loc(names: Iterable[str]) -> LocationAttr:
    """The location of an op with several results; just `loc("name")` for a single name."""
    parts = [name_loc(name) for name in names]
    return parts[0] if len(parts) == 1 else FusedLoc(ArrayAttr(parts), NoneAttr())


def _op_name(op: Operation, index: int) -> str | None:
    name = op.attributes.get(OP_NAME)
    if not isinstance(name, StringAttr) or not name.data:
        return None
    return f"{name.data}_{index}" if index else name.data


def _name(location: LocationAttr, index: int) -> str | None:
    if isinstance(location, FusedLoc):
        parts = fused_parts(location)
        return _name(parts[index], 0) if index < len(parts) else None
    return location.desc.data if isinstance(location, NameLoc) else None


def fused_parts(location: FusedLoc) -> tuple[LocationAttr, ...]:
    """The locations a fused one is made of."""
    return cast(ArrayAttr[LocationAttr], location.locations).data
