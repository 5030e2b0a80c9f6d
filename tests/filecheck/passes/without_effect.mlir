// RUN: tpu-opt %s --init --struct-optimize --pruning="config=x" --add-postprocess --add-postprocess="type=ssd" --convert-qdq-to-calibrated-dialect --shape-optimize --op-divide --dev-parallel --affine-opt="min-continuous-bytes=512" --after-layergroup-weight-reorder --core-parallel --opt-post-processor --time-fixed-subnet --convert-top-to-linalg --convert-top-to-tosa="includeWeight=true" --deinit 2>&1 | filecheck %s

// CHECK: note: init does nothing: weights are read when they are needed
// CHECK-NEXT: note: struct-optimize does nothing: structures of several ops are found by canonicalize
// CHECK-NEXT: note: pruning does nothing
// CHECK-NEXT: note: add-postprocess does nothing for type ssd: outputs stay as the network has them; boxes are found for yolov3, yolov4
// CHECK-NEXT: note: convert-qdq-to-calibrated-dialect does nothing: the import of ONNX makes ranges
// CHECK-NEXT: note: shape-optimize does nothing: place-values chooses the shapes
// CHECK-NEXT: note: op-divide does nothing: kernels and layer groups cut
// CHECK-NEXT: note: dev-parallel does nothing: a program is for one chip
// CHECK-NEXT: note: affine-opt does nothing: merge-moves
// CHECK-NEXT: note: after-layergroup-weight-reorder does nothing: layer-group itself packs
// CHECK-NEXT: note: core-parallel does nothing: the chip has one core
// CHECK-NEXT: note: opt-post-processor does nothing: programs have no part
// CHECK-NEXT: note: time-fixed-subnet does nothing: a program is one subnet
// CHECK-NEXT: note: convert-top-to-linalg does nothing: the way
// CHECK-NEXT: note: convert-top-to-tosa does nothing: the way to the chip is convert-top-to-tpu
// CHECK-NEXT: note: deinit does nothing
// CHECK: "top.None"
module {
  %0 = "top.None"() : () -> none
}
