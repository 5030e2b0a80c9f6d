"""Jobs: the functions of OneFlow."""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    StringAttr,
    SymbolNameConstraint,
)
from xdsl.dialects.utils import parse_func_op_like, print_func_op_like
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    CallableOpInterface,
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    Pure,
    ReturnLike,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

_RESERVED = ("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs")


class _CallableJob(CallableOpInterface):
    @classmethod
    def get_callable_region(cls, op: Operation) -> Region:
        assert isinstance(op, JobOp)
        return op.body

    @classmethod
    def get_argument_types(cls, op: Operation) -> tuple[Attribute, ...]:
        assert isinstance(op, JobOp)
        return op.function_type.inputs.data

    @classmethod
    def get_result_types(cls, op: Operation) -> tuple[Attribute, ...]:
        assert isinstance(op, JobOp)
        return op.function_type.outputs.data


@irdl_op_definition
class JobOp(IRDLOperation):
    """A function of one block, `oneflow.job @name(%a: type) -> type { .. }`."""

    name = "oneflow.job"

    body = region_def()
    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    sym_visibility = opt_prop_def(StringAttr)
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    res_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), _CallableJob())

    def __init__(
        self,
        name: str,
        inputs: Sequence[Attribute],
        outputs: Sequence[Attribute],
        region: Region | None = None,
        visibility: StringAttr | None = None,
        arg_attrs: ArrayAttr[DictionaryAttr] | None = None,
        res_attrs: ArrayAttr[DictionaryAttr] | None = None,
    ) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": FunctionType.from_lists(inputs, outputs),
                "sym_visibility": visibility,
                "arg_attrs": arg_attrs,
                "res_attrs": res_attrs,
            },
            regions=[region or Region(Block(arg_types=inputs))],
        )

    @property
    def args(self) -> tuple[BlockArgument, ...]:
        """The arguments of the job; none of a declaration."""
        block = self.body.blocks.first
        return () if block is None else tuple(block.args)

    @property
    def returned(self) -> tuple[SSAValue, ...]:
        """What the job returns; nothing of a declaration."""
        block = self.body.blocks.first
        last = None if block is None else block.last_op
        return tuple(last.arguments) if isinstance(last, ReturnOp) else ()

    def verify_(self) -> None:
        if not self.body.blocks:
            return
        if len(self.body.blocks) > 1:
            raise VerifyException(f"job @{self.sym_name.data} must have one block")
        types = tuple(argument.type for argument in self.args)
        if types != self.function_type.inputs.data:
            raise VerifyException(
                f"job @{self.sym_name.data} takes {_list(self.function_type.inputs.data)}, "
                f"its block {_list(types)}"
            )
        block = self.body.block
        if not isinstance(block.last_op, ReturnOp):
            raise VerifyException(f"job @{self.sym_name.data} must end with oneflow.return")

    @classmethod
    def parse(cls, parser: Parser) -> "JobOp":
        visibility = parser.parse_optional_visibility_keyword()
        name, inputs, outputs, region, extra, arg_attrs, res_attrs = parse_func_op_like(
            parser, reserved_attr_names=_RESERVED
        )
        job = cls(name, inputs, outputs, region, visibility, arg_attrs, res_attrs)
        if extra is not None:
            job.attributes |= extra.data
        return job

    def print(self, printer: Printer) -> None:
        if self.sym_visibility is not None:
            printer.print_string(f" {self.sym_visibility.data}")
        print_func_op_like(
            printer,
            self.sym_name,
            self.function_type,
            self.body,
            self.attributes,
            arg_attrs=self.arg_attrs,
            res_attrs=self.res_attrs,
            reserved_attr_names=_RESERVED,
        )


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """The end of a job: `oneflow.return %a, %b : type, type`."""

    name = "oneflow.return"

    arguments = var_operand_def()

    traits = traits_def(HasParent(JobOp), IsTerminator(), ReturnLike(), Pure())

    assembly_format = "attr-dict ($arguments^ `:` type($arguments))?"

    def __init__(self, *values: SSAValue | Operation) -> None:
        super().__init__(operands=[values])

    def verify_(self) -> None:
        job = self.parent_op()
        assert isinstance(job, JobOp)
        promised, types = job.function_type.outputs.data, tuple(self.arguments.types)
        if promised != types:
            raise VerifyException(
                f"job @{job.sym_name.data} returns {_list(promised)}, here it is {_list(types)}"
            )


def _list(types: Sequence[Attribute]) -> str:
    return f"({', '.join(map(str, types))})"
