"""Papers, one short file each: the formula, with its theorem beside it. No engine is written here."""
