// RUN: not tpu-opt %s --verify-tile-programs 2>&1 | filecheck %s

// The second slice of x comes in before the addition has read the first, a buffer is not aligned and
// lies over the bias, scratch memory is where the result lies, and a row is not stored.
// CHECK: error: faults in tile programs (6):
// CHECK-NEXT: group 'y': tpu.Add 'y' reads 'load_x' from [0, 0, 0, 0, 0] on (byte 1600), which tpu.Load 'load_x' has written over
// CHECK-NEXT: group 'y': 'a' from [0, 0, 0, 4, 0] on (byte 1794) is not aligned to 64
// CHECK-NEXT: group 'y': tpu.Conv2D 'a' writes 'a' from [0, 0, 0, 4, 0] on (byte 1794) over 'load_a_b' from [0, 0, 0, 0, 0] on (byte 1856)
// CHECK-NEXT: group 'y': scratch memory [1700, 262144] of tpu.Add 'y' has 'y' from [0, 0, 0, 4, 0] on (byte 1728)
// CHECK-NEXT: group 'y': scratch memory [1700, 262144] of tpu.Add 'y' has 'a' from [0, 0, 0, 4, 0] on (byte 1794)
// CHECK-NEXT: group 'y': tpu.Store 'y' is not stored for n 0 to 1, c 0 to 3, d 0 to 1, h 4 to 5, w 0 to 8
module @case attributes {module.chip = "bm1684x", module.inputs = ["x"], module.kernel_precision = "fast", module.mode = "F16", module.outputs = ["y"], module.state = "TPU_ADDRESSED", module.weight_file = "case_tpu_addressed_bm1684x_f16_weight.npz"} {
  module @case attributes {module.coeff_addr = 4294967296 : i64, module.coeff_size = 8192 : i64, module.device_id = 0 : i64, module.dynamic_coeff_offset = 8192 : i64, module.neuron_addr = 4294975488 : i64, module.neuron_size = 4096 : i64, module.step = 0 : i64} {
    func.func @main(%arg0: tensor<1x3x8x8xf16> loc(unknown)) -> tensor<1x3x8x8xf16, 4294975872 : i64> {
      %0 = "top.Input"(%arg0) : (tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16, 4294975488 : i64> loc("x")
      %1 = call @subfunc_0(%0) : (tensor<1x3x8x8xf16, 4294975488 : i64>) -> tensor<1x3x8x8xf16, 4294975872 : i64> loc(unknown)
      return %1 : tensor<1x3x8x8xf16, 4294975872 : i64> loc(unknown)
    } loc(unknown)
    func.func @subfunc_0(%arg0: tensor<1x3x8x8xf16, 4294975488 : i64> loc("x")) -> tensor<1x3x8x8xf16, 4294975872 : i64> attributes {id = 0 : i64, mode = #tpu<run_mode TPU_STATIC>, next_index = array<i32: -1>} {
      %0 = "top.None"() : () -> none loc(unknown)
      %1 = "top.Weight"() {path = "tpu.Load.0"} : () -> tensor<1x3x1x288xf16, 4294967296 : i64> loc("a_filter_reorderd")
      %2 = "top.Weight"() {path = "tpu.Load.0"} : () -> tensor<1x3x1x1xf32, 4294971392 : i64> loc("a_b")
      %3 = "tpu.Group"(%arg0) ({
        %4 = "tpu.Load"(%arg0) {do_bcast = false, ginfo = #tpu.lg<out_addr = 1600, out_size = 128, buffer_addr = 0, buffer_size = 0, eu_align = true, can_merge = false, in_hslice_offset = [], n_idx = [0], n_slice = [1], c_idx = [0], c_slice = [3], d_idx = [0], d_slice = [1], h_idx = [0, 3], h_slice = [5, 5], w_idx = [0], w_slice = [8], id = 0, stage = 0, slice_idx = 0, group_type = 0>, is_idx_weight = false, lmem_type = 1 : i64, support_compress = true, use_3ic_optimize = 0 : i64} : (tensor<1x3x8x8xf16, 4294975488 : i64>) -> tensor<1x3x8x8xf16> loc("load_x")
        %5 = "tpu.Load"(%1) {do_bcast = false, ginfo = #tpu.lg<out_addr = 1024, out_size = 576, buffer_addr = 0, buffer_size = 0, eu_align = false, can_merge = false, in_hslice_offset = [], n_idx = [0], n_slice = [1], c_idx = [0], c_slice = [3], d_idx = [0], d_slice = [1], h_idx = [0], h_slice = [1], w_idx = [0], w_slice = [288], id = 1, stage = 0, slice_idx = 0, group_type = 0>, is_idx_weight = false, lmem_type = 0 : i64, support_compress = true, use_3ic_optimize = 0 : i64} : (tensor<1x3x1x288xf16, 4294967296 : i64>) -> tensor<1x3x1x288xf16> loc("load_a_filter_reorderd")
        %6 = "tpu.Load"(%2) {do_bcast = false, ginfo = #tpu.lg<out_addr = 1856, out_size = 4, buffer_addr = 0, buffer_size = 0, eu_align = false, can_merge = false, in_hslice_offset = [], n_idx = [0], n_slice = [1], c_idx = [0], c_slice = [3], d_idx = [0], d_slice = [1], h_idx = [0], h_slice = [1], w_idx = [0], w_slice = [1], id = 2, stage = 0, slice_idx = 0, group_type = 0>, is_idx_weight = false, lmem_type = 0 : i64, support_compress = true, use_3ic_optimize = 0 : i64} : (tensor<1x3x1x1xf32, 4294971392 : i64>) -> tensor<1x3x1x1xf32> loc("load_a_b")
        %7 = "tpu.Conv2D"(%4, %5, %6) {do_relu = true, ginfo = #tpu.lg<out_addr = 1792, out_size = 64, buffer_addr = 0, buffer_size = 1024, eu_align = true, can_merge = false, in_hslice_offset = [], n_idx = [0], n_slice = [1], c_idx = [0], c_slice = [3], d_idx = [0], d_slice = [1], h_idx = [0, 4], h_slice = [4, 4], w_idx = [0], w_slice = [8], id = 3, stage = 1, slice_idx = 0, group_type = 0>, group = 1 : i64, kernel_shape = [3, 3], pads = [1, 1, 1, 1], relu_limit = -1.000000e+00 : f64, strides = [1, 1], use_3ic_optimize = 0 : i64, weight_is_coeff = 1 : i64, with_bias = true} : (tensor<1x3x8x8xf16>, tensor<1x3x1x288xf16>, tensor<1x3x1x1xf32>) -> tensor<1x3x8x8xf16> loc("a")
        %8 = "tpu.Add"(%7, %4) {ginfo = #tpu.lg<out_addr = 1728, out_size = 64, buffer_addr = 0, buffer_size = 1024, eu_align = true, can_merge = false, in_hslice_offset = [], n_idx = [0], n_slice = [1], c_idx = [0], c_slice = [3], d_idx = [0], d_slice = [1], h_idx = [0, 4], h_slice = [4, 4], w_idx = [0], w_slice = [8], id = 4, stage = 1, slice_idx = 0, group_type = 0>} : (tensor<1x3x8x8xf16>, tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16> loc("y")
        %9 = "tpu.Store"(%8, %0) {ginfo = #tpu.lg<out_addr = 1728, out_size = 64, buffer_addr = 0, buffer_size = 0, eu_align = true, can_merge = false, in_hslice_offset = [], n_idx = [0], n_slice = [1], c_idx = [0], c_slice = [3], d_idx = [0], d_slice = [1], h_idx = [0, 4], h_slice = [4, 4], w_idx = [0], w_slice = [8], id = 5, stage = 2, slice_idx = 0, group_type = 0>, support_compress = true} : (tensor<1x3x8x8xf16>, none) -> tensor<1x3x8x8xf16, 4294975872 : i64> loc("y")
        "tpu.Yield"(%9) : (tensor<1x3x8x8xf16, 4294975872 : i64>) -> () loc("y")
      }) {core_slice_ncdhw = [], csecs = 1 : i64, dsecs = 1 : i64, flow = [-1, 5, -2, 3, -3, 4, -4, 0, 1, 2], group_type = 0 : i64, hsecs = 2 : i64, nsecs = 1 : i64, other_down_overlap_op = [], other_up_overlap_op = [], run_core_id = [], self_down_overlap_op = [], self_up_overlap_op = [], support_compress = true, swpipl_stage_num = 3 : i64, wsecs = 1 : i64} : (tensor<1x3x8x8xf16, 4294975488 : i64>) -> tensor<1x3x8x8xf16, 4294975872 : i64> loc("y")
      tile.program core 0 {
        %4 = tile.alloc 0 at 1600 : !tile.buffer<1x3x5x8xf16, aligned, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8]> loc("load_x")
        tile.load 0 to %4 slice 0 step 3 on gdma loc("load_x")
        %5 = tile.alloc 1 at 1024 : !tile.buffer<1x3x1x288xf16, compact, [0, 0, 0, 0, 0] of [1, 3, 1, 1, 288]> loc("load_a_filter_reorderd")
        tile.load 1 to %5 slice 0 step 3 on gdma loc("load_a_filter_reorderd")
        %6 = tile.alloc 2 at 1856 : !tile.buffer<1x3x1x1xf32, compact, [0, 0, 0, 0, 0] of [1, 3, 1, 1, 1]> loc("load_a_b")
        tile.load 2 to %6 slice 0 step 3 on gdma loc("load_a_b")
        %7 = tile.alloc 3 at 1792 : !tile.buffer<1x3x4x8xf16, aligned, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8]> loc("a")
        tile.compute 3 tpu.Conv2D(%4, %5, %6) to %7 slice 0 step 5 on tiu own [0, 1024] free [1860, 262144] loc("a")
        %9 = tile.alloc 0 at 1600 : !tile.buffer<1x3x5x8xf16, aligned, [0, 0, 0, 3, 0] of [1, 3, 1, 8, 8]> loc("load_x")
        tile.load 0 to %9 slice 1 step 5 on gdma loc("load_x")
        %8 = tile.alloc 4 at 1728 : !tile.buffer<1x3x4x8xf16, aligned, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8]> loc("y")
        tile.compute 4 tpu.Add(%7, %4) to %8 slice 0 step 6 on tiu own [0, 1024] free [1860, 262144] loc("y")
        tile.store 5 from %8 [0, 0, 0, 0, 0] slice 0 step 8 on gdma free [1860, 262144] [0, 1024] loc("y")
        %10 = tile.alloc 3 at 1794 : !tile.buffer<1x3x4x8xf16, aligned, [0, 0, 0, 4, 0] of [1, 3, 1, 8, 8]> loc("a")
        tile.compute 3 tpu.Conv2D(%9, %5, %6) to %10 slice 1 step 9 on tiu own [0, 1024] free [1860, 262144] loc("a")
        %11 = tile.alloc 4 at 1728 : !tile.buffer<1x3x4x8xf16, aligned, [0, 0, 0, 4, 0] of [1, 3, 1, 8, 8]> loc("y")
        tile.compute 4 tpu.Add(%10, %9) to %11 slice 1 step 10 on tiu own [0, 1024] free [1700, 262144] [1024, 1600] loc("y")
        tile.store 5 from %11 [0, 0, 0, 5, 0] slice 1 step 12 on gdma free [1792, 262144] [0, 1728] loc("y")
      } loc("y")
      return %3 : tensor<1x3x8x8xf16, 4294975872 : i64> loc(unknown)
    } loc(unknown)
  } loc(unknown)
} loc(unknown)
