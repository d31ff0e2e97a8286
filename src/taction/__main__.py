"""``python -m taction`` is the command ``taction``."""

from taction.cli.main import main

main()
