"""`python -m xdsl_tpu TOOL ...`: the tools, where their scripts are not on the path."""

import sys

from xdsl_tpu.tools import commands

TOOLS = {
    "calibrate": commands.tpu_calibrate,
    "compile": commands.tpu_compile,
    "generate": commands.tpu_generate,
    "opt": commands.tpu_opt,
    "run": commands.tpu_run,
    "sweep": commands.tpu_sweep,
}
USAGE = f"usage: python -m xdsl_tpu {{{','.join(TOOLS)}}} ...\n       each takes --help"


def main() -> None:
    """Run the tool that the first argument names, as if by its script."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    tool = TOOLS.get(name.removeprefix("tpu-"))
    if tool is not None:
        sys.argv[:2] = [f"tpu-{name.removeprefix('tpu-')}"]
        tool()
    if name in ("-h", "--help"):
        print(USAGE)
        return
    said = f"error: unknown tool '{name}'\n" if name else ""
    print(f"{said}{USAGE}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
