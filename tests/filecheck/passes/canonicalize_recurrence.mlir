// RUN: tpu-opt %s --split-input-file --canonicalize --no-locations | filecheck %s

// Recurrences that were unrolled: h_0 = b_0, h_t = a_t * h_(t-1) + b_t.

// All states of four steps, in the order of the steps.
func.func @states(%arg_a: tensor<1x3x4xf32>, %arg_b: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  %none = "top.None"() : () -> none
  %a = "top.Input"(%arg_a) : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32> loc("a")
  %b = "top.Input"(%arg_b) : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32> loc("b")
  %b0s = "top.Slice"(%b, %none, %none, %none) {offset = [0, 0, 0], ends = [1, 3, 1], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("b0s")
  %b0 = "top.Squeeze"(%b0s) {axes = [2]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("b0")
  %a1s = "top.Slice"(%a, %none, %none, %none) {offset = [0, 0, 1], ends = [1, 3, 2], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("a1s")
  %a1 = "top.Squeeze"(%a1s) {axes = [2]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("a1")
  %b1s = "top.Slice"(%b, %none, %none, %none) {offset = [0, 0, 1], ends = [1, 3, 2], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("b1s")
  %b1 = "top.Squeeze"(%b1s) {axes = [2]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("b1")
  %m1 = "top.Mul"(%a1, %b0) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("m1")
  %h1 = "top.Add"(%m1, %b1) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("h1")
  %a2s = "top.Slice"(%a, %none, %none, %none) {offset = [0, 0, 2], ends = [1, 3, 3], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("a2s")
  %a2 = "top.Squeeze"(%a2s) {axes = [2]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("a2")
  %b2s = "top.Slice"(%b, %none, %none, %none) {offset = [0, 0, 2], ends = [1, 3, 3], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("b2s")
  %b2 = "top.Squeeze"(%b2s) {axes = [2]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("b2")
  %m2 = "top.Mul"(%a2, %h1) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("m2")
  %h2 = "top.Add"(%m2, %b2) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("h2")
  %a3s = "top.Slice"(%a, %none, %none, %none) {offset = [0, 0, 3], ends = [1, 3, 4], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("a3s")
  %a3 = "top.Squeeze"(%a3s) {axes = [2]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("a3")
  %b3s = "top.Slice"(%b, %none, %none, %none) {offset = [0, 0, 3], ends = [1, 3, 4], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("b3s")
  %b3 = "top.Squeeze"(%b3s) {axes = [2]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("b3")
  %m3 = "top.Mul"(%a3, %h2) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("m3")
  %h3 = "top.Add"(%m3, %b3) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("h3")
  %u0 = "top.Unsqueeze"(%b0) {axes = [2]} : (tensor<1x3xf32>) -> tensor<1x3x1xf32> loc("u0")
  %u1 = "top.Unsqueeze"(%h1) {axes = [2]} : (tensor<1x3xf32>) -> tensor<1x3x1xf32> loc("u1")
  %u2 = "top.Unsqueeze"(%h2) {axes = [2]} : (tensor<1x3xf32>) -> tensor<1x3x1xf32> loc("u2")
  %u3 = "top.Unsqueeze"(%h3) {axes = [2]} : (tensor<1x3xf32>) -> tensor<1x3x1xf32> loc("u3")
  %y = "top.Concat"(%u0, %u1, %u2, %u3) {axis = 2 : si32} : (tensor<1x3x1xf32>, tensor<1x3x1xf32>, tensor<1x3x1xf32>, tensor<1x3x1xf32>) -> tensor<1x3x4xf32> loc("y")
  return %y : tensor<1x3x4xf32>
}

// CHECK-LABEL: func.func @states
// CHECK: [[A:%.*]] = "top.Input"
// CHECK-NEXT: [[B:%.*]] = "top.Input"
// CHECK-NEXT: [[H:%.*]] = "top.LinearScan"([[A]], [[B]], {{%.*}}) {{.*}}axis = 2{{.*}} : (tensor<1x3x4xf32>, tensor<1x3x4xf32>, none) -> tensor<1x3x4xf32>
// CHECK-NEXT: return [[H]]

// -----

// Three steps are too few.
func.func @three(%arg_a: tensor<1x3x3xf32>, %arg_b: tensor<1x3x3xf32>) -> tensor<1x3x3xf32> {
  %none = "top.None"() : () -> none
  %a = "top.Input"(%arg_a) : (tensor<1x3x3xf32>) -> tensor<1x3x3xf32> loc("a")
  %b = "top.Input"(%arg_b) : (tensor<1x3x3xf32>) -> tensor<1x3x3xf32> loc("b")
  %b0s = "top.Slice"(%b, %none, %none, %none) {offset = [0, 0, 0], ends = [1, 3, 1], steps = [1, 1, 1], axes = []} : (tensor<1x3x3xf32>, none, none, none) -> tensor<1x3x1xf32> loc("b0s")
  %b0 = "top.Squeeze"(%b0s) {axes = [2]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("b0")
  %a1s = "top.Slice"(%a, %none, %none, %none) {offset = [0, 0, 1], ends = [1, 3, 2], steps = [1, 1, 1], axes = []} : (tensor<1x3x3xf32>, none, none, none) -> tensor<1x3x1xf32> loc("a1s")
  %a1 = "top.Squeeze"(%a1s) {axes = [2]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("a1")
  %b1s = "top.Slice"(%b, %none, %none, %none) {offset = [0, 0, 1], ends = [1, 3, 2], steps = [1, 1, 1], axes = []} : (tensor<1x3x3xf32>, none, none, none) -> tensor<1x3x1xf32> loc("b1s")
  %b1 = "top.Squeeze"(%b1s) {axes = [2]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("b1")
  %m1 = "top.Mul"(%a1, %b0) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("m1")
  %h1 = "top.Add"(%m1, %b1) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("h1")
  %a2s = "top.Slice"(%a, %none, %none, %none) {offset = [0, 0, 2], ends = [1, 3, 3], steps = [1, 1, 1], axes = []} : (tensor<1x3x3xf32>, none, none, none) -> tensor<1x3x1xf32> loc("a2s")
  %a2 = "top.Squeeze"(%a2s) {axes = [2]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("a2")
  %b2s = "top.Slice"(%b, %none, %none, %none) {offset = [0, 0, 2], ends = [1, 3, 3], steps = [1, 1, 1], axes = []} : (tensor<1x3x3xf32>, none, none, none) -> tensor<1x3x1xf32> loc("b2s")
  %b2 = "top.Squeeze"(%b2s) {axes = [2]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("b2")
  %m2 = "top.Mul"(%a2, %h1) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("m2")
  %h2 = "top.Add"(%m2, %b2) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("h2")
  %u0 = "top.Unsqueeze"(%b0) {axes = [2]} : (tensor<1x3xf32>) -> tensor<1x3x1xf32> loc("u0")
  %u1 = "top.Unsqueeze"(%h1) {axes = [2]} : (tensor<1x3xf32>) -> tensor<1x3x1xf32> loc("u1")
  %u2 = "top.Unsqueeze"(%h2) {axes = [2]} : (tensor<1x3xf32>) -> tensor<1x3x1xf32> loc("u2")
  %y = "top.Concat"(%u0, %u1, %u2) {axis = 2 : si32} : (tensor<1x3x1xf32>, tensor<1x3x1xf32>, tensor<1x3x1xf32>) -> tensor<1x3x3xf32> loc("y")
  return %y : tensor<1x3x3xf32>
}

// CHECK-LABEL: func.func @three
// CHECK-NOT: LinearScan
// CHECK-COUNT-2: top.Add
// CHECK: "top.Concat"

// -----

// Factors in another order than summands.
func.func @order(%arg_a: tensor<1x3x4xf32>, %arg_b: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  %none = "top.None"() : () -> none
  %a = "top.Input"(%arg_a) : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32> loc("a")
  %b = "top.Input"(%arg_b) : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32> loc("b")
  %b0s = "top.Slice"(%b, %none, %none, %none) {offset = [0, 0, 0], ends = [1, 3, 1], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("b0s")
  %b0 = "top.Squeeze"(%b0s) {axes = [2]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("b0")
  %a1s = "top.Slice"(%a, %none, %none, %none) {offset = [0, 0, 1], ends = [1, 3, 2], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("a1s")
  %a1 = "top.Squeeze"(%a1s) {axes = [2]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("a1")
  %b1s = "top.Slice"(%b, %none, %none, %none) {offset = [0, 0, 1], ends = [1, 3, 2], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("b1s")
  %b1 = "top.Squeeze"(%b1s) {axes = [2]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("b1")
  %m1 = "top.Mul"(%a1, %b0) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("m1")
  %h1 = "top.Add"(%m1, %b1) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("h1")
  %a2s = "top.Slice"(%a, %none, %none, %none) {offset = [0, 0, 3], ends = [1, 3, 4], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("a2s")
  %a2 = "top.Squeeze"(%a2s) {axes = [2]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("a2")
  %b2s = "top.Slice"(%b, %none, %none, %none) {offset = [0, 0, 2], ends = [1, 3, 3], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("b2s")
  %b2 = "top.Squeeze"(%b2s) {axes = [2]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("b2")
  %m2 = "top.Mul"(%a2, %h1) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("m2")
  %h2 = "top.Add"(%m2, %b2) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("h2")
  %a3s = "top.Slice"(%a, %none, %none, %none) {offset = [0, 0, 2], ends = [1, 3, 3], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("a3s")
  %a3 = "top.Squeeze"(%a3s) {axes = [2]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("a3")
  %b3s = "top.Slice"(%b, %none, %none, %none) {offset = [0, 0, 3], ends = [1, 3, 4], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x3x1xf32> loc("b3s")
  %b3 = "top.Squeeze"(%b3s) {axes = [2]} : (tensor<1x3x1xf32>) -> tensor<1x3xf32> loc("b3")
  %m3 = "top.Mul"(%a3, %h2) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("m3")
  %h3 = "top.Add"(%m3, %b3) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("h3")
  %u0 = "top.Unsqueeze"(%b0) {axes = [2]} : (tensor<1x3xf32>) -> tensor<1x3x1xf32> loc("u0")
  %u1 = "top.Unsqueeze"(%h1) {axes = [2]} : (tensor<1x3xf32>) -> tensor<1x3x1xf32> loc("u1")
  %u2 = "top.Unsqueeze"(%h2) {axes = [2]} : (tensor<1x3xf32>) -> tensor<1x3x1xf32> loc("u2")
  %u3 = "top.Unsqueeze"(%h3) {axes = [2]} : (tensor<1x3xf32>) -> tensor<1x3x1xf32> loc("u3")
  %y = "top.Concat"(%u0, %u1, %u2, %u3) {axis = 2 : si32} : (tensor<1x3x1xf32>, tensor<1x3x1xf32>, tensor<1x3x1xf32>, tensor<1x3x1xf32>) -> tensor<1x3x4xf32> loc("y")
  return %y : tensor<1x3x4xf32>
}

// CHECK-LABEL: func.func @order
// CHECK-NOT: LinearScan
// CHECK-COUNT-3: top.Add
// CHECK: "top.Concat"
