"""taction: robot motion through contact, exact, certified, in Python that can be read."""
