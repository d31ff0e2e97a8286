"""What messages say of names that are not there."""

from taction._core.names import choose, instead

FEW = ("exact", "convex", "lcp")


def test_what_is_like_it_comes_first():
    assert choose("exakt", FEW) == "did you mean 'exact'? choose from exact, convex, lcp"
    assert choose("sticky", FEW) == "choose from exact, convex, lcp"
    assert choose(3, FEW) == "choose from exact, convex, lcp"
    assert instead("convx", FEW) == "did you mean 'convex'?"
