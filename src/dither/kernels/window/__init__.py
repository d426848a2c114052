"""Windows on cells: integers, draws, start rules, codebooks, laws."""
