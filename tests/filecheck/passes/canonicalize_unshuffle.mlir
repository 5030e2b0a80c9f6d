// RUN: tpu-opt %s --split-input-file --shape-infer --canonicalize --no-locations | filecheck %s

// Blocks of pixels become channels, as PyTorch's PixelUnshuffle is written out.
// CHECK-LABEL: func.func @pixel_unshuffle
// CHECK: %1 = "top.Depth2Space"(%0){{.*}}block_h = 2 : i64, block_w = 5 : i64{{.*}}is_CRD = true{{.*}}is_inversed = true{{.*}}-> tensor<1x30x4x2xf32>
// CHECK-NEXT: return %1
func.func @pixel_unshuffle(%arg_x: tensor<1x3x8x10xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x3x8x10xf32>) -> tensor<1x3x8x10xf32> loc("x")
  %a = "top.Reshape"(%x) {shape = [1, 3, 4, 2, 2, 5]} : (tensor<1x3x8x10xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Permute"(%a) {order = [0, 1, 3, 5, 2, 4]} : (tensor<*xf32>) -> tensor<*xf32> loc("b")
  %y = "top.Reshape"(%b) {shape = [1, 30, 4, 2]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// Channels that vary fastest.
// CHECK-LABEL: func.func @space_to_depth
// CHECK: %1 = "top.Depth2Space"(%0){{.*}}is_CRD = false{{.*}}is_inversed = true{{.*}}-> tensor<1x12x4x5xf32>
// CHECK-NEXT: return %1
func.func @space_to_depth(%arg_x: tensor<1x3x8x10xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x3x8x10xf32>) -> tensor<1x3x8x10xf32> loc("x")
  %a = "top.Reshape"(%x) {shape = [1, 3, 4, 2, 5, 2]} : (tensor<1x3x8x10xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Permute"(%a) {order = [0, 3, 5, 1, 2, 4]} : (tensor<*xf32>) -> tensor<*xf32> loc("b")
  %y = "top.Reshape"(%b) {shape = [1, 12, 4, 5]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// Merged with the channels are the rows of a block only: no image of blocks.
// CHECK-LABEL: func.func @rows_alone
// CHECK-NOT: top.Depth2Space
// CHECK: return
func.func @rows_alone(%arg_x: tensor<1x3x8x10xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x3x8x10xf32>) -> tensor<1x3x8x10xf32> loc("x")
  %a = "top.Reshape"(%x) {shape = [1, 3, 4, 2, 5, 2]} : (tensor<1x3x8x10xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Permute"(%a) {order = [0, 1, 3, 5, 2, 4]} : (tensor<*xf32>) -> tensor<*xf32> loc("b")
  %y = "top.Reshape"(%b) {shape = [1, 6, 8, 5]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// Another reader sees six dimensions.
// CHECK-LABEL: func.func @read_elsewhere
// CHECK-NOT: top.Depth2Space
// CHECK: return
func.func @read_elsewhere(%arg_x: tensor<1x3x8x10xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<1x3x8x10xf32>) -> tensor<1x3x8x10xf32> loc("x")
  %a = "top.Reshape"(%x) {shape = [1, 3, 4, 2, 5, 2]} : (tensor<1x3x8x10xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Permute"(%a) {order = [0, 1, 3, 5, 2, 4]} : (tensor<*xf32>) -> tensor<*xf32> loc("b")
  %y = "top.Reshape"(%b) {shape = [1, 12, 4, 5]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  %z = "top.Relu"(%b) : (tensor<*xf32>) -> tensor<*xf32> loc("z")
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}
