"""What all tests share."""

from hypothesis import settings

# The same examples on every machine: a failure is reproduced by running the test again.
settings.register_profile("dither", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("dither")
