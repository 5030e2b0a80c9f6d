// RUN: not tpu-opt %s --verify-addresses 2>&1 | filecheck %s

// All faults are reported, with the names of both tensors.
// CHECK: 2 addresses are wrong:
// CHECK-NEXT: tensor 'b' at 0x100001020 is not aligned to 64 bytes
// CHECK-NEXT: tensors 'a' (steps 0 to 1) and 'b' (steps 1 to 3) share bytes while both are needed
module @net attributes {module.state = "TPU_ADDRESSED"} {
  module @net attributes {module.coeff_addr = 4294967296 : i64, module.coeff_size = 4096 : i64, module.neuron_addr = 4294971392 : i64, module.neuron_size = 4096 : i64} {
    func.func @main(%arg0: tensor<4x32xf32>) -> tensor<4x32xf32, 4294971424 : i64> {
      %0 = "top.Input"(%arg0) : (tensor<4x32xf32>) -> tensor<4x32xf32, 4294973440 : i64> loc("x")
      %1 = func.call @subfunc_0(%0) : (tensor<4x32xf32, 4294973440 : i64>) -> tensor<4x32xf32, 4294971424 : i64>
      return %1 : tensor<4x32xf32, 4294971424 : i64>
    }
    func.func @subfunc_0(%arg0: tensor<4x32xf32, 4294973440 : i64> loc("x")) -> tensor<4x32xf32, 4294971424 : i64> {
      %0 = "tpu.Relu"(%arg0) : (tensor<4x32xf32, 4294973440 : i64>) -> tensor<4x32xf32, 4294971392 : i64> loc("a")
      %1 = "tpu.Relu"(%0) : (tensor<4x32xf32, 4294971392 : i64>) -> tensor<4x32xf32, 4294971424 : i64> loc("b")
      return %1 : tensor<4x32xf32, 4294971424 : i64>
    }
  }
}
