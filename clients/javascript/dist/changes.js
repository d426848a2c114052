import{M as e,o as r,P as t,s as n,i,hex as a,n as s,x as l,S as o}from"./core.js";var u=e=>[{is:"refused",reason:e
}],d=({asker:e,question:r,fingerprint:t})=>({asker:e,question:r,fingerprint:t
}),f=(e,r)=>JSON.stringify(d(e))===JSON.stringify(d(r)),c=("0".repeat(32),
({epsilon:e,delta:r,assumes:t,data:n,times:i,campaign:a})=>JSON.stringify([e,r,t,n,i,a])),g=86400
;function h(e,{asker:r,question:t,fingerprint:n},i,a){let l=JSON.stringify([e,a,r,t,n,i]),u=0,d=[];return{take(r){
for(;d.length<r;)d.push(...o(s(`${u++} ${l} ${e}`)));return Uint8Array.from(d.splice(0,r))}}}function p(e,r){
let t=(r-1n).toString(2).length*+(r>1n),n=t+7>>3;for(;;){let i=e.take(n).reduceRight((e,r)=>e<<8n|BigInt(r),0n)>>BigInt(8*n-t);if(i<r)return i}}
function v(e){let r=[1n];for(let t=0;t<e;t++)r.push(r[t]*BigInt(e-t)/BigInt(t+1));return r}function y(e,r){let[t,n]=[0,e[0]];for(;r>=n;)n+=e[++t]
;return t}function m(e,i,{group:a,changes:s,all:l,before:o,intervals:u},d,f,c){let g=a?2**(a-1):1,h=s>1&&a?(([e,r],n,i)=>{
let a=v(n),s=v(n-1),l=1n<<BigInt(n),o=[];for(let e of a.slice(0,n))o.push((o.at(-1)??0n)+e);let[u,d]=[[0n,1n],0];o.forEach((t,i)=>{
let a=[s[i],t*(e-r)+(r<<BigInt(n))];a[0]*u[1]>u[0]*a[1]&&([u,d]=[a,i])})
;let[f,c]=[o[d]*e,(l-o[d])*r],g=p(i,1n<<128n)<(f<<128n)/(f+c),h=[p(i,o[d]),p(i,l-o[d])],m=g?y(a,h[0]):d+1+y(a.slice(d+1),h[1]);return Array.from({
length:n},(e,r)=>{let a=+(t(i,n-r)<m);return m-=a,a})})(e.ratio,Math.min(s,l),f):[],m=0,k=i.map((e,r)=>(r&&e!==i[r-1]&&m++,i[0]^1&Math.min(m,s))),w=[]
;for(let r=o;r<u;r++){
let t=n(c,1),[s,l]=[r*g,Math.min((r+1)*g,i.length-1)],o=a>0&&d<(h.length||1)&&k[l]!==k[s],u=o?k[l]:a?t:i[0],f=h.length?o?u^h[d]:t:e.draw(u,c)[0]
;w.push(a,r,f),d+=+o}return[Uint8Array.from(w.flatMap(e=>[...r(e,4)])),d]}function k(e,r,{period:t,changes:n},i){let[a=0,s=0]=h(e,r,[t,i],2).take(2)
;return 1===n?1&a:a+256*s}var w={knows:({days:e,start:r,changes:t})=>[e,r,t].every(Number.isInteger)&&t>=1&&t<=1e3&&e>t,of(e,r,t){
let{domain:n,cells:a}=JSON.parse(e.device);if("response"!==e.kind||"categories"!==n.kind||2!==a)return
;let l=i(s(`{"changes":${t},"days":${r},"draw":"kept change${t>1?"s":""}","part":${e.device}}`));return{...e,fingerprint:l,inside:r=>{
let t=Array.isArray(r)?[...r].map(e.inside):[void 0];return t.includes(void 0)?void 0:t}}},decide(e,r,n,i,a,s){
let l=Math.floor(e.clock.wall/g),[o]=(({start:e,days:r,every:t},n)=>{if(!t)return[e+Math.floor((n-e)/r)*r,r];if("day"===t)return[n,1]
;if("week"===t)return[n-(n+3)%7,7];let i=new Date(n*g*1e3),a=Date.UTC(i.getUTCFullYear(),i.getUTCMonth())/1e3/g
;return[a,Date.UTC(i.getUTCFullYear(),i.getUTCMonth()+1)/1e3/g-a]})(n,l),h=e.choices.find(e=>f(e,n)&&"kept change"===e.repeat&&e.period===o)
;if(!h&&s){let i=1+(n.days-1).toString(2).length;h={...d(n),repeat:"kept change",period:o,day:t(s.source,i*n.changes),device:e.device,answer:null},
e=r={...e,choices:[...e.choices,h]}}let p=h&&((e,r,t,n)=>{if(t.device!==e.device)return
;let[i,a]=[r.days,r.changes],s=Math.floor(t.day/a),l=n-t.period,o=s?2**(s-1):1,u=s?l===i-1?Math.ceil(l/o):Math.floor(l/o):1,d=e.trees?.find(e=>f(e,r)&&e.period===t.period),c=d?.intervals??0,g=s?Math.ceil((i-1)/o):1
;return u>c?{period:t.period,group:s,changes:a,all:g,days:l+1,before:c,mark:d?.mark??null,intervals:u}:void 0})(e,n,h,l);if(!p)return[{is:"silent"},r]
;let v=null===h.answer;if(!v&&(y=e.entries.find(({id:e})=>e===h.answer),m=i,!y||!f(y,m)||c(y)!==c(m)))return u("changed");var y,m;let k=v&&a(e)
;if(k)return[u(k)[0],r];let w=s?.change(p);if(s&&!w)return[{is:"refused",reason:"value",
words:`question "${n.question}": expected the values of all ${p.days} days of the period so far`},r];let[M,$]=w??[],S={...e}
;v&&(S.entries=[...e.entries,i],S.choices=e.choices.map(e=>e===h?{...e,answer:i.id}:e));let U=e.trees?.filter(e=>!f(e,n)||e.period!==o)??[]
;return S.trees=[...U,{...d(n),period:o,intervals:p.intervals,mark:$}],S.queue=[...e.queue,{...d(n),id:i.id,report:M,batch:null}],[{is:"drawn",
charged:v?i.epsilon:"0",report:M},S]},draw(e,r,t,n,i,s){if(r.length!==n.days)return
;let l=null===n.mark?0:k(i,t,n,n.before)^n.mark,[o,u]=m(e,r,n,l,h(i,t,[n.period,n.group],3),s);return[a(o),k(i,t,n,n.intervals)^u]}}
;export{w as changes,m as drawChange};
//# sourceMappingURL=../maps/changes.js.map
