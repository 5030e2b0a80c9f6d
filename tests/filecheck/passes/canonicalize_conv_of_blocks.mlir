// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// The filter has the pixels of a block side by side.
func.func @blocks(%arg_x: tensor<1x1x8x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %s0 = "top.Slice"(%x, %none, %none, %none) {axes = [], offset = [0, 0, 0, 0], ends = [1, 1, 8, 8], steps = [1, 1, 2, 2]} : (tensor<1x1x8x8xf32>, none, none, none) -> tensor<*xf32> loc("s0")
  %s1 = "top.Slice"(%x, %none, %none, %none) {axes = [], offset = [0, 0, 1, 0], ends = [1, 1, 8, 8], steps = [1, 1, 2, 2]} : (tensor<1x1x8x8xf32>, none, none, none) -> tensor<*xf32> loc("s1")
  %s2 = "top.Slice"(%x, %none, %none, %none) {axes = [], offset = [0, 0, 0, 1], ends = [1, 1, 8, 8], steps = [1, 1, 2, 2]} : (tensor<1x1x8x8xf32>, none, none, none) -> tensor<*xf32> loc("s2")
  %c = "top.Concat"(%s0, %s1, %s2) {axis = 1 : si32} : (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("c")
  %y = "top.Conv"(%c, %w, %none) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]} : (tensor<*xf32>, tensor<4x3x3x3xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @blocks
// CHECK: %[[X:.*]] = "top.Input"
// CHECK-NEXT: %[[W:.*]] = "top.Weight"(){{.*}}-> tensor<4x1x6x6xf32>
// CHECK-NEXT: "top.Conv"(%[[X]], %[[W]], {{.*}}kernel_shape = [6, 6]{{.*}}pads = [2, 2, 2, 2]{{.*}}strides = [2, 2]{{.*}}-> tensor<1x4x4x4xf32>
// CHECK-NEXT: return

// -----

// Taps that are apart see blocks that are not neighbours.
func.func @dilated(%arg_x: tensor<1x1x8x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %s0 = "top.Slice"(%x, %none, %none, %none) {axes = [], offset = [0, 0, 0, 0], ends = [1, 1, 8, 8], steps = [1, 1, 2, 2]} : (tensor<1x1x8x8xf32>, none, none, none) -> tensor<*xf32> loc("s0")
  %s1 = "top.Slice"(%x, %none, %none, %none) {axes = [], offset = [0, 0, 1, 0], ends = [1, 1, 8, 8], steps = [1, 1, 2, 2]} : (tensor<1x1x8x8xf32>, none, none, none) -> tensor<*xf32> loc("s1")
  %s2 = "top.Slice"(%x, %none, %none, %none) {axes = [], offset = [0, 0, 0, 1], ends = [1, 1, 8, 8], steps = [1, 1, 2, 2]} : (tensor<1x1x8x8xf32>, none, none, none) -> tensor<*xf32> loc("s2")
  %c = "top.Concat"(%s0, %s1, %s2) {axis = 1 : si32} : (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("c")
  %y = "top.Conv"(%c, %w, %none) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1], dilations = [2, 2]} : (tensor<*xf32>, tensor<4x3x3x3xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @dilated
// CHECK-COUNT-3: "top.Slice"
// CHECK: "top.Concat"

// -----

// Beyond the blocks there are pixels that a larger filter would see.
func.func @part(%arg_x: tensor<1x1x8x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %s0 = "top.Slice"(%x, %none, %none, %none) {axes = [], offset = [0, 0, 0, 0], ends = [1, 1, 8, 6], steps = [1, 1, 2, 2]} : (tensor<1x1x8x8xf32>, none, none, none) -> tensor<*xf32> loc("s0")
  %s1 = "top.Slice"(%x, %none, %none, %none) {axes = [], offset = [0, 0, 1, 0], ends = [1, 1, 8, 6], steps = [1, 1, 2, 2]} : (tensor<1x1x8x8xf32>, none, none, none) -> tensor<*xf32> loc("s1")
  %s2 = "top.Slice"(%x, %none, %none, %none) {axes = [], offset = [0, 0, 0, 1], ends = [1, 1, 8, 6], steps = [1, 1, 2, 2]} : (tensor<1x1x8x8xf32>, none, none, none) -> tensor<*xf32> loc("s2")
  %c = "top.Concat"(%s0, %s1, %s2) {axis = 1 : si32} : (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("c")
  %y = "top.Conv"(%c, %w, %none) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]} : (tensor<*xf32>, tensor<4x3x3x3xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @part
// CHECK-COUNT-3: "top.Slice"
// CHECK: "top.Concat"

// -----

// Channels of one place in the block follow each other.
func.func @in_block_order(%arg_x: tensor<1x1x8x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<68x1x1x1xf32> loc("random_68x1x1x1")
  %y = "top.Conv"(%x, %w, %none) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<1x1x8x8xf32>, tensor<68x1x1x1xf32>, none) -> tensor<*xf32> loc("y")
  %z = "top.Depth2Space"(%y) {block_h = 2 : i64, block_w = 2 : i64, is_CRD = true, is_inversed = false} : (tensor<*xf32>) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @in_block_order
// CHECK: "top.Weight"(){{.*}}-> tensor<68x1x1x1xf32>
// CHECK-NEXT: %[[Y:.*]] = "top.Conv"
// CHECK-NEXT: "top.Depth2Space"(%[[Y]]) {{.*}}is_CRD = false

// -----

// One channel alone is in order either way.
func.func @one_channel(%arg_x: tensor<1x3x8x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %y = "top.Conv"(%x, %w, %none) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, none) -> tensor<*xf32> loc("y")
  %z = "top.Depth2Space"(%y) {block_h = 2 : i64, block_w = 2 : i64, is_CRD = true, is_inversed = false} : (tensor<*xf32>) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @one_channel
// CHECK: "top.Depth2Space"{{.*}}is_CRD = true
