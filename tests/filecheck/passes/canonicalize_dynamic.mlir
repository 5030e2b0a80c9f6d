// RUN: tpu-opt %s --split-input-file --canonicalize --no-locations | filecheck %s

// Shapes and bounds that are not known before the program runs: everything stays.

// RemovePermute: nobody knows yet whether data move.
func.func @permute(%arg_z: tensor<4x5x6xf32>) -> tensor<*xf32> {
  %z = "top.Input"(%arg_z) : (tensor<4x5x6xf32>) -> tensor<4x5x6xf32> loc("z")
  %x = "top.Abs"(%z) : (tensor<4x5x6xf32>) -> tensor<*xf32> loc("x")
  %y = "top.Permute"(%x) {order = [0, 2, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @permute
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<*xf32>
// CHECK-NEXT: %2 = "top.Permute"(%1){{.*}}order = [0, 2, 1]{{.*}}-> tensor<*xf32>
// CHECK-NEXT: return %2

// -----

// PermuteFuse.
func.func @two_permutes(%arg_z: tensor<4x5x6xf32>) -> tensor<*xf32> {
  %z = "top.Input"(%arg_z) : (tensor<4x5x6xf32>) -> tensor<4x5x6xf32> loc("z")
  %x = "top.Abs"(%z) : (tensor<4x5x6xf32>) -> tensor<*xf32> loc("x")
  %p = "top.Permute"(%x) {order = [0, 2, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  %y = "top.Permute"(%p) {order = [0, 2, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @two_permutes
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<*xf32>
// CHECK-NEXT: %2 = "top.Permute"(%1){{.*}}order = [0, 2, 1]{{.*}}-> tensor<*xf32>
// CHECK-NEXT: %3 = "top.Permute"(%2){{.*}}order = [0, 2, 1]{{.*}}-> tensor<*xf32>
// CHECK-NEXT: return %3

// -----

// Permute5dSplit.
func.func @five_dimensions(%arg_z: tensor<4x5x3x2x6xf32>) -> tensor<*xf32> {
  %z = "top.Input"(%arg_z) : (tensor<4x5x3x2x6xf32>) -> tensor<4x5x3x2x6xf32> loc("z")
  %x = "top.Abs"(%z) : (tensor<4x5x3x2x6xf32>) -> tensor<*xf32> loc("x")
  %y = "top.Permute"(%x) {order = [2, 0, 3, 1, 4]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @five_dimensions
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<*xf32>
// CHECK-NEXT: %2 = "top.Permute"(%1){{.*}}order = [2, 0, 3, 1, 4]{{.*}}-> tensor<*xf32>
// CHECK-NEXT: return %2

// -----

// TopPermuteToPixelShuffle.
func.func @shuffle(%arg_z: tensor<1x12x4x5xf32>) -> tensor<*xf32> {
  %z = "top.Input"(%arg_z) : (tensor<1x12x4x5xf32>) -> tensor<1x12x4x5xf32> loc("z")
  %x = "top.Abs"(%z) : (tensor<1x12x4x5xf32>) -> tensor<*xf32> loc("x")
  %a = "top.Reshape"(%x) {shape = [1, 3, 2, 2, 4, 5]} : (tensor<*xf32>) -> tensor<*xf32> loc("a")
  %p = "top.Permute"(%a) {order = [0, 1, 4, 2, 5, 3]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  %y = "top.Reshape"(%p) {shape = [1, 3, 8, 10]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @shuffle
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<*xf32>
// CHECK-NEXT: %2 = "top.Reshape"(%1){{.*}}-> tensor<*xf32>
// CHECK-NEXT: %3 = "top.Permute"(%2){{.*}}order = [0, 1, 4, 2, 5, 3]{{.*}}-> tensor<*xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<*xf32>
// CHECK-NEXT: return %4

// -----

// TransposeToPermute: the rank is not known.
func.func @transpose(%arg_z: tensor<4x5x6xf32>) -> tensor<*xf32> {
  %z = "top.Input"(%arg_z) : (tensor<4x5x6xf32>) -> tensor<4x5x6xf32> loc("z")
  %x = "top.Abs"(%z) : (tensor<4x5x6xf32>) -> tensor<*xf32> loc("x")
  %y = "top.Transpose"(%x) {dim0 = 1 : si32, dim1 = 2 : si32} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @transpose
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<*xf32>
// CHECK-NEXT: %2 = "top.Transpose"(%1){{.*}}-> tensor<*xf32>
// CHECK-NEXT: return %2

// -----

// NoUseSlice: where the Slice begins is computed.
func.func @slice_of_all(%arg_x: tensor<4x8xf32>, %arg_o: tensor<2xf32>) -> tensor<4x8xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %o = "top.Input"(%arg_o) : (tensor<2xf32>) -> tensor<2xf32> loc("o")
  %y = "top.Slice"(%x, %o, %n, %n) {offset = [0, 0], ends = [4, 8], steps = [1, 1]} : (tensor<4x8xf32>, tensor<2xf32>, none, none) -> tensor<4x8xf32> loc("y")
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @slice_of_all
// CHECK: %3 = "top.Slice"(%1, %2, %0, %0){{.*}}offset = [0, 0]{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %3

// -----

// MergeSlicePattern: the second Slice is computed.
func.func @second_slice(%arg_x: tensor<4x8xf32>, %arg_o: tensor<2xf32>) -> tensor<4x3xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %o = "top.Input"(%arg_o) : (tensor<2xf32>) -> tensor<2xf32> loc("o")
  %a = "top.Slice"(%x, %n, %n, %n) {offset = [0, 0], ends = [4, 6], steps = [1, 1]} : (tensor<4x8xf32>, none, none, none) -> tensor<4x6xf32> loc("a")
  %y = "top.Slice"(%a, %o, %n, %n) {offset = [0, 0], ends = [4, 3], steps = [1, 1]} : (tensor<4x6xf32>, tensor<2xf32>, none, none) -> tensor<4x3xf32> loc("y")
  return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @second_slice
// CHECK: %3 = "top.Slice"(%1, %0, %0, %0){{.*}}offset = [0, 0]{{.*}}-> tensor<4x6xf32>
// CHECK-NEXT: %4 = "top.Slice"(%3, %2, %0, %0){{.*}}offset = [0, 0]{{.*}}-> tensor<4x3xf32>
// CHECK-NEXT: return %4

// -----

// MergeSlicePattern: the first Slice is computed.
func.func @first_slice(%arg_x: tensor<4x8xf32>, %arg_o: tensor<2xf32>) -> tensor<4x3xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %o = "top.Input"(%arg_o) : (tensor<2xf32>) -> tensor<2xf32> loc("o")
  %a = "top.Slice"(%x, %o, %n, %n) {offset = [0, 0], ends = [4, 6], steps = [1, 1]} : (tensor<4x8xf32>, tensor<2xf32>, none, none) -> tensor<4x6xf32> loc("a")
  %y = "top.Slice"(%a, %n, %n, %n) {offset = [0, 0], ends = [4, 3], steps = [1, 1]} : (tensor<4x6xf32>, none, none, none) -> tensor<4x3xf32> loc("y")
  return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @first_slice
// CHECK: %3 = "top.Slice"(%1, %2, %0, %0){{.*}}offset = [0, 0]{{.*}}-> tensor<4x6xf32>
// CHECK-NEXT: %4 = "top.Slice"(%3, %0, %0, %0){{.*}}offset = [0, 0]{{.*}}-> tensor<4x3xf32>
// CHECK-NEXT: return %4

// -----

// MergeSlicePattern: another Slice of the first is computed, so that the first stays.
func.func @slice_beside(%arg_x: tensor<4x8xf32>, %arg_o: tensor<2xf32>) -> (tensor<4x2xf32>, tensor<4x3xf32>) {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %o = "top.Input"(%arg_o) : (tensor<2xf32>) -> tensor<2xf32> loc("o")
  %a = "top.Slice"(%x, %n, %n, %n) {offset = [0, 0], ends = [4, 6], steps = [1, 1]} : (tensor<4x8xf32>, none, none, none) -> tensor<4x6xf32> loc("a")
  %y = "top.Slice"(%a, %n, %n, %n) {offset = [0, 1], ends = [4, 3], steps = [1, 1]} : (tensor<4x6xf32>, none, none, none) -> tensor<4x2xf32> loc("y")
  %z = "top.Slice"(%a, %o, %n, %n) {offset = [0, 0], ends = [4, 3], steps = [1, 1]} : (tensor<4x6xf32>, tensor<2xf32>, none, none) -> tensor<4x3xf32> loc("z")
  return %y, %z : tensor<4x2xf32>, tensor<4x3xf32>
}

// CHECK-LABEL: func.func @slice_beside
// CHECK: %3 = "top.Slice"(%1, %0, %0, %0){{.*}}offset = [0, 0]{{.*}}-> tensor<4x6xf32>
// CHECK-NEXT: %4 = "top.Slice"(%3, %0, %0, %0){{.*}}offset = [0, 1]{{.*}}-> tensor<4x2xf32>
// CHECK-NEXT: %5 = "top.Slice"(%3, %2, %0, %0){{.*}}offset = [0, 0]{{.*}}-> tensor<4x3xf32>
// CHECK-NEXT: return %4, %5

// -----

// SliceToReverse: how far the steps go is computed.
func.func @backwards(%arg_x: tensor<4x8xf32>, %arg_s: tensor<2xf32>) -> tensor<4x8xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %s = "top.Input"(%arg_s) : (tensor<2xf32>) -> tensor<2xf32> loc("s")
  %y = "top.Slice"(%x, %n, %n, %s) {offset = [0, 7], ends = [4, -9], steps = [1, -1]} : (tensor<4x8xf32>, none, none, tensor<2xf32>) -> tensor<4x8xf32> loc("y")
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @backwards
// CHECK: %3 = "top.Slice"(%1, %0, %0, %2){{.*}}offset = [0, 7]{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %3

// -----

// CropConv: where the crop begins is computed.
func.func @cropped(%arg_x: tensor<1x3x8x8xf32>, %arg_o: tensor<4xf32>) -> tensor<1x4x6x6xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("x")
  %o = "top.Input"(%arg_o) : (tensor<4xf32>) -> tensor<4xf32> loc("o")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("w")
  %c = "top.Conv"(%x, %w, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1], group = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x8x8xf32> loc("c")
  %y = "top.Slice"(%c, %o, %n, %n) {offset = [0, 0, 1, 1], ends = [1, 4, 7, 7], steps = [1, 1, 1, 1]} : (tensor<1x4x8x8xf32>, tensor<4xf32>, none, none) -> tensor<1x4x6x6xf32> loc("y")
  return %y : tensor<1x4x6x6xf32>
}

// CHECK-LABEL: func.func @cropped
// CHECK: %4 = "top.Conv"(%1, %3, %0){{.*}}-> tensor<1x4x8x8xf32>
// CHECK-NEXT: %5 = "top.Slice"(%4, %2, %0, %0){{.*}}offset = [0, 0, 1, 1]{{.*}}-> tensor<1x4x6x6xf32>
// CHECK-NEXT: return %5

// -----

// ConcatNeighbourSlices: where the second part begins is computed.
func.func @neighbours(%arg_x: tensor<4x10xf32>, %arg_o: tensor<2xf32>) -> tensor<4x10xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x10xf32>) -> tensor<4x10xf32> loc("x")
  %o = "top.Input"(%arg_o) : (tensor<2xf32>) -> tensor<2xf32> loc("o")
  %a = "top.Slice"(%x, %n, %n, %n) {offset = [0, 0], ends = [4, 4], steps = [1, 1]} : (tensor<4x10xf32>, none, none, none) -> tensor<4x4xf32> loc("a")
  %b = "top.Slice"(%x, %o, %n, %n) {offset = [0, 4], ends = [4, 10], steps = [1, 1]} : (tensor<4x10xf32>, tensor<2xf32>, none, none) -> tensor<4x6xf32> loc("b")
  %y = "top.Concat"(%a, %b) {axis = 1 : si32} : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x10xf32> loc("y")
  return %y : tensor<4x10xf32>
}

// CHECK-LABEL: func.func @neighbours
// CHECK: %3 = "top.Slice"(%1, %0, %0, %0){{.*}}offset = [0, 0]{{.*}}-> tensor<4x4xf32>
// CHECK-NEXT: %4 = "top.Slice"(%1, %2, %0, %0){{.*}}offset = [0, 4]{{.*}}-> tensor<4x6xf32>
// CHECK-NEXT: %5 = "top.Concat"(%3, %4){{.*}}axis = 1{{.*}}-> tensor<4x10xf32>
// CHECK-NEXT: return %5

// -----

// DropEmptyConcatInputs: nobody knows what is empty.
func.func @joined(%arg_z: tensor<4x8xf32>) -> tensor<*xf32> {
  %z = "top.Input"(%arg_z) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("z")
  %x = "top.Abs"(%z) : (tensor<4x8xf32>) -> tensor<*xf32> loc("x")
  %y = "top.Concat"(%x, %x) {axis = 0 : si32} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @joined
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<*xf32>
// CHECK-NEXT: %2 = "top.Concat"(%1, %1){{.*}}axis = 0{{.*}}-> tensor<*xf32>
// CHECK-NEXT: return %2

// -----

// ConcatWeights: the numbers are not there.
func.func @weights_without_numbers() -> tensor<6x8xf32> {
  %v = "top.Weight"() : () -> tensor<4x8xf32> loc("v")
  %w = "top.Weight"() : () -> tensor<2x8xf32> loc("w")
  %y = "top.Concat"(%v, %w) {axis = 0 : si32} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<6x8xf32> loc("y")
  return %y : tensor<6x8xf32>
}

// CHECK-LABEL: func.func @weights_without_numbers
// CHECK: %2 = "top.Concat"(%0, %1){{.*}}axis = 0{{.*}}-> tensor<6x8xf32>
// CHECK-NEXT: return %2
