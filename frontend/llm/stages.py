"""Which forms of its nets a language model is compiled to: how many tokens, behind how many.

A net that is there in several forms (stages) is told by the shapes of its inputs; hosts that know
of one only take the first, which is the one for a token behind the longest history.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.llm.config import ModelConfig

LARGEST_STEP = 64
"""Tokens of one step: rows of scores that lie on lanes together."""


@dataclass(frozen=True)
class Stages:
    """Sequences of up to `length` tokens; a prompt comes `chunk` tokens at a time (0: all at once),
    a decoding step takes any of `steps` tokens.

    With chunks there are decoding nets for histories of chunk, 2 chunk, 4 chunk .. tokens besides.
    Raises TpuError for sizes that do not fit each other.
    """

    length: int
    chunk: int = 0
    steps: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.chunk and not 2 <= self.chunk < self.length:
            raise TpuError(
                f"chunks of {self.chunk} tokens: they must have at least 2 and fewer than the "
                f"{self.length} of the sequence"
            )
        wrong = [one for one in self.steps if not 2 <= one <= min(LARGEST_STEP, self.length)]
        if wrong:
            raise TpuError(
                f"steps of {wrong[0]} tokens: from 2 to {min(LARGEST_STEP, self.length)} can be "
                "taken at once"
            )

    @property
    def prompt(self) -> int:
        """Tokens of a prompt that are taken at once."""
        return self.chunk or self.length

    @property
    def rows(self) -> tuple[int, ...]:
        """Tokens that a decoding step takes, one first."""
        return (1, *sorted(set(self.steps)))

    @property
    def histories(self) -> tuple[int, ...]:
        """Tokens that a decoding step may have before it, the most first."""
        return (self.length, *reversed(_doubled(self.chunk, self.length)))

    @property
    def prompt_histories(self) -> tuple[int, ...]:
        """Tokens that may be before a chunk which is not the first, the most first."""
        if not self.chunk:
            return ()
        last = (self.length - 1) // self.chunk * self.chunk
        return (last, *reversed(_doubled(self.chunk, last)))


@dataclass(frozen=True)
class Block:
    """Layer `index` for `rows` tokens behind up to `history` tokens that are not among them.

    `reach` is the longest sequence, for which the rotary tables are: nets of one layer that have
    it in common have the same weights. `rooms` are elements that inputs and outputs have room for
    (`IO_ROOMS`), in nets with several stages.
    """

    index: int
    rows: int
    history: int = 0
    reach: int = 0
    rooms: tuple[int, ...] = ()

    @property
    def keys(self) -> int:
        """How many tokens each of the rows may look at."""
        return self.history + self.rows

    @property
    def positions(self) -> int:
        """How many positions the rotary tables have."""
        return self.reach or self.history or self.rows


def history_blocks(stages: Stages, config: ModelConfig, index: int) -> Iterator[tuple[str, Block]]:
    """All blocks with history of a layer, and what kind of net each is: decoding steps, chunks."""
    kinds = (
        ("block_cache", stages.rows, stages.histories),
        ("block_kv", (stages.chunk,), stages.prompt_histories),
    )
    for kind, rows, histories in kinds:
        several = len(rows) * len(histories) > 1
        rooms = io_rooms(config, rows, histories) if several else ()
        for count in rows:
            for history in histories:
                yield kind, Block(index, count, history, stages.length, rooms)


def _doubled(first: int, end: int) -> list[int]:
    """first, 2 first, 4 first .. below end; nothing for 0."""
    found: list[int] = []
    while 0 < first < end:
        found.append(first)
        first *= 2
    return found


def io_rooms(config: ModelConfig, rows: Sequence[int], histories: Sequence[int]) -> tuple[int, ...]:
    """Elements that each input and output of a block with history takes at most, in order.

    With these rooms tensors lie at the same places in all stages, so that a history stays where it
    is when a host goes on to another stage. What a history is extended by is in its room.
    """
    most, oldest = max(rows), max(histories)
    states = most * config.hidden
    cache = (oldest + most) * config.kv_heads * config.head_dim
    return states, most, most * (oldest + most), cache, cache, states, 0, 0
