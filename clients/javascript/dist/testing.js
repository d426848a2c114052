import{M as e,v as t,P as r,x as i,S as n,n as s,A as a,U as l,I as o}from"./core.js";var u=e=>BigInt("0x"+e),c=e=>[{is:"refused",reason:e
}],d=({asker:e,question:t,fingerprint:r})=>({asker:e,question:t,fingerprint:r
}),f=(e,t)=>JSON.stringify(d(e))===JSON.stringify(d(t)),p=(e,t)=>BigInt(Math.ceil(e*2**t)).toString(16);function h(e,t){
let r=BigInt(Math.floor(e*2**t));return(r&&r+(r>>52n)+1n).toString(16)}
var m=(e,t,r)=>e.reduce((e,t)=>e-u(t[r]),u(t[r])),g=(e,t)=>["epsilon","delta"].every(r=>m(e,t,r)>=0n),w={epoch:"lifetime",lifetime:null,quota:null,
quotas:{},askers:null},k=(e,t)=>e<<50n>u(t.epsilon)?Number(e)/2**64:0,v={open(t){let[r,i]=[{...t.own,...w
},t.limits].map(e=>JSON.stringify(Object.entries(e).sort()));return e(r===i,"rules"),t},
knows:({repeat:e,days:t,start:r,data:i,every:n,phase:s})=>["fresh","same"].includes(e)&&""+[t,r,i,n,s]==",,,,",
decide:({entries:e,own:t},r,i,n)=>n?[]:y(e,r)?c("answers"):g([...e,i],t)?[]:c("budget"),left:({entries:e,own:t})=>k(m(e,t,"epsilon"),t)
},y=(e,t)=>e.filter(e=>f(e,t)&&e.campaign===t.limit?.campaign).length>=(t.limit?.answers??1/0),b=(e=1)=>e>1?["how many locations a trajectory has, and when they were sent, is public"]:[],q="0".repeat(32),O=({batch:e})=>e!==q,M=(e,t,r)=>e.map(e=>O(e)||e.report!==r||!f(e,t)?e:{
...e,batch:null}),S=({epsilon:e,delta:t,assumes:r,data:i,times:n,campaign:s})=>JSON.stringify([e,t,r,i,n,s]);function N(e){
let t={},r=e.map(({fingerprint:e,report:t})=>e+t).sort();for(let e of r)(t[e.slice(0,32)]??=[]).push(e.slice(32));return t}
var x=(e,t,r)=>JSON.stringify({batch:e,dither:2,label:t,reports:N(r)});function J(e,r,i){let n={};try{n=Object(t(i))}catch{}
let[s,a]=[n.refused,n.words].map(e=>"string"==typeof e?e:""),l=409===r?"conflict"===s:r>=200&&r<300&&n.batch===e,o=s&&"sealed"!==s&&"label"!==s&&[400,410,413,415,422].includes(r)
;return{fate:l?"acknowledged":o?"dropped":"kept",reason:s,words:a}}var U=86400,j={day:U,week:7*U,year:366*U,lifetime:1/0};function I(){
let{performance:e}=globalThis;return{wall:Math.floor(Date.now()/1e3),boot:String(Math.round(e.timeOrigin)),elapsed:Math.floor(e.now()/1e3)}}
function T(e,t){let r=Math.floor(t/U);return"day"===e?r:"week"===e?Math.floor((r+3)/7):"year"===e?new Date(r*U*1e3).getUTCFullYear():0}
function A(e,{wall:t,boot:r,elapsed:i}){let n=r===e.boot;n&&(i=Math.max(i,e.elapsed));let s=n?i-e.elapsed:0,a=Math.max(e.wall,t);return{wall:a,boot:r,
elapsed:i,ahead:e.ahead+a-e.wall-s}}
var C=(e,t)=>e.filter(e=>e.first<=t&&t<=e.last),B=["epsilon","delta"],D=e=>Array.isArray(e)?`[${e.map(D)}]`:Object(e)===e?`{${Object.keys(e).sort().map(t=>JSON.stringify(t)+":"+D(e[t]))}}`:JSON.stringify(e),$=e=>JSON.parse(JSON.stringify(e))
;function F(e,...t){return[...e].sort((e,r)=>{for(let i of t)if(e[i]!==r[i])return e[i]<r[i]?-1:1;return 0})}var Y=(e,t)=>D(e)===D(t),E={
answer:(e,t,r,i,n,s)=>{
let{epsilon:a,delta:l,repeat:o,data:u,times:h,limit:m}=r,g=((e,t)=>[...new Set(e.assumes.concat(t.assumes?.(e)??[]))])(r,n),w=d(r),k={...w,id:t,
device:e.device,epsilon:p(a,64),delta:p(l,128),assumes:g,first:0,last:0,...u&&{data:u},...h&&{times:h},...m&&{campaign:m.campaign}
},v=(e,t)=>e.find(e=>e.id===t),y=e=>e&&f(e,r)&&S(e)===S(k),b=e.answers.find(e=>f(e,r)&&e.permanent===o),q=v(e.entries,b?.id),N=v(e.queue,t),x=v(e.entries,t)
;if(N||x)return f(N??x,r)&&y(x??q)?N?[{is:"resent",report:N.report},O(N)?void 0:{...e,queue:M(e.queue,r,N.report)}]:[{is:"acknowledged",reports:0
}]:c("id");let J=g.every(e=>i.assumptions.includes(e))&&(i.mechanisms?.includes(r.mechanism)??!0);if(!(a<=i.epsilon&&l<=i.delta&&J))return c("policy")
;let[U,j,I=!b]=n.decide(e,r,k,b&&(q??k),s);if(U)return[U,j];let T=b&&"same"===o;if(b&&(!y(q)||T&&null===b.report))return c("changed")
;let A=s&&(T?b.report:s.report()),C={...j??e};return C.queue=I?[...e.queue,{...w,id:t,report:A,batch:null}]:M(e.queue,r,A),b?[{is:"repeated",
charged:"0",report:A},C]:(C.entries=[...e.entries,k],("same"===o||"per value"===o)&&(C.answers=[...e.answers,{...w,id:t,permanent:o,
report:"same"===o?A:null}]),[{is:"drawn",charged:k.epsilon,report:A},C])},batch:(e,t,r,i)=>{
let n=e.queue.filter(e=>O(e)&&i(e)),s=n.find(e=>e.batch)?.batch;if(s)return[s,e.queue.filter(e=>e.batch===s)]
;let a=n.filter(e=>n.find(({fingerprint:t})=>t===e.fingerprint)===e).slice(0,r);return[t,a,a[0]&&{...e,queue:e.queue.map(e=>a.includes(e)?{...e,
batch:t}:e)}]},acknowledge:(e,t)=>{let r=e.queue.filter(e=>e.id!==t&&e.batch!==t),i=e.queue.length-r.length;return i?[{is:"acknowledged",reports:i},{
...e,queue:r}]:[{is:"unknown"}]},drop:(e,t)=>{
let r=e=>O(e)&&t!==q&&(e.batch===t||e.id===t),i=e.queue.filter(r).length,n=e.queue.flatMap(t=>r(t)?(t=>e.answers.some(e=>f(e,t)))(t)?{...t,batch:q
}:[]:t);return i?[{is:"dropped",reports:i},{...e,queue:n}]:[{is:"unknown"}]},upgraded:e=>{if(3===e.account)return e;let t=e.choices.flatMap(e=>[{...e,
repeat:"kept change"},{...e,repeat:"once"}]);return{...e,account:3,choices:t}},split:(e,t,[r,i])=>{let n=$(e.own),s=$(e.own)
;for(let[e,t]of[[n,s],[n.lifetime,s.lifetime]])for(let n of e&&t?B:[]){let s=BigInt(`0x${e[n]}`),a=s*BigInt(r)/BigInt(i);e[n]=(s-a).toString(16),
t[n]=a.toString(16)}let a=e.entries.filter(t=>t.device===e.device),l=(e,t)=>!g(e,t);return a.some(({first:e,last:t})=>{
for(let r=e;r<=t;r++)if(l(a.filter(e=>e.first<=r&&r<=e.last),n))return!0;return!1})||n.lifetime&&l(a,n.lifetime)?[{is:"refused",reason:"spent"}]:[{
is:"split",device:t,own:s},{...e,own:n}]},merge:(e,t)=>{let r=e=>[{is:"refused",reason:e}];if(t.person!==e.person)return r("person")
;if(!Y(t.limits,e.limits))return r("limits");let i=$(e);for(let n of t.entries){let t=e.entries.find(e=>e.id===n.id)
;if(t&&!Y(t,n))return r("conflict");if(!t&&n.device===e.device)return r("rolled back");t||i.entries.push(n)}let n=(e,t,r,i)=>{for(let n of t){
let t=e.findIndex(e=>r(e,n));t<0?e.push(n):i(n,e[t])&&(e[t]=n)}},s=e=>D([e.asker,e.question,e.fingerprint])
;n(i.answers,t.answers,(e,t)=>s(e)===s(t)&&e.permanent===t.permanent,(e,t)=>e.id<t.id);let a=e=>(null===e.answer?"1":"0")+(e.answer??"")+e.device
;return n(i.choices,t.choices,(e,t)=>s(e)===s(t)&&e.repeat===t.repeat&&e.period===t.period,(e,t)=>a(e)<a(t)),
t.coins&&n(i.coins??=[],t.coins,(e,t)=>e.asker===t.asker&&e.name===t.name,(e,t)=>e.heads&&!t.heads),[{is:"merged",
entries:i.entries.length-e.entries.length},i]},ordered:e=>({...e,entries:F(e.entries,"id"),
answers:F(e.answers,"asker","question","fingerprint","permanent"),choices:F(e.choices,"asker","question","fingerprint","repeat","period"),
...e.coins&&{coins:F(e.coins,"asker","name")},...e.told&&{told:[...e.told].sort()}}),below:r,
allRules:({epoch:t="lifetime",lifetime:l,quota:o,askers:u,now:p=I}={})=>{e(Object.hasOwn(j,t),"rules","epoch");for(let[t,r]of Object.entries({
lifetime:l,quota:o}))e(void 0===r||i({[t]:r},t)>=0,"epsilon",t);return void 0!==u&&a({askers:u},"askers",0,2**52),{
assumes:({repeat:e,times:t})=>b(t).concat("per value"===e?["the value never changes","the device's key stays on the device"]:[]),open(e,r){
if(!r)return e;let i=p(),n={...e.own,lifetime:void 0===l?null:{epsilon:h(l,64),delta:e.own.delta}},s={...n,epoch:t,quota:void 0===o?null:h(o,64),
quotas:{},askers:u??null};return{...e,own:n,limits:s,born:i.wall,clock:{...i,ahead:0},openings:s.askers}},
knows({repeat:e,days:t,start:r,data:i,every:n}){let s=(...e)=>e.every(Number.isInteger)
;return("once"===e?n?["day","week","month"].includes(n)&&t===r&&null===t:s(t,r)&&t>0:["fresh","same","per value"].includes(e)&&t===r&&null===t)&&(null===i||Array.isArray(i)&&2===i.length&&s(...i))
},decide(e,t,i,n,s){let{limits:a,born:l}=e,o=A(e.clock,p());if(o.ahead>j[a.epoch])return c("clock");let[u,h]=t.data??[o.wall,o.wall+1]
;if(!(u<h&&h<=o.wall+1))return c("data");if(i.first=T(a.epoch,Math.max(u,l)),i.last=T(a.epoch,Math.max(h-1,l)),i.last-i.first>=366)return c("data")
;let w={...e,clock:o};if(!w.askers.includes(t.asker)){if(0===w.openings)return c("asker");w.askers=[...w.askers,t.asker].sort(),
null!==w.openings&&w.openings--}let k,{phase:v,asker:b}=t;if(v){let e=w.coins??[],t=e.find(e=>e.asker===b&&e.name===v.name),i=(t,r)=>({...w,
coins:[...e,{asker:b,name:v.name,campaign:r,heads:t}]});if(void 0===v.follows){if(!t&&!s)return[{is:"silent"}]
;if(t||(w=k=i(r(s.source,1e3)<v.share,v.campaign)),!(t??w.coins.at(-1)).heads)return[c("phase")[0],k]}else{
if(e.some(e=>e.heads&&e.asker===b&&(e.name===v.name||e.campaign===v.follows)))return c("phase");t||(w=i(!1,v.follows))}}
let q,O="per value"===t.repeat&&s&&(n??i).device===w.device&&s.mark(),M=O?!w.told?.includes(O):void 0;if(M&&(w.told=[...w.told??[],O]),
n)return[void 0,w,M];if("once"===t.repeat){let i,n=Math.floor(o.wall/U);if([q,i]=((e,t,i,n)=>{let[s,a]=(({start:e,days:t,every:r},i)=>{
if(!r)return[e+Math.floor((i-e)/t)*t,t];if("day"===r)return[i,1];if("week"===r)return[i-(i+3)%7,7]
;let n=new Date(i*U*1e3),s=Date.UTC(n.getUTCFullYear(),n.getUTCMonth())/1e3/U;return[s,Date.UTC(n.getUTCFullYear(),n.getUTCMonth()+1)/1e3/U-s]
})(t,i),l=e.choices.find(e=>f(e,t)&&"once"===(e.repeat??"once")&&e.period===s);if(l||!n)return[l];let o={...d(t),repeat:"once",period:s,day:s+r(n,a),
device:e.device,answer:null};return[o,{...e,choices:[...e.choices,o]}]})(w,t,n,s?.source),w=k=i??k??w,
!i&&w===k&&!w.coins&&w.choices===e.choices&&(k=void 0),q?.day!==n||null!==q.answer)return[{is:"silent"},k]}
let S=y(w.entries,t)?"answers":(({entries:e,device:t,own:r,limits:i},n)=>{
let{asker:s,first:a,last:l}=n,o=[...e,n],u=o.filter(e=>e.device===t),c=Object.hasOwn(i.quotas,s)?i.quotas[s]:i.quota,d=(e,t)=>{
for(let r=a;r<=l;r++)if(!t(C(e,r)))return!1;return!0},f=o.filter(e=>e.asker===s);if(null!==c&&!d(f,e=>m(e,{epsilon:c,delta:"0"
},"epsilon")>=0n))return"quota";for(let[e,t]of[[u,r],[o,i]]){if(!d(e,e=>g(e,t)))return"budget";if(t.lifetime&&!g(e,t.lifetime))return"lifetime"}
})(w,i);return S?[c(S)[0],k]:[void 0,q?{...w,choices:w.choices.map(e=>e===q?{...e,answer:i.id}:e)}:w,M]},
source:(e,t,r,i)=>"per value"===t.repeat?((e,{asker:t,question:r,fingerprint:i},a,l)=>{let o=JSON.stringify([e,l,t,r,i,a]),u=0,c=[];return{take(t){
for(;c.length<t;)c.push(...n(s(`${u++} ${o} ${e}`)));return Uint8Array.from(c.splice(0,t))}}})(e,t,r,i):void 0,
left({entries:e,own:t,limits:r,device:i,clock:n}){
let s=T(r.epoch,Math.max(p().wall,n.wall)),a=e.filter(e=>e.device===i),l=m(C(a,s),t,"epsilon"),o=t.lifetime?m(a,t.lifetime,"epsilon"):l
;return k(o<l?o:l,t)},act:e=>[{is:"acted"},{...e,clock:{...A(e.clock,p()),ahead:0},openings:e.limits.askers}]}},plain:v,pathAssumes:b,DEFAULT:{
epsilon:1,delta:0,assumptions:[],mechanisms:null}}
;export{E as accounts,D as canonical,l as checkAddress,o as expBelow,x as jsonBody,J as judge,n as sha256};
//# sourceMappingURL=../maps/testing.js.map
