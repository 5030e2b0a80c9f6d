// RUN: tpu-opt %s --split-input-file --fold-columns="chip=bm1684x" --no-locations | filecheck %s

// Eight channels fill an eighth of the lanes: eight columns become channels. The first filter folds
// what it gives by its stride, the second has 3 taps for 11, the op between them follows; what is
// returned is unfolded.
// CHECK-LABEL: module @few
// CHECK: [[X:%.+]] = "top.Input"
// CHECK: [[W:%.+]] = "top.Weight"() : () -> tensor<64x8x18xf32>
// CHECK-NEXT: [[A:%.+]] = "top.Conv"([[X]], [[W]], {{.*}}) {dilations = [1], kernel_shape = [18], pads = [5, 5], strides = [8]}
// CHECK-SAME: -> tensor<1x64x1600xf32>
// CHECK-NEXT: [[B:%.+]] = "top.LeakyRelu"([[A]])
// CHECK-NEXT: [[V:%.+]] = "top.Weight"() : () -> tensor<64x64x3xf32>
// CHECK-NEXT: [[C:%.+]] = "top.Conv"([[B]], [[V]], {{.*}}) {dilations = [1], kernel_shape = [3], pads = [1, 1], strides = [1]}
// CHECK-NEXT: [[D:%.+]] = "top.Reshape"([[C]]) {{.*}} -> tensor<1x8x8x1600xf32>
// CHECK-NEXT: [[E:%.+]] = "top.Permute"([[D]]) {order = [0, 1, 3, 2]}
// CHECK-NEXT: [[F:%.+]] = "top.Reshape"([[E]]) {{.*}} -> tensor<1x8x12800xf32>
// CHECK-NEXT: return [[F]]
module @few attributes {module.state = "TOP_F32", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x8x12800xf32>) -> tensor<1x8x12800xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x8x12800xf32>) -> tensor<1x8x12800xf32>
    %w = "top.Weight"() : () -> tensor<8x8x11xf32> loc("w")
    %v = "top.Weight"() : () -> tensor<8x8x11xf32> loc("v")
    %1 = "top.Conv"(%0, %w, %n) {kernel_shape = [11], pads = [5, 5], strides = [1]} : (tensor<1x8x12800xf32>, tensor<8x8x11xf32>, none) -> tensor<1x8x12800xf32> loc("c")
    %2 = "top.LeakyRelu"(%1) {alpha = 0.1 : f64} : (tensor<1x8x12800xf32>) -> tensor<1x8x12800xf32> loc("l")
    %3 = "top.Conv"(%2, %v, %n) {kernel_shape = [11], pads = [5, 5], strides = [1]} : (tensor<1x8x12800xf32>, tensor<8x8x11xf32>, none) -> tensor<1x8x12800xf32> loc("y")
    return %3 : tensor<1x8x12800xf32>
  }
}

// -----

// A prime number of columns cannot be folded, and 64 channels need not be.
// CHECK-LABEL: module @prime
// CHECK-NOT: top.Permute
module @prime attributes {module.state = "TOP_F32", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x8x12799xf32>) -> tensor<1x8x12799xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x8x12799xf32>) -> tensor<1x8x12799xf32>
    %w = "top.Weight"() : () -> tensor<8x8x11xf32> loc("w")
    %1 = "top.Conv"(%0, %w, %n) {kernel_shape = [11], pads = [5, 5], strides = [1]} : (tensor<1x8x12799xf32>, tensor<8x8x11xf32>, none) -> tensor<1x8x12799xf32> loc("c")
    return %1 : tensor<1x8x12799xf32>
  }
}

// -----

// CHECK-LABEL: module @many
// CHECK-NOT: top.Permute
module @many attributes {module.state = "TOP_F32", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x64x12800xf32>) -> tensor<1x64x12800xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x64x12800xf32>) -> tensor<1x64x12800xf32>
    %w = "top.Weight"() : () -> tensor<64x64x11xf32> loc("w")
    %1 = "top.Conv"(%0, %w, %n) {kernel_shape = [11], pads = [5, 5], strides = [1]} : (tensor<1x64x12800xf32>, tensor<64x64x11xf32>, none) -> tensor<1x64x12800xf32> loc("c")
    return %1 : tensor<1x64x12800xf32>
  }
}
