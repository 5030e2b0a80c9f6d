"""The pass `rematerialize`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import LAYER, layer_of, name_loc
from xdsl_tpu.passes.layer_group.base_groups import computing_ops, why_not_local
from xdsl_tpu.passes.layer_group.window import WindowCosts
from xdsl_tpu.passes.module_state import chip_of, cores_of
from xdsl_tpu.passes.tensors import (
    functions,
    is_weight,
    required_name,
    size_in_bytes,
)

SHARE = 4
"""Values of at least one in so many bytes of local memory are looked at."""

LONGEST = 8
"""Ops that are computed again at most."""

BETWEEN = 24
"""Ops in front of a reader among which the value, and what is made of it, is looked for."""

BEHIND = 4
"""Ops behind a reader that are looked at with it: what it makes is to stay on the chip for them."""

SURE = 0.99
"""What the estimate must go down to."""


@dataclass(frozen=True)
class RematerializePass(ModulePass):
    """Compute large values again where they wait for something small that is made of them.

        %1 = "tpu.Conv2D"(%0, ..)                   %1 = "tpu.Conv2D"(%0, ..)
        %2 = "tpu.Active"(%1)                       %2 = "tpu.Active"(%1)
        %3 = "tpu.Pool2D"(%2) : 1x288x1x1           %3 = "tpu.Pool2D"(%2) : 1x288x1x1
        %4 = "tpu.Active"(%3)                ->     %4 = "tpu.Active"(%3)
        %5 = "tpu.Mul"(%2, %4)                      %a = "tpu.Conv2D"(%0, ..)
                                                    %b = "tpu.Active"(%a)
                                                    %5 = "tpu.Mul"(%b, %4)

    A mean over an image, as in squeeze and excitation, is there when all of the image is. Where
    that does not fit local memory it would be stored until then and loaded again; the few ops that
    make it of something smaller often take less, and what they make is in the group of its reader.
    It is done where the ops around are done earlier with it, and not for several cores, whose
    shares of a group are priced otherwise. `chip` is a name or a `.toml` description, by default
    `module.chip`.
    """

    name = "rematerialize"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chip = chip_of(op, self.chip)
        if cores_of(op) > 1:
            return
        choice = _Choice(WindowCosts(chip, op, over=True))
        for func in functions(op):
            for reader in computing_ops(func.body.block):
                for value in _waiting(reader, chip):
                    choice.apply(reader, value)


def _waiting(reader: Operation, chip: Chip) -> list[SSAValue]:
    """Large values that an op reads while another of its operands, which is smaller, is made of
    them or of what they are made of."""
    if why_not_local(reader) is not None:
        return []
    read = [value for value in reader.operands if _is_computed(value)]
    least = chip.lanes * chip.local_bytes // SHARE
    found: list[SSAValue] = []
    for value in read:
        size = size_in_bytes(value)
        smaller = [other for other in read if size_in_bytes(other) < size]
        if size > least and smaller:
            sources = set(_chain(value))
            if any(not sources.isdisjoint(_made_of(other)) for other in smaller):
                found.append(value)
    return found


def _is_computed(value: SSAValue) -> bool:
    return isinstance(value.owner, Operation) and not is_weight(value) and not is_none(value)


def _chain(value: SSAValue) -> list[Operation]:
    """The ops that make a value, last first, along the largest operand of each, as far as they have
    a local form."""
    chain: list[Operation] = []
    while len(chain) < LONGEST and _is_computed(value):
        op = value.owner
        assert isinstance(op, Operation)
        if len(op.results) != 1 or why_not_local(op) is not None:
            break
        chain.append(op)
        value = max((v for v in op.operands if not is_none(v)), key=size_in_bytes)
    return chain


def _made_of(value: SSAValue) -> set[Operation]:
    """The last ops that a value is made by."""
    found: dict[Operation, None] = {}
    waiting = [value]
    while waiting and len(found) < BETWEEN:
        value = waiting.pop(0)
        if _is_computed(value):
            op = value.owner
            assert isinstance(op, Operation)
            if op not in found:
                found[op] = None
                waiting += op.operands
    return set(found)


class _Again:
    """The ops of a chain, last first, beside themselves, in front of a reader of what they make."""

    def __init__(self, chain: Sequence[Operation], reader: Operation) -> None:
        self.chain, self.reader = chain, reader
        self.value = chain[0].results[0]
        made: dict[SSAValue, SSAValue] = {}
        self.ops: list[Operation] = []
        for op in reversed(chain):
            again = op.clone(made)
            again.location = name_loc(f"{required_name(op)}_again")
            again.attributes[LAYER] = StringAttr(layer_of(op))
            made[op.results[0]] = again.results[0]
            self.ops.append(again)

    def insert(self) -> None:
        """Let the reader read what is computed again."""
        block = self.reader.parent
        assert isinstance(block, Block)
        block.insert_ops_before(self.ops, self.reader)
        self._read(self.value, self.ops[-1].results[0])

    def erase(self) -> None:
        """As if it were not."""
        self._read(self.ops[-1].results[0], self.value)
        for op in reversed(self.ops):
            op.detach()
            op.erase()

    def _read(self, before: SSAValue, after: SSAValue) -> None:
        for index, operand in enumerate(self.reader.operands):
            if operand is before:
                self.reader.operands[index] = after

    def unread(self) -> Iterator[Operation]:
        """Ops of the chain that nothing reads, last first."""
        gone: set[Operation] = set()
        for op in self.chain:
            if all(use.operation in gone for use in op.results[0].uses):
                gone.add(op)
                yield op


class _Choice:
    """From where values are computed again, of each kind of surroundings once."""

    def __init__(self, costs: WindowCosts) -> None:
        self.costs = costs
        self._known: dict[tuple[int, ...], int] = {}

    def apply(self, reader: Operation, value: SSAValue) -> None:
        """Compute a value again for a reader, if it is worth anything."""
        chain = _chain(value)
        if not any(self._may_pay(chain[:count]) for count in range(1, len(chain) + 1)):
            return
        ops = computing_ops(cast(Block, reader.parent))
        place, first = ops.index(reader), ops.index(chain[-1])
        if place - first > LONGEST + BETWEEN:
            return
        front = ops[first:place]
        behind = ops[place : place + 1 + BEHIND]
        key = tuple(self.costs.prices.signature(op) for op in (*front, *behind))
        if key not in self._known:
            self._known[key] = self._best(chain, reader, front, behind)
        if self._known[key]:
            again = _Again(chain[: self._known[key]], reader)
            again.insert()
            for op in list(again.unread()):
                op.detach()
                op.erase()

    def _may_pay(self, chain: Sequence[Operation]) -> bool:
        """Whether ops that read less than half of what they make last take less time than storing
        that and loading it: groups often leave a value that is little larger in local memory, and
        estimates of a few ops do not see that."""
        inside = {op.results[0] for op in chain}
        read = {v for op in chain for v in op.operands if _is_computed(v)} - inside
        rate = self.costs.chip.load_bytes_per_cycle
        loaded, made = sum(map(size_in_bytes, read)), size_in_bytes(chain[0].results[0])
        return 2 * loaded < made and loaded / rate + self.costs.computed(chain) < 2 * made / rate

    def _best(
        self,
        chain: Sequence[Operation],
        reader: Operation,
        front: Sequence[Operation],
        behind: Sequence[Operation],
    ) -> int:
        """How many ops are best done again; 0 where that is not worth it."""
        fewest, best = SURE * self.costs.window([*front, *behind]).cycles, 0
        for count in range(1, len(chain) + 1):
            if not self._may_pay(chain[:count]):
                continue
            again = _Again(chain[:count], reader)
            again.insert()
            unread = set(again.unread())
            before = (op for op in front if op not in unread)
            taken = self.costs.window([*before, *again.ops, *behind]).cycles
            again.erase()
            if taken < fewest:
                fewest, best = taken, count
        return best
