"""The host of a compiled language model: what the vendor's chat programs do around the nets."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.bmodel import Bmodel
from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.execute import LoadedProgram
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.llm.nets import decode_mask, prefill_mask
from xdsl_tpu.tools.compile_model import BMODEL
from xdsl_tpu.tools.llm.manifest import Manifest, read_manifest

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float32]


class Nets:
    """The nets of a compiled model: their cycles, and what they compute."""

    def __init__(self, folder: Path, chip: str | None = None) -> None:
        self.manifest: Manifest = read_manifest(folder)
        self.chip: Chip = load_chip(chip or self.manifest.chip)
        self._file = Bmodel(folder / BMODEL)
        missing = self.manifest.alike.keys() - set(self._file.names)
        if missing:
            raise TpuError(f"{folder}: {BMODEL} and llm.json do not belong together")
        self._loaded: dict[str, LoadedProgram] = {}
        self._cycles: dict[str, int] = {}

    def run(self, name: str, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """What a net gives; it stays in its machine, with its weights."""
        if name not in self._loaded:
            self._loaded[name] = LoadedProgram(self._file.read(name), self.chip)
        return self._loaded[name].run(inputs)

    def cycles(self, name: str) -> int:
        """How long a net takes; nets with the same commands take the same."""
        kind = self.manifest.alike[name]
        if kind not in self._cycles:
            program = self._file.read(kind)
            self._cycles[kind] = simulate(program.tiu, program.gdma, self.chip).total
        return self._cycles[kind]


class Session:
    """One text: its tokens so far, and keys and values of every layer."""

    def __init__(self, nets: Nets) -> None:
        self._nets = nets
        self._manifest = nets.manifest
        shape = (1, self._manifest.length, self._manifest.kv_heads, self._manifest.head_dim)
        bf16 = self._manifest.format.floats == "BF16"
        element = np.uint16 if bf16 else np.float16
        layers = range(self._manifest.layers)
        self._caches = [{name: np.zeros(shape, element) for name in "kv"} for _ in layers]
        self.position = 0

    def prompt(self, ids: Sequence[int]) -> Floats:
        """Logits [vocabulary] of the token behind a prompt.

        Raises TpuError for no tokens, too many, or tokens that the model does not have.
        """
        manifest, length = self._manifest, self._manifest.length
        if not 1 <= len(ids) <= length:
            raise TpuError(
                f"a prompt of {len(ids)} tokens: the model was compiled for 1 to {length} "
                "(tpu-compile --seq)"
            )
        self._check(ids)
        padded = np.zeros((1, length), np.int32)
        padded[0, : len(ids)] = ids
        x = self._nets.run("embedding", {"input_ids": padded})["embedding"]
        places = np.arange(length, dtype=np.int32)[None]
        for index in range(manifest.layers):
            mask = prefill_mask(length, manifest.windows[index])
            given = {"input_states": x, "position_ids": places, "attention_mask": mask}
            out = self._nets.run(f"block_{index}", given)
            x = out["output_states"]
            for name, cache in self._caches[index].items():
                cache[:, : len(ids)] = out[f"{name}_cache"][:, : len(ids)]
        self.position = len(ids)
        return self._logits(x[:, len(ids) - 1])

    def step(self, token: int) -> Floats:
        """Logits [vocabulary] of the token behind `token`, which is behind all others.

        Raises TpuError when there is no place left.
        """
        manifest, at = self._manifest, self.position
        if at >= manifest.length:
            raise TpuError(f"the history of {manifest.length} tokens is full (tpu-compile --seq)")
        self._check([token])
        x = self._nets.run("embedding_cache", {"input_ids": np.array([[token]], np.int32)})
        x = x["embedding"]
        for index in range(manifest.layers):
            cache = self._caches[index]
            given = {
                "input_states": x,
                "position_ids": np.array([[at]], np.int32),
                "attention_mask": decode_mask(at, manifest.length, manifest.windows[index]),
                "history_k": cache["k"],
                "history_v": cache["v"],
            }
            out = self._nets.run(f"block_cache_{index}", given)
            x = out["output_states"]
            for name, values in cache.items():
                values[:, at] = out[f"{name}_cache"][:, 0]
        self.position += 1
        return self._logits(x[:, 0])

    def _logits(self, states: Array) -> Floats:
        found = self._nets.run("lm_head", {"hidden_states": states})["logits"][0]
        if found.dtype == np.uint16:
            return (found.astype(np.uint32) << np.uint32(16)).view(np.float32)
        return found.astype(np.float32)

    def _check(self, ids: Sequence[int]) -> None:
        wrong = [one for one in ids if not 0 <= one < self._manifest.vocabulary]
        if wrong:
            raise TpuError(
                f"token {wrong[0]}: the model has tokens 0 to {self._manifest.vocabulary - 1}"
            )


Choose = Callable[[Floats], int]


def greedy(logits: Floats) -> int:
    """The most likely token, the first of equals."""
    return int(np.argmax(logits))


def sampler(temperature: float, top_k: int, top_p: float, seed: int) -> Choose:
    """Draws tokens: of the `top_k` most likely (0: all) those that have `top_p` together.

    A temperature of 0 is greedy.
    """
    if temperature == 0:
        return greedy
    generator = np.random.default_rng(seed)

    def choose(logits: Floats) -> int:
        order = np.argsort(-logits, kind="stable")[: top_k or None]
        scaled = logits[order].astype(np.float64) / temperature
        shares = np.exp(scaled - scaled.max())
        shares /= shares.sum()
        kept = np.cumsum(shares) - shares < top_p
        shares = np.where(kept, shares, 0)
        return int(generator.choice(order, p=shares / shares.sum()))

    return choose
