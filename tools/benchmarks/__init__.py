"""Speed, measured as ratios in one run: `python -m tools.benchmarks` runs every table."""
