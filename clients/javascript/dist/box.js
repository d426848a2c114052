import{M as e}from"./core.js";import{selector as t,window as r}from"./nearest.js";function n({domain:t,outside:r},n,i){let a=t.sides,o=a.map(e=>e[0])
;return e("box"===t.kind&&"clip"===r&&a.length>1&&a.length<9,"domain"),e(new Set(o).size===a.length&&o.every(e=>"string"==typeof e),"domain"),
e(a.length===n.length&&a.every(([,e,t,...r],i)=>!r.length&&e===n[i][0]&&t===n[i][1]),i),e=>{let t=Array.isArray(e)?[...e]:o.map(t=>e?.[t])
;return t.length===a.length&&t.every(Number.isFinite)?t.map((e,t)=>Math.min(Math.max(e,n[t][0]),n[t][1])):void 0}}var i=e=>{
let[i,a,o,s]=r(e),[l,m]=t(e.selector,e.domain.sides.length,i,a);return{names:"Optimal",ratio:s,inside:n(e,m,"selector"),draw:(e,t)=>o(l(e),t)}}
;export{i as box};
//# sourceMappingURL=../maps/box.js.map
