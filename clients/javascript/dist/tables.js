import{O as e,_ as t,s as n,E as a,B as r,R as l,M as s,x as i,A as h}from"./core.js";var p=1n<<128n;function g(t){
let n=Math.max(1,32-Math.clz32(t.length-1)),a=1n<<BigInt(128-n),r=Array.from({length:2**n
},(e,n)=>t[n]??0n),l=r.map(()=>0n),s=r.map((e,t)=>t),i=[],h=[];r.forEach((e,t)=>(e<a?i:h).push(t));for(let e;void 0!==(e=i.pop());){let t=h.at(-1)
;l[e]=r[e],s[e]=t,r[t]-=a-r[e],r[t]<a&&i.push(h.pop())}return t=>{let a=t.take(n+7>>3),r=e(a,0,a.length)>>8*a.length-n;return((e,t)=>{
let n=0n,a=e.take(t+7>>3);for(let e=a.length;e--;)n=n<<8n|BigInt(a[e]);return n>>BigInt(8*a.length-t)})(t,128-n)<l[r]?r:s[r]}}function u(e){
let t=e.values.map(e=>r({text:e},"text",1024));s(t.length&&t.at(-1)>0n&&t.every((e,n)=>!n||e<t[n-1]),"step");let n=new Set,a=e.rows.map(a=>{
let r=a.map(a=>{let r=h(e,"rows",0,t.length-1,a);return n.add(r),r});s(r.length&&r.length<=65536,"step")
;let l=r.reduce((e,n)=>e+t[n],0n),i=r.map(e=>((t[e]<<128n)+l-1n)/l);return i[r.indexOf(r.reduce((e,t)=>Math.min(e,t)))]-=i.reduce((e,t)=>e+t,0n)-p,
s(i.every(e=>e>0n),"step"),i}),l=a[0]?.length??0;s(a.length&&a.length<=1024&&a.every(e=>e.length===l)&&n.size===t.length,"step")
;let i=a[0].map((e,t)=>a.map(e=>e[t])),u=(o=i.map(e=>e.reduce((e,t)=>e>t?e:t)),d=i.map(e=>e.reduce((e,t)=>e<t?e:t)),
o.reduce((e,t,n)=>t*e[1]>e[0]*d[n]?[t,d[n]]:e,[0n,1n]));var o,d;return[a.map(g),l,u]}var o={channel:e=>{
let[a,r]=l(e),[p,g,o]=u(e),d=e.start,m="points"===d.kind,c=(m?d.points:d.edges).map(e=>i({edge:e},"edge"));s(m||"edges"===d.kind,"start"),
s(c.every((e,t)=>!t||(m?e>c[t-1]:e>=c[t-1])),"start");let v=(e,t)=>e.reduce((e,n)=>e+ +(n<=t),0);if(m){
s("interval"===e.domain.kind&&c.length>1&&c.length===p.length&&c[0]===r[0]&&c.at(-1)===r[1],"start");let l=c.slice(1,-1);return{
names:"Exponential Cumulative Matrix",ratio:o,inside:a,draw:(e,a)=>{let r=v(l,e),s=Math.floor((e-c[r])/(c[r+1]-c[r])*2**32+.5)
;return t(p[r+ +(n(a,32)<s)](a),g)}}}let x=d.labels.map(e=>h(d,"labels",0,p.length-1,e));return s(x.length===c.length+1,"start"),{
names:"Exponential Cumulative Matrix",ratio:o,inside:a,draw:(e,n)=>t(p[x[v(c,e)]](n),g)}},table:e=>{let[n,r]=a(e),[l,i,h]=u(e)
;return s(l.length===r,"step"),{names:"Cumulative Workload Matrix",ratio:h,inside:n,draw:(e,n)=>t(l[e](n),i)}}};export{o as tables};
//# sourceMappingURL=../maps/tables.js.map
