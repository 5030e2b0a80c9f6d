// RUN: tpu-opt %s --split-input-file --shape-infer --canonicalize --no-locations | filecheck %s

// One matrix meets six: their rows are those of one.
func.func @repeated(%arg_x: tensor<2x3x5x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1x1x6x7xf32> loc("w")
  %y = "top.MatMul"(%x, %w, %none) : (tensor<2x3x5x6xf32>, tensor<1x1x6x7xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @repeated
// CHECK: [[W:%.+]] = "top.Weight"() : () -> tensor<6x7xf32>
// CHECK: [[X:%.+]] = "top.Reshape"({{.*}} -> tensor<30x6xf32>
// CHECK-NEXT: [[P:%.+]] = "top.MatMul"([[X]], [[W]], {{.*}} -> tensor<30x7xf32>
// CHECK-NEXT: [[Y:%.+]] = "top.Reshape"([[P]]) {{.*}} -> tensor<2x3x5x7xf32>
// CHECK-NEXT: return [[Y]]

// -----

// Rows that a weight mixes are channels.
func.func @mixed(%arg_x: tensor<12x207x64xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<12x207x64xf32>) -> tensor<12x207x64xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<100x207xf32> loc("w")
  %y = "top.MatMul"(%w, %x, %none) : (tensor<100x207xf32>, tensor<12x207x64xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @mixed
// CHECK: [[W:%.+]] = "top.Weight"() : () -> tensor<100x207x1x1xf32>
// CHECK: [[Y:%.+]] = "top.Conv"(%{{.+}}, [[W]], %{{.+}}) {{.*}} -> tensor<12x100x64xf32>
// CHECK-NEXT: return [[Y]]

// -----

// Of one image they are rows of a product.
func.func @single(%arg_x: tensor<1x207x64xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x207x64xf32>) -> tensor<1x207x64xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<100x207xf32> loc("w")
  %y = "top.MatMul"(%w, %x, %none) : (tensor<100x207xf32>, tensor<1x207x64xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @single
// CHECK: "top.MatMul"({{.*}} -> tensor<1x100x64xf32>
