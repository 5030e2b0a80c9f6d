// RUN: tpu-opt %s --pass-pipeline='builtin.module(top-pipeline, func.func(cse), tpu-pipeline{mode=F16 chip=bm1684x})' --print-ir-after=canonicalize,cse 2>%t | filecheck %s
// RUN: filecheck %s --check-prefix=DUMPS < %t
// RUN: tpu-opt %s --top-pipeline --tpu-pipeline="mode=f16" --final-pipeline="disable=layer-group" | xdsl-opt -t bm1684x-asm | filecheck %s --check-prefix=ASM
// RUN: tpu-opt %s -p 'top-pipeline,cse' | xdsl-opt | filecheck %s --check-prefix=PLAIN
// RUN: tpu-opt --list-passes | filecheck %s --check-prefix=LIST
// RUN: not tpu-opt %s --pass-pipeline='final-pipline' 2>&1 | filecheck %s --check-prefix=NEAR
// RUN: not tpu-opt %s --final-pipeline="mood=F16" 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not tpu-opt %s --pass-pipeline='builtin.module(cse' 2>&1 | filecheck %s --check-prefix=OPEN
// RUN: not tpu-opt %s --print-ir-after=cze 2>&1 | filecheck %s --check-prefix=AFTER

// Locations stand in place, which plain xdsl-opt reads.
// CHECK: "tpu.Active"
// CHECK-SAME: loc("y")
// CHECK-NOT: #loc

// Each of the two stages has canonicalize.
// DUMPS: IR Dump After CanonicalizePass (canonicalize)
// DUMPS: IR Dump After CommonSubexpressionElimination (cse)
// DUMPS: IR Dump After CanonicalizePass (canonicalize)
// DUMPS-NOT: IR Dump

// ASM: .program "m"
// ASM: tpu.Active "y

// PLAIN: "top.GELU"

// LIST: passes of xdsl-tpu
// LIST: --layer-group
// LIST: pipelines, wherever a pass can be named:
// LIST: --final-pipeline the passes of stage final: strip-io-quant
// LIST: mode=F16 chip=bm1684x calibration_table= quantize_table= disable=

// NEAR: error: unknown pass 'final-pipline'; did you mean 'final-pipeline'
// OPTION: error: pipeline 'final-pipeline' has no option 'mood' (it has mode, chip
// OPEN: error: pass pipeline 'builtin.module(cse': ')' is missing at the end
// AFTER: error: unknown pass 'cze'; did you mean
module @m attributes {module.FLOPs = 0 : i64, module.platform = "ONNX", module.state = "TOP_F32", module.weight_file = "none.npz"} {
  func.func @main(%arg0: tensor<1x8x4x4xf32> loc(unknown)) -> tensor<1x8x4x4xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> loc("x")
    %1 = "top.GELU"(%0) {approx_mode = "normal"} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> loc("y")
    return %1 : tensor<1x8x4x4xf32>
  }
}
