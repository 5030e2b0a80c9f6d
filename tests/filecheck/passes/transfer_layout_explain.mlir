// RUN: tpu-opt %s --transfer-layout="explain=true cost=bytes" 2>&1 >/dev/null | filecheck %s
// RUN: tpu-opt %s --transfer-layout="explain=true cost=cycles mode=F16" 2>&1 >/dev/null | filecheck %s
// RUN: not tpu-opt %s --transfer-layout=cost=watts 2>&1 | filecheck %s --check-prefix=COST
// RUN: not tpu-opt %s --transfer-layout=target=NCWH 2>&1 | filecheck %s --check-prefix=TARGET

// What remains, and the two ops that force it: however the Relu and the Abs between them work, a
// transposition is needed between the convolution and the LayerNorm.

// CHECK: transfer-layout: 4 transpositions (4,096 bytes), with min-cut 2 transpositions (2,048 bytes)
// CHECK-NEXT: top.{{.*}}, 1x{{.*}}: channel-first to channel-last, between top.Conv 'a' (channel-first) and top.LayerNorm 'l' (channel-last)
// CHECK-NEXT: top.Permute 'h', 1x4x8x8: order (0, 2, 1, 3), no change of layout
// CHECK-NOT: between
// COST: cost
// TARGET: target
func.func @explained(%arg0: tensor<1x4x8x8xf32>) -> (tensor<1x8x8x4xf32>, tensor<1x8x4x8xf32>) {
  %n = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<4x4x1x1xf32> loc("w")
  %0 = "top.Input"(%arg0) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> loc("x")
  %1 = "top.Conv"(%0, %w, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>, none) -> tensor<1x4x8x8xf32> loc("a")
  %2 = "top.Permute"(%1) {order = [0, 2, 3, 1]} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32> loc("t1")
  %3 = "top.Relu"(%2) : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> loc("r")
  %4 = "top.Permute"(%3) {order = [0, 3, 1, 2]} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32> loc("t2")
  %5 = "top.Abs"(%4) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> loc("b")
  %6 = "top.Permute"(%5) {order = [0, 2, 3, 1]} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32> loc("t3")
  %7 = "top.LayerNorm"(%6, %n, %n) {axis = 3 : si32, eps = 1.0e-5 : f64, normalized_shape = [4]} : (tensor<1x8x8x4xf32>, none, none) -> tensor<1x8x8x4xf32> loc("l")
  %8 = "top.Permute"(%0) {order = [0, 2, 1, 3]} : (tensor<1x4x8x8xf32>) -> tensor<1x8x4x8xf32> loc("h")
  return %7, %8 : tensor<1x8x8x4xf32>, tensor<1x8x4x8xf32>
}
