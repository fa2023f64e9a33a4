"""No test of logic is judged by its time: the first parse builds the parser, the first frame loads pandas."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
