// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// InterpFromGathers: what lies between gathered elements is a resized line.

func.func @line(%arg_x: tensor<2x3x4xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("x")
  %t = "top.Permute"(%x) {order = [2, 0, 1]} : (tensor<2x3x4xf32>) -> tensor<*xf32> loc("t")
  %i = "top.Weight"() : () -> tensor<8x1xf32> loc("low_8x1")
  %j = "top.Weight"() : () -> tensor<8x1xf32> loc("high_8x1")
  %w = "top.Weight"() : () -> tensor<1x1x8xf32> loc("share_1x1x8")
  %g = "top.GatherND"(%t, %i) {batch_dims = 0 : i64} : (tensor<*xf32>, tensor<8x1xf32>) -> tensor<*xf32> loc("g")
  %a = "top.Permute"(%g) {order = [1, 2, 0]} : (tensor<*xf32>) -> tensor<*xf32> loc("a")
  %h = "top.GatherND"(%t, %j) {batch_dims = 0 : i64} : (tensor<*xf32>, tensor<8x1xf32>) -> tensor<*xf32> loc("h")
  %b = "top.Permute"(%h) {order = [1, 2, 0]} : (tensor<*xf32>) -> tensor<*xf32> loc("b")
  %d = "top.Sub"(%b, %a) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("d")
  %m = "top.Mul"(%d, %w) : (tensor<*xf32>, tensor<1x1x8xf32>) -> tensor<*xf32> loc("m")
  %y = "top.Add"(%a, %m) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @line
// CHECK: %2 = "top.Reshape"(%1){{.*}}-> tensor<2x3x1x4xf32>
// CHECK-NEXT: %3 = "top.Interp"(%2, %0) {coord_mode = "asymmetric", mode = "linear", scale_h = 1.000000e+00 : f64, scale_w = 2.000000e+00 : f64}{{.*}}-> tensor<2x3x1x8xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<2x3x8xf32>
// CHECK-NEXT: return %4

// -----

// The places are those of eight elements, of which there are nine.
func.func @other_places(%arg_x: tensor<2x3x9xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3x9xf32>) -> tensor<2x3x9xf32> loc("x")
  %i = "top.Weight"() : () -> tensor<16xf32> loc("low_16")
  %j = "top.Weight"() : () -> tensor<16xf32> loc("high_16")
  %w = "top.Weight"() : () -> tensor<1x1x16xf32> loc("share_1x1x16")
  %a = "top.Gather"(%x, %i) {axis = 2 : si32} : (tensor<2x3x9xf32>, tensor<16xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Gather"(%x, %j) {axis = 2 : si32} : (tensor<2x3x9xf32>, tensor<16xf32>) -> tensor<*xf32> loc("b")
  %d = "top.Sub"(%b, %a) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("d")
  %m = "top.Mul"(%d, %w) : (tensor<*xf32>, tensor<1x1x16xf32>) -> tensor<*xf32> loc("m")
  %y = "top.Add"(%m, %a) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @other_places
// CHECK-NOT: "top.Interp"
// CHECK: return
