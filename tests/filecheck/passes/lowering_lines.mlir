// RUN: tpu-opt %s --split-input-file --convert-top-to-tpu="mode=F16 chip=bm1684x" | filecheck %s

// Taps that are 32 apart are 8 rows apart in rows of 4, and nothing is moved.
// CHECK-LABEL: module @line
// CHECK: "tpu.Reshape"({{.*}}) {{.*}} -> tensor<1x4x24x4xf16>
// CHECK: "tpu.Conv2D"({{.*}}) {{.*}}dilations = [8, 1]{{.*}}pads = [8, 0, 0, 0]{{.*}} -> tensor<1x4x24x4xf16>
// CHECK-NOT: "tpu.Permute"
// CHECK: "tpu.Reshape"({{.*}}) {{.*}} -> tensor<1x4x96xf16>
module @line attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x4x96xf32>) -> tensor<1x4x96xf32> {
    %none = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x4x96xf32>) -> tensor<1x4x96xf32> loc("x")
    %1 = "top.Weight"() : () -> tensor<4x4x2xf32> loc("random_4x4x2")
    %2 = "top.Conv"(%0, %1, %none) {kernel_shape = [2], strides = [1], pads = [32, 0], dilations = [32], group = 1 : i64} : (tensor<1x4x96xf32>, tensor<4x4x2xf32>, none) -> tensor<1x4x96xf32> loc("y")
    return %2 : tensor<1x4x96xf32>
  }
}

// -----

// 100 elements do not fill rows of 17: the last row is filled, and what it adds is left out.
// CHECK-LABEL: module @rest
// CHECK: "tpu.Pad"({{.*}}) {{.*}} -> tensor<1x4x1x102xf16>
// CHECK: "tpu.Conv2D"({{.*}}) {{.*}}dilations = [2, 1]{{.*}}pads = [2, 0, 2, 0]{{.*}} -> tensor<1x4x6x17xf16>
// CHECK: "tpu.Slice"({{.*}}) {{.*}} -> tensor<1x4x100x1xf16>
module @rest attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x4x100xf32>) -> tensor<1x4x100xf32> {
    %none = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x4x100xf32>) -> tensor<1x4x100xf32> loc("x")
    %1 = "top.Weight"() : () -> tensor<4x4x3xf32> loc("random_4x4x3")
    %2 = "top.Conv"(%0, %1, %none) {kernel_shape = [3], strides = [1], pads = [34, 34], dilations = [34], group = 1 : i64} : (tensor<1x4x100xf32>, tensor<4x4x3xf32>, none) -> tensor<1x4x100xf32> loc("y")
    return %2 : tensor<1x4x100xf32>
  }
}

// -----

// A command can say a dilation of 16, and padding of 15.
// CHECK-LABEL: module @near
// CHECK-NOT: -> tensor<1x4x48x2xf16>
// CHECK: "tpu.Conv2D"({{.*}}) {{.*}}dilations = [16]{{.*}}pads = [15, 1]
module @near attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x4x96xf32>) -> tensor<1x4x96xf32> {
    %none = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x4x96xf32>) -> tensor<1x4x96xf32> loc("x")
    %1 = "top.Weight"() : () -> tensor<4x4x2xf32> loc("random_4x4x2")
    %2 = "top.Conv"(%0, %1, %none) {kernel_shape = [2], strides = [1], pads = [15, 1], dilations = [16], group = 1 : i64} : (tensor<1x4x96xf32>, tensor<4x4x2xf32>, none) -> tensor<1x4x96xf32> loc("y")
    return %2 : tensor<1x4x96xf32>
  }
}

// -----

// By steps of 2 every second image of its elements is wanted: they are taken apart.
// CHECK-LABEL: module @steps
// CHECK: "tpu.Permute"
// CHECK: "tpu.Conv2D"
module @steps attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x4x96xf32>) -> tensor<1x4x48xf32> {
    %none = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x4x96xf32>) -> tensor<1x4x96xf32> loc("x")
    %1 = "top.Weight"() : () -> tensor<4x4x2xf32> loc("random_4x4x2")
    %2 = "top.Conv"(%0, %1, %none) {kernel_shape = [2], strides = [2], pads = [32, 0], dilations = [32], group = 1 : i64} : (tensor<1x4x96xf32>, tensor<4x4x2xf32>, none) -> tensor<1x4x48xf32> loc("y")
    return %2 : tensor<1x4x48xf32>
  }
}

// -----

// A long reflection is looked up at once: elements from 40 back to 1, and from 98 back to 90.
// CHECK-LABEL: module @reflected
// CHECK: [[A:%.+]] = "tpu.Gather"({{.*}} -> tensor<1x4x40xf16>
// CHECK: [[B:%.+]] = "tpu.Gather"({{.*}} -> tensor<1x4x9xf16>
// CHECK-NEXT: "tpu.Concat"([[A]], {{.*}}, [[B]]){{.*}} -> tensor<1x4x149xf16
module @reflected attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x4x100xf32>) -> tensor<1x4x149xf32> {
    %none = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x4x100xf32>) -> tensor<1x4x100xf32> loc("x")
    %1 = "top.Pad"(%0, %none) {paddings = [0, 0, 40, 0, 0, 9], mode = "reflect"} : (tensor<1x4x100xf32>, none) -> tensor<1x4x149xf32> loc("y")
    return %1 : tensor<1x4x149xf32>
  }
}

// -----

// A short one is moved.
// CHECK-LABEL: module @short
// CHECK: "tpu.Pad"({{.*}} -> tensor<1x4x132xf16
module @short attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x4x100xf32>) -> tensor<1x4x132xf32> {
    %none = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x4x100xf32>) -> tensor<1x4x100xf32> loc("x")
    %1 = "top.Pad"(%0, %none) {paddings = [0, 0, 16, 0, 0, 16], mode = "reflect"} : (tensor<1x4x100xf32>, none) -> tensor<1x4x132xf32> loc("y")
    return %1 : tensor<1x4x132xf32>
  }
}
