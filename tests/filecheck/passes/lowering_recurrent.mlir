// RUN: tpu-opt %s --split-input-file --convert-top-to-tpu="mode=F16 chip=bm1684x" | filecheck %s
// RUN: tpu-opt %s --split-input-file --convert-top-to-tpu="mode=F32 chip=bm1684x" | filecheck %s --check-prefix=F32

// A layer stays one op: weights and states become f16, biases stay f32 as the sums they are added to;
// results that nobody reads are none, and the first that is not says what casts give.
// CHECK-LABEL: module @lstm
// CHECK: [[X:%.*]] = "tpu.Cast"
// CHECK-SAME: -> tensor<3x1x8xf16>
// CHECK: "tpu.LSTM"([[X]], {{.*}}) {batch_first = false, bidirectional = false, hidden_size = 4 : i64}
// CHECK-SAME: (tensor<3x1x8xf16>, tensor<1x16x8xf16>, tensor<1x16x4xf16>, tensor<1x32xf32>, none, none, none, none, none, none, none, none) -> (none, tensor<1x1x4xf16>, none)
// F32-LABEL: module @lstm
// F32: "tpu.LSTM"
// F32-SAME: (tensor<3x1x8xf32>, tensor<1x16x8xf32>, tensor<1x16x4xf32>, tensor<1x32xf32>, none
module @lstm attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<3x1x8xf32>) -> tensor<1x1x4xf32> {
    %none = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<3x1x8xf32>) -> tensor<3x1x8xf32> loc("x")
    %1 = "top.Weight"() : () -> tensor<1x16x8xf32> loc("w")
    %2 = "top.Weight"() : () -> tensor<1x16x4xf32> loc("r")
    %3 = "top.Weight"() : () -> tensor<1x32xf32> loc("b")
    %4:3 = "top.LSTM"(%0, %1, %2, %3, %none, %none, %none) {hidden_size = 4 : i64, bidirectional = false} : (tensor<3x1x8xf32>, tensor<1x16x8xf32>, tensor<1x16x4xf32>, tensor<1x32xf32>, none, none, none) -> (none, tensor<1x1x4xf32>, none) loc(fused["y", "h", "c"])
    return %4#1 : tensor<1x1x4xf32>
  }
}

// -----

// A GRU without biases, in two directions, batch first.
// CHECK-LABEL: module @gru
// CHECK: "tpu.GRU"({{.*}}) {batch_first = true, bidirectional = true, hidden_size = 4 : i64, linear_before_reset = false}
// CHECK-SAME: (tensor<2x3x8xf16>, tensor<2x12x8xf16>, tensor<2x12x4xf16>, none, none, none, none, none, none, none) -> (tensor<2x3x2x4xf16>, none)
// F32-LABEL: module @gru
// F32: "tpu.GRU"
module @gru attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<2x3x8xf32>) -> tensor<2x3x2x4xf32> {
    %none = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32> loc("x")
    %1 = "top.Weight"() : () -> tensor<2x12x8xf32> loc("w")
    %2 = "top.Weight"() : () -> tensor<2x12x4xf32> loc("r")
    %3:2 = "top.GRU"(%0, %1, %2, %none, %none) {hidden_size = 4 : i64, bidirectional = true, linear_before_reset = false, batch_first = true} : (tensor<2x3x8xf32>, tensor<2x12x8xf32>, tensor<2x12x4xf32>, none, none) -> (tensor<2x3x2x4xf32>, none) loc(fused["y", "h"])
    return %3#0 : tensor<2x3x2x4xf32>
  }
}

// -----

// Steps over the lanes change places with what is behind them, as the state before the first does.
// CHECK-LABEL: module @scan
// CHECK: [[A:%.*]] = "tpu.Permute"({{.*}}order = [0, 2, 1]{{.*}} -> tensor<1x64x8xf16>
// CHECK: [[B:%.*]] = "tpu.Permute"({{.*}}order = [0, 2, 1]{{.*}} -> tensor<1x64x8xf16>
// CHECK: [[S:%.*]] = "tpu.Permute"({{.*}}order = [0, 2, 1]{{.*}} -> tensor<1x64x1xf16>
// CHECK: [[H:%.*]] = "tpu.LinearScan"([[A]], [[B]], [[S]]) {axis = 2 : i64}
// CHECK-NEXT: "tpu.Permute"([[H]]{{.*}}order = [0, 2, 1]{{.*}} -> tensor<1x8x64xf16>
// F32-LABEL: module @scan
// F32: "tpu.LinearScan"({{.*}}axis = 2
module @scan attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x8x64xf32>, %arg1: tensor<1x8x64xf32>, %arg2: tensor<1x1x64xf32>) -> tensor<1x8x64xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x8x64xf32>) -> tensor<1x8x64xf32> loc("a")
    %1 = "top.Input"(%arg1) : (tensor<1x8x64xf32>) -> tensor<1x8x64xf32> loc("b")
    %2 = "top.Input"(%arg2) : (tensor<1x1x64xf32>) -> tensor<1x1x64xf32> loc("before")
    %3 = "top.LinearScan"(%0, %1, %2) {axis = 1 : i64} : (tensor<1x8x64xf32>, tensor<1x8x64xf32>, tensor<1x1x64xf32>) -> tensor<1x8x64xf32> loc("h")
    return %3 : tensor<1x8x64xf32>
  }
}

// -----

// Images that are steps stay.
// CHECK-LABEL: module @scan_of_images
// CHECK-NOT: tpu.Permute
// CHECK: "tpu.LinearScan"({{.*}}axis = 0
// F32-LABEL: module @scan_of_images
module @scan_of_images attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<8x64x2xf32>, %arg1: tensor<8x64x2xf32>) -> tensor<8x64x2xf32> {
    %none = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<8x64x2xf32>) -> tensor<8x64x2xf32> loc("a")
    %1 = "top.Input"(%arg1) : (tensor<8x64x2xf32>) -> tensor<8x64x2xf32> loc("b")
    %2 = "top.LinearScan"(%0, %1, %none) {axis = 0 : i64} : (tensor<8x64x2xf32>, tensor<8x64x2xf32>, none) -> tensor<8x64x2xf32> loc("h")
    return %2 : tensor<8x64x2xf32>
  }
}
