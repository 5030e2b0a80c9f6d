"""Tile programs as text, and what programs have in common."""

from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.program import Program
from xdsl_tpu.dialects.text import make_context, module_text, parse_module
from xdsl_tpu.dialects.weights import attach, weights_of
from xdsl_tpu.passes.tile_programs import LowerToTilePass


def lowered(module: ModuleOp) -> ModuleOp:
    """The module with its tile programs, printed and parsed."""
    weights = weights_of(module)
    LowerToTilePass().apply(make_context(), module)
    module.verify()
    read = parse_module(module_text(module))
    read.verify()
    assert module_text(read) == module_text(module)
    attach(read, weights)
    return read


def commands(program: Program) -> object:
    """All that the engines get, and what is known of where it comes from."""
    queues = [[(c.form.name, c.fields) for c in queue] for queue in (program.tiu, program.gdma)]
    return queues, program.layers, program.tiu_layers, program.gdma_layers
