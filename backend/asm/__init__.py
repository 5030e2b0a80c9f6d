"""Programs as text, one command per line, and back: `docs/isa.md` describes the language.

>>> text = disassemble(program)
>>> assemble(text, "relu.asm").tiu == program.tiu
True
"""

from xdsl_tpu.backend.asm.assembler import assemble
from xdsl_tpu.backend.asm.command_parser import parse_command
from xdsl_tpu.backend.asm.command_text import command_text
from xdsl_tpu.backend.asm.disassembler import disassemble
from xdsl_tpu.backend.asm.lexer import AsmError

__all__ = ["AsmError", "assemble", "command_text", "disassemble", "parse_command"]
