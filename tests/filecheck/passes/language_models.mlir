// RUN: tpu-opt %s --split-input-file --convert-top-to-tpu="mode=F16 chip=bm1684x" --weight-reorder | filecheck %s
// RUN: not tpu-opt %s --split-input-file --convert-top-to-tpu="mode=F32 chip=bm1684x" 2>&1 | filecheck %s --check-prefix=WIDE

// Scale and bias get the type of the mode, scales and zero points the order of the lanes.
// CHECK-LABEL: module @packed
// CHECK-DAG: "top.Weight"() : () -> tensor<100x64xui8>
// CHECK-DAG: "top.Weight"() : () -> tensor<1x64x2x2xf16>
// CHECK-DAG: "top.Weight"() : () -> tensor<1x64x2x2xui8>
// CHECK: "tpu.A16MatMul"({{.*}}q_group_size = 64 : i64, sign = true, w_transpose = true, weight_bits = 4 : i64{{.*}}tensor<100x64xui8>, tensor<1x64x2x2xf16>, tensor<1x64x2x2xui8>, tensor<1x1x100xf16>) -> tensor<1x3x100xf16>
// WIDE: top.A16MatMul 'y': packed weights need the mode F16 or BF16
// WIDE-NOT: Traceback
module @packed attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x3x128xf32>) -> tensor<1x3x100xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x3x128xf32>) -> tensor<1x3x128xf32> loc("x")
    %1 = "top.Weight"() : () -> tensor<100x64xui8> loc("w")
    %2 = "top.Weight"() : () -> tensor<100x2xf32> loc("s")
    %3 = "top.Weight"() : () -> tensor<100x2xui8> loc("z")
    %4 = "top.Weight"() : () -> tensor<1x1x100xf32> loc("b")
    %5 = "top.A16MatMul"(%0, %1, %2, %3, %4) {q_group_size = 64 : i64, right_transpose = true, weight_bits = 4 : i64} : (tensor<1x3x128xf32>, tensor<100x64xui8>, tensor<100x2xf32>, tensor<100x2xui8>, tensor<1x1x100xf32>) -> tensor<1x3x100xf32> loc("y")
    return %5 : tensor<1x3x100xf32>
  }
}

// -----

// Rows of a causal attention see keys up to their own; without the word, all of them.
// CHECK-LABEL: module @causal
// CHECK: "tpu.FAttention"({{.*}}key_ranges = [0, 64, 0, 64, 0, 100, 64, 100]
// CHECK: "tpu.FAttention"
// CHECK-NOT: key_ranges
module @causal attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x100x2x64xf32>, %arg1: tensor<1x1x100x100xf32>) -> (tensor<1x100x128xf32>, tensor<1x100x128xf32>) {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x100x2x64xf32>) -> tensor<1x100x2x64xf32> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<1x1x100x100xf32>) -> tensor<1x1x100x100xf32> loc("mask")
    %2 = "top.FAttention"(%0, %0, %0, %1, %n) {batch = 1 : i64, causal = true, dim = 64 : i64, keep_dims = false, kv_head = 2 : i64, mk = 100 : i64, mq = 100 : i64, q_head = 2 : i64, scale = 1.25e-01 : f64} : (tensor<1x100x2x64xf32>, tensor<1x100x2x64xf32>, tensor<1x100x2x64xf32>, tensor<1x1x100x100xf32>, none) -> tensor<1x100x128xf32> loc("a")
    %3 = "top.FAttention"(%0, %0, %0, %1, %n) {batch = 1 : i64, dim = 64 : i64, keep_dims = false, kv_head = 2 : i64, mk = 100 : i64, mq = 100 : i64, q_head = 2 : i64, scale = 1.25e-01 : f64} : (tensor<1x100x2x64xf32>, tensor<1x100x2x64xf32>, tensor<1x100x2x64xf32>, tensor<1x1x100x100xf32>, none) -> tensor<1x100x128xf32> loc("b")
    return %2, %3 : tensor<1x100x128xf32>, tensor<1x100x128xf32>
  }
}
