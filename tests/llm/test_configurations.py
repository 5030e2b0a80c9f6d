"""The forms in which config.json is published."""

from typing import Any

import pytest

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
