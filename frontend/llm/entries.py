"""Which entries of config.json are those of the decoder, in the names that most families use."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.llm.architectures import (
    DECODERS,
    PARTS,
    REFUSED,
    WHOLE_PROMPT,
    Architecture,
)
from xdsl_tpu.frontend.llm.families import architecture


def decoder_entries(entries: Mapping[str, Any]) -> tuple[Architecture, dict[str, Any]]:
    """The decoder's architecture, as its entries have it, and these entries.

    Raises TpuError for an architecture that is not known, and what one of its models must not be.
    """
    if entries.get("model_type") in WHOLE_PROMPT:
        raise TpuError(
            f"model_type '{entries['model_type']}' is not supported: its decoder sees all of a "
            "prompt from each token, not only what is before"
        )
    given, counts = _part(entries)
    kind = architecture(_decoder(given.get("model_type", entries.get("model_type")), given))
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
    tied = entries.get("tie_word_embeddings") if counts else None
    return kind, found if tied is None else {**found, "tie_word_embeddings": tied}


def _part(entries: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """The entries of the decoder, and whether those of the whole model say if its output matrix is
    the embeddings': `text_config` is part of transformers' own models, others are on their own."""
    for path in PARTS:
        inner: Any = entries
        for key in path:
            inner = cast(Mapping[str, Any], inner).get(key) if isinstance(inner, Mapping) else None
        if isinstance(inner, Mapping):
            return cast(Mapping[str, Any], inner), path == PARTS[0]
    return entries, True


def _decoder(model_type: object, given: Mapping[str, Any]) -> object:
    """The `model_type` of the decoder. Raises TpuError for a version of a model with another."""
    versions = DECODERS.get(str(model_type))
    if versions is None:
        return model_type
    version = str(given.get("version"))
    if version not in versions:
        raise TpuError(
            f"version {version} of '{model_type}' is not supported; {', '.join(versions)} are"
        )
    return versions[version]


def _renamed(kind: Architecture, given: Mapping[str, Any]) -> dict[str, Any]:
    """Entries in the names that most families use; those of the family's own names count."""
    found = {key: one for key, one in given.items() if one is not None}
    return {**found, **{name: found[key] for key, name in kind.renamed.items() if key in found}}
