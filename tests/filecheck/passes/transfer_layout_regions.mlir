// RUN: tpu-opt %s --split-input-file --transfer-layout --no-locations | filecheck %s

// Both branches yield what a convolution made, transposed: the result of the If is channel-first,
// as what follows it wants it. The value captured from outside is read channel-first, too.

// CHECK-LABEL: @branches
// CHECK: "top.Conv"
// CHECK-NOT: top.Permute
// CHECK: %[[I:.*]] = "top.If"
// CHECK: "top.Relu"{{.*}} -> tensor<1x4x8x8xf32>
// CHECK: "top.Yield"(%{{.*}}) : (tensor<1x4x8x8xf32>) -> ()
// CHECK: "top.Yield"(%{{.*}}) : (tensor<1x4x8x8xf32>) -> ()
// CHECK: (tensor<1xf32>) -> tensor<1x4x8x8xf32>
// CHECK-NOT: top.Permute
// CHECK: "top.Conv"(%[[I]],
func.func @branches(%arg0: tensor<1x4x8x8xf32>, %arg1: tensor<1xf32>) -> tensor<1x4x8x8xf32> {
  %n = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<4x4x1x1xf32> loc("w")
  %0 = "top.Input"(%arg0) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> loc("x")
  %1 = "top.Input"(%arg1) : (tensor<1xf32>) -> tensor<1xf32> loc("c")
  %2 = "top.Conv"(%0, %w, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>, none) -> tensor<1x4x8x8xf32> loc("a")
  %3 = "top.Permute"(%2) {order = [0, 2, 3, 1]} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32> loc("t")
  %4 = "top.If"(%1) ({
    %5 = "top.Relu"(%3) : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> loc("then")
    "top.Yield"(%5) : (tensor<1x8x8x4xf32>) -> () loc("y1")
  }, {
    %6 = "top.Abs"(%3) : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> loc("else")
    "top.Yield"(%6) : (tensor<1x8x8x4xf32>) -> () loc("y2")
  }) : (tensor<1xf32>) -> tensor<1x8x8x4xf32> loc("i")
  %7 = "top.Permute"(%4) {order = [0, 3, 1, 2]} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32> loc("back")
  %8 = "top.Conv"(%7, %w, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>, none) -> tensor<1x4x8x8xf32> loc("y")
  return %8 : tensor<1x4x8x8xf32>
}

// -----

// The carried value of a loop: initial value, argument, what is yielded and the result are of
// one layout, and that is the one of the convolution in the body. The transpositions leave the
// loop: two around it instead of two in every iteration.

// CHECK-LABEL: @loop
// CHECK: %[[X:.*]] = "top.Input"
// CHECK: %[[T:.*]] = "top.Permute"(%[[X]]) {order = [0, 3, 1, 2]}
// CHECK: %[[L:.*]] = "top.Loop"(%{{.*}}, %{{.*}}, %[[T]]) ({
// CHECK-NEXT: ^{{.*}}(%{{.*}}: tensor<1xf32>{{.*}}, %{{.*}}: tensor<1xf32>{{.*}}, %[[V:.*]]: tensor<1x4x8x8xf32>{{.*}}):
// CHECK-NEXT: %[[C:.*]] = "top.Conv"(%[[V]],
// CHECK-NEXT: %[[R:.*]] = "top.Relu"(%[[C]])
// CHECK-NEXT: "top.Yield"(%{{.*}}, %[[R]])
// CHECK: -> tensor<1x4x8x8xf32>
// CHECK-NEXT: "top.Permute"(%[[L]]) {order = [0, 2, 3, 1]}
func.func @loop(%arg0: tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> {
  %n = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<4x4x1x1xf32> loc("w")
  %m = "top.Weight"() : () -> tensor<1xf32> loc("m")
  %c = "top.Weight"() : () -> tensor<1xf32> loc("c")
  %0 = "top.Input"(%arg0) : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> loc("x")
  %1 = "top.Loop"(%m, %c, %0) ({
  ^bb0(%i: tensor<1xf32>, %k: tensor<1xf32>, %v: tensor<1x8x8x4xf32>):
    %2 = "top.Permute"(%v) {order = [0, 3, 1, 2]} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32> loc("t1")
    %3 = "top.Conv"(%2, %w, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>, none) -> tensor<1x4x8x8xf32> loc("a")
    %4 = "top.Relu"(%3) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> loc("r")
    %5 = "top.Permute"(%4) {order = [0, 2, 3, 1]} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32> loc("t2")
    "top.Yield"(%k, %5) : (tensor<1xf32>, tensor<1x8x8x4xf32>) -> () loc("yield")
  }) : (tensor<1xf32>, tensor<1xf32>, tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> loc("l")
  %6 = "top.Abs"(%1) : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> loc("y")
  return %6 : tensor<1x8x8x4xf32>
}

// -----

// A value captured by a branch and used outside, too, gets its copy outside, before both.

// CHECK-LABEL: @captured
// CHECK: %[[X:.*]] = "top.Input"
// CHECK-NEXT: %[[T:.*]] = "top.Permute"(%[[X]])
// CHECK: "top.If"
// CHECK: "top.Conv"(%[[T]],
// CHECK: "top.Conv"(%[[T]],
// CHECK-NOT: top.Permute
func.func @captured(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<1xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) {
  %n = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<4x4x1x1xf32> loc("w")
  %0 = "top.Input"(%arg0) : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> loc("x")
  %1 = "top.Input"(%arg1) : (tensor<1xf32>) -> tensor<1xf32> loc("c")
  %2 = "top.If"(%1) ({
    %3 = "top.Permute"(%0) {order = [0, 3, 1, 2]} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32> loc("t1")
    %4 = "top.Conv"(%3, %w, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>, none) -> tensor<1x4x8x8xf32> loc("a")
    "top.Yield"(%4) : (tensor<1x4x8x8xf32>) -> () loc("y1")
  }, {
    %w0 = "top.Weight"() : () -> tensor<1x4x8x8xf32> loc("w0")
    "top.Yield"(%w0) : (tensor<1x4x8x8xf32>) -> () loc("y2")
  }) : (tensor<1xf32>) -> tensor<1x4x8x8xf32> loc("i")
  %5 = "top.Permute"(%0) {order = [0, 3, 1, 2]} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32> loc("t2")
  %6 = "top.Conv"(%5, %w, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>, none) -> tensor<1x4x8x8xf32> loc("y")
  return %2, %6 : tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>
}
