// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// Slice, Split, Concat, Gather, Expand and Tile.

// Nothing is cut off.
func.func @whole(%arg_x: tensor<4x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x6xf32>) -> tensor<4x6xf32> loc("x")
  %s = "top.Abs"(%x) : (tensor<4x6xf32>) -> tensor<*xf32> loc("s")
  %a = "top.Slice"(%s, %none, %none, %none) {axes = [1], offset = [0], ends = [100], steps = [1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("a")
  %y = "top.Sin"(%a) : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @whole
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<4x6xf32>
// CHECK-NEXT: %2 = "top.Sin"(%1){{.*}}-> tensor<4x6xf32>
// CHECK-NEXT: return %2 : tensor<4x6xf32>

// -----

// Offsets and steps combine.
func.func @slices(%arg_x: tensor<4x30xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x30xf32>) -> tensor<4x30xf32> loc("x")
  %a = "top.Slice"(%x, %none, %none, %none) {axes = [1], offset = [1], ends = [27], steps = [2]} : (tensor<4x30xf32>, none, none, none) -> tensor<*xf32> loc("a")
  %y = "top.Slice"(%a, %none, %none, %none) {axes = [1], offset = [2], ends = [9], steps = [3]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @slices
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}axes = []{{.*}}ends = [4, 18]{{.*}}offset = [0, 5]{{.*}}steps = [1, 6]{{.*}}-> tensor<4x3xf32>
// CHECK-NEXT: return %2 : tensor<4x3xf32>

// -----

// The first is a result, too.
func.func @slice_used_elsewhere(%arg_x: tensor<4x30xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x30xf32>) -> tensor<4x30xf32> loc("x")
  %a = "top.Slice"(%x, %none, %none, %none) {axes = [1], offset = [1], ends = [27], steps = [2]} : (tensor<4x30xf32>, none, none, none) -> tensor<*xf32> loc("a")
  %y = "top.Slice"(%a, %none, %none, %none) {axes = [1], offset = [2], ends = [9], steps = [3]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("y")
  return %a, %y : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @slice_used_elsewhere
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}axes = []{{.*}}ends = [4, 27]{{.*}}offset = [0, 1]{{.*}}steps = [1, 2]{{.*}}-> tensor<4x13xf32>
// CHECK-NEXT: %3 = "top.Slice"(%2, %0, %0, %0){{.*}}axes = []{{.*}}ends = [4, 9]{{.*}}offset = [0, 2]{{.*}}steps = [1, 3]{{.*}}-> tensor<4x3xf32>
// CHECK-NEXT: return %2, %3 : tensor<4x13xf32>, tensor<4x3xf32>

// -----

// All of a dimension, backwards.
func.func @backwards(%arg_x: tensor<4x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x6xf32>) -> tensor<4x6xf32> loc("x")
  %y = "top.Slice"(%x, %none, %none, %none) {axes = [1], offset = [-1], ends = [-100], steps = [-1]} : (tensor<4x6xf32>, none, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @backwards
// CHECK: %1 = "top.Reverse"(%0){{.*}}axis = 1 : i64{{.*}}-> tensor<4x6xf32>
// CHECK-NEXT: return %1 : tensor<4x6xf32>

// -----

// One Slice a part.
func.func @split(%arg_x: tensor<6x4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<6x4xf32>) -> tensor<6x4xf32> loc("x")
  %a, %b = "top.Split"(%x) {axis = 0 : si32, num = 2 : i64, split_size = [2, 4]} : (tensor<6x4xf32>) -> (tensor<*xf32>, tensor<*xf32>) loc(fused["a", "b"])
  return %a, %b : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @split
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}axes = []{{.*}}ends = [2, 9223372036854775807]{{.*}}offset = [0, 0]{{.*}}steps = [1, 1]{{.*}}-> tensor<2x4xf32>
// CHECK-NEXT: %3 = "top.Slice"(%1, %0, %0, %0){{.*}}axes = []{{.*}}ends = [6, 9223372036854775807]{{.*}}offset = [2, 0]{{.*}}steps = [1, 1]{{.*}}-> tensor<4x4xf32>
// CHECK-NEXT: return %2, %3 : tensor<2x4xf32>, tensor<4x4xf32>

// -----

// Slices that belong together.
func.func @neighbours(%arg_x: tensor<4x10xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x10xf32>) -> tensor<4x10xf32> loc("x")
  %a = "top.Slice"(%x, %none, %none, %none) {axes = [1], offset = [1], ends = [4], steps = [1]} : (tensor<4x10xf32>, none, none, none) -> tensor<*xf32> loc("a")
  %b = "top.Slice"(%x, %none, %none, %none) {axes = [1], offset = [4], ends = [9], steps = [1]} : (tensor<4x10xf32>, none, none, none) -> tensor<*xf32> loc("b")
  %y = "top.Concat"(%a, %b) {axis = 1 : si32} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @neighbours
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}axes = []{{.*}}ends = [4, 9]{{.*}}offset = [0, 1]{{.*}}steps = [1, 1]{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %2 : tensor<4x8xf32>

// -----

// The order is turned around.
func.func @rotated(%arg_x: tensor<4x10xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x10xf32>) -> tensor<4x10xf32> loc("x")
  %a = "top.Slice"(%x, %none, %none, %none) {axes = [1], offset = [4], ends = [10], steps = [1]} : (tensor<4x10xf32>, none, none, none) -> tensor<*xf32> loc("a")
  %b = "top.Slice"(%x, %none, %none, %none) {axes = [1], offset = [0], ends = [4], steps = [1]} : (tensor<4x10xf32>, none, none, none) -> tensor<*xf32> loc("b")
  %y = "top.Concat"(%a, %b) {axis = 1 : si32} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @rotated
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}axes = []{{.*}}ends = [4, 10]{{.*}}offset = [0, 4]{{.*}}steps = [1, 1]{{.*}}-> tensor<4x6xf32>
// CHECK-NEXT: %3 = "top.Slice"(%1, %0, %0, %0){{.*}}axes = []{{.*}}ends = [4, 4]{{.*}}offset = [0, 0]{{.*}}steps = [1, 1]{{.*}}-> tensor<4x4xf32>
// CHECK-NEXT: %4 = "top.Concat"(%2, %3){{.*}}axis = 1 : si32{{.*}}-> tensor<4x10xf32>
// CHECK-NEXT: return %4 : tensor<4x10xf32>

// -----

// Nothing to concatenate.
func.func @one_input(%arg_x: tensor<4x10xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x10xf32>) -> tensor<4x10xf32> loc("x")
  %s = "top.Abs"(%x) : (tensor<4x10xf32>) -> tensor<*xf32> loc("s")
  %a = "top.Concat"(%s) {axis = 1 : si32} : (tensor<*xf32>) -> tensor<*xf32> loc("a")
  %y = "top.Sin"(%a) : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @one_input
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<4x10xf32>
// CHECK-NEXT: %2 = "top.Sin"(%1){{.*}}-> tensor<4x10xf32>
// CHECK-NEXT: return %2 : tensor<4x10xf32>

// -----

// A scalar index drops its dimension.
func.func @gather_one(%arg_x: tensor<3x6xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<3x6xf32>) -> tensor<3x6xf32> loc("x")
  %i = "top.Weight"() : () -> tensor<1xf32> loc("two")
  %y = "top.Gather"(%x, %i) {axis = 1 : si32, keepdims = false} : (tensor<3x6xf32>, tensor<1xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @gather_one
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}axes = []{{.*}}ends = [3, 3]{{.*}}offset = [0, 2]{{.*}}steps = [1, 1]{{.*}}-> tensor<3x1xf32>
// CHECK-NEXT: %3 = "top.Squeeze"(%2){{.*}}axes = [1]{{.*}}-> tensor<3xf32>
// CHECK-NEXT: return %3 : tensor<3xf32>

// -----

// Indices 1, 3, 5.
func.func @gather_progression(%arg_x: tensor<3x6xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<3x6xf32>) -> tensor<3x6xf32> loc("x")
  %i = "top.Weight"() : () -> tensor<3xf32> loc("steps_3")
  %y = "top.Gather"(%x, %i) {axis = 1 : si32} : (tensor<3x6xf32>, tensor<3xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @gather_progression
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}axes = []{{.*}}ends = [3, 6]{{.*}}offset = [0, 1]{{.*}}steps = [1, 2]{{.*}}-> tensor<3x3xf32>
// CHECK-NEXT: return %2 : tensor<3x3xf32>

// -----

// Equal indices are no slice.
func.func @gather_repeated(%arg_x: tensor<3x6xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<3x6xf32>) -> tensor<3x6xf32> loc("x")
  %i = "top.Weight"() : () -> tensor<3xf32> loc("ones_3")
  %y = "top.Gather"(%x, %i) {axis = 1 : si32} : (tensor<3x6xf32>, tensor<3xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @gather_repeated
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<3xf32>
// CHECK-NEXT: %2 = "top.Gather"(%0, %1){{.*}}axis = 1 : si32{{.*}}-> tensor<3x3xf32>
// CHECK-NEXT: return %2 : tensor<3x3xf32>

// -----

// The rank first, then copies.
func.func @expand(%arg_x: tensor<6xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<6xf32>) -> tensor<6xf32> loc("x")
  %y = "top.Expand"(%x) {shape = [4, 6]} : (tensor<6xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @expand
// CHECK: %1 = "top.Reshape"(%0){{.*}}-> tensor<1x6xf32>
// CHECK-NEXT: %2 = "top.Tile"(%1){{.*}}tile = [4, 1]{{.*}}-> tensor<4x6xf32>
// CHECK-NEXT: return %2 : tensor<4x6xf32>

// -----

// Copies of copies.
func.func @tiles(%arg_x: tensor<2x3xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("x")
  %a = "top.Tile"(%x) {tile = [1, 2]} : (tensor<2x3xf32>) -> tensor<*xf32> loc("a")
  %y = "top.Tile"(%a) {tile = [3, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @tiles
// CHECK: %1 = "top.Tile"(%0){{.*}}tile = [3, 2]{{.*}}-> tensor<6x6xf32>
// CHECK-NEXT: return %1 : tensor<6x6xf32>

// -----

// An op that stretches its operands needs no Tile of what is 1 long; another reader keeps it.
func.func @stretched_by_reader(%arg_x: tensor<1x4x6xf32>, %arg_y: tensor<1x4x1xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x4x1xf32>) -> tensor<1x4x1xf32> loc("y")
  %t = "top.Tile"(%y) {tile = [1, 1, 6]} : (tensor<1x4x1xf32>) -> tensor<*xf32> loc("t")
  %m = "top.Mul"(%x, %t) : (tensor<1x4x6xf32>, tensor<*xf32>) -> tensor<*xf32> loc("m")
  %s = "top.Softmax"(%t) {axis = 1 : si32} : (tensor<*xf32>) -> tensor<*xf32> loc("s")
  return %m, %s : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @stretched_by_reader
// CHECK: %2 = "top.Tile"(%1){{.*}}-> tensor<1x4x6xf32>
// CHECK-NEXT: %3 = "top.Mul"(%0, %1){{.*}}(tensor<1x4x6xf32>, tensor<1x4x1xf32>) -> tensor<1x4x6xf32>
// CHECK-NEXT: %4 = "top.Softmax"(%2)

// -----

// What is repeated is added up and bounded once.
func.func @computed_once(%arg_x: tensor<4x8x1xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8x1xf32>) -> tensor<4x8x1xf32> loc("x")
  %t = "top.Tile"(%x) {tile = [1, 1, 6]} : (tensor<4x8x1xf32>) -> tensor<*xf32> loc("t")
  %r = "top.Reduce"(%t) {axes = [1], keepdims = false, mode = "ReduceSum"} : (tensor<*xf32>) -> tensor<*xf32> loc("r")
  %y = "top.MaxConst"(%r) {const_val = 1.0 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @computed_once
// CHECK: %1 = "top.Reduce"(%0){{.*}}(tensor<4x8x1xf32>) -> tensor<4x1xf32>
// CHECK-NEXT: %2 = "top.MaxConst"(%1){{.*}}-> tensor<4x1xf32>
// CHECK-NEXT: %3 = "top.Tile"(%2){{.*}}tile = [1, 6]{{.*}}-> tensor<4x6xf32>

// -----

// Refused: the sum is over what is repeated.
func.func @sum_of_repeated(%arg_x: tensor<4x8x1xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8x1xf32>) -> tensor<4x8x1xf32> loc("x")
  %t = "top.Tile"(%x) {tile = [1, 1, 6]} : (tensor<4x8x1xf32>) -> tensor<*xf32> loc("t")
  %y = "top.Reduce"(%t) {axes = [2], keepdims = false, mode = "ReduceSum"} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @sum_of_repeated
// CHECK: %1 = "top.Tile"(%0)
// CHECK-NEXT: %2 = "top.Reduce"(%1)

// -----

// Refused: two numbers are repeated, not one.
func.func @several_repeated(%arg_x: tensor<1x4x6xf32>, %arg_y: tensor<1x4x2xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x4x2xf32>) -> tensor<1x4x2xf32> loc("y")
  %t = "top.Tile"(%y) {tile = [1, 1, 3]} : (tensor<1x4x2xf32>) -> tensor<*xf32> loc("t")
  %m = "top.Mul"(%x, %t) : (tensor<1x4x6xf32>, tensor<*xf32>) -> tensor<*xf32> loc("m")
  return %m : tensor<*xf32>
}

// CHECK-LABEL: func.func @several_repeated
// CHECK: %2 = "top.Tile"(%1)
// CHECK-NEXT: %3 = "top.Mul"(%0, %2)

// -----

// Refused: the sum has its length from the Tile.
func.func @length_of_the_tile(%arg_x: tensor<1x4x1xf32>, %arg_y: tensor<1x4x1xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x4x1xf32>) -> tensor<1x4x1xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x4x1xf32>) -> tensor<1x4x1xf32> loc("y")
  %t = "top.Tile"(%y) {tile = [1, 1, 3]} : (tensor<1x4x1xf32>) -> tensor<*xf32> loc("t")
  %m = "top.Add"(%x, %t) : (tensor<1x4x1xf32>, tensor<*xf32>) -> tensor<*xf32> loc("m")
  return %m : tensor<*xf32>
}

// CHECK-LABEL: func.func @length_of_the_tile
// CHECK: %2 = "top.Tile"(%1)
// CHECK-NEXT: %3 = "top.Add"(%0, %2){{.*}}-> tensor<1x4x3xf32>

// -----

// Refused: together the steps go backwards.
func.func @part_of_what_is_backwards(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %a = "top.Slice"(%x, %n, %n, %n) {offset = [0, 6], ends = [4, 1], steps = [1, -1]} : (tensor<4x8xf32>, none, none, none) -> tensor<*xf32> loc("a")
  %y = "top.Slice"(%a, %n, %n, %n) {offset = [0, 1], ends = [4, 4], steps = [1, 1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @part_of_what_is_backwards
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}offset = [0, 6]{{.*}}-> tensor<4x5xf32>
// CHECK-NEXT: %3 = "top.Slice"(%2, %0, %0, %0){{.*}}offset = [0, 1]{{.*}}-> tensor<4x3xf32>
// CHECK-NEXT: return %3

// -----

// Refused: a part goes backwards, not the whole dimension.
func.func @part_backwards(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %y = "top.Slice"(%x, %n, %n, %n) {offset = [0, 6], ends = [4, 1], steps = [1, -1]} : (tensor<4x8xf32>, none, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @part_backwards
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}offset = [0, 6]{{.*}}-> tensor<4x5xf32>
// CHECK-NEXT: return %2

// -----

// Refused: two dimensions go backwards.
func.func @two_backwards(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %y = "top.Slice"(%x, %n, %n, %n) {offset = [3, 7], ends = [-5, -9], steps = [-1, -1]} : (tensor<4x8xf32>, none, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @two_backwards
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}offset = [3, 7]{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %2

// -----

// Refused: no Reverse of five dimensions.
func.func @five_backwards(%arg_x: tensor<1x2x3x4x8xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x2x3x4x8xf32>) -> tensor<1x2x3x4x8xf32> loc("x")
  %y = "top.Slice"(%x, %n, %n, %n) {offset = [0, 0, 0, 0, 7], ends = [1, 2, 3, 4, -9], steps = [1, 1, 1, 1, -1]} : (tensor<1x2x3x4x8xf32>, none, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @five_backwards
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}offset = [0, 0, 0, 0, 7]{{.*}}-> tensor<1x2x3x4x8xf32>
// CHECK-NEXT: return %2

// -----

// Refused: the convolution moves by two.
func.func @crop_with_strides(%arg_x: tensor<1x3x9x9xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x9x9xf32>) -> tensor<1x3x9x9xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("w")
  %c = "top.Conv"(%x, %w, %n) {kernel_shape = [3, 3], pads = [2, 2, 2, 2], strides = [2, 2], group = 1 : i64} : (tensor<1x3x9x9xf32>, tensor<4x3x3x3xf32>, none) -> tensor<*xf32> loc("c")
  %y = "top.Slice"(%c, %n, %n, %n) {offset = [0, 0, 1, 1], ends = [1, 4, 5, 5], steps = [1, 1, 1, 1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @crop_with_strides
// CHECK: %3 = "top.Conv"(%1, %2, %0){{.*}}-> tensor<1x4x6x6xf32>
// CHECK-NEXT: %4 = "top.Slice"(%3, %0, %0, %0){{.*}}offset = [0, 0, 1, 1]{{.*}}-> tensor<1x4x4x4xf32>
// CHECK-NEXT: return %4

// -----

// Refused: negative numbers become zero.
func.func @neighbours_and_relu(%arg_x: tensor<4x10xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x10xf32>) -> tensor<4x10xf32> loc("x")
  %a = "top.Slice"(%x, %n, %n, %n) {offset = [0, 0], ends = [4, 4], steps = [1, 1]} : (tensor<4x10xf32>, none, none, none) -> tensor<*xf32> loc("a")
  %b = "top.Slice"(%x, %n, %n, %n) {offset = [0, 4], ends = [4, 10], steps = [1, 1]} : (tensor<4x10xf32>, none, none, none) -> tensor<*xf32> loc("b")
  %y = "top.Concat"(%a, %b) {axis = 1 : si32, do_relu = true} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @neighbours_and_relu
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}offset = [0, 0]{{.*}}-> tensor<4x4xf32>
// CHECK-NEXT: %3 = "top.Slice"(%1, %0, %0, %0){{.*}}offset = [0, 4]{{.*}}-> tensor<4x6xf32>
// CHECK-NEXT: %4 = "top.Concat"(%2, %3){{.*}}axis = 1{{.*}}-> tensor<4x10xf32>
// CHECK-NEXT: return %4

// -----

// Refused: a third part comes from elsewhere.
func.func @neighbours_and_another(%arg_x: tensor<4x10xf32>, %arg_v: tensor<4x3xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x10xf32>) -> tensor<4x10xf32> loc("x")
  %v = "top.Input"(%arg_v) : (tensor<4x3xf32>) -> tensor<4x3xf32> loc("v")
  %a = "top.Slice"(%x, %n, %n, %n) {offset = [0, 0], ends = [4, 4], steps = [1, 1]} : (tensor<4x10xf32>, none, none, none) -> tensor<*xf32> loc("a")
  %b = "top.Slice"(%x, %n, %n, %n) {offset = [0, 4], ends = [4, 10], steps = [1, 1]} : (tensor<4x10xf32>, none, none, none) -> tensor<*xf32> loc("b")
  %y = "top.Concat"(%a, %b, %v) {axis = 1 : si32} : (tensor<*xf32>, tensor<*xf32>, tensor<4x3xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @neighbours_and_another
// CHECK: %3 = "top.Slice"(%1, %0, %0, %0){{.*}}offset = [0, 0]{{.*}}-> tensor<4x4xf32>
// CHECK-NEXT: %4 = "top.Slice"(%1, %0, %0, %0){{.*}}offset = [0, 4]{{.*}}-> tensor<4x6xf32>
// CHECK-NEXT: %5 = "top.Concat"(%3, %4, %2){{.*}}axis = 1{{.*}}-> tensor<4x13xf32>
// CHECK-NEXT: return %5

// -----

// Refused: the parts are of different rows.
func.func @neighbours_of_rows(%arg_x: tensor<4x10xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x10xf32>) -> tensor<4x10xf32> loc("x")
  %a = "top.Slice"(%x, %n, %n, %n) {offset = [0, 0], ends = [2, 4], steps = [1, 1]} : (tensor<4x10xf32>, none, none, none) -> tensor<*xf32> loc("a")
  %b = "top.Slice"(%x, %n, %n, %n) {offset = [2, 4], ends = [4, 10], steps = [1, 1]} : (tensor<4x10xf32>, none, none, none) -> tensor<*xf32> loc("b")
  %y = "top.Concat"(%a, %b) {axis = 1 : si32} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @neighbours_of_rows
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}offset = [0, 0]{{.*}}-> tensor<2x4xf32>
// CHECK-NEXT: %3 = "top.Slice"(%1, %0, %0, %0){{.*}}offset = [2, 4]{{.*}}-> tensor<2x6xf32>
// CHECK-NEXT: %4 = "top.Concat"(%2, %3){{.*}}axis = 1{{.*}}-> tensor<2x10xf32>
// CHECK-NEXT: return %4

// -----

// Refused: every element, then every other.
func.func @neighbours_in_steps(%arg_x: tensor<4x10xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x10xf32>) -> tensor<4x10xf32> loc("x")
  %a = "top.Slice"(%x, %n, %n, %n) {offset = [0, 0], ends = [4, 4], steps = [1, 1]} : (tensor<4x10xf32>, none, none, none) -> tensor<*xf32> loc("a")
  %b = "top.Slice"(%x, %n, %n, %n) {offset = [0, 4], ends = [4, 10], steps = [1, 2]} : (tensor<4x10xf32>, none, none, none) -> tensor<*xf32> loc("b")
  %y = "top.Concat"(%a, %b) {axis = 1 : si32} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @neighbours_in_steps
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}offset = [0, 0]{{.*}}-> tensor<4x4xf32>
// CHECK-NEXT: %3 = "top.Slice"(%1, %0, %0, %0){{.*}}offset = [0, 4]{{.*}}-> tensor<4x3xf32>
// CHECK-NEXT: %4 = "top.Concat"(%2, %3){{.*}}axis = 1{{.*}}-> tensor<4x7xf32>
// CHECK-NEXT: return %4

// -----

// Refused: both go backwards.
func.func @neighbours_backwards(%arg_x: tensor<4x10xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x10xf32>) -> tensor<4x10xf32> loc("x")
  %a = "top.Slice"(%x, %n, %n, %n) {offset = [0, 9], ends = [4, 5], steps = [1, -1]} : (tensor<4x10xf32>, none, none, none) -> tensor<*xf32> loc("a")
  %b = "top.Slice"(%x, %n, %n, %n) {offset = [0, 5], ends = [4, -11], steps = [1, -1]} : (tensor<4x10xf32>, none, none, none) -> tensor<*xf32> loc("b")
  %y = "top.Concat"(%a, %b) {axis = 1 : si32} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @neighbours_backwards
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}offset = [0, 9]{{.*}}-> tensor<4x4xf32>
// CHECK-NEXT: %3 = "top.Slice"(%1, %0, %0, %0){{.*}}offset = [0, 5]{{.*}}-> tensor<4x6xf32>
// CHECK-NEXT: %4 = "top.Concat"(%2, %3){{.*}}axis = 1{{.*}}-> tensor<4x10xf32>
// CHECK-NEXT: return %4

// -----

// Refused: every other row, if no more are lost than padding has.
func.func @crop_in_steps(%arg_x: tensor<1x3x3x3xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("w")
  %c = "top.Conv"(%x, %w, %n) {kernel_shape = [3, 3], pads = [2, 2, 2, 2], strides = [1, 1], group = 1 : i64} : (tensor<1x3x3x3xf32>, tensor<4x3x3x3xf32>, none) -> tensor<*xf32> loc("c")
  %y = "top.Slice"(%c, %n, %n, %n) {offset = [0, 0, 0, 0], ends = [1, 4, 5, 5], steps = [1, 1, 2, 1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @crop_in_steps
// CHECK: %3 = "top.Conv"(%1, %2, %0){{.*}}-> tensor<1x4x5x5xf32>
// CHECK-NEXT: %4 = "top.Slice"(%3, %0, %0, %0){{.*}}offset = [0, 0, 0, 0]{{.*}}-> tensor<1x4x3x5xf32>
// CHECK-NEXT: return %4

// -----

// Refused: channels are lost, too.
func.func @crop_of_channels(%arg_x: tensor<1x3x3x3xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("w")
  %c = "top.Conv"(%x, %w, %n) {kernel_shape = [3, 3], pads = [2, 2, 2, 2], strides = [1, 1], group = 1 : i64} : (tensor<1x3x3x3xf32>, tensor<4x3x3x3xf32>, none) -> tensor<*xf32> loc("c")
  %y = "top.Slice"(%c, %n, %n, %n) {offset = [0, 1, 1, 1], ends = [1, 4, 4, 4], steps = [1, 1, 1, 1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @crop_of_channels
// CHECK: %3 = "top.Conv"(%1, %2, %0){{.*}}-> tensor<1x4x5x5xf32>
// CHECK-NEXT: %4 = "top.Slice"(%3, %0, %0, %0){{.*}}offset = [0, 1, 1, 1]{{.*}}-> tensor<1x3x3x3xf32>
// CHECK-NEXT: return %4

// -----

// Boxes and scores are joined, come into rows, and are taken apart again.
func.func @parts(%arg_x: tensor<1x4x9xf32>, %arg_y: tensor<1x8x9xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x4x9xf32>) -> tensor<1x4x9xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x8x9xf32>) -> tensor<1x8x9xf32> loc("y")
  %c = "top.Concat"(%x, %y) {axis = 1 : si32} : (tensor<1x4x9xf32>, tensor<1x8x9xf32>) -> tensor<*xf32> loc("c")
  %p = "top.Permute"(%c) {order = [0, 2, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  %a = "top.Slice"(%p, %none, %none, %none) {axes = [2], offset = [0], ends = [4], steps = [1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("a")
  %b = "top.Slice"(%p, %none, %none, %none) {axes = [2], offset = [4], ends = [12], steps = [1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("b")
  return %a, %b : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @parts
// CHECK: %2 = "top.Permute"(%0){{.*}}order = [0, 2, 1]{{.*}}(tensor<1x4x9xf32>) -> tensor<1x9x4xf32>
// CHECK-NEXT: %3 = "top.Permute"(%1){{.*}}order = [0, 2, 1]{{.*}}(tensor<1x8x9xf32>) -> tensor<1x9x8xf32>
// CHECK-NEXT: return %2, %3 : tensor<1x9x4xf32>, tensor<1x9x8xf32>

// -----

// Filters of channels that nobody reads go.
func.func @some_filters(%arg_x: tensor<1x3x8x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %c = "top.Conv"(%x, %w, %none) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, none) -> tensor<*xf32> loc("c")
  %y = "top.Slice"(%c, %none, %none, %none) {axes = [1], offset = [1], ends = [4], steps = [2]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @some_filters
// CHECK: [[W:%.*]] = "top.Weight"() : () -> tensor<2x3x3x3xf32>
// CHECK-NEXT: "top.Conv"(%{{.*}}, [[W]], %0){{.*}} -> tensor<1x2x8x8xf32>
// CHECK-NOT: "top.Slice"
