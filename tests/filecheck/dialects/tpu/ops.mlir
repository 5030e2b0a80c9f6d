// RUN: %roundtrip

// Names, enums, absent operands and integer types come back as they were.
#loc = loc(unknown)
module @names {
  func.func @main(%arg0: tensor<1x8x6x6xf16> loc("x")) -> tensor<1x4x6x6xf16> {
    %0 = "top.None"() : () -> none loc(#loc)
    %1 = "top.Weight"() : () -> tensor<4x8x1x1xf16> loc(#loc1)
    %2 = "tpu.Conv2D"(%arg0, %1, %0) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], quant_mode = #tpu<rq_mode MultiplierShift>, round_mode = #tpu<round_mode HalfUp>, strides = [1, 1], with_bias = false} : (tensor<1x8x6x6xf16>, tensor<4x8x1x1xf16>, none) -> tensor<1x4x6x6xf16> loc(#loc2)
    %3 = "tpu.Softmax"(%2, %0, %0, %0, %0, %0) {axis = 3 : si32, beta = 1.0 : f64} : (tensor<1x4x6x6xf16>, none, none, none, none, none) -> tensor<1x4x6x6xf16> loc(#loc3)
    %4 = "tpu.Active"(%3) {mode = #tpu<active_mode GELU>} : (tensor<1x4x6x6xf16>) -> tensor<1x4x6x6xf16> loc("gelu")
    return %4 : tensor<1x4x6x6xf16> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("w")
#loc2 = loc("conv")
#loc3 = loc("softmax")

// CHECK:      #loc1 = loc("x")
// CHECK-NEXT: module @names {
// CHECK-NEXT:   func.func @main(%arg0: tensor<1x8x6x6xf16> loc("x")) -> tensor<1x4x6x6xf16> {
// CHECK-NEXT:     %0 = "top.None"() : () -> none loc(#loc)
// CHECK-NEXT:     %1 = "top.Weight"() : () -> tensor<4x8x1x1xf16> loc(#loc2)
// CHECK-NEXT:     %2 = "tpu.Conv2D"(%arg0, %1, %0) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], quant_mode = #tpu<rq_mode MultiplierShift>, round_mode = #tpu<round_mode HalfUp>, strides = [1, 1], with_bias = false} : (tensor<1x8x6x6xf16>, tensor<4x8x1x1xf16>, none) -> tensor<1x4x6x6xf16> loc(#loc3)
// CHECK-NEXT:     %3 = "tpu.Softmax"(%2, %0, %0, %0, %0, %0) {axis = 3 : si32, beta = 1.000000e+00 : f64} : (tensor<1x4x6x6xf16>, none, none, none, none, none) -> tensor<1x4x6x6xf16> loc(#loc4)
// CHECK-NEXT:     %4 = "tpu.Active"(%3) {mode = #tpu<active_mode GELU>} : (tensor<1x4x6x6xf16>) -> tensor<1x4x6x6xf16> loc(#loc5)
// CHECK-NEXT:     return %4 : tensor<1x4x6x6xf16> loc(#loc)
// CHECK-NEXT:   } loc(#loc)
// CHECK-NEXT: } loc(#loc)
// CHECK-NEXT: #loc = loc(unknown)
// CHECK-NEXT: #loc2 = loc("w")
// CHECK-NEXT: #loc3 = loc("conv")
// CHECK-NEXT: #loc4 = loc("softmax")
// CHECK-NEXT: #loc5 = loc("gelu")

// -----

// A text without locations stays one; a group numbers its values on from those around it.
module @group {
  func.func @main(%arg0: tensor<2x8xf16, 4294967296 : i64>) -> tensor<2x8xf16, 4294971392 : i64> attributes {id = 0 : i64, mode = #tpu<run_mode TPU_STATIC>, next_index = array<i32: -1>} {
    %0 = "top.None"() : () -> none
    %1 = "tpu.Group"(%arg0) ({
      %3 = "tpu.Load"(%arg0) {ginfo = #tpu.lg<out_addr = 0, out_size = 64, buffer_addr = 0, buffer_size = 0, eu_align = true, can_merge = false, in_hslice_offset = [], n_idx = [0, 1], n_slice = [1, 1], c_idx = [0], c_slice = [8], d_idx = [0], d_slice = [1], h_idx = [0], h_slice = [1], w_idx = [0], w_slice = [1], id = 0, stage = 0, slice_idx = 0, group_type = 0>} : (tensor<2x8xf16, 4294967296 : i64>) -> tensor<2x8xf16>
      %4 = "tpu.Store"(%3, %0) {compress_info = #tpu.do_compress<do_compress = true, do_decompress = false, bias0 = 127, bias1 = 0, is_signed = false, zero_guard = true>, ginfo = #tpu.lg<out_addr = 0, out_size = 64, buffer_addr = 0, buffer_size = 0, eu_align = true, can_merge = false, in_hslice_offset = [], n_idx = [0, 1], n_slice = [1, 1], c_idx = [0], c_slice = [8], d_idx = [0], d_slice = [1], h_idx = [0], h_slice = [1], w_idx = [0], w_slice = [1], id = 1, stage = 2, slice_idx = 0, group_type = 0>} : (tensor<2x8xf16>, none) -> tensor<2x8xf16, 4294971392 : i64>
      "tpu.Yield"(%4) : (tensor<2x8xf16, 4294971392 : i64>) -> ()
    }) {csecs = 1 : i64, dsecs = 1 : i64, flow = [-1, 0, -2, 1], group_type = 0 : i64, hsecs = 1 : i64, nsecs = 2 : i64, swpipl_stage_num = 3 : i64, wsecs = 1 : i64} : (tensor<2x8xf16, 4294967296 : i64>) -> tensor<2x8xf16, 4294971392 : i64>
    %2 = "tpu.Buffer"() {buffer_type = #tpu<buffer_type L2>} : () -> tensor<64xf16>
    return %1 : tensor<2x8xf16, 4294971392 : i64>
  }
}

// CHECK-NOT:  loc(
// CHECK-LABEL: module @group {
// CHECK-NEXT:   func.func @main(%arg0: tensor<2x8xf16, 4294967296 : i64>) -> tensor<2x8xf16, 4294971392 : i64> attributes {id = 0 : i64, mode = #tpu<run_mode TPU_STATIC>, next_index = array<i32: -1>} {
// CHECK-NEXT:     %0 = "top.None"() : () -> none
// CHECK-NEXT:     %1 = "tpu.Group"(%arg0) ({
// CHECK-NEXT:       %3 = "tpu.Load"(%arg0) {ginfo = #tpu.lg<out_addr = 0, out_size = 64, {{.*}} n_idx = [0, 1], {{.*}} group_type = 0>}
// CHECK-NEXT:       %4 = "tpu.Store"(%3, %0) {compress_info = #tpu.do_compress<do_compress = true, do_decompress = false, bias0 = 127, bias1 = 0, is_signed = false, zero_guard = true>, ginfo = {{.*}}
// CHECK-NEXT:       "tpu.Yield"(%4) : (tensor<2x8xf16, 4294971392 : i64>) -> ()
// CHECK-NEXT:     }) {csecs = 1 : i64, dsecs = 1 : i64, flow = [-1, 0, -2, 1], group_type = 0 : i64, hsecs = 1 : i64, nsecs = 2 : i64, swpipl_stage_num = 3 : i64, wsecs = 1 : i64}
// CHECK-NEXT:     %2 = "tpu.Buffer"() {buffer_type = #tpu<buffer_type L2>} : () -> tensor<64xf16>

// -----

// Quantised and calibrated element types: whole and narrowed ranges, zero points, per axis.
module @quant {
  func.func @f(%arg0: tensor<4x!quant.uniform<i8<-127:127>:f32, 0.038205649606299213>>, %arg1: tensor<4x!quant.uniform<u8:f32, 0.02:128>>, %arg2: tensor<2x3x!quant.uniform<i8:f16:0, {0.1, 2.0e-05:-3}>>, %arg3: tensor<4x!quant.calibrated<bf16<-1.5:2.25>>>) {
    return
  }
}

// CHECK-LABEL: module @quant {
// CHECK-NEXT:    func.func @f(%arg0: tensor<4x!quant.uniform<i8<-127:127>:f32, 0.038205649606299213>>, %arg1: tensor<4x!quant.uniform<u8:f32, 2.000000e-02:128>>, %arg2: tensor<2x3x!quant.uniform<i8:f16:0, {1.000000e-01, 2.000000e-05:-3}>>, %arg3: tensor<4x!quant.calibrated<bf16<-1.500000e+00:2.250000e+00>>>) {
