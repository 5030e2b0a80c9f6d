// RUN: tpu-opt %s --split-input-file --canonicalize --no-locations | filecheck %s

// What is done to one element after the other, and put together again.

// The same in each of four steps.
func.func @alike(%arg_x: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32> loc("x")
  %s0 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 0], ends = [1, 3, 1], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("s0")
  %y0 = "top.Tanh"(%s0) : (tensor<1x3x1xf32>) -> tensor<1x3x1xf32> loc("y0")
  %s1 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 1], ends = [1, 3, 2], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("s1")
  %y1 = "top.Tanh"(%s1) : (tensor<1x3x1xf32>) -> tensor<1x3x1xf32> loc("y1")
  %s2 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 2], ends = [1, 3, 3], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("s2")
  %y2 = "top.Tanh"(%s2) : (tensor<1x3x1xf32>) -> tensor<1x3x1xf32> loc("y2")
  %s3 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 3], ends = [1, 3, 4], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("s3")
  %y3 = "top.Tanh"(%s3) : (tensor<1x3x1xf32>) -> tensor<1x3x1xf32> loc("y3")
  %y = "top.Concat"(%y0, %y1, %y2, %y3) {axis = 2 : si32} : (tensor<1x3x1xf32>, tensor<1x3x1xf32>, tensor<1x3x1xf32>, tensor<1x3x1xf32>) -> tensor<1x3x4xf32> loc("y")
  return %y : tensor<1x3x4xf32>
}

// CHECK-LABEL: func.func @alike
// CHECK: [[X:%.*]] = "top.Input"
// CHECK-NEXT: [[R:%.*]] = "top.Reshape"([[X]])
// CHECK-NEXT: [[T:%.*]] = "top.Tanh"([[R]]) : (tensor<1x3x4x1xf32>) -> tensor<1x3x4x1xf32>
// CHECK-NEXT: [[Y:%.*]] = "top.Reshape"([[T]])
// CHECK-NEXT: return [[Y]] : tensor<1x3x4xf32>

// -----

// Three steps are too few.
func.func @few(%arg_x: tensor<1x3x3xf32>) -> tensor<1x3x3xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x3xf32>) -> tensor<1x3x3xf32> loc("x")
  %s0 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 0], ends = [1, 3, 1], steps = [1, 1, 1], axes = []} : (tensor<1x3x3xf32>, none, none, none) -> tensor<1x3x1xf32> loc("s0")
  %y0 = "top.Tanh"(%s0) : (tensor<1x3x1xf32>) -> tensor<1x3x1xf32> loc("y0")
  %s1 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 1], ends = [1, 3, 2], steps = [1, 1, 1], axes = []} : (tensor<1x3x3xf32>, none, none, none) -> tensor<1x3x1xf32> loc("s1")
  %y1 = "top.Tanh"(%s1) : (tensor<1x3x1xf32>) -> tensor<1x3x1xf32> loc("y1")
  %s2 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 2], ends = [1, 3, 3], steps = [1, 1, 1], axes = []} : (tensor<1x3x3xf32>, none, none, none) -> tensor<1x3x1xf32> loc("s2")
  %y2 = "top.Tanh"(%s2) : (tensor<1x3x1xf32>) -> tensor<1x3x1xf32> loc("y2")
  %y = "top.Concat"(%y0, %y1, %y2) {axis = 2 : si32} : (tensor<1x3x1xf32>, tensor<1x3x1xf32>, tensor<1x3x1xf32>) -> tensor<1x3x3xf32> loc("y")
  return %y : tensor<1x3x3xf32>
}

// CHECK-LABEL: func.func @few
// CHECK-COUNT-3: top.Tanh
// CHECK: "top.Concat"

// -----

// One step does something else.
func.func @different(%arg_x: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32> loc("x")
  %s0 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 0], ends = [1, 3, 1], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("s0")
  %y0 = "top.Tanh"(%s0) : (tensor<1x3x1xf32>) -> tensor<1x3x1xf32> loc("y0")
  %s1 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 1], ends = [1, 3, 2], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("s1")
  %y1 = "top.Sigmoid"(%s1) : (tensor<1x3x1xf32>) -> tensor<1x3x1xf32> loc("y1")
  %s2 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 2], ends = [1, 3, 3], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("s2")
  %y2 = "top.Tanh"(%s2) : (tensor<1x3x1xf32>) -> tensor<1x3x1xf32> loc("y2")
  %s3 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 3], ends = [1, 3, 4], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("s3")
  %y3 = "top.Tanh"(%s3) : (tensor<1x3x1xf32>) -> tensor<1x3x1xf32> loc("y3")
  %y = "top.Concat"(%y0, %y1, %y2, %y3) {axis = 2 : si32} : (tensor<1x3x1xf32>, tensor<1x3x1xf32>, tensor<1x3x1xf32>, tensor<1x3x1xf32>) -> tensor<1x3x4xf32> loc("y")
  return %y : tensor<1x3x4xf32>
}

// CHECK-LABEL: func.func @different
// CHECK: top.Tanh
// CHECK: "top.Sigmoid"
// CHECK: "top.Concat"

// -----

// Parts of two elements are no steps.
func.func @wide(%arg_x: tensor<1x3x8xf32>) -> tensor<1x3x8xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x8xf32>) -> tensor<1x3x8xf32> loc("x")
  %s0 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 0], ends = [1, 3, 2], steps = [1, 1, 1], axes = []} : (tensor<1x3x8xf32>, none, none, none) -> tensor<1x3x2xf32> loc("s0")
  %y0 = "top.Tanh"(%s0) : (tensor<1x3x2xf32>) -> tensor<1x3x2xf32> loc("y0")
  %s1 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 2], ends = [1, 3, 4], steps = [1, 1, 1], axes = []} : (tensor<1x3x8xf32>, none, none, none) -> tensor<1x3x2xf32> loc("s1")
  %y1 = "top.Tanh"(%s1) : (tensor<1x3x2xf32>) -> tensor<1x3x2xf32> loc("y1")
  %s2 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 4], ends = [1, 3, 6], steps = [1, 1, 1], axes = []} : (tensor<1x3x8xf32>, none, none, none) -> tensor<1x3x2xf32> loc("s2")
  %y2 = "top.Tanh"(%s2) : (tensor<1x3x2xf32>) -> tensor<1x3x2xf32> loc("y2")
  %s3 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 6], ends = [1, 3, 8], steps = [1, 1, 1], axes = []} : (tensor<1x3x8xf32>, none, none, none) -> tensor<1x3x2xf32> loc("s3")
  %y3 = "top.Tanh"(%s3) : (tensor<1x3x2xf32>) -> tensor<1x3x2xf32> loc("y3")
  %y = "top.Concat"(%y0, %y1, %y2, %y3) {axis = 2 : si32} : (tensor<1x3x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>) -> tensor<1x3x8xf32> loc("y")
  return %y : tensor<1x3x8xf32>
}

// CHECK-LABEL: func.func @wide
// CHECK-COUNT-4: top.Tanh
// CHECK: "top.Concat"
