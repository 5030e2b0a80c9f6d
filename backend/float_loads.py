"""Loads of coefficients run ahead of transfers that must wait.

Each engine takes its commands in order, so a store that waits for its producer also holds up the
weights queued behind it. Coefficients are never written, so loading them may move forward as far
as local memory allows: not before the commands that last touched their target, and behind every
transfer that shares memory with it.

The new order is found by simulating both queues with the cycle model: whenever the next transfer
in program order would leave the GDMA idle, a later coefficient load that is ready goes first,
unless it would take much longer than the gap.
"""

from collections.abc import Sequence

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.timing import Direction, tiu_cycles, transfer
from xdsl_tpu.backend.timing.gdma_cost import address

LOOK_AHEAD = 256
"""How many coefficient loads are considered at a time."""

WORTH_WAITING = 0.75
"""A load goes first if the gap it fills is at least this share of its cycles."""

Before = dict[Engine, list[tuple[int, ...]]]
"""For every command the ids of the transfers it must follow; see `CommandQueues`."""


def float_loads(program: Program, transfers_before: Before, chip: Chip) -> None:
    """Reorder the GDMA queue of a finished program, in place; values stay the same.

    `transfers_before` is what the emitter recorded.
    """
    scheduler = _Scheduler(program, transfers_before, chip)
    order = scheduler.run()
    position = {old: new for new, old in enumerate(order, start=1)}
    for index, before in enumerate(transfers_before[Engine.TIU]):
        waits = max((position[old] for old in before), default=0)
        if program.tiu[index].form.waits:
            program.tiu[index] = _with(program.tiu[index], cmd_id_dep=waits)
    queue = [program.gdma[old - 1] for old in order]
    layers = [program.gdma_layers[old - 1] for old in order]
    program.gdma[:-1] = [_with(c, **c.form.numbered(i)) for i, c in enumerate(queue, start=1)]
    program.gdma_layers[:-1] = layers


def _with(command: Command, **fields: int) -> Command:
    return Command(command.form, {**command.fields, **fields})


class _Scheduler:
    """Simulates both engines while choosing the order of transfers; ids count from 1."""

    def __init__(self, program: Program, before: Before, chip: Chip) -> None:
        tiu, gdma = program.tiu[:-1], program.gdma[:-1]
        self.before = before
        self.waits = [0, *(command["cmd_id_dep"] for command in gdma)]
        self.tiu_cycles = [tiu_cycles(command, chip) for command in tiu]
        moved = [transfer(command, chip) for command in gdma]
        self.gdma_cycles = [0, *(m.cycles for m in moved)]
        coefficients = range(
            program.coefficient_address, program.coefficient_address + program.coefficients.size
        )
        self.floats = [
            index
            for index, (command, m) in enumerate(zip(gdma, moved, strict=True), start=1)
            if m.direction is Direction.LOAD
            and _source(command) in coefficients
            and not _is_indexed(command)
        ]
        self.gdma_end: dict[int, int] = {}
        self.tiu_end: list[int] = [-1]
        self.free = -1  # last cycle of the GDMA's last transfer

    def run(self) -> list[int]:
        """The transfers' ids in their new order."""
        order: list[int] = []
        head, first_float = 1, 0
        while len(order) < len(self.gdma_cycles) - 1:
            while head in self.gdma_end:
                head += 1
            while first_float < len(self.floats) and self.floats[first_float] in self.gdma_end:
                first_float += 1
            self._advance()
            chosen = self._better(head, first_float)
            self._issue(chosen)
            order.append(chosen)
        return order

    def _advance(self) -> None:
        """Run the TIU as far as the issued transfers let it."""
        while len(self.tiu_end) <= len(self.tiu_cycles):
            index = len(self.tiu_end) - 1
            needed = self.before[Engine.TIU][index]
            if any(n not in self.gdma_end for n in needed):
                return
            ready = max((self.gdma_end[n] for n in needed), default=-1)
            start = 1 + max(self.tiu_end[-1], ready)
            self.tiu_end.append(start + self.tiu_cycles[index] - 1)

    def _ready(self, identity: int) -> int | None:
        """When a transfer could start; None while something it needs has not been issued."""
        if self.waits[identity] >= len(self.tiu_end):
            return None
        if any(n not in self.gdma_end for n in self.before[Engine.GDMA][identity - 1]):
            return None
        return 1 + max(self.free, self.tiu_end[self.waits[identity]])

    def _better(self, head: int, first_float: int) -> int:
        """The next transfer in program order, or a load that fills the gap before it."""
        due = self._ready(head)
        assert due is not None, "transfers in program order never wait for later ones"
        if due <= self.free + 1:
            return head
        best, earliest = head, due
        for identity in self._candidates(first_float):
            ready = self._ready(identity)
            if ready is None or ready >= earliest:
                continue
            if due - ready >= WORTH_WAITING * self.gdma_cycles[identity]:
                best, earliest = identity, ready
                if ready <= self.free + 1:
                    break
        return best

    def _candidates(self, first_float: int) -> Sequence[int]:
        window = self.floats[first_float : first_float + LOOK_AHEAD]
        return [identity for identity in window if identity not in self.gdma_end]

    def _issue(self, identity: int) -> None:
        start = self._ready(identity)
        assert start is not None
        self.free = start + self.gdma_cycles[identity] - 1
        self.gdma_end[identity] = self.free


def _is_indexed(command: Command) -> bool:
    """Whether which coefficients are loaded is computed before."""
    return "index" in command.form.operands


def _source(command: Command) -> int:
    return address(command, "src")
