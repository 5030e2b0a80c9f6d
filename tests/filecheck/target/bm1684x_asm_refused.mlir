// RUN: not tpu-opt %s -t bm1684x-asm 2>&1 | filecheck %s
// RUN: not tpu-opt %s -t 'bm1684x-asm{chip="none.toml"}' 2>&1 | filecheck %s --check-prefix=CHIP

// CHECK: error: the module has no 'module.coeff_addr': run --address-assign first
// CHIP: error: no chip 'none.toml'
module @net {
  module @net {
    func.func @subfunc_0(%arg0: tensor<4xf32> loc("x")) -> tensor<4xf32> {
      %0 = "tpu.Relu"(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc("y")
      return %0 : tensor<4xf32>
    }
  }
}
