// RUN: tpu-opt %s --subnet-divide --layer-group --absorb-moves --report-transposes 2>&1 >/dev/null | filecheck %s

// The windows of an image are read by the group's Load through strides: no bytes are moved for
// them, and whole rows about as cheaply as in order. The transpose of elements is made
// in local memory.
// CHECK: {{[0-9]+}} 0 tpu.Permute 1x4x7x4x7x256 [0, 1, 3, 2, 4, 5] 'turned'
// CHECK-NEXT: absorbed into the strided loads of a group; windows: the function and Relu and Add go through the image in different orders, 7x4 runs of 1792 elements change places
// CHECK-NEXT: {{[0-9,]+}} 0 tpu.Permute 16x49x256 [0, 2, 1] 'end'
// CHECK-NEXT: the network returns its result in this order
// CHECK-NEXT: {{[0-9,]+}} 0 2 ops, 2 of them Permutes; 1 absorbed; 1 in local memory
module @net attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x28x28x256xf16>) -> tensor<16x256x49xf16> {
    %none = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x28x28x256xf16>) -> tensor<1x28x28x256xf16> loc("x")
    %1 = "tpu.Reshape"(%0) {shape = [1, 4, 7, 4, 7, 256]} : (tensor<1x28x28x256xf16>) -> tensor<1x4x7x4x7x256xf16> loc("split")
    %2 = "tpu.Permute"(%1, %none) {order = [0, 1, 3, 2, 4, 5]} : (tensor<1x4x7x4x7x256xf16>, none) -> tensor<1x4x4x7x7x256xf16> loc("turned")
    %3 = "tpu.Reshape"(%2) {shape = [16, 49, 256]} : (tensor<1x4x4x7x7x256xf16>) -> tensor<16x49x256xf16> loc("tokens")
    %4 = "tpu.Relu"(%3) : (tensor<16x49x256xf16>) -> tensor<16x49x256xf16> loc("a")
    %5 = "tpu.Add"(%3, %4) : (tensor<16x49x256xf16>, tensor<16x49x256xf16>) -> tensor<16x49x256xf16> loc("b")
    %6 = "tpu.Permute"(%5, %none) {order = [0, 2, 1]} : (tensor<16x49x256xf16>, none) -> tensor<16x256x49xf16> loc("end")
    return %6 : tensor<16x256x49xf16>
  }
}
