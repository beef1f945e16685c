"""How a comparison is presented: its address, the lines of its tree, its text. Writes nothing."""
