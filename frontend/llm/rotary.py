"""Rotary embeddings: how fast each pair of elements turns, with every scaling there is.

Su et al., "RoFormer" (2021); linear: Chen et al., "Extending Context Window" (2023); ntk and
dynamic: "NTK-aware scaled RoPE" and "Dynamically scaled RoPE" (2023); yarn: Peng et al. (2023),
section 3.2; llama3: the model card of Llama 3.1; longrope: Ding et al. (2024).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.errors import TpuError

Floats = npt.NDArray[np.float32]

STILL = "still"
"""The kind of layers in which nothing turns; model files do not name it."""


@dataclass(frozen=True)
class Rotary:
    """The rotation of the first `dim` elements of a head; pairs are their halves, or `neighbours`.

    `positions` is the length the model is for; `scaling` are the parameters of `kind`.
    """

    dim: int
    theta: float
    positions: int
    kind: str = "default"
    scaling: Mapping[str, Any] = field(default_factory=dict[str, Any])
    neighbours: bool = False

    @property
    def reach(self) -> int:
        """How many positions the model may see: those it is for, more with some scalings."""
        factor = float(self.scaling.get("factor") or 1.0)
        grown = {
            "dynamic": self.positions * factor,
            "ntk": self.positions * factor,
            "yarn": _original(self) * factor,
        }
        if self.scaling.get("llama_4_scaling_beta"):
            return int(_original(self))  # beyond, queries of later positions are larger
        return max(self.positions, int(grown.get(self.kind, 0)))

    def still(self) -> "Rotary":
        """The same for layers that do not turn anything: all angles are 0."""
        return replace(self, kind=STILL)

    def tables(self, length: int) -> tuple[Floats, Floats]:
        """Cosines and sines, float32 [length, dim / 2], for sequences of up to `length`."""
        made = _still if self.kind == STILL else SCALINGS[self.kind]
        frequencies, factor = made(self, length)
        angles = np.arange(length, dtype=np.float32)[:, None] * frequencies
        return (
            (np.cos(angles) * np.float32(factor)).astype(np.float32),
            (np.sin(angles) * np.float32(factor)).astype(np.float32),
        )

    def number(self, name: str, default: float | None = None) -> float:
        """A parameter of the scaling. Raises TpuError when it is missing."""
        value = self.scaling.get(name)
        value = default if value is None else value
        if value is None:
            raise TpuError(f"rotary scaling '{self.kind}' needs '{name}'")
        return float(value)


def rotary_of(
    config: Mapping[str, Any],
    head_dim: int,
    positions: int,
    kind_of_layer: str,
    neighbours: bool = False,
) -> Rotary:
    """The rotary embedding of layers of a kind, in any of the forms that config.json has.

    `rope_parameters` (by kind of layer or for all), or `rope_theta` with `rope_scaling`; layers
    with a window may have `rope_local_base_freq` and no scaling.

    Raises TpuError for a kind of scaling that is not known, and for parameters that are missing or
    make no sense, those for long sequences included.
    """
    given: Mapping[str, Any] = config.get("rope_parameters") or {}
    original = config.get("original_max_position_embeddings")
    if kind_of_layer in given:
        given, original = given[kind_of_layer], None
    elif not given:
        theta = float(config.get("rope_theta", 10000.0)) * float(config.get("rope_ratio", 1.0))
        given = {"rope_theta": theta}
        local = config.get("rope_local_base_freq")
        if local is not None and kind_of_layer == "sliding_attention":
            given = {"rope_theta": local}
        else:
            given = {**given, **(config.get("rope_scaling") or {})}
    kind = str(given.get("rope_type", given.get("type", "default")))
    if kind == "su" or (kind == "yarn" and "short_factor" in given):  # older names of Phi-3's
        kind = "longrope"
    if kind == "dynamic" and given.get("alpha"):  # Hunyuan's, whatever the length
        kind = "ntk_alpha"
    if kind == "mrope":  # by time, height and width, which are the same for texts
        kind = "default"
    if kind not in SCALINGS:
        raise TpuError(f"rotary scaling '{kind}' is not supported; {', '.join(SCALINGS)} are")
    share = given.get("partial_rotary_factor", config.get("partial_rotary_factor", 1.0))
    dim = int(head_dim * float(share))
    theta = float(given.get("rope_theta", config.get("rope_theta", 10000.0)))
    scaling = {"original_max_position_embeddings": positions, **given}
    if original is not None:  # beside the parameters it counts more than among them
        scaling["original_max_position_embeddings"] = original
    rotary = Rotary(dim, theta, positions, kind, scaling, neighbours)
    _check(rotary)
    return rotary


def _check(rotary: Rotary) -> None:
    """Raise TpuError for what does not make sense, of short sequences and of long ones."""
    if rotary.dim < 2 or rotary.dim % 2:
        raise TpuError(f"rotary embeddings of {rotary.dim} elements of a head: they come in pairs")
    for name in ("factor", "original_max_position_embeddings"):
        if rotary.scaling.get(name) is not None and rotary.number(name) <= 0:
            raise TpuError(f"rotary scaling '{rotary.kind}': '{name}' is not above 0")
    for length in (1, max(rotary.positions, rotary.reach) + 1):
        with np.errstate(all="ignore"):
            frequencies, amplitude = SCALINGS[rotary.kind](rotary, length)
        if not (np.isfinite(frequencies).all() and math.isfinite(amplitude)):
            raise TpuError(f"rotary scaling '{rotary.kind}': its parameters give no finite angles")


def _powers(rotary: Rotary, theta: float | None = None) -> Floats:
    exponents = np.arange(0, rotary.dim, 2, dtype=np.float32) / np.float32(rotary.dim)
    return np.power(np.float32(rotary.theta if theta is None else theta), exponents)


def _default(rotary: Rotary, length: int) -> tuple[Floats, float]:
    return np.float32(1) / _powers(rotary), 1.0


def _linear(rotary: Rotary, length: int) -> tuple[Floats, float]:
    return np.float32(1) / _powers(rotary) / np.float32(rotary.number("factor")), 1.0


def _dynamic(rotary: Rotary, length: int) -> tuple[Floats, float]:
    """Like the default up to the length the model is for; beyond, all pairs turn more slowly."""
    factor = rotary.number("factor")
    return _stretched(
        rotary, factor * max(length, rotary.positions) / rotary.positions - factor + 1
    )


def _ntk(rotary: Rotary, length: int) -> tuple[Floats, float]:
    """The slowest pair turns more slowly by the factor, the fastest as before."""
    return _stretched(rotary, rotary.number("factor"))


def _ntk_alpha(rotary: Rotary, length: int) -> tuple[Floats, float]:
    """The same by `alpha`, for a model whose `positions` are those that it has with it."""
    return _stretched(rotary, rotary.number("alpha"))


def _stretched(rotary: Rotary, stretch: float) -> tuple[Floats, float]:
    """With a base for which the slowest pair turns `stretch` times as slowly; of a single pair, as
    of the fastest of several, nothing changes."""
    if rotary.dim == 2:
        return _default(rotary, 0)
    base = rotary.theta * stretch ** (rotary.dim / (rotary.dim - 2))
    return np.float32(1) / _powers(rotary, base), 1.0


def _original(rotary: Rotary) -> float:
    return rotary.number("original_max_position_embeddings")


def _yarn(rotary: Rotary, length: int) -> tuple[Floats, float]:
    """Pairs that turn often stay, those that turn seldom are slowed by the factor."""
    factor = rotary.number("factor", rotary.positions / _original(rotary))

    def pair(turns: float) -> float:
        """Which pair turns so often within the original length."""
        ratio = math.log(_original(rotary) / (turns * 2 * math.pi))
        return rotary.dim * ratio / (2 * math.log(rotary.theta))

    low, high = (pair(rotary.number(n, d)) for n, d in (("beta_fast", 32), ("beta_slow", 1)))
    if rotary.scaling.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, rotary.dim - 1)
    high += 0.001 if low == high else 0
    ramp = np.clip((np.arange(rotary.dim // 2, dtype=np.float32) - low) / (high - low), 0, 1)
    plain = np.float32(1) / _powers(rotary)
    mixed = plain / np.float32(factor) * ramp + plain * (1 - ramp)
    return mixed.astype(np.float32), _yarn_amplitude(rotary, factor)


def _yarn_amplitude(rotary: Rotary, factor: float) -> float:
    given = rotary.scaling.get("attention_factor")
    if given is not None:
        return float(given)

    def amplitude(weight: float) -> float:
        return 0.1 * weight * math.log(factor) + 1 if factor > 1 else 1.0

    above, below = (rotary.scaling.get(name) for name in ("mscale", "mscale_all_dim"))
    return amplitude(above) / amplitude(below) if above and below else amplitude(1)


def _llama3(rotary: Rotary, length: int) -> tuple[Floats, float]:
    """Waves longer than a share of the original length are stretched, with a ramp between."""
    factor, original = rotary.number("factor"), _original(rotary)
    slow, fast = rotary.number("low_freq_factor"), rotary.number("high_freq_factor")
    plain = np.float32(1) / _powers(rotary)
    turns = original * plain / (2 * math.pi)
    if slow >= fast:
        raise TpuError("rotary scaling 'llama3': 'low_freq_factor' is not below 'high_freq_factor'")
    share = np.clip((turns - slow) / (fast - slow), 0, 1)
    return (plain * ((1 - share) / factor + share)).astype(np.float32), 1.0


def _longrope(rotary: Rotary, length: int) -> tuple[Floats, float]:
    """A divisor for each pair, one list for short sequences and one for long ones."""
    original = _original(rotary)
    name = "long_factor" if length > original else "short_factor"
    divisors: Any = rotary.scaling.get(name)
    if not isinstance(divisors, list) or len(divisors) != rotary.dim // 2:  # pyright: ignore[reportUnknownArgumentType]
        raise TpuError(f"rotary scaling 'longrope' needs {rotary.dim // 2} numbers in '{name}'")
    factor = rotary.number("factor", rotary.positions / original)
    usual = math.sqrt(1 + math.log(factor) / math.log(original)) if factor > 1 else 1.0
    frequencies = np.float32(1) / (np.array(divisors, np.float32) * _powers(rotary))
    return frequencies, rotary.number("attention_factor", usual)


def _still(rotary: Rotary, length: int) -> tuple[Floats, float]:
    return np.zeros(rotary.dim // 2, np.float32), 1.0


SCALINGS: Mapping[str, Callable[[Rotary, int], tuple[Floats, float]]] = {
    "default": _default,
    "linear": _linear,
    "dynamic": _dynamic,
    "ntk": _ntk,
    "ntk_alpha": _ntk_alpha,
    "yarn": _yarn,
    "llama3": _llama3,
    "longrope": _longrope,
}
"""How often each pair turns, in radians a position, and what cosines and sines are times."""
