// RUN: tpu-opt %s --strip-io-quant | filecheck %s
// RUN: tpu-opt %s --strip-io-quant="quant_input=True quant_output=True" | filecheck %s --check-prefix=STRIP
// RUN: not tpu-opt %s --strip-io-quant="quant_input_int8=True" 2>&1 | filecheck %s --check-prefix=REFUSED

// By default nothing changes; otherwise the network takes and gives f16. The input `y` has a user
// that reads f32, so it keeps its type.
// CHECK: func.func @main(%arg0: tensor<2x8xf32> loc(unknown), %arg1: tensor<2x8xf32> loc(unknown)) -> tensor<2x8xf32> {
// CHECK-COUNT-3: tpu.Cast
// STRIP: func.func @main(%arg0: tensor<2x8xf16> loc(unknown), %arg1: tensor<2x8xf32> loc(unknown)) -> tensor<2x8xf16> {
// STRIP-NEXT: [[X:%.*]] = "top.Input"(%arg0) : (tensor<2x8xf16>) -> tensor<2x8xf16>
// STRIP-NEXT: [[Y:%.*]] = "top.Input"(%arg1) : (tensor<2x8xf32>) -> tensor<2x8xf32>
// STRIP-NEXT: [[C:%.*]] = "tpu.Cast"([[Y]])
// STRIP-NEXT: "tpu.Relu"([[Y]])
// STRIP-NEXT: [[S:%.*]] = "tpu.Add"([[X]], [[C]])
// STRIP-NEXT: return [[S]]
// REFUSED: changing the type of inputs and outputs is not supported
module @net attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<2x8xf32>, %arg1: tensor<2x8xf32>) -> tensor<2x8xf32> {
    %0 = "top.Input"(%arg0) : (tensor<2x8xf32>) -> tensor<2x8xf32> loc("x")
    %1 = "tpu.Cast"(%0) : (tensor<2x8xf32>) -> tensor<2x8xf16> loc("xsum_f16")
    %2 = "top.Input"(%arg1) : (tensor<2x8xf32>) -> tensor<2x8xf32> loc("y")
    %3 = "tpu.Cast"(%2) : (tensor<2x8xf32>) -> tensor<2x8xf16> loc("ysum_f16")
    %4 = "tpu.Relu"(%2) : (tensor<2x8xf32>) -> tensor<2x8xf32> loc("relu")
    %5 = "tpu.Add"(%1, %3) : (tensor<2x8xf16>, tensor<2x8xf16>) -> tensor<2x8xf16> loc("sum")
    %6 = "tpu.Cast"(%5) : (tensor<2x8xf16>) -> tensor<2x8xf32> loc("sum_f32")
    return %6 : tensor<2x8xf32>
  }
}
