"""Tables of rewrite patterns, keyed by op, and passes that apply them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
)
from xdsl.transforms.dead_code_elimination import region_dce

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.pipeline import did_you_mean

PatternTable: TypeAlias = Mapping[type[Operation], Sequence[RewritePattern]]
"""Which patterns are tried on which op, in order."""


@dataclass
class PatternsByOp(RewritePattern):
    """Tries the patterns of an op's own class, until one of them acts."""

    patterns: PatternTable

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        for pattern in self.patterns.get(type(op), ()):
            pattern.match_and_rewrite(op, rewriter)
            if rewriter.has_done_action:
                return


@dataclass(frozen=True)
class PatternPass(ModulePass):
    """A pass that applies a table of patterns; `disable` names those to leave out.

    A pattern is called like its class.
    """

    disable: tuple[str, ...] = ()

    @classmethod
    def table(cls, weights: Weights | None) -> PatternTable:
        """All patterns of the pass; those that change weights work on `weights`."""
        raise TypeError(f"{cls.__name__} has no table of patterns")

    @classmethod
    def pattern_names(cls) -> frozenset[str]:
        """What `disable` can name."""
        return frozenset(type(one).__name__ for row in cls.table(None).values() for one in row)

    def enabled(self, weights: Weights | None = None) -> PatternsByOp:
        """The patterns that are left; TpuError for a name in `disable` that no pattern has."""
        known = self.pattern_names()
        for name in self.disable:
            if name not in known:
                hint = did_you_mean(name, sorted(known))
                raise TpuError(f"{self.name}: cannot disable pattern '{name}': unknown{hint}")
        return PatternsByOp(without(self.table(weights), self.disable))


def without(table: PatternTable, names: Collection[str]) -> PatternTable:
    """The table without the patterns of these names."""
    return {
        kind: [pattern for pattern in patterns if type(pattern).__name__ not in names]
        for kind, patterns in table.items()
    }


def rewrite(module: ModuleOp, patterns: RewritePattern) -> None:
    """Apply `patterns` and remove unused ops, until nothing changes."""
    applier = GreedyRewritePatternApplier([patterns])
    PatternRewriteWalker(applier, post_walk_func=region_dce).rewrite_module(module)
