// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/large.npz --processor-top-optimize --no-locations | filecheck %s

// Filters of 2.25 MiB are more than three eighths of the 4 MiB of this chip: of eight groups, five
// would do.
// CHECK-LABEL: func.func @groups
// CHECK: [[A:%.*]] = "top.Slice"{{.*}}ends = [{{[0-9]+}}, 640, {{.*}}offset = [0, 0, 0, 0]{{.*}} -> tensor<1x640x7x7xf32>
// CHECK: [[C:%.*]] = "top.Conv"([[A]], {{.*}}do_relu = true{{.*}}group = 5 : i64{{.*}}tensor<640x128x3x3xf32>{{.*}} -> tensor<1x640x7x7xf32>
// CHECK: [[B:%.*]] = "top.Slice"{{.*}}offset = [0, 640, 0, 0]{{.*}} -> tensor<1x384x7x7xf32>
// CHECK: [[D:%.*]] = "top.Conv"([[B]], {{.*}}do_relu = true{{.*}}group = 3 : i64{{.*}}tensor<384x128x3x3xf32>{{.*}} -> tensor<1x384x7x7xf32>
// CHECK: "top.Concat"([[C]], [[D]]){{.*}}axis = 1{{.*}} -> tensor<1x1024x7x7xf32>
builtin.module attributes {module.chip = "bm1688"} {
  func.func @groups(%arg0: tensor<1x1024x7x7xf32>) -> tensor<1x1024x7x7xf32> {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x1024x7x7xf32>) -> tensor<1x1024x7x7xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<1024x128x3x3xf32> loc("filters")
    %y = "top.Conv"(%x, %w, %n) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1], group = 8, do_relu = true} : (tensor<1x1024x7x7xf32>, tensor<1024x128x3x3xf32>, none) -> tensor<1x1024x7x7xf32> loc("y")
    return %y : tensor<1x1024x7x7xf32>
  }
}

// -----

// Of a chip with 16 MiB they are few.
// CHECK-LABEL: func.func @fit
// CHECK-NOT: "top.Slice"
// CHECK: "top.Conv"{{.*}}group = 8 : i64
// CHECK-NOT: "top.Concat"
builtin.module attributes {module.chip = "bm1684x"} {
  func.func @fit(%arg0: tensor<1x1024x7x7xf32>) -> tensor<1x1024x7x7xf32> {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x1024x7x7xf32>) -> tensor<1x1024x7x7xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<1024x128x3x3xf32> loc("filters")
    %y = "top.Conv"(%x, %w, %n) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1], group = 8} : (tensor<1x1024x7x7xf32>, tensor<1024x128x3x3xf32>, none) -> tensor<1x1024x7x7xf32> loc("y")
    return %y : tensor<1x1024x7x7xf32>
  }
}
