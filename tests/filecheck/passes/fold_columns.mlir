// RUN: tpu-opt %s --split-input-file --fold-columns="chip=bm1684x" --no-locations | filecheck %s

// Eight channels fill an eighth of the lanes: eight columns become channels. A filter of zeros and
// ones folds what is read by four, the first filter goes over columns of which the last channel is
// moved to the next one and folds what it gives by its stride, the second has 3 taps for 11, the op
// between them follows; what is returned is unfolded.
// CHECK-LABEL: module @few
// CHECK: [[X:%.+]] = "top.Input"
// CHECK: [[Q:%.+]] = "top.Conv"([[X]], {{.*}}) {{.*}} kernel_shape = [4, 1], {{.*}} strides = [4, 1]
// CHECK-SAME: -> tensor<1x32x3200xf32>
// CHECK-NEXT: "top.Weight"() : () -> tensor<32x1x2x1xf32>
// CHECK-NEXT: [[S:%.+]] = "top.Conv"([[Q]], {{.*}} group = 32 : i64, kernel_shape = [2, 1], pads = [1, 0, 1, 0]
// CHECK-SAME: -> tensor<1x32x3201xf32>
// CHECK: [[W:%.+]] = "top.Weight"() : () -> tensor<64x32x5xf32>
// CHECK-NEXT: [[A:%.+]] = "top.Conv"([[S]], [[W]], {{.*}}) {dilations = [1], kernel_shape = [5], pads = [1, 1], strides = [2]}
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
    %0 = "top.Input"(%arg0) : (tensor<1x8x12800xf32>) -> tensor<1x8x12800xf32> loc("x")
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
    %0 = "top.Input"(%arg0) : (tensor<1x8x12799xf32>) -> tensor<1x8x12799xf32> loc("x")
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
    %0 = "top.Input"(%arg0) : (tensor<1x64x12800xf32>) -> tensor<1x64x12800xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<64x64x11xf32> loc("w")
    %1 = "top.Conv"(%0, %w, %n) {kernel_shape = [11], pads = [5, 5], strides = [1]} : (tensor<1x64x12800xf32>, tensor<64x64x11xf32>, none) -> tensor<1x64x12800xf32> loc("c")
    return %1 : tensor<1x64x12800xf32>
  }
}

// -----

// Half of the lanes: two columns of the result are computed as channels, where they can be unfolded
// by the array: a transposed filter of zeros and ones. A norm of groups of channels follows with its
// parameters repeated; the neighbours of 128 channels stay.
// CHECK-LABEL: module @half
// CHECK: [[X:%.+]] = "top.Relu"
// CHECK: "top.Conv"([[X]], {{.*}} kernel_shape = [3, 4], {{.*}} strides = [1, 2]}
// CHECK-SAME: -> tensor<1x64x128x64xf32>
// CHECK: "top.Weight"() : () -> tensor<64xf32>
// CHECK-NEXT: "top.Weight"() : () -> tensor<64xf32>
// CHECK-NEXT: "top.GroupNorm"({{.*}}num_groups = 8
// CHECK-SAME: -> tensor<1x64x128x64xf32>
// CHECK: "top.Weight"() : () -> tensor<32x64x1x2xf32>
// CHECK-NEXT: [[Y:%.+]] = "top.Deconv"({{.*}} kernel_shape = [1, 2], {{.*}} strides = [1, 2]
// CHECK-NEXT: "top.Softmax"([[Y]])
module @half attributes {module.state = "TOP_F32", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x128x128x128xf32>) -> tensor<1x32x128x128xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x128x128x128xf32>) -> tensor<1x128x128x128xf32> loc("x")
    %r = "top.Relu"(%0) : (tensor<1x128x128x128xf32>) -> tensor<1x128x128x128xf32> loc("r")
    %w = "top.Weight"() : () -> tensor<32x128x3x3xf32> loc("w")
    %1 = "top.Conv"(%r, %w, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (tensor<1x128x128x128xf32>, tensor<32x128x3x3xf32>, none) -> tensor<1x32x128x128xf32> loc("c")
    %g = "top.Weight"() : () -> tensor<32xf32> loc("g")
    %b = "top.Weight"() : () -> tensor<32xf32> loc("b")
    %2 = "top.GroupNorm"(%1, %g, %b) {num_groups = 8 : i64, eps = 1.0e-05 : f64} : (tensor<1x32x128x128xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<1x32x128x128xf32> loc("z")
    %3 = "top.Softmax"(%2) {axis = 1 : si32} : (tensor<1x32x128x128xf32>) -> tensor<1x32x128x128xf32> loc("y")
    return %3 : tensor<1x32x128x128xf32>
  }
}

// -----

// Nine outputs, read as they are, of pairs of columns: pairs of them and three rows, one behind the
// other, are channels, and change places together.
// CHECK-LABEL: module @rows
// CHECK: "top.Conv"({{.*}}kernel_shape = [5, 2], pads = [1, 0, 1, 0], strides = [3, 1]}
// CHECK-SAME: -> tensor<1x54x32x48xf32>
// CHECK-NEXT: "top.Reshape"{{.*}} -> tensor<1x3x9x2x32x48xf32>
// CHECK-NEXT: "top.Permute"{{.*}}order = [0, 2, 4, 1, 5, 3]
// CHECK-NEXT: [[Z:%.+]] = "top.Reshape"{{.*}} -> tensor<1x9x96x96xf32>
// CHECK-NEXT: "top.Permute"([[Z]])
module @rows attributes {module.state = "TOP_F32", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x64x96x96xf32>) -> tensor<1x9x96x96xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x64x96x96xf32>) -> tensor<1x64x96x96xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<32x64x3x3xf32> loc("w")
    %1 = "top.Conv"(%0, %w, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (tensor<1x64x96x96xf32>, tensor<32x64x3x3xf32>, none) -> tensor<1x32x96x96xf32> loc("c")
    %2 = "top.Tanh"(%1) : (tensor<1x32x96x96xf32>) -> tensor<1x32x96x96xf32> loc("t")
    %v = "top.Weight"() : () -> tensor<9x32x3x3xf32> loc("v")
    %3 = "top.Conv"(%2, %v, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (tensor<1x32x96x96xf32>, tensor<9x32x3x3xf32>, none) -> tensor<1x9x96x96xf32> loc("z")
    %4 = "top.Permute"(%3) {order = [0, 1, 3, 2]} : (tensor<1x9x96x96xf32>) -> tensor<1x9x96x96xf32> loc("y")
    return %4 : tensor<1x9x96x96xf32>
  }
}
