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

// -----

// Float matrices that do not fit the chip together, and many rows: they are turned and pass by.
// CHECK-LABEL: module @floats
// CHECK: [[G:%.*]] = "top.Weight"() : () -> tensor<4864x896xf16>
// CHECK: [[D:%.*]] = "top.Weight"() : () -> tensor<896x4864xf16>
// CHECK: "tpu.Mlp"(%{{.*}}, [[G]], {{.*}}, [[D]], {{.*}}) {activation = #tpu<active_mode GELU>{{.*}}quantized = false
// CHECK-NOT: tpu.MatMul
// CHECK: return
module @floats attributes {module.state = "TPU_LOWERED", module.mode = "F16", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x512x896xf16>) -> tensor<1x512x896xf16> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x512x896xf16>) -> tensor<1x512x896xf16>
    %wg = "top.Weight"() : () -> tensor<896x4864xf16> loc("wg")
    %wd = "top.Weight"() : () -> tensor<4864x896xf16> loc("wd")
    %wu = "top.Weight"() : () -> tensor<896x4864xf16> loc("wu")
    %g = "tpu.MatMul"(%0, %wg, %n, %n, %n) : (tensor<1x512x896xf16>, tensor<896x4864xf16>, none, none, none) -> tensor<1x512x4864xf16> loc("g")
    %a = "tpu.Active"(%g) {mode = #tpu<active_mode GELU>} : (tensor<1x512x4864xf16>) -> tensor<1x512x4864xf16> loc("a")
    %u = "tpu.MatMul"(%0, %wu, %n, %n, %n) : (tensor<1x512x896xf16>, tensor<896x4864xf16>, none, none, none) -> tensor<1x512x4864xf16> loc("u")
    %m = "tpu.Mul"(%a, %u) : (tensor<1x512x4864xf16>, tensor<1x512x4864xf16>) -> tensor<1x512x4864xf16> loc("m")
    %y = "tpu.MatMul"(%m, %wd, %n, %n, %n) : (tensor<1x512x4864xf16>, tensor<4864x896xf16>, none, none, none) -> tensor<1x512x896xf16> loc("y")
    return %y : tensor<1x512x896xf16>
  }
}

// -----

// With few rows transfers take all the time, and in a group less is moved.
// CHECK-LABEL: module @few_floats
// CHECK-NOT: tpu.Mlp
// CHECK: return
module @few_floats attributes {module.state = "TPU_LOWERED", module.mode = "F16", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x65x1024xf16>) -> tensor<1x65x1024xf16> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x65x1024xf16>) -> tensor<1x65x1024xf16>
    %wg = "top.Weight"() : () -> tensor<1024x2816xf16> loc("wg")
    %wd = "top.Weight"() : () -> tensor<2816x1024xf16> loc("wd")
    %wu = "top.Weight"() : () -> tensor<1024x2816xf16> loc("wu")
    %g = "tpu.MatMul"(%0, %wg, %n, %n, %n) : (tensor<1x65x1024xf16>, tensor<1024x2816xf16>, none, none, none) -> tensor<1x65x2816xf16> loc("g")
    %a = "tpu.Active"(%g) {mode = #tpu<active_mode GELU>} : (tensor<1x65x2816xf16>) -> tensor<1x65x2816xf16> loc("a")
    %u = "tpu.MatMul"(%0, %wu, %n, %n, %n) : (tensor<1x65x1024xf16>, tensor<1024x2816xf16>, none, none, none) -> tensor<1x65x2816xf16> loc("u")
    %m = "tpu.Mul"(%a, %u) : (tensor<1x65x2816xf16>, tensor<1x65x2816xf16>) -> tensor<1x65x2816xf16> loc("m")
    %y = "tpu.MatMul"(%m, %wd, %n, %n, %n) : (tensor<1x65x2816xf16>, tensor<2816x1024xf16>, none, none, none) -> tensor<1x65x1024xf16> loc("y")
    return %y : tensor<1x65x1024xf16>
  }
}

// -----

// Matrices that fit together stay in a layer group.
// CHECK-LABEL: module @small
// CHECK-NOT: tpu.Mlp
// CHECK: return
module @small attributes {module.state = "TPU_LOWERED", module.mode = "F16", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x512x256xf16>) -> tensor<1x512x256xf16> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x512x256xf16>) -> tensor<1x512x256xf16>
    %wg = "top.Weight"() : () -> tensor<256x512xf16> loc("wg")
    %wd = "top.Weight"() : () -> tensor<512x256xf16> loc("wd")
    %g = "tpu.MatMul"(%0, %wg, %n, %n, %n) : (tensor<1x512x256xf16>, tensor<256x512xf16>, none, none, none) -> tensor<1x512x512xf16> loc("g")
    %a = "tpu.Active"(%g) {mode = #tpu<active_mode GELU>} : (tensor<1x512x512xf16>) -> tensor<1x512x512xf16> loc("a")
    %y = "tpu.MatMul"(%a, %wd, %n, %n, %n) : (tensor<1x512x512xf16>, tensor<512x256xf16>, none, none, none) -> tensor<1x512x256xf16> loc("y")
    return %y : tensor<1x512x256xf16>
  }
}

// -----

// Nothing is multiplied with the activation.
// CHECK-LABEL: module @plain
// CHECK: "tpu.Mlp"
// CHECK-NOT: tpu.MatMul
// CHECK: return
module @plain attributes {module.state = "TPU_LOWERED", module.mode = "F16", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x1024x1536xf16>) -> tensor<1x1024x1536xf16> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x1024x1536xf16>) -> tensor<1x1024x1536xf16>
    %wg = "top.Weight"() : () -> tensor<1536x6144xf16> loc("wg")
    %wd = "top.Weight"() : () -> tensor<6144x1536xf16> loc("wd")
    %g = "tpu.MatMul"(%0, %wg, %n, %n, %n) : (tensor<1x1024x1536xf16>, tensor<1536x6144xf16>, none, none, none) -> tensor<1x1024x6144xf16> loc("g")
    %a = "tpu.Active"(%g) {mode = #tpu<active_mode GELU>} : (tensor<1x1024x6144xf16>) -> tensor<1x1024x6144xf16> loc("a")
    %y = "tpu.MatMul"(%a, %wd, %n, %n, %n) : (tensor<1x1024x6144xf16>, tensor<6144x1536xf16>, none, none, none) -> tensor<1x1024x1536xf16> loc("y")
    return %y : tensor<1x1024x1536xf16>
  }
}

// -----

// A ReLU in a product is none that the op has.
// CHECK-LABEL: module @clamped
// CHECK-NOT: tpu.Mlp
// CHECK: return
module @clamped attributes {module.state = "TPU_LOWERED", module.mode = "F16", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x512x2048xf16>) -> tensor<1x512x2048xf16> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x512x2048xf16>) -> tensor<1x512x2048xf16>
    %wg = "top.Weight"() : () -> tensor<2048x4096xf16> loc("wg")
    %wd = "top.Weight"() : () -> tensor<4096x2048xf16> loc("wd")
    %g = "tpu.MatMul"(%0, %wg, %n, %n, %n) {do_relu = true} : (tensor<1x512x2048xf16>, tensor<2048x4096xf16>, none, none, none) -> tensor<1x512x4096xf16> loc("g")
    %a = "tpu.Active"(%g) {mode = #tpu<active_mode GELU>} : (tensor<1x512x4096xf16>) -> tensor<1x512x4096xf16> loc("a")
    %y = "tpu.MatMul"(%a, %wd, %n, %n, %n) : (tensor<1x512x4096xf16>, tensor<4096x2048xf16>, none, none, none) -> tensor<1x512x2048xf16> loc("y")
    return %y : tensor<1x512x2048xf16>
  }
}
