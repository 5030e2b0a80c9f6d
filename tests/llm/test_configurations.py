"""The forms in which config.json is published."""

from typing import Any

import pytest

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.llm.config import ModelConfig, model_config

SIZES: dict[str, Any] = {
    "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 4, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 96, "max_position_embeddings": 64,
    "rms_norm_eps": 1e-6, "hidden_act": "silu",
}  # fmt: skip


def turning(config: ModelConfig) -> list[bool]:
    return [bool(one.tables(8)[1].any()) for one in config.rotary]


def test_a_vision_model_s_own_entries_are_those_of_its_decoder() -> None:
    sections = {"type": "mrope", "mrope_section": [2, 3, 3]}
    entries = {**SIZES, "model_type": "qwen2_5_vl", "vision_config": {}, "rope_theta": 1e6,
               "rope_scaling": sections, "tie_word_embeddings": True}  # fmt: skip
    config = model_config(entries)
    assert (config.rotary[0].kind, config.rotary[0].theta) == ("default", 1e6)
    assert config.biased == {"q", "k", "v"}
    assert config.tied


@pytest.mark.parametrize("tied", [True, False])
def test_the_whole_model_says_whether_the_output_matrix_is_the_embedding_s(tied: bool) -> None:
    part = {**SIZES, "model_type": "qwen3", "tie_word_embeddings": not tied}
    entries = {"model_type": "internvl", "text_config": part, "tie_word_embeddings": tied}
    assert model_config(entries).tied is tied


def test_what_gemma_3_leaves_out() -> None:
    """The entries of the model of 4 billion parameters, as published."""
    part = {"hidden_size": 2560, "intermediate_size": 10240, "model_type": "gemma3_text",
            "num_hidden_layers": 34, "sliding_window": 1024,
            "rope_scaling": {"factor": 8.0, "rope_type": "linear"}}  # fmt: skip
    config = model_config({"model_type": "gemma3", "text_config": part, "vision_config": {}})
    assert (config.heads, config.kv_heads, config.head_dim) == (8, 4, 256)
    assert config.scale == 256**-0.5
    assert config.windows[:6] == (1024,) * 5 + (None,)
    assert [one.kind for one in config.rotary[4:6]] == ["default", "linear"]
    assert config.tied


def test_olmo_3_scales_where_there_is_no_window() -> None:
    """As its files were before rotary embeddings had parameters by the kind of layer."""
    scaling = {"rope_type": "linear", "factor": 8.0}
    entries = {**SIZES, "model_type": "olmo3", "sliding_window": 8, "rope_theta": 1e4,
               "rope_scaling": scaling}  # fmt: skip
    config = model_config(entries)
    assert config.windows == (8, 8, 8, None)
    assert [one.kind for one in config.rotary] == ["default"] * 3 + ["linear"]
    assert {one.theta for one in config.rotary} == {1e4}


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ({"model_type": "smollm3"}, [True, True, True, False]),
        ({"model_type": "smollm3", "no_rope_layer_interval": 2}, [True, False, True, False]),
        ({"model_type": "smollm3", "no_rope_layers": [0, 1, 1, 0]}, [False, True, True, False]),
        ({"model_type": "exaone4", "sliding_window": None}, [True] * 4),
        (
            {"model_type": "exaone4", "sliding_window": 8, "sliding_window_pattern": 4},
            [True, True, True, False],
        ),
        ({"model_type": "llama"}, [True] * 4),
    ],
)
def test_layers_that_do_not_turn(entries: dict[str, Any], expected: list[bool]) -> None:
    assert turning(model_config({**SIZES, **entries})) == expected


def test_older_names_of_gpt_neox() -> None:
    """As the files of Pythia have them."""
    own = {**SIZES, "model_type": "gpt_neox", "layer_norm_eps": 1e-5, "rotary_pct": 0.5,
           "rotary_emb_base": 500, "num_key_value_heads": None}  # fmt: skip
    config = model_config(own)
    assert (config.rotary[0].dim, config.rotary[0].theta) == (8, 500)
    assert (config.eps, config.kv_heads) == (1e-5, 4)
    assert config.architecture.parallel
    assert not model_config({**own, "use_parallel_residual": False}).architecture.parallel


def test_cohere_2_turns_in_layers_with_a_window() -> None:
    config = model_config({**SIZES, "model_type": "cohere2", "layer_norm_eps": 1e-5})
    assert config.windows == (4096, 4096, 4096, None)
    assert turning(config) == [True, True, True, False]
    assert config.logit_scale == 0.0625


def test_ministral_3_reaches_as_far_as_its_queries_keep_their_scale() -> None:
    rotary = {"rope_type": "yarn", "rope_theta": 1e6, "factor": 16.0,
              "original_max_position_embeddings": 32, "llama_4_scaling_beta": 0.1}  # fmt: skip
    config = model_config({**SIZES, "model_type": "ministral3", "rope_parameters": rotary})
    assert config.rotary[0].reach == 32


REFUSED = {
    "alibi": ({"model_type": "llama", "alibi": True}, "'alibi' is True in a model of 'llama'"),
    "experts": ({"model_type": "arcee", "num_experts": 8}, "mixtures of experts"),
    "gate": ({"model_type": "cohere", "use_gated_activation": False}, "MLP without gate"),
    "in turn": ({"model_type": "cohere2", "use_parallel_block": False}, "one behind the other"),
    "query norms": ({"model_type": "cohere2", "use_qk_norm": True}, "norms of queries and keys"),
    "no window": ({"model_type": "cohere2", "sliding_window": None}, "must have a window"),
    "norms": ({"model_type": "starcoder2", "norm_type": "rms_norm"}, "norms are LayerNorms"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_variations_that_are_refused(case: str) -> None:
    entries, message = REFUSED[case]
    with pytest.raises(TpuError, match=message):
        model_config({**SIZES, **entries})


def test_one_expert_is_an_mlp() -> None:
    assert model_config({**SIZES, "model_type": "hunyuan_v1_dense", "num_experts": 1}).heads == 4
