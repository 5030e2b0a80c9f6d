"""IR to IR.

`PASSES` is the one table of our passes: name on the command line -> function that imports
the class. Loading is deferred so that listing names costs nothing.
"""

from collections.abc import Callable
from importlib import import_module

from xdsl.passes import ModulePass

PassLoader = Callable[[], type[ModulePass]]


def _lazy(module: str, class_name: str) -> PassLoader:
    """A loader of `xdsl_tpu.passes.<module>.<class_name>`."""

    def load() -> type[ModulePass]:
        loaded = getattr(import_module(f"{__name__}.{module}"), class_name, None)
        if loaded is None:
            raise ImportError(f"{__name__}.{module} has no {class_name}")
        assert issubclass(loaded, ModulePass)
        return loaded

    return load


PASSES: dict[str, PassLoader] = {
    "absorb-moves": _lazy("layer_group.absorb", "AbsorbMovesPass"),
    "add-postprocess": _lazy("add_postprocess", "AddPostprocessPass"),
    "address-assign": _lazy("address_assign.assign", "AddressAssignPass"),
    "affine-opt": _lazy("without_effect", "AffineOptPass"),
    "after-layergroup-weight-reorder": _lazy("without_effect", "AfterLayerGroupWeightReorderPass"),
    "append-in-place": _lazy("append_in_place", "AppendInPlacePass"),
    "auto-nhwc": _lazy("layout.auto_nhwc", "AutoNhwcPass"),
    "canonicalize": _lazy("canonicalize", "CanonicalizePass"),
    "cast-late": _lazy("cast_late", "CastLatePass"),
    "codegen": _lazy("codegen", "CodegenPass"),
    "convert-oneflow-to-top": _lazy("oneflow_to_top.convert", "ConvertOneFlowToTopPass"),
    "convert-qdq-to-calibrated-dialect": _lazy("without_effect", "ConvertQdqPass"),
    "convert-top-to-linalg": _lazy("without_effect", "ConvertTopToLinalgPass"),
    "convert-top-to-tosa": _lazy("without_effect", "ConvertTopToTosaPass"),
    "convert-top-to-tpu": _lazy("lowering.convert", "ConvertTopToTpuPass"),
    "core-parallel": _lazy("without_effect", "CoreParallelPass"),
    "cut-bands": _lazy("cut_bands", "CutBandsPass"),
    "cut-early": _lazy("linked_dims.cut_early", "CutEarlyPass"),
    "cut-ends": _lazy("cut_ends", "CutEndsPass"),
    "cut-final-mlir": _lazy("cut_final", "CutFinalMlirPass"),
    "deinit": _lazy("without_effect", "DeinitPass"),
    "dev-parallel": _lazy("without_effect", "DevParallelPass"),
    "drop-unit-dims": _lazy("linked_dims.drop_unit_dims", "DropUnitDimsPass"),
    "eliminate-redundant-transpose": _lazy("layout.redundant", "EliminateRedundantTransposePass"),
    "extra-optimize": _lazy("extra_optimize", "ExtraOptimizePass"),
    "fold-blocks": _lazy("fold_columns.blocks", "FoldBlocksPass"),
    "fold-columns": _lazy("fold_columns.fold", "FoldColumnsPass"),
    "fold-rows": _lazy("fold_rows.fold", "FoldRowsPass"),
    "fuse-attention": _lazy("fuse_attention.fuse", "FuseAttentionPass"),
    "fuse-bias-add-dropout": _lazy("fuse_bias_add_dropout", "FuseBiasAddDropoutPass"),
    "fuse-mlp": _lazy("fuse_mlp", "FuseMlpPass"),
    "fuse-preprocess": _lazy("fuse_preprocess", "FusePreprocessPass"),
    "fuse-residual": _lazy("fuse_residual", "FuseResidualPass"),
    "import-calibration-table": _lazy("calibration.import_table", "ImportCalibrationTablePass"),
    "init": _lazy("without_effect", "InitPass"),
    "join-heads": _lazy("join_heads", "JoinHeadsPass"),
    "join-in-place": _lazy("join_in_place", "JoinInPlacePass"),
    "keep-lanes": _lazy("layer_group.keep_lanes", "KeepLanesPass"),
    "keep-planes": _lazy("keep_planes", "KeepPlanesPass"),
    "lane-moves": _lazy("lane_moves", "LaneMovesPass"),
    "layer-group": _lazy("layer_group.layer_group", "LayerGroupPass"),
    "lower-to-tile": _lazy("tile_programs", "LowerToTilePass"),
    "merge-branches": _lazy("merge_branches", "MergeBranchesPass"),
    "merge-moves": _lazy("merge_moves", "MergeMovesPass"),
    "merge-rows": _lazy("linked_dims.merge_rows", "MergeRowsPass"),
    "merge-stretched": _lazy("linked_dims.merge_stretched", "MergeStretchedPass"),
    "net_statistic": _lazy("show_address", "NetStatisticPass"),
    "op-divide": _lazy("without_effect", "OpDividePass"),
    "op-reorder": _lazy("op_reorder", "OpReorderPass"),
    "opt-post-processor": _lazy("without_effect", "OptPostProcessorPass"),
    "order-rows": _lazy("order_rows.order", "OrderRowsPass"),
    "orient-heads": _lazy("orient_products.orient", "OrientHeadsPass"),
    "orient-products": _lazy("orient_products.orient", "OrientProductsPass"),
    "pack-weights": _lazy("pack_weights", "PackWeightsPass"),
    "part-results": _lazy("part_results", "PartResultsPass"),
    "place-values": _lazy("place_values.place", "PlaceValuesPass"),
    "processor-assign": _lazy("processor_assign", "ProcessorAssignPass"),
    "processor-top-optimize": _lazy("processor_top_optimize.optimize", "ProcessorTopOptimizePass"),
    "processor-tpu-optimize": _lazy("processor_tpu_optimize.optimize", "ProcessorTpuOptimizePass"),
    "pruning": _lazy("without_effect", "PruningPass"),
    "rematerialize": _lazy("rematerialize", "RematerializePass"),
    "report-transposes": _lazy("report_transposes", "ReportTransposesPass"),
    "scale-early": _lazy("scale_early.scale", "ScaleEarlyPass"),
    "shape-infer": _lazy("shape_infer", "ShapeInferPass"),
    "shape-optimize": _lazy("without_effect", "ShapeOptimizePass"),
    "share-weights": _lazy("share_weights", "ShareWeightsPass"),
    "show-address": _lazy("show_address", "ShowAddressPass"),
    "split-long-rows": _lazy("split_long_rows.split", "SplitLongRowsPass"),
    "split-products": _lazy("split_products", "SplitProductsPass"),
    "strip-io-quant": _lazy("strip_io_quant", "StripIoQuantPass"),
    "struct-optimize": _lazy("without_effect", "StructOptimizePass"),
    "subnet-divide": _lazy("subnet_divide", "SubnetDividePass"),
    "time-fixed-subnet": _lazy("without_effect", "TimeFixedSubnetPass"),
    "topo-sort": _lazy("topo_sort", "TopoSortPass"),
    "tpu-canonicalize": _lazy("canonicalize", "TpuCanonicalizePass"),
    "transfer-layout": _lazy("layout.transfer_layout", "TransferLayoutPass"),
    "trunc-io": _lazy("cut_network", "TruncIoPass"),
    "trunc-layer": _lazy("cut_network", "TruncLayerPass"),
    "turn-products": _lazy("turn_products.turn", "TurnProductsPass"),
    "verify-addresses": _lazy("verify_addresses", "VerifyAddressesPass"),
    "verify-layer-groups": _lazy("verify_layer_groups", "VerifyLayerGroupsPass"),
    "verify-tile-programs": _lazy("tile_programs", "VerifyTileProgramsPass"),
    "weight-deduplicate": _lazy("weight_deduplicate", "WeightDeduplicatePass"),
    "weight-fold": _lazy("weight_fold", "WeightFoldPass"),
    "weight-reorder": _lazy("weight_reorder.reorder", "WeightReorderPass"),
}
