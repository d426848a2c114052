"""What a collector says: estimates with intervals for many looks, in several formats, and summaries."""
