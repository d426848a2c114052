"""Random pairs of devices, drawn by a dealer or by three servers."""
