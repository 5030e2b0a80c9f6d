// RUN: tpu-opt %s --split-input-file --fuse-bias-add-dropout --no-locations | filecheck %s
// RUN: tpu-opt %s --split-input-file --fuse-bias-add-dropout=seed=40 --no-locations | filecheck %s --check-prefix=SEED
// RUN: tpu-opt %s --split-input-file --fuse-bias-add-dropout=compat=article --no-locations 2>&1 | filecheck %s --check-prefix=ARTICLE

// The scale is 1 / (1 - rate); the mask has the seed of the dropout, or the one that is given, its
// element type, and takes the place of its second result. The published rewrite could not do that.

// CHECK-LABEL: oneflow.job @fused
// CHECK-NEXT: %[[M:.*]] = "oneflow.random_mask_like"(%arg0) {device_tag = "cuda", op_name = "drop_mask", rate = 7.500000e-01 : f32, seed = 7 : si64} : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xi8>
// CHECK-NEXT: %[[Y:.*]] = "oneflow.fused_bias_add_mask_scale"(%arg0, %arg1, %[[M]]) {axis = 3 : si32, device_tag = "cuda", op_name = "drop", scale = 4.000000e+00 : f32}
// CHECK-NEXT: oneflow.return %[[Y]], %[[M]]
// SEED-LABEL: oneflow.job @fused
// SEED: seed = 40 : si64
// ARTICLE: warning: oneflow.dropout "none": the published rewrite scales by the rate 0 where 1 / (1 - rate) = 1 is right
// ARTICLE-LABEL: oneflow.job @fused
// ARTICLE: oneflow.dropout

oneflow.job @fused(%a: tensor<2x3x4x5xf32>, %b: tensor<5xf32>) -> (tensor<2x3x4x5xf32>, tensor<2x3x4x5xi8>) {
  %0 = "oneflow.bias_add"(%a, %b) {axis = 3 : si32, device_tag = "cuda", op_name = "bias"} : (tensor<2x3x4x5xf32>, tensor<5xf32>) -> tensor<2x3x4x5xf32>
  %out, %mask = "oneflow.dropout"(%0) {device_tag = "cuda", op_name = "drop", rate = 7.5e-01 : f32, seed = 7 : si64} : (tensor<2x3x4x5xf32>) -> (tensor<2x3x4x5xf32>, tensor<2x3x4x5xi8>) loc("d")
  oneflow.return %out, %mask : tensor<2x3x4x5xf32>, tensor<2x3x4x5xi8>
}

// -----

// Left alone: a dropout that adds to its output.

// CHECK-LABEL: oneflow.job @adds_to_output
// CHECK-NEXT: oneflow.bias_add
// CHECK-NEXT: oneflow.dropout

oneflow.job @adds_to_output(%a: tensor<2x5xf32>, %b: tensor<5xf32>) -> tensor<2x5xf32> {
  %0 = "oneflow.bias_add"(%a, %b) {axis = 1 : si32, op_name = "bias"} : (tensor<2x5xf32>, tensor<5xf32>) -> tensor<2x5xf32>
  %out, %mask = "oneflow.dropout"(%0, %a) {op_name = "drop", rate = 5.0e-01 : f32} : (tensor<2x5xf32>, tensor<2x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xi8>)
  oneflow.return %out : tensor<2x5xf32>
}

// -----

// Left alone: a dropout on another device than the bias_add.

// CHECK-LABEL: oneflow.job @elsewhere
// CHECK-NEXT: oneflow.bias_add
// CHECK-NEXT: oneflow.dropout

oneflow.job @elsewhere(%a: tensor<2x5xf32>, %b: tensor<5xf32>) -> tensor<2x5xf32> {
  %0 = "oneflow.bias_add"(%a, %b) {axis = 1 : si32, device_tag = "cpu", op_name = "bias"} : (tensor<2x5xf32>, tensor<5xf32>) -> tensor<2x5xf32>
  %out, %mask = "oneflow.dropout"(%0) {device_tag = "cuda", op_name = "drop", rate = 5.0e-01 : f32} : (tensor<2x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xi8>)
  oneflow.return %out : tensor<2x5xf32>
}

// -----

// A bias_add with other users stays. The ends of the range: with rate 1 the mask is all zeros and the
// scale 1, with rate 0 nothing is dropped. Given seeds are counted up; the published rewrite
// gives the mask the type of its operand and the name of the bias_add.

// CHECK-LABEL: oneflow.job @other_users
// CHECK-NEXT: %[[B:.*]] = "oneflow.bias_add"
// CHECK-NEXT: oneflow.random_mask_like{{.*}}op_name = "all_mask", rate = 1.000000e+00 : f32
// CHECK-NEXT: op_name = "all", scale = 1.000000e+00 : f32
// CHECK-NEXT: oneflow.random_mask_like{{.*}}op_name = "none_mask", rate = 0.000000e+00 : f32
// CHECK-NEXT: op_name = "none", scale = 1.000000e+00 : f32
// CHECK-NEXT: oneflow.return %[[B]]
// SEED-LABEL: oneflow.job @other_users
// SEED: op_name = "all_mask"{{.*}} seed = 40 : si64
// SEED: op_name = "none_mask"{{.*}} seed = 41 : si64
// ARTICLE-LABEL: oneflow.job @other_users
// ARTICLE: op_name = "bias", rate = 1.000000e+00 : f32, seed = 0 : si64} : (tensor<2x5xf32>) -> tensor<2x5xf32>
// ARTICLE: op_name = "all", scale = 1.000000e+00 : f32
// ARTICLE: op_name = "none", scale = 0.000000e+00 : f32

oneflow.job @other_users(%a: tensor<2x5xf32>, %b: tensor<5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>) {
  %0 = "oneflow.bias_add"(%a, %b) {axis = 1 : si32, op_name = "bias"} : (tensor<2x5xf32>, tensor<5xf32>) -> tensor<2x5xf32>
  %1, %m1 = "oneflow.dropout"(%0) {op_name = "all", rate = 1.0 : f32} : (tensor<2x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xi8>)
  %2, %m2 = "oneflow.dropout"(%0) {op_name = "none", rate = 0.0 : f32} : (tensor<2x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xi8>)
  oneflow.return %0, %1, %2 : tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>
}
