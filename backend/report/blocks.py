"""Which block of a network a layer belongs to, by its name.

Exporters name values by the modules that make them: `/stages.0/blocks.1/attn/proj/MatMul_output_0`.
A block is the path down to the first numbered module, and one further where that is numbered, too:
`/stages.0/blocks.1`. Without one it is the first module. Names of exporters that do not nest them
(`matmul_7`) tell of no block.
"""

import re

NO_BLOCK = "(no block)"
_NUMBERED = re.compile(r"(?:[._]|^)\d+$")
_DERIVED = re.compile(r"^(?:load_|store_)+")


def block_of(name: str) -> str:
    """The block of a layer, `NO_BLOCK` where its name has no path."""
    modules = [part for part in _DERIVED.sub("", name).split("/")[:-1] if part]
    if not modules:
        return NO_BLOCK
    numbered = [index for index, part in enumerate(modules) if _NUMBERED.search(part)]
    if not numbered:
        return "/" + modules[0]
    last = numbered[0]
    if last + 1 in numbered:
        last += 1
    return "/" + "/".join(modules[: last + 1])


def kind_of(name: str) -> str:
    """A name with its numbers left out: layers of like blocks have one."""
    return re.sub(r"\d+", "*", _DERIVED.sub("", name))
