// RUN: tpu-opt %s --split-input-file --shape-infer --canonicalize --no-locations | filecheck %s

// Matrices that meet several others each.

// Each of three matrices of weights meets four: their rows are those of one.
func.func @repeated(%arg_x: tensor<1x3x4x5x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x4x5x6xf32>) -> tensor<1x3x4x5x6xf32> loc("x")
  %y = "top.Weight"() : () -> tensor<1x3x1x6x7xf32> loc("y")
  %z = "top.MatMul"(%x, %y, %none) : (tensor<1x3x4x5x6xf32>, tensor<1x3x1x6x7xf32>, none) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @repeated
// CHECK: [[W:%.+]] = "top.Weight"() : () -> tensor<3x6x7xf32>
// CHECK: [[X:%.+]] = "top.Reshape"({{.*}} -> tensor<3x20x6xf32>
// CHECK-NEXT: [[P:%.+]] = "top.MatMul"([[X]], [[W]], {{.*}} -> tensor<3x20x7xf32>
// CHECK-NEXT: [[Y:%.+]] = "top.Reshape"([[P]]) {{.*}} -> tensor<1x3x4x5x7xf32>
// CHECK-NEXT: return [[Y]]

// -----

// Each has its own.
func.func @own(%arg_x: tensor<3x5x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<3x5x6xf32>) -> tensor<3x5x6xf32> loc("x")
  %y = "top.Weight"() : () -> tensor<3x6x7xf32> loc("y")
  %z = "top.MatMul"(%x, %y, %none) : (tensor<3x5x6xf32>, tensor<3x6x7xf32>, none) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @own
// CHECK-NOT: top.Reshape
// CHECK-NOT: top.Permute
// CHECK: "top.MatMul"({{.*}} -> tensor<3x5x7xf32>
// CHECK-NEXT: return

// -----

// Single rows are permuted without the dimension that counts them.
func.func @rows(%arg_x: tensor<4x8x1x6xf32>, %arg_y: tensor<1x8x6x7xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x8x1x6xf32>) -> tensor<4x8x1x6xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x8x6x7xf32>) -> tensor<1x8x6x7xf32> loc("y")
  %z = "top.MatMul"(%x, %y, %none) : (tensor<4x8x1x6xf32>, tensor<1x8x6x7xf32>, none) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK: [[S:%.+]] = "top.Reshape"(%1) {{.*}} -> tensor<4x8x6xf32>
// CHECK-NEXT: [[X:%.+]] = "top.Permute"([[S]]) {order = [1, 0, 2]}{{.*}} -> tensor<8x4x6xf32>
// CHECK-NEXT: [[R:%.+]] = "top.Reshape"(%2) {{.*}} -> tensor<8x6x7xf32>
// CHECK-NEXT: [[P:%.+]] = "top.MatMul"([[X]], [[R]], {{.*}} -> tensor<8x4x7xf32>
// CHECK-NEXT: [[B:%.+]] = "top.Permute"([[P]]) {order = [1, 0, 2]}{{.*}} -> tensor<4x8x7xf32>
// CHECK-NEXT: [[Y:%.+]] = "top.Reshape"([[B]]) {{.*}} -> tensor<4x8x1x7xf32>
// CHECK-NEXT: return [[Y]]

// -----

// The left side has fewer: columns lie beside each other.
func.func @columns(%arg_x: tensor<8x5x6xf32>, %arg_y: tensor<4x8x6x3xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<8x5x6xf32>) -> tensor<8x5x6xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<4x8x6x3xf32>) -> tensor<4x8x6x3xf32> loc("y")
  %z = "top.MatMul"(%x, %y, %none) : (tensor<8x5x6xf32>, tensor<4x8x6x3xf32>, none) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @columns
// CHECK: [[Q:%.+]] = "top.Permute"({{.*}}) {order = [1, 2, 0, 3]}{{.*}} -> tensor<8x6x4x3xf32>
// CHECK-NEXT: [[R:%.+]] = "top.Reshape"([[Q]]) {{.*}} -> tensor<8x6x12xf32>
// CHECK-NEXT: [[P:%.+]] = "top.MatMul"({{.*}}, [[R]], {{.*}} -> tensor<8x5x12xf32>
// CHECK-NEXT: [[S:%.+]] = "top.Reshape"([[P]]) {{.*}} -> tensor<8x5x4x3xf32>
// CHECK-NEXT: [[Y:%.+]] = "top.Permute"([[S]]) {order = [2, 0, 1, 3]}{{.*}} -> tensor<4x8x5x3xf32>
// CHECK-NEXT: return [[Y]]

// -----

// As many rows as are permuted.
func.func @most_rows(%arg_x: tensor<2x3x32x6xf32>, %arg_y: tensor<1x3x6x7xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x3x32x6xf32>) -> tensor<2x3x32x6xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x3x6x7xf32>) -> tensor<1x3x6x7xf32> loc("y")
  %z = "top.MatMul"(%x, %y, %none) : (tensor<2x3x32x6xf32>, tensor<1x3x6x7xf32>, none) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @most_rows
// CHECK: "top.MatMul"({{.*}} -> tensor<3x64x7xf32>
// CHECK: "top.Permute"({{.*}} -> tensor<2x3x32x7xf32>

// -----

// More than that fill a product.
func.func @more_rows(%arg_x: tensor<2x3x33x6xf32>, %arg_y: tensor<1x3x6x7xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x3x33x6xf32>) -> tensor<2x3x33x6xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x3x6x7xf32>) -> tensor<1x3x6x7xf32> loc("y")
  %z = "top.MatMul"(%x, %y, %none) : (tensor<2x3x33x6xf32>, tensor<1x3x6x7xf32>, none) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @more_rows
// CHECK-NOT: top.Permute
// CHECK: "top.MatMul"({{.*}} -> tensor<2x3x33x7xf32>
// CHECK-NEXT: return

// -----

// So do columns.
func.func @more_columns(%arg_x: tensor<1x3x5x6xf32>, %arg_y: tensor<2x3x6x33xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x5x6xf32>) -> tensor<1x3x5x6xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<2x3x6x33xf32>) -> tensor<2x3x6x33xf32> loc("y")
  %z = "top.MatMul"(%x, %y, %none) : (tensor<1x3x5x6xf32>, tensor<2x3x6x33xf32>, none) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @more_columns
// CHECK-NOT: top.Permute
// CHECK: "top.MatMul"({{.*}} -> tensor<2x3x5x33xf32>
// CHECK-NEXT: return

// -----

// Where nothing moves, rows may be many.
func.func @in_place(%arg_x: tensor<3x2x33x6xf32>, %arg_y: tensor<3x1x6x7xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<3x2x33x6xf32>) -> tensor<3x2x33x6xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<3x1x6x7xf32>) -> tensor<3x1x6x7xf32> loc("y")
  %z = "top.MatMul"(%x, %y, %none) : (tensor<3x2x33x6xf32>, tensor<3x1x6x7xf32>, none) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @in_place
// CHECK-NOT: top.Permute
// CHECK: "top.MatMul"({{.*}} -> tensor<3x66x7xf32>
// CHECK-NOT: top.Permute
// CHECK: return

// -----

// One matrix meets them all, which is a product of rows anyway.
func.func @one(%arg_x: tensor<3x5x6xf32>, %arg_y: tensor<1x6x7xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<3x5x6xf32>) -> tensor<3x5x6xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x6x7xf32>) -> tensor<1x6x7xf32> loc("y")
  %z = "top.MatMul"(%x, %y, %none) : (tensor<3x5x6xf32>, tensor<1x6x7xf32>, none) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @one
// CHECK-NOT: top.Permute
// CHECK: "top.MatMul"({{.*}} -> tensor<3x5x7xf32>
// CHECK-NEXT: return

// -----

// Each side has a dimension that the other lacks.
func.func @both(%arg_x: tensor<2x1x3x5x6xf32>, %arg_y: tensor<1x4x3x6x7xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x1x3x5x6xf32>) -> tensor<2x1x3x5x6xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x4x3x6x7xf32>) -> tensor<1x4x3x6x7xf32> loc("y")
  %z = "top.MatMul"(%x, %y, %none) : (tensor<2x1x3x5x6xf32>, tensor<1x4x3x6x7xf32>, none) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @both
// CHECK-NOT: top.Permute
// CHECK: "top.MatMul"({{.*}} -> tensor<2x4x3x5x7xf32>
// CHECK-NEXT: return
