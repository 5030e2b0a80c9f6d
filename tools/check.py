"""What `tpu-run` says about a program besides its values and cycles."""

from collections import Counter

from xdsl_tpu.backend.checks import check_program
from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.machine.status import is_unverified
from xdsl_tpu.backend.program import Program
from xdsl_tpu.dialects.errors import TpuError

MOST_SHOWN = 20


def check(program: Program, chip: Chip) -> None:
    """Print what a chip would do silently wrong; raises TpuError when there is anything."""
    findings = check_program(program, chip)
    for finding in findings[:MOST_SHOWN]:
        print(finding)
    if len(findings) > MOST_SHOWN:
        print(f"... and {len(findings) - MOST_SHOWN} more")
    if findings:
        kinds = Counter(finding.fault.value for finding in findings)
        counts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        raise TpuError(f"the program would not run right on a {chip.name}: {counts}")


def unverified(program: Program) -> str:
    """The commands simulated from documentation alone, in words; empty when there are none."""
    counts = Counter(
        f"{command.form.name}.{command.function_name}"
        for command in (*program.tiu, *program.gdma)
        if is_unverified(command)
    )
    return ", ".join(f"{count} x {name}" for name, count in counts.most_common())
