// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --canonicalize --no-locations | filecheck %s

// A number for each row and one for each column of the keys: further columns of the queries, and
// ones in the keys.
func.func @image(%arg_q: tensor<2x1024x8xf32>, %arg_k: tensor<2x8x1024xf32>, %arg_r: tensor<2x1024x32x1xf32>, %arg_c: tensor<2x1024x1x32xf32>) -> tensor<2x1024x1024xf32> {
  %none = "top.None"() : () -> none
  %q = "top.Input"(%arg_q) : (tensor<2x1024x8xf32>) -> tensor<2x1024x8xf32> loc("q")
  %k = "top.Input"(%arg_k) : (tensor<2x8x1024xf32>) -> tensor<2x8x1024xf32> loc("k")
  %r = "top.Input"(%arg_r) : (tensor<2x1024x32x1xf32>) -> tensor<2x1024x32x1xf32> loc("r")
  %c = "top.Input"(%arg_c) : (tensor<2x1024x1x32xf32>) -> tensor<2x1024x1x32xf32> loc("c")
  %s = "top.MatMul"(%q, %k, %none) : (tensor<2x1024x8xf32>, tensor<2x8x1024xf32>, none) -> tensor<2x1024x1024xf32> loc("s")
  %i = "top.Reshape"(%s) : (tensor<2x1024x1024xf32>) -> tensor<2x1024x32x32xf32> loc("i")
  %a = "top.Add"(%i, %r) : (tensor<2x1024x32x32xf32>, tensor<2x1024x32x1xf32>) -> tensor<2x1024x32x32xf32> loc("a")
  %b = "top.Add"(%a, %c) : (tensor<2x1024x32x32xf32>, tensor<2x1024x1x32xf32>) -> tensor<2x1024x32x32xf32> loc("b")
  %f = "top.Reshape"(%b) : (tensor<2x1024x32x32xf32>) -> tensor<2x1024x1024xf32> loc("f")
  %y = "top.Softmax"(%f) {axis = 2 : si32} : (tensor<2x1024x1024xf32>) -> tensor<2x1024x1024xf32> loc("y")
  return %y : tensor<2x1024x1024xf32>
}

// CHECK-LABEL: func.func @image
// CHECK: [[R:%.*]] = "top.Reshape"({{.*}}-> tensor<2x1024x32xf32>
// CHECK: [[C:%.*]] = "top.Reshape"({{.*}}-> tensor<2x1024x32xf32>
// CHECK: [[Q:%.*]] = "top.Concat"({{%.*}}, [[R]], [[C]]){{.*}}axis = 2{{.*}}-> tensor<2x1024x72xf32>
// CHECK: "top.Weight"{{.*}}-> tensor<2x64x1024xf32>
// CHECK: [[K:%.*]] = "top.Concat"({{.*}}axis = 1{{.*}}-> tensor<2x72x1024xf32>
// CHECK-NEXT: [[S:%.*]] = "top.MatMul"([[Q]], [[K]]
// CHECK-NEXT: "top.Softmax"([[S]])

// -----

// A number for every key is no fewer columns than there are keys: it stays a sum.
func.func @line(%arg_q: tensor<4x1024x8xf32>, %arg_k: tensor<4x8x512xf32>, %arg_r: tensor<4x1024x512x1xf32>) -> tensor<4x1024x512xf32> {
  %none = "top.None"() : () -> none
  %q = "top.Input"(%arg_q) : (tensor<4x1024x8xf32>) -> tensor<4x1024x8xf32> loc("q")
  %k = "top.Input"(%arg_k) : (tensor<4x8x512xf32>) -> tensor<4x8x512xf32> loc("k")
  %r = "top.Input"(%arg_r) : (tensor<4x1024x512x1xf32>) -> tensor<4x1024x512x1xf32> loc("r")
  %s = "top.MatMul"(%q, %k, %none) : (tensor<4x1024x8xf32>, tensor<4x8x512xf32>, none) -> tensor<4x1024x512xf32> loc("s")
  %i = "top.Reshape"(%s) : (tensor<4x1024x512xf32>) -> tensor<4x1024x512x1xf32> loc("i")
  %a = "top.Add"(%i, %r) : (tensor<4x1024x512x1xf32>, tensor<4x1024x512x1xf32>) -> tensor<4x1024x512x1xf32> loc("a")
  %f = "top.Reshape"(%a) : (tensor<4x1024x512x1xf32>) -> tensor<4x1024x512xf32> loc("f")
  %y = "top.Softmax"(%f) {axis = 2 : si32} : (tensor<4x1024x512xf32>) -> tensor<4x1024x512xf32> loc("y")
  return %y : tensor<4x1024x512xf32>
}

// CHECK-LABEL: func.func @line
// CHECK: "top.Add"

// -----

// Terms of all keys but the first, for all queries but the first: the others have none of them.
// Terms that were added to each other first are columns of their own.
func.func @behind_a_token(%arg_q: tensor<2x513x8xf32>, %arg_k: tensor<2x8x1025xf32>, %arg_r: tensor<2x512x32x1xf32>, %arg_c: tensor<2x512x1x32xf32>) -> tensor<2x513x1025xf32> {
  %none = "top.None"() : () -> none
  %q = "top.Input"(%arg_q) : (tensor<2x513x8xf32>) -> tensor<2x513x8xf32> loc("q")
  %k = "top.Input"(%arg_k) : (tensor<2x8x1025xf32>) -> tensor<2x8x1025xf32> loc("k")
  %r = "top.Input"(%arg_r) : (tensor<2x512x32x1xf32>) -> tensor<2x512x32x1xf32> loc("r")
  %c = "top.Input"(%arg_c) : (tensor<2x512x1x32xf32>) -> tensor<2x512x1x32xf32> loc("c")
  %s = "top.MatMul"(%q, %k, %none) : (tensor<2x513x8xf32>, tensor<2x8x1025xf32>, none) -> tensor<2x513x1025xf32> loc("s")
  %t = "top.Add"(%r, %c) : (tensor<2x512x32x1xf32>, tensor<2x512x1x32xf32>) -> tensor<2x512x32x32xf32> loc("t")
  %f = "top.Reshape"(%t) : (tensor<2x512x32x32xf32>) -> tensor<2x512x1024xf32> loc("f")
  %p = "top.Slice"(%s, %none, %none, %none) {offset = [0, 1, 1], ends = [2, 513, 1025], steps = [1, 1, 1], axes = []} : (tensor<2x513x1025xf32>, none, none, none) -> tensor<2x512x1024xf32> loc("p")
  %a = "top.Add"(%p, %f) : (tensor<2x512x1024xf32>, tensor<2x512x1024xf32>) -> tensor<2x512x1024xf32> loc("a")
  %l = "top.Slice"(%s, %none, %none, %none) {offset = [0, 1, 0], ends = [2, 513, 1], steps = [1, 1, 1], axes = []} : (tensor<2x513x1025xf32>, none, none, none) -> tensor<2x512x1xf32> loc("l")
  %b = "top.Concat"(%l, %a) {axis = 2 : si32} : (tensor<2x512x1xf32>, tensor<2x512x1024xf32>) -> tensor<2x512x1025xf32> loc("b")
  %o = "top.Slice"(%s, %none, %none, %none) {offset = [0, 0, 0], ends = [2, 1, 1025], steps = [1, 1, 1], axes = []} : (tensor<2x513x1025xf32>, none, none, none) -> tensor<2x1x1025xf32> loc("o")
  %w = "top.Concat"(%o, %b) {axis = 1 : si32} : (tensor<2x1x1025xf32>, tensor<2x512x1025xf32>) -> tensor<2x513x1025xf32> loc("w")
  %y = "top.Softmax"(%w) {axis = 2 : si32} : (tensor<2x513x1025xf32>) -> tensor<2x513x1025xf32> loc("y")
  return %y : tensor<2x513x1025xf32>
}

// CHECK-LABEL: func.func @behind_a_token
// CHECK: [[T:%.*]] = "top.Concat"({{.*}}axis = 2{{.*}}-> tensor<2x512x64xf32>
// CHECK-NEXT: [[P:%.*]] = "top.Pad"([[T]], {{.*}}paddings = [0, 1, 0, 0, 0, 0]{{.*}}-> tensor<2x513x64xf32>
// CHECK-NEXT: [[Q:%.*]] = "top.Concat"({{%.*}}, [[P]]){{.*}}axis = 2{{.*}}-> tensor<2x513x72xf32>
// CHECK: [[K:%.*]] = "top.Concat"({{.*}}axis = 1{{.*}}-> tensor<2x72x1025xf32>
// CHECK-NEXT: [[S:%.*]] = "top.MatMul"([[Q]], [[K]]
// CHECK-NEXT: "top.Softmax"([[S]])
