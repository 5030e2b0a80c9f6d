"""The order in which two queues may run: each by itself in order, waiting through `cmd_id_dep`."""

from collections.abc import Iterator, Sequence

from xdsl_tpu.backend.isa.command import Command
from xdsl_tpu.backend.isa.forms import Engine
from xdsl_tpu.backend.isa.messages import Hub, message_of


def replay(tiu: Sequence[Command], gdma: Sequence[Command]) -> Iterator[tuple[Engine, int]]:
    """Engine and position of every command, in an order that honours the dependencies.

    A TIU command comes as soon as its `cmd_id_dep` is not beyond the last finished GDMA command,
    otherwise the next GDMA command does. Ends early when neither queue can go on (a deadlock).
    """
    done_tiu = done_gdma = 0
    while True:
        if done_tiu < len(tiu) and tiu[done_tiu]["cmd_id_dep"] <= done_gdma:
            yield Engine.TIU, done_tiu
            done_tiu += 1
        elif done_gdma < len(gdma) and gdma[done_gdma]["cmd_id_dep"] <= done_tiu:
            yield Engine.GDMA, done_gdma
            done_gdma += 1
        else:
            return


def replay_cores(
    cores: Sequence[tuple[Sequence[Command], Sequence[Command]]],
) -> Iterator[tuple[int, Engine, int]]:
    """Core, engine and position of every command of several cores, which wait for each other's
    messages, too.

    Each core goes on as `replay` has it until it must wait. Ends early in a deadlock.
    """
    hub = Hub()
    done = [dict.fromkeys(Engine, 0) for _ in cores]
    moved = True
    while moved:
        moved = False
        for core, queues in enumerate(cores):
            while (engine := _ready(queues, done[core], hub)) is not None:
                yield core, engine, done[core][engine]
                done[core][engine] += 1
                moved = True


def _ready(
    queues: tuple[Sequence[Command], Sequence[Command]], done: dict[Engine, int], hub: Hub
) -> Engine | None:
    """The engine of a core that may take its next command; a message is carried out."""
    for engine, other, queue in zip(Engine, reversed(Engine), queues, strict=True):
        if done[engine] == len(queue):
            continue
        command = queue[done[engine]]
        if command["cmd_id_dep"] > done[other]:
            continue
        message = message_of(command)
        if message is None or hub.passes(message):
            return engine
    return None
