"""The queues themselves: ids, end markers, dependencies that can never be met."""

from collections.abc import Iterator

from xdsl_tpu.backend.checks.finding import Fault, Finding, Place, place_of
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.isa.codes import SYSID, DmaSys
from xdsl_tpu.backend.isa.costs import Free
from xdsl_tpu.backend.program import Program

_END_FUNCTION = {
    Engine.TIU: ("SYSID", SYSID.END),
    Engine.GDMA: ("sDMA_sys", DmaSys.END_OF_STREAM),
}
_OTHER = {Engine.TIU: Engine.GDMA, Engine.GDMA: Engine.TIU}


def structure_findings(program: Program) -> Iterator[Finding]:
    """Ids that are not 1, 2, 3... where commands have them; a missing or early end marker; waits
    beyond the other queue."""
    for engine in Engine:
        yield from _end_markers(program, engine)
        queue, other = program.queue(engine), program.queue(_OTHER[engine])
        for position, command in enumerate(queue):
            numbered = command.form.is_numbered
            if numbered and command["cmd_id"] != position + 1:
                yield Finding(
                    Fault.SEQUENCE,
                    place_of(program, engine, position),
                    f"its cmd_id is {command['cmd_id']}, the command is number {position + 1} "
                    "of its queue",
                )
            if numbered and not command["cmd_id_en"] and not _is_marker(command):
                yield Finding(
                    Fault.SEQUENCE,
                    place_of(program, engine, position),
                    "its cmd_id_en is 0: it is not counted, so that nobody can wait for it",
                )
            if command["cmd_id_dep"] > len(other):
                yield Finding(
                    Fault.DEADLOCK,
                    place_of(program, engine, position),
                    f"it waits for {_OTHER[engine].value} command {command['cmd_id_dep']}, "
                    f"but there are only {len(other)}",
                )


def _is_marker(command: Command) -> bool:
    return isinstance(command.instruction.cost, Free)


def _is_end(command: Command) -> bool:
    return (command.form.name, command.function) == _END_FUNCTION[command.engine]


def _end_markers(program: Program, engine: Engine) -> Iterator[Finding]:
    queue = program.queue(engine)
    if not queue or not _is_end(queue[-1]):
        place = place_of(program, engine, len(queue) - 1) if queue else Place()
        yield Finding(Fault.END, place, f"the {engine.value} queue has no end marker as its last")
    for position, command in enumerate(queue[:-1]):
        if _is_end(command):
            rest = len(queue) - position - 1
            yield Finding(
                Fault.END,
                place_of(program, engine, position),
                f"the queue ends here, the {rest} commands behind it never run",
            )


def deadlock_findings(program: Program, done: dict[Engine, int]) -> Iterator[Finding]:
    """The heads of the queues when neither can go on; `done` counts finished commands."""
    for engine in Engine:
        position, queue = done[engine], program.queue(engine)
        if position < len(queue):
            needed = queue[position]["cmd_id_dep"]
            yield Finding(
                Fault.DEADLOCK,
                place_of(program, engine, position),
                f"it waits for {_OTHER[engine].value} command {needed}, "
                f"which waits behind number {done[_OTHER[engine]] + 1} of its queue",
            )
