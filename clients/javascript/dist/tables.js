import{O as e,_ as t,s as n,E as a,B as r,R as l,M as i,x as s,A as h}from"./core.js";var o=1n<<128n;function d(t){
let n=Math.max(1,32-Math.clz32(t.length-1)),a=1n<<BigInt(128-n),r=Array.from({length:2**n
},(e,n)=>t[n]??0n),l=r.map(()=>0n),i=r.map((e,t)=>t),s=[],h=[];r.forEach((e,t)=>(e<a?s:h).push(t));for(let e;void 0!==(e=s.pop());){let t=h.at(-1)
;l[e]=r[e],i[e]=t,r[t]-=a-r[e],r[t]<a&&s.push(h.pop())}return t=>{let a=t.take(n+7>>3),r=e(a,0,a.length)>>8*a.length-n;return((e,t)=>{
let n=0n,a=e.take(t+7>>3);for(let e=a.length;e--;)n=n<<8n|BigInt(a[e]);return n>>BigInt(8*a.length-t)})(t,128-n)<l[r]?r:i[r]}}function g(e){
let t=e.values.map(e=>r({text:e},"text",1024));i(t.length&&t.at(-1)>0n&&t.every((e,n)=>!n||e<t[n-1]),"step");let n=new Set,a=e.rows.map(a=>{
let r=a.map(a=>{let r=h(e,"rows",0,t.length-1,a);return n.add(r),r});i(r.length&&r.length<=65536,"step")
;let l=r.reduce((e,n)=>e+t[n],0n),s=r.map(e=>((t[e]<<128n)+l-1n)/l);return s[r.indexOf(r.reduce((e,t)=>Math.min(e,t)))]-=s.reduce((e,t)=>e+t,0n)-o,
i(s.every(e=>e>0n),"step"),s}),l=a[0]?.length??0;i(a.length&&a.length<=1024&&a.every(e=>e.length===l)&&n.size===t.length,"step")
;let s=a[0].map((e,t)=>a.map(e=>e[t])),g=(m=s.map(e=>e.reduce((e,t)=>e>t?e:t)),p=s.map(e=>e.reduce((e,t)=>e<t?e:t)),
m.reduce((e,t,n)=>t*e[1]>e[0]*p[n]?[t,p[n]]:e,[0n,1n]));var m,p;return[a.map(d),l,g]}var m=32768,p={channel:e=>{
let[a,r]=l(e),[o,d,m]=g(e),p=e.start,u="points"===p.kind,v=(u?p.points:p.edges).map(e=>s({edge:e},"edge"));i(u||"edges"===p.kind,"start"),
i(v.every((e,t)=>!t||(u?e>v[t-1]:e>=v[t-1])),"start");let c=(e,t)=>e.reduce((e,n)=>e+ +(n<=t),0);if(u){
i("interval"===e.domain.kind&&v.length>1&&v.length===o.length&&v[0]===r[0]&&v.at(-1)===r[1],"start");let l=v.slice(1,-1);return{
names:"Exponential Cumulative Matrix",ratio:m,inside:a,draw:(e,a)=>{let r=c(l,e),i=Math.floor((e-v[r])/(v[r+1]-v[r])*2**32+.5)
;return t(o[r+ +(n(a,32)<i)](a),d)}}}let M=p.labels.map(e=>h(p,"labels",0,o.length-1,e));return i(M.length===v.length+1,"start"),{
names:"Exponential Cumulative Matrix",ratio:m,inside:a,draw:(e,n)=>t(o[M[c(v,e)]](n),d)}},table:e=>{let[n,r]=a(e),[l,s,h]=g(e)
;return i(l.length===r,"step"),{names:"Cumulative Workload Matrix",ratio:h,inside:n,draw:(e,n)=>t(l[e](n),s)}},splines:n=>{
let[a,r,o]=g(n),d=h(n,"pieces",1,16),p=n.ends.map(([e,t,...n])=>(i(!n.length,"domain","ends"),[s({low:e},"low"),s({high:t},"high")]))
;i(p.length&&p.length<9&&a.length===(d+2)**p.length,"step");let u="interval"===n.domain.kind&&l(n)
;i(!u||1===p.length&&u[1].every((e,t)=>e===p[0][t]),"domain","ends");let v=u?void 0:(({domain:e,outside:t},n,a)=>{let r=e.sides,l=r.map(e=>e[0])
;return i("box"===e.kind&&"clip"===t&&r.length>1&&r.length<9,"domain"),i(new Set(l).size===r.length&&l.every(e=>"string"==typeof e),"domain"),
i(r.length===n.length&&r.every(([,e,t,...a],r)=>!a.length&&e===n[r][0]&&t===n[r][1]),a),e=>{let t=Array.isArray(e)?[...e]:l.map(t=>e?.[t])
;return t.length===r.length&&t.every(Number.isFinite)?t.map((e,t)=>Math.min(Math.max(e,n[t][0]),n[t][1])):void 0}})(n,p,"domain")
;return i(p.every(([e,t])=>e>=-1e30&&t<=1e30&&t-e>=1e-30),"domain"),{names:"JointMoments",ratio:o,inside:e=>{if(v)return v(e);let t=u[0](e)
;return void 0===t?t:[t]},draw:(n,l)=>{let i=n.reduce((t,n,a)=>t*(d+2)+((t,[n,a],r)=>{
let l=d*m,i=Math.min(Math.max(Math.floor((t-n)/(a-n)*l+.5),0),l),s=Math.min(Math.floor(i/m),d-1),h=i-s*m,o=(m-h)**2*(s?1:2),g=h**2*(s<d-1?1:2),p=e(r.take(4))>>>1
;return s+ +(p>=o)+ +(p>=2147483648-g)})(n,p[a],l),0);return t(a[i](l),r)}}}};export{p as tables};
//# sourceMappingURL=../maps/tables.js.map
