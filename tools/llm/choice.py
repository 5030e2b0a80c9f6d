"""Which token comes next: the most likely one, or one that is drawn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.llm.sampling import MOST, NET
from xdsl_tpu.tools.llm.session import Nets

Floats = npt.NDArray[np.float32]

Choose = Callable[[Floats, Sequence[int]], int]
"""The next token by the logits [vocabulary] behind a text, and the text."""


def greedy(logits: Floats, text: Sequence[int]) -> int:
    """The most likely token, the first of equals."""
    return int(np.argmax(logits))


def sampler(temperature: float, top_k: int, top_p: float, seed: int) -> Choose:
    """Draws tokens: of the `top_k` most likely (0: all) those that have `top_p` together.

    A temperature of 0 is greedy.
    """
    if temperature == 0:
        return greedy
    generator = np.random.default_rng(seed)

    def choose(logits: Floats, text: Sequence[int]) -> int:
        order = np.argsort(-logits, kind="stable")[: top_k or None]
        scaled = logits[order].astype(np.float64) / temperature
        shares = np.exp(scaled - scaled.max())
        shares /= shares.sum()
        kept = np.cumsum(shares) - shares < top_p
        shares = np.where(kept, shares, 0)
        return int(generator.choice(order, p=shares / shares.sum()))

    return choose


@dataclass(frozen=True)
class Chances:
    """How `sample_head` (`frontend/llm/sampling.py`) makes chances of logits.

    Raises TpuError for what it cannot.
    """

    temperature: float = 1.0
    top_k: int = MOST
    top_p: float = 1.0
    penalty: float = 1.0

    def __post_init__(self) -> None:
        if self.temperature <= 0:
            raise TpuError("--sample draws at temperatures above 0; leave it out for greedy choice")
        if not 1 <= self.top_k <= MOST:
            raise TpuError(f"--top-k {self.top_k}: sample_head gives the {MOST} best tokens")
        if self.penalty <= 0:
            raise TpuError("--repetition-penalty is a number above 0 (1: none)")

    @property
    def share(self) -> float:
        """`top_p` as the net is given it: sums of all chances that are rounded to 1 or beyond are
        less than 2, so that 1 keeps all."""
        return self.top_p if self.top_p < 1 else 2.0


def chip_sampler(nets: Nets, chances: Chances, seed: int) -> Choose:
    """Draws tokens by the chances that `sample_head` gives them.

    Raises TpuError for a model without that net.
    """
    if not nets.stages(NET):
        raise TpuError(f"the model has no net '{NET}'; compile it again")
    generator = np.random.default_rng(seed)
    most = min(chances.top_k, nets.manifest.vocabulary)
    given = {
        "penalty": np.array([chances.penalty], np.float32),
        "temperature": np.array([chances.temperature], np.float32),
        "top_k": np.array([most], np.int32),
        "top_p": np.array([chances.share], np.float32),
    }

    def choose(logits: Floats, text: Sequence[int]) -> int:
        ids = np.full((1, nets.manifest.length), text[-1], np.int32)
        ids[0, : len(text)] = text
        out = nets.run(NET, {"m_logits": logits[None], "input_ids": ids, **given})
        shares = out["probs"][0].astype(np.float64)
        place = generator.choice(len(shares), p=shares / shares.sum())
        return int(out["token_idx"][0, place])

    return choose
