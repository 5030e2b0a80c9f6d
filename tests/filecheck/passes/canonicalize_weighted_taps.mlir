// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// Both channels share the factors of each tap: shifted images times these, added up in halves.
func.func @taps(%x: tensor<1x2x9x9xf32>, %f: tensor<1x1x4x8x8xf32>) -> tensor<*xf32> {
  %i = "top.Weight"() : () -> tensor<2x8xf32> loc("windows_2x8")
  %0 = "top.Input"(%x) {do_preprocess = false} : (tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32> loc("x")
  %1 = "top.Input"(%f) {do_preprocess = false} : (tensor<1x1x4x8x8xf32>) -> tensor<1x1x4x8x8xf32> loc("f")
  %2 = "top.Gather"(%0, %i) {axis = 2 : si32} : (tensor<1x2x9x9xf32>, tensor<2x8xf32>) -> tensor<*xf32> loc("rows")
  %3 = "top.Gather"(%2, %i) {axis = 4 : si32} : (tensor<*xf32>, tensor<2x8xf32>) -> tensor<*xf32> loc("columns")
  %4 = "top.Permute"(%3) {order = [0, 1, 2, 4, 3, 5]} : (tensor<*xf32>) -> tensor<*xf32> loc("turned")
  %5 = "top.Reshape"(%4) {shape = [1, 2, 4, 8, 8]} : (tensor<*xf32>) -> tensor<*xf32> loc("patches")
  %6 = "top.Mul"(%5, %1) : (tensor<*xf32>, tensor<1x1x4x8x8xf32>) -> tensor<*xf32> loc("m")
  %7 = "top.Reduce"(%6) {axes = [2], keepdims = false, mode = "ReduceSum"} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %7 : tensor<*xf32>
}

// CHECK-LABEL: func.func @taps
// CHECK: "top.Reshape"{{.*}} -> tensor<1x4x8x8xf32>
// CHECK-NEXT: [[A:%.*]] = "top.Slice"{{.*}}ends = [1, 2, 8, 8]{{.*}}offset = [0, 0, 0, 0]
// CHECK-NEXT: [[F:%.*]] = "top.Slice"{{.*}}offset = [0, 0, 0, 0]{{.*}} -> tensor<1x1x8x8xf32>
// CHECK-NEXT: [[P:%.*]] = "top.Mul"([[A]], [[F]])
// CHECK-NEXT: [[A:%.*]] = "top.Slice"{{.*}}ends = [1, 2, 8, 9]{{.*}}offset = [0, 0, 0, 1]
// CHECK-NEXT: [[F:%.*]] = "top.Slice"{{.*}}offset = [0, 1, 0, 0]{{.*}} -> tensor<1x1x8x8xf32>
// CHECK-NEXT: [[Q:%.*]] = "top.Mul"([[A]], [[F]])
// CHECK-NEXT: [[S:%.*]] = "top.Add"([[P]], [[Q]])
// CHECK-NEXT: "top.Slice"{{.*}}ends = [1, 2, 9, 8]{{.*}}offset = [0, 0, 1, 0]
// CHECK: "top.Slice"{{.*}}ends = [1, 2, 9, 9]{{.*}}offset = [0, 0, 1, 1]
// CHECK: [[T:%.*]] = "top.Add"
// CHECK-NEXT: "top.Add"([[S]], [[T]]){{.*}} -> tensor<1x2x8x8xf32>
// CHECK-NOT: "top.Gather"

// -----

// Sums over channels leave taps apart.
func.func @channels(%x: tensor<1x2x9x9xf32>, %f: tensor<1x2x1x8x8xf32>) -> tensor<*xf32> {
  %i = "top.Weight"() : () -> tensor<2x8xf32> loc("windows_2x8")
  %0 = "top.Input"(%x) {do_preprocess = false} : (tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32> loc("x")
  %1 = "top.Input"(%f) {do_preprocess = false} : (tensor<1x2x1x8x8xf32>) -> tensor<1x2x1x8x8xf32> loc("f")
  %2 = "top.Gather"(%0, %i) {axis = 2 : si32} : (tensor<1x2x9x9xf32>, tensor<2x8xf32>) -> tensor<*xf32> loc("rows")
  %3 = "top.Gather"(%2, %i) {axis = 4 : si32} : (tensor<*xf32>, tensor<2x8xf32>) -> tensor<*xf32> loc("columns")
  %4 = "top.Permute"(%3) {order = [0, 1, 2, 4, 3, 5]} : (tensor<*xf32>) -> tensor<*xf32> loc("turned")
  %5 = "top.Reshape"(%4) {shape = [1, 2, 4, 8, 8]} : (tensor<*xf32>) -> tensor<*xf32> loc("patches")
  %6 = "top.Mul"(%5, %1) : (tensor<*xf32>, tensor<1x2x1x8x8xf32>) -> tensor<*xf32> loc("m")
  %7 = "top.Reduce"(%6) {axes = [1], keepdims = false, mode = "ReduceSum"} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %7 : tensor<*xf32>
}

// CHECK-LABEL: func.func @channels
// CHECK: [[F:%.*]] = "top.Reshape"{{.*}} -> tensor<1x2x8x8xf32>
// CHECK: [[A:%.*]] = "top.Slice"{{.*}}offset = [0, 0, 0, 0]
// CHECK-NEXT: "top.Mul"([[A]], [[F]])
// CHECK: "top.Concat"{{.*}}axis = 1{{.*}} -> tensor<1x8x8x8xf32>
// CHECK-NEXT: "top.Weight"() : () -> tensor<4x8x1x1xf32>
// CHECK-NEXT: "top.Conv"{{.*}} -> tensor<1x4x8x8xf32>
// CHECK-NOT: "top.Reduce"

// -----

// The largest is no sum.
func.func @largest(%x: tensor<1x2x9x9xf32>, %f: tensor<1x1x4x8x8xf32>) -> tensor<*xf32> {
  %i = "top.Weight"() : () -> tensor<2x8xf32> loc("windows_2x8")
  %0 = "top.Input"(%x) {do_preprocess = false} : (tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32> loc("x")
  %1 = "top.Input"(%f) {do_preprocess = false} : (tensor<1x1x4x8x8xf32>) -> tensor<1x1x4x8x8xf32> loc("f")
  %2 = "top.Gather"(%0, %i) {axis = 2 : si32} : (tensor<1x2x9x9xf32>, tensor<2x8xf32>) -> tensor<*xf32> loc("rows")
  %3 = "top.Gather"(%2, %i) {axis = 4 : si32} : (tensor<*xf32>, tensor<2x8xf32>) -> tensor<*xf32> loc("columns")
  %4 = "top.Permute"(%3) {order = [0, 1, 2, 4, 3, 5]} : (tensor<*xf32>) -> tensor<*xf32> loc("turned")
  %5 = "top.Reshape"(%4) {shape = [1, 2, 4, 8, 8]} : (tensor<*xf32>) -> tensor<*xf32> loc("patches")
  %6 = "top.Mul"(%5, %1) : (tensor<*xf32>, tensor<1x1x4x8x8xf32>) -> tensor<*xf32> loc("m")
  %7 = "top.Reduce"(%6) {axes = [2], keepdims = false, mode = "ReduceMax"} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %7 : tensor<*xf32>
}

// CHECK-LABEL: func.func @largest
// CHECK: "top.Gather"
// CHECK: "top.Reduce"

// -----

// Factors that all pixels share are those of a convolution, no images.
func.func @all_pixels(%x: tensor<1x2x9x9xf32>, %f: tensor<1x1x4x1x1xf32>) -> tensor<*xf32> {
  %i = "top.Weight"() : () -> tensor<2x8xf32> loc("windows_2x8")
  %0 = "top.Input"(%x) {do_preprocess = false} : (tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32> loc("x")
  %1 = "top.Input"(%f) {do_preprocess = false} : (tensor<1x1x4x1x1xf32>) -> tensor<1x1x4x1x1xf32> loc("f")
  %2 = "top.Gather"(%0, %i) {axis = 2 : si32} : (tensor<1x2x9x9xf32>, tensor<2x8xf32>) -> tensor<*xf32> loc("rows")
  %3 = "top.Gather"(%2, %i) {axis = 4 : si32} : (tensor<*xf32>, tensor<2x8xf32>) -> tensor<*xf32> loc("columns")
  %4 = "top.Permute"(%3) {order = [0, 1, 2, 4, 3, 5]} : (tensor<*xf32>) -> tensor<*xf32> loc("turned")
  %5 = "top.Reshape"(%4) {shape = [1, 2, 4, 8, 8]} : (tensor<*xf32>) -> tensor<*xf32> loc("patches")
  %6 = "top.Mul"(%5, %1) : (tensor<*xf32>, tensor<1x1x4x1x1xf32>) -> tensor<*xf32> loc("m")
  %7 = "top.Reduce"(%6) {axes = [2], keepdims = false, mode = "ReduceSum"} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %7 : tensor<*xf32>
}

// CHECK-LABEL: func.func @all_pixels
// CHECK: "top.Gather"
// CHECK: "top.Reduce"
