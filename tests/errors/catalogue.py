"""Every wrong input that a test gives to a tool: what it is, the call, and what the message holds.

`docs/errors.md` lists them; `python -m tests.errors.catalogue > docs/errors.md` writes it.
"""

# ruff: noqa: E501 - one case a line, as in the page
from dataclasses import dataclass

COMPILE, RUN, OPT = "tpu-compile", "tpu-run", "tpu-opt"
CALIBRATE, SWEEP = "tpu-calibrate", "tpu-sweep"


@dataclass(frozen=True)
class Case:
    """A call that must fail with `status`; its one message holds all of `says`."""

    title: str
    tool: str
    arguments: str
    says: tuple[str, ...]
    status: int = 1

    @property
    def name(self) -> str:
        """A name for the test."""
        return f"{self.tool} {self.title}"


def _cases(
    tool: str, status: int, rows: dict[str, tuple[str, tuple[str, ...]]]
) -> tuple[Case, ...]:
    return tuple(Case(title, tool, *row, status) for title, row in rows.items())


MODELS = _cases(COMPILE, 1, {
    "no such file": ("none.onnx", ("none.onnx", "no such file")),
    "a folder instead of a model": ("folder", ("folder", "a file is wanted")),
    "neither ONNX nor IR": ("model.txt", ("model.txt", "give an ONNX model")),
    "text instead of ONNX": ("text.onnx", ("text.onnx", "not a readable ONNX model")),
    "an empty ONNX file": ("empty.onnx", ("empty.onnx", "not an ONNX model")),
    "a truncated ONNX file": ("cut.onnx", ("cut.onnx", "not a readable ONNX model")),
    "a cyclic graph": ("cyclic.onnx", ("'stem'", "'pooled'", "circle", "'stem_relu'")),
    "a tensor that nothing makes": ("undefined.onnx", ("'stem_relu'", "'nowhere'", "nothing makes")),
    "a tensor made twice": ("twice.onnx", ("pooled",)),
    "a model without outputs": ("no_outputs.onnx", ("no outputs", "export")),
    "outputs that no node makes": ("no_nodes.onnx", ("logits",)),
    "an operator that is not known": ("unsupported.onnx", ("'determinant'", "Det", "not supported")),
    "a vendor's own operator": ("foreign_domain.onnx", ("'stem_relu'", "com.vendor")),
    "an opset that is too old": ("old_opset.onnx", ("opset", "3")),
    "an opset that is too new": ("new_opset.onnx", ("opset 999", "update that package")),
    "an input that is text": ("integer_image.onnx", ("'image'", "strings")),
    "an input that is a sequence": ("sequence.onnx", ("'image'", "not a tensor")),
    "weights that are text": ("strings.onnx", ("'stem'", "string")),
    "a filter for other channels": ("bad_weight_shape.onnx", ("'stem'", "does not fit filter")),
    "a bias for other channels": ("wrong_channels.onnx", ("stem",)),
    "a weight of too few bytes": ("short_weight.onnx", ("'w0'", "[16, 3, 3, 3]")),
    "a weight file that is missing": ("external.onnx", ("gone.bin",)),
    "NaN weights": ("nan_weight.onnx", ("w0", "NaN")),
    "infinite weights": ("infinite_weight.onnx", ("b0", "infinite")),
    "a pooling window of no size": ("bad_attribute.onnx", ("'pooled'",)),
    "unknown sizes": ("dynamic.onnx", ("'x'", "[batch, 16]", "--input-shapes x=")),
    "unknown sizes, as some exporters write them": ("minus_one.onnx", ("'x'", "--input-shapes x=")),
    "another shape than the model's": (
        "cnn.onnx --input-shapes image=1x3x8x8", ("'image'", "[1, 3, 40, 24]", "export it with other sizes")),
    "a shape for an input that is not there": (
        "cnn.onnx --input-shapes img=1x3x40x24", ("'img'", "image")),
})  # fmt: skip

IR = _cases(COMPILE, 1, {
    "IR with a syntax error": ("syntax.mlir", ("syntax.mlir:1:",)),
    "truncated IR": ("cut.mlir", ("cut.mlir:",)),
    "an empty IR file": ("empty.mlir", ("empty.mlir",)),
    "bytes that are no text": ("binary.mlir", ("binary.mlir", "UTF-8")),
    "an op that no dialect has": ("unknown_op.mlir", ("unknown_op.mlir:", "top.Rely")),
    "a value that is not defined": ("undefined.mlir", ("undefined.mlir:", "%9")),
    "IR that goes in a circle": ("cyclic.mlir", ("'y'", "before it")),
    "IR of a later stage": ("lowered.mlir", ("lowered.mlir", "TPU_LOWERED", "give Top IR")),
    "an op without its attributes": ("no_attributes.mlir", ("top.Conv",)),
    "a result of the wrong type": ("wrong_type.mlir", ('"y"', "1x4x8x9")),
    "no weight file": ("gone_weights.mlir", ("gone.npz",)),
    "a truncated weight file": ("broken_weights.mlir", ("broken.npz",)),
    "a weight that the file does not have": ("other_weights.mlir", ("weight w", "other.npz")),
    "a weight of another shape": ("shaped_weights.mlir", ("'w'", "[1, 4, 1, 1]", "[1, 5, 1, 1]")),
    "NaN weights in a weight file": ("nan_weights.mlir", ("'w'", "NaN")),
    "--input-shapes for IR": ("plain.mlir --input-shapes x=1x4", ("--input-shapes",)),
    "--weights for ONNX": ("cnn.onnx --weights image.npz", ("--weights",)),
})  # fmt: skip

CHIPS = _cases(COMPILE, 1, {
    "a chip that is not known": ("cnn.onnx --chip bm9999", ("'bm9999'", "bm1684x", ".toml")),
    "half a chip description": ("cnn.onnx --chip half.toml", ("half.toml", "lacks the key")),
    "a chip description that is no TOML": ("cnn.onnx --chip syntax.toml", ("syntax.toml",)),
    "a chip with less than no lanes": ("cnn.onnx --chip negative.toml", ("negative.toml", "lanes is -64")),
    "a chip with words for numbers": ("cnn.onnx --chip words.toml", ("words.toml", "lanes is 'many'")),
    "a chip with a truth for a number": ("cnn.onnx --chip truth.toml", ("truth.toml", "lanes is True")),
    "a misspelt figure of a chip": (
        "cnn.onnx --chip misspelt.toml",
        ("misspelt.toml", "'gdma.lode_start'", "did you mean 'gdma.load_start'")),
    "local memory that can never fit": (
        "cnn.onnx --chip tiny.toml --disable-pass layer-group", ("tpu.", "'", "local memory is too small")),
    "more than fits into DDR": ("cnn.onnx --chip little_ddr.toml", ("DDR",)),
    "a tensor beyond all memory": (
        "dynamic.onnx --input-shapes x=1000000000x16", ("'x'", "64,000,000,000 bytes", "DDR")),
    "a pass that is not known": (
        "cnn.onnx --disable-pass canonicalise", ("'canonicalise'", "did you mean 'canonicalize'")),
    "a pass that is needed": ("cnn.onnx --disable-pass address-assign", ("'address-assign'",)),
})  # fmt: skip

TABLES = _cases(COMPILE, 1, {
    "INT8 without a calibration table": (
        "cnn.onnx --quantize INT8", ("--calibration-table",)),
    "no such calibration table": (
        "cnn.onnx --quantize INT8 --calibration-table none", ("none",)),
    "a calibration table of another model": (
        "cnn.onnx --quantize INT8 --calibration-table transformer_table", ("transformer_table",)),
    "an empty calibration table": (
        "cnn.onnx --quantize INT8 --calibration-table empty_table", ("empty_table",)),
    "a truncated calibration table": (
        "cnn.onnx --quantize INT8 --calibration-table cut_table", ("cut_table",)),
    "a calibration table that is no text": (
        "cnn.onnx --quantize INT8 --calibration-table binary_table", ("binary_table",)),
    "a line of the table that ends early": (
        "cnn.onnx --quantize INT8 --calibration-table short_table", ("short_table",)),
    "words for thresholds": (
        "cnn.onnx --quantize INT8 --calibration-table words_table", ("words_table", "much")),
    "NaN thresholds": (
        "cnn.onnx --quantize INT8 --calibration-table nan_table", ("nan_table",)),
    "a quantize table with a layer that is not there": (
        "cnn.onnx --quantize-table modes_unknown_op", ("no_such_layer",)),
    "a quantize table with an unknown mode": (
        "cnn.onnx --quantize-table modes_bad_mode", ("modes_bad_mode", "F7")),
    "a quantize table with half a line": (
        "cnn.onnx --quantize-table modes_short", ("modes_short",)),
})  # fmt: skip

OUTPUTS = _cases(COMPILE, 1, {
    "a file where the folder should be": ("cnn.onnx -o model.txt", ("model.txt", "no folder")),
    "a folder below a file": ("cnn.onnx -o model.txt/deep", ("model.txt", "cannot be written")),
    "a folder that cannot be made": ("cnn.onnx -o /proc/no/out", ("/proc/no/out", "another folder")),
})  # fmt: skip

PROGRAMS = _cases(RUN, 1, {
    "no such program": ("none.bmodel", ("none.bmodel", "tpu-compile MODEL")),
    "a folder without a program": ("folder", ("folder/model.bmodel", "tpu-compile MODEL")),
    "a file that is no bmodel": ("text.onnx", ("text.onnx", "not a bmodel")),
    "an empty bmodel": ("empty.bmodel", ("empty.bmodel", "not a bmodel")),
    "another file's magic number": ("magic.bmodel", ("magic.bmodel", "not a bmodel")),
    "the first bytes of a bmodel": ("head.bmodel", ("head.bmodel", "not a bmodel")),
    "a truncated bmodel": ("cut.bmodel", ("cut.bmodel", "cut off")),
    "damaged weights": ("weights.bmodel", ("weights.bmodel", "checksum")),
    "a damaged description": ("table.bmodel", ("table.bmodel",)),
    "damaged commands": ("commands.bmodel", ("commands.bmodel",)),
    "a chip that is not known": ("good.bmodel --chip bm9999", ("'bm9999'", "bm1684x")),
    "a chip that the program is not for": (
        "good.bmodel --chip lanes.toml", ("lanes is 64 there, 32 here", "--chip", "compile")),
    "an input of another shape": (
        "good.bmodel --inputs fewer_channels.npz", ("'image'", "[1, 2, 40, 24]", "[1, 3, 40, 24]")),
    "NaN in an input": ("good.bmodel --inputs holes.npz", ("'image'", "NaN")),
    "a number beyond the input's type": (
        "good.bmodel --inputs huge.npz", ("'image'", "1e+300", "f32 does not hold")),
    "an index outside its table": (
        "ids.bmodel --inputs beyond.npz", ("'y_Gather'", "index 4", "table of 4 rows")),
    "an integer beyond 32 bits": ("ids.bmodel --inputs wide.npz", ("'ids'", "2147483648", "i32")),
    "an input of another name": ("good.bmodel --inputs renamed.npz", ("'image'", "picture")),
    "one input too many": ("good.bmodel --inputs extra.npz", ("other", "takes image")),
    "a folder instead of inputs": ("good.bmodel --inputs folder", ("folder", "name an .npz")),
    "no inputs at all": ("good.bmodel --inputs no_arrays.npz", ("'image'",)),
    "text as input": ("good.bmodel --inputs letters.npz", ("'image'", "<U1", "f32")),
    "complex numbers as input": ("good.bmodel --inputs complex.npz", ("'image'", "complex64")),
    "Python objects as input": ("good.bmodel --inputs objects.npz", ("objects.npz",)),
    "one array of another shape": ("good.bmodel --inputs array.npy", ("the program wants",)),
    "a truncated input file": ("good.bmodel --inputs cut.npz", ("cut.npz",)),
    "no such input file": ("good.bmodel --inputs none.npz", ("none.npz", "o such file")),
    "a comparison with another model": (
        "good.bmodel --compare transformer.onnx", ("'tokens'", "compiled from")),
    "a comparison with no model": ("good.bmodel --compare none.onnx", ("none.onnx",)),
    "a comparison with arrays that are none": (
        "good.bmodel --compare cut.npz", ("cut.npz", "no readable .npz")),
    "a comparison with text": ("good.bmodel --compare text.onnx", ("text.onnx", "ONNX")),
    "outputs into no folder": ("good.bmodel --outputs no/b.npz", ("no/b.npz", "folder")),
    "a report instead of a folder": ("good.bmodel --report folder", ("folder", "is a directory")),
    "a page into no folder": ("good.bmodel --html no/b.html", ("no/b.html", "folder")),
    "outputs on a full disk": ("good.bmodel --outputs /dev/full", ("/dev/full", "no space")),
    "a report on a full disk": ("good.bmodel --report /dev/full", ("/dev/full", "no space")),
    "a timeline on a full disk": ("good.bmodel --timeline /dev/full", ("/dev/full", "no space")),
    "a page on a full disk": ("good.bmodel --html /dev/full", ("/dev/full", "no space")),
    "a comparison with no report": ("good.bmodel --against none.json", ("none.json", "--report")),
    "a comparison with text as report": ("good.bmodel --against text.json", ("text.json", "--report")),
    "a comparison with half a report": ("good.bmodel --against report.json", ("report.json", "anew")),
    "a comparison with words for cycles": (
        "good.bmodel --against words.json", ("words.json", "'many' where a number")),
    "two results in one file": ("good.bmodel --outputs both --report ./both", ("both", "two results")),
})  # fmt: skip

NOT_FINITE = _cases(RUN, 3, {
    "numbers that F16 does not hold": (
        "large.bmodel", ("of the 8 numbers of output 'y_Mul_f32'", "NaN or infinite", "F16")),
})  # fmt: skip

DIFFERENT = _cases(RUN, 4, {
    "outputs that are not close enough": (
        "good.bmodel --compare cnn.onnx --min-cosine 1", ("not close enough", "cosine 0.99", "below 1")),
    "an error that is too large": (
        "good.bmodel --compare cnn.onnx --max-error 1e-9", ("not close enough", "above 1e-09")),
})  # fmt: skip

PASSES = _cases(OPT, 1, {
    "no such file": ("none.mlir", ("none.mlir", "no such file")),
    "a syntax error": ("syntax.mlir", ("syntax.mlir:1:",)),
    "truncated IR": ("cut.mlir", ("cut.mlir:",)),
    "bytes that are no text": ("binary.mlir", ("binary.mlir", "UTF-8")),
    "an op that no dialect has": ("unknown_op.mlir", ("top.Rely",)),
    "IR that goes in a circle": ("cyclic.mlir", ("'y'", "before")),
    "a missing weight file": ("gone_weights.mlir --canonicalize", ("gone.npz",)),
    "a pass that needs an earlier one": ("plain.mlir --address-assign", ("",)),
    "a chip that is not known": (
        "plain.mlir --convert-top-to-tpu='mode=F16 chip=bm9999'", ("bm9999",)),
    "output into no folder": ("plain.mlir -o no/out.mlir", ("no/out.mlir",)),
    "output on a full disk": ("plain.mlir -o /dev/full", ("/dev/full", "no space")),
    "a program instead of a folder": (
        "compiled/final.mlir --codegen=model_file=folder", ("folder", "is a directory")),
})  # fmt: skip

SAMPLES = _cases(CALIBRATE, 1, {
    "no such model": ("none.onnx --dataset image.npz -o t", ("none.onnx", "no such file")),
    "no such samples": ("cnn.onnx --dataset none.npz -o t", ("none.npz",)),
    "a folder without samples": ("cnn.onnx --dataset folder -o t", ("folder",)),
    "samples of another shape": (
        "cnn.onnx --dataset transformer_samples.npz -o t", ("1x10x24", "1x3x40x24")),
    "NaN in the samples": ("cnn.onnx --dataset holes.npz -o t", ("holes.npz", "NaN")),
    "a truncated sample file": ("cnn.onnx --dataset cut.npz -o t", ("cut.npz",)),
    "text as samples": ("cnn.onnx --dataset letters.npz -o t", ("letters.npz",)),
    "a table into no folder": ("cnn.onnx --dataset image.npz -o no/t", ("no/t", "folder")),
    "a table on a full disk": (
        "cnn.onnx --dataset image.npz -o /dev/full --engine interpreter", ("/dev/full", "no space")),
})  # fmt: skip

GRIDS = _cases(SWEEP, 1, {
    "no such model": ("none.onnx", ("none.onnx",)),
    "a figure that chips do not have": ("cnn.onnx --chip-grid legs=4,8", ("legs",)),
    "a grid without values": ("cnn.onnx --chip-grid lanes", ("lanes",)),
    "words for values": ("cnn.onnx --chip-grid lanes=many", ("many",)),
    "a model twice": ("cnn.onnx ./cnn.onnx", ("cnn.onnx", "same file name")),
    "a plot into no folder": ("cnn.onnx --plot no/p.png", ("no/p.png",)),
})  # fmt: skip

USAGE = (
    *_cases(COMPILE, 2, {
        "no model": ("", ("MODEL",)),
        "an unknown option": ("cnn.onnx --fast", ("--fast",)),
        "a misspelt option": ("cnn.onnx --quantise F16", ("did you mean --quantize?",)),
        "an option of another compiler": ("cnn.onnx --target bm1688", ("did you mean --chip?",)),
        "an unknown number format": ("cnn.onnx --quantize F8", ("F8", "F16")),
        "a folder of no name": ("cnn.onnx -o ''", ("-o/--output", "no letters")),
        "two shapes for an input": (
            "dynamic.onnx --input-shapes x=1x16 x=2x16", ("'x'", "given twice")),
        "a shape that is none": ("cnn.onnx --input-shapes image=1x3xa", ("NAME=1x3x224x224",)),
    }),
    *_cases(RUN, 2, {
        "no program": ("", ("bmodel",)),
        "a seed that is no number": ("good.bmodel --seed x", ("'x'",)),
        "a seed and inputs": ("good.bmodel --seed 1 --inputs image.npz", ("not allowed",)),
        "a limit without a comparison": ("good.bmodel --min-cosine 0.9", ("--compare",)),
        "a limit that is no number": ("good.bmodel --compare cnn.onnx --min-cosine x", ("'x'",)),
        "how an image is prepared, without one": (
            "good.bmodel --mean 0", ("--mean", "image given as --inputs")),
        "a share of what is not looked for": (
            "good.bmodel --saturated 0.5", ("--saturated", "--find-bad")),
        "unknown numerics": ("good.bmodel --numerics perfect", ("perfect",)),
    }),
    *_cases(OPT, 2, {
        "a pass that is not known": ("plain.mlir --canonicalise", ("did you mean '--canonicalize'",)),
        "a pass option that is not known": ("plain.mlir --layer-group=op=1", ("op",)),
        "half a pipeline": ("plain.mlir -p canonicalize{", ("'canonicalize{'",)),
    }),
    *_cases(CALIBRATE, 2, {
        "no samples given": ("cnn.onnx -o t", ("--dataset",)),
        "percent of what is not counted": (
            "cnn.onnx --dataset image.npz -o t --percentile 99", ("--percentile", "--method")),
        "a goal of no search": (
            "cnn.onnx --dataset image.npz -o t --target-cosine 0.9", ("--suggest-mixed",)),
        "an unknown method": ("cnn.onnx --dataset image.npz -o t --method best", ("best",)),
    }),
    *_cases(SWEEP, 2, {
        "an unknown number format": ("cnn.onnx --quantize F8", ("'F8'",)),
        "no jobs": ("cnn.onnx --jobs 0", ("'0'",)),
    }),
)  # fmt: skip

CATALOGUE = (
    *(
        *MODELS,
        *IR,
        *CHIPS,
        *TABLES,
        *OUTPUTS,
        *PROGRAMS,
        *NOT_FINITE,
        *DIFFERENT,
        *PASSES,
        *SAMPLES,
        *GRIDS,
        *USAGE,
    ),
)

INTRODUCTION = """\
# Errors

Wrong input gives one message on standard error, which names the layer or the file and says what to
do. The exit status is 1, or 2 for wrong usage; 3 and 4 are those of runs whose outputs are not finite or not
close enough ([all of them](tools.md#exit-status)). No file is left behind, and an older one stays
as it was, also when the disk gets full, Ctrl-C comes in the middle, or SIGTERM or SIGHUP does.
`--debug` shows the Python traceback as well.

These are tested (`tests/errors`). A message holds the words in the last column, among others.
"""


def page() -> str:
    """The text of `docs/errors.md`."""
    lines = [INTRODUCTION]
    for tool in (COMPILE, RUN, OPT, CALIBRATE, SWEEP):
        lines += [f"## {tool}", "", "| what is wrong | call | status | the message names |"]
        lines.append("|---|---|---|---|")
        for case in CATALOGUE:
            if case.tool == tool:
                said = ", ".join(f"`{text}`" for text in case.says if text.strip("' "))
                call = f"`{tool} {case.arguments}`".replace(" `", "`").replace("|", "\\\\|")
                lines.append(f"| {case.title} | {call} | {case.status} | {said} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    print(page(), end="")
