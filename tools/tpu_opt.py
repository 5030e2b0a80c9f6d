"""`tpu-opt`: read MLIR text, run passes, print MLIR text.

xDSL's optimiser driver with MLIR's command line: pass flags in command-line order, aliases
at the end of the file, names (locations) kept, and the weights that belong to the module
read and written with it.
"""

import argparse
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from typing import NoReturn

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.exceptions import DiagnosticException, ParseError, ShrinkException, VerifyException
from xdsl.utils.target import Target
from xdsl.xdsl_opt_main import xDSLOptMain

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.module_info import module_info
from xdsl_tpu.dialects.text import has_locations, parse_module, print_module
from xdsl_tpu.passes import PASSES
from xdsl_tpu.tools.diagnostics import (
    Diagnostic,
    Expected,
    announced,
    check_diagnostics,
    of_error,
)
from xdsl_tpu.tools.errors import UsageError, describe, guarded
from xdsl_tpu.tools.files import check_writable, write_text
from xdsl_tpu.tools.module_weights import attach_weights, save_weights
from xdsl_tpu.tools.tpu_opt_arguments import (
    add_arguments,
    pass_help,
    pass_list,
    separate_pass_flags,
)
from xdsl_tpu.tools.tpu_opt_passes import check_pass_name, requested_passes
from xdsl_tpu.tools.universe import ASM, UNIVERSE
from xdsl_tpu.tools.verify import blame

_SPLIT = re.compile(r"^[ \t]*// -----[ \t]*\n?", re.MULTILINE)
_DESCRIPTION = (
    "Read MLIR text of the top, tpu, tile and oneflow dialects, run passes, print MLIR text."
)


@dataclass(frozen=True)
class _Result:
    """What became of one part of the input: a module, or the text of an expected error."""

    module: ModuleOp | None = None
    located: bool = False
    inline: bool = True
    message: str = ""


def _asm() -> type[Target]:
    from xdsl_tpu.backend.asm.target import AsmTarget

    return AsmTarget


@cache
def _installed() -> Universe:
    """What all packages beside this one offer; looking for them takes longer than small inputs."""
    return Universe.get_multiverse()


class TpuOptMain(xDSLOptMain):
    """One run of the driver; `run` raises what `guarded` turns into messages."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = list(arguments)
        self._seconds: list[tuple[str, float]] = []
        self._passes: list[ModulePass] = []
        self._expected: list[Expected] = []
        self._found: list[Diagnostic] = []
        super().__init__(_DESCRIPTION, self._arguments)

    def register_all_dialects(self) -> None:
        for name, load in _installed().all_dialects.items():
            self.ctx.register_dialect(name, load)
        for name, load in UNIVERSE.all_dialects.items():
            if name not in self.ctx.registered_dialect_names:
                self.ctx.register_dialect(name, load)

    def register_all_passes(self) -> None:
        for name, load in _installed().all_passes.items():
            self.register_pass(name, load)
        self.available_passes.update(PASSES)

    def register_all_targets(self) -> None:
        self.available_targets.update(_installed().all_targets)
        self.available_targets[ASM] = _asm

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        passes = self.available_passes
        add_arguments(arg_parser, passes, self.available_frontends, self.available_targets)
        if {"-h", "--help"} & set(self._arguments):
            arg_parser.epilog = pass_help(passes)
        self._arguments[:] = separate_pass_flags(self._arguments, passes)

    def setup_pipeline(self) -> None:
        try:
            for name, text in self.args.requested:
                self._passes += requested_passes(name, text, self.available_passes)
            for name in (*self.args.print_ir_after, *self.args.print_ir_before):
                check_pass_name(name, self.available_passes)
        except TpuError as error:
            raise UsageError(str(error)) from error

    def run(self) -> None:
        """Everything from reading to writing; nothing is written unless all of it succeeds."""
        if self.args.list_passes:
            print(pass_list(self.available_passes))
            return
        if (output := self._output_file()) is not None:
            check_writable(output)
        chunks = self._read_chunks()
        if self.args.verify_diagnostics:
            self._expected = [one for chunk in chunks for one in announced(chunk)]
        results = [self._process(chunk) for chunk in chunks]
        if self._expected:
            check_diagnostics(self.get_input_name(), self._expected, self._found)
        modules = [result.module for result in results if result.module is not None]
        written: list[Path] = []
        try:
            save_weights(modules, self._input_directory(), output, written)
            self._write("// -----\n".join(map(self._print, self._shown(results))))
        except BaseException:
            for path in written:  # weights without their text are of no use
                path.unlink(missing_ok=True)
            raise
        if self.args.timing:
            print(timing_table(self._seconds), end="", file=sys.stderr)
        if self.args.shrink:
            raise TpuError("the input cannot be shrunk: no ShrinkException was raised")

    def _read_chunks(self) -> list[str]:
        """The input, split; each part starts with enough newlines to keep its line numbers."""
        name = self.args.input_file
        data = sys.stdin.buffer.read() if name in (None, "-") else Path(name).read_bytes()
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise TpuError(
                f"{self.get_input_name()}: not UTF-8 text ({error.reason}); tpu-opt reads MLIR, "
                "tpu-compile makes it of models"
            ) from error
        if not self.args.split_input_file:
            return [text]
        chunks: list[str] = []
        begin = 0
        for match in [*_SPLIT.finditer(text), None]:
            end = match.start() if match else len(text)
            chunks.append("\n" * text.count("\n", 0, begin) + text[begin:end])
            begin = match.end() if match else end
        return chunks

    def get_input_name(self) -> str:
        return "<stdin>" if self.args.input_file in (None, "-") else self.args.input_file

    def _shown(self, results: list[_Result]) -> list[_Result]:
        """All, but those that became an error which the input announces."""
        return [one for one in results if one.module is not None or not self._expected]

    def _process(self, chunk: str) -> _Result:
        module: ModuleOp | None = None
        try:
            start = time.perf_counter()
            module = parse_module(chunk, self.get_input_name(), self.ctx)
            located = self.args.mlir_print_debuginfo or has_locations(module)
            self._seconds.append(("parse", time.perf_counter() - start))
            attach_weights(module, self._input_directory(), self.args.weights)
            self._run_passes(module)
        except ShrinkException as error:
            if not self.args.shrink:
                raise
            raise SystemExit("Success, can shrink") from error
        except (ParseError, DiagnosticException, TpuError) as error:
            return self._failed(error, module)
        located = located and not self.args.no_locations
        return _Result(module, located, not self._with_aliases(module))

    def _failed(self, error: Exception, module: ModuleOp | None) -> _Result:
        """An error that was announced, or shall be shown as output; else it is raised again."""
        if self._expected:
            self._found += of_error(error, module)
            return _Result()
        wanted = isinstance(error, ParseError) and self.args.parsing_diagnostics
        if not wanted and (isinstance(error, ParseError) or not self.args.verify_diagnostics):
            raise error
        return _Result(message=f"{describe(error)}\n")

    def _with_aliases(self, module: ModuleOp) -> bool:
        """Whether locations are named by aliases: when asked for, and in text that comes back."""
        comes_back = module_info(module).names_aliases and not self._passes
        return self.args.mlir_print_debuginfo or comes_back

    def _run_passes(self, module: ModuleOp) -> None:
        self._verify(module, "the input")
        for index, module_pass in enumerate(self._passes):
            if self.args.print_ir_before_all or module_pass.name in self.args.print_ir_before:
                self._dump(module, "Before", module_pass)
            start = time.perf_counter()
            module_pass.apply(self.ctx, module)
            self._seconds.append((module_pass.name, time.perf_counter() - start))
            if self.args.print_ir_after_all or module_pass.name in self.args.print_ir_after:
                self._dump(module, "After", module_pass)
            if self.args.verify_each or index == len(self._passes) - 1:
                self._verify(module, f"the result of {module_pass.name}")
        for note in module_info(module).notes:
            self._found.append(Diagnostic("remark", None, note))
            print(f"note: {note}", file=sys.stderr)

    def _verify(self, module: ModuleOp, what: str) -> None:
        if self.args.disable_verify:
            return
        start = time.perf_counter()
        try:
            module.verify()
        except VerifyException as error:
            blame(module, error, what)
        self._seconds.append(("verify", time.perf_counter() - start))

    def _dump(self, module: ModuleOp, when: str, module_pass: ModulePass) -> None:
        title = f"IR Dump {when} {type(module_pass).__name__} ({module_pass.name})"
        print(f"// -----// {title} //----- //", file=sys.stderr)
        print_module(
            module,
            sys.stderr,
            locations=not self.args.no_locations,
            inline=not self.args.mlir_print_debuginfo,
        )

    def _print(self, result: _Result) -> str:
        if result.module is None:
            return result.message
        start = time.perf_counter()
        if self.args.target != "mlir" or self.args.print_debuginfo:
            text = self.output_resulting_program(result.module)
        else:
            stream = StringIO()
            generic = self.args.print_op_generic
            print_module(result.module, stream, result.located, generic, result.inline)
            text = stream.getvalue()
        self._seconds.append(("print", time.perf_counter() - start))
        return text

    def _input_directory(self) -> Path:
        name = self.args.input_file
        return Path() if name in (None, "-") else Path(name).parent

    def _output_file(self) -> Path | None:
        name = self.args.output_file
        return None if name in (None, "-") else Path(name)

    def _write(self, text: str) -> None:
        if (path := self._output_file()) is None:
            sys.stdout.write(text)
            sys.stdout.flush()
        else:
            write_text(path, text)


def timing_table(seconds: Sequence[tuple[str, float]]) -> str:
    """A table of the steps in order of first appearance, repeated steps added up."""
    totals: dict[str, tuple[int, float]] = {}
    for step, duration in seconds:
        count, total = totals.get(step, (0, 0.0))
        totals[step] = (count + 1, total + duration)
    whole = sum(total for _, total in totals.values()) or 1.0
    rows = [
        f"{total:10.4f}  {100 * total / whole:5.1f} %  {count:5d}  {step}\n"
        for step, (count, total) in totals.items()
    ]
    return "".join(("   seconds    share   runs  step\n", *rows, f"{whole:10.4f}  total\n"))


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """The console script."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    show = "--debug" in given
    sys.exit(guarded(lambda: TpuOptMain(given).run(), show_traceback=show, is_filter=True))
