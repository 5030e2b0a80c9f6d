// RUN: tpu-opt %s --split-input-file --shape-infer --drop-unit-dims --no-locations | filecheck %s

// From the Reshape in front of an attention to the one behind it.
// CHECK-LABEL: func.func @attention
// CHECK: %3 = "top.Reshape"(%2){{.*}}-> tensor<64x49x3x2x32xf32>
// CHECK-NEXT: %4 = "top.Permute"(%3){{.*}}order = [2, 0, 3, 1, 4]{{.*}}-> tensor<3x64x2x49x32xf32>
// CHECK-NEXT: %5:3 = "top.Split"(%4){{.*}}axis = 0
// CHECK-NEXT: "top.Squeeze"(%5#0){{.*}}axes = [0]{{.*}}-> tensor<64x2x49x32xf32>
// CHECK: "top.Permute"({{.*}}order = [0, 1, 3, 2]{{.*}}-> tensor<64x2x32x49xf32>
// CHECK-NEXT: "top.MulConst"({{.*}}-> tensor<64x2x49x32xf32>
// CHECK-NEXT: "top.MatMul"({{.*}}-> tensor<64x2x49x49xf32>
// CHECK-NEXT: "top.Softmax"({{.*}}axis = 3{{.*}}-> tensor<64x2x49x49xf32>
// CHECK-NEXT: [[P:%.+]] = "top.MatMul"({{.*}}-> tensor<64x2x49x32xf32>
// CHECK-NEXT: [[B:%.+]] = "top.Reshape"([[P]]){{.*}}-> tensor<1x64x2x49x32xf32>
// CHECK-NEXT: return [[B]]
func.func @attention(%arg: tensor<1x3136x192xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg) : (tensor<1x3136x192xf32>) -> tensor<1x3136x192xf32> loc("x")
  %r = "top.Reshape"(%x) {shape = [1, 64, 49, 3, 2, 32]} : (tensor<1x3136x192xf32>) -> tensor<*xf32> loc("r")
  %p = "top.Permute"(%r) {order = [3, 0, 1, 4, 2, 5]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  %s:3 = "top.Split"(%p) {axis = 0 : si32, num = 3 : i64} : (tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) loc("s")
  %q = "top.Squeeze"(%s#0) {axes = [0]} : (tensor<*xf32>) -> tensor<*xf32> loc("q")
  %k = "top.Squeeze"(%s#1) {axes = [0]} : (tensor<*xf32>) -> tensor<*xf32> loc("k")
  %v = "top.Squeeze"(%s#2) {axes = [0]} : (tensor<*xf32>) -> tensor<*xf32> loc("v")
  %t = "top.Permute"(%k) {order = [0, 1, 2, 4, 3]} : (tensor<*xf32>) -> tensor<*xf32> loc("t")
  %m = "top.MulConst"(%q) {const_val = 0.5 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("m")
  %a = "top.MatMul"(%m, %t, %n) : (tensor<*xf32>, tensor<*xf32>, none) -> tensor<*xf32> loc("a")
  %o = "top.Softmax"(%a) {axis = -1 : si32} : (tensor<*xf32>) -> tensor<*xf32> loc("o")
  %y = "top.MatMul"(%o, %v, %n) : (tensor<*xf32>, tensor<*xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// All dimensions of size 1 go until four are left; a mask that is stretched loses its own.
// CHECK-LABEL: func.func @two_of_six
// CHECK: "top.MatMul"({{.*}}(tensor<2x3x4x5xf32>, tensor<2x3x5x4xf32>, none) -> tensor<2x3x4x4xf32>
// CHECK-NEXT: "top.Add"({{.*}}(tensor<2x3x4x4xf32>, tensor<1x4x4xf32>) -> tensor<2x3x4x4xf32>
// CHECK-NEXT: "top.Reshape"({{.*}}-> tensor<2x1x3x4x4xf32>
// CHECK-NEXT: "top.Reshape"({{.*}}-> tensor<1x2x1x3x4x4xf32>
func.func @two_of_six(%arg_x: tensor<1x2x1x3x4x5xf32>, %arg_y: tensor<1x2x1x3x5x4xf32>, %arg_m: tensor<1x1x4x4xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x2x1x3x4x5xf32>) -> tensor<1x2x1x3x4x5xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x2x1x3x5x4xf32>) -> tensor<1x2x1x3x5x4xf32> loc("y")
  %m = "top.Input"(%arg_m) : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> loc("m")
  %a = "top.MatMul"(%x, %y, %n) : (tensor<1x2x1x3x4x5xf32>, tensor<1x2x1x3x5x4xf32>, none) -> tensor<*xf32> loc("a")
  %s = "top.Add"(%a, %m) : (tensor<*xf32>, tensor<1x1x4x4xf32>) -> tensor<*xf32> loc("s")
  return %s : tensor<*xf32>
}

// -----

// Boundary: four dimensions are as patterns and kernels want them.
// CHECK-LABEL: func.func @four
// CHECK: "top.MatMul"({{.*}}-> tensor<1x2x4x4xf32>
// CHECK-NEXT: return
func.func @four(%arg_x: tensor<1x2x4x5xf32>, %arg_y: tensor<1x2x5x4xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x2x4x5xf32>) -> tensor<1x2x4x5xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32> loc("y")
  %a = "top.MatMul"(%x, %y, %n) : (tensor<1x2x4x5xf32>, tensor<1x2x5x4xf32>, none) -> tensor<*xf32> loc("a")
  return %a : tensor<*xf32>
}

// -----

// Refused: the matrices of one side serve several of the other's; rows of products with weights.
// CHECK-LABEL: func.func @stretched
// CHECK: "top.MatMul"({{.*}}-> tensor<2x3x1x4x4xf32>
// CHECK-NEXT: "top.MatMul"({{.*}}-> tensor<2x3x1x4x6xf32>
// CHECK-NEXT: return
func.func @stretched(%arg_x: tensor<2x3x1x4x5xf32>, %arg_y: tensor<3x1x5x4xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x3x1x4x5xf32>) -> tensor<2x3x1x4x5xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<3x1x5x4xf32>) -> tensor<3x1x5x4xf32> loc("y")
  %w = "top.Weight"() : () -> tensor<4x6xf32> loc("w")
  %a = "top.MatMul"(%x, %y, %n) : (tensor<2x3x1x4x5xf32>, tensor<3x1x5x4xf32>, none) -> tensor<*xf32> loc("a")
  %b = "top.MatMul"(%a, %w, %n) : (tensor<*xf32>, tensor<4x6xf32>, none) -> tensor<*xf32> loc("b")
  return %b : tensor<*xf32>
}
