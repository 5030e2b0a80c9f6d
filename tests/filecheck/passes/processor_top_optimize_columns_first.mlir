// RUN: tpu-opt %s --split-input-file --shape-infer --processor-top-optimize --no-locations | filecheck %s

// Columns of short rows that are put together, and then turned.

func.func @columns(%arg_x: tensor<128x5x2xf32>, %arg_m: tensor<128x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<128x5x2xf32>) -> tensor<128x5x2xf32> loc("x")
  %m = "top.Input"(%arg_m) : (tensor<128x5xf32>) -> tensor<128x5xf32> loc("m")
  %a = "top.Abs"(%x) : (tensor<128x5x2xf32>) -> tensor<*xf32> loc("a")
  %c = "top.Concat"(%x, %a) {axis = 2 : si32} : (tensor<128x5x2xf32>, tensor<*xf32>) -> tensor<*xf32> loc("c")
  %w = "top.Unsqueeze"(%m) {axes = [2]} : (tensor<128x5xf32>) -> tensor<*xf32> loc("w")
  %y = "top.Mul"(%c, %w) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  %p = "top.Permute"(%y) {order = [2, 0, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  return %p : tensor<*xf32>
}

// CHECK-LABEL: func.func @columns
// CHECK: [[X:%.*]] = "top.Permute"({{.*}}order = [3, 0, 1, 2]{{.*}}tensor<64x2x5x2xf32>) -> tensor<2x64x2x5xf32>
// CHECK-NEXT: [[A:%.*]] = "top.Abs"([[X]])
// CHECK-NEXT: [[C:%.*]] = "top.Concat"([[X]], [[A]]){{.*}}axis = 0{{.*}}-> tensor<4x64x2x5xf32>
// CHECK: "top.Mul"([[C]], {{.*}}tensor<1x64x2x5xf32>) -> tensor<4x64x2x5xf32>
// CHECK-NEXT: "top.Reshape"({{.*}}-> tensor<4x128x5xf32>

// -----

// As much would be permuted as is.
func.func @no_less(%arg_x: tensor<128x5x4xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<128x5x4xf32>) -> tensor<128x5x4xf32> loc("x")
  %a = "top.Abs"(%x) : (tensor<128x5x4xf32>) -> tensor<*xf32> loc("a")
  %p = "top.Permute"(%a) {order = [2, 0, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  return %p : tensor<*xf32>
}

// CHECK-LABEL: func.func @no_less
// CHECK: "top.Abs"({{.*}}tensor<128x5x4xf32>
// CHECK-NEXT: "top.Permute"({{.*}}order = [2, 0, 1]

// -----

// Of 17 columns, more than which rows are worth a load.
func.func @wide(%arg_x: tensor<128x5x17xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<128x5x17xf32>) -> tensor<128x5x17xf32> loc("x")
  %s = "top.Reduce"(%x) {axes = [1], keepdims = true, mode = "ReduceSum"} : (tensor<128x5x17xf32>) -> tensor<*xf32> loc("s")
  %d = "top.Sub"(%x, %s) : (tensor<128x5x17xf32>, tensor<*xf32>) -> tensor<*xf32> loc("d")
  %p = "top.Permute"(%d) {order = [2, 0, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  return %p : tensor<*xf32>
}

// CHECK-LABEL: func.func @wide
// CHECK: "top.Sub"({{.*}}-> tensor<128x5x17xf32>
// CHECK-NEXT: "top.Permute"

// -----

// 127 sets do not fill lanes.
func.func @sets(%arg_x: tensor<127x5x2xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<127x5x2xf32>) -> tensor<127x5x2xf32> loc("x")
  %a = "top.Abs"(%x) : (tensor<127x5x2xf32>) -> tensor<*xf32> loc("a")
  %c = "top.Concat"(%x, %a) {axis = 2 : si32} : (tensor<127x5x2xf32>, tensor<*xf32>) -> tensor<*xf32> loc("c")
  %p = "top.Permute"(%c) {order = [2, 0, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  return %p : tensor<*xf32>
}

// CHECK-LABEL: func.func @sets
// CHECK: "top.Concat"({{.*}}axis = 2{{.*}}-> tensor<127x5x4xf32>
// CHECK-NEXT: "top.Permute"
