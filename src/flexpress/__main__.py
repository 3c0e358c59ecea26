"""`python -m flexpress`: the same as the command `flexpress`."""

import sys

from flexpress.cli import main

sys.exit(main())
