import{F as e,hex as t,Malformed as n,M as r,readQuestion as a,systemSource as s,v as i}from"./core.js";export*from"./core.js";var o={epsilon:1,
delta:0,assumptions:[],mechanisms:null},l=e=>BigInt("0x"+e),u=e=>[{is:"refused",reason:e}],d=({asker:e,question:t,fingerprint:n})=>({asker:e,
question:t,fingerprint:n}),c=(e,t)=>JSON.stringify(d(e))===JSON.stringify(d(t)),p=(e,t)=>BigInt(Math.ceil(e*2**t)).toString(16);function f(e,t){
let n=BigInt(Math.floor(e*2**t));return(n&&n+(n>>52n)+1n).toString(16)}var h=(e,t,n)=>e.reduce((e,t)=>e-l(t[n]),l(t[n])),m={epoch:"lifetime",
lifetime:null,quota:null,quotas:{},askers:null},g={open(e){let[t,n]=[{...e.own,...m},e.limits].map(e=>JSON.stringify(Object.entries(e).sort()))
;return r(t===n,"rules","the account has more limits: see allRules of dither-ldp/rules"),e},
knows:({repeat:e,days:t,start:n,data:r,every:a,phase:s,changes:i})=>["fresh","same"].includes(e)&&""+[t,n,r,a,s,i]==",,,,,",
decide:({entries:e,own:t},n,r,a)=>a?[]:w(e,n)?u("answers"):((e,t)=>["epsilon","delta"].every(n=>h(e,t,n)>=0n))([...e,r],t)?[]:u("budget"),
left:({entries:e,own:t})=>{return(n=h(e,t,"epsilon"))<<50n>l(t.epsilon)?Number(n)/2**64:0;var n}
},w=(e,t)=>e.filter(e=>c(e,t)&&e.campaign===t.limit?.campaign).length>=(t.limit?.answers??1/0),y=(e,t)=>[...new Set(e.assumes.concat(t.assumes?.(e)??[]))],b="0".repeat(32),k=({batch:e})=>e!==b,v=(e,t,n)=>e.map(e=>k(e)||e.report!==n||!c(e,t)?e:{
...e,batch:null}),q=({epsilon:e,delta:t,assumes:n,data:r,times:a,campaign:s})=>JSON.stringify([e,t,n,r,a,s]);function S(e,t,n,r,a,s){
let{epsilon:i,delta:o,repeat:l,data:f,times:h,limit:m}=n,g=y(n,a),w=d(n),b={...w,id:t,device:e.device,epsilon:p(i,64),delta:p(o,128),assumes:g,
first:0,last:0,...f&&{data:f},...h&&{times:h},...m&&{campaign:m.campaign}
},S=(e,t)=>e.find(e=>e.id===t),O=e=>((e,t)=>e&&c(e,t)&&q(e)===q(t))(e,b),x=e.answers.find(e=>c(e,n)&&e.permanent===l),N=S(e.entries,x?.id),J=S(e.queue,t),$=S(e.entries,t)
;if(J||$){let t="kept change"===l;return t&&$?.data&&(b.data=$.data),c(J??$,n)&&(t&&!$||O($??N))?J?[{is:"resent",report:J.report},k(J)?void 0:{...e,
queue:v(e.queue,n,J.report)}]:[{is:"acknowledged",reports:0}]:u("id")}
if(!((e,{epsilon:t,delta:n,mechanism:r},a)=>t<=e.epsilon&&n<=e.delta&&a.every(t=>e.assumptions.includes(t))&&(e.mechanisms?.includes(r)??!0))(r,n,g))return u("policy")
;let[j,M,T=!x]=a.decide(e,n,b,x&&(N??b),s);if(j)return[j,M];let B=x&&"same"===l;if(x&&(!O(N)||B&&null===x.report))return u("changed")
;let D=s&&(B?x.report:s.report()),R={...M??e};return R.queue=T?[...e.queue,{...w,id:t,report:D,batch:null}]:v(e.queue,n,D),x?[{is:"repeated",
charged:"0",report:D},R]:(R.entries=[...e.entries,b],("same"===l||"per value"===l)&&(R.answers=[...e.answers,{...w,id:t,permanent:l,
report:"same"===l?D:null}]),[{is:"drawn",charged:b.epsilon,report:D},R])}function O(e,t){let n=e.present?.filter(e=>e.batch&&t(e)).length??0
;return n?[{...e,present:e.present.map(e=>t(e)?{...e,batch:null}:e)},n]:[e,0]}function x(e,t){
let n=e.queue.filter(e=>e.id!==t&&e.batch!==t),[r,a]=O(e,e=>e.batch===t),s=e.queue.length-n.length+a;return s?[{is:"acknowledged",reports:s},{...r,
queue:n}]:[{is:"unknown"}]}function N(e,t){
let n=e=>k(e)&&t!==b&&(e.batch===t||e.id===t),r=e.queue.filter(n).length,a=e.queue.flatMap(t=>n(t)?(t=>e.answers.some(e=>c(e,t)))(t)?{...t,batch:b
}:[]:t),[s,i]=O(e,e=>e.batch===t);return i?[{is:"dropped",reports:i},s]:r?[{is:"dropped",reports:r},{...e,queue:a}]:[{is:"unknown"}]}function J(e){
if(3===e.account)return e;let t=e.choices.flatMap(e=>[{...e,repeat:"kept change"},{...e,repeat:"once"}]);return{...e,account:3,choices:t}}
function $(e){let t={},n=e.map(({fingerprint:e,report:t})=>e+t).sort();for(let e of n)(t[e.slice(0,32)]??=[]).push(e.slice(32));return t}
var j=(e,t,n)=>JSON.stringify({batch:e,dither:2,label:t,reports:$(n)});function M(e,t,n){let r={};try{r=Object(i(n))}catch{}
let[a,s]=[r.refused,r.words].map(e=>"string"==typeof e?e:""),o=409===t?"conflict"===a:t>=200&&t<300&&r.batch===e,l=a&&"sealed"!==a&&"label"!==a&&[400,410,413,415,422].includes(t)
;return{fate:o?"acknowledged":l?"dropped":"kept",reason:a,words:s}}function T(e,t=globalThis.navigator?.languages??[]){let n=e=>e.split("-")[0]
;for(let r of t){let t=e.find(e=>e===r)??e.find(e=>n(e)===n(r));if(t)return t}return e[0]??""}function B({consent:e,agreed:t},n,r=""){
let a=n&&t?.[n.general];if(!a)return null!==a&&!1!==e&&(n?void 0:e);let{questions:s,begins:i,ends:o,address:l=""}=a
;return n.questions.every(e=>s.includes(e))&&i<=n.begins&&n.ends<=o&&(!r||r.startsWith(l))||void 0}function D(e,t,n){let r=B(e,t,n)
;if(void 0!==r)return r?void 0:"the person does not want to answer"
;let a=e.consent||Object.keys(e.agreed??{})[0]?"the person was asked about something else":(()=>{let{navigator:e,process:t}=globalThis
;return e?.globalPrivacyControl?"Global Privacy Control":["DO_NOT_TRACK","NO_TELEMETRY"].find(e=>!["","0","false","no",void 0].includes(t?.env?.[e]?.toLowerCase()))
})()?.concat(" is set");return a&&`${a}: ask the person, and call device.consent(true${t?", campaign":""}) if they agree`}
var R=e=>(r(e?.asked,"asking","expected an inquiry of device.asking"),e),C=(e,t)=>({is:"refused",reason:e,words:t}),I={
open:async({epsilon:i,delta:l=0,store:u,source:d=s(),policy:p,rules:h=g}={})=>{
r(u?.update,"store","expected store: indexedStore() in a browser, fileStore(folder) of dither-ldp/node, memoryStore() in tests"),
r(h?.open,"rules","expected rules: allRules()"),
r(i>0&&i<2**20&&l>=0&&l<1&&[i,l].every(Number.isFinite),"epsilon","expected epsilon > 0, and delta < 1");let w={...o,...p
},b=()=>t(d.take(16)),v=Math.floor(Date.now()/1e3),q={epsilon:f(i,64),delta:f(l,128),lifetime:null},$={account:3,person:b(),device:b(),limits:{...q,
...m},own:q,born:v,clock:{wall:v,boot:"",elapsed:0,ahead:0},openings:null,askers:[],entries:[],answers:[],choices:[],queue:[]};await u.update((e={
state:$,key:b()+b()})=>(r(e.state,"account"),[0,{...e,state:h.open(J(e.state),e.state===$)}]));let I=e=>u.update(t=>{r(t,"account")
;let[n,a,s]=e(t.state,t);return[n,a&&{...t,state:a,...s&&{key:b()+b()}}]}),P=(e,t,{epsilon:n,delta:r})=>{
let{reason:a}=e,s="budget"===a?`ε = ${n}, δ = ${r} is too much; ε = ${+h.left(t).toPrecision(9)} is left`:"policy"===a?"policy of this device, for one answer: "+JSON.stringify(w):""
;return s?{...e,words:s}:e},E=(e,{label:t="",pack:n=j},a)=>{for(let n of[e].flat()){let{terms:e}=R(n)
;r(!t||(e.labels?.includes(t)??!0),"label",`${JSON.stringify(t)} is not in the campaign; it lists ${JSON.stringify(e.labels)}`)}return I((r,s)=>{
let[i,o,l]=((e,t,n,r)=>{let a=e.queue.filter(e=>k(e)&&r(e)),s=a.find(e=>e.batch)?.batch;if(s)return[s,e.queue.filter(e=>e.batch===s)]
;let i=a.filter(e=>a.find(({fingerprint:t})=>t===e.fingerprint)===e).slice(0,1e3);return[t,i,i[0]&&{...e,queue:e.queue.map(e=>i.includes(e)?{...e,
batch:t}:e)}]})(r,b(),0,_(e)),u=o[0]&&[e].flat().map(({terms:e})=>D(s,e.shown,a)).find(Boolean);return u?[u]:[o[0]&&{id:i,body:n(i,t,o)},l]})
},A=({ends:e=1/0})=>Date.now()/864e5>=e+1?C("ended","the campaign ended on "+new Date(864e5*e).toISOString().slice(0,10)):void 0,_=e=>t=>[e].flat().some(({asked:e})=>c(t,e))
;return{asking(e,t){r(Object(t)===t&&"string"==typeof e,"asking","expected the text of a question, and terms: { name, asker }")
;let s=a(e,t.name),{name:i,asker:o,repeat:l="fresh",assumes:u=[],data:d=null,days:c=null,start:p=null,times:f,every:m,limit:g,phase:w,changes:b}=t,k=b?h.changes?.of(s,c,b):s
;if(!k)throw new n("asking","changes: see dither-ldp/changes",i);let{mechanism:v,epsilon:q,delta:S,fingerprint:O,spend:x}=k
;if(["name","asker"].forEach(e=>r(t[e]&&"string"==typeof t[e],"asking",e+": expected a text")),!x!=!f)throw new n("asking","times",i)
;let[N,J]=x?.(q,f)??[q,[]],$=Math.exp(N),j={question:i,asker:o,fingerprint:O,mechanism:v,epsilon:N,delta:S,assumes:u.concat(J),repeat:l,days:c,
start:p,data:d,...f&&{times:f},...m&&{every:m},...g&&{limit:g},...w&&{phase:w},...b&&{changes:b}}
;if(!h.knows(j))throw new n("asking",`repeat = ${l}: not with these rules, days, start and data; see dither-ldp/rules`,i);return{question:k,terms:t,
asked:j,text:e=>t.text?.[T(t.languages??[],e)]??i,labels(e){let{labels:n=[]}=JSON.parse(k.device).domain,r=t.names?.[T(t.languages??[],e)]
;return n.map(e=>Object(e)===e?e.number:e).map((e,t)=>({value:e,text:r?.[t]??String(e)}))},promise:()=>I(e=>[{epsilon:N,odds:$,reach:$/(1+$),
left:h.left(e),assumes:y(j,h)}])}},async answer(e,n,r=b()){
let{question:a,terms:s,asked:i}=R(e),{otherwise:o,times:l,name:u}=s,c=[s.value?s.value(n):n,o].map(a.inside).find(e=>void 0!==e&&(!l||e.length===l))
;return void 0===c?C("value",`question "${u}": expected ${void 0===n?"a value, got undefined":(({form:e,scale:t},{device:n})=>e?`a ${e}, such as ${"time"===e?"13:45":"2026-05-01"}`:t?`a number from ${t[0]} to ${t.at(-1)}`:JSON.stringify(JSON.parse(n).domain).slice(0,300))(s,a)+"; declare otherwise for all others"}`):I((e,o)=>{
let l=e=>h.source?.(o.key,i,c,e)??d,u=D(o,s.shown),p=u?C("consent",u):A(s);if(p)return[p];let[f,m]=S(e,r,i,w,h,{report:()=>t(a.draw(c,l(0))),
mark:()=>t(l(1).take(16)),source:d,change:e=>h.changes.draw(a,c,i,e,o.key,d)}),g=a.leftOut?.(n);return[{...P(f,e,i),...g&&{leftOut:g}},m]})},
async dryRun(e){let{asked:t,terms:n}=R(e);return I((e,r)=>{let a=D(r,n.shown);return[a?C("consent",a):A(n)??P(S(e,"",t,w,h)[0],e,t)]})},
consent:(e,t,n)=>u.update(a=>{if(r(a,"account"),r(!e||!0===e&&(!t||t.shown),"asking","expected true or false, and a campaign of fetchCampaign"),
void 0===e)return[!D(a,t?.shown)];let{shown:s,terms:i,questions:o}=t??{},{agreed:l}=a,u=s?{...a,agreed:{...l,[s.general]:e?{...s,
address:n?.replace(/campaigns\/\w+$/,"")}:null}}:{...a,consent:e,agreed:e?l??{}:{}};if(e&&!1===B(a,s)){
let[e]=O(a.state,e=>!s||e.asker===i.asker&&e.name===i.name)
;u.state=(e=>e.queue.filter(e=>k(e)&&(e=>!s||e.asker===i.asker&&e.question in o)(e)).reduce((e,{id:t,batch:n})=>(n?x:N)(e,t)[1]??e,e))(e)}
return[!D(u,s),u]}),act:()=>I(e=>h.act?.(e)??[{is:"acted"}]),chosen:e=>u.update(t=>[t&&B(t,e?.shown)]),async body(e,t={}){let n=await E(e,t)
;return"string"==typeof n?void 0:n},acknowledge:e=>I(t=>x(t,e)),async send(t,n,r={}){
let a=[t].flat()[0]?.terms?.taken??x,s=await(async(t,n,r,{fetch:a=globalThis.fetch,pack:s},i)=>{let o={sent:0,waiting:0,refused:[],retryAfter:0
},l=(e,t)=>[{},JSON.stringify({refused:e,words:""+t})];for(let u;u=await t();){
let{id:t,body:d}=u,c="application/"+(s?"vnd.dither.batch":"json"),[{status:p,headers:f},h]=d?await e(a,r,65536,{method:"POST",body:d,headers:{
"content-type":c},keepalive:d.length<6e4
}).then(async([e,t])=>[e,await t.text()]).catch(e=>l("unreachable",e)):l("consent",u),{fate:m,reason:g,words:w}=M(t,p,h),{reports:y=0}="kept"!==m&&await n(t,m)
;if("acknowledged"===m?o.sent+=y:o.refused.push({reason:g||"status "+p,words:w||"no collector at …/campaigns/<id>/batches; it may have moved",
dropped:y}),o.retryAfter=Math.min(Math.max(+f?.get("retry-after")||0,0),86400)*(1+i.take(1)[0]/1024),"kept"===m)break}return o
})(()=>E(t,r,n),(e,t)=>I(n=>("dropped"===t?N:a)(n,e)),n,r,d);return s.waiting=await I(({queue:e})=>[e.filter(e=>k(e)&&_(t)(e)).length]),s},
account:(e=e=>[e])=>I((t,n)=>e(t,h,n,w,d))}}};function P(){let e;return{async update(t){let[n,r]=t(e&&JSON.parse(e));return r&&(e=JSON.stringify(r)),n
}}}function E(e="dither"){let{caches:t,indexedDB:n,navigator:a}=globalThis
;r(n,"store","IndexedDB is missing here: use fileStore(folder) of dither-ldp/node, or memoryStore() in tests")
;let s,i,o=(e,t="onsuccess")=>new Promise((n,r)=>{e[t]=()=>n(e.result),e.onerror=e.onabort=()=>r(e.error)}),l=(async()=>{
s=await(t?.open(e).catch(()=>{}));for(let e of["/0","/1"]){let t=await((await(s?.match(e)))?.json().catch(()=>({turn:0})))
;t?.turn>=(i?.turn??0)&&(i=t)}let r=n.open(e,1);return r.onupgradeneeded=()=>r.result.createObjectStore(e),o(r)})(),u=async t=>{
let n=(await l).transaction(e,"readwrite",{durability:"strict"}),r=n.objectStore(e),a=await o(r.get(1))??i,[u,d]=t(a),c=d&&{...d,turn:(a?.turn??0)+1}
;return c&&r.put(c,1),await o(n,"oncomplete"),c&&await(s?.put("/"+c.turn%2,new Response(JSON.stringify(c)))),u};return{
update:n=>t?a.locks.request(e,()=>u(n)):u(n)}}export{I as Device,E as indexedStore,P as memoryStore};
//# sourceMappingURL=../maps/dither.js.map
