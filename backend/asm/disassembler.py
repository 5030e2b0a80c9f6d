"""A program as text."""

import hashlib
import json
import re
from collections.abc import Iterator

from xdsl_tpu.backend.asm.command_text import command_text
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.isa.replay import replay
from xdsl_tpu.backend.program import IoTensor, Program

_PLAIN_WORD = re.compile(r"[A-Za-z_]\w*(\.\w+)*", re.ASCII)
_NO_LAYER = -1


def disassemble(program: Program) -> str:
    """The whole program but for its coefficients, of which only place, size and hash are given.

    Commands come in the order in which the machine model runs them, so each stands behind what it
    waits for; in a program that blocks, the commands that never run come last. Those of further
    cores come behind, core by core.
    """
    lines = [*_directives(program), "", *_commands(program, silent=True)]
    for number, core in enumerate(program.others, 1):
        lines += ["", f".core {number}", *_commands(core, silent=False)]
    return "".join(f"{line}\n" for line in lines)


def _directives(program: Program) -> Iterator[str]:
    yield f"// {len(program.tiu)} TIU commands, {len(program.gdma)} GDMA commands"
    yield f".program {json.dumps(program.name)}"
    yield f".chip {json.dumps(program.chip)}"
    if program.quantize:
        yield f".quantize {json.dumps(program.quantize)}"
    yield f".coefficients @{program.coefficient_address:#x} {_coefficients(program)}"
    yield f".arena @{program.arena_address:#x} size={program.arena_bytes}"
    if program.io_bytes:
        yield f".apart @{program.io_address:#x} size={program.io_bytes}"
    for kind, tensors in (("input", program.inputs), ("output", program.outputs)):
        yield from (f".{kind} {_tensor(tensor)}" for tensor in tensors)


def _coefficients(program: Program) -> str:
    """Size and hash; all zeros are what a program has whose weights were not there."""
    size = f"size={program.coefficients.size}"
    if not program.coefficients.any():
        return size
    digest = hashlib.sha256(program.coefficients.tobytes()).hexdigest()
    return f'{size} sha256="{digest}"'


def _tensor(tensor: IoTensor) -> str:
    shape = ",".join(map(str, tensor.shape))
    return f"{json.dumps(tensor.name)} [{shape}]@{tensor.address:#x}:{tensor.dtype.label}"


def _commands(program: Program, silent: bool) -> Iterator[str]:
    """The commands of a core; `silent`: and the layers that have none on any."""
    declared: set[int] = set()
    current: int | None = None
    for engine, position in _order(program):
        layer = _layer_of(program, engine, position)
        if layer != current:
            yield from _declarations(program, declared, layer)
            current = layer
        yield command_text(program.queue(engine)[position])
    if not silent:
        return
    declared.update(*(indices for core in program.others for indices in _all_layers(core)))
    left = [index for index in range(len(program.layers)) if index not in declared]
    if left:
        yield "// layers without commands"
        yield from (_layer(program, index) for index in left)


def _all_layers(core: Program) -> Iterator[list[int]]:
    yield from (core.layer_indices(engine) for engine in Engine)


def _order(program: Program) -> Iterator[tuple[Engine, int]]:
    done = dict.fromkeys(Engine, 0)
    for engine, position in replay(program.tiu, program.gdma):
        done[engine] = position + 1
        yield engine, position
    for engine in Engine:
        yield from (
            (engine, position) for position in range(done[engine], len(program.queue(engine)))
        )


def _layer_of(program: Program, engine: Engine, position: int) -> int:
    """The layer's index; commands of a program without layer tags have none."""
    indices = program.layer_indices(engine)
    return indices[position] if position < len(indices) else _NO_LAYER


def _declarations(program: Program, declared: set[int], layer: int) -> Iterator[str]:
    """What says that the next commands belong to another layer."""
    if layer == _NO_LAYER:
        if program.layers:
            yield ".layer none"
        return
    declared.add(layer)
    yield _layer(program, layer)


def _layer(program: Program, index: int) -> str:
    layer = program.layers[index]
    op = layer.op if _PLAIN_WORD.fullmatch(layer.op) else json.dumps(layer.op)
    zeros = f" zeros={layer.zeros}" if layer.zeros else ""
    return f".layer {index} {op} {json.dumps(layer.name)}{zeros}"
