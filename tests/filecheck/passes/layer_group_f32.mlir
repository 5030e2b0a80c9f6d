// RUN: tpu-opt %s --subnet-divide --layer-group="opt=1" --verify-layer-groups | filecheck %s

// Products of f32 matrices are local; so are products per head.
// CHECK: "tpu.Group"(%arg0) ({
// CHECK: "tpu.MatMul"
// CHECK: "tpu.MatMul"
// CHECK-SAME: hdim_is_batch = true
// CHECK: "tpu.Yield"
// CHECK-NOT: "tpu.MatMul"
module @net attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<2x49x64xf32>) -> tensor<2x49x2x49xf32> {
    %n = "top.None"() : () -> none
    %w = "top.Weight"() : () -> tensor<1x64x64xf32> loc("w")
    %0 = "top.Input"(%arg0) : (tensor<2x49x64xf32>) -> tensor<2x49x64xf32> loc("x")
    %1 = "tpu.MatMul"(%0, %w, %n, %n, %n) : (tensor<2x49x64xf32>, tensor<1x64x64xf32>, none, none, none) -> tensor<2x49x64xf32> loc("q")
    %2 = "tpu.Reshape"(%1) : (tensor<2x49x64xf32>) -> tensor<2x49x2x32xf32> loc("heads")
    %3 = "tpu.MatMul"(%2, %2, %n, %n, %n) {hdim_is_batch = true, right_transpose = true} : (tensor<2x49x2x32xf32>, tensor<2x49x2x32xf32>, none, none, none) -> tensor<2x49x2x49xf32> loc("s")
    return %3 : tensor<2x49x2x49xf32>
  }
}
