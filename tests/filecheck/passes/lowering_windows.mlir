// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --convert-top-to-tpu="mode=F16 chip=bm1684x" | filecheck %s

// Two windows of eight rows that slide by one: a movement, as one of slices and transpositions is.
// CHECK-LABEL: module @slide
// CHECK: "tpu.Rearrange"({{.*}}boxes = [0, 0, 0, 2, 2, 40, 5, 40, 1, 1]{{.*}} -> tensor<2x8x5xf16>
// CHECK-NOT: tpu.Gather
module @slide attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<9x5xf32>) -> tensor<2x8x5xf32> {
    %0 = "top.Input"(%arg0) : (tensor<9x5xf32>) -> tensor<9x5xf32> loc("x")
    %1 = "top.Weight"() : () -> tensor<2x8xf32> loc("windows_2x8")
    %2 = "top.Abs"(%0) : (tensor<9x5xf32>) -> tensor<9x5xf32> loc("a")
    %3 = "top.Gather"(%2, %1) {axis = 0 : si32} : (tensor<9x5xf32>, tensor<2x8xf32>) -> tensor<2x8x5xf32> loc("y")
    return %3 : tensor<2x8x5xf32>
  }
}

// -----

// A column of indices is no window.
// CHECK-LABEL: module @column
// CHECK: "tpu.Gather"
module @column attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<9x5xf32>) -> tensor<3x1x5xf32> {
    %0 = "top.Input"(%arg0) : (tensor<9x5xf32>) -> tensor<9x5xf32> loc("x")
    %1 = "top.Weight"() : () -> tensor<3x1xf32> loc("steps_3x1")
    %2 = "top.Abs"(%0) : (tensor<9x5xf32>) -> tensor<9x5xf32> loc("a")
    %3 = "top.Gather"(%2, %1) {axis = 0 : si32} : (tensor<9x5xf32>, tensor<3x1xf32>) -> tensor<3x1x5xf32> loc("y")
    return %3 : tensor<3x1x5xf32>
  }
}
