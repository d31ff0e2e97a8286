"""Controllers: feedback as joint laws or plain callables."""
