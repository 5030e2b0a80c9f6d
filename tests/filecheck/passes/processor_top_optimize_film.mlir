// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --processor-top-optimize --no-locations | filecheck %s
// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --processor-top-optimize="disable=WindowsToImages" --no-locations | filecheck %s --check-prefix=OFF

// WindowsToImages: windows of two planes that do not overlap are images of twice the channels.
// CHECK-LABEL: func.func @film
// CHECK: "top.Reshape"{{.*}} -> tensor<1x3x4x2x256xf32>
// CHECK-NEXT: "top.Permute"{{.*}}order = [0, 2, 1, 3, 4]{{.*}} -> tensor<1x4x3x2x256xf32>
// CHECK-NEXT: "top.Reshape"{{.*}} -> tensor<4x6x16x16xf32>
// CHECK: "top.Conv"{{.*}}kernel_shape = [4, 4], pads = [0, 0, 0, 0]{{.*}}strides = [4, 4]{{.*}}(tensor<4x6x16x16xf32>, tensor<128x6x4x4xf32>, none) -> tensor<4x128x4x4xf32>
// CHECK: "top.Permute"{{.*}}order = [0, 2, 1, 3]{{.*}} -> tensor<1x128x4x16xf32>
// CHECK-NEXT: "top.Reshape"{{.*}} -> tensor<1x128x4x4x4xf32>
// OFF-LABEL: func.func @film
// OFF-NOT: top.Permute
func.func @film(%arg0: tensor<1x3x8x16x16xf32>) -> tensor<1x128x4x4x4xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x3x8x16x16xf32>) -> tensor<1x3x8x16x16xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<128x3x2x4x4xf32> loc("random_128x3x2x4x4")
  %y = "top.Conv"(%x, %w, %n) {kernel_shape = [2, 4, 4], strides = [2, 4, 4], pads = [0, 0, 0, 0, 0, 0], dilations = [1, 1, 1]} : (tensor<1x3x8x16x16xf32>, tensor<128x3x2x4x4xf32>, none) -> tensor<1x128x4x4x4xf32> loc("y")
  return %y : tensor<1x128x4x4x4xf32>
}

// -----

// Refused: windows share planes.
// CHECK-LABEL: func.func @overlapping
// CHECK-NOT: top.Permute
// CHECK: "top.Conv"{{.*}}kernel_shape = [2, 4, 4]
// OFF-LABEL: func.func @overlapping
func.func @overlapping(%arg0: tensor<1x3x8x16x16xf32>) -> tensor<1x128x7x4x4xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x3x8x16x16xf32>) -> tensor<1x3x8x16x16xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<128x3x2x4x4xf32> loc("random_128x3x2x4x4")
  %y = "top.Conv"(%x, %w, %n) {kernel_shape = [2, 4, 4], strides = [1, 4, 4], pads = [0, 0, 0, 0, 0, 0], dilations = [1, 1, 1]} : (tensor<1x3x8x16x16xf32>, tensor<128x3x2x4x4xf32>, none) -> tensor<1x128x7x4x4xf32> loc("y")
  return %y : tensor<1x128x7x4x4xf32>
}

// -----

// Refused: there is one window only.
// CHECK-LABEL: func.func @one
// CHECK-NOT: top.Permute
// CHECK: "top.Conv"{{.*}}kernel_shape = [2, 4, 4]
// OFF-LABEL: func.func @one
func.func @one(%arg0: tensor<1x3x2x16x16xf32>) -> tensor<1x128x1x4x4xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x3x2x16x16xf32>) -> tensor<1x3x2x16x16xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<128x3x2x4x4xf32> loc("random_128x3x2x4x4")
  %y = "top.Conv"(%x, %w, %n) {kernel_shape = [2, 4, 4], strides = [2, 4, 4], pads = [0, 0, 0, 0, 0, 0], dilations = [1, 1, 1]} : (tensor<1x3x2x16x16xf32>, tensor<128x3x2x4x4xf32>, none) -> tensor<1x128x1x4x4xf32> loc("y")
  return %y : tensor<1x128x1x4x4xf32>
}
