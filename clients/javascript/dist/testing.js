import{M as e,v as t,P as r,x as i,S as n,n as s,A as a,U as l,I as o,F as u}from"./core.js";var c=e=>BigInt("0x"+e),d=e=>[{is:"refused",reason:e
}],f=({asker:e,question:t,fingerprint:r})=>({asker:e,question:t,fingerprint:r
}),p=(e,t)=>JSON.stringify(f(e))===JSON.stringify(f(t)),h=(e,t)=>BigInt(Math.ceil(e*2**t)).toString(16);function m(e,t){
let r=BigInt(Math.floor(e*2**t));return(r&&r+(r>>52n)+1n).toString(16)}
var w=(e,t,r)=>e.reduce((e,t)=>e-c(t[r]),c(t[r])),g=(e,t)=>["epsilon","delta"].every(r=>w(e,t,r)>=0n),k={epoch:"lifetime",lifetime:null,quota:null,
quotas:{},askers:null},v=(e,t)=>e<<50n>c(t.epsilon)?Number(e)/2**64:0,y={open(t){let[r,i]=[{...t.own,...k
},t.limits].map(e=>JSON.stringify(Object.entries(e).sort()));return e(r===i,"rules"),t},
knows:({repeat:e,days:t,start:r,data:i,every:n,phase:s})=>["fresh","same"].includes(e)&&""+[t,r,i,n,s]==",,,,",
decide:({entries:e,own:t},r,i,n)=>n?[]:b(e,r)?d("answers"):g([...e,i],t)?[]:d("budget"),left:({entries:e,own:t})=>v(w(e,t,"epsilon"),t)
},b=(e,t)=>e.filter(e=>p(e,t)&&e.campaign===t.limit?.campaign).length>=(t.limit?.answers??1/0),q=(e=1)=>e>1?["how many locations a trajectory has, and when they were sent, is public"]:[],O="0".repeat(32),M=({batch:e})=>e!==O,S=(e,t,r)=>e.map(e=>M(e)||e.report!==r||!p(e,t)?e:{
...e,batch:null}),N=({epsilon:e,delta:t,assumes:r,data:i,times:n,campaign:s})=>JSON.stringify([e,t,r,i,n,s]);function J(e){
let t={},r=e.map(({fingerprint:e,report:t})=>e+t).sort();for(let e of r)(t[e.slice(0,32)]??=[]).push(e.slice(32));return t}
var j=(e,t,r)=>JSON.stringify({batch:e,dither:2,label:t,reports:J(r)});function x(e,r,i){let n={};try{n=Object(t(i))}catch{}
let[s,a]=[n.refused,n.words].map(e=>"string"==typeof e?e:""),l=409===r?"conflict"===s:r>=200&&r<300&&n.batch===e,o=s&&"sealed"!==s&&"label"!==s&&[400,410,413,415,422].includes(r)
;return{fate:l?"acknowledged":o?"dropped":"kept",reason:s,words:a}}var U=86400,I={day:U,week:7*U,year:366*U,lifetime:1/0};function T(){
let{performance:e}=globalThis;return{wall:Math.floor(Date.now()/1e3),boot:String(Math.round(e.timeOrigin)),elapsed:Math.floor(e.now()/1e3)}}
function A(e,t){let r=Math.floor(t/U);return"day"===e?r:"week"===e?Math.floor((r+3)/7):"year"===e?new Date(r*U*1e3).getUTCFullYear():0}
function C(e,{wall:t,boot:r,elapsed:i}){let n=r===e.boot;n&&(i=Math.max(i,e.elapsed));let s=n?i-e.elapsed:0,a=Math.max(e.wall,t);return{wall:a,boot:r,
elapsed:i,ahead:e.ahead+a-e.wall-s}}var B=(e,t)=>e.filter(e=>e.first<=t&&t<=e.last),D=e=>JSON.stringify({dither:2,withdraw:e});function $(e,r,i){
let n={};try{n=Object(t(i))}catch{}return[r>=200&&r<300&&n.withdrawn===e,"string"==typeof n.refused?n.refused:""]}
var F=["epsilon","delta"],Y=e=>Array.isArray(e)?`[${e.map(Y)}]`:Object(e)===e?`{${Object.keys(e).sort().map(t=>JSON.stringify(t)+":"+Y(e[t]))}}`:JSON.stringify(e),E=e=>JSON.parse(JSON.stringify(e))
;function L(e,...t){return[...e].sort((e,r)=>{for(let i of t)if(e[i]!==r[i])return e[i]<r[i]?-1:1;return 0})}var P=(e,t)=>Y(e)===Y(t),R={
answer:(e,t,r,i,n,s)=>{
let{epsilon:a,delta:l,repeat:o,data:u,times:c,limit:m}=r,w=((e,t)=>[...new Set(e.assumes.concat(t.assumes?.(e)??[]))])(r,n),g=f(r),k={...g,id:t,
device:e.device,epsilon:h(a,64),delta:h(l,128),assumes:w,first:0,last:0,...u&&{data:u},...c&&{times:c},...m&&{campaign:m.campaign}
},v=(e,t)=>e.find(e=>e.id===t),y=e=>e&&p(e,r)&&N(e)===N(k),b=e.answers.find(e=>p(e,r)&&e.permanent===o),q=v(e.entries,b?.id),O=v(e.queue,t),J=v(e.entries,t)
;if(O||J)return p(O??J,r)&&y(J??q)?O?[{is:"resent",report:O.report},M(O)?void 0:{...e,queue:S(e.queue,r,O.report)}]:[{is:"acknowledged",reports:0
}]:d("id");let j=w.every(e=>i.assumptions.includes(e))&&(i.mechanisms?.includes(r.mechanism)??!0);if(!(a<=i.epsilon&&l<=i.delta&&j))return d("policy")
;let[x,U,I=!b]=n.decide(e,r,k,b&&(q??k),s);if(x)return[x,U];let T=b&&"same"===o;if(b&&(!y(q)||T&&null===b.report))return d("changed")
;let A=s&&(T?b.report:s.report()),C={...U??e};return C.queue=I?[...e.queue,{...g,id:t,report:A,batch:null}]:S(e.queue,r,A),b?[{is:"repeated",
charged:"0",report:A},C]:(C.entries=[...e.entries,k],("same"===o||"per value"===o)&&(C.answers=[...e.answers,{...g,id:t,permanent:o,
report:"same"===o?A:null}]),[{is:"drawn",charged:k.epsilon,report:A},C])},batch:(e,t,r,i)=>{
let n=e.queue.filter(e=>M(e)&&i(e)),s=n.find(e=>e.batch)?.batch;if(s)return[s,e.queue.filter(e=>e.batch===s)]
;let a=n.filter(e=>n.find(({fingerprint:t})=>t===e.fingerprint)===e).slice(0,r);return[t,a,a[0]&&{...e,queue:e.queue.map(e=>a.includes(e)?{...e,
batch:t}:e)}]},acknowledge:(e,t,r)=>{let i=e.queue.filter(e=>e.id===t||e.batch===t),[n,s]=((e,t)=>{
let r=e.queue.filter(e=>e.id!==t&&e.batch!==t),i=e.queue.length-r.length;return i?[{is:"acknowledged",reports:i},{...e,queue:r}]:[{is:"unknown"}]
})(e,t);if(!s||i[0].batch!==t||!r)return[n,s];let{campaign:a,day:l,retry:o}=r,u={id:t,asker:i[0].asker,campaign:a,until:l+o,
questions:i.map(({question:e})=>e)};return[n,{...s,sent:[...(e.sent??[]).filter(({until:e})=>e>=l),u]}]},withdraw:(e,t)=>{
let r=e.queue.filter(e=>M(e)&&e.batch===t),i=e.sent?.find(e=>e.id===t),n=r.length+(i?.questions.length??0),{sent:s,...a}={...e,
queue:e.queue.filter(e=>!r.includes(e))},l=s?.filter(e=>e!==i);return n?[{is:"withdrawn",reports:n},l?.[0]?{...a,sent:l}:a]:[{is:"unknown"}]},
drop:(e,t)=>{let r=e=>M(e)&&t!==O&&(e.batch===t||e.id===t),i=e.queue.filter(r).length,n=e.queue.flatMap(t=>r(t)?(t=>e.answers.some(e=>p(e,t)))(t)?{
...t,batch:O}:[]:t);return i?[{is:"dropped",reports:i},{...e,queue:n}]:[{is:"unknown"}]},upgraded:e=>{if(3===e.account)return e
;let t=e.choices.flatMap(e=>[{...e,repeat:"kept change"},{...e,repeat:"once"}]);return{...e,account:3,choices:t}},split:(e,t,[r,i])=>{
let n=E(e.own),s=E(e.own);for(let[e,t]of[[n,s],[n.lifetime,s.lifetime]])for(let n of e&&t?F:[]){let s=BigInt(`0x${e[n]}`),a=s*BigInt(r)/BigInt(i)
;e[n]=(s-a).toString(16),t[n]=a.toString(16)}let a=e.entries.filter(t=>t.device===e.device),l=(e,t)=>!g(e,t);return a.some(({first:e,last:t})=>{
for(let r=e;r<=t;r++)if(l(a.filter(e=>e.first<=r&&r<=e.last),n))return!0;return!1})||n.lifetime&&l(a,n.lifetime)?[{is:"refused",reason:"spent"}]:[{
is:"split",device:t,own:s},{...e,own:n}]},merge:(e,t)=>{let r=e=>[{is:"refused",reason:e}];if(t.person!==e.person)return r("person")
;if(!P(t.limits,e.limits))return r("limits");let i=E(e);for(let n of t.entries){let t=e.entries.find(e=>e.id===n.id)
;if(t&&!P(t,n))return r("conflict");if(!t&&n.device===e.device)return r("rolled back");t||i.entries.push(n)}let n=(e,t,r,i)=>{for(let n of t){
let t=e.findIndex(e=>r(e,n));t<0?e.push(n):i(n,e[t])&&(e[t]=n)}},s=e=>Y([e.asker,e.question,e.fingerprint])
;n(i.answers,t.answers,(e,t)=>s(e)===s(t)&&e.permanent===t.permanent,(e,t)=>e.id<t.id);let a=e=>(null===e.answer?"1":"0")+(e.answer??"")+e.device
;return n(i.choices,t.choices,(e,t)=>s(e)===s(t)&&e.repeat===t.repeat&&e.period===t.period,(e,t)=>a(e)<a(t)),
t.coins&&n(i.coins??=[],t.coins,(e,t)=>e.asker===t.asker&&e.name===t.name,(e,t)=>e.heads&&!t.heads),[{is:"merged",
entries:i.entries.length-e.entries.length},i]},ordered:e=>({...e,entries:L(e.entries,"id"),
answers:L(e.answers,"asker","question","fingerprint","permanent"),choices:L(e.choices,"asker","question","fingerprint","repeat","period"),
...e.coins&&{coins:L(e.coins,"asker","name")},...e.told&&{told:[...e.told].sort()}}),below:r,
allRules:({epoch:t="lifetime",lifetime:l,quota:o,askers:u,now:c=T}={})=>{e(Object.hasOwn(I,t),"rules","epoch");for(let[t,r]of Object.entries({
lifetime:l,quota:o}))e(void 0===r||i({[t]:r},t)>=0,"epsilon",t);return void 0!==u&&a({askers:u},"askers",0,2**52),{
assumes:({repeat:e,times:t})=>q(t).concat("per value"===e?["the value never changes","the device's key stays on the device"]:[]),open(e,r){
if(!r)return e;let i=c(),n={...e.own,lifetime:void 0===l?null:{epsilon:m(l,64),delta:e.own.delta}},s={...n,epoch:t,quota:void 0===o?null:m(o,64),
quotas:{},askers:u??null};return{...e,own:n,limits:s,born:i.wall,clock:{...i,ahead:0},openings:s.askers}},
knows({repeat:e,days:t,start:r,data:i,every:n}){let s=(...e)=>e.every(Number.isInteger)
;return("once"===e?n?["day","week","month"].includes(n)&&t===r&&null===t:s(t,r)&&t>0:["fresh","same","per value"].includes(e)&&t===r&&null===t)&&(null===i||Array.isArray(i)&&2===i.length&&s(...i))
},decide(e,t,i,n,s){let{limits:a,born:l}=e,o=C(e.clock,c());if(o.ahead>I[a.epoch])return d("clock");let[u,h]=t.data??[o.wall,o.wall+1]
;if(!(u<h&&h<=o.wall+1))return d("data");if(i.first=A(a.epoch,Math.max(u,l)),i.last=A(a.epoch,Math.max(h-1,l)),i.last-i.first>=366)return d("data")
;let m={...e,clock:o};if(!m.askers.includes(t.asker)){if(0===m.openings)return d("asker");m.askers=[...m.askers,t.asker].sort(),
null!==m.openings&&m.openings--}let k,{phase:v,asker:y}=t;if(v){let e=m.coins??[],t=e.find(e=>e.asker===y&&e.name===v.name),i=(t,r)=>({...m,
coins:[...e,{asker:y,name:v.name,campaign:r,heads:t}]});if(void 0===v.follows){if(!t&&!s)return[{is:"silent"}]
;if(t||(m=k=i(r(s.source,1e3)<v.share,v.campaign)),!(t??m.coins.at(-1)).heads)return[d("phase")[0],k]}else{
if(e.some(e=>e.heads&&e.asker===y&&(e.name===v.name||e.campaign===v.follows)))return d("phase");t||(m=i(!1,v.follows))}}
let q,O="per value"===t.repeat&&s&&(n??i).device===m.device&&s.mark(),M=O?!m.told?.includes(O):void 0;if(M&&(m.told=[...m.told??[],O]),
n)return[void 0,m,M];if("once"===t.repeat){let i,n=Math.floor(o.wall/U);if([q,i]=((e,t,i,n)=>{let[s,a]=(({start:e,days:t,every:r},i)=>{
if(!r)return[e+Math.floor((i-e)/t)*t,t];if("day"===r)return[i,1];if("week"===r)return[i-(i+3)%7,7]
;let n=new Date(i*U*1e3),s=Date.UTC(n.getUTCFullYear(),n.getUTCMonth())/1e3/U;return[s,Date.UTC(n.getUTCFullYear(),n.getUTCMonth()+1)/1e3/U-s]
})(t,i),l=e.choices.find(e=>p(e,t)&&"once"===(e.repeat??"once")&&e.period===s);if(l||!n)return[l];let o={...f(t),repeat:"once",period:s,day:s+r(n,a),
device:e.device,answer:null};return[o,{...e,choices:[...e.choices,o]}]})(m,t,n,s?.source),m=k=i??k??m,
!i&&m===k&&!m.coins&&m.choices===e.choices&&(k=void 0),q?.day!==n||null!==q.answer)return[{is:"silent"},k]}
let S=b(m.entries,t)?"answers":(({entries:e,device:t,own:r,limits:i},n)=>{
let{asker:s,first:a,last:l}=n,o=[...e,n],u=o.filter(e=>e.device===t),c=Object.hasOwn(i.quotas,s)?i.quotas[s]:i.quota,d=(e,t)=>{
for(let r=a;r<=l;r++)if(!t(B(e,r)))return!1;return!0},f=o.filter(e=>e.asker===s);if(null!==c&&!d(f,e=>w(e,{epsilon:c,delta:"0"
},"epsilon")>=0n))return"quota";for(let[e,t]of[[u,r],[o,i]]){if(!d(e,e=>g(e,t)))return"budget";if(t.lifetime&&!g(e,t.lifetime))return"lifetime"}
})(m,i);return S?[d(S)[0],k]:[void 0,q?{...m,choices:m.choices.map(e=>e===q?{...e,answer:i.id}:e)}:m,M]},
source:(e,t,r,i)=>"per value"===t.repeat?((e,{asker:t,question:r,fingerprint:i},a,l)=>{let o=JSON.stringify([e,l,t,r,i,a]),u=0,c=[];return{take(t){
for(;c.length<t;)c.push(...n(s(`${u++} ${o} ${e}`)));return Uint8Array.from(c.splice(0,t))}}})(e,t,r,i):void 0,
left({entries:e,own:t,limits:r,device:i,clock:n}){
let s=A(r.epoch,Math.max(c().wall,n.wall)),a=e.filter(e=>e.device===i),l=w(B(a,s),t,"epsilon"),o=t.lifetime?w(a,t.lifetime,"epsilon"):l
;return v(o<l?o:l,t)},act:e=>[{is:"acted"},{...e,clock:{...C(e.clock,c()),ahead:0},openings:e.limits.askers}]}},plain:y,pathAssumes:q,DEFAULT:{
epsilon:1,delta:0,assumptions:[],mechanisms:null}}
;export{R as accounts,Y as canonical,l as checkAddress,o as expBelow,j as jsonBody,x as judge,$ as judgeWithdrawal,n as sha256,D as withdrawalBody};
//# sourceMappingURL=../maps/testing.js.map
