"""From pass names and option texts to pass instances, for every tool that runs passes.

Two spellings give the same instance: MLIR's `--layer-group="opt=2 debugger=true"` (the text
goes to `make_pass`) and xDSL's `-p 'layer-group{opt=2 debugger=true}'` (`parse_pipeline`).
"""

import re
import shlex
import types
from collections.abc import Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from functools import cache
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec
from xdsl.utils.arg_spec import parse_pipeline as parse_xdsl_pipeline
from xdsl.utils.exceptions import ArgSpecParseError

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.passes import PASSES, PassLoader

Scalar = str | int | float | bool
OptionTexts = Mapping[str, str | None]
"""Options of a pass as they are typed; None for one that is named without a value."""

_BOOLEANS = {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}
_INTEGER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0|[1-9][0-9]*)")
_REAL = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_STEP = re.compile(
    r"\s*(?:(?P<anchor>(?:\w+\.\w+|any)\s*\()"
    r"|(?P<name>[\w.-]+)\s*(?P<options>\{(?:[^{}\"']|\"[^\"]*\"|'[^']*'|\{[^{}]*\})*\})?\s*)"
)
_CLOSING = re.compile(r"\s*\)\s*")
_COMMA = re.compile(r"\s*,\s*(?=\S)")
_CAMEL_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """`; did you mean 'x'?` when something known is near, else nothing."""
    near = get_close_matches(word, known, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(repr(name) for name in near)}?" if near else ""


def make_pass(
    name: str, options: str = "", passes: Mapping[str, PassLoader] = PASSES
) -> ModulePass:
    """The pass `name` set up from MLIR-style options, `key=value key2=a,b flag`.

    Raises `TpuError` for an unknown pass or option and for a value of the wrong type.
    """
    return set_up_pass(name, option_words(name, options), passes)


def option_words(name: str, options: str) -> dict[str, str | None]:
    """MLIR-style options of pass `name`, taken apart; TpuError for a quote that is not closed."""
    try:
        words = shlex.split(options)
    except ValueError as error:
        raise TpuError(f"pass '{name}': options {options!r}: {error}") from error
    texts: dict[str, str | None] = {}
    for word in words:
        key, equals, value = word.partition("=")
        texts[key] = value if equals else None
    return texts


def parse_pipeline(text: str, passes: Mapping[str, PassLoader] = PASSES) -> list[ModulePass]:
    """The passes of an xDSL pipeline text, `a{x=1 y="b"},c`."""
    try:
        specs = tuple(parse_xdsl_pipeline(text))
    except ArgSpecParseError as error:
        raise TpuError(f"pass pipeline {text!r}: {_last_line(str(error))}") from error
    return [_from_spec(spec, passes) for spec in specs]


def split_pipeline(text: str) -> list[tuple[str, str]]:
    """Names and options of a pipeline as mlir-opt writes it: `builtin.module(a{x=1 y=2},b)`.

    An anchor, such as `builtin.module` or `func.func`, says nothing here: every pass runs on the
    module. Raises `TpuError` for a text that is none.
    """
    steps: list[tuple[str, str]] = []
    place, depth = 0, 0
    while place < len(text):
        match = _STEP.match(text, place)
        if match is None:
            raise TpuError(f"pass pipeline {text!r}: no pass name at {text[place:]!r}")
        place = match.end()
        if match["anchor"]:
            depth += 1
            continue
        steps.append((match["name"], (match["options"] or "")[1:-1].strip()))
        while (closing := _CLOSING.match(text, place)) is not None and depth:
            place, depth = closing.end(), depth - 1
        if place < len(text) and (comma := _COMMA.match(text, place)) is not None:
            place = comma.end()
        elif text[place:].strip():
            raise TpuError(f"pass pipeline {text!r}: ',' is missing at {text[place:]!r}")
        else:
            break
    if depth:
        raise TpuError(f"pass pipeline {text!r}: ')' is missing at the end")
    return steps


def option_texts(pass_class: type[ModulePass]) -> list[str]:
    """`name=default` for every option of a pass, `name=<type>` for a required one."""
    instance_fields = [field for field in fields(pass_class) if field.init]
    required = pass_class.required_fields()
    hints = get_type_hints(pass_class)
    return [
        f"{field.name}=<{_type_text(hints[field.name])}>"
        if field.name in required
        else f"{field.name}={_value_text(getattr(pass_class, field.name, None))}"
        for field in instance_fields
    ]


def summary(pass_class: type[ModulePass]) -> str:
    """The first sentence of the class docstring, on one line."""
    text = pass_class.__doc__ or ""
    if text.startswith(f"{pass_class.__name__}("):  # written by @dataclass, says nothing
        return ""
    paragraph = " ".join(text.strip().partition("\n\n")[0].split())
    return re.split(r"(?<=[.:])\s", paragraph, maxsplit=1)[0].rstrip(".:")


def _from_spec(spec: ArgSpec, passes: Mapping[str, PassLoader]) -> ModulePass:
    texts = {
        key: ",".join(str(value) for value in values) if values else None
        for key, values in spec.parameters.items()
    }
    return set_up_pass(spec.name, texts, passes)


def set_up_pass(
    name: str, texts: OptionTexts, passes: Mapping[str, PassLoader] = PASSES
) -> ModulePass:
    """The pass `name` set up from the texts of its options; raises as `make_pass` does."""
    if name not in passes:
        raise TpuError(f"unknown pass '{name}'{did_you_mean(name, list(passes))}")
    pass_class = passes[name]()
    known = _options(pass_class)
    parameters: dict[str, tuple[Scalar, ...]] = {}
    for key, text in texts.items():
        option = key if key in known else _CAMEL_HUMP.sub("_", key).lower().replace("-", "_")
        if option not in known:
            choices = f"it has {', '.join(known)}" if known else "it has none"
            near = did_you_mean(key, list(known))
            raise TpuError(f"pass '{name}' has no option '{key}' ({choices}){near}")
        try:
            parameters[option] = _cast(text, known[option])
        except ValueError as error:
            raise TpuError(f"pass '{name}', option '{key}': {error}") from error
    if missing := sorted(pass_class.required_fields() - parameters.keys()):
        raise TpuError(f"pass '{name}' needs the option '{missing[0]}'")
    try:
        return pass_class.from_spec(ArgSpec(pass_class.name, parameters))
    except ValueError as error:
        raise TpuError(f"pass '{name}': {error}") from error


@cache
def _options(pass_class: type[ModulePass]) -> Mapping[str, Any]:
    """The types of a pass's options."""
    hints = get_type_hints(pass_class)
    return {field.name: hints[field.name] for field in fields(pass_class) if field.init}


def _cast(text: str | None, expected: Any) -> tuple[Scalar, ...]:
    """The values of one option as xDSL's `ArgSpec` wants them: a tuple of scalars.

    `text` is None for a bare `key`, which means `true` for a boolean and "not given" for an
    optional value.
    """
    kinds, listed, optional = _kinds(expected)
    if text is None:
        if bool in kinds:
            return (True,)
        if optional:
            return ()
        raise ValueError(f"needs a value ({_type_text(expected)})")
    if not listed:
        return (_scalar(text, kinds, expected),)
    return tuple(_scalar(part, kinds, expected) for part in text.split(",") if part)


def _kinds(expected: Any) -> tuple[tuple[type | str, ...], bool, bool]:
    """Scalar types an option takes, whether as a list, and whether None is allowed."""
    origin = get_origin(expected)
    if origin is Literal:
        return tuple(get_args(expected)), False, False
    if origin is tuple:
        kinds, _, _ = _kinds(get_args(expected)[0])
        return kinds, True, False
    if origin in (Union, types.UnionType):
        members = [_kinds(arg) for arg in get_args(expected) if arg is not types.NoneType]
        kinds = tuple(dict.fromkeys(kind for member in members for kind in member[0]))
        return kinds, any(member[1] for member in members), types.NoneType in get_args(expected)
    return (expected,), False, False


def _scalar(text: str, kinds: tuple[type | str, ...], expected: Any) -> Scalar:
    if any(kind == text for kind in kinds):  # a member of a Literal
        return text
    if bool in kinds and text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    if int in kinds and _INTEGER.fullmatch(text):
        return int(text, 0)
    if float in kinds and _REAL.fullmatch(text):
        return float(text)
    if str in kinds:
        return text
    raise ValueError(f"'{text}' is not of type {_type_text(expected)}")


def _type_text(expected: Any) -> str:
    if get_origin(expected) is Literal:
        return "|".join(str(choice) for choice in get_args(expected))
    return expected.__name__ if isinstance(expected, type) else str(expected)


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(map(str, cast(tuple[Scalar, ...], value)))
    return "" if value is None else str(value)


def _last_line(text: str) -> str:
    """The message of xDSL's parse error without its picture."""
    lines = [line.strip(" ^-") for line in text.splitlines() if line.strip(" ^-")]
    return lines[-1]
