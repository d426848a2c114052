"""Devices over a network: messages, bodies of reports, streams, and the meeting place."""
