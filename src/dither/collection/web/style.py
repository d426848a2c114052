"""The style, the script and the headers of the collector's page."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from typing import Final

from dither.collection.web.charts import DARK, LIGHT, SERIES

_STYLE: Final = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1b2733;--soft:#536471;--rule:#d5dbe1;--bar:#9cc3e6;
--mark:#0b5394;--card:#f5f7f9;--warn:#7a4b00;@LIGHT@}
@media (prefers-color-scheme:dark){:root{--paper:#12181f;--ink:#e6edf3;--soft:#a3b1bf;--rule:#303b46;
--bar:#2f5d86;--mark:#8cc4ff;--card:#1a222b;--warn:#f0c36d;@DARK@}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:64rem;padding:1.25rem 1rem 3rem;background:var(--paper);color:var(--ink)}
body{font:16px/1.55 system-ui,sans-serif}
h1{font-size:1.7rem;line-height:1.2;margin:.2rem 0}
h2{font-size:1.15rem;margin:0}
h3{font-size:.95rem;margin:1.1rem 0 .3rem;color:var(--soft);font-weight:600}
p{margin:.4rem 0}
a{color:var(--mark)}
a:focus-visible,summary:focus-visible{outline:3px solid var(--mark);outline-offset:2px}
.soft,dt,caption{color:var(--soft)}
.soft{font-size:.92rem}
.state{display:inline-block;border:1px solid currentColor;border-radius:1rem;padding:0 .6rem;font-size:.85rem}
.warn{color:var(--warn)}
.questions{display:grid;gap:1rem;margin:1.2rem 0}
.questions{align-items:start;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr))}
section{background:var(--card);border:1px solid var(--rule);border-radius:.6rem;padding:1rem}
.questions+section,section+section{margin-top:1rem}
.questions section{margin:0}
footer{border-top:1px solid var(--rule);margin-top:2rem;padding-top:.6rem}
footer h2{font-size:.95rem;margin-top:.8rem}
.big{font-size:1.9rem;line-height:1.2;font-variant-numeric:tabular-nums;margin:.5rem 0 0}
svg{display:block;width:100%;max-width:36rem;height:auto;overflow:visible}
text{fill:var(--ink);font-size:12px;font-family:inherit}
.title{font-weight:600}
.tick{fill:var(--soft);font-size:11px}
.bar{fill:var(--bar)}
.whisker{stroke:var(--mark);stroke-width:1.6}
.thin{stroke-width:.8;opacity:.6}
.axis{stroke:var(--rule)}
.curve{fill:none;stroke:var(--mark);stroke-width:1;opacity:.55}
.dot{fill:var(--mark)}
@SERIES@
.panels{display:grid;gap:.6rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,14rem),1fr))}
h2 small{color:var(--soft);font-size:.7em;font-weight:400}
h4{font-size:.9rem;margin:.2rem 0}
nav a[aria-current]{font-weight:700;color:var(--ink);text-decoration:none}
.grid{stroke:var(--rule);stroke-width:.6}
.hit{fill:transparent}
.tip{display:none;fill:var(--ink);font-size:11px;font-weight:600}
.tip{paint-order:stroke;stroke:var(--card);stroke-width:3px}
.spot:hover .tip,.spot:focus .tip{display:block}
.spot:hover .hit,.spot:focus .hit{fill:var(--mark);opacity:.1}
.spot:focus{outline:none}
.scroll{overflow-x:auto;margin-bottom:1rem}
.scroll thead th,.scroll td{white-space:nowrap}
.scroll tbody th{min-width:6.2rem}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
caption{text-align:left;padding-bottom:.3rem}
th,td{text-align:left;padding:.2rem .9rem .2rem 0;border-top:1px solid var(--rule);vertical-align:top}
summary{cursor:pointer;color:var(--mark);padding:.35rem 0}
.files{font-size:.8rem;margin:.1rem 0}
ul{padding-left:1.2rem;margin:.4rem 0}
"""


def _properties(colours: Sequence[str]) -> str:
    return ";".join(f"--s{number}:{colour}" for number, colour in enumerate(colours))


_SERIES_STYLE: Final = "".join(
    f".s{number}{{stroke:var(--s{number})}}.dot.s{number}{{fill:var(--s{number});stroke:none}}"
    for number in range(SERIES)
)
STYLE: Final = (
    _STYLE.replace("@LIGHT@", _properties(LIGHT))
    .replace("@DARK@", _properties(DARK))
    .replace("@SERIES@", _SERIES_STYLE)
)

SCRIPT: Final = """
(()=>{const main=document.querySelector('main'),live=document.getElementById('live');
if(!main||!main.dataset.events||!window.EventSource)return;
const say=t=>{if(live.textContent!==t)live.textContent=t};
const source=new EventSource(main.dataset.events);
let wait=0;
source.onopen=()=>{clearTimeout(wait);wait=0;say(main.dataset.says)};
source.onerror=()=>{wait=wait||
setTimeout(()=>say('Live updates are interrupted; these numbers may be old. Trying again.'),6000)};
source.onmessage=e=>{const parts=JSON.parse(e.data);
for(const id in parts){const place=document.getElementById(id);if(place)place.innerHTML=parts[id]}}})();
"""


def _source(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


POLICY: Final = "; ".join(
    [
        "default-src 'none'",
        f"style-src {_source(STYLE)}",
        f"script-src {_source(SCRIPT)}",
        "connect-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
