// RUN: tpu-opt %s --subnet-divide --layer-group --verify-layer-groups | filecheck %s

// The only absent value stands behind the ops of a group whose loads and stores use it.
// CHECK: func.func @subfunc_0
// CHECK-NEXT: "top.None"
// CHECK-NEXT: "tpu.Group"
// CHECK: "tpu.Store"
// CHECK-NOT: "top.None"
// CHECK: "tpu.Permute"
module @net attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x64x8x16xf16>) -> tensor<1x64x16x8xf16> {
    %0 = "top.Input"(%arg0) : (tensor<1x64x8x16xf16>) -> tensor<1x64x8x16xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<1x64x8x16xf16>) -> tensor<1x64x8x16xf16> loc("a")
    %2 = "tpu.Add"(%1, %0) : (tensor<1x64x8x16xf16>, tensor<1x64x8x16xf16>) -> tensor<1x64x8x16xf16> loc("b")
    %n = "top.None"() : () -> none
    %3 = "tpu.Permute"(%2, %n) {order = [0, 1, 3, 2]} : (tensor<1x64x8x16xf16>, none) -> tensor<1x64x16x8xf16> loc("p")
    return %3 : tensor<1x64x16x8xf16>
  }
}
