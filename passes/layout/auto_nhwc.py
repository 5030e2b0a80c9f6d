"""The pass `auto-nhwc`."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
)
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects.interfaces.layout import (
    Layout,
    LayoutConstant,
    LayoutInterface,
    Order,
    Slot,
    inverse,
    layout_order,
    tensor_shape,
)
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.layout.names import Names, keep_returned_names, names_tensors, rename
from xdsl_tpu.passes.layout.redundant import DropTransposePair, order_of

RANKS = (4, 5)
"""Ranks for which the two orders differ, so that channel-first and channel-last can be told."""


@dataclass
class ToChannelLast(RewritePattern):
    """op(x) -> to_first(op'(to_last(x))), for ops that are channel-first or follow their operand.

    An op follows when an operand comes from a transposition to channel-first. Every use gets a
    transposition of its own.
    """

    names: Names

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        trait = LayoutInterface.of(op)
        if trait is None or trait.required(op) is not None or LayoutConstant.of(op) is not None:
            return
        orders = self._orders(op, trait)
        if orders is None or not self._wanted(op, trait, orders):
            return
        if not trait.can_permute(op, orders):
            return
        operands = self._operands(op, trait, orders, rewriter)
        results = trait.permuted(op, orders, operands, rewriter)
        made = self._results(op, trait, orders, results, rewriter)
        if names_tensors(op):
            turned = {slot.index for slot in orders if slot.kind == "result"}
            names = [self._name(value, value.index in turned) for value in op.results]
            rename(results, names)
        rewriter.replace(op, (), made)

    def _name(self, value: OpResult, turned: bool) -> str | None:
        """The name of a result of the new op; its transposition takes the old one."""
        name = name_of(value)
        return name if name is None or not turned else self.names.new(f"{name}_channel_last")

    def _orders(self, op: Operation, trait: LayoutInterface) -> dict[Slot, Order] | None:
        """The orders to channel-last of all slots; None when they cannot change together."""
        groups = trait.tied(op)
        views = len(groups) == 2 and trait.transfer(op, Layout.CHANNEL_FIRST) is not None
        if len(groups) != 1 and not views:
            return None
        orders: dict[Slot, Order] = {}
        for slot in (slot for group in groups for slot in group):
            shape = tensor_shape(slot.value(op).type)
            if shape is None or len(shape) not in RANKS:
                return None
            orders[slot] = layout_order(len(shape), Layout.CHANNEL_LAST, slot.channel)
        return orders

    def _wanted(self, op: Operation, trait: LayoutInterface, orders: dict[Slot, Order]) -> bool:
        if (layout := trait.layout(op)) is not None:
            return layout is Layout.CHANNEL_FIRST
        return any(
            order_of(slot.value(op).owner) == inverse(order)
            for slot, order in orders.items()
            if slot.kind == "operand"
        )

    def _operands(
        self,
        op: Operation,
        trait: LayoutInterface,
        orders: dict[Slot, Order],
        rewriter: PatternRewriter,
    ) -> list[SSAValue]:
        operands: list[SSAValue] = list(op.operands)
        moved = [(slot, order) for slot, order in orders.items() if slot.kind == "operand"]
        for number, (slot, order) in enumerate(moved):
            name = self.names.new(f"{trait.name(op) or op.name}_transpose_input_{number}")
            value = operands[slot.index]
            operands[slot.index] = trait.make_transpose(op, value, order, name, rewriter)
        return operands

    def _results(
        self,
        op: Operation,
        trait: LayoutInterface,
        orders: dict[Slot, Order],
        results: Sequence[SSAValue],
        rewriter: PatternRewriter,
    ) -> list[SSAValue]:
        made: list[SSAValue] = list(results)
        moved = [(slot, order) for slot, order in orders.items() if slot.kind == "result"]
        for number, (slot, order) in enumerate(moved):
            if slot.value(op).first_use is None:
                continue
            name = name_of(slot.value(op)) if trait.names_tensors else None
            if name is None:
                name = self.names.new(f"{trait.name(op) or op.name}_transpose_output_{number}")
            value = made[slot.index]
            made[slot.index] = trait.make_transpose(op, value, inverse(order), name, rewriter)
        return made


class FoldTransposedConstant(RewritePattern):
    """transpose(constant) -> constant."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        order = order_of(op)
        maker = op.operands[0].owner if order is not None else None
        constant = LayoutConstant.of(maker) if isinstance(maker, Operation) else None
        if order is None or constant is None or not isinstance(maker, Operation):
            return
        rewriter.insertion_point = InsertPoint.after(maker)
        folded = constant.permuted(maker, order, rewriter)
        if folded is None:
            return
        rewriter.replace(op, (), (folded,))
        if all(result.first_use is None for result in maker.results):
            constant.release(maker)
            rewriter.erase(maker)


@dataclass(frozen=True)
class AutoNhwcPass(ModulePass):
    """Bring ops to channel-last greedily, as OneFlow does.

        x -> conv -> relu -> conv -> relu -> out                              becomes
        x -> to NHWC -> conv -> relu -> conv -> relu -> to NCHW -> out

    Ops that are channel-first and may be channel-last become so, with transpositions around
    them. An op without a layout of its own follows as soon as one operand comes from a
    transposition back. Pairs that undo each other go, and those of constants are folded.
    Nothing is weighed: see `transfer-layout` for the least number of transpositions.
    """

    name = "auto-nhwc"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        patterns: list[RewritePattern] = [
            ToChannelLast(Names(op)),
            DropTransposePair(),
            FoldTransposedConstant(),
        ]
        with keep_returned_names(op):
            applier = GreedyRewritePatternApplier(patterns, dce_enabled=False)
            PatternRewriteWalker(applier).rewrite_module(op)
