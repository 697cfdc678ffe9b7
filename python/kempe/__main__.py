"""`python -m kempe` is the command line `kempe`."""

import sys

from kempe.cli import main

sys.exit(main())
