// RUN: tpu-opt %s --split-input-file --subnet-divide --layer-group --absorb-moves --address-assign --verify-addresses | filecheck %s

// The windows of an image are read by the group's Load through strides: the permute is not
// executed and has its operand's address. A transpose of elements is executed, in the
// group.
// CHECK: "tpu.Reshape"(%arg0) {{.*}} -> tensor<1x4x7x4x7x256xf16, [[X:[0-9]+]] : i64>
// CHECK-NEXT: "tpu.Permute"{{.*}}{absorbed, order = [0, 1, 3, 2, 4, 5]}{{.*}} -> tensor<1x4x4x7x7x256xf16, [[X]] : i64>
// CHECK-NEXT: "tpu.Reshape"{{.*}} -> tensor<16x49x256xf16, [[X]] : i64>
// CHECK: "tpu.Group"
// CHECK: "tpu.Load"{{.*}} : (tensor<16x49x256xf16, [[X]] : i64>)
// CHECK: "tpu.Permute"{{.*}}{ginfo = {{.*}}, order = [0, 2, 1]}
module @net attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x28x28x256xf16>) -> tensor<16x256x49xf16> {
    %none = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x28x28x256xf16>) -> tensor<1x28x28x256xf16> loc("x")
    %1 = "tpu.Reshape"(%0) {shape = [1, 4, 7, 4, 7, 256]} : (tensor<1x28x28x256xf16>) -> tensor<1x4x7x4x7x256xf16> loc("split")
    %2 = "tpu.Permute"(%1, %none) {order = [0, 1, 3, 2, 4, 5]} : (tensor<1x4x7x4x7x256xf16>, none) -> tensor<1x4x4x7x7x256xf16> loc("turned")
    %3 = "tpu.Reshape"(%2) {shape = [16, 49, 256]} : (tensor<1x4x4x7x7x256xf16>) -> tensor<16x49x256xf16> loc("tokens")
    %4 = "tpu.Relu"(%3) : (tensor<16x49x256xf16>) -> tensor<16x49x256xf16> loc("a")
    %5 = "tpu.Add"(%3, %4) : (tensor<16x49x256xf16>, tensor<16x49x256xf16>) -> tensor<16x49x256xf16> loc("b")
    %6 = "tpu.Permute"(%5, %none) {order = [0, 2, 1]} : (tensor<16x49x256xf16>, none) -> tensor<16x256x49xf16> loc("end")
    return %6 : tensor<16x256x49xf16>
  }
}

// -----

// Rows of a table that the program names are loaded by their numbers; rows of which a lane would
// take a part are gathered before.
// CHECK-LABEL: module @rows
// CHECK: "tpu.Gather"(%arg0{{.*}}{absorbed, axis = 0 : si32
// CHECK: "tpu.Gather"(%arg0{{.*}}{axis = 0 : si32
module @rows attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<300x32xf16>, %arg1: tensor<80xi32>) -> (tensor<1x20x128xf16>, tensor<1x160x16xf16>) {
    %none = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<300x32xf16>) -> tensor<300x32xf16> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<80xi32>) -> tensor<80xi32> loc("i")
    %2 = "tpu.Gather"(%0, %1, %none) {axis = 0 : si32} : (tensor<300x32xf16>, tensor<80xi32>, none) -> tensor<80x32xf16> loc("g")
    %3 = "tpu.Reshape"(%2) {shape = [1, 20, 128]} : (tensor<80x32xf16>) -> tensor<1x20x128xf16> loc("s")
    %4 = "tpu.Relu"(%3) : (tensor<1x20x128xf16>) -> tensor<1x20x128xf16> loc("a")
    %5 = "tpu.Add"(%3, %4) : (tensor<1x20x128xf16>, tensor<1x20x128xf16>) -> tensor<1x20x128xf16> loc("b")
    %6 = "tpu.Gather"(%0, %1, %none) {axis = 0 : si32} : (tensor<300x32xf16>, tensor<80xi32>, none) -> tensor<80x32xf16> loc("h")
    %7 = "tpu.Reshape"(%6) {shape = [1, 160, 16]} : (tensor<80x32xf16>) -> tensor<1x160x16xf16> loc("t")
    %8 = "tpu.Relu"(%7) : (tensor<1x160x16xf16>) -> tensor<1x160x16xf16> loc("c")
    %9 = "tpu.Add"(%7, %8) : (tensor<1x160x16xf16>, tensor<1x160x16xf16>) -> tensor<1x160x16xf16> loc("d")
    return %5, %9 : tensor<1x20x128xf16>, tensor<1x160x16xf16>
  }
}
