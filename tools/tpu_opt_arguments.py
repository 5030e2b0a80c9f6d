"""The command line of `tpu-opt`: arguments, pass flags, help and usage errors."""

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from textwrap import wrap
from typing import Any, NoReturn

from xdsl.passes import ModulePass

from xdsl_tpu.passes import PASSES
from xdsl_tpu.passes.named_pipelines import PIPELINES, pipeline_options
from xdsl_tpu.passes.pipeline import did_you_mean, option_texts, summary
from xdsl_tpu.passes.pipelines import STAGES
from xdsl_tpu.passes.summaries import SUMMARIES
from xdsl_tpu.tools.errors import UsageError
from xdsl_tpu.tools.tpu_opt_passes import MLIR_FLAG, XDSL_FLAG

PassLoader = Callable[[], type[ModulePass]]
_WIDTH, _INDENT = 100, 35
"""Columns of the help, and where what is said of a pass begins."""
_ROOM = _WIDTH - _INDENT
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


_PIPELINE_FLAGS = {"-p": XDSL_FLAG, "--passes": XDSL_FLAG, MLIR_FLAG: MLIR_FLAG}


class _Request(argparse.Action):
    """Collects pass flags and pipelines in the order of the command line."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        flag = option_string or ""
        name = _PIPELINE_FLAGS.get(flag) or flag.removeprefix("--")
        earlier = getattr(namespace, self.dest)
        setattr(namespace, self.dest, [*earlier, (name, values)])


def _wide_help(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=34, width=100)


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _boolean(text: str) -> bool:
    if text.lower() not in _BOOLEANS:
        raise argparse.ArgumentTypeError(f"'{text}' is neither true nor false")
    return _BOOLEANS[text.lower()]


# (flags, help) of the plain switches, by group.
_SWITCHES: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {
    "input": (
        (("--split-input-file",), "treat the parts between lines '// -----' as separate inputs"),
        (("--allow-unregistered-dialect",), "accept operations of unknown dialects"),
    ),
    "passes": (
        (
            ("--print-ir-before-all", "--mlir-print-ir-before-all"),
            "print the IR before every pass, on standard error",
        ),
        (
            ("--print-ir-after-all", "--print-between-passes", "--mlir-print-ir-after-all"),
            "print the IR after every pass, on standard error",
        ),
        (("--mlir-disable-threading",), "accepted, as passes never run at the same time"),
        (("--list-passes",), "print the names of all passes and pipelines, and their options"),
        (
            ("--timing", "--time-passes", "--mlir-timing"),
            "print a table of seconds per pass, on standard error",
        ),
    ),
    "output": (
        (("--no-locations",), "drop names (locations), which are printed when the input has any"),
        (
            ("--mlir-print-debuginfo",),
            "name locations by aliases, as mlir-opt does; otherwise they stand in place, which "
            "plain xdsl-opt reads, but in text with aliases that no pass was run on",
        ),
        (("--print-debuginfo",), "print with xDSL's own printer, locations in place"),
        (
            ("--print-op-generic", "--mlir-print-op-generic"),
            "print every operation in the generic form",
        ),
        (("--print-no-properties",), "with --print-debuginfo: print properties as attributes"),
        (("--syntax-highlight",), "with --print-debuginfo: colours"),
    ),
    "checks": (
        (("--disable-verify",), "never verify the IR"),
        (
            ("--verify-diagnostics",),
            "compare errors with those that comments of the input announce, such as "
            "'// expected-error@+1 {{text}}'; of an input with none, print the errors of verifiers "
            "and passes and exit with 0",
        ),
        (("--parsing-diagnostics",), "print parse errors and exit with 0"),
        (("--shrink",), "exit with 0 only if a ShrinkException is raised (for shrinkray)"),
        (("--debug",), "show the Python traceback of an error"),
    ),
}


def add_arguments(
    parser: argparse.ArgumentParser,
    passes: Iterable[str],
    frontends: Iterable[str],
    targets: Iterable[str],
) -> None:
    """Declare everything `tpu-opt` takes; pass flags are accepted, and listed elsewhere."""
    parser.prog = "tpu-opt"
    parser.usage = 'tpu-opt [FILE] [--PASS[="OPTION=VALUE ..."]]... [-o FILE] [options]'
    parser.allow_abbrev = False
    parser.formatter_class = _wide_help
    parser.error = lambda message: _usage_error(parser, message)
    groups = {title: parser.add_argument_group(title) for title in _SWITCHES}
    for title, switches in _SWITCHES.items():
        for flags, text in switches:
            groups[title].add_argument(*flags, action="store_true", help=text)
    add = groups["input"].add_argument
    add("input_file", nargs="?", metavar="FILE", help="MLIR text; standard input if '-' or absent")
    add("-f", "--frontend", choices=tuple(frontends), default="mlir", help=argparse.SUPPRESS)
    add("--weights", metavar="NPZ", help="weight file, instead of the module's module.weight_file")
    add = groups["passes"].add_argument
    pipeline_help = "pipeline in xDSL's syntax, e.g. 'canonicalize,layer-group{opt=2}'"
    pipeline: Any = {"dest": "requested", "action": _Request, "default": []}
    add(XDSL_FLAG, "--passes", metavar="PIPELINE", help=pipeline_help, **pipeline)
    mlir_help = "pipeline in mlir-opt's syntax, e.g. 'builtin.module(canonicalize,final-pipeline)'"
    add(MLIR_FLAG, metavar="PIPELINE", help=mlir_help, **pipeline)
    for when in ("before", "after"):
        around: Any = {"type": _names, "action": "extend", "default": [], "metavar": "PASS"}
        text = f"print the IR {when} this pass, on standard error; may be repeated"
        add(f"--print-ir-{when}", f"--mlir-print-ir-{when}", help=text, **around)
    add = groups["output"].add_argument
    add("-o", "--output-file", metavar="FILE", help="output, written only on success; '-': stdout")
    add("-t", "--target", default="mlir", help=f"output language: {', '.join(targets)}")
    each = "verify after every pass (default true)"
    booleans: Any = {"nargs": "?", "const": True, "default": True, "type": _boolean}
    groups["checks"].add_argument("--verify-each", metavar="BOOL", help=each, **booleans)
    shown = f"tpu-opt (xdsl-tpu {version('xdsl-tpu')}, xDSL {version('xdsl')})"
    parser.add_argument("-v", "--version", action="version", version=shown)
    for name in _free_names(parser, (*passes, *PIPELINES)):
        parser.add_argument(f"--{name}", metavar="OPTIONS", help=argparse.SUPPRESS, **pipeline)


def _free_names(parser: argparse.ArgumentParser, names: Iterable[str]) -> list[str]:
    taken = {flag for action in parser._actions for flag in action.option_strings}
    return [name for name in names if f"--{name}" not in taken]


def separate_pass_flags(arguments: Sequence[str], passes: Iterable[str]) -> list[str]:
    """Give bare pass flags an empty value: `--cse x.mlir` must not take `x.mlir` as options."""
    flags = {f"--{name}" for name in (*passes, *PIPELINES)}
    return [f"{argument}=" if argument in flags else argument for argument in arguments]


def _usage_error(parser: argparse.ArgumentParser, message: str) -> NoReturn:
    """What argparse calls for a wrong command line; near names are offered for unknown flags."""
    _, unrecognised, rest = message.partition("unrecognized arguments: ")
    if not unrecognised:
        raise UsageError(f"{message} (see tpu-opt --help)")
    word = rest.split()[0].partition("=")[0]
    if not word.startswith("-"):
        raise UsageError(f"unexpected argument '{word}': only one input file is possible")
    known = [flag for action in parser._actions for flag in action.option_strings]
    raise UsageError(
        f"unknown option or pass '{word}'{did_you_mean(word, known)} (see tpu-opt --help)"
    )


def pass_help(names: Iterable[str]) -> str:
    """One line for each of our passes and pipelines, and the names of all others: loads none."""
    others = ", ".join(name for name in names if name not in PASSES)
    return "\n".join(
        (
            "passes of xdsl-tpu (flags run in the order given; --list-passes has their options):",
            *(line for name, text in SUMMARIES.items() for line in _told(name, wrap(text, _ROOM))),
            "",
            *_pipeline_help(),
            "",
            "passes of xDSL and its plugins (--list-passes says what they do):",
            *(f"  {line}" for line in wrap(others, _WIDTH - 2, break_on_hyphens=False)),
        )
    )


def pass_list(passes: Mapping[str, PassLoader]) -> str:
    """What each pass does, ours with their options first, then those of xDSL and plugins."""
    others = {name: load for name, load in passes.items() if name not in PASSES}
    return "\n".join(
        (
            'passes of xdsl-tpu (flags run in command-line order; options as --PASS="A=1 B=x"):',
            *(line for name in PASSES for line in _pass_lines(name, passes[name], options=True)),
            "",
            *_pipeline_help(),
            "",
            "passes of xDSL and its plugins:",
            *(line for name in others for line in _pass_lines(name, others[name], options=False)),
        )
    )


def _pipeline_help() -> list[str]:
    lines = ["pipelines, wherever a pass can be named:"]
    for name, stage in PIPELINES.items():
        said = f"the passes of stage {stage}: {', '.join(STAGES[stage])}"
        told = [line for text in (said, " ".join(pipeline_options())) for line in wrap(text, _ROOM)]
        lines += _told(name, told)
    return lines


def _pass_lines(name: str, load: PassLoader, *, options: bool) -> list[str]:
    try:
        pass_class = load()
    except Exception as error:  # whatever is wrong with one pass, the others are listed
        return [f"  --{name:<30} (not available: {error})"]
    texts = option_texts(pass_class) if options else []
    return _told(name, [*wrap(summary(pass_class), _ROOM), *wrap(" ".join(texts), _ROOM)])


def _told(name: str, lines: Sequence[str]) -> list[str]:
    """A name with what is said of it, in a column of its own."""
    head = f"  --{name:<30} "
    if len(head) > _INDENT or not lines:
        return [head.rstrip(), *(f"{'':<{_INDENT}}{line}" for line in lines)]
    first, *rest = lines
    return [f"{head}{first}", *(f"{'':<{_INDENT}}{line}" for line in rest)]
