// RUN: tpu-opt %s --split-input-file --shape-infer --processor-top-optimize --no-locations | filecheck %s

// Only channels change places: 2 rows of 3 are read column by column.
// CHECK-LABEL: func.func @shuffle
// CHECK: [[X:%.+]] = "top.Input"
// CHECK-NEXT: [[Y:%.+]] = "top.ShuffleChannel"([[X]]) {group = 2 : i64} : (tensor<1x6x4x5xf32>) -> tensor<1x6x4x5xf32>
// CHECK-NEXT: return [[Y]]
func.func @shuffle(%arg: tensor<1x6x4x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg) : (tensor<1x6x4x5xf32>) -> tensor<1x6x4x5xf32> loc("x")
  %a = "top.Reshape"(%x) {shape = [1, 2, 3, 4, 5]} : (tensor<1x6x4x5xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Permute"(%a) {order = [0, 2, 1, 3, 4]} : (tensor<*xf32>) -> tensor<*xf32> loc("b")
  %y = "top.Reshape"(%b) {shape = [1, 6, 4, 5]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// Rows of the image move as well.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: top.ShuffleChannel
// CHECK: top.Permute
func.func @rows(%arg: tensor<1x6x4x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg) : (tensor<1x6x4x5xf32>) -> tensor<1x6x4x5xf32> loc("x")
  %a = "top.Reshape"(%x) {shape = [1, 6, 2, 2, 5]} : (tensor<1x6x4x5xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Permute"(%a) {order = [0, 2, 1, 3, 4]} : (tensor<*xf32>) -> tensor<*xf32> loc("b")
  %y = "top.Reshape"(%b) {shape = [1, 6, 4, 5]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// The permuted value is read by itself, too.
// CHECK-LABEL: func.func @shared
// CHECK-NOT: top.ShuffleChannel
// CHECK: top.Permute
func.func @shared(%arg: tensor<1x6x4x5xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg) : (tensor<1x6x4x5xf32>) -> tensor<1x6x4x5xf32> loc("x")
  %a = "top.Reshape"(%x) {shape = [1, 2, 3, 4, 5]} : (tensor<1x6x4x5xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Permute"(%a) {order = [0, 2, 1, 3, 4]} : (tensor<*xf32>) -> tensor<*xf32> loc("b")
  %y = "top.Reshape"(%b) {shape = [1, 6, 4, 5]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y, %b : tensor<*xf32>, tensor<*xf32>
}
