// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// Conv: one and three dimensions become two, neighbours become one, padding moves in.

// The kernel gets a second dimension.
func.func @one_dimension(%arg_x: tensor<2x3x16xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x3x16xf32>) -> tensor<2x3x16xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3xf32> loc("random_4x3x3")
  %y = "top.Conv"(%x, %w, %none) {kernel_shape = [3], strides = [2], pads = [2, 1]} : (tensor<2x3x16xf32>, tensor<4x3x3xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @one_dimension
// CHECK: %2 = "top.Weight"(){{.*}}-> tensor<4x3x3x1xf32>
// CHECK-NEXT: %3 = "top.Conv"(%1, %2, %0){{.*}}kernel_shape = [3, 1]{{.*}}pads = [2, 0, 1, 0]{{.*}}-> tensor<2x4x9xf32>
// CHECK-NEXT: return %3 : tensor<2x4x9xf32>

// -----

// The kernel spans the depth: one image of all channels and frames.
func.func @whole_depth(%arg_x: tensor<1x3x2x6x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x2x6x6xf32>) -> tensor<1x3x2x6x6xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x2x3x3xf32> loc("random_4x3x2x3x3")
  %y = "top.Conv"(%x, %w, %none) {kernel_shape = [2, 3, 3], strides = [1, 1, 1], pads = [0, 1, 1, 0, 1, 1]} : (tensor<1x3x2x6x6xf32>, tensor<4x3x2x3x3xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @whole_depth
// CHECK: %2 = "top.Weight"(){{.*}}-> tensor<4x6x3x3xf32>
// CHECK-NEXT: %3 = "top.Reshape"(%1){{.*}}-> tensor<1x6x6x6xf32>
// CHECK-NEXT: %4 = "top.Conv"(%3, %2, %0){{.*}}kernel_shape = [3, 3]{{.*}}pads = [1, 1, 1, 1]{{.*}}-> tensor<1x4x6x6xf32>
// CHECK-NEXT: %5 = "top.Reshape"(%4){{.*}}-> tensor<1x4x1x6x6xf32>
// CHECK-NEXT: return %5 : tensor<1x4x1x6x6xf32>

// -----

// The kernel moves along the depth: it stays.
func.func @part_of_the_depth(%arg_x: tensor<1x3x4x6x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x4x6x6xf32>) -> tensor<1x3x4x6x6xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x2x3x3xf32> loc("random_4x3x2x3x3")
  %y = "top.Conv"(%x, %w, %none) {kernel_shape = [2, 3, 3], strides = [1, 1, 1], pads = [0, 0, 0, 0, 0, 0]} : (tensor<1x3x4x6x6xf32>, tensor<4x3x2x3x3xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @part_of_the_depth
// CHECK: %2 = "top.Weight"(){{.*}}-> tensor<4x3x2x3x3xf32>
// CHECK-NEXT: %3 = "top.Conv"(%1, %2, %0){{.*}}kernel_shape = [2, 3, 3]{{.*}}pads = [0, 0, 0, 0, 0, 0]{{.*}}-> tensor<1x4x3x4x4xf32>
// CHECK-NEXT: return %3 : tensor<1x4x3x4x4xf32>

// -----

// The filter is as large as the images: each of these is a row of a product.
func.func @whole_images(%arg_x: tensor<2x3x3x3xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3x3x3xf32>) -> tensor<2x3x3x3xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %b = "top.Weight"() : () -> tensor<4xf32> loc("random_4")
  %y = "top.Conv"(%x, %w, %b) {kernel_shape = [3, 3], strides = [3, 3], pads = [0, 0, 0, 0], do_relu = true} : (tensor<2x3x3x3xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @whole_images
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<27x4xf32>
// CHECK-NEXT: %2 = "top.Weight"(){{.*}}-> tensor<4xf32>
// CHECK-NEXT: %3 = "top.Reshape"(%0){{.*}}-> tensor<2x27xf32>
// CHECK-NEXT: %4 = "top.MatMul"(%3, %1, %2){{.*}}do_relu = true{{.*}}-> tensor<2x4xf32>
// CHECK-NEXT: %5 = "top.Reshape"(%4){{.*}}-> tensor<2x4x1x1xf32>
// CHECK-NEXT: return %5

// -----

// One image alone: its channels lie over the lanes as they are.
func.func @whole_image(%arg_x: tensor<1x3x3x3xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %y = "top.Conv"(%x, %w, %none) {kernel_shape = [3, 3], strides = [3, 3], pads = [0, 0, 0, 0]} : (tensor<1x3x3x3xf32>, tensor<4x3x3x3xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @whole_image
// CHECK: "top.Conv"
// CHECK-NEXT: return

// -----

// Images of one pixel.
func.func @pixels(%arg_x: tensor<2x3x1x1xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x1x1xf32> loc("random_4x3x1x1")
  %y = "top.Conv"(%x, %w, %none) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<2x3x1x1xf32>, tensor<4x3x1x1xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @pixels
// CHECK: "top.Conv"
// CHECK-NEXT: return

// -----

// One column more than the filter has: two pixels an image.
func.func @wider_images(%arg_x: tensor<2x3x3x4xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x3x3x4xf32>) -> tensor<2x3x3x4xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %y = "top.Conv"(%x, %w, %none) {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<2x3x3x4xf32>, tensor<4x3x3x3xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @wider_images
// CHECK: "top.Conv"
// CHECK-NEXT: return

// -----

// Each pixel stamps three samples, of which the last two are cut off.
func.func @crop_stamped(%arg_x: tensor<2x3x16xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x3x16xf32>) -> tensor<2x3x16xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3xf32> loc("random_4x3x3")
  %d = "top.Deconv"(%x, %w, %none) {kernel_shape = [3], strides = [2], pads = [1, 0], output_padding = [0]} : (tensor<2x3x16xf32>, tensor<4x3x3xf32>, none) -> tensor<*xf32> loc("d")
  %y = "top.Slice"(%d, %none, %none, %none) {axes = [2], offset = [1], ends = [30], steps = [1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @crop_stamped
// CHECK: "top.Deconv"{{.*}}output_padding = [0], pads = [2, 2],{{.*}}-> tensor<2x4x29xf32>
// CHECK-NEXT: return

// -----

// One sample more than a kernel stamps beyond the edge.
func.func @crop_more_than_stamped(%arg_x: tensor<2x3x16xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x3x16xf32>) -> tensor<2x3x16xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3xf32> loc("random_4x3x3")
  %d = "top.Deconv"(%x, %w, %none) {kernel_shape = [3], strides = [2], pads = [1, 0], output_padding = [0]} : (tensor<2x3x16xf32>, tensor<4x3x3xf32>, none) -> tensor<*xf32> loc("d")
  %y = "top.Slice"(%d, %none, %none, %none) {axes = [2], offset = [0], ends = [29], steps = [1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @crop_more_than_stamped
// CHECK: "top.Deconv"{{.*}}pads = [1, 0],{{.*}}-> tensor<2x4x32xf32>
// CHECK-NEXT: "top.Slice"{{.*}}-> tensor<2x4x29xf32>
// CHECK-NEXT: return

// -----

// What is cut off was padding of the output first.
func.func @crop_output_padding(%arg_x: tensor<2x3x16xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x3x16xf32>) -> tensor<2x3x16xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3xf32> loc("random_4x3x3")
  %d = "top.Deconv"(%x, %w, %none) {kernel_shape = [3], strides = [2], pads = [1, 1], output_padding = [1]} : (tensor<2x3x16xf32>, tensor<4x3x3xf32>, none) -> tensor<*xf32> loc("d")
  %y = "top.Slice"(%d, %none, %none, %none) {axes = [2], offset = [0], ends = [31], steps = [1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @crop_output_padding
// CHECK: "top.Deconv"{{.*}}output_padding = [0], pads = [1, 1],{{.*}}-> tensor<2x4x31xf32>
// CHECK-NEXT: return

// -----

// A 1x1 Conv in front multiplies the filters.
func.func @pointwise_first(%arg_x: tensor<1x3x6x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x6x6xf32>) -> tensor<1x3x6x6xf32> loc("x")
  %v = "top.Weight"() : () -> tensor<5x3x1x1xf32> loc("random_5x3x1x1")
  %b = "top.Weight"() : () -> tensor<5xf32> loc("random_5")
  %w = "top.Weight"() : () -> tensor<4x5x3x3xf32> loc("random_4x5x3x3")
  %a = "top.Conv"(%x, %v, %b) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<1x3x6x6xf32>, tensor<5x3x1x1xf32>, tensor<5xf32>) -> tensor<*xf32> loc("a")
  %y = "top.Conv"(%a, %w, %none) {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<*xf32>, tensor<4x5x3x3xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @pointwise_first
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<4x3x3x3xf32>
// CHECK-NEXT: %2 = "top.Weight"(){{.*}}-> tensor<4xf32>
// CHECK-NEXT: %3 = "top.Conv"(%0, %1, %2){{.*}}kernel_shape = [3, 3]{{.*}}pads = [0, 0, 0, 0]{{.*}}-> tensor<1x4x4x4xf32>
// CHECK-NEXT: return %3 : tensor<1x4x4x4xf32>

// -----

// It skips positions the second one would read.
func.func @pointwise_with_stride(%arg_x: tensor<1x3x6x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x6x6xf32>) -> tensor<1x3x6x6xf32> loc("x")
  %v = "top.Weight"() : () -> tensor<5x3x1x1xf32> loc("random_5x3x1x1")
  %w = "top.Weight"() : () -> tensor<4x5x3x3xf32> loc("random_4x5x3x3")
  %a = "top.Conv"(%x, %v, %none) {kernel_shape = [1, 1], strides = [2, 2], pads = [0, 0, 0, 0]} : (tensor<1x3x6x6xf32>, tensor<5x3x1x1xf32>, none) -> tensor<*xf32> loc("a")
  %y = "top.Conv"(%a, %w, %none) {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<*xf32>, tensor<4x5x3x3xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @pointwise_with_stride
// CHECK: %2 = "top.Weight"(){{.*}}-> tensor<5x3x1x1xf32>
// CHECK-NEXT: %3 = "top.Weight"(){{.*}}-> tensor<4x5x3x3xf32>
// CHECK-NEXT: %4 = "top.Conv"(%1, %2, %0){{.*}}kernel_shape = [1, 1]{{.*}}pads = [0, 0, 0, 0]{{.*}}-> tensor<1x5x3x3xf32>
// CHECK-NEXT: %5 = "top.Conv"(%4, %3, %0){{.*}}kernel_shape = [3, 3]{{.*}}pads = [0, 0, 0, 0]{{.*}}-> tensor<1x4x1x1xf32>
// CHECK-NEXT: return %5 : tensor<1x4x1x1xf32>

// -----

// Zeros between the two are not what the first makes of zeros.
func.func @padding_between(%arg_x: tensor<1x3x6x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x6x6xf32>) -> tensor<1x3x6x6xf32> loc("x")
  %v = "top.Weight"() : () -> tensor<5x3x1x1xf32> loc("random_5x3x1x1")
  %b = "top.Weight"() : () -> tensor<5xf32> loc("random_5")
  %w = "top.Weight"() : () -> tensor<4x5x3x3xf32> loc("random_4x5x3x3")
  %a = "top.Conv"(%x, %v, %b) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<1x3x6x6xf32>, tensor<5x3x1x1xf32>, tensor<5xf32>) -> tensor<*xf32> loc("a")
  %y = "top.Conv"(%a, %w, %none) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]} : (tensor<*xf32>, tensor<4x5x3x3xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @padding_between
// CHECK: %2 = "top.Weight"(){{.*}}-> tensor<5x3x1x1xf32>
// CHECK-NEXT: %3 = "top.Weight"(){{.*}}-> tensor<5xf32>
// CHECK-NEXT: %4 = "top.Weight"(){{.*}}-> tensor<4x5x3x3xf32>
// CHECK-NEXT: %5 = "top.Conv"(%1, %2, %3){{.*}}kernel_shape = [1, 1]{{.*}}pads = [0, 0, 0, 0]{{.*}}-> tensor<1x5x6x6xf32>
// CHECK-NEXT: %6 = "top.Conv"(%5, %4, %0){{.*}}kernel_shape = [3, 3]{{.*}}pads = [1, 1, 1, 1]{{.*}}-> tensor<1x4x6x6xf32>
// CHECK-NEXT: return %6 : tensor<1x4x6x6xf32>

// -----

// Zeros around the image are the Conv's own padding.
func.func @pad_in_front(%arg_x: tensor<1x3x6x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x6x6xf32>) -> tensor<1x3x6x6xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %p = "top.Pad"(%x) {paddings = [0, 0, 1, 2, 0, 0, 2, 1], mode = "constant"} : (tensor<1x3x6x6xf32>) -> tensor<*xf32> loc("p")
  %y = "top.Conv"(%p, %w, %none) {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0, 1, 0]} : (tensor<*xf32>, tensor<4x3x3x3xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @pad_in_front
// CHECK: %2 = "top.Weight"(){{.*}}-> tensor<4x3x3x3xf32>
// CHECK-NEXT: %3 = "top.Conv"(%1, %2, %0){{.*}}kernel_shape = [3, 3]{{.*}}pads = [1, 2, 3, 1]{{.*}}-> tensor<1x4x8x7xf32>
// CHECK-NEXT: return %3 : tensor<1x4x8x7xf32>

// -----

// Ones are not zeros.
func.func @pad_with_ones(%arg_x: tensor<1x3x6x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x6x6xf32>) -> tensor<1x3x6x6xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %p = "top.Pad"(%x) {paddings = [0, 0, 1, 2, 0, 0, 2, 1], mode = "constant", val = 1.0} : (tensor<1x3x6x6xf32>) -> tensor<*xf32> loc("p")
  %y = "top.Conv"(%p, %w, %none) {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<*xf32>, tensor<4x3x3x3xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @pad_with_ones
// CHECK: %2 = "top.Weight"(){{.*}}-> tensor<4x3x3x3xf32>
// CHECK-NEXT: %3 = "top.Pad"(%1){{.*}}-> tensor<1x3x9x9xf32>
// CHECK-NEXT: %4 = "top.Conv"(%3, %2, %0){{.*}}kernel_shape = [3, 3]{{.*}}pads = [0, 0, 0, 0]{{.*}}-> tensor<1x4x7x7xf32>
// CHECK-NEXT: return %4 : tensor<1x4x7x7xf32>

// -----

// Rows cut off the edge need not be made.
func.func @crop_behind(%arg_x: tensor<1x3x8x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %c = "top.Conv"(%x, %w, %none) {kernel_shape = [3, 3], strides = [1, 1], pads = [2, 1, 2, 1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, none) -> tensor<*xf32> loc("c")
  %y = "top.Slice"(%c, %none, %none, %none) {axes = [2], offset = [1], ends = [10], steps = [1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @crop_behind
// CHECK: %2 = "top.Weight"(){{.*}}-> tensor<4x3x3x3xf32>
// CHECK-NEXT: %3 = "top.Conv"(%1, %2, %0){{.*}}kernel_shape = [3, 3]{{.*}}pads = [1, 1, 2, 1]{{.*}}-> tensor<1x4x9x8xf32>
// CHECK-NEXT: return %3 : tensor<1x4x9x8xf32>

// -----

// More than the padding is cut off.
func.func @crop_too_much(%arg_x: tensor<1x3x8x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %c = "top.Conv"(%x, %w, %none) {kernel_shape = [3, 3], strides = [1, 1], pads = [2, 1, 2, 1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, none) -> tensor<*xf32> loc("c")
  %y = "top.Slice"(%c, %none, %none, %none) {axes = [3], offset = [2], ends = [8], steps = [1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @crop_too_much
// CHECK: %2 = "top.Weight"(){{.*}}-> tensor<4x3x3x3xf32>
// CHECK-NEXT: %3 = "top.Conv"(%1, %2, %0){{.*}}kernel_shape = [3, 3]{{.*}}pads = [2, 1, 2, 1]{{.*}}-> tensor<1x4x10x8xf32>
// CHECK-NEXT: %4 = "top.Slice"(%3, %0, %0, %0){{.*}}axes = []{{.*}}ends = [1, 4, 10, 8]{{.*}}offset = [0, 0, 0, 2]{{.*}}steps = [1, 1, 1, 1]{{.*}}-> tensor<1x4x10x6xf32>
// CHECK-NEXT: return %4 : tensor<1x4x10x6xf32>

// -----

// Of two limits the smaller one counts.
func.func @relu(%arg_x: tensor<1x3x6x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x6x6xf32>) -> tensor<1x3x6x6xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %c = "top.Conv"(%x, %w, %none) {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<1x3x6x6xf32>, tensor<4x3x3x3xf32>, none) -> tensor<*xf32> loc("c")
  %r = "top.Relu"(%c) {relu_limit = 6.0} : (tensor<*xf32>) -> tensor<*xf32> loc("r")
  %y = "top.Relu"(%r) {relu_limit = 1.0} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @relu
// CHECK: %2 = "top.Weight"(){{.*}}-> tensor<4x3x3x3xf32>
// CHECK-NEXT: %3 = "top.Conv"(%1, %2, %0){{.*}}do_relu = true{{.*}}kernel_shape = [3, 3]{{.*}}pads = [0, 0, 0, 0]{{.*}}relu_limit = 1.000000e+00 : f64{{.*}}-> tensor<1x4x4x4xf32>
// CHECK-NEXT: return %3 : tensor<1x4x4x4xf32>

// -----

// The Conv's own result is needed.
func.func @relu_of_a_value_used_twice(%arg_x: tensor<1x3x6x6xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x6x6xf32>) -> tensor<1x3x6x6xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %c = "top.Conv"(%x, %w, %none) {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<1x3x6x6xf32>, tensor<4x3x3x3xf32>, none) -> tensor<*xf32> loc("c")
  %y = "top.Relu"(%c) : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %c, %y : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @relu_of_a_value_used_twice
// CHECK: %2 = "top.Weight"(){{.*}}-> tensor<4x3x3x3xf32>
// CHECK-NEXT: %3 = "top.Conv"(%1, %2, %0){{.*}}kernel_shape = [3, 3]{{.*}}pads = [0, 0, 0, 0]{{.*}}-> tensor<1x4x4x4xf32>
// CHECK-NEXT: %4 = "top.Relu"(%3){{.*}}-> tensor<1x4x4x4xf32>
// CHECK-NEXT: return %3, %4 : tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>

// -----

// The relu moves into both Convs.
func.func @relu_behind_concat(%arg_x: tensor<1x3x6x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x6x6xf32>) -> tensor<1x3x6x6xf32> loc("x")
  %v = "top.Weight"() : () -> tensor<4x3x1x1xf32> loc("random_4x3x1x1")
  %w = "top.Weight"() : () -> tensor<5x3x1x1xf32> loc("random_5x3x1x1")
  %a = "top.Conv"(%x, %v, %none) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<1x3x6x6xf32>, tensor<4x3x1x1xf32>, none) -> tensor<*xf32> loc("a")
  %b = "top.Conv"(%x, %w, %none) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<1x3x6x6xf32>, tensor<5x3x1x1xf32>, none) -> tensor<*xf32> loc("b")
  %c = "top.Concat"(%a, %b) {axis = 1 : si32} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("c")
  %y = "top.Relu"(%c) : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @relu_behind_concat
// CHECK: %2 = "top.Weight"(){{.*}}-> tensor<4x3x1x1xf32>
// CHECK-NEXT: %3 = "top.Weight"(){{.*}}-> tensor<5x3x1x1xf32>
// CHECK-NEXT: %4 = "top.Conv"(%1, %2, %0){{.*}}do_relu = true{{.*}}kernel_shape = [1, 1]{{.*}}pads = [0, 0, 0, 0]{{.*}}-> tensor<1x4x6x6xf32>
// CHECK-NEXT: %5 = "top.Conv"(%1, %3, %0){{.*}}do_relu = true{{.*}}kernel_shape = [1, 1]{{.*}}pads = [0, 0, 0, 0]{{.*}}-> tensor<1x5x6x6xf32>
// CHECK-NEXT: %6 = "top.Concat"(%4, %5){{.*}}axis = 1 : si32{{.*}}-> tensor<1x9x6x6xf32>
// CHECK-NEXT: return %6 : tensor<1x9x6x6xf32>
