// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --extra-optimize --no-locations | filecheck %s

// Equal ops on equal operands are one.

// Both read the first.
func.func @equal(%arg_x: tensor<2x3x4xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("x")
  %a = "top.Permute"(%x) {order = [0, 2, 1]} : (tensor<2x3x4xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Permute"(%x) {order = [0, 2, 1]} : (tensor<2x3x4xf32>) -> tensor<*xf32> loc("b")
  %y = "top.Add"(%a, %b) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @equal
// CHECK: %1 = "top.Permute"(%0){{.*}}order = [0, 2, 1]{{.*}}-> tensor<2x4x3xf32>
// CHECK-NEXT: %2 = "top.Add"(%1, %1){{.*}}-> tensor<2x4x3xf32>
// CHECK-NEXT: return %2 : tensor<2x4x3xf32>

// -----

// Not the same.
func.func @different_orders(%arg_x: tensor<2x3x3xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32> loc("x")
  %a = "top.Permute"(%x) {order = [0, 2, 1]} : (tensor<2x3x3xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Permute"(%x) {order = [0, 1, 2]} : (tensor<2x3x3xf32>) -> tensor<*xf32> loc("b")
  %y = "top.Add"(%a, %b) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @different_orders
// CHECK: %1 = "top.Permute"(%0){{.*}}order = [0, 2, 1]{{.*}}-> tensor<2x3x3xf32>
// CHECK-NEXT: %2 = "top.Permute"(%0){{.*}}order = [0, 1, 2]{{.*}}-> tensor<2x3x3xf32>
// CHECK-NEXT: %3 = "top.Add"(%1, %2){{.*}}-> tensor<2x3x3xf32>
// CHECK-NEXT: return %3 : tensor<2x3x3xf32>

// -----

// Results of the function keep their names.
func.func @results(%arg_x: tensor<2x3x4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("x")
  %a = "top.Permute"(%x) {order = [0, 2, 1]} : (tensor<2x3x4xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Permute"(%x) {order = [0, 2, 1]} : (tensor<2x3x4xf32>) -> tensor<*xf32> loc("b")
  return %a, %b : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @results
// CHECK: %1 = "top.Permute"(%0){{.*}}order = [0, 2, 1]{{.*}}-> tensor<2x4x3xf32>
// CHECK-NEXT: %2 = "top.Permute"(%0){{.*}}order = [0, 2, 1]{{.*}}-> tensor<2x4x3xf32>
// CHECK-NEXT: return %1, %2 : tensor<2x4x3xf32>, tensor<2x4x3xf32>
