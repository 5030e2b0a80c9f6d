// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --processor-top-optimize --no-locations | filecheck %s

// LargeFilter: the filter of an output channel takes 64 * 400 * 2 bytes, more than three eighths of
// the 131072 that a lane of this chip has: each half of the channels has a convolution, and the
// bias is added once.
// CHECK-LABEL: func.func @halves
// CHECK: "top.Slice"{{.*}}ends = [1, 32, 20, 20]{{.*}}offset = [0, 0, 0, 0]{{.*}} -> tensor<1x32x20x20xf32>
// CHECK: "top.Conv"{{.*}}do_relu = false{{.*}}(tensor<1x32x20x20xf32>, tensor<1x32x20x20xf32>, tensor<1xf32>)
// CHECK: "top.Slice"{{.*}}ends = [1, 64, 20, 20]{{.*}}offset = [0, 32, 0, 0]{{.*}} -> tensor<1x32x20x20xf32>
// CHECK: "top.Conv"{{.*}}do_relu = false{{.*}}(tensor<1x32x20x20xf32>, tensor<1x32x20x20xf32>, none)
// CHECK: "top.Add"{{.*}}do_relu = true
builtin.module attributes {module.chip = "bm1688"} {
  func.func @halves(%arg0: tensor<1x64x20x20xf32>) -> tensor<1x1x1x1xf32> {
    %x = "top.Input"(%arg0) : (tensor<1x64x20x20xf32>) -> tensor<1x64x20x20xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<1x64x20x20xf32> loc("ones_1x64x20x20")
    %b = "top.Weight"() : () -> tensor<1xf32> loc("ones_1")
    %y = "top.Conv"(%x, %w, %b) {kernel_shape = [20, 20], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], do_relu = true} : (tensor<1x64x20x20xf32>, tensor<1x64x20x20xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32> loc("y")
    return %y : tensor<1x1x1x1xf32>
  }
}

// -----

// Three eighths, 64 * 384 * 2 bytes, stay in one piece.
// CHECK-LABEL: func.func @fits
// CHECK-NOT: "top.Slice"
// CHECK: "top.Conv"{{.*}}(tensor<1x64x16x24xf32>, tensor<1x64x16x24xf32>, none)
// CHECK-NOT: "top.Add"
builtin.module attributes {module.chip = "bm1688"} {
  func.func @fits(%arg0: tensor<1x64x16x24xf32>) -> tensor<1x1x1x1xf32> {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x64x16x24xf32>) -> tensor<1x64x16x24xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<1x64x16x24xf32> loc("ones_1x64x16x24")
    %y = "top.Conv"(%x, %w, %n) {kernel_shape = [16, 24], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x64x16x24xf32>, tensor<1x64x16x24xf32>, none) -> tensor<1x1x1x1xf32> loc("y")
    return %y : tensor<1x1x1x1xf32>
  }
}

// -----

// On a chip whose lanes have twice as much neither is cut.
// CHECK-LABEL: func.func @larger_lanes
// CHECK-NOT: "top.Slice"
// CHECK: "top.Conv"{{.*}}(tensor<1x64x20x20xf32>, tensor<1x64x20x20xf32>, none)
func.func @larger_lanes(%arg0: tensor<1x64x20x20xf32>) -> tensor<1x1x1x1xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x64x20x20xf32>) -> tensor<1x64x20x20xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1x64x20x20xf32> loc("ones_1x64x20x20")
  %y = "top.Conv"(%x, %w, %n) {kernel_shape = [20, 20], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x64x20x20xf32>, tensor<1x64x20x20xf32>, none) -> tensor<1x1x1x1xf32> loc("y")
  return %y : tensor<1x1x1x1xf32>
}
