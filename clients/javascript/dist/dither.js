import{F as e,hex as t,Malformed as n,M as r,readQuestion as a,x as s,systemSource as i,v as o}from"./core.js";export*from"./core.js";var l={
epsilon:1,delta:0,assumptions:[],mechanisms:null},u=e=>BigInt("0x"+e),d=e=>[{is:"refused",reason:e}],c=({asker:e,question:t,fingerprint:n})=>({
asker:e,question:t,fingerprint:n}),p=(e,t)=>JSON.stringify(c(e))===JSON.stringify(c(t)),f=(e,t)=>BigInt(Math.ceil(e*2**t)).toString(16)
;function h(e,t){let n=BigInt(Math.floor(e*2**t));return(n&&n+(n>>52n)+1n).toString(16)}var g=(e,t,n)=>e.reduce((e,t)=>e-u(t[n]),u(t[n])),m={
epoch:"lifetime",lifetime:null,quota:null,quotas:{},askers:null},w={open(e){let[t,n]=[{...e.own,...m
},e.limits].map(e=>JSON.stringify(Object.entries(e).sort()));return r(t===n,"rules"),e},
knows:({repeat:e,days:t,start:n,data:r,every:a,phase:s,changes:i})=>["fresh","same"].includes(e)&&""+[t,n,r,a,s,i]==",,,,,",
decide:({entries:e,own:t},n,r,a)=>a?[]:k(e,n)?d("answers"):((e,t)=>["epsilon","delta"].every(n=>g(e,t,n)>=0n))([...e,r],t)?[]:d("budget"),
left:({entries:e,own:t})=>{return(n=g(e,t,"epsilon"))<<50n>u(t.epsilon)?Number(n)/2**64:0;var n}
},k=(e,t)=>e.filter(e=>p(e,t)&&e.campaign===t.limit?.campaign).length>=(t.limit?.answers??1/0),b=(e,t)=>[...new Set(e.assumes.concat(t.assumes?.(e)??[]))],y="0".repeat(32),v=({batch:e})=>e!==y,q=(e,t,n)=>e.map(e=>v(e)||e.report!==n||!p(e,t)?e:{
...e,batch:null}),S=({epsilon:e,delta:t,assumes:n,data:r,times:a,campaign:s})=>JSON.stringify([e,t,n,r,a,s]);function O(e,t,n,r,a,s){
let{epsilon:i,delta:o,repeat:l,data:u,times:h,limit:g}=n,m=b(n,a),w=c(n),k={...w,id:t,device:e.device,epsilon:f(i,64),delta:f(o,128),assumes:m,
first:0,last:0,...u&&{data:u},...h&&{times:h},...g&&{campaign:g.campaign}
},y=(e,t)=>e.find(e=>e.id===t),O=e=>((e,t)=>e&&p(e,t)&&S(e)===S(t))(e,k),x=e.answers.find(e=>p(e,n)&&e.permanent===l),N=y(e.entries,x?.id),J=y(e.queue,t),j=y(e.entries,t)
;if(J||j){let t="kept change"===l;return t&&j?.data&&(k.data=j.data),p(J??j,n)&&(t&&!j||O(j??N))?J?[{is:"resent",report:J.report},v(J)?void 0:{...e,
queue:q(e.queue,n,J.report)}]:[{is:"acknowledged",reports:0}]:d("id")}
if(!((e,{epsilon:t,delta:n,mechanism:r},a)=>t<=e.epsilon&&n<=e.delta&&a.every(t=>e.assumptions.includes(t))&&(e.mechanisms?.includes(r)??!0))(r,n,m))return d("policy")
;let[M,T,B=!x]=a.decide(e,n,k,x&&(N??k),s);if(M)return[M,T];let D=x&&"same"===l;if(x&&(!O(N)||D&&null===x.report))return d("changed")
;let $=s&&(D?x.report:s.report()),I={...T??e};return I.queue=B?[...e.queue,{...w,id:t,report:$,batch:null}]:q(e.queue,n,$),x?[{is:"repeated",
charged:"0",report:$},I]:(I.entries=[...e.entries,k],("same"===l||"per value"===l)&&(I.answers=[...e.answers,{...w,id:t,permanent:l,
report:"same"===l?$:null}]),[{is:"drawn",charged:k.epsilon,report:$},I])}function x(e,t){let n=e.present?.filter(e=>e.batch&&t(e)).length??0
;return n?[{...e,present:e.present.map(e=>t(e)?{...e,batch:null}:e)},n]:[e,0]}function N(e,t){
let n=e.queue.filter(e=>e.id!==t&&e.batch!==t),[r,a]=x(e,e=>e.batch===t),s=e.queue.length-n.length+a;return s?[{is:"acknowledged",reports:s},{...r,
queue:n}]:[{is:"unknown"}]}function J(e,t){
let n=e=>v(e)&&t!==y&&(e.batch===t||e.id===t),r=e.queue.filter(n).length,a=e.queue.flatMap(t=>n(t)?(t=>e.answers.some(e=>p(e,t)))(t)?{...t,batch:y
}:[]:t),[s,i]=x(e,e=>e.batch===t);return i?[{is:"dropped",reports:i},s]:r?[{is:"dropped",reports:r},{...e,queue:a}]:[{is:"unknown"}]}function j(e){
if(3===e.account)return e;let t=e.choices.flatMap(e=>[{...e,repeat:"kept change"},{...e,repeat:"once"}]);return{...e,account:3,choices:t}}
function M(e){let t={},n=e.map(({fingerprint:e,report:t})=>e+t).sort();for(let e of n)(t[e.slice(0,32)]??=[]).push(e.slice(32));return t}
var T=(e,t,n)=>JSON.stringify({batch:e,dither:2,label:t,reports:M(n)});function B(e,t,n){let r={};try{r=Object(o(n))}catch{}
let[a,s]=[r.refused,r.words].map(e=>"string"==typeof e?e:""),i=409===t?"conflict"===a:t>=200&&t<300&&r.batch===e,l=a&&"sealed"!==a&&"label"!==a&&[400,410,413,415,422].includes(t)
;return{fate:i?"acknowledged":l?"dropped":"kept",reason:a,words:s}}function D(e,t=globalThis.navigator?.languages??[]){let n=e=>e.split("-")[0]
;for(let r of t){let t=e.find(e=>e===r)??e.find(e=>n(e)===n(r));if(t)return t}return e[0]??""}function $({consent:e,agreed:t},n,r=""){
let a=n&&t?.[n.general];if(!a)return null!==a&&!1!==e&&(n?void 0:e);let{questions:s,begins:i,ends:o,address:l=""}=a
;return n.questions.every(e=>s.includes(e))&&i<=n.begins&&n.ends<=o&&(!r||r.startsWith(l))||void 0}function I(e,t,n){let r=$(e,t,n)
;if(void 0!==r)return r?void 0:"the person does not want to answer"
;let a=e.consent||Object.keys(e.agreed??{})[0]?"the person was asked about something else":(()=>{let{navigator:e,process:t}=globalThis
;return e?.globalPrivacyControl?"Global Privacy Control":["DO_NOT_TRACK","NO_TELEMETRY"].find(e=>!["","0","false","no",void 0].includes(t?.env?.[e]?.toLowerCase()))
})()?.concat(" is set");return a&&`${a}: ask the person, and call device.consent(true${t?", campaign":""}) if they agree`}var C=(e,t)=>({is:"refused",
reason:e,words:t}),E={open:async({epsilon:o,delta:u=0,store:d,source:c=i(),policy:f,rules:g=w}={})=>{
r(d?.update,"store","expected store: indexedStore() in a browser, fileStore(folder) of dither-ldp/node, memoryStore() in tests"),r(s({epsilon:o
},"epsilon")>0&&o<2**20&&s({delta:u},"delta")>=0&&u<1,"epsilon");let k={...l,...f},y=()=>t(c.take(16)),q=Math.floor(Date.now()/1e3),S={
epsilon:h(o,64),delta:h(u,128),lifetime:null},M={account:3,person:y(),device:y(),limits:{...S,...m},own:S,born:q,clock:{wall:q,boot:"",elapsed:0,
ahead:0},openings:null,askers:[],entries:[],answers:[],choices:[],queue:[]};await d.update((e={state:M,key:y()+y()})=>(r(e.state,"account"),[0,{...e,
state:g.open(j(e.state),e.state===M)}]));let E=e=>d.update(t=>{r(t,"account");let[n,a,s]=e(t.state,t);return[n,a&&{...t,state:a,...s&&{key:y()+y()}}]
}),P=(e,{label:t="",pack:n=T},a)=>{
for(let{terms:n}of[e].flat())r(!t||(n.labels?.includes(t)??!0),"label",`${JSON.stringify(t)} is not in the campaign; it lists ${JSON.stringify(n.labels)}`)
;return E((r,s)=>{let[i,o,l]=((e,t,n,r)=>{let a=e.queue.filter(e=>v(e)&&r(e)),s=a.find(e=>e.batch)?.batch
;if(s)return[s,e.queue.filter(e=>e.batch===s)];let i=a.filter(e=>a.find(({fingerprint:t})=>t===e.fingerprint)===e).slice(0,1e3);return[t,i,i[0]&&{
...e,queue:e.queue.map(e=>i.includes(e)?{...e,batch:t}:e)}]})(r,y(),0,A(e)),u=o[0]&&[e].flat().map(({terms:e})=>I(s,e.shown,a)).find(Boolean)
;return u?[u]:[o[0]&&{id:i,body:n(i,t,o)},l]})
},R=({ends:e=1/0})=>Date.now()/864e5>=e+1?C("ended","the campaign ended on "+new Date(864e5*e).toISOString().slice(0,10)):void 0,A=e=>t=>[e].flat().some(({asked:e})=>p(t,e))
;return{asking(e,t){r(Object(t)===t,"asking","expected terms: { name, asker }")
;let s=a(e,t.name),{name:i,asker:o,repeat:l="fresh",assumes:u=[],data:d=null,days:c=null,start:p=null,times:f,every:h,limit:m,phase:w,changes:k}=t,y=k?g.changes?.of(s,c,k):s
;if(!y)throw new n("asking","changes: see dither-ldp/changes",i);let{mechanism:v,epsilon:q,delta:S,fingerprint:O,spend:x}=y
;if(["name","asker"].forEach(e=>r(t[e]&&"string"==typeof t[e],"asking",e)),!x!=!f)throw new n("asking","times",i)
;let[N,J]=x?.(q,f)??[q,[]],j=Math.exp(N),M={question:i,asker:o,fingerprint:O,mechanism:v,epsilon:N,delta:S,assumes:u.concat(J),repeat:l,days:c,
start:p,data:d,...f&&{times:f},...h&&{every:h},...m&&{limit:m},...w&&{phase:w},...k&&{changes:k}};if(!g.knows(M))throw new n("asking","repeat",i)
;return{question:y,terms:t,asked:M,text:e=>t.text?.[D(t.languages??[],e)]??i,labels(e){
let{labels:n=[]}=JSON.parse(y.device).domain,r=t.names?.[D(t.languages??[],e)];return n.map(e=>Object(e)===e?e.number:e).map((e,t)=>({value:e,
text:r?.[t]??String(e)}))},promise:()=>E(e=>[{epsilon:N,odds:j,reach:j/(1+j),left:g.left(e),assumes:b(M,g)}])}},async answer(e,n,a=y()){
r(e?.asked,"asking","expected an inquiry of device.asking, and a value")
;let{question:s,terms:i,asked:o}=e,{otherwise:l,times:u,name:d}=i,p=[i.value?i.value(n):n,l].map(s.inside).find(e=>void 0!==e&&(!u||e.length===u))
;return void 0===p?C("value",`question "${d}": `+(void 0===n?"expected a value, got undefined":"expected a value of its domain; declare otherwise for all others")):E((e,r)=>{
let l=e=>g.source?.(r.key,o,p,e)??c,u=I(r,i.shown),d=u?C("consent",u):R(i);if(d)return[d];let[f,h]=O(e,a,o,k,g,{report:()=>t(s.draw(p,l(0))),
mark:()=>t(l(1).take(16)),source:c,change:e=>g.changes.draw(s,p,o,e,r.key,c)}),m=s.leftOut?.(n);return[m?{...f,leftOut:m}:f,h]})},
dryRun:({asked:e,terms:t})=>E((n,r)=>{let a=I(r,t.shown);return[a?C("consent",a):R(t)??O(n,"",e,k,g)[0]]}),consent:(e,t,n)=>d.update(a=>{
if(r(a,"account"),void 0===e)return[!I(a,t?.shown)];let{shown:s,terms:i,questions:o}=t??{},{agreed:l}=a,u=s?{...a,agreed:{...l,[s.general]:e?{...s,
address:n?.replace(/campaigns\/\w+$/,"")}:null}}:{...a,consent:e,agreed:e?l??{}:{}};if(e&&!1===$(a,s)){
let[e]=x(a.state,e=>!s||e.asker===i.asker&&e.name===i.name)
;u.state=(e=>e.queue.filter(e=>v(e)&&(e=>!s||e.asker===i.asker&&e.question in o)(e)).reduce((e,{id:t,batch:n})=>(n?N:J)(e,t)[1]??e,e))(e)}
return[!I(u,s),u]}),act:()=>E(e=>g.act?.(e)??[{is:"acted"}]),chosen:e=>d.update(t=>[t&&$(t,e?.shown)]),async body(e,t={}){let n=await P(e,t)
;return"string"==typeof n?void 0:n},acknowledge:e=>E(t=>N(t,e)),async send(t,n,r={}){
let a=[t].flat()[0]?.terms.taken??N,s=await(async(t,n,r,{fetch:a=globalThis.fetch,pack:s},i)=>{let o={sent:0,waiting:0,refused:[],retryAfter:0
},l=(e,t)=>[{},JSON.stringify({refused:e,words:""+t})];for(let u;u=await t();){
let{id:t,body:d}=u,c="application/"+(s?"vnd.dither.batch":"json"),[{status:p,headers:f},h]=d?await e(a,r,65536,{method:"POST",body:d,headers:{
"content-type":c},keepalive:d.length<6e4
}).then(async([e,t])=>[e,await t.text()]).catch(e=>l("unreachable",e)):l("consent",u),{fate:g,reason:m,words:w}=B(t,p,h),{reports:k=0}="kept"!==g&&await n(t,g)
;if("acknowledged"===g?o.sent+=k:o.refused.push({reason:m||"status "+p,words:w,dropped:k}),
o.retryAfter=Math.min(Math.max(+f?.get("retry-after")||0,0),86400)*(1+i.take(1)[0]/1024),"kept"===g)break}return o
})(()=>P(t,r,n),(e,t)=>E(n=>("dropped"===t?J:a)(n,e)),n,r,c);return s.waiting=await E(({queue:e})=>[e.filter(e=>v(e)&&A(t)(e)).length]),s},
account:(e=e=>[e])=>E((t,n)=>e(t,g,n,k,c))}}};function P(){let e;return{async update(t){let[n,r]=t(e&&JSON.parse(e));return r&&(e=JSON.stringify(r)),n
}}}function R(e="dither"){let{caches:t,indexedDB:n,navigator:a}=globalThis
;r(n,"store","IndexedDB is missing here: use fileStore(folder) of dither-ldp/node, or memoryStore() in tests")
;let s,i,o=(e,t="onsuccess")=>new Promise((n,r)=>{e[t]=()=>n(e.result),e.onerror=e.onabort=()=>r(e.error)}),l=(async()=>{
s=await(t?.open(e).catch(()=>{}));for(let e of["/0","/1"]){let t=await((await(s?.match(e)))?.json().catch(()=>({turn:0})))
;t?.turn>=(i?.turn??0)&&(i=t)}let r=n.open(e,1);return r.onupgradeneeded=()=>r.result.createObjectStore(e),o(r)})(),u=async t=>{
let n=(await l).transaction(e,"readwrite",{durability:"strict"}),r=n.objectStore(e),a=await o(r.get(1))??i,[u,d]=t(a),c=d&&{...d,turn:(a?.turn??0)+1}
;return c&&r.put(c,1),await o(n,"oncomplete"),c&&await(s?.put("/"+c.turn%2,new Response(JSON.stringify(c)))),u};return{
update:n=>t?a.locks.request(e,()=>u(n)):u(n)}}export{E as Device,R as indexedStore,P as memoryStore};
//# sourceMappingURL=../maps/dither.js.map
