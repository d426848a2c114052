import{F as e,hex as t,Malformed as r,M as n,readQuestion as a,x as s,systemSource as i,v as o}from"./core.js";export*from"./core.js";var l={
epsilon:1,delta:0,assumptions:[],mechanisms:null},u=e=>BigInt("0x"+e),d=e=>[{is:"refused",reason:e}],c=({asker:e,question:t,fingerprint:r})=>({
asker:e,question:t,fingerprint:r}),p=(e,t)=>JSON.stringify(c(e))===JSON.stringify(c(t)),f=(e,t)=>BigInt(Math.ceil(e*2**t)).toString(16)
;function m(e,t){let r=BigInt(Math.floor(e*2**t));return(r&&r+(r>>52n)+1n).toString(16)}var h=(e,t,r)=>e.reduce((e,t)=>e-u(t[r]),u(t[r])),g={
epoch:"lifetime",lifetime:null,quota:null,quotas:{},askers:null},w={open(e){let[t,r]=[{...e.own,...g
},e.limits].map(e=>JSON.stringify(Object.entries(e).sort()));return n(t===r,"rules"),e},
knows:({repeat:e,days:t,start:r,data:n,every:a,phase:s})=>["fresh","same"].includes(e)&&""+[t,r,n,a,s]==",,,,",
decide:({entries:e,own:t},r,n,a)=>a?[]:y(e,r)?d("answers"):((e,t)=>["epsilon","delta"].every(r=>h(e,t,r)>=0n))([...e,n],t)?[]:d("budget"),
left:({entries:e,own:t})=>{return(r=h(e,t,"epsilon"))<<50n>u(t.epsilon)?Number(r)/2**64:0;var r}
},y=(e,t)=>e.filter(e=>p(e,t)&&e.campaign===t.limit?.campaign).length>=(t.limit?.answers??1/0),b=(e,t)=>[...new Set(e.assumes.concat(t.assumes?.(e)??[]))],k="0".repeat(32),v=({batch:e})=>e!==k,q=(e,t,r)=>e.map(e=>v(e)||e.report!==r||!p(e,t)?e:{
...e,batch:null}),S=({epsilon:e,delta:t,assumes:r,data:n,times:a,campaign:s})=>JSON.stringify([e,t,r,n,a,s]);function O(e,t,r,n,a,s){
let{epsilon:i,delta:o,repeat:l,data:u,times:m,limit:h}=r,g=b(r,a),w=c(r),y={...w,id:t,device:e.device,epsilon:f(i,64),delta:f(o,128),assumes:g,
first:0,last:0,...u&&{data:u},...m&&{times:m},...h&&{campaign:h.campaign}
},k=(e,t)=>e.find(e=>e.id===t),O=e=>e&&p(e,r)&&S(e)===S(y),x=e.answers.find(e=>p(e,r)&&e.permanent===l),N=k(e.entries,x?.id),J=k(e.queue,t),j=k(e.entries,t)
;if(J||j)return p(J??j,r)&&O(j??N)?J?[{is:"resent",report:J.report},v(J)?void 0:{...e,queue:q(e.queue,r,J.report)}]:[{is:"acknowledged",reports:0
}]:d("id");let M=g.every(e=>n.assumptions.includes(e))&&(n.mechanisms?.includes(r.mechanism)??!0);if(!(i<=n.epsilon&&o<=n.delta&&M))return d("policy")
;let[T,D,B=!x]=a.decide(e,r,y,x&&(N??y),s);if(T)return[T,D];let I=x&&"same"===l;if(x&&(!O(N)||I&&null===x.report))return d("changed")
;let C=s&&(I?x.report:s.report()),E={...D??e};return E.queue=B?[...e.queue,{...w,id:t,report:C,batch:null}]:q(e.queue,r,C),x?[{is:"repeated",
charged:"0",report:C},E]:(E.entries=[...e.entries,y],("same"===l||"per value"===l)&&(E.answers=[...e.answers,{...w,id:t,permanent:l,
report:"same"===l?C:null}]),[{is:"drawn",charged:y.epsilon,report:C},E])}function x(e,t){
let r=e.queue.filter(e=>e.id!==t&&e.batch!==t),n=e.queue.length-r.length;return n?[{is:"acknowledged",reports:n},{...e,queue:r}]:[{is:"unknown"}]}
function N(e,t){let r=e=>v(e)&&t!==k&&(e.batch===t||e.id===t),n=e.queue.filter(r).length,a=e.queue.flatMap(t=>r(t)?(t=>e.answers.some(e=>p(e,t)))(t)?{
...t,batch:k}:[]:t);return n?[{is:"dropped",reports:n},{...e,queue:a}]:[{is:"unknown"}]}function J(e){if(3===e.account)return e
;let t=e.choices.flatMap(e=>[{...e,repeat:"kept change"},{...e,repeat:"once"}]);return{...e,account:3,choices:t}}function j(e){
let t={},r=e.map(({fingerprint:e,report:t})=>e+t).sort();for(let e of r)(t[e.slice(0,32)]??=[]).push(e.slice(32));return t}
var M=(e,t,r)=>JSON.stringify({batch:e,dither:2,label:t,reports:j(r)});function T(e,t,r){let n={};try{n=Object(o(r))}catch{}
let[a,s]=[n.refused,n.words].map(e=>"string"==typeof e?e:""),i=409===t?"conflict"===a:t>=200&&t<300&&n.batch===e,l=a&&"sealed"!==a&&"label"!==a&&[400,410,413,415,422].includes(t)
;return{fate:i?"acknowledged":l?"dropped":"kept",reason:a,words:s}}function D(e,t=globalThis.navigator?.languages??[]){let r=e=>e.split("-")[0]
;for(let n of t){let t=e.find(e=>e===n)??e.find(e=>r(e)===r(n));if(t)return t}return e[0]??""}function B({consent:e}){let t=(()=>{
let{navigator:e,process:t}=globalThis
;return e?.globalPrivacyControl?"Global Privacy Control":["DO_NOT_TRACK","NO_TELEMETRY"].find(e=>!["","0","false","no",void 0].includes(t?.env?.[e]?.toLowerCase()))
})();return void 0===e?t&&t+" is set: ask the person, and call device.consent(true) if they agree":e?void 0:"the person does not want to answer"}
var I=(e,t)=>({is:"refused",reason:e,words:t}),C={open:async({epsilon:o,delta:u=0,store:d,source:c=i(),policy:f,rules:h=w}={})=>{
n(d?.update,"store","expected store: indexedStore() in a browser, fileStore(folder) of dither-ldp/node, memoryStore() in tests"),n(s({epsilon:o
},"epsilon")>0&&o<2**20&&s({delta:u},"delta")>=0&&u<1,"epsilon");let y={...l,...f},k=()=>t(c.take(16)),q=Math.floor(Date.now()/1e3),S={
epsilon:m(o,64),delta:m(u,128),lifetime:null},j={account:3,person:k(),device:k(),limits:{...S,...g},own:S,born:q,clock:{wall:q,boot:"",elapsed:0,
ahead:0},openings:null,askers:[],entries:[],answers:[],choices:[],queue:[]};await d.update((e={state:j,key:k()+k()})=>(n(e.state,"account"),[0,{...e,
state:h.open(J(e.state),e.state===j)}]));let C=e=>d.update(t=>{n(t,"account");let[r,a,s]=e(t.state,t);return[r,a&&{...t,state:a,...s&&{key:k()+k()}}]
}),E=(e,{label:t="",pack:r=M})=>{
for(let{terms:r}of[e].flat())n(!t||(r.labels?.includes(t)??!0),"label",`${JSON.stringify(t)} is not in the campaign, which lists ${JSON.stringify(r.labels)}`)
;return C((n,a)=>{let[s,i,o]=((e,t,r,n)=>{let a=e.queue.filter(e=>v(e)&&n(e)),s=a.find(e=>e.batch)?.batch
;if(s)return[s,e.queue.filter(e=>e.batch===s)];let i=a.filter(e=>a.find(({fingerprint:t})=>t===e.fingerprint)===e).slice(0,1e3);return[t,i,i[0]&&{
...e,queue:e.queue.map(e=>i.includes(e)?{...e,batch:t}:e)}]})(n,k(),0,R(e)),l=i[0]&&B(a);return l?[l]:[i[0]&&{id:s,body:r(s,t,i)},o]})
},P=({ends:e=1/0})=>Date.now()/864e5>=e+1?I("ended","the campaign ended on "+new Date(864e5*e).toISOString().slice(0,10)):void 0,R=e=>t=>[e].flat().some(({asked:e})=>p(t,e))
;return{asking(e,t){n(Object(t)===t,"asking","expected terms: { name, asker }")
;let s=a(e,t.name),{name:i,asker:o,repeat:l="fresh",assumes:u=[],data:d=null,days:c=null,start:p=null,times:f,every:m,limit:g,phase:w}=t,{mechanism:y,epsilon:k,delta:v,fingerprint:q,spend:S}=s
;if(["name","asker"].forEach(e=>n(t[e]&&"string"==typeof t[e],"asking",e)),!S!=!f)throw new r("asking","times",i)
;let[O,x]=S?.(k,f)??[k,[]],N=Math.exp(O),J={question:i,asker:o,fingerprint:q,mechanism:y,epsilon:O,delta:v,assumes:u.concat(x),repeat:l,days:c,
start:p,data:d,...f&&{times:f},...m&&{every:m},...g&&{limit:g},...w&&{phase:w}};if(t.changes||!h.knows(J))throw new r("asking","repeat",i);return{
question:s,terms:t,asked:J,text:e=>t.text?.[D(t.languages??[],e)]??i,labels(e){
let{labels:r=[]}=JSON.parse(s.device).domain,n=t.names?.[D(t.languages??[],e)];return r.map(e=>Object(e)===e?e.number:e).map((e,t)=>({value:e,
text:n?.[t]??String(e)}))},promise:()=>C(e=>[{epsilon:O,odds:N,reach:N/(1+N),left:h.left(e),assumes:b(J,h)}])}},async answer(e,r,a=k()){
n(e?.asked,"asking","expected an inquiry of device.asking, and a value")
;let{question:s,terms:i,asked:o}=e,{otherwise:l,times:u,name:d}=i,p=[i.value?i.value(r):r,l].map(s.inside).find(e=>void 0!==e&&(!u||e.length===u))
;return void 0===p?I("value",`question "${d}": `+(void 0===r?"expected a value, got undefined":"expected a value of its domain; declare otherwise for all others")):C((e,n)=>{
let l=e=>h.source?.(n.key,o,p,e)??c,u=B(n),d=u?I("consent",u):P(i);if(d)return[d];let[f,m]=O(e,a,o,y,h,{report:()=>t(s.draw(p,l(0))),
mark:()=>t(l(1).take(16)),source:c}),g=s.leftOut?.(r);return[g?{...f,leftOut:g}:f,m]})},dryRun:({asked:e,terms:t})=>C((r,n)=>{let a=B(n)
;return[a?I("consent",a):P(t)??O(r,"",e,y,h)[0]]}),consent:e=>d.update(t=>{n(t,"account");let r=void 0===e?t:{...t,consent:e}
;return[!B(r),void 0===e?void 0:r]}),act:()=>C(e=>h.act?.(e)??[{is:"acted"}]),chosen:()=>d.update(e=>[e?.consent]),async body(e,t={}){
let r=await E(e,t);return"string"==typeof r?void 0:r},acknowledge:e=>C(t=>x(t,e)),async send(t,r,n={}){let{fetch:a=globalThis.fetch,pack:s}=n,i={
sent:0,waiting:0,refused:[],retryAfter:0};for(let o;o=await E(t,n);){if("string"==typeof o){i.refused.push({reason:"consent",words:o,dropped:0});break
}let{id:t,body:n}=o,l={method:"POST",body:n,headers:{"content-type":"application/"+(s?"vnd.dither.batch":"json")},keepalive:n.length<6e4
},[{status:u,headers:d},p]=await e(a,r,65536,l).then(async([e,t])=>[e,await t.text()]).catch(e=>[{},JSON.stringify({refused:"unreachable",words:""+e
})]),{fate:f,reason:m,words:h}=T(t,u,p),g="kept"!==f,{reports:w=0}=g&&await C(e=>("dropped"===f?N:x)(e,t))
;if("acknowledged"===f?i.sent+=w:i.refused.push({reason:m||"status "+u,words:h,dropped:w}),
i.retryAfter=Math.min(Math.max(+d?.get("retry-after")||0,0),86400)*(1+c.take(1)[0]/1024),!g)break}
return i.waiting=await C(({queue:e})=>[e.filter(e=>v(e)&&R(t)(e)).length]),i},account:(e=e=>[e])=>C(t=>e(t,h))}}};function E(){let e;return{
async update(t){let[r,n]=t(e&&JSON.parse(e));return n&&(e=JSON.stringify(n)),r}}}function P(e="dither"){
let{caches:t,indexedDB:r,navigator:a}=globalThis
;n(r,"store","there is no IndexedDB here: use fileStore(folder) of dither-ldp/node, or memoryStore() in tests")
;let s,i,o=(e,t="onsuccess")=>new Promise((r,n)=>{e[t]=()=>r(e.result),e.onerror=e.onabort=()=>n(e.error)}),l=(async()=>{
s=await(t?.open(e).catch(()=>{}));for(let e of["/0","/1"]){let t=await((await(s?.match(e)))?.json().catch(()=>({turn:0})))
;t?.turn>=(i?.turn??0)&&(i=t)}let n=r.open(e,1);return n.onupgradeneeded=()=>n.result.createObjectStore(e),o(n)})(),u=async t=>{
let r=(await l).transaction(e,"readwrite",{durability:"strict"}),n=r.objectStore(e),a=await o(n.get(1))??i,[u,d]=t(a),c=d&&{...d,turn:(a?.turn??0)+1}
;return c&&n.put(c,1),await o(r,"oncomplete"),c&&await(s?.put("/"+c.turn%2,new Response(JSON.stringify(c)))),u};return{
update:r=>t?a.locks.request(e,()=>u(r)):u(r)}}export{C as Device,P as indexedStore,E as memoryStore};
//# sourceMappingURL=../maps/dither.js.map
