"""The live view in a browser, and pictures and films without a screen."""
