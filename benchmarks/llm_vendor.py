"""What the vendor's compiler (tpu-mlir 1.30.2) takes for the same models, by its own cycle count.

By model, format and tokens: blocks of decoding and of a prompt, the output matrix, which it keeps
in F16, and whole models, two compiled layers standing for all.
"""

_ROWS = """
qwen2.5-1.5b W4F16 512 521379 5179291 10587273 25186888 155622177
qwen2.5-1.5b W8F16 512 948577 5235587 10587273 37148432 157198465
qwen2.5-1.5b F16 512 1649590 6164738 10587273 56778691 183214693
qwen2.5-1.5b W4F16 2048 556699 22328195 10587273 26175848 635811397
qwen2.5-1.5b W4F16 4096 603691 50994056 10587273 27491624 1438483146
llama-3.2-1b W4F16 512 709391 6546181 12985228 24337119 117738354
llama-3.2-1b W8F16 512 1260155 6600043 12985228 33149343 118600146
llama-3.2-1b F16 512 2170314 7905794 12985228 47714106 139492162
qwen3-0.6b W4F16 512 256078 2770323 7704481 14875036 85283495
qwen3-0.6b W8F16 512 394440 2827454 7704481 18749172 86883163
qwen3-0.6b F16 512 620712 2338980 7704481 25086359 73198518
"""
_NAMES: tuple[str, ...] = ("decode", "prefill", "head", "decode in all", "prefill in all")


def _parsed() -> dict[tuple[str, str, int], dict[str, int]]:
    found: dict[tuple[str, str, int], dict[str, int]] = {}
    for row in _ROWS.split("\n"):
        if row:
            model, format, tokens, *cycles = row.split()
            values: dict[str, int] = dict(zip(_NAMES, map(int, cycles), strict=True))
            found[model, format, int(tokens)] = values
    return found


VENDOR = _parsed()
"""Cycles by (model, format, tokens), then by net."""
