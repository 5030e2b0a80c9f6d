// RUN: tpu-opt %s --split-input-file --subnet-divide --join-in-place | filecheck %s
// RUN: tpu-opt %s --split-input-file --subnet-divide --join-in-place --address-assign --verify-addresses | filecheck %s --check-prefix=PLACES

// What is computed for the Concat alone is stored in its place, in another shape, too.
// CHECK-LABEL: module @both
// CHECK: [[A:%.*]] = "tpu.Relu"
// CHECK: [[B:%.*]] = "tpu.Reshape"
// CHECK-NEXT: [[C:%.*]] = "tpu.Join"([[A]], [[B]]) {axis = 1 : si32}
// CHECK-NEXT: "tpu.Relu"([[C]])
// PLACES-LABEL: module @both
// PLACES: "tpu.Relu"{{.*}} -> tensor<1x16x8x8xf16, [[A:[0-9]+]] : i64> loc("a")
// PLACES: "tpu.Join"{{.*}} -> tensor<1x21x8x8xf16, [[A]] : i64>
module @both attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x16x8x8xf16>, %arg1: tensor<1x5x64xf16>) -> (tensor<1x21x8x8xf16>) {
    %n = "top.None"() : () -> none loc(unknown)
    %x0 = "top.Input"(%arg0) : (tensor<1x16x8x8xf16>) -> tensor<1x16x8x8xf16> loc("x0")
    %x1 = "top.Input"(%arg1) : (tensor<1x5x64xf16>) -> tensor<1x5x64xf16> loc("x1")
    %a = "tpu.Relu"(%x0) : (tensor<1x16x8x8xf16>) -> tensor<1x16x8x8xf16> loc("a")
    %b0 = "tpu.Relu"(%x1) : (tensor<1x5x64xf16>) -> tensor<1x5x64xf16> loc("b0")
    %b = "tpu.Reshape"(%b0) {shape = [1, 5, 8, 8]} : (tensor<1x5x64xf16>) -> tensor<1x5x8x8xf16> loc("b")
    %c = "tpu.Concat"(%a, %b) {axis = 1 : si32} : (tensor<1x16x8x8xf16>, tensor<1x5x8x8xf16>) -> tensor<1x21x8x8xf16> loc("c")
    %y = "tpu.Relu"(%c) : (tensor<1x21x8x8xf16>) -> tensor<1x21x8x8xf16> loc("y")
    return %y : tensor<1x21x8x8xf16>
  }
}

// -----

// An input lies elsewhere; what somebody else reads stays by itself.
// CHECK-LABEL: module @others
// CHECK-NOT: "tpu.Join"
module @others attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x16x8x8xf16>, %arg1: tensor<1x5x8x8xf16>) -> (tensor<1x21x8x8xf16>, tensor<1x21x8x8xf16>, tensor<1x5x8x8xf16>) {
    %n = "top.None"() : () -> none loc(unknown)
    %x0 = "top.Input"(%arg0) : (tensor<1x16x8x8xf16>) -> tensor<1x16x8x8xf16> loc("x0")
    %x1 = "top.Input"(%arg1) : (tensor<1x5x8x8xf16>) -> tensor<1x5x8x8xf16> loc("x1")
    %a = "tpu.Relu"(%x0) : (tensor<1x16x8x8xf16>) -> tensor<1x16x8x8xf16> loc("a")
    %c = "tpu.Concat"(%a, %x1) {axis = 1 : si32} : (tensor<1x16x8x8xf16>, tensor<1x5x8x8xf16>) -> tensor<1x21x8x8xf16> loc("c")
    %y = "tpu.Relu"(%c) : (tensor<1x21x8x8xf16>) -> tensor<1x21x8x8xf16> loc("y")
    %b = "tpu.Relu"(%x1) : (tensor<1x5x8x8xf16>) -> tensor<1x5x8x8xf16> loc("b")
    %d = "tpu.Active"(%x0) {mode = #tpu<active_mode EXP>} : (tensor<1x16x8x8xf16>) -> tensor<1x16x8x8xf16> loc("d")
    %e = "tpu.Concat"(%d, %b) {axis = 1 : si32} : (tensor<1x16x8x8xf16>, tensor<1x5x8x8xf16>) -> tensor<1x21x8x8xf16> loc("e")
    %z = "tpu.Relu"(%e) : (tensor<1x21x8x8xf16>) -> tensor<1x21x8x8xf16> loc("z")
    %w = "tpu.Relu"(%b) : (tensor<1x5x8x8xf16>) -> tensor<1x5x8x8xf16> loc("w")
    return %y, %z, %w : tensor<1x21x8x8xf16>, tensor<1x21x8x8xf16>, tensor<1x5x8x8xf16>
  }
}

// -----

// Lines of several rows alternate.
// CHECK-LABEL: module @lines
// CHECK-NOT: "tpu.Join"
module @lines attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x16x8x8xf16>, %arg1: tensor<1x16x8x8xf16>) -> (tensor<1x16x16x8xf16>) {
    %n = "top.None"() : () -> none loc(unknown)
    %x0 = "top.Input"(%arg0) : (tensor<1x16x8x8xf16>) -> tensor<1x16x8x8xf16> loc("x0")
    %x1 = "top.Input"(%arg1) : (tensor<1x16x8x8xf16>) -> tensor<1x16x8x8xf16> loc("x1")
    %a = "tpu.Relu"(%x0) : (tensor<1x16x8x8xf16>) -> tensor<1x16x8x8xf16> loc("a")
    %b = "tpu.Relu"(%x1) : (tensor<1x16x8x8xf16>) -> tensor<1x16x8x8xf16> loc("b")
    %c = "tpu.Concat"(%a, %b) {axis = 2 : si32} : (tensor<1x16x8x8xf16>, tensor<1x16x8x8xf16>) -> tensor<1x16x16x8xf16> loc("c")
    %y = "tpu.Relu"(%c) : (tensor<1x16x16x8xf16>) -> tensor<1x16x16x8xf16> loc("y")
    return %y : tensor<1x16x16x8xf16>
  }
}

// -----

// Two bytes behind a multiple of four, and four.
// CHECK-LABEL: module @odd
// CHECK: "tpu.Concat"
// CHECK: "tpu.Join"
module @odd attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x3x5xf16>, %arg1: tensor<1x2x5xf16>) -> (tensor<1x5x5xf16>, tensor<1x5x5xf16>) {
    %n = "top.None"() : () -> none loc(unknown)
    %x0 = "top.Input"(%arg0) : (tensor<1x3x5xf16>) -> tensor<1x3x5xf16> loc("x0")
    %x1 = "top.Input"(%arg1) : (tensor<1x2x5xf16>) -> tensor<1x2x5xf16> loc("x1")
    %a = "tpu.Relu"(%x0) : (tensor<1x3x5xf16>) -> tensor<1x3x5xf16> loc("a")
    %b = "tpu.Relu"(%x1) : (tensor<1x2x5xf16>) -> tensor<1x2x5xf16> loc("b")
    %c = "tpu.Concat"(%a, %b) {axis = 1 : si32} : (tensor<1x3x5xf16>, tensor<1x2x5xf16>) -> tensor<1x5x5xf16> loc("c")
    %y = "tpu.Relu"(%c) : (tensor<1x5x5xf16>) -> tensor<1x5x5xf16> loc("y")
    %d = "tpu.Active"(%x0) {mode = #tpu<active_mode EXP>} : (tensor<1x3x5xf16>) -> tensor<1x3x5xf16> loc("d")
    %e = "tpu.Active"(%x1) {mode = #tpu<active_mode EXP>} : (tensor<1x2x5xf16>) -> tensor<1x2x5xf16> loc("e")
    %f = "tpu.Concat"(%e, %d) {axis = 1 : si32} : (tensor<1x2x5xf16>, tensor<1x3x5xf16>) -> tensor<1x5x5xf16> loc("f")
    %z = "tpu.Relu"(%f) : (tensor<1x5x5xf16>) -> tensor<1x5x5xf16> loc("z")
    return %y, %z : tensor<1x5x5xf16>, tensor<1x5x5xf16>
  }
}
