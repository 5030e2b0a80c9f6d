"""A language model run net by net in the interpreter, as a host runs it on the chip."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.frontend.llm.model import LanguageModel
from xdsl_tpu.frontend.llm.nets import (
    block_cache_net,
    block_net,
    decode_mask,
    embedding_net,
    head_net,
    prefill_mask,
)
from xdsl_tpu.passes.pipeline import make_pass

Floats = npt.NDArray[Any]


def checked(module: ModuleOp) -> ModuleOp:
    """The module, its shapes inferred anew and its ops verified."""
    module.verify()
    make_pass("shape-infer").apply(make_context(), module)
    module.verify()
    return module


def logits(model: LanguageModel, ids: Sequence[int], prompt: int, length: int) -> Floats:
    """Logits of the last token of a prompt and of each token behind it, [tokens, vocabulary]."""
    config = model.config
    padded = np.zeros((1, length), np.int32)
    padded[0, :prompt] = ids[:prompt]
    x = run_module(checked(embedding_net(model, "embedding", length)), [padded])["embedding"]
    caches: list[list[Floats]] = []
    for index in range(config.layers):
        places = np.arange(length, dtype=np.int32)[None]
        mask = prefill_mask(length, config.windows[index])
        out = run_module(checked(block_net(model, index, length)), [x, places, mask])
        x = out["output_states"]
        caches.append([out["k_cache"].copy(), out["v_cache"].copy()])
        for one in caches[-1]:
            one[:, prompt:] = 7  # what nobody may read
    head = checked(head_net(model))
    found = [run_module(head, [x[0, prompt - 1 : prompt]])["logits"]]
    embedding = checked(embedding_net(model, "embedding_cache", 1))
    blocks = [checked(block_cache_net(model, index, length)) for index in range(config.layers)]
    for place in range(prompt, len(ids)):
        x = run_module(embedding, [np.array([[ids[place]]], np.int32)])["embedding"]
        for index, block in enumerate(blocks):
            mask = decode_mask(place, length, config.windows[index])
            at = np.array([[place]], np.int32)
            out = run_module(block, [x, at, mask, *caches[index]])
            x = out["output_states"]
            for cache, name in zip(caches[index], ("k_cache", "v_cache"), strict=True):
                cache[:, place] = out[name][:, 0]
        found.append(run_module(head, [x[0]])["logits"])
    return np.concatenate(found)
