// RUN: tpu-opt %s --split-input-file --transfer-layout --no-locations | filecheck %s
// RUN: tpu-opt %s --split-input-file --transfer-layout=strategy=greedy --no-locations | filecheck %s --check-prefix=GREEDY

// Transpositions around convolutions, as a channel-last exporter leaves them: those between the
// convolutions go, those at the input and the result stay.

// CHECK-LABEL: @between_convolutions
// CHECK: %[[X:.*]] = "top.Input"
// CHECK: %[[T:.*]] = "top.Permute"(%[[X]]) {order = [0, 3, 1, 2]}
// CHECK-NEXT: %[[A:.*]] = "top.Conv"(%[[T]],
// CHECK-NEXT: %[[R:.*]] = "top.Relu"(%[[A]]) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
// CHECK-NEXT: %[[B:.*]] = "top.Conv"(%[[R]],
// CHECK-NEXT: %[[Y:.*]] = "top.Permute"(%[[B]]) {order = [0, 2, 3, 1]}
// CHECK-NEXT: return %[[Y]]
// GREEDY-LABEL: @between_convolutions
func.func @between_convolutions(%arg0: tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> {
  %n = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<4x4x1x1xf32> loc("w")
  %0 = "top.Input"(%arg0) : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> loc("x")
  %1 = "top.Permute"(%0) {order = [0, 3, 1, 2]} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32> loc("t1")
  %2 = "top.Conv"(%1, %w, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>, none) -> tensor<1x4x8x8xf32> loc("a")
  %3 = "top.Permute"(%2) {order = [0, 2, 3, 1]} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32> loc("t2")
  %4 = "top.Relu"(%3) : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> loc("r")
  %5 = "top.Permute"(%4) {order = [0, 3, 1, 2]} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32> loc("t3")
  %6 = "top.Conv"(%5, %w, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>, none) -> tensor<1x4x8x8xf32> loc("b")
  %7 = "top.Permute"(%6) {order = [0, 2, 3, 1]} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32> loc("y")
  return %7 : tensor<1x8x8x4xf32>
}

// -----

// Nothing is gained by a change: the program stays as it is.

// CHECK-LABEL: @nothing_to_gain
// CHECK: top.Permute
// CHECK-NEXT: top.Relu
// CHECK-NEXT: top.Conv
// CHECK-NOT: top.Permute
func.func @nothing_to_gain(%arg0: tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32> {
  %n = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<4x4x1x1xf32> loc("w")
  %0 = "top.Input"(%arg0) : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> loc("x")
  %1 = "top.Permute"(%0) {order = [0, 3, 1, 2]} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32> loc("t1")
  %2 = "top.Relu"(%1) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> loc("r")
  %3 = "top.Conv"(%2, %w, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>, none) -> tensor<1x4x8x8xf32> loc("y")
  return %3 : tensor<1x4x8x8xf32>
}

// -----

// One copy serves all who want it: two returned results of one convolution share a Permute.

// CHECK-LABEL: @shared_copy
// CHECK: %[[A:.*]] = "top.Conv"
// CHECK-NEXT: %[[T:.*]] = "top.Permute"(%[[A]])
// CHECK-NEXT: %[[R:.*]] = "top.Relu"(%[[T]])
// CHECK-NEXT: return %[[T]], %[[R]]
func.func @shared_copy(%arg0: tensor<1x4x8x8xf32>) -> (tensor<1x8x8x4xf32>, tensor<1x8x8x4xf32>) {
  %n = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<4x4x1x1xf32> loc("w")
  %0 = "top.Input"(%arg0) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> loc("x")
  %1 = "top.Conv"(%0, %w, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>, none) -> tensor<1x4x8x8xf32> loc("a")
  %2 = "top.Permute"(%1) {order = [0, 2, 3, 1]} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32> loc("y1")
  %3 = "top.Relu"(%1) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> loc("r")
  %4 = "top.Permute"(%3) {order = [0, 2, 3, 1]} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32> loc("y2")
  return %2, %4 : tensor<1x8x8x4xf32>, tensor<1x8x8x4xf32>
}

// -----

// Greedy is worse: the sum follows its one channel-first operand and the other two pay for it.
// Channel-last the sum needs one transposition, of the convolution's result.

// CHECK-LABEL: @greedy_is_worse
// CHECK: top.Conv
// CHECK-NEXT: top.Permute
// CHECK-NOT: top.Permute
// GREEDY-LABEL: @greedy_is_worse
// GREEDY-COUNT-3: top.Permute
func.func @greedy_is_worse(%arg0: tensor<1x4x8x8xf32>, %arg1: tensor<1x8x8x4xf32>, %arg2: tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> {
  %n = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<4x4x1x1xf32> loc("w")
  %0 = "top.Input"(%arg0) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> loc("x")
  %1 = "top.Input"(%arg1) : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> loc("p")
  %2 = "top.Input"(%arg2) : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> loc("q")
  %3 = "top.Conv"(%0, %w, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>, none) -> tensor<1x4x8x8xf32> loc("a")
  %4 = "top.Permute"(%3) {order = [0, 2, 3, 1]} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32> loc("t")
  %5 = "top.Add"(%4, %1, %2) : (tensor<1x8x8x4xf32>, tensor<1x8x8x4xf32>, tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> loc("y")
  return %5 : tensor<1x8x8x4xf32>
}

// -----

// Weights are constants: the one of the Mul is permuted when the program is compiled.

// CHECK-LABEL: @weights_are_free
// CHECK: "top.Weight"() : () -> tensor<1x8x8x4xf32>
// CHECK: "top.Mul"{{.*}} -> tensor<1x8x8x4xf32>
// CHECK-NOT: top.Permute
func.func @weights_are_free(%arg0: tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> {
  %w = "top.Weight"() : () -> tensor<1x4x8x8xf32> loc("w")
  %0 = "top.Input"(%arg0) : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> loc("x")
  %1 = "top.Permute"(%0) {order = [0, 3, 1, 2]} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32> loc("t1")
  %2 = "top.Mul"(%1, %w) : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> loc("m")
  %3 = "top.Permute"(%2) {order = [0, 2, 3, 1]} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32> loc("y")
  return %3 : tensor<1x8x8x4xf32>
}

// -----

// Only ones change places: a Reshape, which costs nothing.

// CHECK-LABEL: @ones_are_free
// CHECK-NOT: top.Permute
// CHECK: return
func.func @ones_are_free(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<1x4x1x1xf32>) -> tensor<1x8x8x4xf32> {
  %0 = "top.Input"(%arg0) : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> loc("x")
  %1 = "top.Input"(%arg1) : (tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32> loc("s")
  %2 = "top.Permute"(%0) {order = [0, 3, 1, 2]} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32> loc("t1")
  %3 = "top.Mul"(%2, %1) : (tensor<1x4x8x8xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x8x8xf32> loc("m")
  %4 = "top.Permute"(%3) {order = [0, 2, 3, 1]} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32> loc("y")
  return %4 : tensor<1x8x8x4xf32>
}

// -----

// Volumes and sequences have layouts, too: rank 5 and rank 3.

// CHECK-LABEL: @other_ranks
// CHECK-NOT: top.Permute
// CHECK: return
func.func @other_ranks(%arg0: tensor<1x2x3x5x4xf32>, %arg1: tensor<1x7x4xf32>) -> (tensor<1x2x3x5x4xf32>, tensor<1x7x4xf32>) {
  %0 = "top.Input"(%arg0) : (tensor<1x2x3x5x4xf32>) -> tensor<1x2x3x5x4xf32> loc("x")
  %1 = "top.Permute"(%0) {order = [0, 4, 1, 2, 3]} : (tensor<1x2x3x5x4xf32>) -> tensor<1x4x2x3x5xf32> loc("t1")
  %2 = "top.Relu"(%1) : (tensor<1x4x2x3x5xf32>) -> tensor<1x4x2x3x5xf32> loc("r")
  %3 = "top.Permute"(%2) {order = [0, 2, 3, 4, 1]} : (tensor<1x4x2x3x5xf32>) -> tensor<1x2x3x5x4xf32> loc("y1")
  %4 = "top.Input"(%arg1) : (tensor<1x7x4xf32>) -> tensor<1x7x4xf32> loc("z")
  %5 = "top.Permute"(%4) {order = [0, 2, 1]} : (tensor<1x7x4xf32>) -> tensor<1x4x7xf32> loc("t2")
  %6 = "top.Softmax"(%5) {axis = 1 : si32} : (tensor<1x4x7xf32>) -> tensor<1x4x7xf32> loc("s")
  %7 = "top.Permute"(%6) {order = [0, 2, 1]} : (tensor<1x4x7xf32>) -> tensor<1x7x4xf32> loc("y2")
  return %3, %7 : tensor<1x2x3x5x4xf32>, tensor<1x7x4xf32>
}
