// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --scale-early --no-locations | filecheck %s

// Queries, keys and values of one product: the columns of the queries are multiplied.
// CHECK-LABEL: func.func @joint
// CHECK: [[W:%.*]] = "top.Weight"() : () -> tensor<64x64xf32>
// CHECK-NEXT: [[P:%.*]] = "top.MatMul"({{%.*}}, [[W]], {{.*}} -> tensor<1x5x64xf32>
// CHECK-NOT: top.MulConst
// CHECK: [[S:%.*]] = "top.MatMul"
// CHECK-NEXT: "top.Softmax"([[S]])
func.func @joint(%arg: tensor<1x5x64xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg) : (tensor<1x5x64xf32>) -> tensor<1x5x64xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<64x64xf32> loc("random_64x64")
  %p = "top.MatMul"(%x, %w, %n) : (tensor<1x5x64xf32>, tensor<64x64xf32>, none) -> tensor<*xf32> loc("qkv")
  %q = "top.Slice"(%p, %n, %n, %n) {axes = [2], offset = [0], ends = [16], steps = [1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("q")
  %k = "top.Slice"(%p, %n, %n, %n) {axes = [2], offset = [16], ends = [32], steps = [1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("k")
  %v = "top.Slice"(%p, %n, %n, %n) {axes = [2], offset = [32], ends = [64], steps = [1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("v")
  %t = "top.Permute"(%k) {order = [0, 2, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("t")
  %s = "top.MatMul"(%q, %t, %n) : (tensor<*xf32>, tensor<*xf32>, none) -> tensor<*xf32> loc("s")
  %m = "top.MulConst"(%s) {const_val = 0.25 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("m")
  %a = "top.Softmax"(%m) {axis = 2 : si32} : (tensor<*xf32>) -> tensor<*xf32> loc("a")
  %y = "top.MatMul"(%a, %v, %n) : (tensor<*xf32>, tensor<*xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// No weights take the factor in: the smaller operand is multiplied.
// CHECK-LABEL: func.func @smaller
// CHECK: [[K:%.*]] = "top.Input"({{.*}} -> tensor<1x16x80xf32>
// CHECK: [[M:%.*]] = "top.MulConst"([[K]]) {const_val = 1.250000e-01 : f64
// CHECK-NEXT: [[Y:%.*]] = "top.MatMul"({{%.*}}, [[M]], {{.*}} -> tensor<1x90x80xf32>
// CHECK-NEXT: "top.Softmax"([[Y]])
func.func @smaller(%arg_q: tensor<1x90x16xf32>, %arg_k: tensor<1x16x80xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %q = "top.Input"(%arg_q) : (tensor<1x90x16xf32>) -> tensor<1x90x16xf32> loc("q")
  %k = "top.Input"(%arg_k) : (tensor<1x16x80xf32>) -> tensor<1x16x80xf32> loc("k")
  %s = "top.MatMul"(%q, %k, %n) : (tensor<1x90x16xf32>, tensor<1x16x80xf32>, none) -> tensor<*xf32> loc("s")
  %m = "top.MulConst"(%s) {const_val = 0.125 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("m")
  %a = "top.Softmax"(%m) {axis = 2 : si32} : (tensor<*xf32>) -> tensor<*xf32> loc("a")
  return %a : tensor<*xf32>
}

// -----

// Products that no Softmax reads keep their factor.
// CHECK-LABEL: func.func @no_scores
// CHECK: "top.MatMul"
// CHECK-NEXT: "top.MulConst"
func.func @no_scores(%arg_q: tensor<1x90x16xf32>, %arg_k: tensor<1x16x80xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %q = "top.Input"(%arg_q) : (tensor<1x90x16xf32>) -> tensor<1x90x16xf32> loc("q")
  %k = "top.Input"(%arg_k) : (tensor<1x16x80xf32>) -> tensor<1x16x80xf32> loc("k")
  %s = "top.MatMul"(%q, %k, %n) : (tensor<1x90x16xf32>, tensor<1x16x80xf32>, none) -> tensor<*xf32> loc("s")
  %m = "top.MulConst"(%s) {const_val = 0.125 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("m")
  return %m : tensor<*xf32>
}

// -----

// As many scores as elements of an operand: the factor stays.
// CHECK-LABEL: func.func @as_many
// CHECK: "top.MatMul"
// CHECK-NEXT: "top.MulConst"
func.func @as_many(%arg_q: tensor<1x80x16xf32>, %arg_k: tensor<1x16x16xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %q = "top.Input"(%arg_q) : (tensor<1x80x16xf32>) -> tensor<1x80x16xf32> loc("q")
  %k = "top.Input"(%arg_k) : (tensor<1x16x16xf32>) -> tensor<1x16x16xf32> loc("k")
  %p = "top.Permute"(%q) {order = [0, 2, 1]} : (tensor<1x80x16xf32>) -> tensor<*xf32> loc("p")
  %s = "top.MatMul"(%p, %q, %n) : (tensor<*xf32>, tensor<1x80x16xf32>, none) -> tensor<*xf32> loc("s")
  %m = "top.MulConst"(%s) {const_val = 0.125 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("m")
  %y = "top.Add"(%m, %k) : (tensor<*xf32>, tensor<1x16x16xf32>) -> tensor<*xf32> loc("y")
  %a = "top.Softmax"(%y) {axis = 2 : si32} : (tensor<*xf32>) -> tensor<*xf32> loc("a")
  return %a : tensor<*xf32>
}

// -----

// A mask between product and factor is multiplied, too.
// CHECK-LABEL: func.func @masked
// CHECK: "top.MatMul"
// CHECK-NEXT: "top.Add"
// CHECK-NEXT: "top.MulConst"
func.func @masked(%arg_q: tensor<1x90x16xf32>, %arg_k: tensor<1x16x80xf32>, %arg_m: tensor<1x90x80xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %q = "top.Input"(%arg_q) : (tensor<1x90x16xf32>) -> tensor<1x90x16xf32> loc("q")
  %k = "top.Input"(%arg_k) : (tensor<1x16x80xf32>) -> tensor<1x16x80xf32> loc("k")
  %b = "top.Input"(%arg_m) : (tensor<1x90x80xf32>) -> tensor<1x90x80xf32> loc("b")
  %s = "top.MatMul"(%q, %k, %n) : (tensor<1x90x16xf32>, tensor<1x16x80xf32>, none) -> tensor<*xf32> loc("s")
  %a = "top.Add"(%s, %b) : (tensor<*xf32>, tensor<1x90x80xf32>) -> tensor<*xf32> loc("a")
  %m = "top.MulConst"(%a) {const_val = 0.125 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("m")
  %y = "top.Softmax"(%m) {axis = 2 : si32} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}
