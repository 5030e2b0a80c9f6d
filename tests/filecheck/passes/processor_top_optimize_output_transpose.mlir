// RUN: tpu-opt %s --split-input-file --processor-top-optimize --no-locations | filecheck %s

// ConvertMatMulWithOutputTranspose: (x y^T)^T is y x^T.
// CHECK-LABEL: func.func @turned
// CHECK: "top.MatMul"(%[[Y:.*]], %[[X:.*]], %{{.*}}) {{.*}}left_transpose = false{{.*}}right_transpose = true{{.*}} : (tensor<4x6x5xf32>, tensor<4x7x5xf32>, none) -> tensor<4x6x7xf32>
// CHECK-NOT: "top.Permute"
func.func @turned(%arg0: tensor<4x7x5xf32>, %arg1: tensor<4x6x5xf32>) -> tensor<4x6x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<4x7x5xf32>) -> tensor<4x7x5xf32> loc("x")
  %w = "top.Input"(%arg1) : (tensor<4x6x5xf32>) -> tensor<4x6x5xf32> loc("w")
  %m = "top.MatMul"(%x, %w, %n) {right_transpose = true} : (tensor<4x7x5xf32>, tensor<4x6x5xf32>, none) -> tensor<4x7x6xf32> loc("m")
  %y = "top.Permute"(%m) {order = [0, 2, 1]} : (tensor<4x7x6xf32>) -> tensor<4x6x7xf32> loc("y")
  return %y : tensor<4x6x7xf32>
}

// -----

// Both operands transposed: neither is afterwards.
// CHECK-LABEL: func.func @both
// CHECK: "top.MatMul"{{.*}}left_transpose = false{{.*}}right_transpose = false{{.*}} : (tensor<4x6x5xf32>, tensor<4x5x7xf32>, none) -> tensor<4x6x7xf32>
// CHECK-NOT: "top.Permute"
func.func @both(%arg0: tensor<4x5x7xf32>, %arg1: tensor<4x6x5xf32>) -> tensor<4x6x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<4x5x7xf32>) -> tensor<4x5x7xf32> loc("x")
  %w = "top.Input"(%arg1) : (tensor<4x6x5xf32>) -> tensor<4x6x5xf32> loc("w")
  %m = "top.MatMul"(%x, %w, %n) {left_transpose = true, right_transpose = true} : (tensor<4x5x7xf32>, tensor<4x6x5xf32>, none) -> tensor<4x7x6xf32> loc("m")
  %y = "top.Permute"(%m) {order = [0, 2, 1]} : (tensor<4x7x6xf32>) -> tensor<4x6x7xf32> loc("y")
  return %y : tensor<4x6x7xf32>
}

// -----

// Refused: a plain product would have to read both operands transposed.
// CHECK-LABEL: func.func @plain
// CHECK: "top.MatMul"
// CHECK-NEXT: "top.Permute"
func.func @plain(%arg0: tensor<4x7x5xf32>, %arg1: tensor<4x5x6xf32>) -> tensor<4x6x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<4x7x5xf32>) -> tensor<4x7x5xf32> loc("x")
  %w = "top.Input"(%arg1) : (tensor<4x5x6xf32>) -> tensor<4x5x6xf32> loc("w")
  %m = "top.MatMul"(%x, %w, %n) : (tensor<4x7x5xf32>, tensor<4x5x6xf32>, none) -> tensor<4x7x6xf32> loc("m")
  %y = "top.Permute"(%m) {order = [0, 2, 1]} : (tensor<4x7x6xf32>) -> tensor<4x6x7xf32> loc("y")
  return %y : tensor<4x6x7xf32>
}

// -----

// Refused: something else reads the product.
// CHECK-LABEL: func.func @shared
// CHECK: "top.MatMul"
// CHECK: "top.Permute"
func.func @shared(%arg0: tensor<4x7x5xf32>, %arg1: tensor<4x6x5xf32>) -> (tensor<4x6x7xf32>, tensor<4x7x6xf32>) {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<4x7x5xf32>) -> tensor<4x7x5xf32> loc("x")
  %w = "top.Input"(%arg1) : (tensor<4x6x5xf32>) -> tensor<4x6x5xf32> loc("w")
  %m = "top.MatMul"(%x, %w, %n) {right_transpose = true} : (tensor<4x7x5xf32>, tensor<4x6x5xf32>, none) -> tensor<4x7x6xf32> loc("m")
  %y = "top.Permute"(%m) {order = [0, 2, 1]} : (tensor<4x7x6xf32>) -> tensor<4x6x7xf32> loc("y")
  %z = "top.Abs"(%m) : (tensor<4x7x6xf32>) -> tensor<4x7x6xf32> loc("z")
  return %y, %z : tensor<4x6x7xf32>, tensor<4x7x6xf32>
}
