// RUN: tpu-opt %s --split-input-file --convert-top-to-tpu="mode=F32 chip=bm1684x" | filecheck %s

// The 5 best of 20000 are in the 5 groups of neighbours whose best ones are best.
// CHECK-LABEL: module @long
// CHECK: [[TABLE:%[0-9]+]] = "tpu.Reshape"{{.*}} -> tensor<[[GROUPS:[0-9]+]]x[[SIZE:[0-9]+]]xf32> {{.*}}"y_groups_table"
// CHECK: "tpu.Reduce"{{.*}}axes = [3]{{.*}}"ReduceMax"
// CHECK: "tpu.Best"{{.*}}count = 5 : i64, largest = true{{.*}}values = false
// CHECK: "tpu.Best"{{.*}}largest = false{{.*}}sorted
// CHECK: "tpu.Gather"([[TABLE]], {{.*}} -> tensor<5x[[SIZE]]xf32>
// CHECK: "tpu.Best"({{.*}}, {{.*}}) {{.*}} : (tensor<1x1x[[LEFT:[0-9]+]]xf32>, tensor<1x1x[[LEFT]]xf32>) -> tensor<1x1x10xf32>
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

// A few of each row are found one after the other: the values, and behind them the places.
// CHECK-LABEL: module @few
// CHECK-NOT: "tpu.Rank
// CHECK: [[B:%[0-9]+]] = "tpu.Best"{{.*}}count = 3 : i64{{.*}} -> tensor<1x40x6xf32>
// CHECK: "tpu.Slice"([[B]]{{.*}}offset = [0, 0, 0]{{.*}} -> tensor<1x40x3xf32>
// CHECK: "tpu.Slice"([[B]]{{.*}}offset = [0, 0, 3]{{.*}} -> tensor<1x40x3xf32>
// CHECK-NOT: "tpu.Rank
// CHECK: return
module @few attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<40x64xf32>) -> (tensor<40x3xf32>, tensor<40x3xf32>) {
    %0 = "top.Input"(%arg0) : (tensor<40x64xf32>) -> tensor<40x64xf32> loc("x")
    %1, %2 = "top.TopK"(%0) {axis = 1 : i64, K = 3 : i64} : (tensor<40x64xf32>) -> (tensor<40x3xf32>, tensor<40x3xf32>) loc(fused["y", "places"])
    return %1, %2 : tensor<40x3xf32>, tensor<40x3xf32>
  }
}

// -----

// Many of 127 elements are ranked in DDR, 128 by an op of their own.
// CHECK-LABEL: module @short
// CHECK-NOT: "tpu.Rank"
// CHECK: "tpu.Where"
// CHECK: return
module @short attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x127xf32>) -> tensor<1x99xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x127xf32>) -> tensor<1x127xf32> loc("x")
    %1, %2 = "top.TopK"(%0) {axis = 1 : i64, K = 99 : i64} : (tensor<1x127xf32>) -> (tensor<1x99xf32>, none) loc(fused["y", "places"])
    return %1 : tensor<1x99xf32>
  }
}

// -----

// CHECK-LABEL: module @not_short
// CHECK: "tpu.Rank"
module @not_short attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x128xf32>) -> tensor<1x99xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x128xf32>) -> tensor<1x128xf32> loc("x")
    %1, %2 = "top.TopK"(%0) {axis = 1 : i64, K = 99 : i64} : (tensor<1x128xf32>) -> (tensor<1x99xf32>, none) loc(fused["y", "places"])
    return %1 : tensor<1x99xf32>
  }
}

// -----

// The first of the largest of a long row is the best one of it; the last one is looked for among
// all.
// CHECK-LABEL: module @first
// CHECK: "tpu.Gather"
// CHECK: "tpu.Best"({{.*}}values = false
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
