// RUN: tpu-opt %s --split-input-file --shape-infer --canonicalize --no-locations | filecheck %s

// Elements by indices that are the same for all columns.

func.func @rows(%arg_x: tensor<8x32xf32>, %arg_i: tensor<4x1xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<8x32xf32>) -> tensor<8x32xf32> loc("x")
  %i = "top.Input"(%arg_i) : (tensor<4x1xf32>) -> tensor<4x1xf32> loc("i")
  %t = "top.Tile"(%i) {tile = [1, 32]} : (tensor<4x1xf32>) -> tensor<*xf32> loc("t")
  %y = "top.GatherElements"(%x, %t) {axis = 0 : i64} : (tensor<8x32xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK-NOT: top.Tile
// CHECK: [[ROWS:%.*]] = "top.Reshape"({{.*}}tensor<4xf32>
// CHECK-NEXT: "top.Gather"({{.*}}, [[ROWS]]){{.*}}axis = 0 : si32{{.*}} -> tensor<4x32xf32>

// -----

// Each table has indices of its own.
func.func @tables(%arg_x: tensor<2x8x32xf32>, %arg_i: tensor<2x4x1xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x8x32xf32>) -> tensor<2x8x32xf32> loc("x")
  %i = "top.Input"(%arg_i) : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32> loc("i")
  %t = "top.Tile"(%i) {tile = [1, 1, 32]} : (tensor<2x4x1xf32>) -> tensor<*xf32> loc("t")
  %y = "top.GatherElements"(%x, %t) {axis = 1 : i64} : (tensor<2x8x32xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @tables
// CHECK: "top.GatherND"({{.*}}batch_dims = 1 : i64{{.*}}tensor<2x4x1xf32>) -> tensor<2x4x32xf32>

// -----

func.func @written(%arg_x: tensor<8x32xf32>, %arg_i: tensor<4x1xf32>, %arg_u: tensor<4x32xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<8x32xf32>) -> tensor<8x32xf32> loc("x")
  %i = "top.Input"(%arg_i) : (tensor<4x1xf32>) -> tensor<4x1xf32> loc("i")
  %u = "top.Input"(%arg_u) : (tensor<4x32xf32>) -> tensor<4x32xf32> loc("u")
  %t = "top.Tile"(%i) {tile = [1, 32]} : (tensor<4x1xf32>) -> tensor<*xf32> loc("t")
  %y = "top.ScatterElements"(%x, %t, %u) {axis = 0 : i64, reduction = 1 : i64} : (tensor<8x32xf32>, tensor<*xf32>, tensor<4x32xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @written
// CHECK-NOT: top.Tile
// CHECK: "top.ScatterND"({{.*}}reduction = 1{{.*}}tensor<4x1xf32>, tensor<4x32xf32>) -> tensor<8x32xf32>

// -----

// A part of the columns stays, and so do indices that differ from column to column.
func.func @some_columns(%arg_x: tensor<8x32xf32>, %arg_i: tensor<4x1xf32>, %arg_j: tensor<4x2xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<8x32xf32>) -> tensor<8x32xf32> loc("x")
  %i = "top.Input"(%arg_i) : (tensor<4x1xf32>) -> tensor<4x1xf32> loc("i")
  %j = "top.Input"(%arg_j) : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("j")
  %t = "top.Tile"(%i) {tile = [1, 31]} : (tensor<4x1xf32>) -> tensor<*xf32> loc("t")
  %y = "top.GatherElements"(%x, %t) {axis = 0 : i64} : (tensor<8x32xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  %s = "top.Tile"(%j) {tile = [1, 16]} : (tensor<4x2xf32>) -> tensor<*xf32> loc("s")
  %z = "top.GatherElements"(%x, %s) {axis = 0 : i64} : (tensor<8x32xf32>, tensor<*xf32>) -> tensor<*xf32> loc("z")
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @some_columns
// CHECK: "top.GatherElements"
// CHECK: "top.GatherElements"
