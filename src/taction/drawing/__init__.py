"""What there is to draw of a motion: one description that pages, pictures and the viewer only read."""
