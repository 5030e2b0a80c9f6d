// RUN: tpu-opt %s --split-input-file --processor-assign="chip=bm1684x mode=F32" --subnet-divide --address-assign --verify-addresses | filecheck %s

// Inputs are the first pages of the arena, and no other value is ever put there, though nobody
// needs `x` when `b` is computed.
// CHECK-LABEL: module @kept
// CHECK-SAME: module.addr_mode = "basic"
// CHECK: module.coeff_size = 0 : i64
// CHECK-SAME: module.neuron_addr = 4294967296 : i64, module.neuron_size = 12288 : i64
// CHECK-NOT: io_addr
// CHECK: func.func @subfunc_0(%arg0: tensor<32xf32, 4294967296 : i64>{{.*}}, %arg1: tensor<32xf32, 4294971392 : i64>
// CHECK-NEXT: "tpu.Relu"(%arg0){{.*}} -> tensor<32xf32, 4294975616 : i64>
// CHECK-NEXT: "tpu.Add"({{.*}} -> tensor<32xf32, 4294975488 : i64>
module @kept attributes {module.state = "TPU_REORDERED", module.kept_inputs = "true"} {
  func.func @main(%arg0: tensor<32xf32>, %arg1: tensor<32xf32>) -> tensor<32xf32> {
    %0 = "top.Input"(%arg0) : (tensor<32xf32>) -> tensor<32xf32> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<32xf32>) -> tensor<32xf32> loc("y")
    %2 = "tpu.Relu"(%0) : (tensor<32xf32>) -> tensor<32xf32> loc("a")
    %3 = "tpu.Add"(%2, %1) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32> loc("b")
    return %3 : tensor<32xf32>
  }
}

// -----

// Without the attribute the result takes the place of the first input.
// CHECK-LABEL: module @others
// CHECK: module.neuron_size = 4096 : i64
module @others attributes {module.state = "TPU_REORDERED"} {
  func.func @main(%arg0: tensor<32xf32>, %arg1: tensor<32xf32>) -> tensor<32xf32> {
    %0 = "top.Input"(%arg0) : (tensor<32xf32>) -> tensor<32xf32> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<32xf32>) -> tensor<32xf32> loc("y")
    %2 = "tpu.Relu"(%0) : (tensor<32xf32>) -> tensor<32xf32> loc("a")
    %3 = "tpu.Add"(%2, %1) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32> loc("b")
    return %3 : tensor<32xf32>
  }
}
