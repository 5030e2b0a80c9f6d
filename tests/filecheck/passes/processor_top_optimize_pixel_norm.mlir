// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --processor-top-optimize --no-locations | filecheck %s

// Channels come last, are normed as rows, and go back.
// CHECK-LABEL: func.func @image
// CHECK: [[X:%.+]] = "top.Input"
// CHECK: [[R:%.+]] = "top.Permute"([[X]]) {order = [0, 2, 3, 1]}{{.*}}-> tensor<1x5x6x4xf32>
// CHECK: [[L:%.+]] = "top.LayerNorm"([[R]], {{.*}}axis = 3 : si32{{.*}}tensor<1x1x1x4xf32>, none) -> tensor<1x5x6x4xf32>
// CHECK: [[Y:%.+]] = "top.Permute"([[L]]) {order = [0, 3, 1, 2]}{{.*}}-> tensor<1x4x5x6xf32>
// CHECK-NEXT: return [[Y]]
func.func @image(%arg: tensor<1x4x5x6xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg) : (tensor<1x4x5x6xf32>) -> tensor<1x4x5x6xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("random_1x4x1x1")
  %y = "top.PixelNorm"(%x, %w, %n) {eps = 1.0e-06 : f64} : (tensor<1x4x5x6xf32>, tensor<1x4x1x1xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// Of a sequence, three dimensions.
// CHECK-LABEL: func.func @sequence
// CHECK: "top.Permute"({{.*}}order = [0, 2, 1]{{.*}}-> tensor<2x9x8xf32>
// CHECK-NEXT: "top.LayerNorm"({{.*}}axis = 2 : si32
// CHECK-NEXT: "top.Permute"({{.*}}order = [0, 2, 1]{{.*}}-> tensor<2x8x9xf32>
func.func @sequence(%x: tensor<2x8x9xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %y = "top.PixelNorm"(%x, %n, %n) {eps = 1.0e-06 : f64} : (tensor<2x8x9xf32>, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// A computed weight is not turned.
// CHECK-LABEL: func.func @computed
// CHECK-NOT: top.LayerNorm
func.func @computed(%x: tensor<1x4x5x6xf32>, %w: tensor<1x4x1x1xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %y = "top.PixelNorm"(%x, %w, %n) {eps = 1.0e-06 : f64} : (tensor<1x4x5x6xf32>, tensor<1x4x1x1xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// An image too large for local memory keeps its lines: channels and columns change places.
// CHECK-LABEL: func.func @large
// CHECK: "top.Permute"({{.*}}order = [0, 3, 2, 1]{{.*}}-> tensor<1x256x200x32xf32>
// CHECK-NEXT: "top.LayerNorm"({{.*}}-> tensor<1x256x200x32xf32>
// CHECK-NEXT: "top.Permute"({{.*}}order = [0, 3, 2, 1]{{.*}}-> tensor<1x32x200x256xf32>
func.func @large(%x: tensor<1x32x200x256xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %y = "top.PixelNorm"(%x, %n, %n) {eps = 1.0e-06 : f64} : (tensor<1x32x200x256xf32>, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// NormOfPixels: so does one whose norm was written with channels last.
// CHECK-LABEL: func.func @written
// CHECK: "top.Permute"({{.*}}order = [0, 3, 2, 1]{{.*}}-> tensor<1x256x200x32xf32>
// CHECK-NEXT: "top.LayerNorm"({{.*}}-> tensor<1x256x200x32xf32>
// CHECK-NEXT: "top.Permute"({{.*}}order = [0, 3, 2, 1]{{.*}}-> tensor<1x32x200x256xf32>
func.func @written(%x: tensor<1x32x200x256xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %p = "top.Permute"(%x) {order = [0, 2, 3, 1]} : (tensor<1x32x200x256xf32>) -> tensor<*xf32> loc("p")
  %l = "top.LayerNorm"(%p, %n, %n) {axis = 3 : si32, eps = 1.0e-06 : f64, normalized_shape = []} : (tensor<*xf32>, none, none) -> tensor<*xf32> loc("l")
  %y = "top.Permute"(%l) {order = [0, 3, 1, 2]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// A small one does not, nor one of which others read the rows.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-2: "top.Permute"({{.*}}order = [0, 2, 3, 1]
// CHECK-NOT: order = [0, 3, 2, 1]
func.func @others(%x: tensor<1x32x8x8xf32>, %z: tensor<1x32x200x256xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %n = "top.None"() : () -> none
  %p = "top.Permute"(%x) {order = [0, 2, 3, 1]} : (tensor<1x32x8x8xf32>) -> tensor<*xf32> loc("p")
  %q = "top.Permute"(%z) {order = [0, 2, 3, 1]} : (tensor<1x32x200x256xf32>) -> tensor<*xf32> loc("q")
  %l = "top.LayerNorm"(%p, %n, %n) {axis = 3 : si32, eps = 1.0e-06 : f64, normalized_shape = []} : (tensor<*xf32>, none, none) -> tensor<*xf32> loc("l")
  %y = "top.Permute"(%l) {order = [0, 3, 1, 2]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  %m = "top.LayerNorm"(%q, %n, %n) {axis = 3 : si32, eps = 1.0e-06 : f64, normalized_shape = []} : (tensor<*xf32>, none, none) -> tensor<*xf32> loc("m")
  %w = "top.Permute"(%m) {order = [0, 3, 1, 2]} : (tensor<*xf32>) -> tensor<*xf32> loc("w")
  return %y, %w, %q : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Columns that fill the lanes take the place of channels in a small one, too; 65 do not.
// CHECK-LABEL: func.func @filling
// CHECK: "top.Permute"({{.*}}order = [0, 3, 2, 1]{{.*}}-> tensor<1x64x4x32xf32>
// CHECK-NEXT: "top.LayerNorm"
// CHECK-NEXT: "top.Permute"({{.*}}order = [0, 3, 2, 1]
// CHECK: "top.Permute"({{.*}}order = [0, 2, 3, 1]{{.*}}-> tensor<1x4x65x32xf32>
func.func @filling(%x: tensor<1x32x4x64xf32>, %z: tensor<1x32x4x65xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %n = "top.None"() : () -> none
  %y = "top.PixelNorm"(%x, %n, %n) {eps = 1.0e-06 : f64} : (tensor<1x32x4x64xf32>, none, none) -> tensor<*xf32> loc("y")
  %w = "top.PixelNorm"(%z, %n, %n) {eps = 1.0e-06 : f64} : (tensor<1x32x4x65xf32>, none, none) -> tensor<*xf32> loc("w")
  return %y, %w : tensor<*xf32>, tensor<*xf32>
}

// -----

// SignalNorm: a signal of an eighth of local memory is normed as it lies.
// CHECK-LABEL: func.func @signal
// CHECK: [[Y:%.+]] = "top.PixelNorm"({{.*}}-> tensor<1x128x8192xf32>
// CHECK-NEXT: return [[Y]]
func.func @signal(%x: tensor<1x128x8192xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %r = "top.Permute"(%x) {order = [0, 2, 1]} : (tensor<1x128x8192xf32>) -> tensor<*xf32> loc("r")
  %l = "top.LayerNorm"(%r, %n, %n) {axis = 2 : si32, eps = 1.0e-06 : f64, normalized_shape = [128]} : (tensor<*xf32>, none, none) -> tensor<*xf32> loc("l")
  %y = "top.Permute"(%l) {order = [0, 2, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// One position less is turned.
// CHECK-LABEL: func.func @shorter
// CHECK: "top.Permute"
// CHECK-NEXT: "top.LayerNorm"
// CHECK-NEXT: "top.Permute"
func.func @shorter(%x: tensor<1x128x8191xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %r = "top.Permute"(%x) {order = [0, 2, 1]} : (tensor<1x128x8191xf32>) -> tensor<*xf32> loc("r")
  %l = "top.LayerNorm"(%r, %n, %n) {axis = 2 : si32, eps = 1.0e-06 : f64, normalized_shape = [128]} : (tensor<*xf32>, none, none) -> tensor<*xf32> loc("l")
  %y = "top.Permute"(%l) {order = [0, 2, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}
