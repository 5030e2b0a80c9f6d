// RUN: tpu-opt %s --mlir-print-debuginfo --split-input-file --convert-top-to-tpu="mode=F16 chip=bm1684x" | filecheck %s
// RUN: tpu-opt %s --mlir-print-debuginfo --split-input-file --convert-top-to-tpu="mode=F32 chip=bm1684x" | filecheck %s --check-prefix=F32

// The filter becomes f16 under a new name, the bias stays f32, casts stand at both ends.
// CHECK-LABEL: module @conv
// CHECK-SAME: module.mode = "F16"
// CHECK-SAME: module.state = "TPU_LOWERED"
// CHECK: [[IN:%.*]] = "top.Input"
// CHECK-NEXT: [[X:%.*]] = "tpu.Cast"([[IN]]) {round_mode = #tpu<round_mode HalfAwayFromZero>, with_scale = true} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf16> loc([[LX:#loc[0-9]+]])
// CHECK-NEXT: [[B:%.*]] = "top.Weight"() : () -> tensor<4xf32>
// CHECK-NEXT: [[W:%.*]] = "top.Weight"() : () -> tensor<4x3x3x3xf16> loc([[LW:#loc[0-9]+]])
// CHECK-NEXT: [[Y:%.*]] = "tpu.Conv2D"([[X]], [[W]], [[B]])
// CHECK-SAME: quant_mode = #tpu<rq_mode MultiplierShift>
// CHECK-SAME: with_bias = true
// CHECK-NEXT: [[Z:%.*]] = "tpu.Cast"([[Y]])
// CHECK-SAME: loc([[LZ:#loc[0-9]+]])
// CHECK-NEXT: return [[Z]] : tensor<1x4x6x6xf32>
// CHECK-DAG: [[LX]] = loc("xconv_f16")
// CHECK-DAG: [[LW]] = loc("w_f16")
// CHECK-DAG: [[LZ]] = loc("conv_f32")
// F32-LABEL: module @conv
// F32-NOT: tpu.Cast
// F32: "tpu.Conv2D"
module @conv attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x3x8x8xf32>) -> tensor<1x4x6x6xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("x")
    %1 = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("w")
    %2 = "top.Weight"() : () -> tensor<4xf32> loc("b")
    %3 = "top.Conv"(%0, %1, %2) {kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x6x6xf32> loc("conv")
    return %3 : tensor<1x4x6x6xf32>
  }
}

// -----

// GELU stays in f32; a reshape takes the type of its input; one cast serves both users.
// CHECK-LABEL: module @act
// CHECK: [[X:%.*]] = "tpu.Cast"
// CHECK-NEXT: [[N:%.*]] = "tpu.Relu"([[X]]) {relu_limit = -1.000000e+00 : f64} : (tensor<2x8xf16>) -> tensor<2x8xf16>
// CHECK-NEXT: [[F:%.*]] = "tpu.Cast"([[N]])
// CHECK-NEXT: [[G:%.*]] = "tpu.Active"([[F]]) {mode = #tpu<active_mode GELU>} : (tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT: [[R:%.*]] = "tpu.Reshape"([[G]]) {{.*}} : (tensor<2x8xf32>) -> tensor<16xf32>
// CHECK-NEXT: [[H:%.*]] = "tpu.Cast"([[R]])
// CHECK-NEXT: [[A:%.*]] = "tpu.AddConst"([[H]])
// CHECK-NEXT: [[M:%.*]] = "tpu.MulConst"([[H]])
// CHECK-NEXT: [[S:%.*]] = "tpu.Add"([[A]], [[M]])
// CHECK-NEXT: "tpu.Cast"([[S]])
// CHECK-NEXT: return
module @act attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<2x8xf32>) -> tensor<16xf32> {
    %0 = "top.Input"(%arg0) : (tensor<2x8xf32>) -> tensor<2x8xf32> loc("x")
    %1 = "top.Relu"(%0) : (tensor<2x8xf32>) -> tensor<2x8xf32> loc("relu")
    %2 = "top.GELU"(%1) : (tensor<2x8xf32>) -> tensor<2x8xf32> loc("gelu")
    %3 = "top.Reshape"(%2) {shape = [16]} : (tensor<2x8xf32>) -> tensor<16xf32> loc("flat")
    %4 = "top.AddConst"(%3) {const_val = 1.0 : f64} : (tensor<16xf32>) -> tensor<16xf32> loc("plus")
    %5 = "top.MulConst"(%3) {const_val = 2.0 : f64} : (tensor<16xf32>) -> tensor<16xf32> loc("times")
    %6 = "top.Add"(%4, %5) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> loc("sum")
    return %6 : tensor<16xf32>
  }
}

// -----

// A weight with two users of one type is converted once; the f32 original goes.
// CHECK-LABEL: module @shared
// CHECK-COUNT-1: "top.Weight"() : () -> tensor<8x8xf16>
// CHECK-NOT: "top.Weight"
// CHECK: "tpu.MatMul"({{.*}}, [[W:%[0-9]+]], {{.*}}, {{.*}}, {{.*}})
// CHECK-NEXT: "tpu.MatMul"({{.*}}, {{%[0-9]+}}, {{.*}}, {{.*}}, {{.*}})
// F32-LABEL: module @shared
// F32: "top.Weight"() : () -> tensor<8x8xf32>
module @shared attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<2x8xf32>) -> tensor<2x8xf32> loc("x")
    %1 = "top.Weight"() : () -> tensor<8x8xf32> loc("w")
    %2 = "top.MatMul"(%0, %1, %n) : (tensor<2x8xf32>, tensor<8x8xf32>, none) -> tensor<2x8xf32> loc("a")
    %3 = "top.MatMul"(%2, %1, %n) : (tensor<2x8xf32>, tensor<8x8xf32>, none) -> tensor<2x8xf32> loc("b")
    return %3 : tensor<2x8xf32>
  }
}

// -----

// An input that is returned as it is needs nothing at all.
// CHECK-LABEL: module @nothing
// CHECK-NOT: tpu.Cast
// CHECK: return {{%[0-9]+}} : tensor<2x8xf32>
module @nothing attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
    %0 = "top.Input"(%arg0) : (tensor<2x8xf32>) -> tensor<2x8xf32> loc("x")
    return %0 : tensor<2x8xf32>
  }
}
