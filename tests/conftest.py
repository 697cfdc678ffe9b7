"""Setup for all tests in Python."""

import signal

# Shells start background jobs with Ctrl-C ignored, which programs that tests start would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)
