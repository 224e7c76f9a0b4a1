"""How many examples the property tests try: `pytest --hypothesis-profile=quick|default|thorough`.

`default` and `quick` try the same examples in every run, so that a change is to blame for a failure; `thorough`
tries others each time. A test that needs more or fewer than the profile says so with `properties.examples`.
"""

import signal

from hypothesis import HealthCheck, settings

# Tests press Ctrl-C; a shell that starts the tests in the background tells them to ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadline: a busy machine is not a bug.
settings.register_profile("default", max_examples=30, deadline=None, derandomize=True)
settings.register_profile("quick", settings.get_profile("default"), max_examples=10)
settings.register_profile(
    "thorough",
    max_examples=1000,
    deadline=None,
    derandomize=False,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("default")
