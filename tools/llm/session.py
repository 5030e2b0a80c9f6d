"""The host of a compiled language model: what the vendor's chat programs do around the nets."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.bmodel import Bmodel
from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.execute import LoadedProgram
from xdsl_tpu.backend.timing import simulate_program
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.llm.nets import decode_mask, prefill_mask
from xdsl_tpu.tools.folder import BMODEL
from xdsl_tpu.tools.llm.manifest import Manifest, read_manifest

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float32]


Shapes = Mapping[str, tuple[int, ...]]


class Nets:
    """The nets of a compiled model: their cycles, and what they compute.

    Of the stages of a net, the one is run whose inputs have the shapes that are given. `spent`
    are the cycles of all runs by the kind of net.
    """

    def __init__(self, folder: Path, chip: str | None = None) -> None:
        self.manifest: Manifest = read_manifest(folder)
        self.chip: Chip = load_chip(chip or self.manifest.chip)
        self._file = Bmodel(folder / BMODEL)
        missing = self.manifest.alike.keys() - set(self._file.names)
        if missing:
            raise TpuError(f"{folder}: {BMODEL} and llm.json do not belong together")
        self._loaded: dict[tuple[str, int], LoadedProgram] = {}
        self._cycles: dict[tuple[str, int], int] = {}
        self._stages: dict[str, list[Shapes]] = {}
        self.spent: dict[str, int] = {}

    def stages(self, name: str) -> list[Shapes]:
        """The shapes of inputs that a net is there for; none for a net that is not."""
        if name not in self.manifest.alike:
            return []
        if name not in self._stages:
            count = self._file.stages(name)
            self._stages[name] = [self._file.shapes(name, stage) for stage in range(count)]
        return self._stages[name]

    def run(self, name: str, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """What a net gives; it stays in its machine, with its weights.

        Raises TpuError where it is not there for inputs of these shapes.
        """
        shapes = {key: value.shape for key, value in inputs.items()}
        if shapes not in self.stages(name):
            raise TpuError(f"net '{name}' is not there for inputs of {shapes}")
        stage = self.stages(name).index(shapes)
        if (name, stage) not in self._loaded:
            self._loaded[name, stage] = LoadedProgram(self._file.read(name, stage), self.chip)
        kind = name.rstrip("0123456789").rstrip("_")
        self.spent[kind] = self.spent.get(kind, 0) + self.cycles(name, stage)
        return self._loaded[name, stage].run(inputs)

    def cycles(self, name: str, stage: int = 0) -> int:
        """How long a net takes; nets with the same commands take the same."""
        kind = self.manifest.alike[name]
        if (kind, stage) not in self._cycles:
            program = self._file.read(kind, stage)
            timelines = simulate_program(program, self.chip)
            self._cycles[kind, stage] = timelines[0].total
        return self._cycles[kind, stage]


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
        self._forms = {
            kind: sorted(tokens_and_history(one) for one in nets.stages(f"{kind}_0"))
            for kind in ("block", "block_cache", "block_kv")
        }
        self.position = 0

    @property
    def chunk(self) -> int:
        """Tokens of a prompt that are taken at once."""
        return self._forms["block"][-1][0]

    @property
    def most(self) -> int:
        """Tokens that one step takes at most."""
        return self._forms["block_cache"][-1][0]

    def prompt(self, ids: Sequence[int]) -> Floats:
        """Logits [vocabulary] of the token behind a prompt, with which the text begins.

        Raises TpuError for no tokens, too many, or tokens that the model does not have.
        """
        length = self._manifest.length
        if not 1 <= len(ids) <= length:
            raise TpuError(
                f"a prompt of {len(ids)} tokens: the model was compiled for 1 to {length} "
                "(tpu-compile --seq)"
            )
        self._check(ids)
        self.position = 0
        states = self._run("block", ids[: self.chunk])
        while left := ids[self.position :]:
            kind = "block_cache" if len(left) <= self.most else "block_kv"
            states = self._run(kind, left[: self.chunk])
        return self._logits(states[-1:])[0]

    def step(self, token: int) -> Floats:
        """Logits [vocabulary] of the token behind `token`, which is behind all others.

        Raises TpuError when there is no place left.
        """
        return self.steps([token])[0]

    def steps(self, tokens: Sequence[int]) -> Floats:
        """Logits [tokens, vocabulary] behind each of at most `most` tokens that come next, all in
        one step.

        Raises TpuError when there are not so many places left.
        """
        if self.position + len(tokens) > self._manifest.length:
            raise TpuError(
                f"the history of {self._manifest.length} tokens is full (tpu-compile --seq)"
            )
        self._check(tokens)
        return self._logits(self._run("block_cache", tokens))

    def forget(self, count: int) -> None:
        """Take back the last tokens."""
        self.position -= count

    def _form(self, kind: str, count: int) -> tuple[int, int]:
        """The smallest nets of a kind for so many tokens at this place: their tokens, and those
        that may be before them."""
        fitting = [one for one in self._forms[kind] if one[0] >= count and one[1] >= self.position]
        return min(fitting)

    def _run(self, kind: str, ids: Sequence[int]) -> Array:
        """States [ids, hidden] of the tokens that come next, through all blocks."""
        manifest, at = self._manifest, self.position
        rows, history = (self.chunk, 0) if kind == "block" else self._form(kind, len(ids))
        padded = np.zeros((1, rows), np.int32)
        padded[0, : len(ids)] = ids
        embedding = "embedding_cache" if kind == "block_cache" else "embedding"
        x = self._nets.run(embedding, {"input_ids": padded})["embedding"]
        places = np.minimum(at + np.arange(rows, dtype=np.int32), manifest.length - 1)[None]
        for index, cache in enumerate(self._caches):
            window = manifest.windows[index]
            given = {"input_states": x, "position_ids": places}
            if history:
                given["attention_mask"] = decode_mask(at, history, window, rows)
                given |= {f"history_{name}": cache[name][:, :history] for name in cache}
            else:
                given["attention_mask"] = prefill_mask(rows, window)
            out = self._nets.run(f"{kind}_{index}", given)
            x = out["output_states"]
            for name, values in cache.items():
                values[:, at : at + len(ids)] = out[f"{name}_cache"][:, : len(ids)]
        self.position += len(ids)
        return x[0, : len(ids)]

    def _logits(self, states: Array) -> Floats:
        """Logits [n, vocabulary] of n tokens."""
        forms = sorted(one["hidden_states"][0] for one in self._nets.stages("lm_head"))
        rows = next(one for one in forms if one >= len(states))
        padded = np.zeros((rows, states.shape[1]), states.dtype)
        padded[: len(states)] = states
        (found,) = self._nets.run("lm_head", {"hidden_states": padded}).values()
        found = found[: len(states)]
        if found.dtype == np.uint16:
            return (found.astype(np.uint32) << np.uint32(16)).view(np.float32)
        return found.astype(np.float32, copy=False)

    def _check(self, ids: Sequence[int]) -> None:
        wrong = [one for one in ids if not 0 <= one < self._manifest.vocabulary]
        if wrong:
            raise TpuError(
                f"token {wrong[0]}: the model has tokens 0 to {self._manifest.vocabulary - 1}"
            )


def tokens_and_history(shapes: Shapes) -> tuple[int, int]:
    """Of a block with inputs of these shapes."""
    history = shapes.get("history_k", (1, 0))
    return shapes["input_states"][1], history[1]
