// RUN: tpu-opt %s --processor-assign="chip=bm1684x mode=F32 addr_mode=io_alone" --subnet-divide --address-assign --verify-addresses | filecheck %s
// RUN: tpu-opt %s --processor-assign="chip=bm1684x mode=F32 addr_mode=io_reloc" 2>&1 | filecheck %s --check-prefix=RELOC

// Inputs and outputs lie in front, each with bytes of its own; `a` behind them.
// CHECK: module.addr_mode = "io_alone"
// CHECK: module.io_addr = 4294967296 : i64, module.io_size = 8192 : i64, module.neuron_addr = 4294975488 : i64, module.neuron_size = 4096 : i64
// CHECK: func.func @subfunc_0(%arg0: tensor<32xf32, 4294967296 : i64>
// CHECK-NEXT: "tpu.Relu"{{.*}} -> tensor<32xf32, 4294975488 : i64>
// CHECK-NEXT: "tpu.Relu"{{.*}} -> tensor<32xf32, 4294971392 : i64>
// RELOC: note: addr_mode io_reloc is taken as io_alone: a program's arena is one piece
module @net attributes {module.state = "TPU_REORDERED"} {
  func.func @main(%arg0: tensor<32xf32>) -> tensor<32xf32> {
    %0 = "top.Input"(%arg0) : (tensor<32xf32>) -> tensor<32xf32> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<32xf32>) -> tensor<32xf32> loc("a")
    %2 = "tpu.Relu"(%1) : (tensor<32xf32>) -> tensor<32xf32> loc("b")
    return %2 : tensor<32xf32>
  }
}
