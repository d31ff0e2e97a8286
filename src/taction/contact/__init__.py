"""Contact as a problem: elements, laws, the problem as a document, and its judge."""
