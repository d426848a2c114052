"""A campaign that counts who is present, from this week on."""

from __future__ import annotations

import datetime

TODAY = datetime.datetime.now(datetime.UTC).date()
MONDAY = TODAY - datetime.timedelta(TODAY.weekday())
WEEKS = [(MONDAY + datetime.timedelta(7 * week)).isoformat() for week in range(-1, 8)]
TOML = f"""
[campaign]
name = "presence"
asker = "tool.example"
contact = "a@tool.example"
purpose = "How many come back."
begins = {MONDAY}
ends = 2120-01-01
people = 2
repeat = "present"
every = "week"
expects = 1000
label_share = 0.5
labels = ["1.0"]

[questions.since]
categories = {WEEKS}
installed = true
mechanism = "KRR"
epsilon = 1
"""
