// RUN: tpu-opt %s --lower-to-tile | filecheck %s
// RUN: tpu-opt %s --lower-to-tile | tpu-opt --lower-to-tile --verify-tile-programs | filecheck %s
// RUN: tpu-opt %s --lower-to-tile --print-op-generic | tpu-opt | filecheck %s

// A convolution and an addition over two slices of rows. The second slice of x begins at row 3, one
// before its four rows of the result, and comes in when the addition has read the first; the
// filter and the bias stay. The first result is stored while the second is computed.
// CHECK: tile.program core 0 {
// CHECK-NEXT: %[[B0:[0-9]+]] = tile.alloc 0 at 1600 : !tile.buffer<1x3x5x8xf16, aligned, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8]>
// CHECK-NEXT: tile.load 0 to %[[B0]] slice 0 step 3 on gdma
// CHECK-NEXT: %[[B1:[0-9]+]] = tile.alloc 1 at 1024 : !tile.buffer<1x3x1x288xf16, compact, [0, 0, 0, 0, 0] of [1, 3, 1, 1, 288]>
// CHECK-NEXT: tile.load 1 to %[[B1]] slice 0 step 3 on gdma
// CHECK-NEXT: %[[B2:[0-9]+]] = tile.alloc 2 at 1856 : !tile.buffer<1x3x1x1xf32, compact, [0, 0, 0, 0, 0] of [1, 3, 1, 1, 1]>
// CHECK-NEXT: tile.load 2 to %[[B2]] slice 0 step 3 on gdma
// CHECK-NEXT: %[[B3:[0-9]+]] = tile.alloc 3 at 1792 : !tile.buffer<1x3x4x8xf16, aligned, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8]>
// CHECK-NEXT: tile.compute 3 tpu.Conv2D(%[[B0]], %[[B1]], %[[B2]]) to %[[B3]] slice 0 step 5 on tiu own [0, 1024] free [1860, 262144]
// CHECK-NEXT: %[[B4:[0-9]+]] = tile.alloc 4 at 1728 : !tile.buffer<1x3x4x8xf16, aligned, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8]>
// CHECK-NEXT: tile.compute 4 tpu.Add(%[[B3]], %[[B0]]) to %[[B4]] slice 0 step 6 on tiu own [0, 1024] free [1860, 262144]
// CHECK-NEXT: %[[B5:[0-9]+]] = tile.alloc 0 at 1600 : !tile.buffer<1x3x5x8xf16, aligned, [0, 0, 0, 3, 0] of [1, 3, 1, 8, 8]>
// CHECK-NEXT: tile.load 0 to %[[B5]] slice 1 step 7 on gdma
// CHECK-NEXT: tile.store 5 from %[[B4]] [0, 0, 0, 0, 0] slice 0 step 8 on gdma free [1860, 262144] [0, 1024]
// CHECK-NEXT: %[[B6:[0-9]+]] = tile.alloc 3 at 1792 : !tile.buffer<1x3x4x8xf16, aligned, [0, 0, 0, 4, 0] of [1, 3, 1, 8, 8]>
// CHECK-NEXT: tile.compute 3 tpu.Conv2D(%[[B5]], %[[B1]], %[[B2]]) to %[[B6]] slice 1 step 9 on tiu own [0, 1024] free [1860, 262144]
// CHECK-NEXT: %[[B7:[0-9]+]] = tile.alloc 4 at 1728 : !tile.buffer<1x3x4x8xf16, aligned, [0, 0, 0, 4, 0] of [1, 3, 1, 8, 8]>
// CHECK-NEXT: tile.compute 4 tpu.Add(%[[B6]], %[[B5]]) to %[[B7]] slice 1 step 10 on tiu own [0, 1024] free [1856, 262144] [1024, 1600]
// CHECK-NEXT: tile.store 5 from %[[B7]] [0, 0, 0, 4, 0] slice 1 step 12 on gdma free [1792, 262144] [0, 1728]
// CHECK-NEXT: }
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
      return %3 : tensor<1x3x8x8xf16, 4294975872 : i64> loc(unknown)
    } loc(unknown)
  } loc(unknown)
} loc(unknown)
