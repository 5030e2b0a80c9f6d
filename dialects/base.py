"""What the ops of the `top` and `tpu` dialects share: tensors, names and one way to build."""

from collections.abc import Mapping, Sequence
from typing import Self, TypeAlias, TypeGuard, cast

from xdsl.dialects.builtin import (
    IntegerAttr,
    LocationAttr,
    NoneType,
    TensorType,
    UnrankedTensorType,
    f32,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import AttrConstraint, BaseAttr, IRDLOperation, OptAttributeDef, VarResultDef
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects.attrs import Kind, Value
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import fused_loc, name_loc

RankedTensor: TypeAlias = TensorType[Attribute]
UnrankedTensor: TypeAlias = UnrankedTensorType[Attribute]
Tensor: TypeAlias = RankedTensor | UnrankedTensor
TensorOrNone: TypeAlias = RankedTensor | UnrankedTensor | NoneType
"""A tensor, or in place of an absent one the `none` value that `top.None` makes."""

RANKED: AttrConstraint[RankedTensor] = BaseAttr(TensorType)
TENSOR: AttrConstraint[Tensor] = RANKED | BaseAttr[UnrankedTensor](UnrankedTensorType)
NONE = BaseAttr(NoneType)
TENSOR_OR_NONE: AttrConstraint[TensorOrNone] = TENSOR | NONE

Name: TypeAlias = str | Sequence[str] | LocationAttr
"""A tensor's name, one per result of an op with several, or a ready location."""

UNRANKED_F32 = UnrankedTensorType(f32)
"""The result type of an op before shape inference: `tensor<*xf32>`."""


class NamedOp(IRDLOperation):
    """An op whose results are tensors with names and whose attributes are declared by kinds."""

    @classmethod
    def make(
        cls,
        name: Name,
        operands: Sequence[SSAValue | Operation],
        /,
        *,
        result_types: Sequence[Attribute] | None = None,
        regions: Sequence[Region] = (),
        **attributes: Value | None,
    ) -> Self:
        """Build an op from its tensor's name, its operands in order and plain attribute values.

        Without `result_types` each result is `tensor<*xf32>`, for shape inference to settle.
        Attributes come in the order of their names, defaults written out, as other tools
        print them; a value of None leaves an optional attribute out.

            ConvOp.make("conv1", (x, w, none), kernel_shape=(3, 3), strides=(1, 1), pads=(1,) * 4)

        Raises:
            TpuError: an unknown, missing or ill-typed attribute, or results that need types.
        """
        if result_types is None:
            result_types = cls._unranked_results()
        return cls.create(
            operands=[SSAValue.get(operand) for operand in operands],
            result_types=result_types,
            attributes=cls._encode(attributes),
            regions=regions,
            location=_location(name),
        )

    def verify(self, verify_nested_ops: bool = True) -> None:
        """xDSL's checks; an attribute of the wrong kind is reported with its name."""
        try:
            super().verify(verify_nested_ops)
        except VerifyException:
            for name, definition in self.get_irdl_definition().attributes.items():
                attr, kind = self.attributes.get(name), definition.constr
                if attr is not None and isinstance(kind, Kind) and not kind.accepts(attr):
                    problem = VerifyException(f"attribute {name}: {kind.problem(attr)}")
                    self.emit_error(f"Operation does not verify: {problem}", problem)
            raise

    @classmethod
    def _unranked_results(cls) -> Sequence[Attribute]:
        results = cls.get_irdl_definition().results
        if any(isinstance(result, VarResultDef) for _, result in results):
            raise TpuError(f"{cls.name}: it has a variable number of results; give result_types")
        return [UNRANKED_F32] * len(results)

    @classmethod
    def _encode(cls, values: dict[str, Value | None]) -> dict[str, Attribute]:
        declared = cls.get_irdl_definition().attributes
        if unknown := sorted(values.keys() - declared.keys()):
            raise TpuError(f"{cls.name} has no attribute {', '.join(unknown)}")
        encoded: dict[str, Attribute] = {}
        for key, definition in sorted(declared.items()):
            value = values.get(key)
            if value is None:
                value = definition.default_value
            if value is None and isinstance(definition, OptAttributeDef):
                continue
            if value is None:
                raise TpuError(f"{cls.name} needs attribute {key}")
            kind = cast(Kind[Attribute], definition.constr)
            try:
                encoded[key] = kind.encode(value)
            except ValueError as error:
                raise TpuError(f"{cls.name}: attribute {key}: {error}") from None
        return encoded


def _location(name: Name) -> LocationAttr:
    if isinstance(name, str):
        return name_loc(name)
    return fused_loc(name) if isinstance(name, Sequence) else name


def is_ranked_tensor(kind: Attribute) -> TypeGuard[RankedTensor]:
    """Whether a type is a ranked tensor: what `isa` finds out, in a hundredth of its time."""
    return isinstance(kind, TensorType)


def is_integer_attr(attribute: Attribute) -> TypeGuard[IntegerAttr]:
    """Whether an attribute is an integer, as quickly."""
    return isinstance(attribute, IntegerAttr)


def is_none(value: SSAValue) -> bool:
    """Whether `value` stands for an absent operand: asked so often that a look at the class counts,
    in a third of the time of `isinstance` for abstract ones."""
    return value.type.__class__ is NoneType


def registered(names: Mapping[str, object]) -> tuple[list[type[Operation]], list[type[Attribute]]]:
    """The ops and the attributes of a dialect among the names of its module.

    Classes that ops share have no name in IR, and are left out.
    """
    kinds = [value for value in names.values() if isinstance(value, type)]
    ops = [kind for kind in kinds if Operation in kind.__mro__ and "name" in vars(kind)]
    return ops, [kind for kind in kinds if Attribute in kind.__mro__]
