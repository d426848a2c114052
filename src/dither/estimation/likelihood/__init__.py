"""Maximum likelihood: distributions, and answers with likelihood intervals."""
