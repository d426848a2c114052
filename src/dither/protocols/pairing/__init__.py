"""Who tosses with whom, and whom one has to trust for it."""
