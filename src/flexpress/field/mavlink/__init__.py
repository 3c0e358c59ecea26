"""MAVLink with an autopilot: bytes, messages, the transfer of a mission, and its progress."""
