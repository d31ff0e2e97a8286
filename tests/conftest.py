"""Property tests draw the same examples every time: a failure is the change's, never the dice's."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
