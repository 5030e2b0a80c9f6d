// RUN: tpu-opt %s --split-input-file --processor-tpu-optimize --no-locations | filecheck %s

// Permutes move behind Slices, Pads, Tiles and MaskedFills, and come into the form products take in.

// PermuteFuseAddSoftmaxSlice: both parts of a Softmax are read by products.
// CHECK-LABEL: func.func @parts
// CHECK: "tpu.Softmax"{{.*}} -> tensor<2x7x3x10xf32>
// CHECK-NOT: "tpu.Permute"
// CHECK: "tpu.Slice"{{.*}}ends = [2, 7, 3, 4]{{.*}}-> tensor<2x7x3x4xf32>
// CHECK-NEXT: "tpu.Slice"{{.*}}offset = [0, 0, 0, 4]{{.*}}-> tensor<2x7x3x6xf32>
// CHECK-NEXT: "tpu.MatMul"{{.*}}hdim_is_batch = true
// CHECK-NEXT: "tpu.MatMul"{{.*}}hdim_is_batch = true
module attributes {module.state = "TPU_LOWERED"} {
func.func @parts(%arg0: tensor<2x7x3x10xf32>, %arg1: tensor<2x4x3x6xf32>, %arg2: tensor<2x6x3x6xf32>) -> (tensor<2x7x3x6xf32>, tensor<2x7x3x6xf32>) {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<2x7x3x10xf32>) -> tensor<2x7x3x10xf32> loc("x")
  %a = "top.Input"(%arg1) : (tensor<2x4x3x6xf32>) -> tensor<2x4x3x6xf32> loc("a")
  %b = "top.Input"(%arg2) : (tensor<2x6x3x6xf32>) -> tensor<2x6x3x6xf32> loc("b")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x7x3x10xf32>, none) -> tensor<2x3x7x10xf32> loc("p")
  %s = "tpu.Softmax"(%p, %n, %n, %n, %n, %n) {axis = 3 : si32} : (tensor<2x3x7x10xf32>, none, none, none, none, none) -> tensor<2x3x7x10xf32> loc("s")
  %c0 = "tpu.Slice"(%s, %n, %n, %n, %n) {offset = [0, 0, 0, 0], ends = [2, 3, 7, 4], steps = [1, 1, 1, 1]} : (tensor<2x3x7x10xf32>, none, none, none, none) -> tensor<2x3x7x4xf32> loc("c0")
  %c1 = "tpu.Slice"(%s, %n, %n, %n, %n) {offset = [0, 0, 0, 4], ends = [2, 3, 7, 10], steps = [1, 1, 1, 1]} : (tensor<2x3x7x10xf32>, none, none, none, none) -> tensor<2x3x7x6xf32> loc("c1")
  %pa = "tpu.Permute"(%a, %n) {order = [0, 2, 1, 3]} : (tensor<2x4x3x6xf32>, none) -> tensor<2x3x4x6xf32> loc("pa")
  %pb = "tpu.Permute"(%b, %n) {order = [0, 2, 1, 3]} : (tensor<2x6x3x6xf32>, none) -> tensor<2x3x6x6xf32> loc("pb")
  %m0 = "tpu.MatMul"(%c0, %pa, %n, %n, %n) : (tensor<2x3x7x4xf32>, tensor<2x3x4x6xf32>, none, none, none) -> tensor<2x3x7x6xf32> loc("m0")
  %m1 = "tpu.MatMul"(%c1, %pb, %n, %n, %n) : (tensor<2x3x7x6xf32>, tensor<2x3x6x6xf32>, none, none, none) -> tensor<2x3x7x6xf32> loc("m1")
  %y0 = "tpu.Permute"(%m0, %n) {order = [0, 2, 1, 3]} : (tensor<2x3x7x6xf32>, none) -> tensor<2x7x3x6xf32> loc("y0")
  %y1 = "tpu.Permute"(%m1, %n) {order = [0, 2, 1, 3]} : (tensor<2x3x7x6xf32>, none) -> tensor<2x7x3x6xf32> loc("y1")
  return %y0, %y1 : tensor<2x7x3x6xf32>, tensor<2x7x3x6xf32>
}
}

// -----

// Refused: one of the readers is no Slice.
// CHECK-LABEL: func.func @whole
// CHECK: "tpu.Permute"
// CHECK: "tpu.Slice"{{.*}}-> tensor<2x3x7x4xf32>
module attributes {module.state = "TPU_LOWERED"} {
func.func @whole(%arg0: tensor<2x7x3x10xf32>) -> (tensor<2x7x3x4xf32>, tensor<2x3x7x10xf32>) {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<2x7x3x10xf32>) -> tensor<2x7x3x10xf32> loc("x")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x7x3x10xf32>, none) -> tensor<2x3x7x10xf32> loc("p")
  %c = "tpu.Slice"(%p, %n, %n, %n, %n) {offset = [0, 0, 0, 0], ends = [2, 3, 7, 4], steps = [1, 1, 1, 1]} : (tensor<2x3x7x10xf32>, none, none, none, none) -> tensor<2x3x7x4xf32> loc("c")
  %q = "tpu.Permute"(%c, %n) {order = [0, 2, 1, 3]} : (tensor<2x3x7x4xf32>, none) -> tensor<2x7x3x4xf32> loc("q")
  %y = "tpu.MinConst"(%p) {const_val = 1.0 : f64} : (tensor<2x3x7x10xf32>) -> tensor<2x3x7x10xf32> loc("y")
  return %q, %y : tensor<2x7x3x4xf32>, tensor<2x3x7x10xf32>
}
}

// -----

// PermutePadSwap: counts go with their dimensions, and the Permutes cancel.
// CHECK-LABEL: func.func @pad
// CHECK-NOT: "tpu.Permute"
// CHECK: "tpu.Pad"{{.*}}paddings = [0, 2, 1, 3, 1, 4, 0, 0]{{.*}}-> tensor<3x11x4x10xf32>
// CHECK-NOT: "tpu.Permute"
module attributes {module.state = "TPU_LOWERED"} {
func.func @pad(%arg0: tensor<2x5x3x7xf32>) -> tensor<3x11x4x10xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
  %q = "tpu.Pad"(%p, %n, %n, %n, %n) {paddings = [0, 1, 2, 3, 1, 0, 4, 0]} : (tensor<2x3x5x7xf32>, none, none, none, none) -> tensor<3x4x11x10xf32> loc("q")
  %y = "tpu.Permute"(%q, %n) {order = [0, 2, 1, 3]} : (tensor<3x4x11x10xf32>, none) -> tensor<3x11x4x10xf32> loc("y")
  %z = "tpu.MinConst"(%y) {const_val = 1.0 : f64} : (tensor<3x11x4x10xf32>) -> tensor<3x11x4x10xf32> loc("z")
  return %z : tensor<3x11x4x10xf32>
}
}

// -----

// Refused: nothing behind the Pad takes the Permute in, which would then move more.
// CHECK-LABEL: func.func @pad_alone
// CHECK: "tpu.Permute"
// CHECK-NEXT: "tpu.Pad"
module attributes {module.state = "TPU_LOWERED"} {
func.func @pad_alone(%arg0: tensor<2x5x3x7xf32>) -> tensor<2x4x5x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
  %q = "tpu.Pad"(%p, %n, %n, %n, %n) {paddings = [0, 1, 0, 0, 0, 0, 0, 0]} : (tensor<2x3x5x7xf32>, none, none, none, none) -> tensor<2x4x5x7xf32> loc("q")
  return %q : tensor<2x4x5x7xf32>
}
}

// -----

// PermuteTileSwap: the Tile stays, both Permutes go into the product.
// CHECK-LABEL: func.func @tile
// CHECK: "tpu.Tile"{{.*}}tile = [1, 1, 3, 1]{{.*}}-> tensor<2x5x3x6xf32>
// CHECK-NEXT: "tpu.MatMul"{{.*}}hdim_is_batch = true
module attributes {module.state = "TPU_LOWERED"} {
func.func @tile(%arg0: tensor<2x7x3x5xf32>, %arg1: tensor<2x5x1x6xf32>) -> tensor<2x3x7x6xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32> loc("x")
  %w = "top.Input"(%arg1) : (tensor<2x5x1x6xf32>) -> tensor<2x5x1x6xf32> loc("w")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x3x7x5xf32> loc("p")
  %q = "tpu.Permute"(%w, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x1x6xf32>, none) -> tensor<2x1x5x6xf32> loc("q")
  %t = "tpu.Tile"(%q, %n) {tile = [1, 3, 1, 1]} : (tensor<2x1x5x6xf32>, none) -> tensor<2x3x5x6xf32> loc("t")
  %y = "tpu.MatMul"(%p, %t, %n, %n, %n) : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32> loc("y")
  return %y : tensor<2x3x7x6xf32>
}
}

// -----

// MaskedFillPermuteMove: a condition for all heads gets a Reshape.
// CHECK-LABEL: func.func @fill
// CHECK-NOT: "tpu.Permute"
// CHECK: "tpu.Reshape"{{.*}} -> tensor<2x5x1x7xf32>
// CHECK-NEXT: "tpu.MaskedFill"{{.*}} -> tensor<2x5x3x7xf32>
// CHECK-NOT: "tpu.Permute"
module attributes {module.state = "TPU_LOWERED"} {
func.func @fill(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x1x5x7xf32>) -> tensor<2x5x3x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %c = "top.Input"(%arg1) : (tensor<2x1x5x7xf32>) -> tensor<2x1x5x7xf32> loc("c")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
  %f = "tpu.MaskedFill"(%c, %p) {const_val = -4.0 : f64, inversed = false} : (tensor<2x1x5x7xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> loc("f")
  %q = "tpu.Permute"(%f, %n) {order = [0, 2, 1, 3]} : (tensor<2x3x5x7xf32>, none) -> tensor<2x5x3x7xf32> loc("q")
  %y = "tpu.MinConst"(%q) {const_val = 1.0 : f64} : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("y")
  return %y : tensor<2x5x3x7xf32>
}
}

// -----

// The condition is what is permuted; the value gets a Permute that the last one pays for.
// CHECK-LABEL: func.func @condition
// CHECK: "tpu.Permute"(%{{.*}}) {order = [0, 2, 1, 3]}{{.*}}tensor<2x3x5x7xf32>{{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: "tpu.MaskedFill"
// CHECK-NOT: "tpu.Permute"
module attributes {module.state = "TPU_LOWERED"} {
func.func @condition(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x3x5x7xf32>) -> tensor<2x5x3x7xf32> {
  %n = "top.None"() : () -> none
  %c = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("c")
  %x = "top.Input"(%arg1) : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> loc("x")
  %p = "tpu.Permute"(%c, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
  %f = "tpu.MaskedFill"(%p, %x) {const_val = -4.0 : f64, inversed = false} : (tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> loc("f")
  %q = "tpu.Permute"(%f, %n) {order = [0, 2, 1, 3]} : (tensor<2x3x5x7xf32>, none) -> tensor<2x5x3x7xf32> loc("q")
  %y = "tpu.MinConst"(%q) {const_val = 1.0 : f64} : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("y")
  return %y : tensor<2x5x3x7xf32>
}
}

// -----

// Refused: the result is wanted in this order, so that there would be two Permutes for one.
// CHECK-LABEL: func.func @fill_last
// CHECK: "tpu.Permute"
// CHECK-NEXT: "tpu.MaskedFill"
// CHECK-NEXT: return
module attributes {module.state = "TPU_LOWERED"} {
func.func @fill_last(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %c = "top.Input"(%arg1) : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> loc("c")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
  %f = "tpu.MaskedFill"(%c, %p) {const_val = -4.0 : f64, inversed = false} : (tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> loc("f")
  return %f : tensor<2x3x5x7xf32>
}
}

// -----

// Refused: heads do not move.
func.func @part_in_another_order(%arg_x: tensor<2x5x3x7xf32>) -> tensor<2x5x5x3xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %p = "tpu.Permute"(%x, %n) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32> loc("p")
  %s = "tpu.Slice"(%p, %n, %n, %n, %n) {offset = [0, 2, 0, 0], ends = [2, 7, 5, 3], steps = [1, 1, 1, 1]} : (tensor<2x7x5x3xf32>, none, none, none, none) -> tensor<2x5x5x3xf32> loc("s")
  %q = "tpu.Permute"(%s, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x5x3xf32>, none) -> tensor<2x5x5x3xf32> loc("q")
  %y = "tpu.MinConst"(%q) {const_val = 1.0 : f64} : (tensor<2x5x5x3xf32>) -> tensor<2x5x5x3xf32> loc("y")
  return %y : tensor<2x5x5x3xf32>
}

// CHECK-LABEL: func.func @part_in_another_order
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %3 = "tpu.Slice"(%2, %0, %0, %0, %0){{.*}}offset = [0, 2, 0, 0]{{.*}}-> tensor<2x5x5x3xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x5x5x3xf32>
// CHECK-NEXT: %5 = "tpu.MinConst"(%4){{.*}}-> tensor<2x5x5x3xf32>
// CHECK-NEXT: return %5

// -----

// Refused: the parts are together larger than the whole.
func.func @parts_overlap(%arg_x: tensor<2x5x3x7xf32>) -> (tensor<2x5x3x5xf32>, tensor<2x5x3x5xf32>) {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
  %a = "tpu.Slice"(%p, %n, %n, %n, %n) {offset = [0, 0, 0, 0], ends = [2, 3, 5, 5], steps = [1, 1, 1, 1]} : (tensor<2x3x5x7xf32>, none, none, none, none) -> tensor<2x3x5x5xf32> loc("a")
  %b = "tpu.Slice"(%p, %n, %n, %n, %n) {offset = [0, 0, 0, 2], ends = [2, 3, 5, 7], steps = [1, 1, 1, 1]} : (tensor<2x3x5x7xf32>, none, none, none, none) -> tensor<2x3x5x5xf32> loc("b")
  %c = "tpu.Permute"(%a, %n) {order = [0, 2, 1, 3]} : (tensor<2x3x5x5xf32>, none) -> tensor<2x5x3x5xf32> loc("c")
  %d = "tpu.Permute"(%b, %n) {order = [0, 2, 1, 3]} : (tensor<2x3x5x5xf32>, none) -> tensor<2x5x3x5xf32> loc("d")
  %y = "tpu.MinConst"(%c) {const_val = 1.0 : f64} : (tensor<2x5x3x5xf32>) -> tensor<2x5x3x5xf32> loc("y")
  %z = "tpu.MinConst"(%d) {const_val = 1.0 : f64} : (tensor<2x5x3x5xf32>) -> tensor<2x5x3x5xf32> loc("z")
  return %y, %z : tensor<2x5x3x5xf32>, tensor<2x5x3x5xf32>
}

// CHECK-LABEL: func.func @parts_overlap
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %3 = "tpu.Slice"(%2, %0, %0, %0, %0){{.*}}offset = [0, 0, 0, 0]{{.*}}-> tensor<2x3x5x5xf32>
// CHECK-NEXT: %4 = "tpu.Slice"(%2, %0, %0, %0, %0){{.*}}offset = [0, 0, 0, 2]{{.*}}-> tensor<2x3x5x5xf32>
// CHECK-NEXT: %5 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x5x3x5xf32>
// CHECK-NEXT: %6 = "tpu.Permute"(%4, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x5x3x5xf32>
// CHECK-NEXT: %7 = "tpu.MinConst"(%5){{.*}}-> tensor<2x5x3x5xf32>
// CHECK-NEXT: %8 = "tpu.MinConst"(%6){{.*}}-> tensor<2x5x3x5xf32>
// CHECK-NEXT: return %7, %8

// -----

// Refused: where the part begins is computed.
func.func @part_is_computed(%arg_x: tensor<2x5x3x7xf32>, %arg_o: tensor<4xf32>) -> tensor<2x4x3x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %o = "top.Input"(%arg_o) : (tensor<4xf32>) -> tensor<4xf32> loc("o")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
  %s = "tpu.Slice"(%p, %o, %n, %n, %n) {offset = [0, 0, 1, 0], ends = [2, 3, 5, 7], steps = [1, 1, 1, 1]} : (tensor<2x3x5x7xf32>, tensor<4xf32>, none, none, none) -> tensor<2x3x4x7xf32> loc("s")
  %q = "tpu.Permute"(%s, %n) {order = [0, 2, 1, 3]} : (tensor<2x3x4x7xf32>, none) -> tensor<2x4x3x7xf32> loc("q")
  %y = "tpu.MinConst"(%q) {const_val = 1.0 : f64} : (tensor<2x4x3x7xf32>) -> tensor<2x4x3x7xf32> loc("y")
  return %y : tensor<2x4x3x7xf32>
}

// CHECK-LABEL: func.func @part_is_computed
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %4 = "tpu.Slice"(%3, %2, %0, %0, %0){{.*}}offset = [0, 0, 1, 0]{{.*}}-> tensor<2x3x4x7xf32>
// CHECK-NEXT: %5 = "tpu.Permute"(%4, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x4x3x7xf32>
// CHECK-NEXT: %6 = "tpu.MinConst"(%5){{.*}}-> tensor<2x4x3x7xf32>
// CHECK-NEXT: return %6

// -----

// Refused: one part is wanted as it is.
func.func @part_is_returned(%arg_x: tensor<2x5x3x7xf32>) -> tensor<2x3x4x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
  %s = "tpu.Slice"(%p, %n, %n, %n, %n) {offset = [0, 0, 1, 0], ends = [2, 3, 5, 7], steps = [1, 1, 1, 1]} : (tensor<2x3x5x7xf32>, none, none, none, none) -> tensor<2x3x4x7xf32> loc("s")
  return %s : tensor<2x3x4x7xf32>
}

// CHECK-LABEL: func.func @part_is_returned
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %3 = "tpu.Slice"(%2, %0, %0, %0, %0){{.*}}offset = [0, 0, 1, 0]{{.*}}-> tensor<2x3x4x7xf32>
// CHECK-NEXT: return %3

// -----

// Refused: zeros go in between the elements.
func.func @pad_between(%arg_x: tensor<2x5x3x7xf32>) -> tensor<2x6x3x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
  %t = "tpu.Pad"(%p, %n, %n, %n) {paddings = [0, 0, 1, 0, 0, 0, 0, 0], with_insert_zero = true, insert_zeros = [0, 0]} : (tensor<2x3x5x7xf32>, none, none, none) -> tensor<2x3x6x7xf32> loc("t")
  %q = "tpu.Permute"(%t, %n) {order = [0, 2, 1, 3]} : (tensor<2x3x6x7xf32>, none) -> tensor<2x6x3x7xf32> loc("q")
  %y = "tpu.MinConst"(%q) {const_val = 1.0 : f64} : (tensor<2x6x3x7xf32>) -> tensor<2x6x3x7xf32> loc("y")
  return %y : tensor<2x6x3x7xf32>
}

// CHECK-LABEL: func.func @pad_between
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %3 = "tpu.Pad"(%2, %0, %0, %0){{.*}}paddings = [0, 0, 1, 0, 0, 0, 0, 0]{{.*}}-> tensor<2x3x6x7xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x6x3x7xf32>
// CHECK-NEXT: %5 = "tpu.MinConst"(%4){{.*}}-> tensor<2x6x3x7xf32>
// CHECK-NEXT: return %5

// -----

// Refused: a function behind is all that reads it, and nothing takes the Permute in.
func.func @pad_behind_scaled(%arg_x: tensor<2x5x3x7xf32>) -> tensor<2x3x6x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
  %t = "tpu.Pad"(%p, %n, %n, %n) {paddings = [0, 0, 1, 0, 0, 0, 0, 0]} : (tensor<2x3x5x7xf32>, none, none, none) -> tensor<2x3x6x7xf32> loc("t")
  %y = "tpu.AddConst"(%t) {const_val = 1.0 : f64} : (tensor<2x3x6x7xf32>) -> tensor<2x3x6x7xf32> loc("y")
  return %y : tensor<2x3x6x7xf32>
}

// CHECK-LABEL: func.func @pad_behind_scaled
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %3 = "tpu.Pad"(%2, %0, %0, %0){{.*}}paddings = [0, 0, 1, 0, 0, 0, 0, 0]{{.*}}-> tensor<2x3x6x7xf32>
// CHECK-NEXT: %4 = "tpu.AddConst"(%3){{.*}}-> tensor<2x3x6x7xf32>
// CHECK-NEXT: return %4

// -----

// Refused: in this order a Permute does not go behind a function.
func.func @pad_in_another_order(%arg_x: tensor<2x5x3x7xf32>) -> tensor<2x6x7x3xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %p = "tpu.Permute"(%x, %n) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32> loc("p")
  %t = "tpu.Pad"(%p, %n, %n, %n) {paddings = [0, 0, 1, 0, 0, 0, 0, 0]} : (tensor<2x7x5x3xf32>, none, none, none) -> tensor<2x7x6x3xf32> loc("t")
  %a = "tpu.AddConst"(%t) {const_val = 1.0 : f64} : (tensor<2x7x6x3xf32>) -> tensor<2x7x6x3xf32> loc("a")
  %q = "tpu.Permute"(%a, %n) {order = [0, 2, 1, 3]} : (tensor<2x7x6x3xf32>, none) -> tensor<2x6x7x3xf32> loc("q")
  %y = "tpu.MinConst"(%q) {const_val = 1.0 : f64} : (tensor<2x6x7x3xf32>) -> tensor<2x6x7x3xf32> loc("y")
  return %y : tensor<2x6x7x3xf32>
}

// CHECK-LABEL: func.func @pad_in_another_order
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %3 = "tpu.Pad"(%2, %0, %0, %0){{.*}}paddings = [0, 0, 1, 0, 0, 0, 0, 0]{{.*}}-> tensor<2x7x6x3xf32>
// CHECK-NEXT: %4 = "tpu.AddConst"(%3){{.*}}-> tensor<2x7x6x3xf32>
// CHECK-NEXT: %5 = "tpu.Permute"(%4, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x6x7x3xf32>
// CHECK-NEXT: %6 = "tpu.MinConst"(%5){{.*}}-> tensor<2x6x7x3xf32>
// CHECK-NEXT: return %6

// -----

// Refused: in this order a product does not take the Permute in.
func.func @pad_for_a_product_in_another_order(%arg_x: tensor<2x5x3x7xf32>, %arg_w: tensor<2x7x3x4xf32>) -> tensor<2x7x6x4xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<2x7x3x4xf32>) -> tensor<2x7x3x4xf32> loc("w")
  %p = "tpu.Permute"(%x, %n) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32> loc("p")
  %t = "tpu.Pad"(%p, %n, %n, %n) {paddings = [0, 0, 1, 0, 0, 0, 0, 0]} : (tensor<2x7x5x3xf32>, none, none, none) -> tensor<2x7x6x3xf32> loc("t")
  %y = "tpu.MatMul"(%t, %w, %n, %n, %n) : (tensor<2x7x6x3xf32>, tensor<2x7x3x4xf32>, none, none, none) -> tensor<2x7x6x4xf32> loc("y")
  return %y : tensor<2x7x6x4xf32>
}

// CHECK-LABEL: func.func @pad_for_a_product_in_another_order
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %4 = "tpu.Pad"(%3, %0, %0, %0){{.*}}paddings = [0, 0, 1, 0, 0, 0, 0, 0]{{.*}}-> tensor<2x7x6x3xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%4, %2, %0, %0, %0){{.*}}-> tensor<2x7x6x4xf32>
// CHECK-NEXT: return %5

// -----

// Refused: the product reads heads as they lie already.
func.func @pad_for_a_product_of_heads(%arg_x: tensor<2x5x3x7xf32>, %arg_w: tensor<2x7x6x4xf32>) -> tensor<2x3x6x4xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<2x7x6x4xf32>) -> tensor<2x7x6x4xf32> loc("w")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
  %t = "tpu.Pad"(%p, %n, %n, %n) {paddings = [0, 0, 1, 0, 0, 0, 0, 0]} : (tensor<2x3x5x7xf32>, none, none, none) -> tensor<2x3x6x7xf32> loc("t")
  %y = "tpu.MatMul"(%t, %w, %n, %n, %n) {hdim_is_batch = true} : (tensor<2x3x6x7xf32>, tensor<2x7x6x4xf32>, none, none, none) -> tensor<2x3x6x4xf32> loc("y")
  return %y : tensor<2x3x6x4xf32>
}

// CHECK-LABEL: func.func @pad_for_a_product_of_heads
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %4 = "tpu.Pad"(%3, %0, %0, %0){{.*}}paddings = [0, 0, 1, 0, 0, 0, 0, 0]{{.*}}-> tensor<2x3x6x7xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%4, %2, %0, %0, %0){{.*}}hdim_is_batch = true{{.*}}-> tensor<2x3x6x4xf32>
// CHECK-NEXT: return %5

// -----

// Refused: no product reads the Tile.
func.func @tile_in_a_sum(%arg_x: tensor<2x7x3x5xf32>, %arg_w: tensor<1x7x3x5xf32>) -> tensor<2x3x7x5xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<1x7x3x5xf32>) -> tensor<1x7x3x5xf32> loc("w")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x3x7x5xf32> loc("p")
  %q = "tpu.Permute"(%w, %n) {order = [0, 2, 1, 3]} : (tensor<1x7x3x5xf32>, none) -> tensor<1x3x7x5xf32> loc("q")
  %t = "tpu.Tile"(%q, %n) {tile = [2, 1, 1, 1]} : (tensor<1x3x7x5xf32>, none) -> tensor<2x3x7x5xf32> loc("t")
  %y = "tpu.Div"(%p, %t) : (tensor<2x3x7x5xf32>, tensor<2x3x7x5xf32>) -> tensor<2x3x7x5xf32> loc("y")
  return %y : tensor<2x3x7x5xf32>
}

// CHECK-LABEL: func.func @tile_in_a_sum
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<1x3x7x5xf32>
// CHECK-NEXT: %5 = "tpu.Tile"(%4, %0){{.*}}tile = [2, 1, 1, 1]{{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: %6 = "tpu.Div"(%3, %5){{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: return %6

// -----

// Refused: something else reads the Tile, too.
func.func @tile_used(%arg_x: tensor<2x7x3x5xf32>, %arg_w: tensor<1x5x3x6xf32>) -> (tensor<2x3x7x6xf32>, tensor<2x3x5x6xf32>) {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<1x5x3x6xf32>) -> tensor<1x5x3x6xf32> loc("w")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x3x7x5xf32> loc("p")
  %q = "tpu.Permute"(%w, %n) {order = [0, 2, 1, 3]} : (tensor<1x5x3x6xf32>, none) -> tensor<1x3x5x6xf32> loc("q")
  %t = "tpu.Tile"(%q, %n) {tile = [2, 1, 1, 1]} : (tensor<1x3x5x6xf32>, none) -> tensor<2x3x5x6xf32> loc("t")
  %y = "tpu.MatMul"(%p, %t, %n, %n, %n) : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32> loc("y")
  return %y, %t : tensor<2x3x7x6xf32>, tensor<2x3x5x6xf32>
}

// CHECK-LABEL: func.func @tile_used
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<1x3x5x6xf32>
// CHECK-NEXT: %5 = "tpu.Tile"(%4, %0){{.*}}tile = [2, 1, 1, 1]{{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: %6 = "tpu.MatMul"(%3, %5, %0, %0, %0){{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: return %6, %5

// -----

// Refused: the other operand is permuted in an order that the product does not take in.
func.func @tile_beside_turned_rows(%arg_x: tensor<2x3x5x7xf32>, %arg_w: tensor<1x5x3x6xf32>) -> tensor<2x3x7x6xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<1x5x3x6xf32>) -> tensor<1x5x3x6xf32> loc("w")
  %p = "tpu.Permute"(%x, %n) {order = [0, 1, 3, 2]} : (tensor<2x3x5x7xf32>, none) -> tensor<2x3x7x5xf32> loc("p")
  %q = "tpu.Permute"(%w, %n) {order = [0, 2, 1, 3]} : (tensor<1x5x3x6xf32>, none) -> tensor<1x3x5x6xf32> loc("q")
  %t = "tpu.Tile"(%q, %n) {tile = [2, 1, 1, 1]} : (tensor<1x3x5x6xf32>, none) -> tensor<2x3x5x6xf32> loc("t")
  %y = "tpu.MatMul"(%p, %t, %n, %n, %n) : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32> loc("y")
  return %y : tensor<2x3x7x6xf32>
}

// CHECK-LABEL: func.func @tile_beside_turned_rows
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 1, 3, 2]{{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<1x3x5x6xf32>
// CHECK-NEXT: %5 = "tpu.Tile"(%4, %0){{.*}}tile = [2, 1, 1, 1]{{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: %6 = "tpu.MatMul"(%3, %5, %0, %0, %0){{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: return %6

// -----

// Refused: batches of the other operand are repeated by the product.
func.func @tile_beside_broadcast(%arg_x: tensor<1x7x3x5xf32>, %arg_w: tensor<1x5x3x6xf32>) -> tensor<2x3x7x6xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x7x3x5xf32>) -> tensor<1x7x3x5xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<1x5x3x6xf32>) -> tensor<1x5x3x6xf32> loc("w")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<1x7x3x5xf32>, none) -> tensor<1x3x7x5xf32> loc("p")
  %q = "tpu.Permute"(%w, %n) {order = [0, 2, 1, 3]} : (tensor<1x5x3x6xf32>, none) -> tensor<1x3x5x6xf32> loc("q")
  %t = "tpu.Tile"(%q, %n) {tile = [2, 1, 1, 1]} : (tensor<1x3x5x6xf32>, none) -> tensor<2x3x5x6xf32> loc("t")
  %y = "tpu.MatMul"(%p, %t, %n, %n, %n) : (tensor<1x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32> loc("y")
  return %y : tensor<2x3x7x6xf32>
}

// CHECK-LABEL: func.func @tile_beside_broadcast
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<1x3x7x5xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<1x3x5x6xf32>
// CHECK-NEXT: %5 = "tpu.Tile"(%4, %0){{.*}}tile = [2, 1, 1, 1]{{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: %6 = "tpu.MatMul"(%3, %5, %0, %0, %0){{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: return %6

// -----

// Refused: the condition has other dimensions.
func.func @fill_of_another_rank(%arg_x: tensor<2x5x3x7xf32>, %arg_c: tensor<5x7xf32>) -> tensor<2x5x3x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %c = "top.Input"(%arg_c) : (tensor<5x7xf32>) -> tensor<5x7xf32> loc("c")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
  %f = "tpu.MaskedFill"(%c, %p) {const_val = -4.0 : f64, inversed = false} : (tensor<5x7xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> loc("f")
  %q = "tpu.Permute"(%f, %n) {order = [0, 2, 1, 3]} : (tensor<2x3x5x7xf32>, none) -> tensor<2x5x3x7xf32> loc("q")
  %y = "tpu.MinConst"(%q) {const_val = 1.0 : f64} : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("y")
  return %y : tensor<2x5x3x7xf32>
}

// CHECK-LABEL: func.func @fill_of_another_rank
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %4 = "tpu.MaskedFill"(%2, %3){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %5 = "tpu.Permute"(%4, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %6 = "tpu.MinConst"(%5){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: return %6

// -----

// Refused: something else reads the weight as it is.
func.func @fill_shares_its_weight(%arg_x: tensor<2x5x3x7xf32>) -> (tensor<2x5x3x7xf32>, tensor<2x3x5x7xf32>) {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<2x3x5x7xf32> loc("filled")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
  %f = "tpu.MaskedFill"(%w, %p) {const_val = -4.0 : f64, inversed = false} : (tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> loc("f")
  %q = "tpu.Permute"(%f, %n) {order = [0, 2, 1, 3]} : (tensor<2x3x5x7xf32>, none) -> tensor<2x5x3x7xf32> loc("q")
  %y = "tpu.MinConst"(%q) {const_val = 1.0 : f64} : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("y")
  %z = "tpu.MinConst"(%w) {const_val = 1.0 : f64} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> loc("z")
  return %y, %z : tensor<2x5x3x7xf32>, tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @fill_shares_its_weight
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %4 = "tpu.MaskedFill"(%2, %3){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %5 = "tpu.Permute"(%4, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %6 = "tpu.MinConst"(%5){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %7 = "tpu.MinConst"(%2){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %6, %7

// -----

// A part goes to a product, in front of which the Permute comes.
func.func @part_for_a_product(%arg_x: tensor<2x7x3x5xf32>, %arg_w: tensor<2x3x5x60xf32>) -> tensor<2x3x5x60xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<2x3x5x60xf32>) -> tensor<2x3x5x60xf32> loc("w")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x3x7x5xf32> loc("p")
  %s = "tpu.Slice"(%p, %n, %n, %n, %n) {offset = [0, 0, 2, 0], ends = [2, 3, 7, 5], axes = [], steps = [1, 1, 1, 1]} : (tensor<2x3x7x5xf32>, none, none, none, none) -> tensor<2x3x5x5xf32> loc("s")
  %y = "tpu.MatMul"(%s, %w, %n, %n, %n) : (tensor<2x3x5x5xf32>, tensor<2x3x5x60xf32>, none, none, none) -> tensor<2x3x5x60xf32> loc("y")
  return %y : tensor<2x3x5x60xf32>
}

// CHECK-LABEL: func.func @part_for_a_product
// CHECK: %3 = "tpu.Slice"(%1, %0, %0, %0, %0){{.*}}offset = [0, 2, 0, 0]{{.*}}-> tensor<2x5x3x5xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x5xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%4, %2, %0, %0, %0){{.*}}-> tensor<2x3x5x60xf32>
// CHECK-NEXT: return %5

// -----

// Refused: how much comes around is computed.
func.func @pad_is_computed(%arg_x: tensor<2x5x3x7xf32>, %arg_c: tensor<8xf32>) -> tensor<2x6x3x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %c = "top.Input"(%arg_c) : (tensor<8xf32>) -> tensor<8xf32> loc("c")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
  %t = "tpu.Pad"(%p, %c, %n, %n, %n) {paddings = [0, 0, 1, 0, 0, 0, 0, 0]} : (tensor<2x3x5x7xf32>, tensor<8xf32>, none, none, none) -> tensor<2x3x6x7xf32> loc("t")
  %q = "tpu.Permute"(%t, %n) {order = [0, 2, 1, 3]} : (tensor<2x3x6x7xf32>, none) -> tensor<2x6x3x7xf32> loc("q")
  %y = "tpu.MinConst"(%q) {const_val = 1.0 : f64} : (tensor<2x6x3x7xf32>) -> tensor<2x6x3x7xf32> loc("y")
  return %y : tensor<2x6x3x7xf32>
}

// CHECK-LABEL: func.func @pad_is_computed
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %4 = "tpu.Pad"(%3, %2, %0, %0, %0){{.*}}paddings = [0, 0, 1, 0, 0, 0, 0, 0]{{.*}}-> tensor<2x3x6x7xf32>
// CHECK-NEXT: %5 = "tpu.Permute"(%4, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x6x3x7xf32>
// CHECK-NEXT: %6 = "tpu.MinConst"(%5){{.*}}-> tensor<2x6x3x7xf32>
// CHECK-NEXT: return %6

// -----

// Refused: how often it is repeated is computed.
func.func @tile_is_computed(%arg_x: tensor<2x7x3x5xf32>, %arg_w: tensor<1x5x3x6xf32>, %arg_c: tensor<4xf32>) -> tensor<2x3x7x6xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<1x5x3x6xf32>) -> tensor<1x5x3x6xf32> loc("w")
  %c = "top.Input"(%arg_c) : (tensor<4xf32>) -> tensor<4xf32> loc("c")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x3x7x5xf32> loc("p")
  %q = "tpu.Permute"(%w, %n) {order = [0, 2, 1, 3]} : (tensor<1x5x3x6xf32>, none) -> tensor<1x3x5x6xf32> loc("q")
  %t = "tpu.Tile"(%q, %c, %n) {tile = [2, 1, 1, 1]} : (tensor<1x3x5x6xf32>, tensor<4xf32>, none) -> tensor<2x3x5x6xf32> loc("t")
  %y = "tpu.MatMul"(%p, %t, %n, %n, %n) : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32> loc("y")
  return %y : tensor<2x3x7x6xf32>
}

// CHECK-LABEL: func.func @tile_is_computed
// CHECK: %4 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: %5 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<1x3x5x6xf32>
// CHECK-NEXT: %6 = "tpu.Tile"(%5, %3, %0){{.*}}tile = [2, 1, 1, 1]{{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: %7 = "tpu.MatMul"(%4, %6, %0, %0, %0){{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: return %7

// -----

// Refused: the Tile has no dimension of heads, if its first two are as large as batch and heads.
func.func @tile_of_three_dimensions(%arg_x: tensor<3x7x3x3xf32>, %arg_w: tensor<1x3x6xf32>) -> tensor<3x3x7x6xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<3x7x3x3xf32>) -> tensor<3x7x3x3xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<1x3x6xf32>) -> tensor<1x3x6xf32> loc("w")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<3x7x3x3xf32>, none) -> tensor<3x3x7x3xf32> loc("p")
  %t = "tpu.Tile"(%w, %n) {tile = [3, 1, 1]} : (tensor<1x3x6xf32>, none) -> tensor<3x3x6xf32> loc("t")
  %y = "tpu.MatMul"(%p, %t, %n, %n, %n) : (tensor<3x3x7x3xf32>, tensor<3x3x6xf32>, none, none, none) -> tensor<3x3x7x6xf32> loc("y")
  return %y : tensor<3x3x7x6xf32>
}

// CHECK-LABEL: func.func @tile_of_three_dimensions
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<3x3x7x3xf32>
// CHECK-NEXT: %4 = "tpu.Tile"(%2, %0){{.*}}tile = [3, 1, 1]{{.*}}-> tensor<3x3x6xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%3, %4, %0, %0, %0){{.*}}-> tensor<3x3x7x6xf32>
// CHECK-NEXT: return %5
