"""Devices over a network: messages, streams, and where devices meet."""
