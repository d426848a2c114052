"""What a device runs and a collector counts: domains, kernels, questions, reports, counts, wire formats."""
