import{o as e,E as t,draws as n,O as r,M as a,A as i}from"./core.js";import{projective as s}from"./projective.js"
;var o=e=>[1,2,4,8].find(t=>256**t>=e);function d(e){let{draw:t,order:r,dimension:i}=e;a(["response","indices","projective"].includes(t),"draw")
;let o="response"===t?e.cells:"indices"===t?e.size:(r**i-1)/(r-1),d={domain:{kind:"categories",count:"projective"===t?2:o},outside:"refuse"
},l=("projective"===t?s:n[t])(new Proxy(e,{get:(e,t)=>d[t]??e[t]}));return{count:o,chosen:"indices"===t?e.chosen:1,draw:l}}var l={questions:n=>{
let{domain:s,outside:l}=n;a("profile"===s.kind&&"refuse"===l&&Array.isArray(s.attributes),"domain")
;let c=[...s.attributes].map(([e,n,...r])=>(a("string"==typeof e&&!r.length,"domain"),[e,...t({domain:n,outside:l})]))
;a(c.length>1&&c.length<=64&&new Set(c.map(([e])=>e)).size===c.length,"domain")
;let u=[...n.draws].map(d),[m,p]=[0,0],h=[...n.questions].map(([e,t,n,r,...s])=>{
let o=[...e].map(e=>i({},"questions",0,c.length-1,e)),{count:d}=u[i({},"questions",0,u.length-1,r)],l=o.reduce((e,t)=>e*c[t][2],1)
;return a(!s.length&&o.length&&new Set(o).size===o.length&&l<=2**21&&t.length===l&&(p+=l)<=2**21,"draw"),m+=i({},"questions",1,2**32,n),{places:o,
table:[...t].map(e=>i({},"questions",0,d-1,e)),inner:u[r],end:m}});a(m===2**32&&h.length<=16384,"draw")
;let g=h.map(e=>e.inner.draw.ratio),w=Math.max(...u.map(({chosen:e})=>e)),f=o(Math.max(h.length,...u.map(({count:e})=>e)));return{names:"Marginals",
ratio:g.reduce((e,t)=>t[0]*e[1]>e[0]*t[1]?t:e),inside:e=>{if(Object(e)!==e||Object.keys(e).length!==c.length)return
;let t=c.map(([t,n])=>Object.hasOwn(e,t)?n(e[t]):void 0);return t.includes(void 0)?void 0:t},draw:(t,n)=>{
let a=r(n.take(4)),i=h.reduce((e,{end:t})=>e+ +(a>=t),0),{places:s,table:d,inner:l}=h[i],u=s.reduce((e,n)=>e*c[n][2]+t[n],0),m=l.draw.draw(d[u],n),p=o(l.count),g=Array.from({
length:w},(e,t)=>t<l.chosen?r(m,t*p,(t+1)*p):0);return Uint8Array.from([i,...g].flatMap(t=>[...e(t,f)]))}}}};export{l as profile};
//# sourceMappingURL=../maps/profile.js.map
