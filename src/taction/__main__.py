"""``python -m taction`` is the command ``taction``."""

import sys

from taction.cli.main import main

sys.exit(main())
