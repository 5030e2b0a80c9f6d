"""Values of 8 bits under other images and channels."""

from tests.passes.semantics import ops_of

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.text import make_context, parse_module
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.tensors import shape_of


def test_bytes_are_joined_in_the_rows_that_their_reader_has() -> None:
    """Columns of positions beside those of queries, in 8 bits."""
    of = "!quant.uniform<i8:f32, 5.0e-01>"
    rows = {width: f"tensor<9x6x196x{width}x{of}>" for width in (64, 28, 92, 196)}
    keys = f"tensor<9x6x92x196x{of}>"
    none = ", ".join(["%none"] * 3)
    module = parse_module(f"""
    func.func @main(%q: {rows[64]}, %p: {rows[28]}, %k: {keys}) -> {rows[196]} {{
      %none = "top.None"() : () -> none loc(unknown)
      %0 = "tpu.Concat"(%q, %p) {{axis = 3 : si32}} :
        ({rows[64]}, {rows[28]}) -> {rows[92]} loc("joined")
      %1 = "tpu.MatMul"(%0, %k, {none}) {{multipliers = [1], rshifts = [4]}} :
        ({rows[92]}, {keys}, none, none, none) -> {rows[196]} loc("y")
      return %1 : {rows[196]}
    }}""")
    make_pass("place-values", "chip=bm1684x").apply(make_context(), module)
    (joined,) = ops_of(module, tpu.ConcatOp)
    assert shape_of(joined.output) == (54, 196, 92)
