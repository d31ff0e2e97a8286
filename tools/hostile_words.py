"""Names that mean harm: markup, scripts, escapes of terminals, paths, and text that turns its direction.

A name that is run as a script sets ``window.__owned`` and changes the title of its page to `OWNED`, a number
that no name has in it, or loads something from an address that is watched. A name that reaches a terminal as
it is does what no program here ever does: it blinks, changes the title, makes a link, fills the clipboard.

The first names are those written down below; the rest are put together from them by a seed.
"""

from __future__ import annotations

from random import Random

OWNED = "90210"
LONGEST = 1000  # characters of a name; more is refused and tried apart
LONGEST_FILE = 200  # bytes of a file's name, where 255 are the limit, with an ending
SHORTEST_LIST = 200
NOWHERE = "http://127.0.0.1:9/owned"
RUN = "window.__owned=1,document.title=90209+window.__owned"  # no quotes, blanks or slashes: it fits anywhere

# {run}: a script that marks the page; {at}: an address that is watched
MARKUP = (
    "<script>{run}</script>",
    "</script><script>{run}</script>",
    "</script><script src='{at}'></script>",
    "</title><script>{run}</script>",
    "</style><script>{run}</script>",
    "</textarea><script>{run}</script>",
    "</svg><script>{run}</script>",
    "</td></tr></table><script>{run}</script>",
    "--><script>{run}</script><!--",
    "]]><script>{run}</script><![CDATA[",
    "<ScRiPt>{run}</sCrIpT>",
    "<script >{run}</script >",
    "<script\n>{run}</script\n>",
    "<scr<script>ipt>{run}</scr</script>ipt>",
    "<img src=x onerror={run}>",
    "<img src={at}>",
    '<img src="{at}" srcset="{at} 2x">',
    "<img/src=x/onerror={run}>",
    "'><img src=x onerror={run}>",
    '"><img src=x onerror={run}>',
    "`><img src=x onerror={run}>",
    "<svg onload={run}>",
    "<svg><script>{run}</script></svg>",
    "<svg><animate onbegin={run} attributeName=x dur=1s>",
    "<math><mtext><table><mglyph><style><img src=x onerror={run}>",
    "<iframe srcdoc='<script>parent.{run}</script>'></iframe>",
    "<iframe src=javascript:{run}></iframe>",
    "<object data='{at}'></object>",
    "<embed src='{at}'>",
    "<body onload={run}>",
    "<details open ontoggle={run}>x</details>",
    "<input autofocus onfocus={run}>",
    "<video><source onerror={run}></video>",
    "<link rel=stylesheet href='{at}'>",
    "<meta http-equiv=refresh content='0;url={at}'>",
    "<base href='{at}/'>",
    "<style>@import '{at}';</style>",
    "<style>body{{background:url({at})}}</style>",
    "<template><script>{run}</script></template>",
    "<noscript><p title='</noscript><img src=x onerror={run}>'>",
    "<form action='{at}'><button>x</button></form>",
    "<a href='javascript:{run}'>x</a>",
    "<b>bold</b><i>",
    "<marquee onstart={run}>x</marquee>",
    "<!-- <script>{run}</script>",
    "<!DOCTYPE html><html onclick={run}>",
    "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY e SYSTEM '{at}'>]>&e;",
    "&lt;script&gt;{run}&lt;/script&gt;",
    "&#60;script&#62;{run}&#60;/script&#62;",
    "&amp;lt;img src=x onerror={run}&amp;gt;",
    "%3Cscript%3E{run}%3C/script%3E",
    "\\u003cscript\\u003e{run}\\u003c/script\\u003e",
    "\\x3cscript\\x3e{run}\\x3c/script\\x3e",
    "＜script＞{run}＜/script＞",
)
ATTRIBUTES = (
    '" onmouseover="{run}',
    "' onmouseover='{run}",
    '" autofocus onfocus="{run}" x="',
    "' autofocus onfocus='{run}' x='",
    '"></script><script>{run}</script>',
    '" style="background:url({at})',
    "x; background: url({at})",
    "red; }} body {{ background: url({at}) }} x {{ color: red",
    "expression({run})",
    "javascript:{run}",
    "JaVaScRiPt:{run}",
    "java\tscript:{run}",
    "data:text/html,<script>{run}</script>",
    "vbscript:{run}",
    "{at}",
)
SCRIPTS = (
    '"; {run}; "',
    "'; {run}; '",
    '"+({run})+"',
    "'+({run})+'",
    "`; {run}; `",
    "${{{run}}}",
    "#{{{run}}}",
    "{{{{constructor.constructor('{run}')()}}}}",
    "\\'; {run}; //",
    '\\"; {run}; //',
    "\u2028{run}\u2028",
    "\u2029{run}\u2029",
    "*/{run}/*",
    "//{run}",
    "');{run};('",
    '"]}};{run};[{{"',
    '{{"at": 0, "type": "f8", "shape": [1]}}',
)
KEYS = (
    "__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "__class__", "__init__", "$ref",
    "null", "undefined", "NaN", "Infinity", "true", "0", "-1", "length", "innerHTML", "window", "document",
    "taction", "[object Object]", "at", "type", "__owned",
)  # fmt: skip
PATHS = (
    "../../x", "..", ".", "/etc/passwd", "~/x", "$HOME/x", "C:\\x", "\\\\host\\share", "file:///etc/passwd",
    "a/b/c", "x|touch owned", "$(touch owned)", "`touch owned`", "; touch owned", "-rf", "--help", "-", "*",
    "--out=/dev/null/x", "CON", "x.h5", "x.urdf", "x ", " x", "?", "[x]", "tcp:127.0.0.1:9", "pipe:1",
    "concat:x|y", "%00", "x%0ay",
)  # fmt: skip
TERMINAL = (
    "\x1b[5;35mblinks\x1b[0m",
    "\x1b[2J\x1b[H",
    "\x1b[1A\x1b[2Kgone",
    "\x1b[6n",
    "\x1b[?1049h",
    "\x1b[?25l",
    "\x1bc",
    "\x1b]0;title\x07",
    "\x1b]2;title\x1b\\",
    "\x1b]8;;{at}\x1b\\link\x1b]8;;\x1b\\",
    "\x1b]52;c;b3duZWQ=\x07",
    "\x1b]1337;File=inline=1:AAAA\x07",
    "\x1b]9;say\x07",
    '\x1bP$q"p\x1b\\',
    "\x1bPq#0;2;0;0;0\x1b\\",
    "\x1b_Gx\x1b\\",
    "\x1b^x\x1b\\",
    "\x1bX x\x1b\\",
    "\x9b5;35mblinks",
    "\x9d0;title\x9c",
    "\x90x\x9c",
    "\x84\x85\x88\x8d\x8e\x8f",
    "bell\x07",
    "over\x08\x08\x08\x08written",
    "seen\rhidden",
    "seen\r\x1b[Khidden",
    "two\nlines",
    "two\r\nlines",
    "taction: done\ntaction: wrote /etc/passwd",
    "tab\there",
    "\x0b\x0c\x0e\x0f",
    "\x7f\x01\x1a\x04",
    "[magenta]x[/magenta]",
    "[blink]x[/blink]",
    "[/]",
    "[/magenta]",
    "[link={at}]x[/link]",
    "[@click=app.bell]x[/]",
    "[bold magenta blink]",
    "\\[magenta]x",
    ":skull:",
    "%s%s%s%n",
    "%(name)s",
    "{{}}",
    "{{0}}",
    "{{0.__class__.__init__.__globals__}}",
    "{{name!r:>1000000}}",
    "$\\frac{{1}}{{$",
    "$x^$",
    "\\x1b[5m",
    "\\033[5m",
    "^[[5m",
)
LETTERS = (
    "\u202egnp.exe",
    "\u202dleft\u202c",
    "\u2066isolated\u2069",
    "\u2067right\u2069",
    "\u200fright mark\u200e",
    "zero\u200bwidth",
    "joined\u200d\u200c",
    "soft\u00adhyphen",
    "\ufeffmark",
    "\ud800",
    "\udfff\ud83d",
    "\udc80\udc9b5m",
    "e" + "\u0301" * 60,
    "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031e\u0349\u035a\u032f\u031e\u0320\u034dA",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\U0001f600\U0001f4a9",
    "\U000e0041\U000e007f",
    "\ufff9a\ufffab\ufffb",
    "\ufffe\uffff",
    "עברית",
    "العربية",
    "पशुधन",
    "ｆｕｌｌ　ｗｉｄｔｈ",
    "ﷺ﷽",
    "a\u00a0b\u2009c\u3000d",
    "İıſß",
    "ǅ ﬀ ½",
)
MARKDOWN = (
    "[x](javascript:{run})",
    "![x]({at})",
    "# head",
    "| a | b |",
    "```js\n{run}\n```",
    "<{at}>",
    "**x** _y_ ~~z~~",
    "=1+1",
    "@x",
    "',,\"",
)
FAMILIES = {
    "markup": MARKUP,
    "attribute": ATTRIBUTES,
    "script": SCRIPTS,
    "key": KEYS,
    "path": PATHS,
    "terminal": TERMINAL,
    "letters": LETTERS,
    "markdown": MARKDOWN,
}


def hostile_names(count: int = SHORTEST_LIST, seed: int = 0, at: str = NOWHERE) -> list[str]:
    """So many different names, the same for the same seed, all kinds of them from the first on.

    Args:
        count: how many.
        seed: of those that are put together, and of the order.
        at: the address that is watched.
    """
    rng, plain = Random(f"hostile names {seed}"), plain_names(at)
    long = [
        plain[0] + "A" * (LONGEST - len(plain[0])),
        "x" * LONGEST,
        "\u202e" * 50,
        "<" * LONGEST,
        "\x1b[5m" * 200,
    ]
    names = dict.fromkeys(plain + long)
    rng.shuffle(order := list(names))
    names = dict.fromkeys(order)
    while len(names) < count:
        one, other = rng.sample(plain, 2)
        at_end = rng.randrange(len(one) + 1)
        names[(one[:at_end] + other + one[at_end:])[:LONGEST]] = None
    return list(names)[:count]


def plain_names(at: str) -> list[str]:
    """Those that are written down, with their script and address."""
    words = [word for family in FAMILIES.values() for word in family]
    return [word if word in KEYS + PATHS else word.format(run=RUN, at=at) for word in words]


def as_file_name(name: str, ending: str = "") -> str:
    """The same as a name of a file: no folders in it, not too long, only what a file system can hold."""
    data = as_word(name.replace("/", "\u2215")).encode("utf-8", "surrogateescape")
    return data[:LONGEST_FILE].decode("utf-8", "surrogateescape") + ending


def as_word(name: str) -> str:
    """The same as a word of a command line can be: bytes, or text without halves of characters."""
    halves = [c for c in name if "\ud800" <= c <= "\udfff"]
    if all("\udc80" <= c <= "\udcff" for c in halves):  # as Python reads bytes that are no text
        return name
    return name.encode("utf-8", "replace").decode()
