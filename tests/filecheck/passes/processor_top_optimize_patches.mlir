// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --processor-top-optimize="disable=FarConv" --no-locations | filecheck %s
// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --processor-top-optimize="disable=FoldPatchRows,FarConv" --no-locations | filecheck %s --check-prefix=OFF

// FoldPatchRows: eight rows of each of three channels are channels, 24 of the 32 multiplied at once.
// CHECK-LABEL: func.func @patches
// CHECK: "top.Reshape"{{.*}} -> tensor<1x3x6x8x2xf32>
// CHECK-NEXT: "top.Permute"{{.*}}order = [0, 1, 3, 2, 4]{{.*}} -> tensor<1x3x8x6x2xf32>
// CHECK-NEXT: "top.Reshape"{{.*}} -> tensor<1x24x6x2xf32>
// CHECK: "top.Conv"{{.*}}kernel_shape = [3, 1]{{.*}}strides = [3, 1]{{.*}}(tensor<1x24x6x2xf32>, tensor<8x24x3x1xf32>, none) -> tensor<1x8x2x2xf32>
// OFF-LABEL: func.func @patches
// OFF-NOT: top.Permute
func.func @patches(%arg0: tensor<1x3x48x2xf32>) -> tensor<1x8x2x2xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x3x48x2xf32>) -> tensor<1x3x48x2xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x3x24x1xf32> loc("random_8x3x24x1")
  %y = "top.Conv"(%x, %w, %n) {kernel_shape = [24, 1], strides = [24, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x3x48x2xf32>, tensor<8x3x24x1xf32>, none) -> tensor<1x8x2x2xf32> loc("y")
  return %y : tensor<1x8x2x2xf32>
}

// -----

// Refused: a row of padding is no whole channel.
// CHECK-LABEL: func.func @padded
// CHECK-NOT: top.Permute
// CHECK: "top.Conv"{{.*}}kernel_shape = [24, 1]
// OFF-LABEL: func.func @padded
func.func @padded(%arg0: tensor<1x3x48x2xf32>) -> tensor<1x8x2x2xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x3x48x2xf32>) -> tensor<1x3x48x2xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x3x24x1xf32> loc("random_8x3x24x1")
  %y = "top.Conv"(%x, %w, %n) {kernel_shape = [24, 1], strides = [24, 1], pads = [1, 0, 0, 0], dilations = [1, 1]} : (tensor<1x3x48x2xf32>, tensor<8x3x24x1xf32>, none) -> tensor<1x8x2x2xf32> loc("y")
  return %y : tensor<1x8x2x2xf32>
}

// -----

// Refused: moving so wide an image takes longer than the zeros in the filter.
// CHECK-LABEL: func.func @wide
// CHECK-NOT: top.Permute
// CHECK: "top.Conv"{{.*}}kernel_shape = [24, 1]
// OFF-LABEL: func.func @wide
func.func @wide(%arg0: tensor<1x3x48x40xf32>) -> tensor<1x8x2x40xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x3x48x40xf32>) -> tensor<1x3x48x40xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x3x24x1xf32> loc("random_8x3x24x1")
  %y = "top.Conv"(%x, %w, %n) {kernel_shape = [24, 1], strides = [24, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x3x48x40xf32>, tensor<8x3x24x1xf32>, none) -> tensor<1x8x2x40xf32> loc("y")
  return %y : tensor<1x8x2x40xf32>
}
