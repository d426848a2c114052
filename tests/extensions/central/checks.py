"""A test of fit with a false-alarm rate of 1e-6, and the reference values, for the tests beside this file."""

from __future__ import annotations

from typing import Any

from tests.support.repository import reference

NORMAL = 4.9  # standard errors: two-sided 1e-6
REFERENCE: dict[str, Any] = reference("central")
