import{M as e,o as r,P as t,s as n,i,n as a}from"./core.js";var s=e=>[{is:"refused",reason:e}],l=({asker:e,question:r,fingerprint:t})=>({asker:e,
question:r,fingerprint:t}),o=(e,r)=>JSON.stringify(l(e))===JSON.stringify(l(r)),d=("0".repeat(32),
({epsilon:e,delta:r,assumes:t,data:n,times:i,campaign:a})=>JSON.stringify([e,r,t,n,i,a]));import{DAY as u,keyed as c,periodOf as f}from"./rules.js"
;function p(e,r){let t=(r-1n).toString(2).length*+(r>1n),n=t+7>>3;for(;;){let i=e.take(n).reduceRight((e,r)=>e<<8n|BigInt(r),0n)>>BigInt(8*n-t)
;if(i<r)return i}}function g(e){let r=[1n];for(let t=0;t<e;t++)r.push(r[t]*BigInt(e-t)/BigInt(t+1));return r}function h(e,r){let[t,n]=[0,e[0]]
;for(;r>=n;)n+=e[++t];return t}function m(e,i,{group:a,changes:s,all:l,before:o,intervals:d},u,c,f){let m=a?2**(a-1):1,v=s>1&&a?(([e,r],n,i)=>{
let a=g(n),s=g(n-1),l=1n<<BigInt(n),o=[];for(let e of a.slice(0,n))o.push((o.at(-1)??0n)+e);let[d,u]=[[0n,1n],0];o.forEach((t,i)=>{
let a=[s[i],t*(e-r)+(r<<BigInt(n))];a[0]*d[1]>d[0]*a[1]&&([d,u]=[a,i])})
;let[c,f]=[o[u]*e,(l-o[u])*r],m=p(i,1n<<128n)<(c<<128n)/(c+f),v=[p(i,o[u]),p(i,l-o[u])],y=m?h(a,v[0]):u+1+h(a.slice(u+1),v[1]);return Array.from({
length:n},(e,r)=>{let a=+(t(i,n-r)<y);return y-=a,a})})(e.ratio,Math.min(s,l),c):[],y=0,k=i.map((e,r)=>(r&&e!==i[r-1]&&y++,i[0]^1&Math.min(y,s))),w=[]
;for(let r=o;r<d;r++){
let t=n(f,1),[s,l]=[r*m,Math.min((r+1)*m,i.length-1)],o=a>0&&u<(v.length||1)&&k[l]!==k[s],d=o?k[l]:a?t:i[0],c=v.length?o?d^v[u]:t:e.draw(d,f)[0]
;w.push(a,r,c),u+=+o}return[Uint8Array.from(w.flatMap(e=>[...r(e,4)])),u]}function v(e,r,{period:t,changes:n},i){let[a=0,s=0]=c(e,r,[t,i],2).take(2)
;return 1===n?1&a:a+256*s}var y={knows:({days:e,start:r,changes:t})=>[e,r,t].every(Number.isInteger)&&t>=1&&t<=1e3&&e>t,
fingerprint({kind:e,device:r},t,n){let{domain:s,cells:l}=JSON.parse(r)
;if("response"===e&&"categories"===s.kind&&2===l)return i(a(`{"changes":${n},"days":${t},"draw":"kept change${n>1?"s":""}","part":${r}}`))},
decide(e,r,n,i,a,c){let p=Math.floor(e.clock.wall/u),[g]=f(n,p),h=e.choices.find(e=>o(e,n)&&"kept change"===e.repeat&&e.period===g);if(!h&&c){
let i=1+(n.days-1).toString(2).length;h={...l(n),repeat:"kept change",period:g,day:t(c.source,i*n.changes),device:e.device,answer:null},e=r={...e,
choices:[...e.choices,h]}}let m=h&&((e,r,t,n)=>{if(t.device!==e.device)return
;let[i,a]=[r.days,r.changes],s=Math.floor(t.day/a),l=n-t.period,d=s?2**(s-1):1,u=s?l===i-1?Math.ceil(l/d):Math.floor(l/d):1,c=e.trees?.find(e=>o(e,r)&&e.period===t.period),f=c?.intervals??0,p=s?Math.ceil((i-1)/d):1
;return u>f?{period:t.period,group:s,changes:a,all:p,days:l+1,before:f,mark:c?.mark??null,intervals:u}:void 0})(e,n,h,p);if(!m)return[{is:"silent"},r]
;let v=null===h.answer;if(!v&&(y=e.entries.find(({id:e})=>e===h.answer),k=i,!y||!o(y,k)||d(y)!==d(k)))return s("changed");var y,k;let w=v&&a(e)
;if(w)return[s(w)[0],r];let M=c?.change(m);if(c&&!M)return[{is:"refused",reason:"value",
words:`question "${n.question}": expected the values of all ${m.days} days of the period so far`},r];let[I,q]=M??[],B={...e}
;v&&(B.entries=[...e.entries,i],B.choices=e.choices.map(e=>e===h?{...e,answer:i.id}:e));let S=e.trees?.filter(e=>!o(e,n)||e.period!==g)??[]
;return B.trees=[...S,{...l(n),period:g,intervals:m.intervals,mark:q}],B.queue=[...e.queue,{...l(n),id:i.id,report:I,batch:null}],[{is:"drawn",
charged:v?i.epsilon:"0",report:I},B]},inside:(e,r)=>{let t=Array.isArray(r)?[...r].map(e.inside):[void 0];return t.includes(void 0)?void 0:t},
draw(e,r,t,n,i,a){if(r.length!==n.days)return;let s=null===n.mark?0:v(i,t,n,n.before)^n.mark,[l,o]=m(e,r,n,s,c(i,t,[n.period,n.group],3),a)
;return[l,v(i,t,n,n.intervals)^o]}};export{y as changes,m as drawChange};
//# sourceMappingURL=../maps/changes.js.map
