// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --processor-top-optimize="disable=FoldPatchRows" --no-locations | filecheck %s

// FarConv: the 24 rows of a block are channels; a row of padding and one that no window reads are
// put around the image and cut off.
// CHECK-LABEL: func.func @blocks
// CHECK: "top.Slice"{{.*}}ends = [1, 3, 47, 2]{{.*}} -> tensor<1x3x47x2xf32>
// CHECK-NEXT: "top.Pad"{{.*}}paddings = [0, 0, 1, 0, 0, 0, 0, 0]{{.*}} -> tensor<1x3x48x2xf32>
// CHECK-NEXT: "top.Reshape"{{.*}} -> tensor<1x3x2x24x2xf32>
// CHECK-NEXT: "top.Permute"{{.*}}order = [0, 1, 3, 2, 4]{{.*}} -> tensor<1x3x24x2x2xf32>
// CHECK-NEXT: "top.Reshape"{{.*}} -> tensor<1x72x2x2xf32>
// CHECK: "top.Conv"{{.*}}kernel_shape = [1, 1]{{.*}}pads = [0, 0, 0, 0]{{.*}}strides = [1, 1]{{.*}}(tensor<1x72x2x2xf32>, tensor<8x72x1x1xf32>, none) -> tensor<1x8x2x2xf32>
func.func @blocks(%arg0: tensor<1x3x48x2xf32>) -> tensor<1x8x2x2xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x3x48x2xf32>) -> tensor<1x3x48x2xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x3x24x1xf32> loc("random_8x3x24x1")
  %y = "top.Conv"(%x, %w, %n) {kernel_shape = [24, 1], strides = [24, 1], pads = [1, 0, 0, 0], dilations = [1, 1]} : (tensor<1x3x48x2xf32>, tensor<8x3x24x1xf32>, none) -> tensor<1x8x2x2xf32> loc("y")
  return %y : tensor<1x8x2x2xf32>
}

// -----

// FarConv: of 20 rows three are read, which stay rows.
// CHECK-LABEL: func.func @few_rows
// CHECK: "top.Reshape"{{.*}} -> tensor<1x3x2x20x5xf32>
// CHECK-NEXT: "top.Slice"{{.*}} -> tensor<1x3x2x3x5xf32>
// CHECK-NEXT: "top.Reshape"{{.*}} -> tensor<1x3x6x5xf32>
// CHECK-NEXT: "top.Conv"{{.*}}kernel_shape = [3, 3]{{.*}}strides = [3, 1]{{.*}}(tensor<1x3x6x5xf32>, tensor<4x3x3x3xf32>, none)
func.func @few_rows(%arg0: tensor<1x3x40x5xf32>) -> tensor<1x4x2x3xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x3x40x5xf32>) -> tensor<1x3x40x5xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %y = "top.Conv"(%x, %w, %n) {kernel_shape = [3, 3], strides = [20, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x3x40x5xf32>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x2x3xf32> loc("y")
  return %y : tensor<1x4x2x3xf32>
}

// -----

// The longest stride that a command can say stays.
// CHECK-LABEL: func.func @near
// CHECK-NOT: top.Reshape
// CHECK: "top.Conv"{{.*}}strides = [15, 1]
func.func @near(%arg0: tensor<1x3x40x5xf32>) -> tensor<1x4x3x3xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x3x40x5xf32>) -> tensor<1x3x40x5xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %y = "top.Conv"(%x, %w, %n) {kernel_shape = [3, 3], strides = [15, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : (tensor<1x3x40x5xf32>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x3x3xf32> loc("y")
  return %y : tensor<1x4x3x3xf32>
}
