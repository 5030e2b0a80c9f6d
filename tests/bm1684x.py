"""The instruction set that most tests are about."""

from xdsl_tpu.backend.isa import load_instruction_set
from xdsl_tpu.backend.machine.table import executors_of

INSTRUCTIONS = load_instruction_set("bm1684x")
FORMS = INSTRUCTIONS.forms
EXECUTORS = executors_of("bm1684x")
decode, decode_stream = INSTRUCTIONS.decode, INSTRUCTIONS.decode_stream
