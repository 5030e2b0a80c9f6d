// RUN: tpu-opt %s --show-address --net_statistic --codegen="model_file=%t.bmodel" 2>&1 >%t.out | filecheck %s
// RUN: filecheck %s --check-prefix=SAME < %t.out
// RUN: tpu-run %t.bmodel --quiet
// RUN: echo '{"new_input_names": ["a"], "new_output_names": ["b"]}' > %t.json
// RUN: tpu-opt %s --cut-final-mlir="config_file=%t.json" | filecheck %s --check-prefix=CUT
// RUN: echo '{"new_outputs": ["b"]}' > %t.json
// RUN: not tpu-opt %s --cut-final-mlir="config_file=%t.json" 2>&1 | filecheck %s --check-prefix=KEY
// RUN: not tpu-opt %s --cut-final-mlir 2>&1 | filecheck %s --check-prefix=FILE
// RUN: not tpu-opt %s --codegen 2>&1 | filecheck %s --check-prefix=MODEL
// RUN: not tpu-opt %s --codegen="model_file=%t.none/x.bmodel" 2>&1 | filecheck %s --check-prefix=FOLDER

// CHECK: 0x100000000 .. 0x1000000ff  256 bytes  tpu.Relu   b
// CHECK-NEXT: 0x100001000 .. 0x1000010ff  256 bytes  input     x
// CHECK-NEXT: 0x100001000 .. 0x1000010ff  256 bytes  tpu.Relu  c
// CHECK-NEXT: 0x100001100 .. 0x1000011ff  256 bytes  tpu.Relu  a
// CHECK: tpu.Relu  3
// SAME: func.func @subfunc_0

// The arena grows by what the cut tensors need; what nothing needs goes.
// CUT: module.inputs = ["a"]
// CUT-SAME: module.outputs = ["b"]
// CUT: module.neuron_size = 12288 : i64
// CUT: func.func @main(%arg0: tensor<64xf32, [[A:[0-9]+]] : i64>{{.*}}) -> tensor<64xf32, [[B:[0-9]+]] : i64>
// CUT-NEXT: "top.Input"(%arg0){{.*}} loc("a")
// CUT: func.func @subfunc_0(%arg0: tensor<64xf32, [[A]] : i64> loc("a")) -> tensor<64xf32, [[B]] : i64>
// CUT-NEXT: "tpu.Relu"(%arg0)
// CUT-NEXT: return

// KEY: unknown key 'new_outputs'; did you mean 'new_output_names' or 'new_input_names'?
// FILE: error: cut-final-mlir: give the names to cut at, config_file=X.json
// MODEL: error: codegen: give the file to write, model_file=X.bmodel
// FOLDER: the folder does not exist
module @m attributes {module.chip = "bm1684x", module.inputs = ["x"], module.mode = "F32", module.outputs = ["c"], module.state = "TPU_ADDRESSED"} {
  module @m attributes {module.coeff_addr = 4294967296 : i64, module.coeff_size = 0 : i64, module.neuron_addr = 4294967296 : i64, module.neuron_size = 8192 : i64} {
    func.func @main(%arg0: tensor<64xf32, 4294971392 : i64>) -> tensor<64xf32, 4294971392 : i64> {
      %0 = "top.Input"(%arg0) : (tensor<64xf32, 4294971392 : i64>) -> tensor<64xf32, 4294971392 : i64> loc("x")
      %1 = call @subfunc_0(%0) : (tensor<64xf32, 4294971392 : i64>) -> tensor<64xf32, 4294971392 : i64>
      return %1 : tensor<64xf32, 4294971392 : i64>
    }
    func.func @subfunc_0(%arg0: tensor<64xf32, 4294971392 : i64> loc("x")) -> tensor<64xf32, 4294971392 : i64> attributes {id = 0 : i64, mode = #tpu<run_mode TPU_STATIC>, next_index = array<i32: -1>} {
      %0 = "tpu.Relu"(%arg0) : (tensor<64xf32, 4294971392 : i64>) -> tensor<64xf32, 4294971648 : i64> loc("a")
      %1 = "tpu.Relu"(%0) : (tensor<64xf32, 4294971648 : i64>) -> tensor<64xf32, 4294967296 : i64> loc("b")
      %2 = "tpu.Relu"(%1) : (tensor<64xf32, 4294967296 : i64>) -> tensor<64xf32, 4294971392 : i64> loc("c")
      return %2 : tensor<64xf32, 4294971392 : i64>
    }
  }
}
