// RUN: tpu-opt %s --split-input-file --fuse-bias-add-dropout | filecheck %s
// RUN: tpu-opt %s --split-input-file --fuse-bias-add-dropout=seed=40 | filecheck %s --check-prefix=SEED
// RUN: tpu-opt %s --split-input-file --fuse-bias-add-dropout="compat=article seed=40" 2>&1 | filecheck %s --check-prefix=ARTICLE

// The scale is 1 / (1 - rate); the mask has the dropout's seed and type, and replaces its mask.

// CHECK-LABEL: oneflow.job @fused
// CHECK-NEXT: %0 = "oneflow.random_mask_like"(%arg0) {device_name = ["@0:0"], device_tag = "cuda", op_name = "drop_mask", output_lbns = ["drop/mask_0"], rate = 7.500000e-01 : f32, scope_symbol_id = 22 : i64, seed = 9 : si64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xi8>
// CHECK-NEXT: %1 = "oneflow.fused_bias_add_mask_scale"(%arg0, %arg1, %0) {axis = 2 : si32, device_name = ["@0:0"], device_tag = "cuda", op_name = "drop", output_lbns = ["drop/out_0"], scale = 4.000000e+00 : f32, scope_symbol_id = 22 : i64} : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<2x3x4xi8>) -> tensor<2x3x4xf32>
// CHECK-NEXT: oneflow.return %1, %0
// SEED-LABEL: oneflow.job @fused
// SEED: "oneflow.random_mask_like"(%arg0) {{.*}}seed = 40 : si64}
// The published rewrite gives the mask the wrong type: it cannot replace one that is used.
// ARTICLE-LABEL: oneflow.job @fused
// ARTICLE: "oneflow.bias_add"
// ARTICLE-NEXT: "oneflow.dropout"
oneflow.job @fused(%a: tensor<2x3x4xf32>, %b: tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xi8>) {
  %0 = "oneflow.bias_add"(%a, %b) {axis = 2 : si32, device_name = ["@0:0"], device_tag = "cuda", op_name = "bias", scope_symbol_id = 12 : i64} : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %out, %mask = "oneflow.dropout"(%0) {device_name = ["@0:0"], device_tag = "cuda", op_name = "drop", output_lbns = ["drop/out_0", "drop/mask_0"], rate = 0.75 : f32, scope_symbol_id = 22 : i64, seed = 9 : si64} : (tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xi8>)
  oneflow.return %out, %mask : tensor<2x3x4xf32>, tensor<2x3x4xi8>
}

// -----

// Two of them, the bias_add of one used elsewhere; rates at the ends of their range.

// CHECK-LABEL: func.func @two
// CHECK-NEXT: %0 = "oneflow.bias_add"(%arg0, %arg1)
// CHECK-NEXT: %1 = "oneflow.random_mask_like"(%arg0) {rate = 0.000000e+00 : f32, seed = 0 : si64}
// CHECK-NEXT: %2 = "oneflow.fused_bias_add_mask_scale"(%arg0, %arg1, %1) {axis = 1 : si32, scale = 1.000000e+00 : f32}
// CHECK-NEXT: %3 = "oneflow.random_mask_like"(%2) {rate = 1.000000e+00 : f32, seed = 0 : si64}
// CHECK-NEXT: %4 = "oneflow.fused_bias_add_mask_scale"(%2, %arg1, %3) {axis = 1 : si32, scale = 1.000000e+00 : f32}
// CHECK-NEXT: return %0, %4
// SEED-LABEL: func.func @two
// SEED: "oneflow.random_mask_like"(%arg0) {rate = 0.000000e+00 : f32, seed = 40 : si64}
// SEED: "oneflow.random_mask_like"(%2) {rate = 1.000000e+00 : f32, seed = 41 : si64}
// ARTICLE-LABEL: func.func @two
// ARTICLE: "oneflow.random_mask_like"(%arg0) {rate = 0.000000e+00 : f32, seed = 40 : si64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// ARTICLE: scale = 0.000000e+00 : f32
// ARTICLE: "oneflow.random_mask_like"(%2) {rate = 1.000000e+00 : f32, seed = 40 : si64}
// ARTICLE: scale = 1.000000e+00 : f32
func.func @two(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = "oneflow.bias_add"(%a, %b) {axis = 1 : si32} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1, %2 = "oneflow.dropout"(%0) {rate = 0.0 : f32} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi8>)
  %3 = "oneflow.bias_add"(%1, %b) {axis = 1 : si32} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %4, %5 = "oneflow.dropout"(%3) {rate = 1.0 : f32} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi8>)
  return %0, %4 : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// Not fused: a dropout that adds to its output, another device, another op in front.

// CHECK-LABEL: func.func @apart
// CHECK-NOT: fused
// CHECK: return
// ARTICLE-LABEL: func.func @apart
// ARTICLE-NOT: fused
// ARTICLE: return
func.func @apart(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = "oneflow.bias_add"(%a, %b) {axis = 1 : si32} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1, %2 = "oneflow.dropout"(%0, %a) {rate = 0.5 : f32} : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi8>)
  %3 = "oneflow.bias_add"(%a, %b) {axis = 1 : si32, device_tag = "cpu"} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %4, %5 = "oneflow.dropout"(%3) {device_tag = "cuda", rate = 0.5 : f32} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi8>)
  %6 = "oneflow.relu"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7, %8 = "oneflow.dropout"(%6) {rate = 0.5 : f32} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi8>)
  return %1, %4, %7 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}
