// RUN: tpu-opt %s --split-input-file --join-heads="chip=bm1684x" --no-locations | filecheck %s

// What heads of 8 columns sum is found on the diagonal of what all 64 columns do.
func.func @narrow(%arg_q: tensor<1x100x8x8xf32>, %arg_k: tensor<1x8x8x100xf32>, %arg_v: tensor<1x100x8x8xf32>) -> tensor<1x8x100x8xf32> {
  %none = "top.None"() : () -> none
  %q = "top.Input"(%arg_q) : (tensor<1x100x8x8xf32>) -> tensor<1x100x8x8xf32> loc("q")
  %k = "top.Input"(%arg_k) : (tensor<1x8x8x100xf32>) -> tensor<1x8x8x100xf32> loc("k")
  %v = "top.Input"(%arg_v) : (tensor<1x100x8x8xf32>) -> tensor<1x100x8x8xf32> loc("v")
  %qp = "top.Permute"(%q) {order = [0, 2, 1, 3]} : (tensor<1x100x8x8xf32>) -> tensor<1x8x100x8xf32> loc("qp")
  %vp = "top.Permute"(%v) {order = [0, 2, 1, 3]} : (tensor<1x100x8x8xf32>) -> tensor<1x8x100x8xf32> loc("vp")
  %s = "top.MatMul"(%k, %vp, %none) : (tensor<1x8x8x100xf32>, tensor<1x8x100x8xf32>, none) -> tensor<1x8x8x8xf32> loc("s")
  %y = "top.MatMul"(%qp, %s, %none) : (tensor<1x8x100x8xf32>, tensor<1x8x8x8xf32>, none) -> tensor<1x8x100x8xf32> loc("y")
  return %y : tensor<1x8x100x8xf32>
}

// CHECK-LABEL: func.func @narrow
// CHECK-DAG: [[K:%.*]] = "top.Reshape"({{.*}} -> tensor<1x64x100xf32>
// CHECK-DAG: [[V:%.*]] = "top.Reshape"({{.*}} -> tensor<1x100x64xf32>
// CHECK: [[C:%.*]] = "top.MatMul"([[K]], [[V]], {{.*}} -> tensor<1x64x64xf32>
// CHECK: [[W:%.*]] = "top.Weight"() : () -> tensor<1x64x64xf32>
// CHECK: [[O:%.*]] = "top.Mul"([[C]], [[W]])
// CHECK: [[P:%.*]] = "top.MatMul"({{.*}}, [[O]], {{.*}} -> tensor<1x100x64xf32>
// CHECK: [[H:%.*]] = "top.Reshape"([[P]]){{.*}} -> tensor<1x100x8x8xf32>
// CHECK-NEXT: [[Y:%.*]] = "top.Permute"([[H]]) {order = [0, 2, 1, 3]}
// CHECK-NEXT: return [[Y]]

// -----

// Heads of as many columns as there are lanes leave none idle.
func.func @wide(%arg_q: tensor<1x100x2x64xf32>, %arg_k: tensor<1x2x64x100xf32>, %arg_v: tensor<1x100x2x64xf32>) -> tensor<1x2x100x64xf32> {
  %none = "top.None"() : () -> none
  %q = "top.Input"(%arg_q) : (tensor<1x100x2x64xf32>) -> tensor<1x100x2x64xf32> loc("q")
  %k = "top.Input"(%arg_k) : (tensor<1x2x64x100xf32>) -> tensor<1x2x64x100xf32> loc("k")
  %v = "top.Input"(%arg_v) : (tensor<1x100x2x64xf32>) -> tensor<1x100x2x64xf32> loc("v")
  %qp = "top.Permute"(%q) {order = [0, 2, 1, 3]} : (tensor<1x100x2x64xf32>) -> tensor<1x2x100x64xf32> loc("qp")
  %vp = "top.Permute"(%v) {order = [0, 2, 1, 3]} : (tensor<1x100x2x64xf32>) -> tensor<1x2x100x64xf32> loc("vp")
  %s = "top.MatMul"(%k, %vp, %none) : (tensor<1x2x64x100xf32>, tensor<1x2x100x64xf32>, none) -> tensor<1x2x64x64xf32> loc("s")
  %y = "top.MatMul"(%qp, %s, %none) : (tensor<1x2x100x64xf32>, tensor<1x2x64x64xf32>, none) -> tensor<1x2x100x64xf32> loc("y")
  return %y : tensor<1x2x100x64xf32>
}

// CHECK-LABEL: func.func @wide
// CHECK-COUNT-2: "top.MatMul"
// CHECK-NOT: "top.Mul"

// -----

// A softmax between the products belongs to each head.
func.func @softmax(%arg_q: tensor<1x100x8x8xf32>, %arg_k: tensor<1x8x8x100xf32>, %arg_v: tensor<1x100x8x8xf32>) -> tensor<1x8x100x8xf32> {
  %none = "top.None"() : () -> none
  %q = "top.Input"(%arg_q) : (tensor<1x100x8x8xf32>) -> tensor<1x100x8x8xf32> loc("q")
  %k = "top.Input"(%arg_k) : (tensor<1x8x8x100xf32>) -> tensor<1x8x8x100xf32> loc("k")
  %v = "top.Input"(%arg_v) : (tensor<1x100x8x8xf32>) -> tensor<1x100x8x8xf32> loc("v")
  %qp = "top.Permute"(%q) {order = [0, 2, 1, 3]} : (tensor<1x100x8x8xf32>) -> tensor<1x8x100x8xf32> loc("qp")
  %vp = "top.Permute"(%v) {order = [0, 2, 1, 3]} : (tensor<1x100x8x8xf32>) -> tensor<1x8x100x8xf32> loc("vp")
  %s = "top.MatMul"(%k, %vp, %none) : (tensor<1x8x8x100xf32>, tensor<1x8x100x8xf32>, none) -> tensor<1x8x8x8xf32> loc("s")
  %a = "top.Softmax"(%s) {axis = 3 : si32} : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> loc("a")
  %y = "top.MatMul"(%qp, %a, %none) : (tensor<1x8x100x8xf32>, tensor<1x8x8x8xf32>, none) -> tensor<1x8x100x8xf32> loc("y")
  return %y : tensor<1x8x100x8xf32>
}

// CHECK-LABEL: func.func @softmax
// CHECK: "top.MatMul"({{.*}} -> tensor<1x8x8x8xf32>
// CHECK-NEXT: "top.Softmax"
// CHECK-NEXT: "top.MatMul"({{.*}} -> tensor<1x8x100x8xf32>
