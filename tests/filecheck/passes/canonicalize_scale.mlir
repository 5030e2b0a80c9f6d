// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// BatchNorm and Scale become one Scale, or weights of a MatMul.

// Four parameters become two.
func.func @batch_norm(%arg_x: tensor<1x4x3x3xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32> loc("x")
  %m = "top.Weight"() : () -> tensor<4xf32> loc("random_4")
  %v = "top.Weight"() : () -> tensor<4xf32> loc("ones_4")
  %g = "top.Weight"() : () -> tensor<4xf32> loc("steps_4")
  %y = "top.BatchNorm"(%x, %m, %v, %g, %none) {epsilon = 1.0e-3} : (tensor<1x4x3x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @batch_norm
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<1x4x1x1xf32>
// CHECK-NEXT: %2 = "top.Weight"(){{.*}}-> tensor<1x4x1x1xf32>
// CHECK-NEXT: %3 = "top.Scale"(%0, %1, %2){{.*}}-> tensor<1x4x3x3xf32>
// CHECK-NEXT: return %3 : tensor<1x4x3x3xf32>

// -----

// Two scales in a row are one.
func.func @scales(%arg_x: tensor<1x4x3x3xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32> loc("x")
  %s = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("random_1x4x1x1")
  %t = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("ones_1x4x1x1")
  %u = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("zeros_1x4x1x1")
  %v = "top.Weight"() : () -> tensor<4xf32> loc("random_4")
  %a = "top.Scale"(%x, %s, %t) : (tensor<1x4x3x3xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>) -> tensor<*xf32> loc("a")
  %y = "top.Scale"(%a, %u, %v) : (tensor<*xf32>, tensor<1x4x1x1xf32>, tensor<4xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @scales
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<1x4x1x1xf32>
// CHECK-NEXT: %2 = "top.Weight"(){{.*}}-> tensor<1x4x1x1xf32>
// CHECK-NEXT: %3 = "top.Scale"(%0, %1, %2){{.*}}-> tensor<1x4x3x3xf32>
// CHECK-NEXT: return %3 : tensor<1x4x3x3xf32>

// -----

// Constants in front and behind go into it.
func.func @constants(%arg_x: tensor<1x4x3x3xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32> loc("x")
  %s = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("random_1x4x1x1")
  %t = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("ones_1x4x1x1")
  %a = "top.MulConst"(%x) {const_val = 3.0} : (tensor<1x4x3x3xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Scale"(%a, %s, %t) : (tensor<*xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>) -> tensor<*xf32> loc("b")
  %y = "top.AddConst"(%b) {const_val = 1.0} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @constants
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<1x4x1x1xf32>
// CHECK-NEXT: %2 = "top.Weight"(){{.*}}-> tensor<1x4x1x1xf32>
// CHECK-NEXT: %3 = "top.Scale"(%0, %1, %2){{.*}}-> tensor<1x4x3x3xf32>
// CHECK-NEXT: return %3 : tensor<1x4x3x3xf32>

// -----

// A relu in front keeps the constant out.
func.func @relu_between(%arg_x: tensor<1x4x3x3xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32> loc("x")
  %s = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("random_1x4x1x1")
  %t = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("ones_1x4x1x1")
  %a = "top.MulConst"(%x) {const_val = 3.0, do_relu = true} : (tensor<1x4x3x3xf32>) -> tensor<*xf32> loc("a")
  %y = "top.Scale"(%a, %s, %t) : (tensor<*xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @relu_between
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<1x4x1x1xf32>
// CHECK-NEXT: %2 = "top.Weight"(){{.*}}-> tensor<1x4x1x1xf32>
// CHECK-NEXT: %3 = "top.MulConst"(%0){{.*}}const_val = 3.000000e+00 : f64{{.*}}do_relu = true{{.*}}-> tensor<1x4x3x3xf32>
// CHECK-NEXT: %4 = "top.Scale"(%3, %1, %2){{.*}}-> tensor<1x4x3x3xf32>
// CHECK-NEXT: return %4 : tensor<1x4x3x3xf32>

// -----

// The columns of a flat product are the channels.
func.func @into_matmul(%arg_x: tensor<3x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<3x8xf32>) -> tensor<3x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x4xf32> loc("random_8x4")
  %s = "top.Weight"() : () -> tensor<1x4xf32> loc("random_1x4")
  %t = "top.Weight"() : () -> tensor<1x4xf32> loc("ones_1x4")
  %p = "top.MatMul"(%x, %w, %none) : (tensor<3x8xf32>, tensor<8x4xf32>, none) -> tensor<*xf32> loc("p")
  %y = "top.Scale"(%p, %s, %t) : (tensor<*xf32>, tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @into_matmul
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<8x4xf32>
// CHECK-NEXT: %2 = "top.Weight"(){{.*}}-> tensor<4xf32>
// CHECK-NEXT: %3 = "top.MatMul"(%0, %1, %2){{.*}}-> tensor<3x4xf32>
// CHECK-NEXT: return %3 : tensor<3x4xf32>

// -----

// A scale for each element of a matrix, which is seen as channels for it alone.
func.func @series(%arg_x: tensor<3x2x2xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<3x2x2xf32>) -> tensor<3x2x2xf32> loc("x")
  %s = "top.Weight"() : () -> tensor<1x4x1xf32> loc("random_1x4x1")
  %b = "top.Weight"() : () -> tensor<4xf32> loc("random_4")
  %r = "top.Reshape"(%x) {shape = [3, 4, 1]} : (tensor<3x2x2xf32>) -> tensor<*xf32> loc("r")
  %y = "top.Scale"(%r, %s, %b) : (tensor<*xf32>, tensor<1x4x1xf32>, tensor<4xf32>) -> tensor<*xf32> loc("y")
  %z = "top.Reshape"(%y) {shape = [3, 2, 2]} : (tensor<*xf32>) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @series
// CHECK-NOT: top.Reshape
// CHECK-NOT: top.Scale
// CHECK-DAG: [[SCALE:%.*]] = "top.Weight"() : () -> tensor<1x2x2xf32>
// CHECK: [[SCALED:%.*]] = "top.Mul"({{%.*}}, [[SCALE]]){{.*}} -> tensor<3x2x2xf32>
// CHECK: "top.Add"([[SCALED]], {{.*}} -> tensor<3x2x2xf32>

// -----

// Columns that become channels are scaled by the product.
func.func @turned_rows(%arg_x: tensor<3x5x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<3x5x8xf32>) -> tensor<3x5x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x4xf32> loc("random_8x4")
  %s = "top.Weight"() : () -> tensor<1x4x1xf32> loc("random_1x4x1")
  %b = "top.Weight"() : () -> tensor<4xf32> loc("random_4")
  %m = "top.MatMul"(%x, %w, %none) : (tensor<3x5x8xf32>, tensor<8x4xf32>, none) -> tensor<*xf32> loc("m")
  %p = "top.Permute"(%m) {order = [0, 2, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  %y = "top.Scale"(%p, %s, %b) : (tensor<*xf32>, tensor<1x4x1xf32>, tensor<4xf32>) -> tensor<*xf32> loc("y")
  %q = "top.Permute"(%y) {order = [0, 2, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("q")
  return %q : tensor<*xf32>
}

// CHECK-LABEL: func.func @turned_rows
// CHECK-NOT: top.Scale
// CHECK: [[ROWS:%.*]] = "top.MatMul"({{.*}} -> tensor<3x5x4xf32>
// CHECK-NEXT: return [[ROWS]]
