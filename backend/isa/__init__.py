"""The instruction sets as data: forms, commands, bytes."""

from xdsl_tpu.backend.isa.command import Command, EncodingError, encode
from xdsl_tpu.backend.isa.forms import Engine, Field, Form
from xdsl_tpu.backend.isa.instruction_set import InstructionSet, load_instruction_set

__all__ = [
    "Command",
    "EncodingError",
    "Engine",
    "Field",
    "Form",
    "InstructionSet",
    "encode",
    "load_instruction_set",
]
