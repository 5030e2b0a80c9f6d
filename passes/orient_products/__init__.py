"""Products and what lies between them, written transposed where fewer transpositions are left."""
