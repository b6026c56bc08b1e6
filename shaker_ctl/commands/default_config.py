"""Where a table's settings stand unless somebody says otherwise."""

from pathlib import Path

DEFAULT_CONFIG = Path("/etc/shaker-ctl/settings.toml")
