"""What each of our passes does, in one sentence.

It is the first of the docstring of the pass's class, which a test holds it against: help that
names all passes need not import them.
"""

SUMMARIES: dict[str, str] = {
    "absorb-moves": (
        "Leave movement to the Loads of groups wherever they can do it by strides for less"
    ),
    "add-postprocess": (
        "Let a detector give the boxes that are left when those that overlap are gone"
    ),
    "address-assign": "Give every tensor its address in the chip's DDR",
    "affine-opt": "Merges nothing",
    "after-layergroup-weight-reorder": "Reorders nothing",
    "append-in-place": (
        "Let what a function gives lie behind one of its inputs, where the two are read as one"
    ),
    "auto-nhwc": "Bring ops to channel-last greedily, as OneFlow does",
    "canonicalize": (
        "Apply all canonicalisation patterns, fold, and remove unused ops, until nothing changes"
    ),
    "cast-late": "Cast what the network is given behind what moves it, where rows stay rows",
    "codegen": "Write the program of an addressed module to the bmodel file `model_file`",
    "convert-oneflow-to-top": "Turn the module's one oneflow.job into a function @main of top ops",
    "convert-qdq-to-calibrated-dialect": "Converts nothing",
    "convert-top-to-linalg": "Converts nothing",
    "convert-top-to-tosa": "Converts nothing",
    "convert-top-to-tpu": "Lower top ops to tpu ops for one chip and number format",
    "core-parallel": "Divides nothing",
    "cut-bands": (
        "Let the first ops of a network work on some rows of an image while others are loaded"
    ),
    "cut-early": "Compute only those rows of the last products that a Slice or a Gather leaves",
    "cut-ends": "Let rows of a network's result be stored while the next ones are computed",
    "cut-final-mlir": "Cut an addressed network",
    "deinit": "Saves nothing",
    "dev-parallel": "Divides nothing",
    "drop-unit-dims": (
        "Write batches of products without dimensions of size 1, where they have more than four"
    ),
    "eliminate-redundant-transpose": (
        "Remove pairs of transpositions that undo each other, and such that change nothing"
    ),
    "extra-optimize": "Merge equal ops on the same operands and record the work in `module.FLOPs`",
    "fold-blocks": (
        "Let convolutions of few outputs compute blocks of pixels as channels, and spread these"
    ),
    "fold-columns": (
        "Let neighbouring columns be channels where there are too few of these to fill the array"
    ),
    "fold-rows": (
        "Let blocks of an image's rows be channels where these are too few to fill the lanes"
    ),
    "fuse-attention": (
        "Make one op of the products and the softmax of an attention where that is faster"
    ),
    "fuse-bias-add-dropout": "Fuse a oneflow.bias_add and the oneflow.dropout behind it",
    "fuse-mlp": "Make one op of the feed-forward block of a transformer where that is faster",
    "fuse-preprocess": (
        "Let the network take images as a camera gives them, and prepare them on the chip"
    ),
    "fuse-residual": (
        "Add what goes past a product of packed weights, or a whole Mlp, where that is stored"
    ),
    "import-calibration-table": "Put the ranges of a calibration table into the types of top IR",
    "init": "Opens nothing",
    "join-heads": (
        "Compute the products of narrow heads without softmax between them in one for all heads"
    ),
    "join-in-place": "Have what a Concat in DDR joins stored where it lies in the result",
    "keep-lanes": "Store what only other groups load lane by lane",
    "keep-planes": (
        "Leave volumes plane behind plane, the order in which convolutions give and take them"
    ),
    "lane-moves": "Let elements change their order without leaving local memory",
    "layer-group": (
        "Put ops that follow each other into groups that keep their values in local memory"
    ),
    "lower-to-tile": (
        "Write behind every `tpu.Group` what each core does for it, as a `tile.program`"
    ),
    "merge-branches": "Make one convolution of those of the same image that are added up",
    "merge-moves": (
        "Make chains of movement ops one op, and parts of one value together, where that is cheaper"
    ),
    "merge-rows": (
        "Write products whose rows lie in several dimensions as matrices, with what is linked to "
        "them"
    ),
    "merge-stretched": (
        "Give operands that are stretched fewer dimensions, where two that lie side by side are "
        "alike"
    ),
    "net_statistic": (
        "Print how many ops of each kind a network has, and its work, on standard error"
    ),
    "op-divide": "Divides nothing",
    "op-reorder": (
        "Move every weight in front of its first user, and what has no local form where it parts "
        "fewest ops"
    ),
    "opt-post-processor": "Optimises nothing",
    "order-rows": (
        "Let ops that work row by row take rows in whatever order leaves the fewest to be moved"
    ),
    "orient-heads": (
        "Let what lies between transpositions of rows and heads work on the order that needs fewer"
    ),
    "orient-products": (
        "Write products transposed, and what lies between them, where fewer transpositions are left"
    ),
    "pack-weights": "Keep the matrices of products in 4 or 8 bits",
    "part-results": "Store what a network gives part by part, the largest part first",
    "place-values": "See values that follow each other under the same images and channels",
    "processor-assign": "Record the chip and the number format that later passes compile for",
    "processor-top-optimize": (
        "Replace what the chip does badly by what it does well, before lowering"
    ),
    "processor-tpu-optimize": "Rewrite tpu ops into forms the chip runs faster",
    "pruning": "Prunes nothing",
    "rematerialize": (
        "Compute large values again where they wait for something small that is made of them"
    ),
    "report-transposes": (
        "List every transpose that is left with its bytes, its cycles and why it was not removed"
    ),
    "scale-early": (
        "Multiply by numbers in front of products of two tensors, and in weights where these allow"
    ),
    "shape-infer": "Infer all shapes, clone weights with several users, fold what is constant",
    "shape-optimize": "Reshapes nothing",
    "share-weights": "Let ops that do the same with equal numbers read one weight",
    "show-address": (
        "Print where in DDR every tensor of an addressed module lies, on standard error"
    ),
    "split-long-rows": "Compute along rows that do not fit the memory of a lane in parts",
    "split-products": (
        "Make products with large matrices some columns at a time, where that is faster"
    ),
    "strip-io-quant": (
        "Let a network take and give tensors of its inner type, without casts at the border"
    ),
    "struct-optimize": "Matches nothing",
    "subnet-divide": "Split `@main` into what the host does and the function the chip runs",
    "time-fixed-subnet": "Divides nothing",
    "topo-sort": (
        "Finish one branch before the next one begins, where fewer bytes then live at a time"
    ),
    "tpu-canonicalize": "Our `canonicalize` under a name that plain xdsl-opt has free",
    "transfer-layout": "Give every op the layout with which the whole program transposes least",
    "trunc-io": "Cut a network out",
    "trunc-layer": "End a network at the tensors `cut_locs`; see `trunc-io`",
    "turn-products": (
        "Compute products with weights column by column where rows would leave many lanes empty"
    ),
    "verify-addresses": "Prove that the addresses in the IR are safe",
    "verify-layer-groups": (
        "Prove that every `tpu.Group` computes what its ops say, in the memory that they name"
    ),
    "verify-tile-programs": (
        "Prove that tile programs do what the ops of their groups say, in the memory that there is"
    ),
    "weight-deduplicate": "Keep one of several weights that are the same numbers of one type",
    "weight-fold": "Evaluate tpu ops all of whose operands are weights",
    "weight-reorder": "Bring weights into the layouts the chip reads",
}
