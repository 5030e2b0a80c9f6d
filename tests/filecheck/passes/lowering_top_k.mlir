// RUN: tpu-opt %s --split-input-file --convert-top-to-tpu="mode=F32 chip=bm1684x" | filecheck %s

// The 5 best of 20000 are in the 5 groups of neighbours whose best ones are best.
// CHECK-LABEL: module @long
// CHECK: [[TABLE:%[0-9]+]] = "tpu.Reshape"{{.*}} -> tensor<[[GROUPS:[0-9]+]]x[[SIZE:[0-9]+]]xf32> {{.*}}"y_groups_table"
// CHECK: "tpu.Reduce"{{.*}}axes = [3]{{.*}}"ReduceMax"
// CHECK: "tpu.Rank"{{.*}}largest = true
// CHECK: "tpu.Rank"{{.*}}largest = false{{.*}}order"
// CHECK: "tpu.Gather"([[TABLE]], {{.*}} -> tensor<5x[[SIZE]]xf32>
// CHECK: "tpu.Rank"{{.*}}best_{{.*}}ranks"
// CHECK: "tpu.Ranked"{{.*}}value"
// CHECK: "tpu.Ranked"{{.*}}index"
module @long attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x20000xf32>) -> (tensor<1x5xf32>, tensor<1x5xf32>) {
    %0 = "top.Input"(%arg0) : (tensor<1x20000xf32>) -> tensor<1x20000xf32> loc("x")
    %1, %2 = "top.TopK"(%0) {axis = 1 : i64, K = 5 : i64} : (tensor<1x20000xf32>) -> (tensor<1x5xf32>, tensor<1x5xf32>) loc(fused["y", "places"])
    return %1, %2 : tensor<1x5xf32>, tensor<1x5xf32>
  }
}

// -----

// Most of a row is wanted: all pairs.
// CHECK-LABEL: module @most
// CHECK-NOT: "tpu.Gather"
// CHECK: "tpu.Rank"(
// CHECK-COUNT-2: "tpu.Ranked"(
module @most attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x2000xf32>) -> (tensor<1x1500xf32>, tensor<1x1500xf32>) {
    %0 = "top.Input"(%arg0) : (tensor<1x2000xf32>) -> tensor<1x2000xf32> loc("x")
    %1, %2 = "top.TopK"(%0) {axis = 1 : i64, K = 1500 : i64} : (tensor<1x2000xf32>) -> (tensor<1x1500xf32>, tensor<1x1500xf32>) loc(fused["y", "places"])
    return %1, %2 : tensor<1x1500xf32>, tensor<1x1500xf32>
  }
}

// -----

// Along another axis than the last one: rows first, and results back.
// CHECK-LABEL: module @turned
// CHECK: "tpu.Permute"{{.*}}order = [0, 2, 1]{{.*}} -> tensor<2x3x200xf32>
// CHECK: "tpu.Rank"{{.*}} -> tensor<6x200xf32>
// CHECK: "tpu.Permute"{{.*}}order = [0, 2, 1]{{.*}} -> tensor<2x150x3xf32>
module @turned attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<2x200x3xf32>) -> tensor<2x150x3xf32> {
    %0 = "top.Input"(%arg0) : (tensor<2x200x3xf32>) -> tensor<2x200x3xf32> loc("x")
    %1, %2 = "top.TopK"(%0) {axis = 1 : i64, K = 150 : i64} : (tensor<2x200x3xf32>) -> (tensor<2x150x3xf32>, none) loc(fused["y", "places"])
    return %1 : tensor<2x150x3xf32>
  }
}

// -----

// 127 elements are ranked in DDR, 128 by an op of their own.
// CHECK-LABEL: module @short
// CHECK-NOT: "tpu.Rank"
// CHECK: "tpu.Where"
// CHECK: return
module @short attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x127xf32>) -> tensor<1x3xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x127xf32>) -> tensor<1x127xf32> loc("x")
    %1, %2 = "top.TopK"(%0) {axis = 1 : i64, K = 3 : i64} : (tensor<1x127xf32>) -> (tensor<1x3xf32>, none) loc(fused["y", "places"])
    return %1 : tensor<1x3xf32>
  }
}

// -----

// CHECK-LABEL: module @not_short
// CHECK: "tpu.Rank"
module @not_short attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x128xf32>) -> tensor<1x3xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x128xf32>) -> tensor<1x128xf32> loc("x")
    %1, %2 = "top.TopK"(%0) {axis = 1 : i64, K = 3 : i64} : (tensor<1x128xf32>) -> (tensor<1x3xf32>, none) loc(fused["y", "places"])
    return %1 : tensor<1x3xf32>
  }
}

// -----

// The first of the largest of a long row is the best one of it; the last one is looked for among
// all.
// CHECK-LABEL: module @first
// CHECK: "tpu.Gather"
// CHECK: "tpu.Ranked"
module @first attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x4096xf32>) -> tensor<1x1xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x4096xf32>) -> tensor<1x4096xf32> loc("x")
    %1, %2 = "top.Arg"(%0) {axis = 1 : i64, keepdims = true, mode = "ArgMax", select_last_index = false} : (tensor<1x4096xf32>) -> (tensor<1x1xf32>, none) loc(fused["y", "value"])
    return %1 : tensor<1x1xf32>
  }
}

// -----

// CHECK-LABEL: module @last
// CHECK-NOT: "tpu.Rank
// CHECK: "tpu.Where"
module @last attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x4096xf32>) -> tensor<1x1xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x4096xf32>) -> tensor<1x4096xf32> loc("x")
    %1, %2 = "top.Arg"(%0) {axis = 1 : i64, keepdims = true, mode = "ArgMax", select_last_index = true} : (tensor<1x4096xf32>) -> (tensor<1x1xf32>, none) loc(fused["y", "value"])
    return %1 : tensor<1x1xf32>
  }
}
