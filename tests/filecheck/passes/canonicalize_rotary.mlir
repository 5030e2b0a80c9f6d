// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --canonicalize --no-locations | filecheck %s

// Rotary embeddings that are spelled out.

// Halves of rows are the pairs; tokens come in front of heads for the op, and go back behind them.
func.func @halves(%arg_x: tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> loc("x")
  %c = "top.Weight"() : () -> tensor<1x1x2x4xf32> loc("random_1x8")
  %s = "top.Weight"() : () -> tensor<1x1x2x4xf32> loc("random_8")
  %a = "top.Mul"(%x, %c) : (tensor<1x3x2x4xf32>, tensor<1x1x2x4xf32>) -> tensor<1x3x2x4xf32> loc("a")
  %h1 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 0, 2], ends = [1, 3, 2, 4], steps = [1, 1, 1, 1], axes = []} : (tensor<1x3x2x4xf32>, none, none, none) -> tensor<1x3x2x2xf32> loc("h1")
  %n = "top.MulConst"(%h1) {const_val = -1.0 : f64} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32> loc("n")
  %h0 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 0, 0], ends = [1, 3, 2, 2], steps = [1, 1, 1, 1], axes = []} : (tensor<1x3x2x4xf32>, none, none, none) -> tensor<1x3x2x2xf32> loc("h0")
  %t = "top.Concat"(%n, %h0) {axis = 3 : si32} : (tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x4xf32> loc("t")
  %b = "top.Mul"(%t, %s) : (tensor<1x3x2x4xf32>, tensor<1x1x2x4xf32>) -> tensor<1x3x2x4xf32> loc("b")
  %y = "top.Add"(%a, %b) : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> loc("y")
  return %y : tensor<1x3x2x4xf32>
}

// CHECK-LABEL: func.func @halves
// CHECK: "top.Permute"({{.*}} : (tensor<1x3x2x4xf32>) -> tensor<1x2x3x4xf32>
// CHECK-NEXT: "top.Rope"({{.*}}rope_mode = "contiguous_halves"{{.*}} : (tensor<1x2x3x4xf32>, tensor<1x2x1x4xf32>, tensor<1x2x1x4xf32>) -> tensor<1x2x3x4xf32>
// CHECK-NEXT: "top.Permute"({{.*}}-> tensor<1x3x2x4xf32>
// CHECK-NEXT: return

// -----

// Halves in their order are no rotation.
func.func @same(%arg_x: tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> loc("x")
  %c = "top.Weight"() : () -> tensor<1x1x2x4xf32> loc("random_1x8")
  %s = "top.Weight"() : () -> tensor<1x1x2x4xf32> loc("random_8")
  %a = "top.Mul"(%x, %c) : (tensor<1x3x2x4xf32>, tensor<1x1x2x4xf32>) -> tensor<1x3x2x4xf32> loc("a")
  %h1 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 0, 2], ends = [1, 3, 2, 4], steps = [1, 1, 1, 1], axes = []} : (tensor<1x3x2x4xf32>, none, none, none) -> tensor<1x3x2x2xf32> loc("h1")
  %h0 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 0, 0], ends = [1, 3, 2, 2], steps = [1, 1, 1, 1], axes = []} : (tensor<1x3x2x4xf32>, none, none, none) -> tensor<1x3x2x2xf32> loc("h0")
  %n = "top.MulConst"(%h0) {const_val = -1.0 : f64} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32> loc("n")
  %t = "top.Concat"(%n, %h1) {axis = 3 : si32} : (tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x4xf32> loc("t")
  %b = "top.Mul"(%t, %s) : (tensor<1x3x2x4xf32>, tensor<1x1x2x4xf32>) -> tensor<1x3x2x4xf32> loc("b")
  %y = "top.Add"(%a, %b) : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> loc("y")
  return %y : tensor<1x3x2x4xf32>
}

// CHECK-LABEL: func.func @same
// CHECK-NOT: top.Rope
// CHECK: "top.Add"

// -----

// Angles that are computed, as in a step of a decoder, which is given its positions.
func.func @computed(%arg_x: tensor<1x3x2x4xf32>, %arg_p: tensor<1x1x2x4xf32>) -> tensor<1x3x2x4xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> loc("x")
  %p = "top.Input"(%arg_p) : (tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32> loc("p")
  %c = "top.Cos"(%p) : (tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32> loc("c")
  %s = "top.Sin"(%p) : (tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32> loc("s")
  %a = "top.Mul"(%x, %c) : (tensor<1x3x2x4xf32>, tensor<1x1x2x4xf32>) -> tensor<1x3x2x4xf32> loc("a")
  %h1 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 0, 2], ends = [1, 3, 2, 4], steps = [1, 1, 1, 1], axes = []} : (tensor<1x3x2x4xf32>, none, none, none) -> tensor<1x3x2x2xf32> loc("h1")
  %n = "top.MulConst"(%h1) {const_val = -1.0 : f64} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32> loc("n")
  %h0 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 0, 0], ends = [1, 3, 2, 2], steps = [1, 1, 1, 1], axes = []} : (tensor<1x3x2x4xf32>, none, none, none) -> tensor<1x3x2x2xf32> loc("h0")
  %t = "top.Concat"(%n, %h0) {axis = 3 : si32} : (tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x4xf32> loc("t")
  %b = "top.Mul"(%s, %t) : (tensor<1x1x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> loc("b")
  %y = "top.Add"(%a, %b) : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> loc("y")
  return %y : tensor<1x3x2x4xf32>
}

// CHECK-LABEL: func.func @computed
// CHECK-DAG: %[[C:.*]] = "top.Cos"
// CHECK-DAG: %[[S:.*]] = "top.Sin"
// CHECK-DAG: "top.Reshape"(%[[S]]) {{.*}}-> tensor<1x2x1x4xf32>
// CHECK-DAG: "top.Reshape"(%[[C]]) {{.*}}-> tensor<1x2x1x4xf32>
// CHECK: "top.Rope"({{.*}}rope_mode = "contiguous_halves"{{.*}} : (tensor<1x2x3x4xf32>, tensor<1x2x1x4xf32>, tensor<1x2x1x4xf32>)
// CHECK-NOT: top.Add

// -----

// One batch of angles for two of values: the op has no such form.
func.func @one_for_two(%arg_x: tensor<2x3x2x4xf32>, %arg_p: tensor<1x1x2x4xf32>) -> tensor<2x3x2x4xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x3x2x4xf32>) -> tensor<2x3x2x4xf32> loc("x")
  %p = "top.Input"(%arg_p) : (tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32> loc("p")
  %c = "top.Cos"(%p) : (tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32> loc("c")
  %s = "top.Sin"(%p) : (tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32> loc("s")
  %a = "top.Mul"(%x, %c) : (tensor<2x3x2x4xf32>, tensor<1x1x2x4xf32>) -> tensor<2x3x2x4xf32> loc("a")
  %h1 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 0, 2], ends = [2, 3, 2, 4], steps = [1, 1, 1, 1], axes = []} : (tensor<2x3x2x4xf32>, none, none, none) -> tensor<2x3x2x2xf32> loc("h1")
  %n = "top.MulConst"(%h1) {const_val = -1.0 : f64} : (tensor<2x3x2x2xf32>) -> tensor<2x3x2x2xf32> loc("n")
  %h0 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 0, 0], ends = [2, 3, 2, 2], steps = [1, 1, 1, 1], axes = []} : (tensor<2x3x2x4xf32>, none, none, none) -> tensor<2x3x2x2xf32> loc("h0")
  %t = "top.Concat"(%n, %h0) {axis = 3 : si32} : (tensor<2x3x2x2xf32>, tensor<2x3x2x2xf32>) -> tensor<2x3x2x4xf32> loc("t")
  %b = "top.Mul"(%t, %s) : (tensor<2x3x2x4xf32>, tensor<1x1x2x4xf32>) -> tensor<2x3x2x4xf32> loc("b")
  %y = "top.Add"(%a, %b) : (tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>) -> tensor<2x3x2x4xf32> loc("y")
  return %y : tensor<2x3x2x4xf32>
}

// CHECK-LABEL: func.func @one_for_two
// CHECK-NOT: top.Rope
// CHECK: "top.Add"

// -----

// Pairs that have an axis of their own.
func.func @unbound(%arg_x: tensor<1x3x2x4xf32>, %arg_p: tensor<1x1x2x4xf32>) -> tensor<1x3x2x4xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> loc("x")
  %p = "top.Input"(%arg_p) : (tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32> loc("p")
  %c = "top.Cos"(%p) : (tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32> loc("c")
  %s = "top.Sin"(%p) : (tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32> loc("s")
  %a = "top.Mul"(%x, %c) : (tensor<1x3x2x4xf32>, tensor<1x1x2x4xf32>) -> tensor<1x3x2x4xf32> loc("a")
  %q = "top.Reshape"(%x) {shape = [1, 3, 2, 2, 2]} : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x2x2xf32> loc("q")
  %h1 = "top.Slice"(%q, %none, %none, %none) {offset = [0, 0, 0, 0, 1], ends = [1, 3, 2, 2, 2], steps = [1, 1, 1, 1, 1], axes = []} : (tensor<1x3x2x2x2xf32>, none, none, none) -> tensor<1x3x2x2x1xf32> loc("h1")
  %n = "top.MulConst"(%h1) {const_val = -1.0 : f64} : (tensor<1x3x2x2x1xf32>) -> tensor<1x3x2x2x1xf32> loc("n")
  %h0 = "top.Slice"(%q, %none, %none, %none) {offset = [0, 0, 0, 0, 0], ends = [1, 3, 2, 2, 1], steps = [1, 1, 1, 1, 1], axes = []} : (tensor<1x3x2x2x2xf32>, none, none, none) -> tensor<1x3x2x2x1xf32> loc("h0")
  %u = "top.Concat"(%n, %h0) {axis = 4 : si32} : (tensor<1x3x2x2x1xf32>, tensor<1x3x2x2x1xf32>) -> tensor<1x3x2x2x2xf32> loc("u")
  %t = "top.Reshape"(%u) {shape = [1, 3, 2, 4]} : (tensor<1x3x2x2x2xf32>) -> tensor<1x3x2x4xf32> loc("t")
  %b = "top.Mul"(%t, %s) : (tensor<1x3x2x4xf32>, tensor<1x1x2x4xf32>) -> tensor<1x3x2x4xf32> loc("b")
  %y = "top.Add"(%a, %b) : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> loc("y")
  return %y : tensor<1x3x2x4xf32>
}

// CHECK-LABEL: func.func @unbound
// CHECK: "top.Rope"({{.*}}rope_mode = "interleaved_pairs"{{.*}} : (tensor<1x2x3x4xf32>, tensor<1x2x1x4xf32>, tensor<1x2x1x4xf32>)
// CHECK-NOT: top.Add

// -----

// The even one of each pair is negated, and stays in front.
func.func @even_negated(%arg_x: tensor<1x3x2x4xf32>, %arg_p: tensor<1x1x2x4xf32>) -> tensor<1x3x2x4xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> loc("x")
  %p = "top.Input"(%arg_p) : (tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32> loc("p")
  %c = "top.Cos"(%p) : (tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32> loc("c")
  %s = "top.Sin"(%p) : (tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32> loc("s")
  %a = "top.Mul"(%x, %c) : (tensor<1x3x2x4xf32>, tensor<1x1x2x4xf32>) -> tensor<1x3x2x4xf32> loc("a")
  %q = "top.Reshape"(%x) {shape = [1, 3, 2, 2, 2]} : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x2x2xf32> loc("q")
  %h1 = "top.Slice"(%q, %none, %none, %none) {offset = [0, 0, 0, 0, 0], ends = [1, 3, 2, 2, 1], steps = [1, 1, 1, 1, 1], axes = []} : (tensor<1x3x2x2x2xf32>, none, none, none) -> tensor<1x3x2x2x1xf32> loc("h1")
  %n = "top.MulConst"(%h1) {const_val = -1.0 : f64} : (tensor<1x3x2x2x1xf32>) -> tensor<1x3x2x2x1xf32> loc("n")
  %h0 = "top.Slice"(%q, %none, %none, %none) {offset = [0, 0, 0, 0, 1], ends = [1, 3, 2, 2, 2], steps = [1, 1, 1, 1, 1], axes = []} : (tensor<1x3x2x2x2xf32>, none, none, none) -> tensor<1x3x2x2x1xf32> loc("h0")
  %u = "top.Concat"(%n, %h0) {axis = 4 : si32} : (tensor<1x3x2x2x1xf32>, tensor<1x3x2x2x1xf32>) -> tensor<1x3x2x2x2xf32> loc("u")
  %t = "top.Reshape"(%u) {shape = [1, 3, 2, 4]} : (tensor<1x3x2x2x2xf32>) -> tensor<1x3x2x4xf32> loc("t")
  %b = "top.Mul"(%t, %s) : (tensor<1x3x2x4xf32>, tensor<1x1x2x4xf32>) -> tensor<1x3x2x4xf32> loc("b")
  %y = "top.Add"(%a, %b) : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> loc("y")
  return %y : tensor<1x3x2x4xf32>
}

// CHECK-LABEL: func.func @even_negated
// CHECK-NOT: top.Rope
// CHECK: "top.Add"

// -----

// Each half rotated by itself, and both joined.
func.func @parts(%arg_x: tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> loc("x")
  %c = "top.Weight"() : () -> tensor<1x1x2x2xf32> loc("random_4")
  %s = "top.Weight"() : () -> tensor<1x1x2x2xf32> loc("steps_4")
  %h0 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 0, 0], ends = [1, 3, 2, 2], steps = [1, 1, 1, 1], axes = []} : (tensor<1x3x2x4xf32>, none, none, none) -> tensor<1x3x2x2xf32> loc("h0")
  %h1 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 0, 2], ends = [1, 3, 2, 4], steps = [1, 1, 1, 1], axes = []} : (tensor<1x3x2x4xf32>, none, none, none) -> tensor<1x3x2x2xf32> loc("h1")
  %a = "top.Mul"(%h0, %c) : (tensor<1x3x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x3x2x2xf32> loc("a")
  %b = "top.Mul"(%h1, %s) : (tensor<1x3x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x3x2x2xf32> loc("b")
  %l = "top.Sub"(%a, %b) : (tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32> loc("l")
  %d = "top.Mul"(%h1, %c) : (tensor<1x3x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x3x2x2xf32> loc("d")
  %e = "top.Mul"(%h0, %s) : (tensor<1x3x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x3x2x2xf32> loc("e")
  %m = "top.Add"(%d, %e) : (tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32> loc("m")
  %y = "top.Concat"(%l, %m) {axis = 3 : si32} : (tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x4xf32> loc("y")
  return %y : tensor<1x3x2x4xf32>
}

// CHECK-LABEL: func.func @parts
// CHECK: "top.Permute"({{.*}} : (tensor<1x3x2x4xf32>) -> tensor<1x2x3x4xf32>
// CHECK-NEXT: "top.Rope"({{.*}}rope_mode = "contiguous_halves"{{.*}} : (tensor<1x2x3x4xf32>, tensor<1x2x1x4xf32>, tensor<1x2x1x4xf32>) -> tensor<1x2x3x4xf32>
// CHECK-NEXT: "top.Permute"({{.*}}-> tensor<1x3x2x4xf32>
// CHECK-NEXT: return

// -----

// Halves that are joined the other way round are no rotation.
func.func @parts_turned(%arg_x: tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> loc("x")
  %c = "top.Weight"() : () -> tensor<1x1x2x2xf32> loc("random_4")
  %s = "top.Weight"() : () -> tensor<1x1x2x2xf32> loc("steps_4")
  %h0 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 0, 0], ends = [1, 3, 2, 2], steps = [1, 1, 1, 1], axes = []} : (tensor<1x3x2x4xf32>, none, none, none) -> tensor<1x3x2x2xf32> loc("h0")
  %h1 = "top.Slice"(%x, %none, %none, %none) {offset = [0, 0, 0, 2], ends = [1, 3, 2, 4], steps = [1, 1, 1, 1], axes = []} : (tensor<1x3x2x4xf32>, none, none, none) -> tensor<1x3x2x2xf32> loc("h1")
  %a = "top.Mul"(%h0, %c) : (tensor<1x3x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x3x2x2xf32> loc("a")
  %b = "top.Mul"(%h1, %s) : (tensor<1x3x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x3x2x2xf32> loc("b")
  %l = "top.Sub"(%a, %b) : (tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32> loc("l")
  %d = "top.Mul"(%h1, %c) : (tensor<1x3x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x3x2x2xf32> loc("d")
  %e = "top.Mul"(%h0, %s) : (tensor<1x3x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x3x2x2xf32> loc("e")
  %m = "top.Add"(%d, %e) : (tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32> loc("m")
  %y = "top.Concat"(%m, %l) {axis = 3 : si32} : (tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x4xf32> loc("y")
  return %y : tensor<1x3x2x4xf32>
}

// CHECK-LABEL: func.func @parts_turned
// CHECK-NOT: top.Rope
// CHECK: return
