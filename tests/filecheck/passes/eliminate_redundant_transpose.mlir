// RUN: tpu-opt %s --split-input-file --eliminate-redundant-transpose --no-locations | filecheck %s

// Two that undo each other go, in either order of layouts and at any rank.

// CHECK-LABEL: oneflow.job @pairs
// CHECK-NEXT: "oneflow.relu"(%arg0) {op_name = "to last and back"}
// CHECK-NEXT: "oneflow.relu"(%arg0) {op_name = "to first and back"}
// CHECK-NEXT: "oneflow.relu"(%arg1) {op_name = "any rank"}
// CHECK-NEXT: oneflow.return

oneflow.job @pairs(%a: tensor<1x4x6x5xf32>, %b: tensor<2x3x4x5x6xf32>) -> (tensor<1x4x6x5xf32>, tensor<1x4x6x5xf32>, tensor<2x3x4x5x6xf32>) {
  %0 = "oneflow.transpose"(%a) {op_name = "t0", perm = [0 : si32, 2 : si32, 3 : si32, 1 : si32]} : (tensor<1x4x6x5xf32>) -> tensor<1x6x5x4xf32>
  %1 = "oneflow.transpose"(%0) {op_name = "t1", perm = [0 : si32, 3 : si32, 1 : si32, 2 : si32]} : (tensor<1x6x5x4xf32>) -> tensor<1x4x6x5xf32>
  %2 = "oneflow.relu"(%1) {op_name = "to last and back"} : (tensor<1x4x6x5xf32>) -> tensor<1x4x6x5xf32>
  %3 = "oneflow.transpose"(%a) {op_name = "t2", perm = [0 : si32, 3 : si32, 1 : si32, 2 : si32]} : (tensor<1x4x6x5xf32>) -> tensor<1x5x4x6xf32>
  %4 = "oneflow.transpose"(%3) {op_name = "t3", perm = [0 : si32, 2 : si32, 3 : si32, 1 : si32]} : (tensor<1x5x4x6xf32>) -> tensor<1x4x6x5xf32>
  %5 = "oneflow.relu"(%4) {op_name = "to first and back"} : (tensor<1x4x6x5xf32>) -> tensor<1x4x6x5xf32>
  %6 = "oneflow.transpose"(%b) {op_name = "t4", perm = [4 : si32, 0 : si32, 2 : si32, 1 : si32, 3 : si32]} : (tensor<2x3x4x5x6xf32>) -> tensor<6x2x4x3x5xf32>
  %7 = "oneflow.transpose"(%6) {op_name = "t5", perm = [1 : si32, 3 : si32, 2 : si32, 4 : si32, 0 : si32]} : (tensor<6x2x4x3x5xf32>) -> tensor<2x3x4x5x6xf32>
  %8 = "oneflow.relu"(%7) {op_name = "any rank"} : (tensor<2x3x4x5x6xf32>) -> tensor<2x3x4x5x6xf32>
  oneflow.return %2, %5, %8 : tensor<1x4x6x5xf32>, tensor<1x4x6x5xf32>, tensor<2x3x4x5x6xf32>
}

// -----

// Two that do not undo each other stay.

// CHECK-LABEL: oneflow.job @other_pairs
// CHECK-COUNT-2: oneflow.transpose
// CHECK: oneflow.return

oneflow.job @other_pairs(%a: tensor<1x4x6x5xf32>) -> tensor<1x5x4x6xf32> {
  %0 = "oneflow.transpose"(%a) {op_name = "t0", perm = [0 : si32, 2 : si32, 3 : si32, 1 : si32]} : (tensor<1x4x6x5xf32>) -> tensor<1x6x5x4xf32>
  %1 = "oneflow.transpose"(%0) {op_name = "t1", perm = [0 : si32, 2 : si32, 3 : si32, 1 : si32]} : (tensor<1x6x5x4xf32>) -> tensor<1x5x4x6xf32>
  oneflow.return %1 : tensor<1x5x4x6xf32>
}

// -----

// The first of a pair stays for whoever else reads it.

// CHECK-LABEL: oneflow.job @first_is_used
// CHECK-NEXT: %[[T:.*]] = "oneflow.transpose"(%arg0)
// CHECK-NEXT: %[[R:.*]] = "oneflow.relu"(%arg0)
// CHECK-NEXT: oneflow.return %[[T]], %[[R]]

oneflow.job @first_is_used(%a: tensor<1x4x6x5xf32>) -> (tensor<1x6x5x4xf32>, tensor<1x4x6x5xf32>) {
  %0 = "oneflow.transpose"(%a) {op_name = "t0", perm = [0 : si32, 2 : si32, 3 : si32, 1 : si32]} : (tensor<1x4x6x5xf32>) -> tensor<1x6x5x4xf32>
  %1 = "oneflow.transpose"(%0) {op_name = "t1", perm = [0 : si32, 3 : si32, 1 : si32, 2 : si32]} : (tensor<1x6x5x4xf32>) -> tensor<1x4x6x5xf32>
  %2 = "oneflow.relu"(%1) {op_name = "r"} : (tensor<1x4x6x5xf32>) -> tensor<1x4x6x5xf32>
  oneflow.return %0, %2 : tensor<1x6x5x4xf32>, tensor<1x4x6x5xf32>
}

// -----

// A chain collapses from the inside, one that changes nothing goes by itself; top as well as oneflow.

// CHECK-LABEL: func.func @top_chain
// CHECK: %[[X:.*]] = "top.Input"
// CHECK-NEXT: "top.Relu"(%[[X]])
// CHECK-NEXT: return

func.func @top_chain(%arg0: tensor<1x4x6x5xf32>) -> tensor<1x4x6x5xf32> {
  %0 = "top.Input"(%arg0) : (tensor<1x4x6x5xf32>) -> tensor<1x4x6x5xf32> loc("x")
  %1 = "top.Permute"(%0) {order = [0, 1, 2, 3]} : (tensor<1x4x6x5xf32>) -> tensor<1x4x6x5xf32> loc("i")
  %2 = "top.Permute"(%1) {order = [0, 2, 3, 1]} : (tensor<1x4x6x5xf32>) -> tensor<1x6x5x4xf32> loc("a")
  %3 = "top.Permute"(%2) {order = [0, 3, 1, 2]} : (tensor<1x6x5x4xf32>) -> tensor<1x4x6x5xf32> loc("b")
  %4 = "top.Permute"(%3) {order = [0, 2, 3, 1]} : (tensor<1x4x6x5xf32>) -> tensor<1x6x5x4xf32> loc("c")
  %5 = "top.Permute"(%4) {order = [0, 3, 1, 2]} : (tensor<1x6x5x4xf32>) -> tensor<1x4x6x5xf32> loc("d")
  %6 = "top.Relu"(%5) : (tensor<1x4x6x5xf32>) -> tensor<1x4x6x5xf32> loc("y")
  return %6 : tensor<1x4x6x5xf32>
}
