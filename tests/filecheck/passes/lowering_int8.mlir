// RUN: tpu-opt %s --mlir-print-debuginfo --split-input-file --weights %S/Inputs/weights.npz --convert-top-to-tpu="mode=INT8 chip=bm1684x by_tables=true" | filecheck %s

// One scale a channel; the input is cast to i8, the ReLU's result is u8 and its limit is gone.
// CHECK-LABEL: module @conv
// CHECK-SAME: module.mode = "INT8"
// CHECK: [[IN:%.*]] = "top.Input"
// CHECK-NEXT: [[X:%.*]] = "tpu.Cast"([[IN]]) {{.*}} -> tensor<1x3x8x8x!quant.uniform<i8:f32, 1.000000e+00>> loc([[LX:#loc[0-9]*]])
// CHECK-NEXT: [[W:%.*]] = "top.Weight"() : () -> tensor<4x3x3x3xsi8> loc([[LW:#loc[0-9]*]])
// CHECK-NEXT: [[B:%.*]] = "top.Weight"() : () -> tensor<1x4x1x1xi32> loc([[LB:#loc[0-9]*]])
// CHECK-NEXT: [[Y:%.*]] = "tpu.Conv2D"([[X]], [[W]], [[B]]) {{.*}}multiplier = [{{[0-9]+, [0-9]+, [0-9]+, [0-9]+}}]{{.*}}quant_mode = #tpu<rq_mode MultiplierShift>, relu_limit = -1.000000e+00 : f64, round_mode = #tpu<round_mode HalfUp>, rshift = [{{[0-9]+, [0-9]+, [0-9]+, [0-9]+}}]
// CHECK-SAME: -> tensor<1x4x6x6x!quant.uniform<u8:f32, 1.000000e+00>>
// CHECK-NEXT: [[Z:%.*]] = "tpu.Cast"([[Y]]) {{.*}} -> tensor<1x4x6x6xf32>
// CHECK-NEXT: return [[Z]] : tensor<1x4x6x6xf32>
// CHECK-DAG: [[LX]] = loc("xconv_si8")
// CHECK-DAG: [[LW]] = loc("conv_filter_i8")
// CHECK-DAG: [[LB]] = loc("conv_bias_int32")
module @conv attributes {module.weight_file = "weights.npz"} {
  func.func @main(%arg0: tensor<1x3x8x8xf32>) -> tensor<1x4x6x6x!quant.calibrated<f32<0.0:255.0>>> {
    %0 = "top.Input"(%arg0) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8x!quant.calibrated<f32<-127.0:127.0>>> loc("x")
    %1 = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
    %2 = "top.Weight"() : () -> tensor<4xf32> loc("random_4")
    %3 = "top.Conv"(%0, %1, %2) {do_relu = true, kernel_shape = [3, 3], pads = [0, 0, 0, 0], relu_limit = 6.0 : f64, strides = [1, 1]} : (tensor<1x3x8x8x!quant.calibrated<f32<-127.0:127.0>>>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x6x6x!quant.calibrated<f32<0.0:255.0>>> loc("conv")
    return %3 : tensor<1x4x6x6x!quant.calibrated<f32<0.0:255.0>>>
  }
}

// -----

// LayerNorm has no 8-bit form and runs in F16 between casts; GELU becomes a table; a factor
// becomes the scale of the result, so that nothing is left to multiply.
// CHECK-LABEL: module @mixed
// CHECK: [[X:%.*]] = "tpu.Cast"({{%.*}}) {{.*}} -> tensor<2x8xf16>
// CHECK: [[N:%.*]] = "tpu.LayerNorm"([[X]], {{.*}}) {{.*}} -> tensor<2x8x!quant.calibrated<f16<-4.000000e+00:4.000000e+00>>>
// CHECK-NEXT: [[Q:%.*]] = "tpu.Cast"([[N]]) {{.*}} -> tensor<2x8x!quant.uniform<i8:f16, 0.0314960629{{.*}}>>
// CHECK-NEXT: [[T:%.*]] = "top.Weight"() : () -> tensor<1x1x1x256xsi8> loc([[LT:#loc[0-9]*]])
// CHECK-NEXT: [[G:%.*]] = "tpu.Lut"([[Q]], [[T]]) : {{.*}} -> tensor<2x8x!quant.uniform<i8:f32, 0.0314960629{{.*}}>>
// CHECK-NEXT: [[M:%.*]] = "tpu.MulShift"([[G]]) {{.*}}multiplier = 1 : si32{{.*}}rshift = 0 : si32} : {{.*}} -> tensor<2x8x!quant.uniform<i8:f32, 0.015748031{{.*}}>>
// CHECK-NEXT: [[A:%.*]] = "tpu.Add"([[M]], [[G]]) {do_relu = false, multipliers = [1, 1], relu_limit = -1.000000e+00 : f64, rshifts = [2, 1]}
// CHECK-DAG: [[LT]] = loc("gelu_table")
module @mixed attributes {module.weight_file = "weights.npz"} {
  func.func @main(%arg0: tensor<2x8xf32>) -> tensor<2x8x!quant.calibrated<f32<-8.0:8.0>>> {
    %0 = "top.None"() : () -> none
    %1 = "top.Input"(%arg0) : (tensor<2x8xf32>) -> tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>> loc("x")
    %2 = "top.LayerNorm"(%1, %0, %0) {axis = 1 : si32, eps = 1.0e-05 : f64, normalized_shape = [8]} : (tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>>, none, none) -> tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>> loc("norm")
    %3 = "top.GELU"(%2) {approx_mode = "normal"} : (tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>> loc("gelu")
    %4 = "top.MulConst"(%3) {const_val = 0.5 : f64} : (tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<2x8x!quant.calibrated<f32<-7.0:7.0>>> loc("half")
    %5 = "top.Add"(%4, %3) : (tensor<2x8x!quant.calibrated<f32<-7.0:7.0>>>, tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<2x8x!quant.calibrated<f32<-8.0:8.0>>> loc("add")
    return %5 : tensor<2x8x!quant.calibrated<f32<-8.0:8.0>>>
  }
}

// -----

// Thresholds that differ by more than 64 make a sum run in F16; at 64 it is still 8 bits.
// CHECK-LABEL: module @ratio
// CHECK: "tpu.Add"({{%.*}}, {{%.*}}) {do_relu = false, multipliers
// CHECK: "tpu.Add"({{%.*}}, {{%.*}}) {do_relu = false, is_scalar = false{{.*}} : (tensor<4xf16>, tensor<4xf16>) -> tensor<4x!quant.calibrated<f16<-7.000000e+01:7.000000e+01>>>
module @ratio attributes {module.weight_file = "weights.npz"} {
  func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> tensor<4x!quant.calibrated<f32<-70.0:70.0>>> {
    %0 = "top.Input"(%arg0) : (tensor<4xf32>) -> tensor<4x!quant.calibrated<f32<-1.0:1.0>>> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<4xf32>) -> tensor<4x!quant.calibrated<f32<-64.0:64.0>>> loc("y")
    %2 = "top.Input"(%arg2) : (tensor<4xf32>) -> tensor<4x!quant.calibrated<f32<-0.99:0.99>>> loc("z")
    %3 = "top.Add"(%0, %1) : (tensor<4x!quant.calibrated<f32<-1.0:1.0>>>, tensor<4x!quant.calibrated<f32<-64.0:64.0>>>) -> tensor<4x!quant.calibrated<f32<-64.0:64.0>>> loc("add")
    %4 = "top.Add"(%3, %2) : (tensor<4x!quant.calibrated<f32<-64.0:64.0>>>, tensor<4x!quant.calibrated<f32<-0.99:0.99>>>) -> tensor<4x!quant.calibrated<f32<-70.0:70.0>>> loc("sum")
    return %4 : tensor<4x!quant.calibrated<f32<-70.0:70.0>>>
  }
}

// -----

// Behind a ReLU the convolution itself takes the unsigned range; operands of Concat get one scale.
// CHECK-LABEL: module @spread
// CHECK: "tpu.MatMul"{{.*}} -> tensor<1x8x!quant.uniform<u8:f32, 0.003921568{{.*}}>>
// CHECK: "tpu.Relu"{{.*}} -> tensor<1x8x!quant.uniform<u8:f32, 0.003921568{{.*}}>>
// CHECK: [[C:%.*]] = "tpu.Concat"({{%.*}}, [[S:%.*]]) {{.*}} -> tensor<1x12x!quant.uniform<i8:f32, 0.015748031{{.*}}>>
module @spread attributes {module.weight_file = "weights.npz"} {
  func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x12x!quant.calibrated<f32<-2.0:2.0>>> {
    %0 = "top.None"() : () -> none
    %1 = "top.Input"(%arg0) : (tensor<1x4xf32>) -> tensor<1x4x!quant.calibrated<f32<-2.0:2.0>>> loc("x")
    %2 = "top.Weight"() : () -> tensor<4x8xf32> loc("random_4x8")
    %3 = "top.MatMul"(%1, %2, %0) : (tensor<1x4x!quant.calibrated<f32<-2.0:2.0>>>, tensor<4x8xf32>, none) -> tensor<1x8x!quant.calibrated<f32<-3.0:3.0>>> loc("matmul")
    %4 = "top.Relu"(%3) : (tensor<1x8x!quant.calibrated<f32<-3.0:3.0>>>) -> tensor<1x8x!quant.calibrated<f32<0.0:1.0>>> loc("relu")
    %5 = "top.Concat"(%4, %1) {axis = 1 : si32} : (tensor<1x8x!quant.calibrated<f32<0.0:1.0>>>, tensor<1x4x!quant.calibrated<f32<-2.0:2.0>>>) -> tensor<1x12x!quant.calibrated<f32<-2.0:2.0>>> loc("concat")
    return %5 : tensor<1x12x!quant.calibrated<f32<-2.0:2.0>>>
  }
}

// -----

// A row far smaller than the rest (less than a 16th) keeps the sums behind the Concat in F16, one
// behind the other.
// CHECK-LABEL: module @fine_row
// CHECK-COUNT-2: "tpu.Add"({{.*}}) {{.*}} -> tensor<5x!quant.calibrated<f16<
// CHECK-NOT: "tpu.Add"
// CHECK-LABEL: module @coarse_row
// CHECK: "tpu.Add"({{.*}}) {{.*}}multipliers = {{.*}} -> tensor<5x!quant.uniform<i8
module @fine_row attributes {module.weight_file = "weights.npz"} {
  func.func @main(%arg0: tensor<1xf32>, %arg1: tensor<5xf32>) -> tensor<5x!quant.calibrated<f32<-200.0:200.0>>> {
    %0 = "top.Input"(%arg0) : (tensor<1xf32>) -> tensor<1x!quant.calibrated<f32<-100.0:100.0>>> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<5xf32>) -> tensor<5x!quant.calibrated<f32<-100.0:100.0>>> loc("y")
    %2 = "top.Weight"() : () -> tensor<4xf32> loc("random_4")
    %3 = "top.Concat"(%2, %0) {axis = 0 : si32} : (tensor<4xf32>, tensor<1x!quant.calibrated<f32<-100.0:100.0>>>) -> tensor<5x!quant.calibrated<f32<-100.0:100.0>>> loc("rows")
    %4 = "top.Add"(%3, %1) : (tensor<5x!quant.calibrated<f32<-100.0:100.0>>>, tensor<5x!quant.calibrated<f32<-100.0:100.0>>>) -> tensor<5x!quant.calibrated<f32<-200.0:200.0>>> loc("one")
    %5 = "top.Add"(%1, %4) : (tensor<5x!quant.calibrated<f32<-100.0:100.0>>>, tensor<5x!quant.calibrated<f32<-200.0:200.0>>>) -> tensor<5x!quant.calibrated<f32<-200.0:200.0>>> loc("two")
    return %5 : tensor<5x!quant.calibrated<f32<-200.0:200.0>>>
  }
}

// -----

module @coarse_row attributes {module.weight_file = "weights.npz"} {
  func.func @main(%arg0: tensor<1xf32>, %arg1: tensor<5xf32>) -> tensor<5x!quant.calibrated<f32<-4.0:4.0>>> {
    %0 = "top.Input"(%arg0) : (tensor<1xf32>) -> tensor<1x!quant.calibrated<f32<-4.0:4.0>>> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<5xf32>) -> tensor<5x!quant.calibrated<f32<-4.0:4.0>>> loc("y")
    %2 = "top.Weight"() : () -> tensor<4xf32> loc("random_4")
    %3 = "top.Concat"(%2, %0) {axis = 0 : si32} : (tensor<4xf32>, tensor<1x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<5x!quant.calibrated<f32<-4.0:4.0>>> loc("rows")
    %4 = "top.Add"(%3, %1) : (tensor<5x!quant.calibrated<f32<-4.0:4.0>>>, tensor<5x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<5x!quant.calibrated<f32<-4.0:4.0>>> loc("one")
    return %4 : tensor<5x!quant.calibrated<f32<-4.0:4.0>>>
  }
}

// -----

// A denominator that is cut out of a product of numerators keeps its own range and 16 bits, and so
// does the product; a part whose range is much like the whole's is cut from the integers.
// CHECK-LABEL: module @fine
// CHECK: "tpu.MatMul"({{.*}} -> tensor<4x6x!quant.calibrated<f16<-1.000000e+03:1.000000e+03>>>
// CHECK: "tpu.Slice"({{.*}} -> tensor<4x1x!quant.calibrated<f16<0.000000e+00:1.000000e+01>>>
// CHECK: "tpu.MatMul"({{.*}} -> tensor<4x6x!quant.uniform<i8
// CHECK: "tpu.Slice"({{.*}} -> tensor<4x1x!quant.uniform<i8
module @fine attributes {module.weight_file = "weights.npz"} {
  func.func @main(%arg0: tensor<4x8xf32>) -> (tensor<4x1x!quant.calibrated<f32<0.0:10.0>>>, tensor<4x1x!quant.calibrated<f32<0.0:100.0>>>) {
    %0 = "top.None"() : () -> none
    %1 = "top.Input"(%arg0) : (tensor<4x8xf32>) -> tensor<4x8x!quant.calibrated<f32<-1.0:1.0>>> loc("x")
    %2 = "top.Weight"() : () -> tensor<8x6xf32> loc("random_8x6")
    %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x8x!quant.calibrated<f32<-1.0:1.0>>>, tensor<8x6xf32>, none) -> tensor<4x6x!quant.calibrated<f32<-1000.0:1000.0>>> loc("both")
    %4 = "top.Slice"(%3, %0, %0, %0) {axes = [], ends = [4, 6], offset = [0, 5], steps = [1, 1]} : (tensor<4x6x!quant.calibrated<f32<-1000.0:1000.0>>>, none, none, none) -> tensor<4x1x!quant.calibrated<f32<0.0:10.0>>> loc("below")
    %5 = "top.MatMul"(%1, %2, %0) : (tensor<4x8x!quant.calibrated<f32<-1.0:1.0>>>, tensor<8x6xf32>, none) -> tensor<4x6x!quant.calibrated<f32<-1000.0:1000.0>>> loc("other")
    %6 = "top.Slice"(%5, %0, %0, %0) {axes = [], ends = [4, 6], offset = [0, 5], steps = [1, 1]} : (tensor<4x6x!quant.calibrated<f32<-1000.0:1000.0>>>, none, none, none) -> tensor<4x1x!quant.calibrated<f32<0.0:100.0>>> loc("part")
    return %4, %6 : tensor<4x1x!quant.calibrated<f32<0.0:10.0>>>, tensor<4x1x!quant.calibrated<f32<0.0:100.0>>>
  }
}

// -----

// What has no 8-bit form runs in F16, but in F32 where a range is beyond f16; padding that a command
// cannot say is written out.
// CHECK-LABEL: module @wide
// CHECK: "tpu.LayerNorm"({{.*}} -> tensor<1x3x8x8x!quant.calibrated<f32<
// CHECK: "tpu.Pad"({{.*}}paddings = [0, 0, 20, 0, 0, 0, 20, 0]{{.*}} -> tensor<1x3x48x8x!quant.uniform<i8
// CHECK-NEXT: "tpu.Pad"({{.*}}paddings = [0, 0, 0, 20, 0, 0, 0, 20]{{.*}} -> tensor<1x3x48x48x!quant.uniform<i8
// CHECK: "tpu.Conv2D"({{.*}}pads = [0, 0, 0, 0]{{.*}} -> tensor<1x4x46x46x!quant.uniform<i8
module @wide attributes {module.weight_file = "weights.npz"} {
  func.func @main(%arg0: tensor<1x3x8x8xf32>) -> tensor<1x4x46x46x!quant.calibrated<f32<-9.0:9.0>>> {
    %0 = "top.None"() : () -> none
    %1 = "top.Input"(%arg0) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8x!quant.calibrated<f32<-1.0e+06:1.0e+06>>> loc("x")
    %2 = "top.LayerNorm"(%1, %0, %0) {axis = 3 : si32, eps = 1.0e-05 : f64, normalized_shape = [8]} : (tensor<1x3x8x8x!quant.calibrated<f32<-1.0e+06:1.0e+06>>>, none, none) -> tensor<1x3x8x8x!quant.calibrated<f32<-4.0:4.0>>> loc("norm")
    %3 = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
    %4 = "top.Conv"(%2, %3, %0) {kernel_shape = [3, 3], pads = [20, 20, 20, 20], strides = [1, 1]} : (tensor<1x3x8x8x!quant.calibrated<f32<-4.0:4.0>>>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x46x46x!quant.calibrated<f32<-9.0:9.0>>> loc("far")
    return %4 : tensor<1x4x46x46x!quant.calibrated<f32<-9.0:9.0>>>
  }
}

// -----

// The class of each pixel, of integers of 8 bits: f16 tells them apart.
// CHECK-LABEL: module @classes
// CHECK: "tpu.Permute"({{.*}}order = [0, 3, 2, 1]{{.*}} -> tensor<1x48x32x19x!quant.uniform<u8
// CHECK: "tpu.Reduce"({{.*}}ReduceMax{{.*}} -> tensor<1x48x32x1xf16>
module @classes {
  func.func @main(%arg0: tensor<1x19x32x48xf32>) -> tensor<1x32x48xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x19x32x48xf32>) -> tensor<1x19x32x48x!quant.calibrated<f32<-4.0:4.0>>> loc("x")
    %1 = "top.Relu"(%0) {relu_limit = -1.0 : f64} : (tensor<1x19x32x48x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<1x19x32x48x!quant.calibrated<f32<0.0:4.0>>> loc("a")
    %none = "top.None"() : () -> none
    %2, %3 = "top.Arg"(%1) {axis = 1 : i64, keepdims = false, mode = "ArgMax", select_last_index = false} : (tensor<1x19x32x48x!quant.calibrated<f32<0.0:4.0>>>) -> (tensor<1x32x48xf32>, none) loc(fused["y", "v"])
    return %2 : tensor<1x32x48xf32>
  }
}

// -----

// Likewise of floats of a known range.
// CHECK-LABEL: module @classes_of_floats
// CHECK: "tpu.Permute"({{.*}}order = [0, 3, 2, 1]{{.*}} -> tensor<1x48x32x19x!quant.calibrated<f16
// CHECK: "tpu.Reduce"({{.*}}ReduceMax{{.*}} -> tensor<1x48x32x1xf16>
module @classes_of_floats {
  func.func @main(%arg0: tensor<1x19x32x48xf32>) -> tensor<1x32x48xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x19x32x48xf32>) -> tensor<1x19x32x48x!quant.calibrated<f32<-4.0:4.0>>> loc("x")
    %1 = "top.Softmax"(%0) {axis = 1 : si32} : (tensor<1x19x32x48x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<1x19x32x48x!quant.calibrated<f32<0.0:1.0>>> loc("a")
    %none = "top.None"() : () -> none
    %2, %3 = "top.Arg"(%1) {axis = 1 : i64, keepdims = false, mode = "ArgMax", select_last_index = false} : (tensor<1x19x32x48x!quant.calibrated<f32<0.0:1.0>>>) -> (tensor<1x32x48xf32>, none) loc(fused["y", "v"])
    return %2 : tensor<1x32x48xf32>
  }
}

// -----

// A constant is shifted as far as the product, up to 2^30: that and a product of 8 bits fit 32 bits.
// CHECK-LABEL: module @constant
// CHECK: "tpu.AddConst"({{.*}}const_val = 0x41D0000000000000 : f64{{.*}}multiplier = 11 : si32{{.*}}rshift = 29 : si32
module @constant {
  func.func @main(%arg0: tensor<2x8xf32>) -> tensor<2x8x!quant.calibrated<f32<-127.0:127.0>>> {
    %0 = "top.Input"(%arg0) : (tensor<2x8xf32>) -> tensor<2x8x!quant.calibrated<f32<-1.27e-6:1.27e-6>>> loc("x")
    %1 = "top.AddConst"(%0) {const_val = 1.0 : f64} : (tensor<2x8x!quant.calibrated<f32<-1.27e-6:1.27e-6>>>) -> tensor<2x8x!quant.calibrated<f32<-127.0:127.0>>> loc("y")
    return %1 : tensor<2x8x!quant.calibrated<f32<-127.0:127.0>>>
  }
}

// -----

// Twice as large it is shifted one place less, and so is what the steps of x become.
// CHECK-LABEL: module @large_constant
// CHECK: "tpu.AddConst"({{.*}}const_val = 0x41D0000000000000 : f64{{.*}}multiplier = 5 : si32{{.*}}rshift = 28 : si32
module @large_constant {
  func.func @main(%arg0: tensor<2x8xf32>) -> tensor<2x8x!quant.calibrated<f32<-127.0:127.0>>> {
    %0 = "top.Input"(%arg0) : (tensor<2x8xf32>) -> tensor<2x8x!quant.calibrated<f32<-1.27e-6:1.27e-6>>> loc("x")
    %1 = "top.AddConst"(%0) {const_val = 2.0 : f64} : (tensor<2x8x!quant.calibrated<f32<-1.27e-6:1.27e-6>>>) -> tensor<2x8x!quant.calibrated<f32<-127.0:127.0>>> loc("y")
    return %1 : tensor<2x8x!quant.calibrated<f32<-127.0:127.0>>>
  }
}

// -----

// A filter of each channel's own is applied in F16 there: its exact sums are wide.
// CHECK-LABEL: module @depthwise
// CHECK: "tpu.Pad"({{.*}} -> tensor<1x4x38x8xf16>
// CHECK: "tpu.Conv2D"({{.*}} -> tensor<1x4x36x6x!quant.calibrated<f16<
module @depthwise attributes {module.weight_file = "weights.npz"} {
  func.func @main(%arg0: tensor<1x4x8x8xf32>) -> tensor<1x4x36x6x!quant.calibrated<f32<-9.0:9.0>>> {
    %0 = "top.None"() : () -> none
    %1 = "top.Input"(%arg0) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8x!quant.calibrated<f32<-4.0:4.0>>> loc("x")
    %2 = "top.Weight"() : () -> tensor<4x1x3x3xf32> loc("random_4x1x3x3")
    %3 = "top.Conv"(%1, %2, %0) {group = 4 : i64, kernel_shape = [3, 3], pads = [30, 0, 0, 0], strides = [1, 1]} : (tensor<1x4x8x8x!quant.calibrated<f32<-4.0:4.0>>>, tensor<4x1x3x3xf32>, none) -> tensor<1x4x36x6x!quant.calibrated<f32<-9.0:9.0>>> loc("y")
    return %3 : tensor<1x4x36x6x!quant.calibrated<f32<-9.0:9.0>>>
  }
}
