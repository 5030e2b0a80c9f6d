"""The quantize table: which ops are lowered to another number format than the rest.

    # op_name  quantize_mode
    /layers/0/attn/MatMul_output_0_MatMul F16
    logits_Gemm                           INT8

One op a line, by the name of its result; `#` begins a comment. Tables of tpu-mlir can be read.
"""

from collections.abc import Mapping
from pathlib import Path

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.packed_weights import FORMATS

TABLE_MODES = ("F32", "F16", "BF16", "INT8", *FORMATS)


def read_quantize_table(path: str | Path) -> dict[str, str]:
    """Op name -> mode, from a file; TpuError when it cannot be read or a line is wrong."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise TpuError(f"quantize table {file}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise TpuError(f"quantize table {file} cannot be read: {error}") from error
    return parse_quantize_table(text, str(file))


def parse_quantize_table(text: str, source: str = "text") -> dict[str, str]:
    """Op name -> mode; `source` names the table in messages."""
    modes: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        where = f"{source}:{number}"
        if len(words) not in (2, 3):
            raise TpuError(f"{where}: expected 'op_name mode', found '{line.strip()[:120]}'")
        name, mode = words[0], words[1].upper()
        if mode not in TABLE_MODES:
            raise TpuError(f"{where}: mode {words[1]} is not one of {', '.join(TABLE_MODES)}")
        if modes.get(name, mode) != mode:
            raise TpuError(f"{where}: '{name}' has mode {modes[name]} already")
        modes[name] = mode
    return modes


def quantize_table_text(modes: Mapping[str, str]) -> str:
    """The file's contents for some modes."""
    lines = [f"{name}   {mode}" for name, mode in modes.items()]
    return "\n".join(("# op_name   quantize_mode", *lines)) + "\n"
