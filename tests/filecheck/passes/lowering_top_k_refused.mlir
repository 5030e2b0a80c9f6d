// RUN: not tpu-opt %s --convert-top-to-tpu="mode=F32 chip=bm1684x" 2>&1 | filecheck %s

// CHECK: 1 ops cannot be lowered to tpu:
// CHECK-NEXT: top.TopK 'y': 60000 of 70000 elements in each of 1 rows are too many to rank
// CHECK-NOT: Traceback
module @net attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x70000xf32>) -> tensor<1x60000xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x70000xf32>) -> tensor<1x70000xf32> loc("x")
    %1, %2 = "top.TopK"(%0) {axis = 1 : i64, K = 60000 : i64} : (tensor<1x70000xf32>) -> (tensor<1x60000xf32>, none) loc(fused["y", "places"])
    return %1 : tensor<1x60000xf32>
  }
}
