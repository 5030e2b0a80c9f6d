"""Making texts token by token, or several at once where an earlier part of the text says how it may
go on (prompt lookup decoding: what came behind the same words before comes again)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from xdsl_tpu.tools.llm.choice import Choose

Floats = npt.NDArray[np.float32]


class Host(Protocol):
    """What a `Session` does, as far as texts need it."""

    def prompt(self, ids: Sequence[int]) -> Floats: ...

    def steps(self, tokens: Sequence[int]) -> Floats: ...

    def forget(self, count: int) -> None: ...


LONGEST_MATCH = 3
"""Tokens at the end of a text that are looked for in it, at most."""


@dataclass
class Made:
    """Tokens behind a prompt, the logits that each was chosen by, and steps that it took."""

    tokens: list[int] = field(default_factory=list[int])
    logits: list[Floats] = field(default_factory=list[Floats])
    steps: int = 0

    def add(self, logits: Floats, choose: Choose, before: Sequence[int]) -> int:
        """Choose the next token; `before` is the prompt."""
        self.logits.append(logits)
        self.tokens.append(choose(logits, [*before, *self.tokens]))
        return self.tokens[-1]


def generate(
    session: Host,
    ids: Sequence[int],
    count: int,
    choose: Choose,
    ends: Sequence[int] = (),
    most: int = 1,
) -> Iterator[Made]:
    """Up to `count` tokens behind the prompt `ids`, up to `most` of them in one step; what there is
    so far after each step.

    Tokens are chosen one after the other from the logits behind the tokens before, so that they are
    the same however many a step takes. Raises TpuError as `Session`.
    """
    made = Made()
    made.add(session.prompt(ids), choose, ids)
    yield made
    while len(made.tokens) < count and made.tokens[-1] not in ends:
        room = min(most, count - len(made.tokens)) - 1
        guesses = guessed([*ids, *made.tokens], room)
        found = session.steps([made.tokens[-1], *guesses])
        for taken, (guess, logits) in enumerate(zip([*guesses, None], found, strict=True), 1):
            if made.add(logits, choose, ids) != guess or guess in ends:
                session.forget(len(found) - taken)
                break
        made.steps += 1
        yield made


def guessed(text: Sequence[int], count: int) -> list[int]:
    """What came behind the longest, and of those the last, earlier occurrence of the end of a
    text; at most `count` tokens."""
    for size in range(min(LONGEST_MATCH, len(text) - 1), 0, -1):
        end = list(text[-size:])
        for start in range(len(text) - size - 1, -1, -1):
            if list(text[start : start + size]) == end:
                return list(text[start + size : start + size + count])
    return []
