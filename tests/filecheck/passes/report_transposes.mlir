// RUN: tpu-opt %s --split-input-file --report-transposes --no-locations 2>&1 >/dev/null | filecheck %s
// RUN: tpu-opt %s --split-input-file --report-transposes --no-locations 2>/dev/null | filecheck %s --check-prefix=IR

// The table says what each move costs and why it is there; the IR stays.

// CHECK: cycles bytes op
// CHECK-NEXT: {{[0-9,]+}} 602,112 tpu.Permute 1x96x56x56 [0, 2, 3, 1] 'p'
// CHECK-NEXT: channels first to last or back: Relu and LayerNorm have no form for the other
// CHECK-NEXT: {{[0-9,]+}} 602,112 tpu.Permute 1x8x7x8x7x96 [0, 1, 3, 2, 4, 5] 'w'
// CHECK-NEXT: windows: LayerNorm and MulConst go through the image in different orders, 7x8 runs of 672 elements change places
// CHECK-NEXT: {{[0-9,]+}} 1,204,224 2 ops, 2 of them Permutes
// IR: func.func @layouts
// IR: tpu.Permute
// IR: tpu.Permute
func.func @layouts(%arg0: tensor<1x96x56x56xf16>) -> tensor<1x8x8x7x7x96xf16> {
  %n = "top.None"() : () -> none
  %0 = "top.Input"(%arg0) : (tensor<1x96x56x56xf16>) -> tensor<1x96x56x56xf16> loc("x")
  %1 = "tpu.Relu"(%0) : (tensor<1x96x56x56xf16>) -> tensor<1x96x56x56xf16> loc("r")
  %2 = "tpu.Permute"(%1, %n) {order = [0, 2, 3, 1]} : (tensor<1x96x56x56xf16>, none) -> tensor<1x56x56x96xf16> loc("p")
  %3 = "tpu.LayerNorm"(%2, %n, %n, %n, %n) {axis = 3 : si32, eps = 1.0e-5 : f64, normalized_shape = [96]} : (tensor<1x56x56x96xf16>, none, none, none, none) -> tensor<1x56x56x96xf16> loc("l")
  %4 = "tpu.Reshape"(%3) : (tensor<1x56x56x96xf16>) -> tensor<1x8x7x8x7x96xf16> loc("s")
  %5 = "tpu.Permute"(%4, %n) {order = [0, 1, 3, 2, 4, 5]} : (tensor<1x8x7x8x7x96xf16>, none) -> tensor<1x8x8x7x7x96xf16> loc("w")
  %6 = "tpu.MulConst"(%5) {const_val = 2.0 : f64} : (tensor<1x8x8x7x7x96xf16>) -> tensor<1x8x8x7x7x96xf16> loc("y")
  return %6 : tensor<1x8x8x7x7x96xf16>
}

// -----

// CHECK: cycles bytes op
// CHECK-NEXT: tpu.Permute 2x7x3x5 [0, 2, 1, 3] 'shared'
// CHECK-NEXT: it has several uses, and a product takes in only a Permute of its own
// CHECK-NEXT: tpu.Permute 1x5x3x6 [0, 2, 1, 3] 'other'
// CHECK-NEXT: the product's operands differ in batch or heads, or more bytes would move
// CHECK-NEXT: tpu.Permute 2x3x7x6 [0, 2, 1, 3] 'back'
// CHECK-NEXT: rows and heads are swapped between MatMul and Add, which need them so
// CHECK-NEXT: 3 ops, 3 of them Permutes
// IR: func.func @heads
func.func @heads(%arg0: tensor<2x7x3x5xf32>, %arg1: tensor<1x5x3x6xf32>, %arg2: tensor<2x7x3x6xf32>) -> (tensor<2x7x3x6xf32>, tensor<2x3x7x5xf32>) {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32> loc("x")
  %y = "top.Input"(%arg1) : (tensor<1x5x3x6xf32>) -> tensor<1x5x3x6xf32> loc("y")
  %z = "top.Input"(%arg2) : (tensor<2x7x3x6xf32>) -> tensor<2x7x3x6xf32> loc("z")
  %0 = "tpu.Relu"(%x) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32> loc("rx")
  %1 = "tpu.Permute"(%0, %n) {order = [0, 2, 1, 3]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x3x7x5xf32> loc("shared")
  %2 = "tpu.Relu"(%y) : (tensor<1x5x3x6xf32>) -> tensor<1x5x3x6xf32> loc("ry")
  %3 = "tpu.Permute"(%2, %n) {order = [0, 2, 1, 3]} : (tensor<1x5x3x6xf32>, none) -> tensor<1x3x5x6xf32> loc("other")
  %4 = "tpu.MatMul"(%1, %3, %n, %n, %n) : (tensor<2x3x7x5xf32>, tensor<1x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32> loc("mm")
  %5 = "tpu.Permute"(%4, %n) {order = [0, 2, 1, 3]} : (tensor<2x3x7x6xf32>, none) -> tensor<2x7x3x6xf32> loc("back")
  %6 = "tpu.Add"(%5, %z) : (tensor<2x7x3x6xf32>, tensor<2x7x3x6xf32>) -> tensor<2x7x3x6xf32> loc("sum")
  %7 = "tpu.Relu"(%1) : (tensor<2x3x7x5xf32>) -> tensor<2x3x7x5xf32> loc("r1")
  return %6, %7 : tensor<2x7x3x6xf32>, tensor<2x3x7x5xf32>
}

// -----

// CHECK: cycles bytes op
// CHECK-NEXT: tpu.Permute 2x5x6 [1, 0, 2] 'first'
// CHECK-NEXT: the network is given its input in the other order
// CHECK-NEXT: tpu.SwapDimInner 5x2x6 'turn'
// CHECK-NEXT: shifted windows: dimensions [0] are rotated, all elements move
// CHECK-NEXT: tpu.Permute 5x2x6 [2, 1, 0] 'odd'
// CHECK-NEXT: SwapDimInner gives another order than MulConst reads, and neither takes it in
// CHECK-NEXT: tpu.Permute 6x2x5 [1, 0, 2] 'last'
// CHECK-NEXT: the network returns its result in this order
// CHECK-NEXT: 4 ops, 3 of them Permutes
// IR: func.func @edges
func.func @edges(%arg0: tensor<2x5x6xf32>) -> tensor<2x6x5xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<2x5x6xf32>) -> tensor<2x5x6xf32> loc("x")
  %0 = "tpu.Permute"(%x, %n) {order = [1, 0, 2]} : (tensor<2x5x6xf32>, none) -> tensor<5x2x6xf32> loc("first")
  %1 = "tpu.SwapDimInner"(%0) {offset = [2, 0, 0]} : (tensor<5x2x6xf32>) -> tensor<5x2x6xf32> loc("turn")
  %2 = "tpu.Permute"(%1, %n) {order = [2, 1, 0]} : (tensor<5x2x6xf32>, none) -> tensor<6x2x5xf32> loc("odd")
  %3 = "tpu.MulConst"(%2) {const_val = 2.0 : f64} : (tensor<6x2x5xf32>) -> tensor<6x2x5xf32> loc("y")
  %4 = "tpu.Permute"(%3, %n) {order = [1, 0, 2]} : (tensor<6x2x5xf32>, none) -> tensor<2x6x5xf32> loc("last")
  return %4 : tensor<2x6x5xf32>
}

// -----

// A Reshape whose result lies elsewhere is a copy; one in place is not.
// CHECK: cycles bytes op
// CHECK-NEXT: tpu.Reshape 2x5x6 'copy'
// CHECK-NEXT: operand and result lie at different addresses
// CHECK-NEXT: tpu.Depth2Space 1x6x10x1 'deep'
// CHECK-NEXT: blocks of 2x2 pixels become channels, or channels blocks
// CHECK-NEXT: 2 ops, 0 of them Permutes
// IR: func.func @copies
func.func @copies(%arg0: tensor<2x5x6xf32, 4294967296 : i64>) -> tensor<1x3x5x4xf32, 4294979584 : i64> {
  %x = "tpu.Relu"(%arg0) : (tensor<2x5x6xf32, 4294967296 : i64>) -> tensor<2x5x6xf32, 4294971392 : i64> loc("x")
  %0 = "tpu.Reshape"(%x) : (tensor<2x5x6xf32, 4294971392 : i64>) -> tensor<60xf32, 4294975488 : i64> loc("copy")
  %1 = "tpu.Reshape"(%0) : (tensor<60xf32, 4294975488 : i64>) -> tensor<1x6x10x1xf32, 4294975488 : i64> loc("same")
  %2 = "tpu.Depth2Space"(%1) {block_h = 2 : i64, block_w = 2 : i64, in_is_NCHW = false, is_CRD = false, is_inversed = true, out_is_NCHW = false} : (tensor<1x6x10x1xf32, 4294975488 : i64>) -> tensor<1x3x5x4xf32, 4294979584 : i64> loc("deep")
  %3 = "tpu.MulConst"(%2) {const_val = 2.0 : f64} : (tensor<1x3x5x4xf32, 4294979584 : i64>) -> tensor<1x3x5x4xf32, 4294979584 : i64> loc("y")
  return %3 : tensor<1x3x5x4xf32, 4294979584 : i64>
}
