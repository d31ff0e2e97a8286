"""The style sheet of report pages: light and dark, phone, wide screen and paper, nothing from elsewhere.

A wide table has a shadow at each side of its frame. A cover at each end of the table, which moves with what
is scrolled, hides it there. Paper is light: the client gives the root the class ``paper`` to draw for it.
"""

from __future__ import annotations

STYLE_SHEET = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --card: #f7f8fa; --ink: #1b1d21; --dim: #5c626c; --soft: #8b9099; --grid: #d6d9de;
  --good: #1f7a45; --good-paper: #e3f3e8; --bad: #b3261f; --bad-paper: #fbe6e4;
  --c0: #2563c9; --c1: #c2600a; --c2: #1f8a4c; --c3: #c6283c; --c4: #7c4dcc; --c5: #0b8a9a; --c6: #8a6a3a;
  --c7: #6b7280;
}
@media (prefers-color-scheme: dark) {
  :root:not(.paper) {
    --paper: #14161a; --card: #1c1f25; --ink: #e6e8eb; --dim: #a4abb6; --soft: #6d747f; --grid: #333841;
    --good: #7bd89b; --good-paper: #17331f; --bad: #ff9a90; --bad-paper: #42201d;
    --c0: #7fb0ff; --c1: #ffa657; --c2: #6fdc96; --c3: #ff8a94; --c4: #c4a2ff; --c5: #5fd6e4; --c6: #d9b981;
    --c7: #a9b1bd;
  }
}
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; margin: 0 auto;
  max-width: 1320px;
  padding: 1.5rem 1rem 3rem; background: var(--paper); color: var(--ink); -webkit-text-size-adjust: 100%; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem 1rem; margin-bottom: 1rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2.2rem 0 .7rem; padding-bottom: .3rem; border-bottom: 1px solid var(--grid); }
.badge { font-size: .85rem; font-weight: 600; padding: .15rem .7rem; border-radius: 1rem; }
.badge.good { color: var(--good); background: var(--good-paper); }
.badge.bad { color: var(--bad); background: var(--bad-paper); }
.good { color: var(--good); } .bad { color: var(--bad); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: .7rem 1.2rem;
  margin: 0; }
dt { font-size: .78rem; color: var(--dim); } dd { margin: 0; overflow-wrap: anywhere; }
ul.failed { margin: 0; padding: .7rem 1rem .7rem 2rem; border-radius: .5rem; background: var(--bad-paper); }
.wide { overflow-x: auto;
  background: linear-gradient(to right, var(--paper) 50%, transparent) 0 0 / 2.4rem 100% no-repeat local,
    linear-gradient(to left, var(--paper) 50%, transparent) right -2px top 0 / 2.4rem 100% no-repeat local,
    linear-gradient(to right, var(--soft), transparent) 0 0 / .8rem 100% no-repeat scroll,
    linear-gradient(to left, var(--soft), transparent) 100% 0 / .8rem 100% no-repeat scroll; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .28rem .9rem .28rem 0; border-bottom: 1px solid var(--grid); text-align: left;
  vertical-align: top; }
th { font-weight: 500; font-size: .78rem; color: var(--dim); white-space: nowrap; }
.n { text-align: right; white-space: nowrap; }
.beside { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 1.2rem;
  align-items: start; }
.beside .figures { grid-template-columns: minmax(0, 1fr); margin-top: 0; }
.figures { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1.2rem; margin-top: 1.2rem; }
figure { margin: 0; padding: .8rem .8rem .5rem; background: var(--card); border-radius: .6rem; min-width: 0; }
figure.motion { max-width: 620px; }
figure svg { display: block; width: 100%; height: auto; max-height: 620px; }
figure svg text, figure svg tspan { font-family: inherit !important; }
figcaption { font-weight: 600; font-size: .92rem; margin-bottom: .3rem; }
.keys { display: flex; flex-wrap: wrap; gap: .1rem .9rem; font-size: .8rem; color: var(--dim);
  margin-bottom: .3rem; }
.keys i { display: inline-block; width: 1.3rem; margin-right: .35rem; vertical-align: middle; }
.note { font-size: .8rem; color: var(--dim); margin: .2rem 0 0; }
footer { margin-top: 2.5rem; font-size: .8rem; color: var(--dim); }
@media screen and (max-width: 760px) {
  .figures, .beside { grid-template-columns: minmax(0, 1fr); }
  body { padding-top: 1rem; }
  .wide td { min-width: 4.5rem; } .wide td:first-child { min-width: 8.5rem; }
  .wide th:first-child, .wide td:first-child { position: sticky; left: 0; background: var(--paper); }
  .prose thead { display: none; }
  .prose table, .prose tbody, .prose tr, .prose td { display: block; }
  .prose tr { padding: .5rem 0; border-bottom: 1px solid var(--grid); }
  .prose td { padding: .1rem 0; border: 0; min-width: 0; }
  .prose td:first-child { font-weight: 600; } .prose td:empty { display: none; }
  .prose td[data-column]::before { content: attr(data-column); display: block; font-size: .78rem;
    color: var(--dim); }
}
@media print {
  body { max-width: none; padding: 0; } figure, tr { break-inside: avoid; } h2 { break-after: avoid; }
  .wide { overflow: visible; background: none; } table { font-size: .75rem; }
  th, td { padding-right: .5rem; } th, .n { white-space: normal; }
}
"""
