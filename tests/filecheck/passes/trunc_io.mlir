// RUN: tpu-opt %s --trunc-io="inputs=a outputs=b,c" | filecheck %s
// RUN: tpu-opt %s --trunc-layer="cutLocs=a" | filecheck %s --check-prefix=LAYER
// RUN: tpu-opt %s --trunc-io | filecheck %s --check-prefix=SAME
// RUN: not tpu-opt %s --trunc-io="inputs=aa" 2>&1 | filecheck %s --check-prefix=UNKNOWN

// CHECK: func.func @main(%arg0: tensor<4xf32>{{.*}}) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: %0 = "top.Input"(%arg0){{.*}} loc("a")
// CHECK-NEXT: %1 = "top.Relu"(%0){{.*}} loc("b")
// CHECK-NEXT: %2 = "top.Abs"(%1){{.*}} loc("c")
// CHECK-NEXT: return %1, %2

// LAYER: %0 = "top.Input"(%arg0){{.*}} loc("x")
// LAYER-NEXT: %1 = "top.Relu"(%0){{.*}} loc("a")
// LAYER-NEXT: return %1

// SAME: loc("c")
// SAME: return

// UNKNOWN: error: trunc-io: no tensor is called 'aa'; did you mean 'a'?
module {
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "top.Input"(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc("x")
    %1 = "top.Relu"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("a")
    %2 = "top.Relu"(%1) : (tensor<4xf32>) -> tensor<4xf32> loc("b")
    %3 = "top.Abs"(%2) : (tensor<4xf32>) -> tensor<4xf32> loc("c")
    %4 = "top.Abs"(%3) : (tensor<4xf32>) -> tensor<4xf32> loc("d")
    return %4 : tensor<4xf32>
  }
}
