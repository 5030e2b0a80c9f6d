// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --processor-top-optimize --no-locations | filecheck %s

// Attention over rows of length 1.

// The rows are the same before heads and rows are swapped.
func.func @norm_of_heads(%arg_x: tensor<2x6x4x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x6x4x8xf32>) -> tensor<2x6x4x8xf32> loc("x")
  %p = "top.Permute"(%x) {order = [0, 2, 1, 3]} : (tensor<2x6x4x8xf32>) -> tensor<*xf32> loc("p")
  %y = "top.RMSNorm"(%p, %none) {eps = 1.0e-5 : f64} : (tensor<*xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @norm_of_heads
// CHECK: %[[N:.*]] = "top.RMSNorm"{{.*}}-> tensor<2x6x4x8xf32>
// CHECK-NEXT: %[[P:.*]] = "top.Permute"(%[[N]]){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x4x6x8xf32>
// CHECK-NEXT: return %[[P]]

// -----

// Here they are columns.
func.func @norm_of_columns(%arg_x: tensor<2x6x4x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x6x4x8xf32>) -> tensor<2x6x4x8xf32> loc("x")
  %p = "top.Permute"(%x) {order = [0, 1, 3, 2]} : (tensor<2x6x4x8xf32>) -> tensor<*xf32> loc("p")
  %y = "top.RMSNorm"(%p, %none) {eps = 1.0e-5 : f64} : (tensor<*xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @norm_of_columns
// CHECK: "top.Permute"
// CHECK-NEXT: "top.RMSNorm"

// -----

// 8 numbers for each row of queries, 9 scores.
func.func @factors_of_heads(%arg_q: tensor<2x4x6x8xf32>, %arg_k: tensor<2x4x8x9xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %q = "top.Input"(%arg_q) : (tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32> loc("q")
  %k = "top.Input"(%arg_k) : (tensor<2x4x8x9xf32>) -> tensor<2x4x8x9xf32> loc("k")
  %f = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("random_1x4x1x1")
  %t = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("zeros_1x4x1x1")
  %s = "top.MatMul"(%q, %k, %none) : (tensor<2x4x6x8xf32>, tensor<2x4x8x9xf32>, none) -> tensor<*xf32> loc("s")
  %y = "top.Scale"(%s, %f, %t) : (tensor<*xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @factors_of_heads
// CHECK: %[[F:.*]] = "top.Weight"(){{.*}}-> tensor<1x4x1x1xf32>
// CHECK-NEXT: %[[Q:.*]] = "top.Mul"(%{{.*}}, %[[F]]){{.*}}-> tensor<2x4x6x8xf32>
// CHECK-NEXT: %[[Y:.*]] = "top.MatMul"(%[[Q]], {{.*}}-> tensor<2x4x6x9xf32>
// CHECK-NEXT: return %[[Y]]

// -----

// As many scores as numbers of a row: nothing is gained.
func.func @few_scores(%arg_q: tensor<2x4x6x8xf32>, %arg_k: tensor<2x4x8x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %q = "top.Input"(%arg_q) : (tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32> loc("q")
  %k = "top.Input"(%arg_k) : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32> loc("k")
  %f = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("random_1x4x1x1")
  %t = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("zeros_1x4x1x1")
  %s = "top.MatMul"(%q, %k, %none) : (tensor<2x4x6x8xf32>, tensor<2x4x8x8xf32>, none) -> tensor<*xf32> loc("s")
  %y = "top.Scale"(%s, %f, %t) : (tensor<*xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @few_scores
// CHECK: "top.MatMul"
// CHECK: "top.Conv"
