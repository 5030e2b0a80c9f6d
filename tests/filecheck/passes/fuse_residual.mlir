// RUN: tpu-opt %s --split-input-file --fuse-residual="chip=bm1684x" --no-locations | filecheck %s

// The product adds the rows that go past it, on whichever side of the sum it stands.
// CHECK-LABEL: module @many
// CHECK: [[X:%.+]] = "top.Input"
// CHECK-NOT: tpu.Add
// CHECK: "tpu.A16MatMul"([[X]], {{.*}}, [[X]]) {{.*}}tensor<64x1xui8>, none, tensor<1x65x64xf16>) -> tensor<1x65x64xf16>
// CHECK-NOT: tpu.Add
module @many attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x65x64xf16>) -> tensor<1x65x64xf16> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x65x64xf16>) -> tensor<1x65x64xf16>
    %w = "top.Weight"() : () -> tensor<64x32xui8> loc("w")
    %s = "top.Weight"() : () -> tensor<64x1xf16> loc("s")
    %z = "top.Weight"() : () -> tensor<64x1xui8> loc("z")
    %g = "tpu.A16MatMul"(%0, %w, %s, %z, %n) {q_group_size = 64 : i64, w_transpose = true, weight_bits = 4 : i64} : (tensor<1x65x64xf16>, tensor<64x32xui8>, tensor<64x1xf16>, tensor<64x1xui8>, none) -> tensor<1x65x64xf16> loc("g")
    %y = "tpu.Add"(%0, %g) : (tensor<1x65x64xf16>, tensor<1x65x64xf16>) -> tensor<1x65x64xf16> loc("y")
    return %y : tensor<1x65x64xf16>
  }
}

// -----

// Few rows are added by themselves, and so is what is clamped or a product that others read.
// CHECK-LABEL: module @few
// CHECK: tpu.Add
module @few attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x64x64xf16>) -> tensor<1x64x64xf16> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x64x64xf16>) -> tensor<1x64x64xf16>
    %w = "top.Weight"() : () -> tensor<64x32xui8> loc("w")
    %s = "top.Weight"() : () -> tensor<64x1xf16> loc("s")
    %z = "top.Weight"() : () -> tensor<64x1xui8> loc("z")
    %g = "tpu.A16MatMul"(%0, %w, %s, %z, %n) {q_group_size = 64 : i64, w_transpose = true, weight_bits = 4 : i64} : (tensor<1x64x64xf16>, tensor<64x32xui8>, tensor<64x1xf16>, tensor<64x1xui8>, none) -> tensor<1x64x64xf16> loc("g")
    %y = "tpu.Add"(%g, %0) : (tensor<1x64x64xf16>, tensor<1x64x64xf16>) -> tensor<1x64x64xf16> loc("y")
    return %y : tensor<1x64x64xf16>
  }
}

// -----

// CHECK-LABEL: module @others
// CHECK: tpu.Add
// CHECK: tpu.Add
module @others attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x65x64xf16>) -> (tensor<1x65x64xf16>, tensor<1x65x64xf16>, tensor<1x65x64xf16>) {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x65x64xf16>) -> tensor<1x65x64xf16>
    %w = "top.Weight"() : () -> tensor<64x32xui8> loc("w")
    %s = "top.Weight"() : () -> tensor<64x1xf16> loc("s")
    %z = "top.Weight"() : () -> tensor<64x1xui8> loc("z")
    %g = "tpu.A16MatMul"(%0, %w, %s, %z, %n) {q_group_size = 64 : i64, w_transpose = true, weight_bits = 4 : i64} : (tensor<1x65x64xf16>, tensor<64x32xui8>, tensor<64x1xf16>, tensor<64x1xui8>, none) -> tensor<1x65x64xf16> loc("g")
    %h = "tpu.A16MatMul"(%0, %w, %s, %z, %n) {q_group_size = 64 : i64, w_transpose = true, weight_bits = 4 : i64} : (tensor<1x65x64xf16>, tensor<64x32xui8>, tensor<64x1xf16>, tensor<64x1xui8>, none) -> tensor<1x65x64xf16> loc("h")
    %y = "tpu.Add"(%0, %g) {do_relu = true} : (tensor<1x65x64xf16>, tensor<1x65x64xf16>) -> tensor<1x65x64xf16> loc("y")
    %z2 = "tpu.Add"(%0, %h) : (tensor<1x65x64xf16>, tensor<1x65x64xf16>) -> tensor<1x65x64xf16> loc("z2")
    return %y, %z2, %h : tensor<1x65x64xf16>, tensor<1x65x64xf16>, tensor<1x65x64xf16>
  }
}
