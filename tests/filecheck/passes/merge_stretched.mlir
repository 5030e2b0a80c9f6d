// RUN: tpu-opt %s --split-input-file --shape-infer --merge-stretched --no-locations | filecheck %s

// The head of a detector: a factor for each of three anchors and of two coordinates.
// CHECK-LABEL: func.func @anchors
// CHECK: [[W:%.+]] = "top.Reshape"({{.*}}-> tensor<1x3x1x2xf32>
// CHECK: [[X:%.+]] = "top.Reshape"({{.*}}-> tensor<1x3x400x85xf32>
// CHECK: [[P:%.+]] = "top.Slice"([[X]], {{.*}}-> tensor<1x3x400x2xf32>
// CHECK-NEXT: [[M:%.+]] = "top.Mul"([[P]], [[W]]){{.*}}-> tensor<1x3x400x2xf32>
// CHECK-NEXT: [[Y:%.+]] = "top.Reshape"([[M]]){{.*}}-> tensor<1x3x20x20x2xf32>
// CHECK-NEXT: return [[Y]]
func.func @anchors(%arg: tensor<1x3x20x20x85xf32>, %w: tensor<1x3x1x1x2xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg) : (tensor<1x3x20x20x85xf32>) -> tensor<1x3x20x20x85xf32> loc("x")
  %s = "top.Slice"(%x, %n, %n, %n) {axes = [], offset = [0, 0, 0, 0, 2], ends = [1, 3, 20, 20, 4], steps = [1, 1, 1, 1, 1]} : (tensor<1x3x20x20x85xf32>, none, none, none) -> tensor<*xf32> loc("s")
  %y = "top.Mul"(%s, %w) : (tensor<*xf32>, tensor<1x3x1x1x2xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// Two terms, one for the line and one for the column of a key: lines and columns of rows merge.
// CHECK-LABEL: func.func @positions
// CHECK: "top.Add"({{.*}}(tensor<6x49x7x1xf32>, tensor<6x49x1x5xf32>) -> tensor<6x49x7x5xf32>
// CHECK-NEXT: [[Y:%.+]] = "top.Reshape"({{.*}}-> tensor<6x7x7x7x5xf32>
// CHECK-NEXT: return [[Y]]
func.func @positions(%a: tensor<6x7x7x7x1xf32>, %b: tensor<6x7x7x1x5xf32>) -> tensor<*xf32> {
  %y = "top.Add"(%a, %b) : (tensor<6x7x7x7x1xf32>, tensor<6x7x7x1x5xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// Every second dimension is stretched: no two are alike.
// CHECK-LABEL: func.func @checkered
// CHECK-NOT: top.Reshape
func.func @checkered(%a: tensor<2x3x4x5x6xf32>, %b: tensor<2x1x4x1x6xf32>) -> tensor<*xf32> {
  %y = "top.Mul"(%a, %b) : (tensor<2x3x4x5x6xf32>, tensor<2x1x4x1x6xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// Four dimensions are what commands have; equal shapes are one row whatever they are.
// CHECK-LABEL: func.func @few
// CHECK-NOT: top.Reshape
func.func @few(%a: tensor<3x4x5x6xf32>, %b: tensor<3x1x1x6xf32>, %c: tensor<2x3x4x5x6xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %y = "top.Mul"(%a, %b) : (tensor<3x4x5x6xf32>, tensor<3x1x1x6xf32>) -> tensor<*xf32> loc("y")
  %z = "top.Mul"(%c, %c) : (tensor<2x3x4x5x6xf32>, tensor<2x3x4x5x6xf32>) -> tensor<*xf32> loc("z")
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// -----

// What a transposition keeps side by side is one dimension, images too.
// CHECK-LABEL: func.func @transposed
// CHECK: [[X:%.+]] = "top.Reshape"({{.*}}-> tensor<3x85x400xf32>
// CHECK-NEXT: [[P:%.+]] = "top.Permute"([[X]]) {order = [0, 2, 1]} : (tensor<3x85x400xf32>) -> tensor<3x400x85xf32>
// CHECK-NEXT: [[S:%.+]] = "top.Sigmoid"([[P]]) : (tensor<3x400x85xf32>) -> tensor<3x400x85xf32>
func.func @transposed(%arg: tensor<1x3x85x20x20xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg) : (tensor<1x3x85x20x20xf32>) -> tensor<1x3x85x20x20xf32> loc("x")
  %p = "top.Permute"(%x) {order = [0, 1, 3, 4, 2]} : (tensor<1x3x85x20x20xf32>) -> tensor<*xf32> loc("p")
  %s = "top.Sigmoid"(%p) : (tensor<*xf32>) -> tensor<*xf32> loc("s")
  return %s : tensor<*xf32>
}

// -----

// Reshapes gave the dimension to all a Concat is made of.
// CHECK-LABEL: func.func @given
// CHECK: [[S:%.+]] = "top.Slice"({{.*}}-> tensor<8x4x3x5xf32>
// CHECK-NEXT: [[C:%.+]] = "top.Concat"([[S]], {{.*}}axis = 1{{.*}}-> tensor<8x10x3x5xf32>
// CHECK-NEXT: "top.Reshape"([[C]]) {{.*}}-> tensor<1x8x10x3x5xf32>
func.func @given(%arg: tensor<8x6x3x5xf32>) -> tensor<1x8x10x3x5xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg) : (tensor<8x6x3x5xf32>) -> tensor<8x6x3x5xf32> loc("x")
  %v = "top.Reshape"(%x) {shape = [1, 8, 6, 3, 5]} : (tensor<8x6x3x5xf32>) -> tensor<1x8x6x3x5xf32> loc("v")
  %s = "top.Slice"(%v, %n, %n, %n) {offset = [0, 0, 2, 0, 0], ends = [1, 8, 6, 3, 5], steps = [1, 1, 1, 1, 1], axes = []} : (tensor<1x8x6x3x5xf32>, none, none, none) -> tensor<1x8x4x3x5xf32> loc("s")
  %y = "top.Concat"(%s, %v) {axis = 2 : si32} : (tensor<1x8x4x3x5xf32>, tensor<1x8x6x3x5xf32>) -> tensor<1x8x10x3x5xf32> loc("y")
  return %y : tensor<1x8x10x3x5xf32>
}

// -----

// One of them has it from elsewhere: images become one dimension in its stead.
// CHECK-LABEL: func.func @own
// CHECK: "top.Concat"({{.*}}axis = 2{{.*}}-> tensor<1x8x12x15xf32>
func.func @own(%arg: tensor<8x6x3x5xf32>, %b: tensor<1x8x6x3x5xf32>) -> tensor<1x8x12x3x5xf32> {
  %x = "top.Input"(%arg) : (tensor<8x6x3x5xf32>) -> tensor<8x6x3x5xf32> loc("x")
  %z = "top.Input"(%b) : (tensor<1x8x6x3x5xf32>) -> tensor<1x8x6x3x5xf32> loc("z")
  %v = "top.Reshape"(%x) {shape = [1, 8, 6, 3, 5]} : (tensor<8x6x3x5xf32>) -> tensor<1x8x6x3x5xf32> loc("v")
  %y = "top.Concat"(%z, %v) {axis = 2 : si32} : (tensor<1x8x6x3x5xf32>, tensor<1x8x6x3x5xf32>) -> tensor<1x8x12x3x5xf32> loc("y")
  return %y : tensor<1x8x12x3x5xf32>
}

// -----

// A norm of volumes is one of images, where its parameters have ones.
// CHECK-LABEL: func.func @volumes
// CHECK: [[X:%.+]] = "top.Reshape"({{.*}}-> tensor<1x8x3x20xf32>
// CHECK: [[W:%.+]] = "top.Reshape"({{.*}}-> tensor<1x8x1x1xf32>
// CHECK: [[N:%.+]] = "top.GroupNorm"([[X]], [[W]], {{.*}}-> tensor<1x8x3x20xf32>
// CHECK-NEXT: "top.SiLU"([[N]]){{.*}}-> tensor<1x8x3x20xf32>
func.func @volumes(%arg: tensor<1x8x3x4x5xf32>, %w: tensor<1x8x1x1x1xf32>) -> tensor<1x8x3x4x5xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg) : (tensor<1x8x3x4x5xf32>) -> tensor<1x8x3x4x5xf32> loc("x")
  %v = "top.Input"(%w) : (tensor<1x8x1x1x1xf32>) -> tensor<1x8x1x1x1xf32> loc("v")
  %g = "top.GroupNorm"(%x, %v, %n) {num_groups = 2 : i64, eps = 1.0e-5 : f64} : (tensor<1x8x3x4x5xf32>, tensor<1x8x1x1x1xf32>, none) -> tensor<1x8x3x4x5xf32> loc("g")
  %y = "top.SiLU"(%g) : (tensor<1x8x3x4x5xf32>) -> tensor<1x8x3x4x5xf32> loc("y")
  return %y : tensor<1x8x3x4x5xf32>
}

// -----

// The mean of volumes that gates their channels, with them; frames stay apart.
// CHECK-LABEL: func.func @gated
// CHECK: [[X:%.+]] = "top.Reshape"({{.*}}-> tensor<1x8x3x20xf32>
// CHECK-NEXT: [[M:%.+]] = "top.Reduce"([[X]]){{.*}}axes = [2, 3]{{.*}}-> tensor<1x8x1x1xf32>
// CHECK-NEXT: [[Y:%.+]] = "top.Mul"([[X]], [[M]]){{.*}}-> tensor<1x8x3x20xf32>
// CHECK-NEXT: "top.Reshape"([[Y]]){{.*}}-> tensor<1x8x3x4x5xf32>
func.func @gated(%arg: tensor<1x8x3x4x5xf32>) -> tensor<1x8x3x4x5xf32> {
  %x = "top.Input"(%arg) : (tensor<1x8x3x4x5xf32>) -> tensor<1x8x3x4x5xf32> loc("x")
  %m = "top.Reduce"(%x) {axes = [2, 3, 4], keepdims = true, mode = "ReduceMean"} : (tensor<1x8x3x4x5xf32>) -> tensor<1x8x1x1x1xf32> loc("m")
  %y = "top.Mul"(%x, %m) : (tensor<1x8x3x4x5xf32>, tensor<1x8x1x1x1xf32>) -> tensor<1x8x3x4x5xf32> loc("y")
  return %y : tensor<1x8x3x4x5xf32>
}

// -----

// One image of five dimensions, both of whose operands are stretched: it has no dimension of its own.
// CHECK-LABEL: func.func @outer
// CHECK: "top.Mul"({{.*}}(tensor<4x96x64x1xf32>, tensor<4x1x64x8xf32>) -> tensor<4x96x64x8xf32>
// CHECK-NEXT: [[Y:%.+]] = "top.Reshape"({{.*}}-> tensor<1x4x96x64x8xf32>
// CHECK-NEXT: return [[Y]]
func.func @outer(%a: tensor<1x4x96x64x1xf32>, %b: tensor<1x4x1x64x8xf32>) -> tensor<*xf32> {
  %y = "top.Mul"(%a, %b) : (tensor<1x4x96x64x1xf32>, tensor<1x4x1x64x8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}
