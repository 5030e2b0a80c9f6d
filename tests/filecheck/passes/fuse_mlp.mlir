// RUN: tpu-opt %s --split-input-file --fuse-mlp="chip=bm1684x" --no-locations | filecheck %s

// Gate, SiLU, up, their product and down become one op.
// CHECK-LABEL: module @many
// CHECK-NOT: tpu.A16MatMul
// CHECK: "tpu.Mlp"({{.*}}q_group_size = 64 : i64, quantized = true{{.*}}w_transpose_down = true{{.*}}weight_bits = 4 : i64{{.*}}-> tensor<1x65x64xf16>
// CHECK-NOT: tpu.Active
module @many attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x65x64xf16>) -> tensor<1x65x64xf16> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x65x64xf16>) -> tensor<1x65x64xf16>
    %w = "top.Weight"() : () -> tensor<64x32xui8> loc("w")
    %s = "top.Weight"() : () -> tensor<64x1xf16> loc("s")
    %z = "top.Weight"() : () -> tensor<64x1xui8> loc("z")
    %g = "tpu.A16MatMul"(%0, %w, %s, %z, %n) {q_group_size = 64 : i64, w_transpose = true, weight_bits = 4 : i64} : (tensor<1x65x64xf16>, tensor<64x32xui8>, tensor<64x1xf16>, tensor<64x1xui8>, none) -> tensor<1x65x64xf16> loc("g")
    %u = "tpu.A16MatMul"(%0, %w, %s, %z, %n) {q_group_size = 64 : i64, w_transpose = true, weight_bits = 4 : i64} : (tensor<1x65x64xf16>, tensor<64x32xui8>, tensor<64x1xf16>, tensor<64x1xui8>, none) -> tensor<1x65x64xf16> loc("u")
    %a = "tpu.Active"(%g) {mode = #tpu<active_mode SILU>} : (tensor<1x65x64xf16>) -> tensor<1x65x64xf16> loc("a")
    %m = "tpu.Mul"(%u, %a) : (tensor<1x65x64xf16>, tensor<1x65x64xf16>) -> tensor<1x65x64xf16> loc("m")
    %y = "tpu.A16MatMul"(%m, %w, %s, %z, %n) {q_group_size = 64 : i64, w_transpose = true, weight_bits = 4 : i64} : (tensor<1x65x64xf16>, tensor<64x32xui8>, tensor<64x1xf16>, tensor<64x1xui8>, none) -> tensor<1x65x64xf16> loc("y")
    return %y : tensor<1x65x64xf16>
  }
}

// -----

// No more rows than lanes: the matrices take all the time, and each is loaded by itself.
// CHECK-LABEL: module @few
// CHECK-NOT: tpu.Mlp
// CHECK: return
module @few attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x64x64xf16>) -> tensor<1x64x64xf16> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x64x64xf16>) -> tensor<1x64x64xf16>
    %w = "top.Weight"() : () -> tensor<64x32xui8> loc("w")
    %s = "top.Weight"() : () -> tensor<64x1xf16> loc("s")
    %z = "top.Weight"() : () -> tensor<64x1xui8> loc("z")
    %g = "tpu.A16MatMul"(%0, %w, %s, %z, %n) {q_group_size = 64 : i64, w_transpose = true, weight_bits = 4 : i64} : (tensor<1x64x64xf16>, tensor<64x32xui8>, tensor<64x1xf16>, tensor<64x1xui8>, none) -> tensor<1x64x64xf16> loc("g")
    %u = "tpu.A16MatMul"(%0, %w, %s, %z, %n) {q_group_size = 64 : i64, w_transpose = true, weight_bits = 4 : i64} : (tensor<1x64x64xf16>, tensor<64x32xui8>, tensor<64x1xf16>, tensor<64x1xui8>, none) -> tensor<1x64x64xf16> loc("u")
    %a = "tpu.Active"(%g) {mode = #tpu<active_mode SILU>} : (tensor<1x64x64xf16>) -> tensor<1x64x64xf16> loc("a")
    %m = "tpu.Mul"(%a, %u) : (tensor<1x64x64xf16>, tensor<1x64x64xf16>) -> tensor<1x64x64xf16> loc("m")
    %y = "tpu.A16MatMul"(%m, %w, %s, %z, %n) {q_group_size = 64 : i64, w_transpose = true, weight_bits = 4 : i64} : (tensor<1x64x64xf16>, tensor<64x32xui8>, tensor<64x1xf16>, tensor<64x1xui8>, none) -> tensor<1x64x64xf16> loc("y")
    return %y : tensor<1x64x64xf16>
  }
}

// -----

// Something else reads what the gate gives.
// CHECK-LABEL: module @read_elsewhere
// CHECK-NOT: tpu.Mlp
// CHECK: return
module @read_elsewhere attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x65x64xf16>) -> (tensor<1x65x64xf16>, tensor<1x65x64xf16>) {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x65x64xf16>) -> tensor<1x65x64xf16>
    %w = "top.Weight"() : () -> tensor<64x32xui8> loc("w")
    %s = "top.Weight"() : () -> tensor<64x1xf16> loc("s")
    %z = "top.Weight"() : () -> tensor<64x1xui8> loc("z")
    %g = "tpu.A16MatMul"(%0, %w, %s, %z, %n) {q_group_size = 64 : i64, w_transpose = true, weight_bits = 4 : i64} : (tensor<1x65x64xf16>, tensor<64x32xui8>, tensor<64x1xf16>, tensor<64x1xui8>, none) -> tensor<1x65x64xf16> loc("g")
    %u = "tpu.A16MatMul"(%0, %w, %s, %z, %n) {q_group_size = 64 : i64, w_transpose = true, weight_bits = 4 : i64} : (tensor<1x65x64xf16>, tensor<64x32xui8>, tensor<64x1xf16>, tensor<64x1xui8>, none) -> tensor<1x65x64xf16> loc("u")
    %a = "tpu.Active"(%g) {mode = #tpu<active_mode SILU>} : (tensor<1x65x64xf16>) -> tensor<1x65x64xf16> loc("a")
    %m = "tpu.Mul"(%a, %u) : (tensor<1x65x64xf16>, tensor<1x65x64xf16>) -> tensor<1x65x64xf16> loc("m")
    %y = "tpu.A16MatMul"(%m, %w, %s, %z, %n) {q_group_size = 64 : i64, w_transpose = true, weight_bits = 4 : i64} : (tensor<1x65x64xf16>, tensor<64x32xui8>, tensor<64x1xf16>, tensor<64x1xui8>, none) -> tensor<1x65x64xf16> loc("y")
    return %y, %g : tensor<1x65x64xf16>, tensor<1x65x64xf16>
  }
}
