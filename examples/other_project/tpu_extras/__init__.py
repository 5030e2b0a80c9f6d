"""An op and a pass on top of xdsl_tpu."""
