"""Which entries of config.json are those of the decoder, in the names that most families use."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.llm.architectures import (
    REFUSED,
    WHOLE_PROMPT,
    Architecture,
    architecture,
)


def decoder_entries(entries: Mapping[str, Any]) -> tuple[Architecture, dict[str, Any]]:
    """The decoder's architecture, as its entries have it, and these entries.

    Raises TpuError for an architecture that is not known, and what one of its models must not be.
    """
    inner: Any = entries.get("text_config")
    if entries.get("model_type") in WHOLE_PROMPT:
        raise TpuError(
            f"model_type '{entries['model_type']}' is not supported: its decoder sees all of a "
            "prompt from each token, not only what is before"
        )
    given = cast(Mapping[str, Any], inner) if isinstance(inner, Mapping) else entries
    kind = architecture(given.get("model_type", entries.get("model_type")))
    for one in (*REFUSED, *kind.refused):
        if one.applies(given):
            raise TpuError(
                f"'{one.entry}' is {given[one.entry]} in a model of '{kind.name}': {one.why}"
            )
    found = {**kind.defaults, **_renamed(kind, given)}
    for one in kind.variants:
        if found.get(one.entry) == one.value:
            kind = replace(kind, **cast(dict[str, Any], one.fields))
    if not kind.scaled_with_window:
        found = {"rope_local_base_freq": found["rope_theta"], **found}
    tied = entries.get("tie_word_embeddings")
    return kind, found if tied is None else {**found, "tie_word_embeddings": tied}


def _renamed(kind: Architecture, given: Mapping[str, Any]) -> dict[str, Any]:
    """Entries in the names that most families use; those of the family's own names count."""
    found = {key: one for key, one in given.items() if one is not None}
    return {**found, **{name: found[key] for key, name in kind.renamed.items() if key in found}}
