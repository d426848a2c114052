import{_ as e,P as t,E as r,z as a,M as s,A as l}from"./core.js";import{asPath as n,inArea as o,pair as i,readArea as p,spend as h}from"./paths.js"
;function m(e,t){return s(e.length<=2**17&&/^([0-9a-f]{4})*$/.test(e),"number",t),(e.match(/..../g)??[]).map(e=>parseInt(e,16))}function c(r){
let s=l(r,"cells",2,65536),n=l(r,"width",1,s-1),[o,i,p]=a(n,r),h=p-BigInt(n)*i;return[s,n,(r,a)=>{let[l,n]=o(a,0),i=t(a,s);return e(i+l*(r[l*n]-i),s)
},[h+BigInt(s)*i,h]]}var f=e=>Math.min(Math.max(Math.floor(e),0),65535);function g(e,t,r,a){let n=e.box&&e.box.map(e=>i(e,"box")),o=t||3
;s(t?n?.length===t:null===n,"selector"),n?.forEach(([e,t])=>s(e>=-1e30&&t<=1e30&&t-e>=1e-30,"selector"))
;let p=e.scales.map(t=>l(e,"scales",1,511,t)),h=2**l(e,"grain",0,12),c=[];if("grid"===e.kind){
let t=e.per.map(t=>l(e,"per",1,65536,t)),r=l(e,"scale",0,65536);s(n&&t.length===o,"selector"),c=[[]];for(let e of t){s(c.length*e<=65536,"selector")
;let t=Array.from({length:e},(t,a)=>f(32768+Math.floor((2*a+1-e)*r/(2*e))));c=c.flatMap(e=>t.map(t=>[...e,t]))}}else{s("points"===e.kind,"selector")
;let t=m(e.points,"points");for(s(t.length%o===0,"selector");t.length;)c.push(t.splice(0,o))}return s(c.length===r&&p.length===o,"selector"),[e=>{
let t=(e=>{if(n)return e.map((e,t)=>f((e-n[t][0])/(n[t][1]-n[t][0])*65536));let[t,r]=e.map(e=>e*(Math.PI/180)),a=Math.cos(r)
;return[a*Math.cos(t),a*Math.sin(t),Math.sin(r)].map(e=>f(32767*e+32768.5))
})(e).map(e=>e-e%h+Math.floor(h/2)),r=c.map(e=>e.reduce((e,r,a)=>e+(p[a]*(t[a]-r))**2,0))
;return Array.from(r.keys()).sort((e,t)=>r[e]-r[t]||e-t).slice(0,a)},n]}var u={nearest:e=>{
let[t,r,a,s]=c(e),l=p(e),[i]=g(e.selector,"sphere"===e.domain.kind?0:2,t,r);return{names:"Optimal",ratio:s,spend:h,inside:o(l),
draw:(e,t)=>n(e.map(e=>[a(i(e),t)]))}},listing:e=>{let[t,a,l,n]=c(e),[o,i]=r(e),p=m(e.lists,"lists"),h=Array.from({length:i
},(e,t)=>p.slice(t*a,(t+1)*a));return s(p.length===i*a&&h.every(e=>new Set(e).size===a&&e.every(e=>e<t)),"lists"),{names:"Optimal",ratio:n,inside:o,
draw:(e,t)=>l(h[e],t)}}};export{u as nearest,g as selector,m as unpack,c as window};
//# sourceMappingURL=../maps/nearest.js.map
