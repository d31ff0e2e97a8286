"""Contact as an ordinary force: springs and dampers between bodies that overlap."""
