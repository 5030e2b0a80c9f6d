"""Padding attributes of convolutions and pools."""

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import StringAttr

from xdsl_tpu.dialects.interfaces.shape_rules import Window, same_pads


def auto_padded(
    slides: Sequence[Window], sizes: Sequence[int], auto_pad: StringAttr | None
) -> tuple[Window, ...]:
    """The windows with the padding that `auto_pad` asks for (ONNX operators, Conv, auto_pad).

    SAME_UPPER and SAME_LOWER give ceil(size / stride) positions, an odd element of padding
    going after or before; VALID pads nothing; NOTSET or no attribute leaves the pads.
    """
    mode = "NOTSET" if auto_pad is None else auto_pad.data
    if mode == "NOTSET":
        return tuple(slides)
    if mode == "VALID":
        return tuple(replace(window, before=0, after=0) for window in slides)
    padded: list[Window] = []
    for window, size in zip(slides, sizes, strict=True):
        before, after = same_pads(window, size, upper=mode == "SAME_UPPER")
        padded.append(replace(window, before=before, after=after))
    return tuple(padded)


def pads_of(slides: Sequence[Window]) -> tuple[int, ...]:
    """The `pads` attribute: all befores and then all afters."""
    return (*(window.before for window in slides), *(window.after for window in slides))
