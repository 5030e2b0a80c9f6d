// RUN: tpu-opt %s --split-input-file --subnet-divide --merge-moves --address-assign --verify-addresses --no-locations | filecheck %s

// Floats that only move before they are cast to f32 are stored as that.
// CHECK-LABEL: module @image
// CHECK: func.func @subfunc_0
// CHECK: "tpu.Rearrange"(%{{.*}}) {boxes = [0, 0, 0, {{.*}}]} : (tensor<9x4x224x56xf16, {{.*}}>) -> tensor<224x9x56x4xf32, {{.*}}>
// CHECK-NEXT: return
module @image attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<9x4x224x56xf16>) -> tensor<224x9x56x4xf32> {
    %0 = "top.Input"(%arg0) : (tensor<9x4x224x56xf16>) -> tensor<9x4x224x56xf16> loc("x")
    %n = "top.None"() : () -> none
    %1 = "tpu.Permute"(%0, %n) {order = [2, 0, 3, 1]} : (tensor<9x4x224x56xf16>, none) -> tensor<224x9x56x4xf16> loc("y")
    %2 = "tpu.Cast"(%1) : (tensor<224x9x56x4xf16>) -> tensor<224x9x56x4xf32> loc("z")
    return %2 : tensor<224x9x56x4xf32>
  }
}

// -----

// Not what is rounded, what something else reads as well, or what is no movement.
// CHECK-LABEL: module @others
// CHECK: "tpu.Permute"
// CHECK: "tpu.Cast"
// CHECK: "tpu.Permute"
// CHECK: "tpu.Cast"
// CHECK: "tpu.Reshape"
// CHECK: "tpu.Cast"
module @others attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<4x224x56xf32>, %arg1: tensor<4x224x56xf16>) -> (tensor<224x4x56xf16>, tensor<224x4x56xf32>, tensor<224x4x56xf16>, tensor<896x56xf32>) {
    %0 = "top.Input"(%arg0) : (tensor<4x224x56xf32>) -> tensor<4x224x56xf32> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<4x224x56xf16>) -> tensor<4x224x56xf16> loc("w")
    %n = "top.None"() : () -> none
    %2 = "tpu.Permute"(%0, %n) {order = [1, 0, 2]} : (tensor<4x224x56xf32>, none) -> tensor<224x4x56xf32> loc("a")
    %3 = "tpu.Cast"(%2) : (tensor<224x4x56xf32>) -> tensor<224x4x56xf16> loc("b")
    %4 = "tpu.Permute"(%1, %n) {order = [1, 0, 2]} : (tensor<4x224x56xf16>, none) -> tensor<224x4x56xf16> loc("c")
    %5 = "tpu.Cast"(%4) : (tensor<224x4x56xf16>) -> tensor<224x4x56xf32> loc("d")
    %6 = "tpu.Reshape"(%1) {shape = [896, 56]} : (tensor<4x224x56xf16>) -> tensor<896x56xf16> loc("e")
    %7 = "tpu.Cast"(%6) : (tensor<896x56xf16>) -> tensor<896x56xf32> loc("f")
    return %3, %5, %4, %7 : tensor<224x4x56xf16>, tensor<224x4x56xf32>, tensor<224x4x56xf16>, tensor<896x56xf32>
  }
}
