"""Language models: compiling all nets of one, and generating text with them."""
