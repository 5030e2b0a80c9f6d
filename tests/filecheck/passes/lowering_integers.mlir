// RUN: tpu-opt %s --split-input-file --convert-top-to-tpu="mode=F16 chip=bm1684x" 2>%t | filecheck %s
// RUN: filecheck %s --check-prefix=NOTE < %t

// Sums and products of integers, and their tables, have no type of the mode; what compares them does.
// CHECK-LABEL: module @arithmetic
// CHECK-NOT: tpu.Cast
// CHECK: "tpu.Add"({{.*}}) {{.*}} -> tensor<2x4xsi32>
// CHECK-NEXT: "tpu.MulConst"({{.*}}) {{.*}} -> tensor<2x4xsi32>
// CHECK-NEXT: "tpu.Compare"({{.*}}) {mode = "Less"} : (tensor<2x4xsi32>, tensor<2x4xsi32>) -> tensor<2x4xf16>
// CHECK: return {{.*}} tensor<2x4xsi32>, tensor<2x4xf32>
module @arithmetic attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<2x4xsi32>, %arg1: tensor<2x4xsi32>) -> (tensor<2x4xsi32>, tensor<2x4xf32>) {
    %0 = "top.Input"(%arg0) : (tensor<2x4xsi32>) -> tensor<2x4xsi32> loc("a")
    %1 = "top.Input"(%arg1) : (tensor<2x4xsi32>) -> tensor<2x4xsi32> loc("b")
    %2 = "top.Add"(%0, %1) : (tensor<2x4xsi32>, tensor<2x4xsi32>) -> tensor<2x4xsi32> loc("sum")
    %3 = "top.MulConst"(%2) {const_val = 3.000000e+00 : f64} : (tensor<2x4xsi32>) -> tensor<2x4xsi32> loc("product")
    %4 = "top.Compare"(%3, %1) {mode = "Less"} : (tensor<2x4xsi32>, tensor<2x4xsi32>) -> tensor<2x4xf32> loc("less")
    return %3, %4 : tensor<2x4xsi32>, tensor<2x4xf32>
  }
}

// -----

// Positions times frequencies are f32 up to the sine, whose result is f16.
// CHECK-LABEL: module @angles
// CHECK: "tpu.Cast"({{.*}}) {{.*}} : (tensor<1x8xsi32>) -> tensor<1x8xf32>
// CHECK-NEXT: [[A:%.*]] = "tpu.MulConst"({{.*}}) {{.*}} -> tensor<1x8xf32>
// CHECK-NEXT: [[S:%.*]] = "tpu.Active"([[A]]) {{.*}} -> tensor<1x8xf32>
// CHECK-NEXT: "tpu.Cast"([[S]]) {{.*}} -> tensor<1x8xf16>
// CHECK-NEXT: "tpu.Mul"({{.*}}) {{.*}} -> tensor<1x8xf16>
module @angles attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x8xsi32>, %arg1: tensor<1x8xf32>) -> tensor<1x8xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x8xsi32>) -> tensor<1x8xsi32> loc("positions")
    %1 = "top.Input"(%arg1) : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("x")
    %2 = "top.Cast"(%0) {to = "F32"} : (tensor<1x8xsi32>) -> tensor<1x8xf32> loc("floats")
    %3 = "top.MulConst"(%2) {const_val = 5.000000e-01 : f64} : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("angle")
    %4 = "top.Sin"(%3) : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("sine")
    %5 = "top.Mul"(%1, %4) : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32> loc("turned")
    return %5 : tensor<1x8xf32>
  }
}

// -----

// Without an angle behind them they are as other floats, which is said; NOTE has no line for the
// modules above.
// CHECK-LABEL: module @rounded
// CHECK: "tpu.Mul"({{.*}}) {{.*}} -> tensor<1x8xf16>
// NOTE: note: integers are rounded to F16, which is exact up to 2048: 'count'
// NOTE-NOT: note
module @rounded attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x8xsi32>, %arg1: tensor<1x8xf32>) -> tensor<1x8xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x8xsi32>) -> tensor<1x8xsi32> loc("n")
    %1 = "top.Input"(%arg1) : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("x")
    %2 = "top.Cast"(%0) {to = "F32"} : (tensor<1x8xsi32>) -> tensor<1x8xf32> loc("count")
    %3 = "top.Mul"(%1, %2) : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32> loc("scaled")
    return %3 : tensor<1x8xf32>
  }
}

// -----

// A sum: one half and the other, then what was left over.
// CHECK-LABEL: module @total
// CHECK: "tpu.Slice"({{.*}}) {{.*}} -> tensor<1xsi32>
// CHECK-NEXT: "tpu.Slice"({{.*}}) {{.*}} -> tensor<1xsi32>
// CHECK-NEXT: "tpu.Slice"({{.*}}) {{.*}} -> tensor<1xsi32>
// CHECK-NEXT: "tpu.Add"
// CHECK-NEXT: "tpu.Add"
// CHECK-NOT: tpu.Reduce
module @total attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<3xsi32>) -> tensor<1xsi32> {
    %0 = "top.Input"(%arg0) : (tensor<3xsi32>) -> tensor<3xsi32> loc("n")
    %1 = "top.Reduce"(%0) {axes = [0], keepdims = true, mode = "ReduceSum"} : (tensor<3xsi32>) -> tensor<1xsi32> loc("sum")
    return %1 : tensor<1xsi32>
  }
}

// -----

// Ids in f32, as other importers write them, stay f32 until they are an index.
// CHECK-LABEL: module @ids
// CHECK: [[I:%.*]] = "tpu.AddConst"({{.*}}) {{.*}} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: [[C:%.*]] = "tpu.Cast"([[I]]) {{.*}} : (tensor<4xf32>) -> tensor<4xsi32>
// CHECK: "tpu.Gather"({{.*}}) {{.*}} : (tensor<9000x2xf16>, tensor<4xsi32>, none) -> tensor<4x2xf16>
module @ids attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<9000x2xf32>) -> tensor<4x2xf32> {
    %0 = "top.Input"(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc("ids")
    %1 = "top.Input"(%arg1) : (tensor<9000x2xf32>) -> tensor<9000x2xf32> loc("table")
    %2 = "top.AddConst"(%0) {const_val = 3.000000e+00 : f64} : (tensor<4xf32>) -> tensor<4xf32> loc("moved")
    %3 = "top.Gather"(%1, %2) {axis = 0 : si32} : (tensor<9000x2xf32>, tensor<4xf32>) -> tensor<4x2xf32> loc("rows")
    return %3 : tensor<4x2xf32>
  }
}
