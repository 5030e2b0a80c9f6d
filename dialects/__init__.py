"""What programs say: the `top` and `tpu` dialects and what is needed to read and write them."""
