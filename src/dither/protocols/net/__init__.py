"""Devices over a network: messages, bodies, sockets with and without TLS, and the meeting point."""
