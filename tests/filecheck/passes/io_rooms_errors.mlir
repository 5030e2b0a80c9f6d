// RUN: not tpu-opt %s --subnet-divide --op-reorder --address-assign 2>&1 | filecheck %s
// RUN: sed "s/\[32 : i64, 32 : i64\]/[32 : i64]/" %s > %t && not tpu-opt %t --subnet-divide --op-reorder --address-assign 2>&1 | filecheck %s --check-prefix=FEW

// CHECK: module.io_rooms: 128 bytes for one of 256
// FEW: module.io_rooms: 1 rooms for 2 inputs and outputs
module @net attributes {module.addr_mode = "io_alone", module.io_rooms = [32 : i64, 32 : i64], module.state = "TPU_REORDERED"} {
  func.func @main(%arg0: tensor<64xf32>) -> tensor<64xf32> {
    %0 = "top.Input"(%arg0) : (tensor<64xf32>) -> tensor<64xf32> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<64xf32>) -> tensor<64xf32> loc("y")
    return %1 : tensor<64xf32>
  }
}
