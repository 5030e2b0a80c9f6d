"""The order in which two queues may run: each by itself in order, waiting through `cmd_id_dep`."""

from collections.abc import Iterator, Sequence

from xdsl_tpu.backend.isa.command import Command
from xdsl_tpu.backend.isa.forms import Engine


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
