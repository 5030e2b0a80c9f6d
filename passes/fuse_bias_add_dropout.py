"""`fuse-bias-add-dropout`: bias_add followed by dropout becomes one op with a mask made before."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter

from xdsl_tpu.dialects.names import OP_NAME, name_of
from xdsl_tpu.dialects.oneflow import (
    BiasAddOp,
    DropoutOp,
    FusedBiasAddMaskScaleOp,
    RandomMaskLikeOp,
    dropout_scale,
)
from xdsl_tpu.dialects.oneflow.base import F32, SI64
from xdsl_tpu.passes.graph import producer, users

_PLACEMENT = ("device_name", "device_tag", "hierarchy", "scope_symbol_id")
_LBNS = "output_lbns"


@dataclass(frozen=True)
class FuseBiasAddDropoutPass(ModulePass):
    """Fuse a oneflow.bias_add and the oneflow.dropout behind it.

        %0 = bias_add(%a, %b) {axis}                 %mask = random_mask_like(%a) {rate, seed}
        %out, %mask = dropout(%0) {rate, seed}  ==>  %out = fused_bias_add_mask_scale(
                                                         %a, %b, %mask) {axis, scale}

    scale is 1 / (1 - rate), and 1 for rate 1, where the mask is all zeros. The mask has the
    element type of the dropout's and takes the place of its second result. A dropout that adds
    to its output, or runs on another device than the bias_add, is left alone; a bias_add with
    other users stays.

    The mask has the seed of its dropout, so results stay what they were bit by bit (in f32); with
    the option `seed` the masks have that seed, the next number, and so on.

    `compat=article` does what OneFlow did when the fusion was published: the scale is the rate,
    which is right for rate 1 only; the mask has the type of %a, the name of the bias_add and no
    output_lbns; all masks have the one seed; and a dropout whose mask is used stays.
    """

    name = "fuse-bias-add-dropout"

    seed: int | None = None
    compat: Literal["none", "article"] = "none"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fused = 0
        for dropout in [inner for inner in op.walk() if isinstance(inner, DropoutOp)]:
            bias_add = producer(dropout.input, BiasAddOp)
            if bias_add is None or not self._fits(bias_add, dropout):
                continue
            mask = self._mask(bias_add, dropout, self._seed(dropout, fused))
            product = self._product(bias_add, dropout, mask)
            rewriter = PatternRewriter(dropout)
            rewriter.replace(dropout, (mask, product), (product.output, mask.output))
            if not users(bias_add.output):
                rewriter.erase(bias_add)
            fused += 1

    def _fits(self, bias_add: BiasAddOp, dropout: DropoutOp) -> bool:
        if dropout.add_to_output is not None:
            return False
        if any(bias_add.attributes.get(k) != dropout.attributes.get(k) for k in _PLACEMENT[:3]):
            return False
        return self.compat == "none" or not users(dropout.mask)

    def _seed(self, dropout: DropoutOp, fused: int) -> int:
        if self.seed is None:
            return dropout.seed.value.data
        return self.seed if self.compat == "article" else self.seed + fused

    def _mask(self, bias_add: BiasAddOp, dropout: DropoutOp, seed: int) -> RandomMaskLikeOp:
        attributes = _some(dropout, (*_PLACEMENT, "rate"))
        attributes |= {"rate": dropout.rate, "seed": SI64.encode(seed)}
        if self.compat == "article":
            attributes |= _some(bias_add, (OP_NAME,))
            kind = bias_add.a.type
        else:
            if (name := name_of(dropout)) is not None:
                attributes[OP_NAME] = StringAttr(f"{name}_mask")
            attributes |= _lbns(dropout, slice(1, None))
            kind = dropout.mask.type
        return RandomMaskLikeOp.create(
            operands=(bias_add.a,),
            result_types=(kind,),
            attributes=dict(sorted(attributes.items())),
            location=dropout.location,
        )

    def _product(
        self, bias_add: BiasAddOp, dropout: DropoutOp, mask: RandomMaskLikeOp
    ) -> FusedBiasAddMaskScaleOp:
        rate = dropout.rate.value.data
        attributes = {k: v for k, v in dropout.attributes.items() if k not in ("rate", "seed")}
        attributes |= {"axis": bias_add.axis, "scale": F32.encode(dropout_scale(rate))}
        if self.compat == "article":
            attributes["scale"] = dropout.rate
            _warn(dropout, rate)
        else:
            attributes |= _lbns(dropout, slice(0, 1))
        return FusedBiasAddMaskScaleOp.create(
            operands=(bias_add.a, bias_add.b, mask.output),
            result_types=(dropout.out.type,),
            attributes=dict(sorted(attributes.items())),
            location=dropout.location,
        )


def _some(op: Operation, keys: tuple[str, ...]) -> dict[str, Attribute]:
    return {key: op.attributes[key] for key in keys if key in op.attributes}


def _lbns(dropout: DropoutOp, part: slice) -> Mapping[str, Attribute]:
    """Some of the names OneFlow has for the dropout's results; nothing when it names none."""
    names = dropout.output_lbns
    return {} if names is None else {_LBNS: ArrayAttr(names.data[part])}


def _warn(dropout: DropoutOp, rate: float) -> None:
    right = dropout_scale(rate)
    if rate != right:
        print(
            f'warning: oneflow.dropout "{name_of(dropout)}": the published rewrite scales by the '
            f"rate {rate:g} where 1 / (1 - rate) = {right:g} is right; leave compat=article out",
            file=sys.stderr,
        )
