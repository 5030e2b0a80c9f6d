// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// Ops that importers leave behind: the same under another name, of no effect, or one where two are.

// An op that swaps two dimensions, counted from the front or the back.
func.func @transpose(%arg_x: tensor<2x4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32> loc("x")
  %y = "top.Transpose"(%x) {dim0 = 1 : si32, dim1 = -1 : si32} : (tensor<2x4x8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @transpose
// CHECK: %1 = "top.Permute"(%0) {order = [0, 2, 1]} : (tensor<2x4x8xf32>) -> tensor<2x8x4xf32>
// CHECK-NEXT: return %1

// -----

func.func @view(%arg_x: tensor<15xf32>) -> tensor<1x3x5xf32> {
  %x = "top.Input"(%arg_x) : (tensor<15xf32>) -> tensor<15xf32> loc("x")
  %s = "top.Weight"() : () -> tensor<3xf32> loc("steps_3")
  %y = "top.View"(%x, %s) : (tensor<15xf32>, tensor<3xf32>) -> tensor<1x3x5xf32> loc("y")
  return %y : tensor<1x3x5xf32>
}

// CHECK-LABEL: func.func @view
// CHECK: %1 = "top.Reshape"(%0){{.*}}-> tensor<1x3x5xf32>
// CHECK-NEXT: return %1

// -----

func.func @pack(%arg_x: tensor<8xf32>, %arg_z: tensor<8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<8xf32>) -> tensor<8xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<8xf32>) -> tensor<8xf32> loc("z")
  %y = "top.Pack"(%x, %z) {axis = 1 : si32, values_count = 2 : i64} : (tensor<8xf32>, tensor<8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @pack
// CHECK: %2 = "top.Reshape"(%0){{.*}}-> tensor<8x1xf32>
// CHECK-NEXT: %3 = "top.Reshape"(%1){{.*}}-> tensor<8x1xf32>
// CHECK-NEXT: %4 = "top.Concat"(%2, %3) {axis = 1 : si32{{.*}}-> tensor<8x2xf32>
// CHECK-NEXT: return %4

// -----

func.func @unpack(%arg_x: tensor<2x8xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<2x8xf32>) -> tensor<2x8xf32> loc("x")
  %y:2 = "top.Unpack"(%x) {axis = 0 : si32, num = 2 : i64} : (tensor<2x8xf32>) -> (tensor<*xf32>, tensor<*xf32>) loc(fused["y0", "y1"])
  return %y#0, %y#1 : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @unpack
// CHECK: %2 = "top.Slice"(%1, {{.*}}ends = [1,{{.*}}offset = [0, 0]{{.*}}-> tensor<1x8xf32>
// CHECK-NEXT: %3 = "top.Slice"(%1, {{.*}}ends = [2,{{.*}}offset = [1, 0]{{.*}}-> tensor<1x8xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%2){{.*}}-> tensor<8xf32>
// CHECK-NEXT: %5 = "top.Reshape"(%3){{.*}}-> tensor<8xf32>
// CHECK-NEXT: return %4, %5

// -----

// To its own size: nothing is left. Twice the size stays.
func.func @resize(%arg_x: tensor<1x4x8x8xf32>) -> (tensor<*xf32>, tensor<1x4x16x16xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> loc("x")
  %n = "top.None"() : () -> none
  %y = "top.Interp"(%x, %n) {coord_mode = "half_pixel", mode = "linear", scale_h = 1.0 : f64, scale_w = 1.0 : f64} : (tensor<1x4x8x8xf32>, none) -> tensor<1x4x8x8xf32> loc("y")
  %s = "top.Sigmoid"(%y) : (tensor<1x4x8x8xf32>) -> tensor<*xf32> loc("s")
  %z = "top.Interp"(%x, %n) {coord_mode = "half_pixel", mode = "linear", scale_h = 2.0 : f64, scale_w = 2.0 : f64} : (tensor<1x4x8x8xf32>, none) -> tensor<1x4x16x16xf32> loc("z")
  return %s, %z : tensor<*xf32>, tensor<1x4x16x16xf32>
}

// CHECK-LABEL: func.func @resize
// CHECK: %2 = "top.Sigmoid"(%0)
// CHECK-NEXT: %3 = "top.Interp"(%0, {{.*}}-> tensor<1x4x16x16xf32>
// CHECK-NEXT: return %2, %3

// -----

// Squeeze of what has no such dimension, as scalars have; Tile once in every direction.
func.func @no_effect(%arg_x: tensor<4x8xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %n = "top.None"() : () -> none
  %y = "top.Squeeze"(%x) {axes = []} : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("y")
  %s = "top.Sigmoid"(%y) : (tensor<4x8xf32>) -> tensor<*xf32> loc("s")
  %t = "top.Tile"(%s) {tile = [1, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("t")
  %u = "top.Sin"(%t) : (tensor<*xf32>) -> tensor<*xf32> loc("u")
  %w = "top.Tile"(%s) {tile = [1, 2]} : (tensor<*xf32>) -> tensor<*xf32> loc("w")
  return %u, %w : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @no_effect
// CHECK: %1 = "top.Sigmoid"(%0)
// CHECK-NEXT: %2 = "top.Sin"(%1)
// CHECK-NEXT: %3 = "top.Tile"(%1) {tile = [1, 2]}{{.*}}-> tensor<4x16xf32>
// CHECK-NEXT: return %2, %3

// -----

// A tensor without elements adds nothing to what is joined.
func.func @empty_part(%arg_x: tensor<4x8xf32>, %arg_z: tensor<0x8xf32>, %arg_v: tensor<2x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<0x8xf32>) -> tensor<0x8xf32> loc("z")
  %v = "top.Input"(%arg_v) : (tensor<2x8xf32>) -> tensor<2x8xf32> loc("v")
  %y = "top.Concat"(%x, %z, %v) {axis = 0 : si32} : (tensor<4x8xf32>, tensor<0x8xf32>, tensor<2x8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @empty_part
// CHECK: "top.Concat"(%{{[0-9]+}}, %{{[0-9]+}}) {axis = 0 : si32{{.*}}-> tensor<6x8xf32>

// -----

// Weights are joined once and for all; beside an activation they stay apart.
func.func @weights(%arg_x: tensor<4x8xf32>) -> (tensor<10x8xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %a = "top.Weight"() : () -> tensor<4x8xf32> loc("random_4x8")
  %b = "top.Weight"() : () -> tensor<6x8xf32> loc("random_6x8")
  %c = "top.Concat"(%a, %b) {axis = 0 : si32} : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<10x8xf32> loc("c")
  %d = "top.Concat"(%x, %b) {axis = 0 : si32} : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<*xf32> loc("d")
  return %c, %d : tensor<10x8xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @weights
// CHECK: "top.Weight"() : () -> tensor<10x8xf32>
// CHECK: "top.Concat"({{.*}}(tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<10x8xf32>
// CHECK-NOT: top.Concat

// -----

// "Equals three" that is not so. A limit other than 0, or another comparison first, is no negation.
func.func @not_equal(%arg_x: tensor<4x8xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %e = "top.CompareConst"(%x) {const_val = 3.0 : f64, inversed = false, mode = "Equal"} : (tensor<4x8xf32>) -> tensor<*xf32> loc("e")
  %y = "top.CompareConst"(%e) {const_val = 0.0 : f64, inversed = false, mode = "Equal"} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  %f = "top.CompareConst"(%x) {const_val = 3.0 : f64, inversed = false, mode = "Equal"} : (tensor<4x8xf32>) -> tensor<*xf32> loc("f")
  %z = "top.CompareConst"(%f) {const_val = 1.0 : f64, inversed = false, mode = "Equal"} : (tensor<*xf32>) -> tensor<*xf32> loc("z")
  %l = "top.CompareConst"(%x) {const_val = 3.0 : f64, inversed = false, mode = "Less"} : (tensor<4x8xf32>) -> tensor<*xf32> loc("l")
  %v = "top.CompareConst"(%l) {const_val = 0.0 : f64, inversed = false, mode = "Equal"} : (tensor<*xf32>) -> tensor<*xf32> loc("v")
  return %y, %z, %v : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @not_equal
// CHECK: %1 = "top.CompareConst"(%0) {const_val = 3.0{{.*}}mode = "NotEqual"
// CHECK-NEXT: %2 = "top.CompareConst"(%0) {const_val = 3.0{{.*}}mode = "Equal"
// CHECK-NEXT: %3 = "top.CompareConst"(%2) {const_val = 1.0{{.*}}mode = "Equal"
// CHECK-NEXT: %4 = "top.CompareConst"(%0) {const_val = 3.0{{.*}}mode = "Less"
// CHECK-NEXT: %5 = "top.CompareConst"(%4) {const_val = 0.0{{.*}}mode = "Equal"
// CHECK-NEXT: return %1, %3, %5

// -----

// GELU whose half is taken last.
func.func @halved_last(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %a = "top.MulConst"(%x) {const_val = 0.70710678 : f64} : (tensor<4x8xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Erf"(%a) : (tensor<*xf32>) -> tensor<*xf32> loc("b")
  %c = "top.AddConst"(%b) {const_val = 1.0 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("c")
  %d = "top.Mul"(%x, %c) : (tensor<4x8xf32>, tensor<*xf32>) -> tensor<*xf32> loc("d")
  %y = "top.MulConst"(%d) {const_val = 0.5 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @halved_last
// CHECK: %1 = "top.GELU"(%0){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %1

// -----

// A quarter is no GELU.
func.func @quartered(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %a = "top.MulConst"(%x) {const_val = 0.70710678 : f64} : (tensor<4x8xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Erf"(%a) : (tensor<*xf32>) -> tensor<*xf32> loc("b")
  %c = "top.AddConst"(%b) {const_val = 1.0 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("c")
  %d = "top.Mul"(%x, %c) : (tensor<4x8xf32>, tensor<*xf32>) -> tensor<*xf32> loc("d")
  %y = "top.MulConst"(%d) {const_val = 0.25 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @quartered
// CHECK-NOT: top.GELU
// CHECK: "top.Erf"

// -----

// Weights of one dimension get the rank of what they scale.
func.func @group_norm(%arg_x: tensor<1x4x2x2xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4xf32> loc("random_4")
  %b = "top.Weight"() : () -> tensor<4xf32> loc("ones_4")
  %y = "top.GroupNorm"(%x, %w, %b) {eps = 1.0e-05 : f64, num_groups = 2 : i64} : (tensor<1x4x2x2xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @group_norm
// CHECK: "top.GroupNorm"({{.*}}(tensor<1x4x2x2xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>)

// -----

// Frames and channels change places in the filter (3 frames, 2 channels) instead of the image.
func.func @frames_first(%arg_x: tensor<1x2x3x8x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x2x3x8x8xf32>) -> tensor<1x2x3x8x8xf32> loc("x")
  %n = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<4x3x2x3x3xf32> loc("random_4x3x2x3x3")
  %p = "top.Permute"(%x) {order = [0, 2, 1, 3, 4]} : (tensor<1x2x3x8x8xf32>) -> tensor<*xf32> loc("p")
  %y = "top.Conv"(%p, %w, %n) {dilations = [1, 1, 1], group = 1 : i64, kernel_shape = [2, 3, 3], pads = [0, 0, 0, 0, 0, 0], strides = [1, 1, 1]} : (tensor<*xf32>, tensor<4x3x2x3x3xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @frames_first
// CHECK-NOT: top.Permute
// CHECK: "top.Conv"

// -----

// Rows and columns that change places do not.
func.func @columns_first(%arg_x: tensor<1x3x2x8x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x3x2x8x8xf32>) -> tensor<1x3x2x8x8xf32> loc("x")
  %n = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<4x3x2x3x3xf32> loc("random_4x3x2x3x3")
  %p = "top.Permute"(%x) {order = [0, 1, 2, 4, 3]} : (tensor<1x3x2x8x8xf32>) -> tensor<*xf32> loc("p")
  %y = "top.Conv"(%p, %w, %n) {dilations = [1, 1, 1], group = 1 : i64, kernel_shape = [2, 3, 3], pads = [0, 0, 0, 0, 0, 0], strides = [1, 1, 1]} : (tensor<*xf32>, tensor<4x3x2x3x3xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @columns_first
// CHECK: top.Permute
// CHECK: "top.Conv"

// -----

// Refused: negative numbers of the weights become zero.
func.func @weights_and_relu() -> tensor<*xf32> {
  %v = "top.Weight"() : () -> tensor<1x4xf32> loc("ones_1x4")
  %y = "top.Concat"(%v, %v) {axis = 0 : si32, do_relu = true} : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @weights_and_relu
// CHECK: %2 = "top.Concat"(%0, %1){{.*}}axis = 0{{.*}}-> tensor<2x4xf32>
// CHECK-NEXT: return %2

// -----

// Refused: one part is computed.
func.func @weight_and_another(%arg_x: tensor<1x4xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("x")
  %v = "top.Weight"() : () -> tensor<1x4xf32> loc("ones_1x4")
  %y = "top.Concat"(%v, %x) {axis = 0 : si32} : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @weight_and_another
// CHECK: %2 = "top.Concat"(%1, %0){{.*}}axis = 0{{.*}}-> tensor<2x4xf32>
// CHECK-NEXT: return %2

// -----

// What is repeated changes its order before it is: also where it is longer than 1.
func.func @tile_after_permute(%arg_x: tensor<4x2x1x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x2x1x8xf32>) -> tensor<4x2x1x8xf32> loc("x")
  %t = "top.Tile"(%x) {tile = [1, 3, 16, 1]} : (tensor<4x2x1x8xf32>) -> tensor<*xf32> loc("t")
  %p = "top.Permute"(%t) {order = [0, 2, 3, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  return %p : tensor<*xf32>
}

// CHECK-LABEL: func.func @tile_after_permute
// CHECK: %1 = "top.Permute"(%0) {order = [0, 2, 3, 1]} : (tensor<4x2x1x8xf32>) -> tensor<4x1x8x2xf32>
// CHECK-NEXT: %2 = "top.Tile"(%1) {tile = [1, 16, 1, 3]} : (tensor<4x1x8x2xf32>) -> tensor<4x16x8x6xf32>
// CHECK-NEXT: return %2

// -----

// A choice between numbers is made before its condition is repeated; that by a tensor is not.
func.func @choice_before_tile(%arg_x: tensor<4x1x8xf32>, %arg_z: tensor<4x16x16xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x1x8xf32>) -> tensor<4x1x8xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<4x16x16xf32>) -> tensor<4x16x16xf32> loc("z")
  %t = "top.Tile"(%x) {tile = [1, 16, 1]} : (tensor<4x1x8xf32>) -> tensor<*xf32> loc("t")
  %w = "top.Where"(%t, %none, %none) {x_is_const = true, x_const_val = 0.0 : f64, y_is_const = true, y_const_val = -9.0 : f64} : (tensor<*xf32>, none, none) -> tensor<*xf32> loc("w")
  %u = "top.Tile"(%x) {tile = [1, 1, 2]} : (tensor<4x1x8xf32>) -> tensor<*xf32> loc("u")
  %v = "top.Where"(%u, %none, %z) {x_is_const = true, x_const_val = 0.0 : f64} : (tensor<*xf32>, none, tensor<4x16x16xf32>) -> tensor<*xf32> loc("v")
  return %w, %v : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @choice_before_tile
// CHECK: [[W:%.*]] = "top.Where"(%1, {{.*}} -> tensor<4x1x8xf32>
// CHECK: "top.Tile"([[W]]) {tile = [1, 16, 1]}
// CHECK: [[U:%.*]] = "top.Tile"(%1) {tile = [1, 1, 2]}
// CHECK: "top.Where"([[U]],

// -----

// Somebody else reads what is repeated in its order.
func.func @tile_with_readers(%arg_x: tensor<4x2x1x8xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<4x2x1x8xf32>) -> tensor<4x2x1x8xf32> loc("x")
  %t = "top.Tile"(%x) {tile = [1, 1, 16, 1]} : (tensor<4x2x1x8xf32>) -> tensor<*xf32> loc("t")
  %p = "top.Permute"(%t) {order = [0, 2, 3, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  return %t, %p : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @tile_with_readers
// CHECK: %1 = "top.Tile"(%0)
// CHECK-NEXT: %2 = "top.Permute"(%1)
