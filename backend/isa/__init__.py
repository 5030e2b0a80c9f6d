"""The instruction set as data: forms, commands, bytes."""

from xdsl_tpu.backend.isa.command import Command, EncodingError, decode, decode_stream, encode
from xdsl_tpu.backend.isa.forms import FORMS, Engine, Field, Form

__all__ = [
    "FORMS",
    "Command",
    "EncodingError",
    "Engine",
    "Field",
    "Form",
    "decode",
    "decode_stream",
    "encode",
]
