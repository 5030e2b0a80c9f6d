// RUN: tpu-opt %s --split-input-file --subnet-divide --layer-group="opt=1 keep_global=tpu.Softmax" --keep-lanes --address-assign --verify-addresses | filecheck %s

// A Softmax in DDR parts two groups, which see the value between them under the same lanes: its
// short rows are stored and loaded lane by lane.
// CHECK-LABEL: module @tokens
// CHECK: "tpu.Store"{{.*}}indexing_map_l2s = affine_map<(d0, d1, d2) -> ({{.*}}d1 mod 64{{.*}}>{{.*}} -> tensor<1x640x32xf16
// CHECK: "tpu.Softmax"
// CHECK: "tpu.Load"{{.*}}indexing_map_s2l = affine_map<(d0, d1, d2) -> ({{.*}}d1 mod 64{{.*}}>{{.*}} -> tensor<1x640x32xf16
module @tokens attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x640x32xf16>, %arg1: tensor<64x64xf16>) -> (tensor<1x640x32xf16>, tensor<64x64xf16>) {
    %none = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x640x32xf16>) -> tensor<1x640x32xf16> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<64x64xf16>) -> tensor<64x64xf16> loc("y")
    %2 = "tpu.Relu"(%0) : (tensor<1x640x32xf16>) -> tensor<1x640x32xf16> loc("a")
    %3 = "tpu.Add"(%0, %2) : (tensor<1x640x32xf16>, tensor<1x640x32xf16>) -> tensor<1x640x32xf16> loc("b")
    %4 = "tpu.Softmax"(%1, %none, %none, %none, %none, %none) {axis = 1 : si32} : (tensor<64x64xf16>, none, none, none, none, none) -> tensor<64x64xf16> loc("s")
    %5 = "tpu.Relu"(%3) : (tensor<1x640x32xf16>) -> tensor<1x640x32xf16> loc("c")
    %6 = "tpu.Add"(%3, %5) : (tensor<1x640x32xf16>, tensor<1x640x32xf16>) -> tensor<1x640x32xf16> loc("d")
    return %6, %4 : tensor<1x640x32xf16>, tensor<64x64xf16>
  }
}

// -----

// Rows of 256 bytes move at the full rate already: they stay one behind the other.
// CHECK-LABEL: module @wide
// CHECK-NOT: indexing_map
module @wide attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x640x128xf16>, %arg1: tensor<64x64xf16>) -> (tensor<1x640x128xf16>, tensor<64x64xf16>) {
    %none = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x640x128xf16>) -> tensor<1x640x128xf16> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<64x64xf16>) -> tensor<64x64xf16> loc("y")
    %2 = "tpu.Relu"(%0) : (tensor<1x640x128xf16>) -> tensor<1x640x128xf16> loc("a")
    %3 = "tpu.Add"(%0, %2) : (tensor<1x640x128xf16>, tensor<1x640x128xf16>) -> tensor<1x640x128xf16> loc("b")
    %4 = "tpu.Softmax"(%1, %none, %none, %none, %none, %none) {axis = 1 : si32} : (tensor<64x64xf16>, none, none, none, none, none) -> tensor<64x64xf16> loc("s")
    %5 = "tpu.Relu"(%3) : (tensor<1x640x128xf16>) -> tensor<1x640x128xf16> loc("c")
    %6 = "tpu.Add"(%3, %5) : (tensor<1x640x128xf16>, tensor<1x640x128xf16>) -> tensor<1x640x128xf16> loc("d")
    return %6, %4 : tensor<1x640x128xf16>, tensor<64x64xf16>
  }
}
