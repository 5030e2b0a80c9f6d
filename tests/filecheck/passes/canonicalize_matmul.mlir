// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// MatMul, norms and ops with a constant operand.

// One element a column.
func.func @bias(%arg_x: tensor<2x5x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x6xf32> loc("random_8x6")
  %b = "top.Weight"() : () -> tensor<6xf32> loc("random_6")
  %p = "top.MatMul"(%x, %w, %none) : (tensor<2x5x8xf32>, tensor<8x6xf32>, none) -> tensor<*xf32> loc("p")
  %y = "top.Add"(%p, %b) {do_relu = true} : (tensor<*xf32>, tensor<6xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @bias
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<8x6xf32>
// CHECK-NEXT: %2 = "top.Weight"(){{.*}}-> tensor<1x1x6xf32>
// CHECK-NEXT: %3 = "top.MatMul"(%0, %1, %2){{.*}}do_relu = true{{.*}}-> tensor<2x5x6xf32>
// CHECK-NEXT: return %3 : tensor<2x5x6xf32>

// -----

// One number for all columns.
func.func @equal_bias(%arg_x: tensor<2x5x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x6xf32> loc("random_8x6")
  %p = "top.MatMul"(%x, %w, %none) : (tensor<2x5x8xf32>, tensor<8x6xf32>, none) -> tensor<*xf32> loc("p")
  %y = "top.AddConst"(%p) {const_val = 0.5 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @equal_bias
// CHECK: "top.Weight"(){{.*}}-> tensor<1x1x6xf32>
// CHECK-NEXT: "top.MatMul"{{.*}}-> tensor<2x5x6xf32>
// CHECK-NEXT: return

// -----

// Refused: the product is read by something else, too.
func.func @equal_bias_and_more(%arg_x: tensor<2x5x8xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x6xf32> loc("random_8x6")
  %p = "top.MatMul"(%x, %w, %none) : (tensor<2x5x8xf32>, tensor<8x6xf32>, none) -> tensor<*xf32> loc("p")
  %y = "top.AddConst"(%p) {const_val = 0.5 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y, %p : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @equal_bias_and_more
// CHECK: top.MatMul
// CHECK-NEXT: top.AddConst

// -----

// The right side is no weight.
func.func @no_bias_of_batches(%arg_x: tensor<2x5x8xf32>, %arg_z: tensor<2x8x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<2x8x6xf32>) -> tensor<2x8x6xf32> loc("z")
  %b = "top.Weight"() : () -> tensor<6xf32> loc("random_6")
  %p = "top.MatMul"(%x, %z, %none) : (tensor<2x5x8xf32>, tensor<2x8x6xf32>, none) -> tensor<*xf32> loc("p")
  %y = "top.Add"(%p, %b) : (tensor<*xf32>, tensor<6xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @no_bias_of_batches
// CHECK: %3 = "top.Weight"(){{.*}}-> tensor<1x1x6xf32>
// CHECK-NEXT: %4 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<2x5x6xf32>
// CHECK-NEXT: %5 = "top.Add"(%4, %3){{.*}}-> tensor<2x5x6xf32>
// CHECK-NEXT: return %5 : tensor<2x5x6xf32>

// -----

// One element each, not one a column.
func.func @no_bias_of_elements(%arg_x: tensor<2x5x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x6xf32> loc("random_8x6")
  %b = "top.Weight"() : () -> tensor<2x5x6xf32> loc("random_2x5x6")
  %p = "top.MatMul"(%x, %w, %none) : (tensor<2x5x8xf32>, tensor<8x6xf32>, none) -> tensor<*xf32> loc("p")
  %y = "top.Add"(%p, %b) : (tensor<*xf32>, tensor<2x5x6xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @no_bias_of_elements
// CHECK: %2 = "top.Weight"(){{.*}}-> tensor<8x6xf32>
// CHECK-NEXT: %3 = "top.Weight"(){{.*}}-> tensor<2x5x6xf32>
// CHECK-NEXT: %4 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<2x5x6xf32>
// CHECK-NEXT: %5 = "top.Add"(%4, %3){{.*}}-> tensor<2x5x6xf32>
// CHECK-NEXT: return %5 : tensor<2x5x6xf32>

// -----

// The dimensions are kept and then merged.
func.func @keep_dims(%arg_x: tensor<2x5x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x6xf32> loc("random_8x6")
  %y = "top.MatMul"(%x, %w, %none) {keep_dims = false} : (tensor<2x5x8xf32>, tensor<8x6xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @keep_dims
// CHECK: %2 = "top.Weight"(){{.*}}-> tensor<8x6xf32>
// CHECK-NEXT: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<2x5x6xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<10x6xf32>
// CHECK-NEXT: return %4 : tensor<10x6xf32>

// -----

// Between two Permutes the weight can be on the right.
func.func @weight_on_the_left(%arg_x: tensor<2x5x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<6x8xf32> loc("random_6x8")
  %p = "top.Permute"(%x) {order = [0, 2, 1]} : (tensor<2x5x8xf32>) -> tensor<*xf32> loc("p")
  %m = "top.MatMul"(%w, %p, %none) : (tensor<6x8xf32>, tensor<*xf32>, none) -> tensor<*xf32> loc("m")
  %y = "top.Permute"(%m) {order = [0, 2, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @weight_on_the_left
// CHECK: %2 = "top.Weight"(){{.*}}-> tensor<8x6xf32>
// CHECK-NEXT: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<2x5x6xf32>
// CHECK-NEXT: return %3 : tensor<2x5x6xf32>

// -----

// Each Slice gets its columns.
func.func @columns(%arg_x: tensor<2x5x8xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x256xf32> loc("random_8x256")
  %m = "top.MatMul"(%x, %w, %none) : (tensor<2x5x8xf32>, tensor<8x256xf32>, none) -> tensor<*xf32> loc("m")
  %a = "top.Slice"(%m, %none, %none, %none) {axes = [2], offset = [0], ends = [128], steps = [1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("a")
  %b = "top.Slice"(%m, %none, %none, %none) {axes = [2], offset = [128], ends = [256], steps = [1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("b")
  return %a, %b : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @columns
// CHECK: %2 = "top.Weight"(){{.*}}-> tensor<8x128xf32>
// CHECK-NEXT: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<2x5x128xf32>
// CHECK-NEXT: %4 = "top.Weight"(){{.*}}-> tensor<8x128xf32>
// CHECK-NEXT: %5 = "top.MatMul"(%1, %4, %0){{.*}}-> tensor<2x5x128xf32>
// CHECK-NEXT: return %3, %5 : tensor<2x5x128xf32>, tensor<2x5x128xf32>

// -----

// Weights of the input's rank.
func.func @layer_norm(%arg_x: tensor<1x5x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x5x8xf32>) -> tensor<1x5x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8xf32> loc("random_8")
  %y = "top.LayerNorm"(%x, %w, %none) {axis = -1 : si32, eps = 1.0e-5, normalized_shape = []} : (tensor<1x5x8xf32>, tensor<8xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @layer_norm
// CHECK: %2 = "top.Weight"(){{.*}}-> tensor<1x1x8xf32>
// CHECK-NEXT: %3 = "top.LayerNorm"(%1, %2, %0){{.*}}axis = 2 : si32{{.*}}-> tensor<1x5x8xf32>
// CHECK-NEXT: return %3 : tensor<1x5x8xf32>

// -----

// The constant may be on the left.
func.func @compare(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1xf32> loc("half")
  %y = "top.Compare"(%w, %x) {mode = "Less"} : (tensor<1xf32>, tensor<4x8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @compare
// CHECK: %1 = "top.CompareConst"(%0){{.*}}const_val = 5.000000e-01 : f64{{.*}}inversed = true{{.*}}mode = "Less"{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %1 : tensor<4x8xf32>

// -----

// A constant again.
func.func @maximum(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1xf32> loc("half")
  %y = "top.Max"(%x, %w) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @maximum
// CHECK: %1 = "top.MaxConst"(%0){{.*}}const_val = 5.000000e-01 : f64{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %1 : tensor<4x8xf32>

// -----

// x - c is x + (-c).
func.func @difference(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1xf32> loc("half")
  %y = "top.Sub"(%x, %w) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @difference
// CHECK: %1 = "top.AddConst"(%0){{.*}}const_val = -5.000000e-01 : f64{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %1 : tensor<4x8xf32>

// -----

// One slope for all.
func.func @slope(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1xf32> loc("half")
  %y = "top.PRelu"(%x, %w) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @slope
// CHECK: %1 = "top.LeakyRelu"(%0){{.*}}alpha = 5.000000e-01 : f64{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %1 : tensor<4x8xf32>

// -----

// One factor a column, with what was added before.
func.func @column_factors(%arg_x: tensor<2x5x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x6xf32> loc("random_8x6")
  %b = "top.Weight"() : () -> tensor<6xf32> loc("random_6")
  %p = "top.MatMul"(%x, %w, %b) : (tensor<2x5x8xf32>, tensor<8x6xf32>, tensor<6xf32>) -> tensor<*xf32> loc("p")
  %y = "top.Mul"(%p, %b) {do_relu = true} : (tensor<*xf32>, tensor<6xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @column_factors
// CHECK: "top.MatMul"{{.*}}do_relu = true{{.*}}-> tensor<2x5x6xf32>
// CHECK-NOT: "top.Mul"
// CHECK: return

// -----

// Factors of rows stay, and products that are read twice.
func.func @no_column_factors(%arg_x: tensor<2x6x8xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x6x8xf32>) -> tensor<2x6x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x6xf32> loc("random_8x6")
  %b = "top.Weight"() : () -> tensor<6xf32> loc("random_6")
  %p = "top.MatMul"(%x, %w, %none) : (tensor<2x6x8xf32>, tensor<8x6xf32>, none) -> tensor<*xf32> loc("p")
  %y = "top.Mul"(%p, %b) : (tensor<*xf32>, tensor<6xf32>) -> tensor<*xf32> loc("y")
  return %y, %p : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @no_column_factors
// CHECK: "top.MatMul"
// CHECK: "top.Mul"
