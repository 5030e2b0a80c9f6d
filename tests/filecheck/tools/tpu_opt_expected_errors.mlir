// RUN: tpu-opt %s --split-input-file --verify-diagnostics --convert-top-to-tpu="mode=F16 chip=bm1684x" | filecheck %s
// RUN: not tpu-opt %s --split-input-file 2>&1 | filecheck %s --check-prefix=CARET

// What went wrong as announced leaves no output; what is right does.
// CHECK: module @right
// CHECK-NOT: {{top\.|module @refused}}

// CARET: error: {{.*}}tpu_opt_expected_errors.mlir:14:8: the input is wrong: 'top.Relu' "r": Expected 1 operand, but got 0
// CARET-NEXT:   %0 = "top.Relu"() : () -> tensor<4xf32> loc("r")
// CARET-NEXT:        ^^^^^^^^^^
module {
  // All that is wrong is found, not only what comes first.
  // expected-error@+1 {{'top.Relu' "r": Expected 1 operand, but got 0}}
  %0 = "top.Relu"() : () -> tensor<4xf32> loc("r")
  // expected-error-re@below {{Expected {{[0-9]}} operand}}
  %1 = "top.GELU"() : () -> tensor<4xf32> loc("g")
}

// -----

module {
  %0 = "top.None"() : () -> tensor<x> // expected-error {{Expected shape type}}
}

// -----

// A pass names the op that it cannot take, which is on this line.
module @refused attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "top.Input"(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc("x")
    // expected-error @+1 {{top.Nms}}
    %1 = "top.Nms"(%0, %0) {center_point_box = 0 : i64, max_output_size = 4 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("boxes")
    return %1 : tensor<4xf32>
  }
}

// -----

module @right attributes {module.state = "TOP_F32"} {
}
