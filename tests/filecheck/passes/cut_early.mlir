// RUN: tpu-opt %s --split-input-file --shape-infer --cut-early --no-locations | filecheck %s

// The last layers of a classifier on a class token: one row of 197, of the residual, too.
// CHECK-LABEL: func.func @class_token
// CHECK: [[H:%.+]] = "top.Slice"({{.*}}ends = [9223372036854775807, 1, 9223372036854775807]{{.*}}-> tensor<1x1x32xf32>
// CHECK-NEXT: [[M:%.+]] = "top.MatMul"([[H]], {{.*}}-> tensor<1x1x8xf32>
// CHECK-NEXT: [[R:%.+]] = "top.Slice"({{.*}}-> tensor<1x1x8xf32>
// CHECK-NEXT: [[A:%.+]] = "top.Add"([[R]], [[M]]){{.*}}-> tensor<1x1x8xf32>
// CHECK-NEXT: [[S:%.+]] = "top.Squeeze"([[A]])
// CHECK-NEXT: return [[S]]
func.func @class_token(%h: tensor<1x197x32xf32>, %r: tensor<1x197x8xf32>, %w: tensor<32x8xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %m = "top.MatMul"(%h, %w, %n) : (tensor<1x197x32xf32>, tensor<32x8xf32>, none) -> tensor<*xf32> loc("m")
  %a = "top.Add"(%r, %m) : (tensor<1x197x8xf32>, tensor<*xf32>) -> tensor<*xf32> loc("a")
  %s = "top.Slice"(%a, %n, %n, %n) {axes = [], offset = [0, 0, 0], ends = [1, 1, 8], steps = [1, 1, 1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("s")
  %y = "top.Squeeze"(%s) {axes = [1]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// Rows of scores are those of the queries; the keys are needed whole.
// CHECK-LABEL: func.func @attention
// CHECK: [[Q:%.+]] = "top.Slice"({{.*}}-> tensor<1x2x1x4xf32>
// CHECK-NEXT: [[S:%.+]] = "top.MatMul"([[Q]], {{.*}}-> tensor<1x2x1x10xf32>
// CHECK-NEXT: [[P:%.+]] = "top.Softmax"([[S]])
// CHECK-NEXT: [[O:%.+]] = "top.MatMul"([[P]], {{.*}}-> tensor<1x2x1x4xf32>
// CHECK-NEXT: [[T:%.+]] = "top.Permute"([[O]]){{.*}}-> tensor<1x1x2x4xf32>
// CHECK-NEXT: [[Y:%.+]] = "top.Reshape"([[T]]){{.*}}-> tensor<1x1x8xf32>
// CHECK-NEXT: return [[Y]]
func.func @attention(%q: tensor<1x2x10x4xf32>, %k: tensor<1x2x4x10xf32>, %v: tensor<1x2x10x4xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %s = "top.MatMul"(%q, %k, %n) : (tensor<1x2x10x4xf32>, tensor<1x2x4x10xf32>, none) -> tensor<*xf32> loc("s")
  %p = "top.Softmax"(%s) {axis = 3 : si32} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  %o = "top.MatMul"(%p, %v, %n) : (tensor<*xf32>, tensor<1x2x10x4xf32>, none) -> tensor<*xf32> loc("o")
  %t = "top.Permute"(%o) {order = [0, 2, 1, 3]} : (tensor<*xf32>) -> tensor<*xf32> loc("t")
  %f = "top.Reshape"(%t) {shape = [1, 10, 8]} : (tensor<*xf32>) -> tensor<*xf32> loc("f")
  %y = "top.Slice"(%f, %n, %n, %n) {axes = [], offset = [0, 9, 0], ends = [1, 10, 8], steps = [1, 1, 1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// Two tokens of heads of their own: both rows, and each Slice its one.
// CHECK-LABEL: func.func @two_tokens
// CHECK: [[M:%.+]] = "top.MatMul"({{.*}}-> tensor<1x2x8xf32>
// CHECK-NEXT: "top.Slice"([[M]], {{.*}}offset = [0, 0, 0]{{.*}}-> tensor<1x1x8xf32>
// CHECK-NEXT: "top.Slice"([[M]], {{.*}}offset = [0, 1, 0]{{.*}}-> tensor<1x1x8xf32>
func.func @two_tokens(%h: tensor<1x9x32xf32>, %w: tensor<32x8xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %n = "top.None"() : () -> none
  %m = "top.MatMul"(%h, %w, %n) : (tensor<1x9x32xf32>, tensor<32x8xf32>, none) -> tensor<*xf32> loc("m")
  %y = "top.Slice"(%m, %n, %n, %n) {axes = [], offset = [0, 0, 0], ends = [1, 1, 8], steps = [1, 1, 1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("y")
  %z = "top.Slice"(%m, %n, %n, %n) {axes = [], offset = [0, 1, 0], ends = [1, 2, 8], steps = [1, 1, 1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("z")
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// -----

// More than half of the rows are left.
// CHECK-LABEL: func.func @most
// CHECK: "top.MatMul"({{.*}}-> tensor<1x9x8xf32>
func.func @most(%h: tensor<1x9x32xf32>, %w: tensor<32x8xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %m = "top.MatMul"(%h, %w, %n) : (tensor<1x9x32xf32>, tensor<32x8xf32>, none) -> tensor<*xf32> loc("m")
  %y = "top.Slice"(%m, %n, %n, %n) {axes = [], offset = [0, 0, 0], ends = [1, 5, 8], steps = [1, 1, 1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// Half of them.
// CHECK-LABEL: func.func @half
// CHECK: "top.MatMul"({{.*}}-> tensor<1x4x8xf32>
func.func @half(%h: tensor<1x8x32xf32>, %w: tensor<32x8xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %m = "top.MatMul"(%h, %w, %n) : (tensor<1x8x32xf32>, tensor<32x8xf32>, none) -> tensor<*xf32> loc("m")
  %y = "top.Slice"(%m, %n, %n, %n) {axes = [], offset = [0, 0, 0], ends = [1, 4, 8], steps = [1, 1, 1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// All rows are results as well.
// CHECK-LABEL: func.func @returned
// CHECK: "top.MatMul"({{.*}}-> tensor<1x9x8xf32>
func.func @returned(%h: tensor<1x9x32xf32>, %w: tensor<32x8xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %n = "top.None"() : () -> none
  %m = "top.MatMul"(%h, %w, %n) : (tensor<1x9x32xf32>, tensor<32x8xf32>, none) -> tensor<*xf32> loc("m")
  %y = "top.Slice"(%m, %n, %n, %n) {axes = [], offset = [0, 0, 0], ends = [1, 1, 8], steps = [1, 1, 1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("y")
  return %m, %y : tensor<*xf32>, tensor<*xf32>
}

// -----

// The softmax is along the dimension that is cut; nothing but it could be cut early.
// CHECK-LABEL: func.func @along
// CHECK: "top.MatMul"({{.*}}-> tensor<1x9x8xf32>
// CHECK-NEXT: "top.Softmax"({{.*}}-> tensor<1x9x8xf32>
func.func @along(%h: tensor<1x9x32xf32>, %w: tensor<32x8xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %m = "top.MatMul"(%h, %w, %n) : (tensor<1x9x32xf32>, tensor<32x8xf32>, none) -> tensor<*xf32> loc("m")
  %p = "top.Softmax"(%m) {axis = 1 : si32} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  %y = "top.Slice"(%p, %n, %n, %n) {axes = [], offset = [0, 0, 0], ends = [1, 1, 8], steps = [1, 1, 1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// Boxes of which TopK chose 3: raw ones and anchors are gathered, and no other box is made.
// CHECK-LABEL: func.func @chosen_boxes
// CHECK: [[R:%.+]] = "top.Gather"(%{{.*}}, %{{.*}}) {axis = 1 : si32{{.*}} : (tensor<1x64x4xf32>, tensor<3xsi32>) -> tensor<1x3x4xf32>
// CHECK-NEXT: [[E:%.+]] = "top.Exp"([[R]])
// CHECK-NEXT: [[A:%.+]] = "top.Gather"(%{{.*}}, %{{.*}}) {axis = 1 : si32{{.*}} : (tensor<1x64x4xf32>, tensor<3xsi32>) -> tensor<1x3x4xf32>
// CHECK-NEXT: [[Y:%.+]] = "top.Mul"([[E]], [[A]]){{.*}} -> tensor<1x3x4xf32>
// CHECK-NEXT: return [[Y]]
func.func @chosen_boxes(%raw: tensor<1x64x4xf32>, %anchors: tensor<1x64x4xf32>, %i: tensor<3xsi32>) -> tensor<*xf32> {
  %e = "top.Exp"(%raw) : (tensor<1x64x4xf32>) -> tensor<*xf32> loc("e")
  %m = "top.Mul"(%e, %anchors) : (tensor<*xf32>, tensor<1x64x4xf32>) -> tensor<*xf32> loc("m")
  %y = "top.Gather"(%m, %i) {axis = 1 : si32} : (tensor<*xf32>, tensor<3xsi32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// 17 of 64 elements of each of two values would be more than half of them.
// CHECK-LABEL: func.func @too_many_boxes
// CHECK: "top.Mul"
// CHECK-NEXT: "top.Gather"
func.func @too_many_boxes(%raw: tensor<1x64x4xf32>, %anchors: tensor<1x64x4xf32>, %i: tensor<17xsi32>) -> tensor<*xf32> {
  %m = "top.Mul"(%raw, %anchors) : (tensor<1x64x4xf32>, tensor<1x64x4xf32>) -> tensor<*xf32> loc("m")
  %y = "top.Gather"(%m, %i) {axis = 1 : si32} : (tensor<*xf32>, tensor<17xsi32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}
