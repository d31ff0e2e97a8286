"""XML that TinyXML reads and the standard does not allow: read alike, lines in messages are the file's."""

from __future__ import annotations

import pytest

import taction as ta
from taction.io.xml import parse_xml
from taction.io.xml_slips import put_right

SLIPS = {
    "two hyphens in a comment": ('<a><!-- x -- y\n --->\n<b k="1"/></a>', '<a>\n\n<b k="1"/></a>'),
    "a rule in a comment": ('<!----+---\n<b/> \n--><a><b k="1"/></a>', '<a><b k="1"/></a>'),
    "attributes that touch": ("""<a><b k="1"l='2'm="3"/></a>""", '<a><b k="1" l="2" m="3"/></a>'),
    "quotes in quotes": ("""<a><b k="it's >"l='"'/></a>""", """<a><b k="it's >" l='"'/></a>"""),
    "an unbound prefix": ('<r><d:x d:k="1">t</d:x></r>', '<r xmlns:d="d"><d:x d:k="1">t</d:x></r>'),
    "a declaration": ('<?xml verison="1.0"?>\n<a><b/></a>', "<a><b/></a>"),
    "zero bytes": ("<a><b/></a>\n\0\0", "<a><b/></a>"),
    "all at once": (
        '<?xml version="1.0"?>\n<!-- -- --><a><b k="1"l="2"/><p:c/></a>\0',
        '<a xmlns:p="p"><b k="1" l="2"/><p:c/></a>',
    ),
}


def tree(element):
    return element.tag, dict(element.attrib), (element.text or "").strip(), [tree(child) for child in element]


@pytest.mark.parametrize("as_read", [str, str.encode], ids=["text", "bytes"])
@pytest.mark.parametrize("slip, meant", SLIPS.values(), ids=SLIPS)
def test_a_slip_is_read_as_it_is_meant(slip, meant, as_read):
    assert tree(parse_xml(as_read(slip))) == tree(parse_xml(meant))


def test_text_without_a_slip_is_left_alone():
    text = """<?xml version="1.0"?>\n<a b='1>2' c="'"><![CDATA[<x y="1"z="2"/>]]> "p"q </a>"""
    assert put_right(text) == text


def test_lines_in_messages_are_those_of_the_file():
    with pytest.raises(ta.ModelError, match=r"<text>:4: .*nosuch"):
        ta.load_mjcf(
            '<mujoco><!-- a -- b\n -->\n<worldbody><body><geom size="1"type="sphere"/>'
            '</body>\n<geom type="nosuch"/></worldbody></mujoco>'
        )


@pytest.mark.parametrize(
    "text, where",
    [
        ('<a>\n<b k="1"l=2/></a>', "<text>:2: malformed XML"),
        ("<a><!-- -- ", "<text>:1: malformed XML"),
        ('<a><b k="1', "<text>:1: malformed XML"),
        ("<a>\0<b/></a>", "<text>:1: malformed XML"),
        ('<!DOCTYPE a [<!ENTITY x "y">]><a k="1"l="&x;"/>', "entities and external references"),
    ],
)
def test_what_is_meant_by_nobody_is_refused(text, where):
    with pytest.raises(ta.ModelError, match=where):
        parse_xml(text)


@pytest.mark.parametrize("piece", ["<!--", "<a k='", "<", "<![CDATA[", '<a "', "<?", "-->", "'\"<"])
def test_markup_that_never_ends_is_searched_once(piece):
    """A search to the end of the text from every piece would take days."""
    assert put_right(piece * 1_000_000)
