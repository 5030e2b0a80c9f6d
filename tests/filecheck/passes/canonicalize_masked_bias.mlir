// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// A mask that is chosen in place of a bias stands beside it: of as many numbers as are LARGE.
func.func @hidden(%arg_s: tensor<64x1x128x128xf32>, %arg_m: tensor<1x1x128x128xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %s = "top.Input"(%arg_s) : (tensor<64x1x128x128xf32>) -> tensor<64x1x128x128xf32> loc("s")
  %m = "top.Input"(%arg_m) : (tensor<1x1x128x128xf32>) -> tensor<1x1x128x128xf32> loc("m")
  %b = "top.Weight"() : () -> tensor<64x1x1x1xf32> loc("random_64x1x1x1")
  %w = "top.Where"(%m, %b, %none) {x_is_const = false, y_is_const = true, y_const_val = -3.0e38 : f64} : (tensor<1x1x128x128xf32>, tensor<64x1x1x1xf32>, none) -> tensor<*xf32> loc("w")
  %a = "top.Add"(%s, %w) : (tensor<64x1x128x128xf32>, tensor<*xf32>) -> tensor<*xf32> loc("a")
  %p = "top.Softmax"(%a) {axis = 3 : si32} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  return %p : tensor<*xf32>
}


// CHECK-LABEL: func.func @hidden
// CHECK-DAG: [[B:%.*]] = "top.Weight"
// CHECK-DAG: [[W:%.*]] = "top.Where"({{.*}}) {{{.*}}x_const_val = 0.000000e+00 : f64, x_is_const = true, y_const_val = -3.000000e+38 : f64, y_is_const = true} {{.*}} -> tensor<1x1x128x128xf32>
// CHECK: [[A:%.*]] = "top.Add"({{%.*}}, [[B]])
// CHECK: "top.Add"([[A]], [[W]])

// -----

// The condition may tell what is hidden.
func.func @shown(%arg_s: tensor<64x1x128x128xf32>, %arg_m: tensor<1x1x128x128xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %s = "top.Input"(%arg_s) : (tensor<64x1x128x128xf32>) -> tensor<64x1x128x128xf32> loc("s")
  %m = "top.Input"(%arg_m) : (tensor<1x1x128x128xf32>) -> tensor<1x1x128x128xf32> loc("m")
  %b = "top.Weight"() : () -> tensor<64x1x1x1xf32> loc("random_64x1x1x1")
  %w = "top.Where"(%m, %none, %b) {x_is_const = true, y_is_const = false, x_const_val = -3.0e38 : f64} : (tensor<1x1x128x128xf32>, none, tensor<64x1x1x1xf32>) -> tensor<*xf32> loc("w")
  %a = "top.Add"(%s, %w) : (tensor<64x1x128x128xf32>, tensor<*xf32>) -> tensor<*xf32> loc("a")
  %p = "top.Softmax"(%a) {axis = 3 : si32} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  return %p : tensor<*xf32>
}


// CHECK-LABEL: func.func @shown
// CHECK-DAG: [[B:%.*]] = "top.Weight"
// CHECK-DAG: [[W:%.*]] = "top.Where"({{.*}}) {{{.*}}x_const_val = -3.000000e+38 : f64, x_is_const = true, y_const_val = 0.000000e+00 : f64, y_is_const = true} {{.*}} -> tensor<1x1x128x128xf32>
// CHECK: [[A:%.*]] = "top.Add"({{%.*}}, [[B]])
// CHECK: "top.Add"([[A]], [[W]])

// -----

// With a row less it may stay on the chip for all layers.
func.func @small(%arg_s: tensor<64x1x127x128xf32>, %arg_m: tensor<1x1x127x128xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %s = "top.Input"(%arg_s) : (tensor<64x1x127x128xf32>) -> tensor<64x1x127x128xf32> loc("s")
  %m = "top.Input"(%arg_m) : (tensor<1x1x127x128xf32>) -> tensor<1x1x127x128xf32> loc("m")
  %b = "top.Weight"() : () -> tensor<64x1x1x1xf32> loc("random_64x1x1x1")
  %w = "top.Where"(%m, %b, %none) {x_is_const = false, y_is_const = true, y_const_val = -3.0e38 : f64} : (tensor<1x1x127x128xf32>, tensor<64x1x1x1xf32>, none) -> tensor<*xf32> loc("w")
  %a = "top.Add"(%s, %w) : (tensor<64x1x127x128xf32>, tensor<*xf32>) -> tensor<*xf32> loc("a")
  %p = "top.Softmax"(%a) {axis = 3 : si32} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  return %p : tensor<*xf32>
}


// CHECK-LABEL: func.func @small
// CHECK: "top.Where"({{.*}} -> tensor<64x1x127x128xf32>

// -----

// A number that does not absorb the bias is another one with it.
func.func @number(%arg_s: tensor<64x1x128x128xf32>, %arg_m: tensor<1x1x128x128xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %s = "top.Input"(%arg_s) : (tensor<64x1x128x128xf32>) -> tensor<64x1x128x128xf32> loc("s")
  %m = "top.Input"(%arg_m) : (tensor<1x1x128x128xf32>) -> tensor<1x1x128x128xf32> loc("m")
  %b = "top.Weight"() : () -> tensor<64x1x1x1xf32> loc("random_64x1x1x1")
  %w = "top.Where"(%m, %b, %none) {x_is_const = false, y_is_const = true, y_const_val = -1.0e4 : f64} : (tensor<1x1x128x128xf32>, tensor<64x1x1x1xf32>, none) -> tensor<*xf32> loc("w")
  %a = "top.Add"(%s, %w) : (tensor<64x1x128x128xf32>, tensor<*xf32>) -> tensor<*xf32> loc("a")
  %p = "top.Softmax"(%a) {axis = 3 : si32} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  return %p : tensor<*xf32>
}


// CHECK-LABEL: func.func @number
// CHECK: "top.Where"({{.*}} -> tensor<64x1x128x128xf32>

// -----

// What is no score may be compared.
func.func @read(%arg_s: tensor<64x1x128x128xf32>, %arg_m: tensor<1x1x128x128xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %s = "top.Input"(%arg_s) : (tensor<64x1x128x128xf32>) -> tensor<64x1x128x128xf32> loc("s")
  %m = "top.Input"(%arg_m) : (tensor<1x1x128x128xf32>) -> tensor<1x1x128x128xf32> loc("m")
  %b = "top.Weight"() : () -> tensor<64x1x1x1xf32> loc("random_64x1x1x1")
  %w = "top.Where"(%m, %b, %none) {x_is_const = false, y_is_const = true, y_const_val = -3.0e38 : f64} : (tensor<1x1x128x128xf32>, tensor<64x1x1x1xf32>, none) -> tensor<*xf32> loc("w")
  %a = "top.Add"(%s, %w) : (tensor<64x1x128x128xf32>, tensor<*xf32>) -> tensor<*xf32> loc("a")
  %p = "top.Abs"(%a) : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  return %p : tensor<*xf32>
}


// CHECK-LABEL: func.func @read
// CHECK: "top.Where"({{.*}} -> tensor<64x1x128x128xf32>
