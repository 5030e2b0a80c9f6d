// RUN: tpu-opt %s | filecheck %s
// RUN: cat %s | tpu-opt - | filecheck %s
// RUN: tpu-opt %s -o %t && cat %t | filecheck %s
// RUN: tpu-opt --cse %s --no-locations | filecheck %s --check-prefix=BARE
// RUN: tpu-opt %s -p 'cse' --canonicalize --dce -t mlir --print-ir-after-all 2>&1 | filecheck %s --check-prefix=ORDER
// RUN: tpu-opt %s --timing 2>&1 | filecheck %s --check-prefix=TIMING
// RUN: tpu-opt --help | filecheck %s --check-prefix=HELP

// Names come back as aliases, numbered in the order of use.
// CHECK: #loc = loc(unknown)
// CHECK-NEXT: module @m {
// CHECK: %0 = "top.Input"(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc(#loc1)
// CHECK: %1 = "top.Relu"(%0)
// CHECK-SAME: loc(#loc2)
// CHECK: #loc1 = loc("x")
// CHECK-NEXT: #loc2 = loc("y")

// A bare pass flag does not take the file behind it for its options.
// BARE-NOT: loc(
// BARE: %1 = "top.Relu"(%0)
// BARE-NOT: loc(

// Passes run in the order of the command line, however they are spelled.
// ORDER: IR Dump After CommonSubexpressionElimination (cse)
// ORDER: IR Dump After CanonicalizePass (canonicalize)
// ORDER: IR Dump After DeadCodeElimination (dce)

// TIMING: seconds share runs step
// TIMING: parse
// TIMING: total

// HELP: passes of xdsl-tpu
// HELP: --canonicalize Apply all canonicalisation patterns
// HELP: --shape-infer Infer all shapes
// HELP: passes of xDSL and its plugins
// HELP: cse
#loc = loc(unknown)
module @m {
  func.func @main(%arg0: tensor<4xf32> loc(unknown)) -> tensor<4xf32> {
    %0 = "top.Input"(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc(#loc1)
    %1 = "top.Relu"(%0) {relu_limit = -1.000000e+00 : f64} : (tensor<4xf32>) -> tensor<4xf32> loc(#loc2)
    return %1 : tensor<4xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("x")
#loc2 = loc("y")
