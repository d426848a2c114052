import{M as e,o as r,P as t,s as n,i,hex as a,n as s,x as l,S as o,A as u}from"./core.js";var d=e=>[{is:"refused",reason:e
}],f=({asker:e,question:r,fingerprint:t})=>({asker:e,question:r,fingerprint:t
}),c=(e,r)=>JSON.stringify(f(e))===JSON.stringify(f(r)),g=("0".repeat(32),
({epsilon:e,delta:r,assumes:t,data:n,times:i,campaign:a})=>JSON.stringify([e,r,t,n,i,a])),h=86400
;function p(e,{asker:r,question:t,fingerprint:n},i,a){let l=JSON.stringify([e,a,r,t,n,i]),u=0,d=[];return{take(r){
for(;d.length<r;)d.push(...o(s(`${u++} ${l} ${e}`)));return Uint8Array.from(d.splice(0,r))}}}function v(e,r){
let t=(r-1n).toString(2).length*+(r>1n),n=t+7>>3;for(;;){let i=e.take(n).reduceRight((e,r)=>e<<8n|BigInt(r),0n)>>BigInt(8*n-t);if(i<r)return i}}
function y(e){let r=[1n];for(let t=0;t<e;t++)r.push(r[t]*BigInt(e-t)/BigInt(t+1));return r}function m(e,r){let[t,n]=[0,e[0]];for(;r>=n;)n+=e[++t]
;return t}function k(e,i,{group:a,changes:s,all:l,before:o,intervals:u},d,f,c){let g=a?2**(a-1):1,h=s>1&&a?(([e,r],n,i)=>{
let a=y(n),s=y(n-1),l=1n<<BigInt(n),o=[];for(let e of a.slice(0,n))o.push((o.at(-1)??0n)+e);let[u,d]=[[0n,1n],0];o.forEach((t,i)=>{
let a=[s[i],t*(e-r)+(r<<BigInt(n))];a[0]*u[1]>u[0]*a[1]&&([u,d]=[a,i])})
;let[f,c]=[o[d]*e,(l-o[d])*r],g=v(i,1n<<128n)<(f<<128n)/(f+c),h=[v(i,o[d]),v(i,l-o[d])],p=g?m(a,h[0]):d+1+m(a.slice(d+1),h[1]);return Array.from({
length:n},(e,r)=>{let a=+(t(i,n-r)<p);return p-=a,a})})(e.ratio,Math.min(s,l),f):[],p=0,k=i.map((e,r)=>(r&&e!==i[r-1]&&p++,i[0]^1&Math.min(p,s))),w=[]
;for(let r=o;r<u;r++){
let t=n(c,1),[s,l]=[r*g,Math.min((r+1)*g,i.length-1)],o=a>0&&d<(h.length||1)&&k[l]!==k[s],u=o?k[l]:a?t:i[0],f=h.length?o?u^h[d]:t:e.draw(u,c)[0]
;w.push(a,r,f),d+=+o}return[Uint8Array.from(w.flatMap(e=>[...r(e,4)])),d]}function w(e,r,{period:t,changes:n},i){let[a=0,s=0]=p(e,r,[t,i],2).take(2)
;return 1===n?1&a:a+256*s}var M={knows:({days:e,start:r,changes:t})=>[e,r,t].every(Number.isInteger)&&t>=1&&t<=1e3&&e>t,of(e,r,t){
let{domain:n,cells:a}=JSON.parse(e.device);if("response"!==e.kind||"categories"!==n.kind||2!==a)return
;let l=i(s(`{"changes":${t},"days":${r},"draw":"kept change${t>1?"s":""}","part":${e.device}}`));return{...e,fingerprint:l,inside:r=>{
let t=Array.isArray(r)?[...r].map(e.inside):[void 0];return t.includes(void 0)?void 0:t}}},decide(e,r,n,i,a,s){
let l=Math.floor(e.clock.wall/h),[o]=(({start:e,days:r,every:t},n)=>{if(!t)return[e+Math.floor((n-e)/r)*r,r];if("day"===t)return[n,1]
;if("week"===t)return[n-(n+3)%7,7];let i=new Date(n*h*1e3),a=Date.UTC(i.getUTCFullYear(),i.getUTCMonth())/1e3/h
;return[a,Date.UTC(i.getUTCFullYear(),i.getUTCMonth()+1)/1e3/h-a]})(n,l),u=e.choices.find(e=>c(e,n)&&"kept change"===e.repeat&&e.period===o)
;if(!u&&s){let i=1+(n.days-1).toString(2).length;u={...f(n),repeat:"kept change",period:o,day:t(s.source,i*n.changes),device:e.device,answer:null},
e=r={...e,choices:[...e.choices,u]}}let p=u&&((e,r,t,n)=>{if(t.device!==e.device)return
;let[i,a]=[r.days,r.changes],s=Math.floor(t.day/a),l=n-t.period,o=s?2**(s-1):1,u=s?l===i-1?Math.ceil(l/o):Math.floor(l/o):1,d=e.trees?.find(e=>c(e,r)&&e.period===t.period),f=d?.intervals??0,g=s?Math.ceil((i-1)/o):1
;return u>f?{period:t.period,group:s,changes:a,all:g,days:l+1,before:f,mark:d?.mark??null,intervals:u}:void 0})(e,n,u,l);if(!p)return[{is:"silent"},r]
;let v=null===u.answer;if(!v&&(y=e.entries.find(({id:e})=>e===u.answer),m=i,!y||!c(y,m)||g(y)!==g(m)))return d("changed");var y,m;let k=v&&a(e)
;if(k)return[d(k)[0],r];let w=s?.change(p);if(s&&!w)return[{is:"refused",reason:"value",
words:`question "${n.question}": expected the values of all ${p.days} days of the period so far`},r];let[M,$]=w??[],S={...e}
;v&&(S.entries=[...e.entries,i],S.choices=e.choices.map(e=>e===u?{...e,answer:i.id}:e));let U=e.trees?.filter(e=>!c(e,n)||e.period!==o)??[]
;return S.trees=[...U,{...f(n),period:o,intervals:p.intervals,mark:$}],S.queue=[...e.queue,{...f(n),id:i.id,report:M,batch:null}],[{is:"drawn",
charged:v?i.epsilon:"0",report:M},S]},draw(e,r,t,n,i,s){if(r.length!==n.days)return
;let l=null===n.mark?0:w(i,t,n,n.before)^n.mark,[o,u]=k(e,r,n,l,p(i,t,[n.period,n.group],3),s);return[a(o),w(i,t,n,n.intervals)^u]}}
;export{M as changes,k as drawChange};
//# sourceMappingURL=../maps/changes.js.map
