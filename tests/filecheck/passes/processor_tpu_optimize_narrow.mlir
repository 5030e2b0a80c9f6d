// RUN: tpu-opt %s --mlir-print-debuginfo --split-input-file --processor-tpu-optimize | filecheck %s
// RUN: tpu-opt %s --mlir-print-debuginfo --split-input-file --processor-tpu-optimize="precision=full" | filecheck %s --check-prefix=FULL
// RUN: tpu-opt %s --mlir-print-debuginfo --split-input-file --processor-tpu-optimize="disable=NarrowActive" | filecheck %s --check-prefix=OFF

// f16 all the way: the casts go, the op keeps its name.
// CHECK-LABEL: module @gelu
// CHECK-NOT: tpu.Cast
// CHECK: "tpu.Active"({{.*}}) {mode = #tpu<active_mode GELU>} : (tensor<4x8xf16>) -> tensor<4x8xf16> loc([[G:#loc[0-9]*]])
// CHECK-NEXT: "tpu.Add"
// CHECK: [[G]] = loc("gelu")
// FULL-LABEL: module @gelu
// FULL-SAME: module.kernel_precision = "full"
// FULL: "tpu.Active"{{.*}} -> tensor<4x8xf32>
// OFF-LABEL: module @gelu
// OFF-NOT: kernel_precision
// OFF: "tpu.Active"{{.*}} -> tensor<4x8xf32>
module @gelu attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<4x8xf16>) -> tensor<4x8xf16> {
    %0 = "top.Input"(%arg0) : (tensor<4x8xf16>) -> tensor<4x8xf16> loc("x")
    %1 = "tpu.Cast"(%0) : (tensor<4x8xf16>) -> tensor<4x8xf32> loc("x_f32")
    %2 = "tpu.Active"(%1) {mode = #tpu<active_mode GELU>} : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("gelu")
    %3 = "tpu.Cast"(%2) : (tensor<4x8xf32>) -> tensor<4x8xf16> loc("gelu_f16")
    %4 = "tpu.Add"(%3, %0) : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16> loc("sum")
    return %4 : tensor<4x8xf16>
  }
}

// -----

// The cast before has another user and stays for it; both casts behind go.
// CHECK-LABEL: module @shared
// CHECK: [[X:%[0-9]+]] = "top.Input"
// CHECK-NEXT: [[WIDE:%[0-9]+]] = "tpu.Cast"([[X]])
// CHECK-NEXT: [[A:%[0-9]+]] = "tpu.Active"([[X]]) {mode = #tpu<active_mode SILU>} : (tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT: "tpu.Add"([[A]], [[A]])
// CHECK-NEXT: "tpu.AddConst"([[WIDE]])
module @shared attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<4x8xf16>) -> (tensor<4x8xf16>, tensor<4x8xf32>) {
    %0 = "top.Input"(%arg0) : (tensor<4x8xf16>) -> tensor<4x8xf16> loc("x")
    %1 = "tpu.Cast"(%0) : (tensor<4x8xf16>) -> tensor<4x8xf32> loc("x_f32")
    %2 = "tpu.Active"(%1) {mode = #tpu<active_mode SILU>} : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("silu")
    %3 = "tpu.Cast"(%2) : (tensor<4x8xf32>) -> tensor<4x8xf16> loc("a")
    %4 = "tpu.Cast"(%2) : (tensor<4x8xf32>) -> tensor<4x8xf16> loc("b")
    %5 = "tpu.Add"(%3, %4) : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16> loc("sum")
    %6 = "tpu.AddConst"(%1) {const_val = 2.0 : f64} : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("wide")
    return %5, %6 : tensor<4x8xf16>, tensor<4x8xf32>
  }
}

// -----

// What reads the f32 result gets a cast of the f16 one.
// CHECK-LABEL: module @wide_user
// CHECK: [[A:%[0-9]+]] = "tpu.Active"{{.*}} -> tensor<4x8xf16>
// CHECK-NEXT: [[W:%[0-9]+]] = "tpu.Cast"([[A]]){{.*}} -> tensor<4x8xf32>
// CHECK-NEXT: "tpu.Add"([[A]]
// CHECK-NEXT: "tpu.AddConst"([[W]])
// FULL-LABEL: module @wide_user
// FULL: "tpu.Active"{{.*}} -> tensor<4x8xf32>
module @wide_user attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<4x8xf16>) -> (tensor<4x8xf16>, tensor<4x8xf32>) {
    %0 = "top.Input"(%arg0) : (tensor<4x8xf16>) -> tensor<4x8xf16> loc("x")
    %1 = "tpu.Cast"(%0) : (tensor<4x8xf16>) -> tensor<4x8xf32> loc("x_f32")
    %2 = "tpu.Active"(%1) {mode = #tpu<active_mode GELU>} : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("gelu")
    %3 = "tpu.Cast"(%2) : (tensor<4x8xf32>) -> tensor<4x8xf16> loc("gelu_f16")
    %4 = "tpu.Add"(%3, %0) : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16> loc("sum")
    %5 = "tpu.AddConst"(%2) {const_val = 2.0 : f64} : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("wide")
    return %4, %5 : tensor<4x8xf16>, tensor<4x8xf32>
  }
}

// -----

// The function returns the cast's result, under the cast's name.
// CHECK-LABEL: module @returned
// CHECK: "tpu.Active"{{.*}} -> tensor<4x8xf32>
module @returned attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<4x8xf16>) -> tensor<4x8xf16> {
    %0 = "top.Input"(%arg0) : (tensor<4x8xf16>) -> tensor<4x8xf16> loc("x")
    %1 = "tpu.Cast"(%0) : (tensor<4x8xf16>) -> tensor<4x8xf32> loc("x_f32")
    %2 = "tpu.Active"(%1) {mode = #tpu<active_mode GELU>} : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("gelu")
    %3 = "tpu.Cast"(%2) : (tensor<4x8xf32>) -> tensor<4x8xf16> loc("gelu_f16")
    return %3 : tensor<4x8xf16>
  }
}

// -----

// No 16-bit sequence for this function; bf16, which kernels widen themselves; a real f32 operand.
// CHECK-LABEL: module @others
// CHECK: mode = #tpu<active_mode SQRT>} : (tensor<4x8xf32>)
// CHECK: mode = #tpu<active_mode GELU>} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
// CHECK: mode = #tpu<active_mode TANH>} : (tensor<4x8xf32>)
module @others attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<4x8xf16>, %arg1: tensor<4x8xbf16>, %arg2: tensor<4x8xf32>) -> (tensor<4x8xf16>, tensor<4x8xbf16>) {
    %0 = "top.Input"(%arg0) : (tensor<4x8xf16>) -> tensor<4x8xf16> loc("x")
    %1 = "tpu.Cast"(%0) : (tensor<4x8xf16>) -> tensor<4x8xf32> loc("x_f32")
    %2 = "tpu.Active"(%1) {mode = #tpu<active_mode SQRT>} : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("sqrt")
    %3 = "tpu.Cast"(%2) : (tensor<4x8xf32>) -> tensor<4x8xf16> loc("sqrt_f16")
    %4 = "top.Input"(%arg1) : (tensor<4x8xbf16>) -> tensor<4x8xbf16> loc("y")
    %5 = "tpu.Cast"(%4) : (tensor<4x8xbf16>) -> tensor<4x8xf32> loc("y_f32")
    %6 = "tpu.Active"(%5) {mode = #tpu<active_mode GELU>} : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("gelu")
    %7 = "tpu.Cast"(%6) : (tensor<4x8xf32>) -> tensor<4x8xbf16> loc("gelu_bf16")
    %8 = "top.Input"(%arg2) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("z")
    %9 = "tpu.Active"(%8) {mode = #tpu<active_mode TANH>} : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("tanh")
    %10 = "tpu.Cast"(%9) : (tensor<4x8xf32>) -> tensor<4x8xf16> loc("tanh_f16")
    %11 = "tpu.Add"(%3, %10) : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16> loc("sum")
    %12 = "tpu.Add"(%7, %4) : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16> loc("other")
    return %11, %12 : tensor<4x8xf16>, tensor<4x8xbf16>
  }
}

// -----

// `high_precision` asks for f32.
// CHECK-LABEL: module @high
// CHECK: "tpu.Active"{{.*}} -> tensor<4x8xf32>
module @high attributes {module.high_precision = true, module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<4x8xf16>) -> tensor<4x8xf16> {
    %0 = "top.Input"(%arg0) : (tensor<4x8xf16>) -> tensor<4x8xf16> loc("x")
    %1 = "tpu.Cast"(%0) : (tensor<4x8xf16>) -> tensor<4x8xf32> loc("x_f32")
    %2 = "tpu.Active"(%1) {mode = #tpu<active_mode GELU>} : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("gelu")
    %3 = "tpu.Cast"(%2) : (tensor<4x8xf32>) -> tensor<4x8xf16> loc("gelu_f16")
    %4 = "tpu.Add"(%3, %0) : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16> loc("sum")
    return %4 : tensor<4x8xf16>
  }
}

// -----

// The network returns the f32 result.
// CHECK-LABEL: module @wide_returned
// CHECK: "tpu.Active"{{.*}} -> tensor<4x8xf32>
module @wide_returned attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<4x8xf16>) -> (tensor<4x8xf16>, tensor<4x8xf32>) {
    %0 = "top.Input"(%arg0) : (tensor<4x8xf16>) -> tensor<4x8xf16> loc("x")
    %1 = "tpu.Cast"(%0) : (tensor<4x8xf16>) -> tensor<4x8xf32> loc("x_f32")
    %2 = "tpu.Active"(%1) {mode = #tpu<active_mode GELU>} : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("gelu")
    %3 = "tpu.Cast"(%2) : (tensor<4x8xf32>) -> tensor<4x8xf16> loc("gelu_f16")
    %4 = "tpu.Add"(%3, %0) : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16> loc("sum")
    return %4, %2 : tensor<4x8xf16>, tensor<4x8xf32>
  }
}

// -----

// A cast moves in front of a Reshape, and meets the one before the function.
// CHECK-LABEL: module @behind_a_move
// CHECK: [[A:%[0-9]+]] = "tpu.Active"{{.*}} -> tensor<4x8xf16>
// CHECK-NEXT: [[R:%[0-9]+]] = "tpu.Reshape"([[A]]) {{.*}}-> tensor<4x8x1xf16>
// CHECK-NEXT: "tpu.Add"([[R]], [[R]])
module @behind_a_move attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<4x8xf16>) -> tensor<4x8x1xf16> {
    %0 = "top.Input"(%arg0) : (tensor<4x8xf16>) -> tensor<4x8xf16> loc("x")
    %1 = "tpu.Cast"(%0) : (tensor<4x8xf16>) -> tensor<4x8xf32> loc("x_f32")
    %2 = "tpu.Active"(%1) {mode = #tpu<active_mode GELU>} : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("gelu")
    %3 = "tpu.Reshape"(%2) {shape = [4, 8, 1]} : (tensor<4x8xf32>) -> tensor<4x8x1xf32> loc("shaped")
    %4 = "tpu.Cast"(%3) : (tensor<4x8x1xf32>) -> tensor<4x8x1xf16> loc("shaped_f16")
    %5 = "tpu.Add"(%4, %4) : (tensor<4x8x1xf16>, tensor<4x8x1xf16>) -> tensor<4x8x1xf16> loc("sum")
    return %5 : tensor<4x8x1xf16>
  }
}

// -----

// Refused: the Reshape has another reader, the cast is returned, the cast is to more bits.
// CHECK-LABEL: module @casts_that_stay
// CHECK: [[R:%[0-9]+]] = "tpu.Reshape"{{.*}}-> tensor<8x4xf32>
// CHECK-NEXT: "tpu.Cast"([[R]])
// CHECK: [[S:%[0-9]+]] = "tpu.Reshape"{{.*}}-> tensor<2x16xf32>
// CHECK-NEXT: "tpu.Cast"([[S]])
// CHECK: [[W:%[0-9]+]] = "tpu.Reshape"{{.*}}-> tensor<8x4xf16>
// CHECK-NEXT: "tpu.Cast"([[W]])
module @casts_that_stay attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf16>) -> (tensor<8x4xf16>, tensor<8x4xf32>, tensor<2x16xf16>, tensor<8x4xf32>) {
    %0 = "top.Input"(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
    %1 = "tpu.Reshape"(%0) {shape = [8, 4]} : (tensor<4x8xf32>) -> tensor<8x4xf32> loc("r")
    %2 = "tpu.Cast"(%1) : (tensor<8x4xf32>) -> tensor<8x4xf16> loc("r_f16")
    %3 = "tpu.Add"(%2, %2) : (tensor<8x4xf16>, tensor<8x4xf16>) -> tensor<8x4xf16> loc("sum")
    %4 = "tpu.AddConst"(%1) {const_val = 2.0 : f64} : (tensor<8x4xf32>) -> tensor<8x4xf32> loc("wide")
    %5 = "tpu.Reshape"(%0) {shape = [2, 16]} : (tensor<4x8xf32>) -> tensor<2x16xf32> loc("s")
    %6 = "tpu.Cast"(%5) : (tensor<2x16xf32>) -> tensor<2x16xf16> loc("s_f16")
    %7 = "top.Input"(%arg1) : (tensor<4x8xf16>) -> tensor<4x8xf16> loc("y")
    %8 = "tpu.Reshape"(%7) {shape = [8, 4]} : (tensor<4x8xf16>) -> tensor<8x4xf16> loc("w")
    %9 = "tpu.Cast"(%8) : (tensor<8x4xf16>) -> tensor<8x4xf32> loc("w_f32")
    %10 = "tpu.AddConst"(%9) {const_val = 2.0 : f64} : (tensor<8x4xf32>) -> tensor<8x4xf32> loc("wider")
    return %3, %4, %6, %10 : tensor<8x4xf16>, tensor<8x4xf32>, tensor<2x16xf16>, tensor<8x4xf32>
  }
}

// -----

// bf16 in front or behind, or a function of bf16: types that the f16 form does not have.
// CHECK-LABEL: module @mixed
// CHECK: mode = #tpu<active_mode GELU>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: mode = #tpu<active_mode SILU>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: mode = #tpu<active_mode TANH>} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
module @mixed attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<4x8xf16>, %arg1: tensor<4x8xbf16>) -> (tensor<4x8xf16>, tensor<4x8xbf16>) {
    %0 = "top.Input"(%arg0) : (tensor<4x8xf16>) -> tensor<4x8xf16> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<4x8xbf16>) -> tensor<4x8xbf16> loc("y")
    %2 = "tpu.Cast"(%1) : (tensor<4x8xbf16>) -> tensor<4x8xf32> loc("y_f32")
    %3 = "tpu.Active"(%2) {mode = #tpu<active_mode GELU>} : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("gelu")
    %4 = "tpu.Cast"(%3) : (tensor<4x8xf32>) -> tensor<4x8xf16> loc("gelu_f16")
    %5 = "tpu.Cast"(%0) : (tensor<4x8xf16>) -> tensor<4x8xf32> loc("x_f32")
    %6 = "tpu.Active"(%5) {mode = #tpu<active_mode SILU>} : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("silu")
    %7 = "tpu.Cast"(%6) : (tensor<4x8xf32>) -> tensor<4x8xbf16> loc("silu_bf16")
    %8 = "tpu.Cast"(%0) : (tensor<4x8xf16>) -> tensor<4x8xbf16> loc("x_bf16")
    %9 = "tpu.Active"(%8) {mode = #tpu<active_mode TANH>} : (tensor<4x8xbf16>) -> tensor<4x8xbf16> loc("tanh")
    %10 = "tpu.Cast"(%9) : (tensor<4x8xbf16>) -> tensor<4x8xf16> loc("tanh_f16")
    %11 = "tpu.Add"(%4, %10) : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16> loc("sum")
    %12 = "tpu.Add"(%7, %1) : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16> loc("other")
    return %11, %12 : tensor<4x8xf16>, tensor<4x8xbf16>
  }
}

// -----

// Integers are cast to f16 at once, and made of it; those with a zero point and those whose range
// f16 does not hold keep f32.
// CHECK-LABEL: module @integers
// CHECK: [[X:%[0-9]+]] = "top.Input"
// CHECK: [[A:%[0-9]+]] = "tpu.Cast"([[X]]){{.*}} -> tensor<4x8xf16>
// CHECK-NEXT: [[B:%[0-9]+]] = "tpu.Active"([[A]]) {mode = #tpu<active_mode SILU>} : (tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT: "tpu.Cast"([[B]]) {{.*}}(tensor<4x8xf16>) -> tensor<4x8x!quant.uniform<i8:f32, 2.500000e-02>>
// CHECK-NEXT: "tpu.Add"([[B]], [[B]])
// CHECK: mode = #tpu<active_mode SILU>} : (tensor<4x8xf32>)
// CHECK: mode = #tpu<active_mode SILU>} : (tensor<4x8xf32>)
// FULL-LABEL: module @integers
// FULL: mode = #tpu<active_mode SILU>} : (tensor<4x8xf32>)
// FULL: mode = #tpu<active_mode SILU>} : (tensor<4x8xf32>)
// FULL: mode = #tpu<active_mode SILU>} : (tensor<4x8xf32>)
// OFF-LABEL: module @integers
// OFF: mode = #tpu<active_mode SILU>} : (tensor<4x8xf32>)
// OFF: mode = #tpu<active_mode SILU>} : (tensor<4x8xf32>)
// OFF: mode = #tpu<active_mode SILU>} : (tensor<4x8xf32>)
module @integers attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<4x8x!quant.uniform<i8:f32, 0.05>>, %arg1: tensor<4x8x!quant.uniform<i8:f32, 0.05:3>>, %arg2: tensor<4x8x!quant.uniform<i8:f32, 1.0e-09>>) -> (tensor<4x8x!quant.uniform<i8:f32, 0.05>>, tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>) {
    %0 = "top.Input"(%arg0) : (tensor<4x8x!quant.uniform<i8:f32, 0.05>>) -> tensor<4x8x!quant.uniform<i8:f32, 0.05>> loc("x")
    %1 = "tpu.Cast"(%0) {with_scale = true} : (tensor<4x8x!quant.uniform<i8:f32, 0.05>>) -> tensor<4x8xf32> loc("x_f32")
    %2 = "tpu.Active"(%1) {mode = #tpu<active_mode SILU>} : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("silu")
    %3 = "tpu.Cast"(%2) {with_scale = true} : (tensor<4x8xf32>) -> tensor<4x8x!quant.uniform<i8:f32, 0.025>> loc("silu_i8")
    %4 = "tpu.Cast"(%2) : (tensor<4x8xf32>) -> tensor<4x8xf16> loc("silu_f16")
    %5 = "tpu.Add"(%4, %4) : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16> loc("sum")
    %6 = "tpu.MulShift"(%3) {multiplier = 1 : si32, rshift = 0 : si32} : (tensor<4x8x!quant.uniform<i8:f32, 0.025>>) -> tensor<4x8x!quant.uniform<i8:f32, 0.05>> loc("half")
    %7 = "top.Input"(%arg1) : (tensor<4x8x!quant.uniform<i8:f32, 0.05:3>>) -> tensor<4x8x!quant.uniform<i8:f32, 0.05:3>> loc("y")
    %8 = "tpu.Cast"(%7) {with_scale = true} : (tensor<4x8x!quant.uniform<i8:f32, 0.05:3>>) -> tensor<4x8xf32> loc("y_f32")
    %9 = "tpu.Active"(%8) {mode = #tpu<active_mode SILU>} : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("of_y")
    %10 = "tpu.Cast"(%9) : (tensor<4x8xf32>) -> tensor<4x8xf16> loc("of_y_f16")
    %11 = "tpu.Add"(%10, %10) : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16> loc("sum_y")
    %12 = "top.Input"(%arg2) : (tensor<4x8x!quant.uniform<i8:f32, 1.0e-09>>) -> tensor<4x8x!quant.uniform<i8:f32, 1.0e-09>> loc("z")
    %13 = "tpu.Cast"(%12) {with_scale = true} : (tensor<4x8x!quant.uniform<i8:f32, 1.0e-09>>) -> tensor<4x8xf32> loc("z_f32")
    %14 = "tpu.Active"(%13) {mode = #tpu<active_mode SILU>} : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("of_z")
    %15 = "tpu.Cast"(%14) : (tensor<4x8xf32>) -> tensor<4x8xf16> loc("of_z_f16")
    %16 = "tpu.Add"(%15, %15) : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16> loc("sum_z")
    return %6, %5, %11, %16 : tensor<4x8x!quant.uniform<i8:f32, 0.05>>, tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>
  }
}
