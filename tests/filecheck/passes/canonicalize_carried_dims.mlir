// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// An index that counts its own position is a dimension that is written whole.

func.func @written(%arg_x: tensor<4x9xf32>, %arg_i: tensor<1x7xf32>, %arg_u: tensor<4x7xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x9xf32>) -> tensor<4x9xf32> loc("x")
  %i = "top.Input"(%arg_i) : (tensor<1x7xf32>) -> tensor<1x7xf32> loc("i")
  %u = "top.Input"(%arg_u) : (tensor<4x7xf32>) -> tensor<4x7xf32> loc("u")
  %w = "top.Weight"() : () -> tensor<4x1xf32> loc("windows_4x1")
  %wt = "top.Tile"(%w) {tile = [1, 7]} : (tensor<4x1xf32>) -> tensor<*xf32> loc("wt")
  %ws = "top.Unsqueeze"(%wt) {axes = [2]} : (tensor<*xf32>) -> tensor<*xf32> loc("ws")
  %it = "top.Tile"(%i) {tile = [4, 1]} : (tensor<1x7xf32>) -> tensor<*xf32> loc("it")
  %is = "top.Unsqueeze"(%it) {axes = [2]} : (tensor<*xf32>) -> tensor<*xf32> loc("is")
  %c = "top.Concat"(%ws, %is) {axis = 2 : si32} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("c")
  %z = "top.ScatterND"(%x, %c, %u) {reduction = 1 : i32} : (tensor<4x9xf32>, tensor<*xf32>, tensor<4x7xf32>) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @written
// CHECK-DAG: [[X:%.*]] = "top.Permute"({{.*}}order = [1, 0]{{.*}}tensor<4x9xf32>) -> tensor<9x4xf32>
// CHECK-DAG: [[U:%.*]] = "top.Permute"({{.*}}order = [1, 0]{{.*}}tensor<4x7xf32>) -> tensor<7x4xf32>
// CHECK-DAG: [[I:%.*]] = "top.Reshape"({{.*}}-> tensor<7x1xf32>
// CHECK-NOT: top.Tile
// CHECK: [[Z:%.*]] = "top.ScatterND"([[X]], [[I]], [[U]]) {reduction = 1{{.*}}-> tensor<9x4xf32>
// CHECK-NEXT: "top.Permute"([[Z]]){{.*}}order = [1, 0]{{.*}}-> tensor<4x9xf32>

// -----

// Nothing moves where the dimension stands behind already, and a constant stays one.
func.func @behind(%arg_i: tensor<7x1xsi32>, %arg_u: tensor<7x4xf32>) -> tensor<*xf32> {
  %x = "top.Weight"() : () -> tensor<9x4xf32> loc("zeros_9x4")
  %i = "top.Input"(%arg_i) : (tensor<7x1xsi32>) -> tensor<7x1xsi32> loc("i")
  %u = "top.Input"(%arg_u) : (tensor<7x4xf32>) -> tensor<7x4xf32> loc("u")
  %w = "top.Weight"() : () -> tensor<1x4xsi32> loc("windows_1x4")
  %wt = "top.Tile"(%w) {tile = [7, 1]} : (tensor<1x4xsi32>) -> tensor<*xsi32> loc("wt")
  %ws = "top.Unsqueeze"(%wt) {axes = [2]} : (tensor<*xsi32>) -> tensor<*xsi32> loc("ws")
  %it = "top.Tile"(%i) {tile = [1, 4]} : (tensor<7x1xsi32>) -> tensor<*xsi32> loc("it")
  %is = "top.Unsqueeze"(%it) {axes = [2]} : (tensor<*xsi32>) -> tensor<*xsi32> loc("is")
  %c = "top.Concat"(%is, %ws) {axis = 2 : si32} : (tensor<*xsi32>, tensor<*xsi32>) -> tensor<*xsi32> loc("c")
  %z = "top.ScatterND"(%x, %c, %u) : (tensor<9x4xf32>, tensor<*xsi32>, tensor<7x4xf32>) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @behind
// CHECK-NOT: top.Permute
// CHECK: "top.ScatterND"({{.*}}tensor<9x4xf32>, tensor<7x1xsi32>, tensor<7x4xf32>) -> tensor<9x4xf32>

// -----

// Of one place more in the table the index does not have all; of another axis it is no position.
func.func @kept(%arg_x: tensor<5x9xf32>, %arg_y: tensor<4x9xf32>, %arg_i: tensor<1x4xf32>, %arg_u: tensor<4x4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<5x9xf32>) -> tensor<5x9xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<4x9xf32>) -> tensor<4x9xf32> loc("y")
  %i = "top.Input"(%arg_i) : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("i")
  %u = "top.Input"(%arg_u) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("u")
  %it = "top.Tile"(%i) {tile = [4, 1]} : (tensor<1x4xf32>) -> tensor<*xf32> loc("it")
  %is = "top.Unsqueeze"(%it) {axes = [2]} : (tensor<*xf32>) -> tensor<*xf32> loc("is")
  %w = "top.Weight"() : () -> tensor<4x1xf32> loc("windows_4x1")
  %wt = "top.Tile"(%w) {tile = [1, 4]} : (tensor<4x1xf32>) -> tensor<*xf32> loc("wt")
  %ws = "top.Unsqueeze"(%wt) {axes = [2]} : (tensor<*xf32>) -> tensor<*xf32> loc("ws")
  %c = "top.Concat"(%ws, %is) {axis = 2 : si32} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("c")
  %z = "top.ScatterND"(%x, %c, %u) : (tensor<5x9xf32>, tensor<*xf32>, tensor<4x4xf32>) -> tensor<*xf32> loc("z")
  %v = "top.Weight"() : () -> tensor<1x4xf32> loc("windows_1x4")
  %vt = "top.Tile"(%v) {tile = [4, 1]} : (tensor<1x4xf32>) -> tensor<*xf32> loc("vt")
  %vs = "top.Unsqueeze"(%vt) {axes = [2]} : (tensor<*xf32>) -> tensor<*xf32> loc("vs")
  %d = "top.Concat"(%vs, %is) {axis = 2 : si32} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("d")
  %k = "top.ScatterND"(%y, %d, %u) : (tensor<4x9xf32>, tensor<*xf32>, tensor<4x4xf32>) -> tensor<*xf32> loc("k")
  return %z, %k : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @kept
// CHECK: "top.ScatterND"({{.*}}tensor<4x4x2xf32>
// CHECK: "top.ScatterND"({{.*}}tensor<4x4x2xf32>

// -----

func.func @read(%arg_x: tensor<4x9x5xf32>, %arg_i: tensor<1x7xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x9x5xf32>) -> tensor<4x9x5xf32> loc("x")
  %i = "top.Input"(%arg_i) : (tensor<1x7xf32>) -> tensor<1x7xf32> loc("i")
  %w = "top.Weight"() : () -> tensor<4x1xf32> loc("windows_4x1")
  %wt = "top.Tile"(%w) {tile = [1, 7]} : (tensor<4x1xf32>) -> tensor<*xf32> loc("wt")
  %ws = "top.Unsqueeze"(%wt) {axes = [2]} : (tensor<*xf32>) -> tensor<*xf32> loc("ws")
  %it = "top.Tile"(%i) {tile = [4, 1]} : (tensor<1x7xf32>) -> tensor<*xf32> loc("it")
  %is = "top.Unsqueeze"(%it) {axes = [2]} : (tensor<*xf32>) -> tensor<*xf32> loc("is")
  %c = "top.Concat"(%ws, %is) {axis = 2 : si32} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("c")
  %z = "top.GatherND"(%x, %c) : (tensor<4x9x5xf32>, tensor<*xf32>) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @read
// CHECK: "top.Permute"({{.*}}order = [1, 0, 2]{{.*}}-> tensor<9x4x5xf32>
// CHECK: "top.GatherND"({{.*}}tensor<7x1xf32>) -> tensor<7x4x5xf32>
// CHECK-NEXT: "top.Permute"({{.*}}order = [1, 0, 2]{{.*}}-> tensor<4x7x5xf32>
