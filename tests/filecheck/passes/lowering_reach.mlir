// RUN: tpu-opt %s --split-input-file --convert-top-to-tpu="mode=F16 chip=bm1684x" 2>%t | filecheck %s
// RUN: filecheck %s --check-prefix=NOTE < %t

// A factor beyond f16: it and what reads its result are f32, up to the Sigmoid. 65504 is no such factor.
// CHECK-LABEL: module @factor
// CHECK: "tpu.MulConst"({{.*}}) {{.*}}const_val = 1.000000e+06{{.*}} -> tensor<2x4xf32>
// CHECK-NEXT: "tpu.Permute"({{.*}}) {{.*}} -> tensor<4x2xf32>
// CHECK-NEXT: "tpu.Active"({{.*}}) {{.*}} -> tensor<4x2xf32>
// CHECK-NEXT: [[S:%.*]] = "tpu.Cast"({{.*}}) {{.*}} -> tensor<4x2xf16>
// CHECK-NEXT: "tpu.MulConst"([[S]]) {{.*}}const_val = 6.550400e+04{{.*}} -> tensor<4x2xf16>
// NOTE: constants that F16 cannot hold keep ops in F32: 'large' (1e+06)
module @factor attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<2x4xf32>) -> tensor<4x2xf32> {
    %0 = "top.Input"(%arg0) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("x")
    %1 = "top.MulConst"(%0) {const_val = 1.000000e+06 : f64} : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("large")
    %2 = "top.Permute"(%1) {order = [1, 0]} : (tensor<2x4xf32>) -> tensor<4x2xf32> loc("turned")
    %3 = "top.Sigmoid"(%2) : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("gate")
    %4 = "top.MulConst"(%3) {const_val = 6.550400e+04 : f64} : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("largest")
    return %4 : tensor<4x2xf32>
  }
}

// -----

// A mask may saturate in front of a Softmax; the same sum as an output may not.
// CHECK-LABEL: module @mask
// CHECK: "tpu.Where"({{.*}}) {{.*}} -> tensor<2x4xf16>
// CHECK-NEXT: "tpu.Softmax"({{.*}}) {{.*}} -> tensor<2x4xf16>
// NOTE: constants beyond F16 are at most 65504 where more makes no difference (masks): 'masked' (1e+09)
module @mask attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("keep")
    %1 = "top.Input"(%arg1) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("x")
    %2 = "top.Where"(%0, %1, %n) {x_is_const = false, y_is_const = true, x_const_val = 0.000000e+00 : f64, y_const_val = -1.000000e+09 : f64} : (tensor<2x4xf32>, tensor<2x4xf32>, none) -> tensor<2x4xf32> loc("masked")
    %3 = "top.Softmax"(%2) {axis = 1 : si32} : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("share")
    return %3 : tensor<2x4xf32>
  }
}

// -----

// CHECK-LABEL: module @seen
// CHECK: "tpu.Where"({{.*}}) {{.*}} -> tensor<2x4xf32>
// NOTE: constants that F16 cannot hold keep ops in F32: 'filled' (1e+09)
module @seen attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("keep")
    %1 = "top.Input"(%arg1) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("x")
    %2 = "top.Where"(%0, %1, %n) {x_is_const = false, y_is_const = true, x_const_val = 0.000000e+00 : f64, y_const_val = -1.000000e+09 : f64} : (tensor<2x4xf32>, tensor<2x4xf32>, none) -> tensor<2x4xf32> loc("filled")
    return %2 : tensor<2x4xf32>
  }
}

// -----

// A small factor whose product is only added stays; a lower bound above 0 stays above 0.
// CHECK-LABEL: module @small
// CHECK: "tpu.MulConst"({{.*}}) {{.*}} -> tensor<2x4xf16>
// CHECK-NEXT: "tpu.Add"({{.*}}) {{.*}} -> tensor<2x4xf16>
// CHECK-NEXT: "tpu.MaxConst"({{.*}}) {const_val = 5.9604644775390625E-8 : f64, {{.*}} -> tensor<2x4xf16>
// CHECK: "tpu.MulConst"({{.*}}) {{.*}} -> tensor<2x4xf32>
// NOTE: constants that F16 cannot hold keep ops in F32: 'tiny' (1e-09)
module @small attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %0 = "top.Input"(%arg0) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("x")
    %1 = "top.MulConst"(%0) {const_val = 1.000000e-06 : f64} : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("branch")
    %2 = "top.Add"(%0, %1) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("sum")
    %3 = "top.MaxConst"(%2) {const_val = 1.000000e-12 : f64} : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("above")
    %4 = "top.MulConst"(%3) {const_val = 1.000000e-09 : f64} : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("tiny")
    return %4 : tensor<2x4xf32>
  }
}

// -----

// Beside what it is added to, a mask is half the largest number: a sum with scores is none beyond it.
// CHECK-LABEL: module @added
// CHECK: "tpu.Where"({{.*}}y_const_val = -3.275200e+04
// CHECK-NEXT: "tpu.Add"
// CHECK-NEXT: "tpu.Softmax"
// NOTE: constants beyond F16 are at most 65504 where more makes no difference (masks): 'hidden' (3.4e+38)
module @added attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("keep")
    %1 = "top.Input"(%arg1) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("x")
    %2 = "top.Where"(%0, %n, %n) {x_is_const = true, y_is_const = true, x_const_val = 0.000000e+00 : f64, y_const_val = -3.4028234663852886E+38 : f64} : (tensor<2x4xf32>, none, none) -> tensor<2x4xf32> loc("hidden")
    %3 = "top.Add"(%1, %2) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("sum")
    %4 = "top.Softmax"(%3) {axis = 1 : si32} : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("share")
    return %4 : tensor<2x4xf32>
  }
}

// -----

// A factor is one of a mask from the largest number on; a smaller one may multiply anything.
// CHECK-LABEL: module @factors
// CHECK: "tpu.MulConst"({{.*}}const_val = -3.275200e+04
// CHECK: "tpu.MulConst"({{.*}}const_val = -6.550300e+04
module @factors attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %0 = "top.Input"(%arg0) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("keep")
    %1 = "top.Input"(%arg1) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("x")
    %2 = "top.MulConst"(%0) {const_val = -6.550400e+04 : f64} : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("a")
    %3 = "top.Add"(%1, %2) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("b")
    %4 = "top.MulConst"(%0) {const_val = -6.550300e+04 : f64} : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("c")
    %5 = "top.Add"(%3, %4) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("d")
    %6 = "top.Softmax"(%5) {axis = 1 : si32} : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("share")
    return %6 : tensor<2x4xf32>
  }
}

// -----

// A comparison may tell half the largest number from all of it.
// CHECK-LABEL: module @compared
// CHECK: "tpu.Where"({{.*}}y_const_val = -6.550400e+04
// CHECK-NEXT: "tpu.Add"
// CHECK-NEXT: "tpu.CompareConst"
module @compared attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("keep")
    %1 = "top.Input"(%arg1) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("x")
    %2 = "top.Where"(%0, %n, %n) {x_is_const = true, y_is_const = true, x_const_val = 0.000000e+00 : f64, y_const_val = -1.000000e+09 : f64} : (tensor<2x4xf32>, none, none) -> tensor<2x4xf32> loc("far")
    %3 = "top.Add"(%1, %2) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("sum")
    %4 = "top.CompareConst"(%3) {mode = "Less", const_val = -4.000000e+04 : f64, inversed = false} : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("less")
    return %4 : tensor<2x4xf32>
  }
}
