// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// Of 256 columns the first 64 are read.
func.func @some(%x: tensor<1x4x8xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %0 = "top.Input"(%x) : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x256xf32> loc("random_8x256")
  %i = "top.Weight"() : () -> tensor<1x4x6xf32> loc("ones_1x4x6")
  %1 = "top.MatMul"(%0, %w, %n) : (tensor<1x4x8xf32>, tensor<8x256xf32>, none) -> tensor<*xf32> loc("product")
  %2 = "top.GatherElements"(%1, %i) {axis = 2} : (tensor<*xf32>, tensor<1x4x6xf32>) -> tensor<*xf32> loc("y")
  return %2 : tensor<*xf32>
}

// CHECK-LABEL: func.func @some
// CHECK: [[W:%.*]] = "top.Weight"() : () -> tensor<8x64xf32>
// CHECK-NEXT: [[P:%.*]] = "top.MatMul"(%{{[0-9]+}}, [[W]], {{.*}} -> tensor<1x4x64xf32>
// CHECK-NEXT: [[I:%.*]] = "top.Weight"() : () -> tensor<1x4x6xf32>
// CHECK-NEXT: "top.GatherElements"([[P]], [[I]]){{.*}} -> tensor<1x4x6xf32>

// -----

// Three quarters or more stay.
func.func @most(%x: tensor<1x4x8xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %0 = "top.Input"(%x) : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x80xf32> loc("random_8x80")
  %i = "top.Weight"() : () -> tensor<1x4x6xf32> loc("ones_1x4x6")
  %1 = "top.MatMul"(%0, %w, %n) : (tensor<1x4x8xf32>, tensor<8x80xf32>, none) -> tensor<*xf32> loc("product")
  %2 = "top.GatherElements"(%1, %i) {axis = 2} : (tensor<*xf32>, tensor<1x4x6xf32>) -> tensor<*xf32> loc("y")
  return %2 : tensor<*xf32>
}

// CHECK-LABEL: func.func @most
// CHECK: "top.MatMul"{{.*}} -> tensor<1x4x80xf32>
// CHECK-NEXT: "top.GatherElements"

// -----

// The product is a result, too.
func.func @all(%x: tensor<1x4x8xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %n = "top.None"() : () -> none
  %0 = "top.Input"(%x) : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x256xf32> loc("random_8x256")
  %i = "top.Weight"() : () -> tensor<1x4x6xf32> loc("ones_1x4x6")
  %1 = "top.MatMul"(%0, %w, %n) : (tensor<1x4x8xf32>, tensor<8x256xf32>, none) -> tensor<*xf32> loc("product")
  %2 = "top.GatherElements"(%1, %i) {axis = 2} : (tensor<*xf32>, tensor<1x4x6xf32>) -> tensor<*xf32> loc("y")
  return %1, %2 : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @all
// CHECK: "top.MatMul"{{.*}} -> tensor<1x4x256xf32>
