// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// Operands that are stretched between dimensions which they have.

// A weight is written out over its rows.
func.func @weight(%arg_x: tensor<1x7x4x3x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x7x4x3x8xf32>) -> tensor<1x7x4x3x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x1x8xf32> loc("random_4x8")
  %y = "top.Mul"(%x, %w) : (tensor<1x7x4x3x8xf32>, tensor<4x1x8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @weight
// CHECK: [[W:%.*]] = "top.Weight"(){{.*}}-> tensor<1x1x96xf32>
// CHECK-NEXT: [[X:%.*]] = "top.Reshape"(%0){{.*}}-> tensor<1x7x96xf32>
// CHECK-NEXT: [[Y:%.*]] = "top.Mul"([[X]], [[W]]){{.*}}-> tensor<1x7x96xf32>
// CHECK-NEXT: "top.Reshape"([[Y]]){{.*}}-> tensor<1x7x4x3x8xf32>

// -----

// Another value by a Tile; the sides of a difference keep their places.
func.func @computed(%arg_x: tensor<1x7x4x3x8xf32>, %arg_z: tensor<1x7x4x1x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x7x4x3x8xf32>) -> tensor<1x7x4x3x8xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<1x7x4x1x8xf32>) -> tensor<1x7x4x1x8xf32> loc("z")
  %y = "top.Sub"(%z, %x) : (tensor<1x7x4x1x8xf32>, tensor<1x7x4x3x8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @computed
// CHECK: [[T:%.*]] = "top.Tile"(%1) {tile = [1, 1, 1, 3, 1]}{{.*}}-> tensor<1x7x4x3x8xf32>
// CHECK-NEXT: [[Z:%.*]] = "top.Reshape"([[T]]){{.*}}-> tensor<1x7x96xf32>
// CHECK-NEXT: [[X:%.*]] = "top.Reshape"(%0){{.*}}-> tensor<1x7x96xf32>
// CHECK-NEXT: [[Y:%.*]] = "top.Sub"([[Z]], [[X]]){{.*}}-> tensor<1x7x96xf32>
// CHECK-NEXT: "top.Reshape"([[Y]]){{.*}}-> tensor<1x7x4x3x8xf32>

// -----

// Behind the stretched dimension 15 elements are a short row.
func.func @short(%arg_x: tensor<1x7x4x3x15xf32>, %arg_z: tensor<1x7x4x1x15xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x7x4x3x15xf32>) -> tensor<1x7x4x3x15xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<1x7x4x1x15xf32>) -> tensor<1x7x4x1x15xf32> loc("z")
  %y = "top.Add"(%x, %z) : (tensor<1x7x4x3x15xf32>, tensor<1x7x4x1x15xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @short
// CHECK: "top.Add"{{.*}}-> tensor<1x7x180xf32>

// -----

// 16 are not.
func.func @long(%arg_x: tensor<1x7x4x3x16xf32>, %arg_z: tensor<1x7x4x1x16xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x7x4x3x16xf32>) -> tensor<1x7x4x3x16xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<1x7x4x1x16xf32>) -> tensor<1x7x4x1x16xf32> loc("z")
  %y = "top.Add"(%x, %z) : (tensor<1x7x4x3x16xf32>, tensor<1x7x4x1x16xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @long
// CHECK: "top.Add"(%0, %1){{.*}}-> tensor<1x7x4x3x16xf32>

// -----

// Four dimensions have their loops, and so has what is stretched at the end of a row only.
func.func @loops(%arg_x: tensor<7x4x3x8xf32>, %arg_z: tensor<7x4x1x8xf32>, %arg_u: tensor<1x7x4x3x8xf32>, %arg_v: tensor<1x7x4x3x1xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<7x4x3x8xf32>) -> tensor<7x4x3x8xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<7x4x1x8xf32>) -> tensor<7x4x1x8xf32> loc("z")
  %u = "top.Input"(%arg_u) : (tensor<1x7x4x3x8xf32>) -> tensor<1x7x4x3x8xf32> loc("u")
  %v = "top.Input"(%arg_v) : (tensor<1x7x4x3x1xf32>) -> tensor<1x7x4x3x1xf32> loc("v")
  %y = "top.Add"(%x, %z) : (tensor<7x4x3x8xf32>, tensor<7x4x1x8xf32>) -> tensor<*xf32> loc("y")
  %w = "top.Mul"(%u, %v) : (tensor<1x7x4x3x8xf32>, tensor<1x7x4x3x1xf32>) -> tensor<*xf32> loc("w")
  return %y, %w : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @loops
// CHECK: "top.Add"(%0, %1){{.*}}-> tensor<7x4x3x8xf32>
// CHECK-NEXT: "top.Mul"(%2, %3){{.*}}-> tensor<1x7x4x3x8xf32>
