// RUN: tpu-opt %s --split-input-file --shape-infer --processor-top-optimize --no-locations | filecheck %s

// ChannelSum: the array adds over lanes.
func.func @mean(%arg0: tensor<2x8x4x6xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg0) : (tensor<2x8x4x6xf32>) -> tensor<2x8x4x6xf32> loc("x")
  %y = "top.Reduce"(%x) {axes = [1], keepdims = true, mode = "ReduceMean"} : (tensor<2x8x4x6xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @mean
// CHECK: [[W:%.*]] = "top.Weight"() : () -> tensor<1x8x1x1xf32>
// CHECK-NEXT: [[C:%.*]] = "top.Conv"({{.*}}, [[W]], {{.*}}kernel_shape = [1, 1]{{.*}}-> tensor<2x1x4x6xf32>
// CHECK-NEXT: return [[C]]

// -----

// Without the dimension of channels.
func.func @sum(%arg0: tensor<2x8x4x6xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg0) : (tensor<2x8x4x6xf32>) -> tensor<2x8x4x6xf32> loc("x")
  %y = "top.Reduce"(%x) {axes = [-3], keepdims = false, mode = "ReduceSum"} : (tensor<2x8x4x6xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @sum
// CHECK: [[C:%.*]] = "top.Conv"(
// CHECK-NEXT: [[Y:%.*]] = "top.Reshape"([[C]]){{.*}}-> tensor<2x4x6xf32>
// CHECK-NEXT: return [[Y]]

// -----

// ChannelExtreme: a row of a lane gets all channels.
func.func @largest(%arg0: tensor<2x8x4x6xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg0) : (tensor<2x8x4x6xf32>) -> tensor<2x8x4x6xf32> loc("x")
  %y = "top.Reduce"(%x) {axes = [1], keepdims = true, mode = "ReduceMax"} : (tensor<2x8x4x6xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @largest
// CHECK: [[T:%.*]] = "top.Permute"({{.*}}order = [0, 3, 2, 1]{{.*}}-> tensor<2x6x4x8xf32>
// CHECK-NEXT: [[M:%.*]] = "top.Reduce"([[T]]){{.*}}axes = [3]{{.*}}-> tensor<2x6x4x1xf32>
// CHECK-NEXT: [[Y:%.*]] = "top.Permute"([[M]]){{.*}}order = [0, 3, 2, 1]{{.*}}-> tensor<2x1x4x6xf32>
// CHECK-NEXT: return [[Y]]

// -----

// Squares have no form for it, rows beside channels are another axis, and so are channels of rank 3.
func.func @left(%arg0: tensor<2x8x4x6xf32>, %arg1: tensor<2x8x4xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg0) : (tensor<2x8x4x6xf32>) -> tensor<2x8x4x6xf32> loc("x")
  %r = "top.Input"(%arg1) : (tensor<2x8x4xf32>) -> tensor<2x8x4xf32> loc("r")
  %a = "top.Reduce"(%x) {axes = [1], keepdims = true, mode = "ReduceL2"} : (tensor<2x8x4x6xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Reduce"(%x) {axes = [1, 2], keepdims = true, mode = "ReduceMax"} : (tensor<2x8x4x6xf32>) -> tensor<*xf32> loc("b")
  %c = "top.Reduce"(%r) {axes = [1], keepdims = true, mode = "ReduceMean"} : (tensor<2x8x4xf32>) -> tensor<*xf32> loc("c")
  return %a, %b, %c : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @left
// CHECK-COUNT-3: "top.Reduce"(
// CHECK-NOT: top.{{Conv|Permute}}

// -----

// Integer networks keep the reduction.
module attributes {module.mode = "INT8"} {
  func.func @integers(%arg0: tensor<2x8x4x6xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
    %x = "top.Input"(%arg0) : (tensor<2x8x4x6xf32>) -> tensor<2x8x4x6xf32> loc("x")
    %y = "top.Reduce"(%x) {axes = [1], keepdims = true, mode = "ReduceMean"} : (tensor<2x8x4x6xf32>) -> tensor<*xf32> loc("y")
    %z = "top.Reduce"(%x) {axes = [1], keepdims = true, mode = "ReduceMax"} : (tensor<2x8x4x6xf32>) -> tensor<*xf32> loc("z")
    return %y, %z : tensor<*xf32>, tensor<*xf32>
  }
}

// CHECK-LABEL: func.func @integers
// CHECK-COUNT-2: "top.Reduce"(
// CHECK-NOT: top.Conv
