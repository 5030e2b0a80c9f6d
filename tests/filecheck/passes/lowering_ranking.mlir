// RUN: tpu-opt %s --split-input-file --convert-top-to-tpu="mode=F16 chip=bm1684x" | filecheck %s

// The class of each pixel: channels change places with columns, since a lane holds what is ranked.
// Floats are compared as they are.
// CHECK-LABEL: module @classes
// CHECK: "tpu.Permute"({{.*}}order = [0, 3, 2, 1]{{.*}} -> tensor<1x48x32x19xf16>
// CHECK: "tpu.Reduce"({{.*}}ReduceMax{{.*}} -> tensor<1x48x32x1xf16>
// CHECK: "tpu.Compare"({{.*}} -> tensor<1x48x32x19xf16>
// CHECK: "tpu.Where"({{.*}} -> tensor<1x48x32x19xf16>
// CHECK: "tpu.Reduce"({{.*}}ReduceMin{{.*}} -> tensor<1x48x32x1xf16>
// CHECK: "tpu.Permute"({{.*}} -> tensor<1x1x32x48xf16>
// CHECK: "tpu.Cast"({{.*}} -> tensor<1x1x32x48xf32>
module @classes attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x19x32x48xf32>) -> tensor<1x32x48xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x19x32x48xf32>) -> tensor<1x19x32x48xf32> loc("x")
    %1 = "top.Abs"(%0) : (tensor<1x19x32x48xf32>) -> tensor<1x19x32x48xf32> loc("a")
    %none = "top.None"() : () -> none
    %2, %3 = "top.Arg"(%1) {axis = 1 : i64, keepdims = false, mode = "ArgMax", select_last_index = false} : (tensor<1x19x32x48xf32>) -> (tensor<1x32x48xf32>, none) loc(fused["y", "v"])
    return %2 : tensor<1x32x48xf32>
  }
}

// -----

// Rows lie in lanes as they are.
// CHECK-LABEL: module @rows
// CHECK-NOT: "tpu.Permute"
// CHECK: "tpu.Reduce"({{.*}}ReduceMin{{.*}} -> tensor<1x40x1x1xf16>
module @rows attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<40x2048xf32>) -> tensor<40xf32> {
    %0 = "top.Input"(%arg0) : (tensor<40x2048xf32>) -> tensor<40x2048xf32> loc("x")
    %1 = "top.Abs"(%0) : (tensor<40x2048xf32>) -> tensor<40x2048xf32> loc("a")
    %2, %3 = "top.Arg"(%1) {axis = 1 : i64, keepdims = false, mode = "ArgMin", select_last_index = false} : (tensor<40x2048xf32>) -> (tensor<40xf32>, none) loc(fused["y", "v"])
    return %2 : tensor<40xf32>
  }
}

// -----

// One more than f16 counts to.
// CHECK-LABEL: module @long_rows
// CHECK: "tpu.Where"({{.*}} -> tensor<1x40x1x2049xf32>
module @long_rows attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<40x2049xf32>) -> tensor<40xf32> {
    %0 = "top.Input"(%arg0) : (tensor<40x2049xf32>) -> tensor<40x2049xf32> loc("x")
    %1 = "top.Abs"(%0) : (tensor<40x2049xf32>) -> tensor<40x2049xf32> loc("a")
    %2, %3 = "top.Arg"(%1) {axis = 1 : i64, keepdims = false, mode = "ArgMin", select_last_index = false} : (tensor<40x2049xf32>) -> (tensor<40xf32>, none) loc(fused["y", "v"])
    return %2 : tensor<40xf32>
  }
}
