// RUN: tpu-opt %s --split-input-file --split-products="chip=bm1684x when=always" --no-locations | filecheck %s

// Two matrices of 8 MiB fill local memory: each comes in four parts, which are put side by side.
// CHECK-LABEL: module @large
// CHECK: [[W:%.*]] = "top.Weight"() : () -> tensor<1024x1024xf16>
// CHECK-NEXT: [[B:%.*]] = "top.Weight"() : () -> tensor<1024xf32>
// CHECK-NEXT: [[A:%.*]] = "tpu.MatMul"(%{{[0-9]+}}, [[W]], [[B]], {{.*}}do_relu = true{{.*}} -> tensor<1x256x1024xf16>
// CHECK: "tpu.Concat"([[A]], {{.*}}axis = 2{{.*}} -> tensor<1x256x4096xf16>
// CHECK: "tpu.MatMul"{{.*}}tensor<4096x256xf16>, none{{.*}} -> tensor<1x256x256xf16>
// CHECK: "tpu.Concat"{{.*}} -> tensor<1x256x1024xf16>
module @large attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x256x1024xf16>) -> tensor<1x256x1024xf16> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x256x1024xf16>) -> tensor<1x256x1024xf16>
    %w = "top.Weight"() : () -> tensor<1024x4096xf16> loc("w")
    %b = "top.Weight"() : () -> tensor<4096xf32> loc("b")
    %v = "top.Weight"() : () -> tensor<4096x1024xf16> loc("v")
    %1 = "tpu.MatMul"(%0, %w, %b, %n, %n) {do_relu = true} : (tensor<1x256x1024xf16>, tensor<1024x4096xf16>, tensor<4096xf32>, none, none) -> tensor<1x256x4096xf16> loc("1")
    %2 = "tpu.MatMul"(%1, %v, %n, %n, %n) : (tensor<1x256x4096xf16>, tensor<4096x1024xf16>, none, none, none) -> tensor<1x256x1024xf16> loc("2")
    return %2 : tensor<1x256x1024xf16>
  }
}

// -----

// What is by itself, transposed, or small enough, stays.
// CHECK-LABEL: module @stay
// CHECK-NOT: tpu.Concat
// CHECK: return
module @stay attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x256x1024xf16>) -> tensor<1x256x512xf16> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x256x1024xf16>) -> tensor<1x256x1024xf16>
    %w = "top.Weight"() : () -> tensor<4096x1024xf16> loc("w")
    %v = "top.Weight"() : () -> tensor<4096x256xf16> loc("v")
    %u = "top.Weight"() : () -> tensor<256x512xf16> loc("u")
    %1 = "tpu.MatMul"(%0, %w, %n, %n, %n) {right_transpose = true} : (tensor<1x256x1024xf16>, tensor<4096x1024xf16>, none, none, none) -> tensor<1x256x4096xf16> loc("1")
    %2 = "tpu.MatMul"(%1, %v, %n, %n, %n) : (tensor<1x256x4096xf16>, tensor<4096x256xf16>, none, none, none) -> tensor<1x256x256xf16> loc("2")
    %3 = "tpu.MatMul"(%2, %u, %n, %n, %n) : (tensor<1x256x256xf16>, tensor<256x512xf16>, none, none, none) -> tensor<1x256x512xf16> loc("3")
    return %3 : tensor<1x256x512xf16>
  }
}
