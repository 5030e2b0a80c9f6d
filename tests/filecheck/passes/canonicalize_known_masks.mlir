// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// All is chosen by a mask that says the same everywhere.
func.func @all_seen(%arg_x: tensor<1x4x4x4xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> loc("x")
  %m = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("ones_1x4x1x1")
  %w = "top.Where"(%m, %x, %none) {x_is_const = false, y_is_const = true, y_const_val = -3.0e38 : f64} : (tensor<1x4x1x1xf32>, tensor<1x4x4x4xf32>, none) -> tensor<*xf32> loc("w")
  %y = "top.Abs"(%w) : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @all_seen
// CHECK: [[X:%.*]] = "top.Input"
// CHECK-NEXT: "top.Abs"([[X]])

// -----

// Zeros choose the other branch.
func.func @none_seen(%arg_x: tensor<1x4x4x4xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> loc("x")
  %m = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("zeros_1x4x1x1")
  %w = "top.Where"(%m, %none, %x) {x_is_const = true, y_is_const = false, x_const_val = 1.0 : f64} : (tensor<1x4x1x1xf32>, none, tensor<1x4x4x4xf32>) -> tensor<*xf32> loc("w")
  %y = "top.Abs"(%w) : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @none_seen
// CHECK: [[X:%.*]] = "top.Input"
// CHECK-NEXT: "top.Abs"([[X]])

// -----

// What is chosen is a number: it stays.
func.func @number(%arg_x: tensor<1x4x4x4xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> loc("x")
  %m = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("zeros_1x4x1x1")
  %w = "top.Where"(%m, %x, %none) {x_is_const = false, y_is_const = true, y_const_val = 2.0 : f64} : (tensor<1x4x1x1xf32>, tensor<1x4x4x4xf32>, none) -> tensor<*xf32> loc("w")
  return %w : tensor<*xf32>
}

// CHECK-LABEL: func.func @number
// CHECK: "top.Where"

// -----

// What is chosen is repeated: it stays.
func.func @repeated(%arg_x: tensor<1x4x1x4xf32>, %arg_z: tensor<1x4x4x4xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x4x1x4xf32>) -> tensor<1x4x1x4xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> loc("z")
  %m = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("ones_1x4x1x1")
  %w = "top.Where"(%m, %x, %z) {x_is_const = false, y_is_const = false} : (tensor<1x4x1x1xf32>, tensor<1x4x1x4xf32>, tensor<1x4x4x4xf32>) -> tensor<*xf32> loc("w")
  return %w : tensor<*xf32>
}

// CHECK-LABEL: func.func @repeated
// CHECK: "top.Where"

// -----

// A mask of both stays.
func.func @some_seen(%arg_x: tensor<1x4x4x4xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> loc("x")
  %m = "top.Weight"() : () -> tensor<1x1x4x4xf32> loc("below_1x1x4x4")
  %w = "top.Where"(%m, %x, %none) {x_is_const = false, y_is_const = true, y_const_val = 2.0 : f64} : (tensor<1x1x4x4xf32>, tensor<1x4x4x4xf32>, none) -> tensor<*xf32> loc("w")
  return %w : tensor<*xf32>
}

// CHECK-LABEL: func.func @some_seen
// CHECK: "top.Where"

// -----

// A fill by a mask that holds nowhere is what it fills; inversed, by one that holds everywhere.
func.func @filled(%arg_x: tensor<1x4x4x4xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> loc("x")
  %m = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("zeros_1x4x1x1")
  %k = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("ones_1x4x1x1")
  %w = "top.MaskedFill"(%m, %x) {const_val = 2.0 : f64, inversed = false} : (tensor<1x4x1x1xf32>, tensor<1x4x4x4xf32>) -> tensor<*xf32> loc("w")
  %v = "top.MaskedFill"(%k, %w) {const_val = 2.0 : f64, inversed = true} : (tensor<1x4x1x1xf32>, tensor<*xf32>) -> tensor<*xf32> loc("v")
  %y = "top.MaskedFill"(%k, %v) {const_val = 2.0 : f64, inversed = false} : (tensor<1x4x1x1xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @filled
// CHECK: [[X:%.*]] = "top.Input"
// CHECK: "top.MaskedFill"({{%.*}}, [[X]])
// CHECK-NEXT: return

// -----

// Scores that a known mask hides are those with a weight added: each row has a key that is seen.
func.func @hidden(%arg_x: tensor<1x2x4x4xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("x")
  %m = "top.Weight"() : () -> tensor<1x1x4x4xf32> loc("upper_1x1x4x4")
  %w = "top.Where"(%m, %x, %none) {x_is_const = false, y_is_const = true, y_const_val = -3.0e38 : f64} : (tensor<1x1x4x4xf32>, tensor<1x2x4x4xf32>, none) -> tensor<*xf32> loc("w")
  %y = "top.Softmax"(%w) {axis = 3 : si32} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @hidden
// CHECK: [[X:%.*]] = "top.Input"
// CHECK: [[M:%.*]] = "top.Weight"{{.*}} -> tensor<1x1x4x4xf32>
// CHECK-NEXT: [[A:%.*]] = "top.Add"([[X]], [[M]])
// CHECK-NEXT: "top.Softmax"([[A]])

// -----

// A row from which all keys are hidden gives them equal shares: it stays.
func.func @hidden_row(%arg_x: tensor<1x2x4x4xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("x")
  %m = "top.Weight"() : () -> tensor<1x1x4x4xf32> loc("below_1x1x4x4")
  %w = "top.Where"(%m, %x, %none) {x_is_const = false, y_is_const = true, y_const_val = -3.0e38 : f64} : (tensor<1x1x4x4xf32>, tensor<1x2x4x4xf32>, none) -> tensor<*xf32> loc("w")
  %y = "top.Softmax"(%w) {axis = 3 : si32} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @hidden_row
// CHECK: "top.Where"

// -----

// A number that scores may have is none that hides.
func.func @near(%arg_x: tensor<1x2x4x4xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("x")
  %m = "top.Weight"() : () -> tensor<1x1x4x4xf32> loc("upper_1x1x4x4")
  %w = "top.Where"(%m, %x, %none) {x_is_const = false, y_is_const = true, y_const_val = -5.9e4 : f64} : (tensor<1x1x4x4xf32>, tensor<1x2x4x4xf32>, none) -> tensor<*xf32> loc("w")
  %y = "top.Softmax"(%w) {axis = 3 : si32} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @near
// CHECK: "top.Where"
