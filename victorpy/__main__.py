"""``python -m victorpy`` is ``victor``."""

import sys

from victorpy.commands import main

sys.exit(main())
