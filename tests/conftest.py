from hypothesis import settings

# A busy machine is no bug.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
