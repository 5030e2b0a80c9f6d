"""From `tpu` IR to BM1684X instructions, and the model of the machine that runs them."""
