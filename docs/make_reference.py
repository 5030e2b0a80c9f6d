"""Writes docs/reference from the code: every op, every pass, every command line, every instruction.

usage: python docs/make_reference.py [--check]

With --check nothing is written; status 1 and the names of the pages that are not up to date.
"""

import argparse
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path

from xdsl.ir import Dialect
from xdsl.irdl import (
    AttributeDef,
    IRDLOperation,
    OptAttributeDef,
    OptOperandDef,
    OptPropertyDef,
    OptResultDef,
    PropertyDef,
    VarOperandDef,
    VarResultDef,
)

from xdsl_tpu.backend.isa import load_instruction_set
from xdsl_tpu.backend.isa.forms import Field, Form
from xdsl_tpu.dialects.attrs import Kind
from xdsl_tpu.dialects.oneflow import OneFlow
from xdsl_tpu.dialects.tile import Tile
from xdsl_tpu.dialects.top import Top
from xdsl_tpu.dialects.tpu import Tpu
from xdsl_tpu.passes import PASSES
from xdsl_tpu.passes.pipeline import option_texts
from xdsl_tpu.tools import (
    tpu_calibrate,
    tpu_compile,
    tpu_generate,
    tpu_opt,
    tpu_run,
    tpu_sweep,
)

FOLDER = Path(__file__).parent / "reference"
NOTE = "<!-- Made by docs/make_reference.py; do not edit. -->\n"
DIALECTS: tuple[Dialect, ...] = (Top, Tpu, Tile, OneFlow)
TOOLS: Mapping[str, Callable[..., object]] = {
    "tpu-compile": tpu_compile.main,
    "tpu-run": tpu_run.main,
    "tpu-generate": tpu_generate.main,
    "tpu-opt": tpu_opt.main,
    "tpu-calibrate": tpu_calibrate.main,
    "tpu-sweep": tpu_sweep.main,
}


def sentence(documented: object) -> str:
    """A docstring as Markdown text: code in double backticks becomes single."""
    return re.sub(r"``", "`", inspect.getdoc(documented) or "").strip()


def arity(definition: object) -> str:
    """What a reader must know about how often an operand or result is there."""
    if isinstance(definition, VarOperandDef | VarResultDef):
        return ", any number"
    return ", optional" if isinstance(definition, OptOperandDef | OptResultDef) else ""


def kind_text(constraint: object) -> str:
    """A kind of attribute in a few words."""
    return constraint.describe() if isinstance(constraint, Kind) else ""


def op_rows(op: type[IRDLOperation]) -> Iterator[str]:
    """The rows of an op's table: operands, attributes, results."""
    definition = op.get_irdl_definition()
    for name, operand in definition.operands:
        yield f"| `{name}` | operand{arity(operand)} | |"
    for name, attribute in {**definition.properties, **definition.attributes}.items():
        yield f"| `{name}` | {attribute_text(attribute)} |"
    for name, result in definition.results:
        yield f"| `{name}` | result{arity(result)} | |"
    for name, _ in definition.regions:
        yield f"| `{name}` | region | |"


def attribute_text(attribute: AttributeDef | PropertyDef) -> str:
    """Two cells: whether it must be there, and its default."""
    optional = isinstance(attribute, OptAttributeDef | OptPropertyDef)
    default = attribute.default_value
    shown = "" if default is None else f"`{default}`".replace("|", "\\|")
    kind = kind_text(attribute.constr)
    what = "attribute" + (f", {kind}" if kind else "") + (", optional" if optional else "")
    return f"{what} | {shown}"


def dialect_page(dialect: Dialect) -> str:
    """All ops of a dialect."""
    ops = sorted(dialect.operations, key=lambda op: op.name)
    parts = [NOTE, f"# Dialect `{dialect.name}`\n", f"{len(ops)} ops.\n"]
    for op in ops:
        parts += [f"## `{op.name}`\n", f"{sentence(op)}\n"]
        rows = list(op_rows(op)) if issubclass(op, IRDLOperation) else []
        if rows:
            parts += ["| | | default |\n|---|---|---|\n" + "\n".join(rows) + "\n"]
    return "\n".join(parts)


def passes_page() -> str:
    """All passes with their options."""
    parts = [NOTE, "# Passes\n", "Flags of `tpu-opt`, and names for its `-p`.\n"]
    for name in sorted(PASSES):
        kind = PASSES[name]()
        parts += [f"## `--{name}`\n", f"{sentence(kind)}\n"]
        texts = option_texts(kind)
        if texts:
            rows = "\n".join(f"| `{text}` |" for text in texts)
            parts.append(f"| option and default |\n|---|\n{rows}\n")
    return "\n".join(parts)


def help_of(main: Callable[..., object]) -> str:
    """What `--help` prints, at a fixed width."""
    os.environ.update(COLUMNS="100", NO_COLOR="1")
    text = StringIO()
    with redirect_stdout(text), suppress(SystemExit):
        main(["--help"])
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def tools_page() -> str:
    """All command lines."""
    parts = [NOTE, "# Command lines\n", "What is in the files: [tools](../tools.md).\n"]
    for name, main in TOOLS.items():
        parts += [f"## {name}\n", f"```text\n{help_of(main)}```\n"]
    return "\n".join(parts)


def form_text(form: Form) -> str:
    """One form: its size, how it is recognised, its functions."""
    marks = [f"{name} = {value}" for name, value in form.fixed.items()]
    named = {number: name for number, name in form.functions.items() if name != str(number)}
    parts = [f"{form.engine.value}, {form.size} bytes", *marks]
    if named:
        functions = ", ".join(f"{number} {name}" for number, name in sorted(named.items()))
        parts.append(f"`{form.function_field}`: {functions}")
    return "; ".join(parts) + "."


def layout_section(forms: list[Form]) -> str:
    """Forms that have the same fields, and the fields from bit 0 on."""
    heading = ", ".join(form.name for form in forms)
    texts = [f"**{form.name}**: {form_text(form)}\n" for form in forms]
    rows = [
        f"| {field.offset} | {field.width} | `{field.name}` |"
        for field in forms[0].fields
        if not field.name.startswith("rsvd")
    ]
    table = "| bit | width | field |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    return "\n".join([f"## {heading}\n", *texts, table])


def instructions_page() -> str:
    """All command forms with their fields."""
    head = (
        "What they mean: [instructions](../hardware/instructions.md). Reserved bits are left out.\n"
    )
    alike: dict[tuple[Field, ...], list[Form]] = {}
    for form in load_instruction_set().forms.values():
        alike.setdefault(form.fields, []).append(form)
    return "\n".join([NOTE, "# Command forms\n", head, *map(layout_section, alike.values())])


def pages() -> dict[str, str]:
    """File name -> text."""
    made = {f"{dialect.name}.md": dialect_page(dialect) for dialect in DIALECTS}
    others = {"passes": passes_page, "tools": tools_page, "instructions": instructions_page}
    return {**made, **{f"{name}.md": page() for name, page in others.items()}}


def stale(made: Mapping[str, str]) -> list[str]:
    """Names of pages that are absent or different."""
    return [
        name
        for name, text in made.items()
        if not (FOLDER / name).is_file() or (FOLDER / name).read_text(encoding="utf-8") != text
    ]


def main(arguments: Iterable[str] | None = None) -> int:
    """Write or check all pages."""
    parser = argparse.ArgumentParser(description="Writes docs/reference from the code.")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if pages are stale")
    args = parser.parse_args(None if arguments is None else list(arguments))
    made = pages()
    if args.check:
        print(*stale(made), sep="\n")
        return int(bool(stale(made)))
    FOLDER.mkdir(exist_ok=True)
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
