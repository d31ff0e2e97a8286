"""Pictures of runs; they need the extra ``plot`` (matplotlib), imported only when something is drawn."""
