"""The net that chances of the next token come from: what the vendor's converter calls sample_head.

    m_logits [1, vocabulary], input_ids [1, S] (the text; any of its tokens where it is shorter),
    penalty [1], temperature [1], top_k [1], top_p [1]
    -> probs [1, 50], token_idx [1, 50]: the best tokens in order and their chances

Logits of tokens that are in the text are divided by the penalty, or multiplied where negative
(Keskar et al., "CTRL" (2019), section 4.1). Of the `top_k` best, whose chances go by the logits
over the temperature, those are kept that have less than `top_p` together, and the first five in any
case ("The Curious Case of Neural Text Degeneration" (2020), section 3.1, keeps one more). The
others have chance 0.
"""

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.input_ranges import InputRange
from xdsl_tpu.dialects.integers import INTEGER
from xdsl_tpu.frontend.llm.build import NetBuilder, Value
from xdsl_tpu.frontend.llm.model import LanguageModel

NET = "sample_head"
MOST, FEWEST = 50, 5
"""Tokens that chances are given for, and that are kept in any case."""

NEVER = -1e30
"""A score that leaves no chance at any temperature."""


def sample_net(model: LanguageModel, length: int) -> ModuleOp:
    """Chances of the next token of texts of up to `length` tokens."""
    vocabulary = model.config.vocabulary
    count = min(MOST, vocabulary)
    net = NetBuilder(NET, separate_io=True)
    logits = net.input("m_logits", (1, vocabulary))
    text = net.input("input_ids", (1, length), InputRange(0, vocabulary))
    penalty, temperature = net.input("penalty", (1,)), net.input("temperature", (1,))
    most = net.input("top_k", (1,), InputRange(1, count + 1))
    share = net.input("top_p", (1,))
    logits = _penalised(net, logits, text, penalty)
    best, tokens = net.best("token_value", "token_idx", logits, count)
    shape = (1, count)
    scores = net.op(top.DivOp, "scores", [best, temperature], shape)
    places = net.weight("places", np.arange(count, dtype=np.int32)[None], INTEGER)
    allowed = net.op(top.CompareOp, "allowed", [places, most], shape, mode="Less")
    chances = _softmax(net, "chances", _only(net, "candidates", allowed, scores))
    together = net.op(top.CumSumOp, "together", [chances, net.none], shape, axis=1)
    few = net.op(top.CompareOp, "few", [together, share], shape, mode="Less")
    first = net.weight("first", (np.arange(count) < FEWEST).astype(np.float32)[None])
    either = net.op(top.MaxOp, "either", [few, first], shape)
    kept = net.op(top.MulOp, "kept", [either, allowed], shape)
    return net.finish([_softmax(net, "probs", _only(net, "choice", kept, scores)), tokens])


def _penalised(net: NetBuilder, logits: Value, text: Value, penalty: Value) -> Value:
    """Logits, those of the text's tokens with the penalty."""
    shape = net.shape(text)
    old = net.op(top.GatherElementsOp, "seen", [logits, text], shape, axis=1)
    negative = net.op(
        top.CompareConstOp, "negative", [old], shape, mode="Less", const_val=0.0, inversed=False
    )
    larger = net.op(top.MulOp, "multiplied", [old, penalty], shape)
    smaller = net.op(top.DivOp, "divided", [old, penalty], shape)
    new = net.op(top.WhereOp, "penalised", [negative, larger, smaller], shape)
    return net.op(
        top.ScatterElementsOp, "all_penalised", [logits, text, new], net.shape(logits), axis=1
    )


def _only(net: NetBuilder, name: str, kept: Value, scores: Value) -> Value:
    """Scores of what is kept."""
    shape = net.shape(scores)
    return net.op(
        top.WhereOp, name, [kept, scores, net.none], shape, y_is_const=True, y_const_val=NEVER
    )


def _softmax(net: NetBuilder, name: str, scores: Value) -> Value:
    return net.op(top.SoftmaxOp, name, [scores], net.shape(scores), axis=1)
