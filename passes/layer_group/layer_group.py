"""The pass `layer-group`."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen
from xdsl_tpu.passes.address_assign.assign import divided_parts
from xdsl_tpu.passes.layer_group.base_groups import (
    BaseGroup,
    base_groups,
    computing_ops,
    why_not_local,
)
from xdsl_tpu.passes.layer_group.build import NOTHING_KEPT, Keeping, build_group
from xdsl_tpu.passes.layer_group.chain import rechained
from xdsl_tpu.passes.layer_group.explain import explain, report, write
from xdsl_tpu.passes.layer_group.keep_values import keep_values
from xdsl_tpu.passes.layer_group.model import Group
from xdsl_tpu.passes.layer_group.optimal import OptimalSearch
from xdsl_tpu.passes.layer_group.orders import Found, first_done
from xdsl_tpu.passes.layer_group.overwrite import overwriting
from xdsl_tpu.passes.layer_group.packs import pack_weights
from xdsl_tpu.passes.layer_group.prices import Prices
from xdsl_tpu.passes.layer_group.search import Searcher
from xdsl_tpu.passes.layer_group.split_weights import mark_split_weights
from xdsl_tpu.passes.module_state import chip_of, cores_of
from xdsl_tpu.passes.tensors import is_weight, none_of

_NO_CACHE = "the search keeps no cache: every compilation searches"
_NO_DUMP = "explain and explain_file tell of the search"

WITHOUT_EFFECT: dict[str, str] = {
    "group_by_cores": "the chip has one core",
    "lgcache": _NO_CACHE,
    "enable_lghash": _NO_CACHE,
    "lghash_dir": _NO_CACHE,
    "debugger": _NO_DUMP,
    "debugger_filename": _NO_DUMP,
    "disable_group_overlap": "weights are loaded ahead where local memory allows",
    "config_filename": "opt, keep_global and split_weights configure the search",
}
"""Options of the vendor's pass that are accepted and do nothing, and why."""


@dataclass(frozen=True)
class LayerGroupPass(ModulePass):
    """Put ops that follow each other into groups that keep their values in local memory.

        %1 = "tpu.Conv2D"(%0, %w, %b) ...          %1 = "tpu.Group"(%0) ({
        %2 = "tpu.Relu"(%1)                   ->     %3 = "tpu.Load"(%0) ...
                                                     %4 = "tpu.Conv2D"(%3, ...) {ginfo = ...}
                                                     %5 = "tpu.Relu"(%4) {ginfo = ...}
                                                     %6 = "tpu.Store"(%5) ...
                                                     "tpu.Yield"(%6) }) {flow = ...}

    `opt` 0 makes no groups, 1 takes the longest groups from the end, 2 finds the partition that
    is done first. `chip` is a name or a `.toml` description, by default `module.chip`. `explain`
    prints on stderr why each boundary is there, `explain_file` names a JSON file for the same;
    `shortfall=false` spares the search for how much more local memory would do.

    Before that ops that read one large weight go next to each other, if they need nothing of each
    other, local memory has room for their values and the function is expected to be done earlier,
    so that one load of the weight serves them all; `opt` 1 and `gather=false` leave them.

        Conv a w, Relu a, Conv a v; Conv b w, Relu b, Conv b v  ->  Conv a w, Conv b w, Relu a,
                                                                    Relu b, Conv a v, Conv b v

    To see what they are worth, `split_weights=false` keeps ops global that combine activations
    with a weight of their shape, which would be cut like them, and `keep_global` names ops
    (`tpu.Softmax,..`) that shall work from DDR.

    Values of which groups that follow each other have slices stay in local memory as a whole where
    there is room and that is expected to be faster; with `keep=false` all are stored and loaded.

    The other options are those of the vendor's pass, accepted so that its command lines work.
    They have no effect, which a line on stderr says for those that are given, and why: the chip
    has one core, the search keeps no cache and no dump, and weights are loaded ahead. Only a
    `compress_mode` is refused, since a program that asks for one would move other bytes.
    """

    name = "layer-group"

    opt: int = 2
    chip: str = ""
    explain: bool = False
    explain_file: str = ""
    shortfall: bool = True
    split_weights: bool = True
    keep_global: tuple[str, ...] = ()
    gather: bool = True
    keep: bool = True
    compress_mode: str = "none"
    group_by_cores: str | None = None
    lgcache: str | None = None
    enable_lghash: str | None = None
    lghash_dir: str | None = None
    debugger: int | None = None
    debugger_filename: str | None = None
    disable_group_overlap: bool | None = None
    config_filename: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self._check_options()
        self._note_options_without_effect()
        if self.opt == 0:
            return
        chip = chip_of(op, self.chip)
        _, _, func = divided_parts(op)
        none = none_of(func)
        if self.split_weights:
            mark_split_weights(computing_ops(func.body.block))
        prices, keeping = Prices(chip, op), list[Keeping]()
        over = partial(overwriting, prices)

        def searched() -> Found:
            bases = base_groups(computing_ops(func.body.block), self._why_global)
            searcher = Searcher(chip, prices.scratch, cores_of(op), over=over)
            search = OptimalSearch(searcher, prices, bases)
            return Found(search, bases, search.run())

        if self.opt == 1:
            bases = base_groups(computing_ops(func.body.block), self._why_global)
            searcher = Searcher(chip, prices.scratch, cores_of(op))
            runs = [base.ops for base in bases if base.why_global is None]
            groups = [group for run in runs for group in searcher.greedy(run)]
            groups = rechained(groups, chip, prices.scratch)
        else:
            found = first_done(func, chip, searched) if self.gather else searched()
            search, bases, searcher = found.search, found.bases, found.search.searcher
            groups = rechained(found.groups, chip, prices.scratch, search.cost_of, over)
            if self.keep:
                groups, keeping = keep_values(search, groups)
            if self.explain or self.explain_file:
                search.note_boundaries()
        self._explain(bases, groups, searcher)
        number = 0
        keeping = keeping or [NOTHING_KEPT] * len(groups)
        for index, group in enumerate(groups):
            groups[index], number = pack_weights(group, chip, number)
        # Plans refer to values as they are now; a group changes only what comes after it.
        for group, kept in reversed([*zip(groups, keeping, strict=True)]):
            build_group(group, none, chip, kept)

    def _why_global(self, op: Operation) -> str | None:
        if op.name in self.keep_global:
            return f"{op.name} is kept global by option"
        if not self.split_weights and _has_split_weight(op):
            return "its weight would be cut with its result; split_weights=false forbids that"
        return why_not_local(op)

    def _check_options(self) -> None:
        """Raise TpuError for a search or an output format that this pass does not have."""
        if self.opt not in (0, 1, 2):
            raise TpuError(f"layer-group: opt={self.opt}: give 0 (none), 1 (greedy) or 2 (optimal)")
        if self.compress_mode != "none":
            raise TpuError(
                f"layer-group: compress_mode={self.compress_mode}: this chip moves activations "
                "uncompressed; leave it out or give none"
            )

    def _note_options_without_effect(self) -> None:
        given = [name for name in WITHOUT_EFFECT if getattr(self, name) is not None]
        for reason in dict.fromkeys(WITHOUT_EFFECT[name] for name in given):
            names = ", ".join(name for name in given if WITHOUT_EFFECT[name] == reason)
            print(f"note: layer-group: no effect: {names} ({reason})", file=sys.stderr)

    def _explain(
        self, bases: Sequence[BaseGroup], groups: Sequence[Group], searcher: Searcher
    ) -> None:
        if not self.explain and not self.explain_file:
            return
        found = explain(bases, groups, searcher, self.shortfall)
        if self.explain:
            print(report(found), file=sys.stderr)
        if self.explain_file:
            write(found, Path(self.explain_file))


def _has_split_weight(op: Operation) -> bool:
    """Whether an op combines an activation with a weight that is cut like it."""
    if not isinstance(op, LocalGen):
        return False
    return any(is_weight(op.operands[index]) for index in op.split_weights())
