"""An instruction set: all forms by their name, and which form a command's bytes have."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module

from xdsl_tpu.backend.isa.codes import RQ_DQ, Only
from xdsl_tpu.backend.isa.command import Command, EncodingError
from xdsl_tpu.backend.isa.forms import HEADERS, Engine, Field, Form
from xdsl_tpu.backend.isa.instruction import Described, Family, Instruction, Operand, Place
from xdsl_tpu.backend.isa.layouts import FOLDER, read_layouts
from xdsl_tpu.backend.isa.limits import Limits
from xdsl_tpu.backend.isa.registers import Registers
from xdsl_tpu.dialects.errors import TpuError

DEFAULT = "bm1684x"
"""The instruction set of programs that do not say which they are for."""

_SHORTEST = 16  # bytes of the shortest command


@dataclass(frozen=True, eq=False)
class InstructionSet:
    """The forms of a family of chips; there is one object for each name."""

    name: str
    forms: Mapping[str, Form]

    @cached_property
    def limits(self) -> Limits:
        """What the fields of commands can hold."""
        return Limits.of(self.forms)

    def decode(self, data: bytes | memoryview, engine: Engine) -> Command:
        """The command at the start of `data`; fields that are zero are left out.

        Raises EncodingError when no form matches or the bytes end early.
        """
        form = self._form_of(data, engine)
        if len(data) < form.size:
            raise EncodingError(
                f"a {form.name} command needs {form.size} bytes, {len(data)} are left"
            )
        word = int.from_bytes(data[: form.size], "little")
        values = ((f.name, f.of(word)) for f in form.fields)
        return Command(form, {name: value for name, value in values if value})

    def decode_stream(
        self, data: bytes | memoryview, engine: Engine, count: int
    ) -> Iterator[Command]:
        """The first `count` commands of a queue, which lie back to back, with the fields that
        registers have."""
        view, registers = memoryview(data), Registers({})
        for _ in range(count):
            command = self.decode(view, engine)
            view = view[command.form.size :]
            yield registers.filled(command)

    @cached_property
    def requantises(self) -> bool:
        """Whether products give 8-bit results under a new scale."""
        return "rq" in self.forms["sCONV"].by_name

    @cached_property
    def requant_words(self) -> int:
        """Words of a channel in tables of requantisation."""
        described = self.forms["sRQ_DQ"].instructions[RQ_DQ.RQ1].described
        assert described is not None
        (words,) = (one.shape[3] for one in described.operands if one.name == "opd1")
        assert isinstance(words, int)
        return words

    def _form_of(self, data: bytes | memoryview, engine: Engine) -> Form:
        """Select the form by opcode, short flag and, for shared opcodes, function."""
        if len(data) < _SHORTEST:
            raise EncodingError(
                f"{engine.value} queue: {len(data)} bytes left, too few for a command"
            )
        head = int.from_bytes(data[:8], "little")
        short, opcode, function = (field.of(head) for field in self._headers[engine])
        for form in self._by_opcode.get((engine, opcode), ()):
            own = form.by_name[form.function_field].of(head)
            if form.short in (None, short) and (not form.functions or own in form.functions):
                return form
        raise EncodingError(
            f"{engine.value} queue: no command form has opcode {opcode}, function {function}, "
            f"short flag {short}"
        )

    @cached_property
    def _headers(self) -> dict[Engine, tuple[Field, Field, Field]]:
        """Short flag, opcode and function, which all forms of an engine have in one place."""
        found: dict[Engine, tuple[Field, Field, Field]] = {}
        for form in self.forms.values():
            header = HEADERS[form.engine]
            if header.short in form.by_name and form.engine not in found:
                names = (header.short, header.opcode, header.function)
                one, two, three = (form.by_name[name] for name in names)
                found[form.engine] = one, two, three
        return found

    @cached_property
    def _by_opcode(self) -> dict[tuple[Engine, int], list[Form]]:
        found: dict[tuple[Engine, int], list[Form]] = {}
        for form in self.forms.values():
            if form.opcode is not None:
                found.setdefault((form.engine, form.opcode), []).append(form)
        return found


def known_instruction_sets() -> list[str]:
    """The names that `load_instruction_set` takes."""
    return sorted(path.parent.name for path in FOLDER.glob("*/forms.json"))


@cache
def load_instruction_set(name: str = DEFAULT) -> InstructionSet:
    """The instruction set of that name: the package here with its bit layouts and declarations.

    Raises TpuError when there is none.
    """
    if name not in known_instruction_sets():
        raise TpuError(
            f"no instruction set '{name}': there are {', '.join(known_instruction_sets())}"
        )
    package = import_module(f"xdsl_tpu.backend.isa.{name}")
    families: dict[str, Family] = {family.name: family for family in package.FAMILIES}
    data = read_layouts(name)
    forms: dict[str, Form] = {}
    for entry in data.forms:
        fields, family = data.layouts[entry.layout], families[entry.family]
        forms[entry.name] = Form(
            name=entry.name,
            family=family.name,
            engine=entry.engine,
            bits=entry.bits,
            opcode=entry.opcode,
            short=entry.short,
            fields=fields,
            instructions=dict(_instructions(entry.name, family, fields, data.idle, data.queues)),
            signed_floats=family.signed_floats,
            primed=family.primed,
            registers=data.registers.get(entry.layout, {}),
        )
    return InstructionSet(name, forms)


def _instructions(
    form: str,
    family: Family,
    fields: tuple[Field, ...],
    idle: frozenset[str],
    queues: frozenset[str],
) -> Iterator[tuple[int, Instruction]]:
    """All functions of a form; only those of the described form have operands."""
    known = frozenset(field.name for field in fields)
    described = {
        function: one
        for one in family.described
        for function in one.functions
        if form == family.form
    }
    for function in family.functions or ():
        if function in family.without:
            continue
        cost = family.cost.get(function) if isinstance(family.cost, Mapping) else family.cost
        name = function.name.lower() if family.functions is not Only else str(int(function))
        plain = Instruction(int(function), name, cost, lanes=family.lanes)
        found = described.get(function)
        yield (
            plain.function,
            plain if found is None else _described(plain, found, known, idle, queues),
        )


def _described(
    plain: Instruction,
    described: Described,
    known: frozenset[str],
    idle: frozenset[str],
    queues: frozenset[str],
) -> Instruction:
    named = {name for operand in described.operands for name in _read_fields(operand, known)}
    reads = (named | set(described.also.split())) - set(described.unread.split())
    without_effect = frozenset(described.idle.split())
    reads = frozenset(reads) - without_effect
    return Instruction(
        plain.function,
        plain.name,
        plain.cost,
        described,
        plain.lanes,
        reads,
        without_effect | idle,
        known - queues - reads - without_effect - idle,
    )


_STRIDED = (Place.STEPS, Place.ROW_STEPS)


def _read_fields(operand: Operand, known: frozenset[str]) -> Iterator[str]:
    """The fields that say where an operand lies and of what type it is."""
    name = operand.name
    terms = (*operand.shape, operand.type, operand.constant, operand.last)
    yield from (term for term in terms if isinstance(term, str) and term)
    mine = [f"{name}_addr", f"{name}_sign", f"{name}_start_addr_l32", f"{name}_start_addr_h8"]
    if operand.place in (Place.CODED, Place.TABLE):
        mine += [f"{name}_str", *(f"{name}_{axis}_str" for axis in "nchw")]
    if operand.place in _STRIDED:
        mine += ["stride_enable", *(f"{name}_{axis}stride" for axis in "nchw")]
    yield from (field for field in mine if field in known)
