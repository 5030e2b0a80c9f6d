"""What the ops compute: numpy semantics of `top` and `tpu`."""
