"""How designs are solved for and certified; nothing here is needed to use a shipped one."""
