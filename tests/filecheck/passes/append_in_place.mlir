// RUN: tpu-opt %s --append-in-place --subnet-divide --op-reorder --address-assign --verify-addresses --split-input-file | filecheck %s

// What a function gives lies right behind one of its inputs, at the end of which a tensor may begin;
// inputs and outputs lie apart from the arena, each such pair at a page.
// CHECK: module.io_addr = 4294967296 : i64, module.io_size = 12288 : i64, module.neuron_addr = 4294979584 : i64
// CHECK: func.func @subfunc_0(%arg0: tensor<1x4x16xf32, 4294967296 : i64> loc("old"), %arg1: tensor<1x1x16xf32, 4294971392 : i64> loc("x"))
// CHECK-NEXT: [[NEW:%.*]] = "tpu.Relu"(%arg1) {{.*}} -> tensor<1x1x16xf32, 4294967552 : i64>
// CHECK-NEXT: [[ALL:%.*]] = "tpu.Append"(%arg0, [[NEW]]) {axis = 1 : si32} : {{.*}} -> tensor<1x5x16xf32, 4294967296 : i64>
// CHECK-NEXT: "tpu.Relu"([[ALL]]) {{.*}} -> tensor<1x5x16xf32, 4294975488 : i64>
module @net attributes {module.addr_mode = "io_alone", module.state = "TPU_REORDERED"} {
  func.func @main(%arg0: tensor<1x4x16xf32>, %arg1: tensor<1x1x16xf32>) -> (tensor<1x1x16xf32>, tensor<1x5x16xf32>) {
    %0 = "top.Input"(%arg0) : (tensor<1x4x16xf32>) -> tensor<1x4x16xf32> loc("old")
    %1 = "top.Input"(%arg1) : (tensor<1x1x16xf32>) -> tensor<1x1x16xf32> loc("x")
    %2 = "tpu.Relu"(%1) : (tensor<1x1x16xf32>) -> tensor<1x1x16xf32> loc("new")
    %3 = "tpu.Concat"(%0, %2) {axis = 1 : si32, only_merge = true} : (tensor<1x4x16xf32>, tensor<1x1x16xf32>) -> tensor<1x5x16xf32> loc("all")
    %4 = "tpu.Relu"(%3) : (tensor<1x5x16xf32>) -> tensor<1x5x16xf32> loc("y")
    return %2, %4 : tensor<1x1x16xf32>, tensor<1x5x16xf32>
  }
}

// -----

// Not where the input ends at no multiple of 64 bytes.
// CHECK-LABEL: module @odd
// CHECK: "tpu.Concat"
module @odd attributes {module.addr_mode = "io_alone", module.state = "TPU_REORDERED"} {
  func.func @main(%arg0: tensor<1x3x8xf32>, %arg1: tensor<1x1x8xf32>) -> (tensor<1x1x8xf32>, tensor<1x4x8xf32>) {
    %0 = "top.Input"(%arg0) : (tensor<1x3x8xf32>) -> tensor<1x3x8xf32> loc("old")
    %1 = "top.Input"(%arg1) : (tensor<1x1x8xf32>) -> tensor<1x1x8xf32> loc("x")
    %2 = "tpu.Relu"(%1) : (tensor<1x1x8xf32>) -> tensor<1x1x8xf32> loc("new")
    %3 = "tpu.Concat"(%0, %2) {axis = 1 : si32, only_merge = true} : (tensor<1x3x8xf32>, tensor<1x1x8xf32>) -> tensor<1x4x8xf32> loc("all")
    %4 = "tpu.Relu"(%3) : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32> loc("y")
    return %2, %4 : tensor<1x1x8xf32>, tensor<1x4x8xf32>
  }
}

// -----

// Nor in a module whose inputs and outputs lie in the arena.
// CHECK-LABEL: module @basic
// CHECK: "tpu.Concat"
module @basic attributes {module.addr_mode = "basic", module.state = "TPU_REORDERED"} {
  func.func @main(%arg0: tensor<1x4x16xf32>, %arg1: tensor<1x1x16xf32>) -> (tensor<1x1x16xf32>, tensor<1x5x16xf32>) {
    %0 = "top.Input"(%arg0) : (tensor<1x4x16xf32>) -> tensor<1x4x16xf32> loc("old")
    %1 = "top.Input"(%arg1) : (tensor<1x1x16xf32>) -> tensor<1x1x16xf32> loc("x")
    %2 = "tpu.Relu"(%1) : (tensor<1x1x16xf32>) -> tensor<1x1x16xf32> loc("new")
    %3 = "tpu.Concat"(%0, %2) {axis = 1 : si32, only_merge = true} : (tensor<1x4x16xf32>, tensor<1x1x16xf32>) -> tensor<1x5x16xf32> loc("all")
    %4 = "tpu.Relu"(%3) : (tensor<1x5x16xf32>) -> tensor<1x5x16xf32> loc("y")
    return %2, %4 : tensor<1x1x16xf32>, tensor<1x5x16xf32>
  }
}

// -----

// Places as large as the module says: what comes behind lies where it does in a module with more.
// CHECK-LABEL: module @roomy
// CHECK: module.io_addr = 4294967296 : i64, module.io_size = 20480 : i64
// CHECK: func.func @subfunc_0(%arg0: tensor<1x4x16xf32, 4294967296 : i64> loc("old"), %arg1: tensor<1x1x16xf32, 4294979584 : i64> loc("x"))
// CHECK-NEXT: [[NEW:%.*]] = "tpu.Relu"(%arg1) {{.*}} -> tensor<1x1x16xf32, 4294967552 : i64>
// CHECK: -> tensor<1x5x16xf32, 4294983680 : i64>
module @roomy attributes {module.addr_mode = "io_alone", module.io_rooms = [2050 : i64, 16 : i64, 0 : i64, 80 : i64], module.state = "TPU_REORDERED"} {
  func.func @main(%arg0: tensor<1x4x16xf32>, %arg1: tensor<1x1x16xf32>) -> (tensor<1x1x16xf32>, tensor<1x5x16xf32>) {
    %0 = "top.Input"(%arg0) : (tensor<1x4x16xf32>) -> tensor<1x4x16xf32> loc("old")
    %1 = "top.Input"(%arg1) : (tensor<1x1x16xf32>) -> tensor<1x1x16xf32> loc("x")
    %2 = "tpu.Relu"(%1) : (tensor<1x1x16xf32>) -> tensor<1x1x16xf32> loc("new")
    %3 = "tpu.Concat"(%0, %2) {axis = 1 : si32, only_merge = true} : (tensor<1x4x16xf32>, tensor<1x1x16xf32>) -> tensor<1x5x16xf32> loc("all")
    %4 = "tpu.Relu"(%3) : (tensor<1x5x16xf32>) -> tensor<1x5x16xf32> loc("y")
    return %2, %4 : tensor<1x1x16xf32>, tensor<1x5x16xf32>
  }
}
