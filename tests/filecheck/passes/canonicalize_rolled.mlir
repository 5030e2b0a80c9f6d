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

// -----

// Steps are columns of one operand and rows of the other, which is transposed once.
func.func @rows_and_columns(%arg_x: tensor<1x3x4xf32>, %arg_z: tensor<1x4x3xf32>) -> tensor<1x3x4xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<1x4x3xf32>) -> tensor<1x4x3xf32> loc("z")
  %a0 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 0], ends = [1, 3, 1], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("a0")
  %ar0 = "top.Reshape"(%a0) {shape = [1, 3]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("ar0")
  %b0 = "top.Slice"(%z, %none, %none, %none) {offset = [0, 0, 0], ends = [1, 1, 3], steps = [1, 1, 1], axes = []} : (tensor<1x4x3xf32>, none, none, none) -> tensor<1x1x3xf32> loc("b0")
  %br0 = "top.Reshape"(%b0) {shape = [1, 3]} : (tensor<1x1x3xf32>) -> tensor<1x3xf32> loc("br0")
  %m0 = "top.Mul"(%ar0, %br0) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("m0")
  %u0 = "top.Reshape"(%m0) {shape = [1, 3, 1]} : (tensor<1x3xf32>) -> tensor<1x3x1xf32> loc("u0")
  %a1 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 1], ends = [1, 3, 2], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("a1")
  %ar1 = "top.Reshape"(%a1) {shape = [1, 3]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("ar1")
  %b1 = "top.Slice"(%z, %none, %none, %none) {offset = [0, 1, 0], ends = [1, 2, 3], steps = [1, 1, 1], axes = []} : (tensor<1x4x3xf32>, none, none, none) -> tensor<1x1x3xf32> loc("b1")
  %br1 = "top.Reshape"(%b1) {shape = [1, 3]} : (tensor<1x1x3xf32>) -> tensor<1x3xf32> loc("br1")
  %m1 = "top.Mul"(%ar1, %br1) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("m1")
  %u1 = "top.Reshape"(%m1) {shape = [1, 3, 1]} : (tensor<1x3xf32>) -> tensor<1x3x1xf32> loc("u1")
  %a2 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 2], ends = [1, 3, 3], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("a2")
  %ar2 = "top.Reshape"(%a2) {shape = [1, 3]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("ar2")
  %b2 = "top.Slice"(%z, %none, %none, %none) {offset = [0, 2, 0], ends = [1, 3, 3], steps = [1, 1, 1], axes = []} : (tensor<1x4x3xf32>, none, none, none) -> tensor<1x1x3xf32> loc("b2")
  %br2 = "top.Reshape"(%b2) {shape = [1, 3]} : (tensor<1x1x3xf32>) -> tensor<1x3xf32> loc("br2")
  %m2 = "top.Mul"(%ar2, %br2) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("m2")
  %u2 = "top.Reshape"(%m2) {shape = [1, 3, 1]} : (tensor<1x3xf32>) -> tensor<1x3x1xf32> loc("u2")
  %a3 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 3], ends = [1, 3, 4], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("a3")
  %ar3 = "top.Reshape"(%a3) {shape = [1, 3]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("ar3")
  %b3 = "top.Slice"(%z, %none, %none, %none) {offset = [0, 3, 0], ends = [1, 4, 3], steps = [1, 1, 1], axes = []} : (tensor<1x4x3xf32>, none, none, none) -> tensor<1x1x3xf32> loc("b3")
  %br3 = "top.Reshape"(%b3) {shape = [1, 3]} : (tensor<1x1x3xf32>) -> tensor<1x3xf32> loc("br3")
  %m3 = "top.Mul"(%ar3, %br3) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("m3")
  %u3 = "top.Reshape"(%m3) {shape = [1, 3, 1]} : (tensor<1x3xf32>) -> tensor<1x3x1xf32> loc("u3")
  %y = "top.Concat"(%u0, %u1, %u2, %u3) {axis = 2 : si32} : (tensor<1x3x1xf32>, tensor<1x3x1xf32>, tensor<1x3x1xf32>, tensor<1x3x1xf32>) -> tensor<1x3x4xf32> loc("y")
  return %y : tensor<1x3x4xf32>
}

// CHECK-LABEL: func.func @rows_and_columns
// CHECK: [[X:%.*]] = "top.Input"
// CHECK-NEXT: [[Z:%.*]] = "top.Input"
// CHECK-NEXT: [[T:%.*]] = "top.Permute"([[Z]]) {order = [0, 2, 1]}
// CHECK-NEXT: [[Y:%.*]] = "top.Mul"([[X]], [[T]])
// CHECK-NEXT: return [[Y]] : tensor<1x3x4xf32>
