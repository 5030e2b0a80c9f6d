// RUN: tpu-opt %s --split-input-file --part-results --no-locations | filecheck %s

// Each part is cast by itself and lies in its place in the result; the one that takes longest to
// store comes first, and what the other alone needs behind it.
// CHECK-LABEL: module @boxes
// CHECK: [[X:%.*]] = "top.Input"
// CHECK: [[B:%.*]] = "tpu.Active"([[X]]) {{.*}}SIGMOID
// CHECK-NEXT: [[LARGE:%.*]] = "tpu.Cast"([[B]]) {{.*}} -> tensor<1x80x1024xf32>
// CHECK-NEXT: [[S:%.*]] = "tpu.Slice"
// CHECK-NEXT: [[A:%.*]] = "tpu.Active"([[S]]) {{.*}}EXP
// CHECK-NEXT: [[SMALL:%.*]] = "tpu.Cast"([[A]]) {{.*}} -> tensor<1x4x1024xf32>
// CHECK-NEXT: [[ALL:%.*]] = "tpu.Join"([[SMALL]], [[LARGE]]) {axis = 1 : si32} : {{.*}} -> tensor<1x84x1024xf32>
// CHECK-NEXT: return [[ALL]]
module @boxes attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x80x1024xf16>) -> tensor<1x84x1024xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x80x1024xf16>) -> tensor<1x80x1024xf16> loc("x")
    %n = "top.None"() : () -> none
    %1 = "tpu.Slice"(%0, %n, %n, %n, %n) {offset = [0, 0, 0], steps = [1, 1, 1], ends = [1, 4, 1024], axes = []} : (tensor<1x80x1024xf16>, none, none, none, none) -> tensor<1x4x1024xf16> loc("s")
    %2 = "tpu.Active"(%1) {mode = #tpu<active_mode EXP>} : (tensor<1x4x1024xf16>) -> tensor<1x4x1024xf16> loc("a")
    %3 = "tpu.Active"(%0) {mode = #tpu<active_mode SIGMOID>} : (tensor<1x80x1024xf16>) -> tensor<1x80x1024xf16> loc("b")
    %4 = "tpu.Concat"(%2, %3) {axis = 1 : si32} : (tensor<1x4x1024xf16>, tensor<1x80x1024xf16>) -> tensor<1x84x1024xf16> loc("c")
    %5 = "tpu.Cast"(%4) : (tensor<1x84x1024xf16>) -> tensor<1x84x1024xf32> loc("y")
    return %5 : tensor<1x84x1024xf32>
  }
}

// -----

// Nothing where rows of the parts alternate in the result.
// CHECK-LABEL: module @rows
// CHECK: "tpu.Concat"
// CHECK-NEXT: "tpu.Cast"
// CHECK-NOT: "tpu.Join"
module @rows attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x8x1024xf16>) -> tensor<1x8x2048xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x8x1024xf16>) -> tensor<1x8x1024xf16> loc("x")
    %1 = "tpu.Active"(%0) {mode = #tpu<active_mode EXP>} : (tensor<1x8x1024xf16>) -> tensor<1x8x1024xf16> loc("a")
    %2 = "tpu.Active"(%0) {mode = #tpu<active_mode SIGMOID>} : (tensor<1x8x1024xf16>) -> tensor<1x8x1024xf16> loc("b")
    %3 = "tpu.Concat"(%1, %2) {axis = 2 : si32} : (tensor<1x8x1024xf16>, tensor<1x8x1024xf16>) -> tensor<1x8x2048xf16> loc("c")
    %4 = "tpu.Cast"(%3) : (tensor<1x8x2048xf16>) -> tensor<1x8x2048xf32> loc("y")
    return %4 : tensor<1x8x2048xf32>
  }
}

// -----

// Nor where a part would begin at no multiple of 4 bytes: 3 numbers of 2 bytes. Nor where a part
// has no bytes of its own, as an input, and nothing makes others of it.
// CHECK-LABEL: module @odd
// CHECK-COUNT-2: "tpu.Concat"
// CHECK-NOT: "tpu.Join"
module @odd attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x3xf16>, %arg1: tensor<1x32xf16>) -> (tensor<1x6xf16>, tensor<1x64xf16>) {
    %0 = "top.Input"(%arg0) : (tensor<1x3xf16>) -> tensor<1x3xf16> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<1x32xf16>) -> tensor<1x32xf16> loc("w")
    %2 = "tpu.Active"(%0) {mode = #tpu<active_mode EXP>} : (tensor<1x3xf16>) -> tensor<1x3xf16> loc("a")
    %3 = "tpu.Active"(%0) {mode = #tpu<active_mode SIGMOID>} : (tensor<1x3xf16>) -> tensor<1x3xf16> loc("b")
    %4 = "tpu.Concat"(%2, %3) {axis = 1 : si32} : (tensor<1x3xf16>, tensor<1x3xf16>) -> tensor<1x6xf16> loc("c")
    %5 = "tpu.Active"(%4) {mode = #tpu<active_mode EXP>} : (tensor<1x6xf16>) -> tensor<1x6xf16> loc("y")
    %6 = "tpu.Active"(%1) {mode = #tpu<active_mode EXP>} : (tensor<1x32xf16>) -> tensor<1x32xf16> loc("d")
    %7 = "tpu.Concat"(%1, %6) {axis = 1 : si32} : (tensor<1x32xf16>, tensor<1x32xf16>) -> tensor<1x64xf16> loc("z")
    return %5, %7 : tensor<1x6xf16>, tensor<1x64xf16>
  }
}

// -----

// Without a cast the parts themselves are stored in place.
// CHECK-LABEL: module @plain
// CHECK: [[A:%.*]] = "tpu.Active"
// CHECK: [[B:%.*]] = "tpu.Active"
// CHECK-NEXT: "tpu.Join"([[A]], [[B]]) {axis = 0 : si32}
module @plain attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<4x64xf16>) -> tensor<8x64xf16> {
    %0 = "top.Input"(%arg0) : (tensor<4x64xf16>) -> tensor<4x64xf16> loc("x")
    %1 = "tpu.Active"(%0) {mode = #tpu<active_mode EXP>} : (tensor<4x64xf16>) -> tensor<4x64xf16> loc("a")
    %2 = "tpu.Active"(%0) {mode = #tpu<active_mode SIGMOID>} : (tensor<4x64xf16>) -> tensor<4x64xf16> loc("b")
    %3 = "tpu.Concat"(%1, %2) {axis = 0 : si32} : (tensor<4x64xf16>, tensor<4x64xf16>) -> tensor<8x64xf16> loc("y")
    return %3 : tensor<8x64xf16>
  }
}

// -----

// Nor does a weight lie in the result: it has its place among the coefficients.
// CHECK-LABEL: module @known
// CHECK: "tpu.Concat"
// CHECK-NOT: "tpu.Join"
module @known attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<4x64xf16>) -> tensor<8x64xf16> {
    %0 = "top.Input"(%arg0) : (tensor<4x64xf16>) -> tensor<4x64xf16> loc("x")
    %1 = "tpu.Active"(%0) {mode = #tpu<active_mode EXP>} : (tensor<4x64xf16>) -> tensor<4x64xf16> loc("a")
    %2 = "top.Weight"() : () -> tensor<4x64xf16> loc("w")
    %3 = "tpu.Concat"(%1, %2) {axis = 0 : si32} : (tensor<4x64xf16>, tensor<4x64xf16>) -> tensor<8x64xf16> loc("y")
    return %3 : tensor<8x64xf16>
  }
}
