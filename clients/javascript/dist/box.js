import{M as e}from"./core.js";import{selector as t,window as r}from"./nearest.js";var i=i=>{
let{domain:n,outside:a}=i,[o,m,s,l]=r(i),d=n.sides,h=d.map(e=>e[0]),[p,g]=t(i.selector,d.length,o,m)
;return e("box"===n.kind&&"clip"===a&&d.length>1&&d.length<9,"domain"),e(new Set(h).size===d.length&&h.every(e=>"string"==typeof e),"domain"),
e(d.every(([,e,t,...r],i)=>!r.length&&e===g[i][0]&&t===g[i][1]),"selector"),{names:"Optimal",ratio:l,inside:e=>{
let t=Array.isArray(e)?[...e]:h.map(t=>e?.[t])
;return t.length===d.length&&t.every(Number.isFinite)?t.map((e,t)=>Math.min(Math.max(e,g[t][0]),g[t][1])):void 0},draw:(e,t)=>s(p(e),t)}}
;export{i as box};
//# sourceMappingURL=../maps/box.js.map
