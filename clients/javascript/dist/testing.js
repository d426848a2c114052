import{M as e,v as t,P as r,U as n,I as s,S as i,F as a}from"./core.js";var l=e=>BigInt("0x"+e),o=e=>[{is:"refused",reason:e
}],p=({asker:e,question:t,fingerprint:r})=>({asker:e,question:t,fingerprint:r
}),u=(e,t)=>JSON.stringify(p(e))===JSON.stringify(p(t)),c=(e,{epsilon:t,delta:r,mechanism:n},s)=>t<=e.epsilon&&r<=e.delta&&s.every(t=>e.assumptions.includes(t))&&(e.mechanisms?.includes(n)??!0),d=(e,t)=>BigInt(Math.ceil(e*2**t)).toString(16),f=(e,t,r)=>e.reduce((e,t)=>e-l(t[r]),l(t[r])),m=(e,t)=>["epsilon","delta"].every(r=>f(e,t,r)>=0n),h={
epoch:"lifetime",lifetime:null,quota:null,quotas:{},askers:null},g={open(t){let[r,n]=[{...t.own,...h
},t.limits].map(e=>JSON.stringify(Object.entries(e).sort()));return e(r===n,"rules"),t},
knows:({repeat:e,days:t,start:r,data:n,every:s,phase:i,changes:a})=>["fresh","same"].includes(e)&&""+[t,r,n,s,i,a]==",,,,,",
decide:({entries:e,own:t},r,n,s)=>s?[]:w(e,r)?o("answers"):m([...e,n],t)?[]:o("budget"),left:({entries:e,own:t})=>{
return(r=f(e,t,"epsilon"))<<50n>l(t.epsilon)?Number(r)/2**64:0;var r}
},w=(e,t)=>e.filter(e=>u(e,t)&&e.campaign===t.limit?.campaign).length>=(t.limit?.answers??1/0),k="0".repeat(32),b=({batch:e})=>e!==k,y=(e,t,r)=>e.map(e=>b(e)||e.report!==r||!u(e,t)?e:{
...e,batch:null}),q=({epsilon:e,delta:t,assumes:r,data:n,times:s,campaign:i})=>JSON.stringify([e,t,r,n,s,i]);function v(e,t){
let r=e.present?.filter(e=>e.batch&&t(e)).length??0;return r?[{...e,present:e.present.map(e=>t(e)?{...e,batch:null}:e)},r]:[e,0]}function O(e){
let t={},r=e.map(({fingerprint:e,report:t})=>e+t).sort();for(let e of r)(t[e.slice(0,32)]??=[]).push(e.slice(32));return t}
var S=(e,t,r)=>JSON.stringify({batch:e,dither:2,label:t,reports:O(r)});function M(e,r,n){let s={};try{s=Object(t(n))}catch{}
let[i,a]=[s.refused,s.words].map(e=>"string"==typeof e?e:""),l=409===r?"conflict"===i:r>=200&&r<300&&s.batch===e,o=i&&"sealed"!==i&&"label"!==i&&[400,410,413,415,422].includes(r)
;return{fate:l?"acknowledged":o?"dropped":"kept",reason:i,words:a}}
import{AHEAD as N,clockAfter as J,DAY as j,epochOf as x,periodOf as I,short as B}from"./rules.js"
;var A=(e,{asker:t,name:r})=>e.present?.find(e=>e.asker===t&&e.name===r),D=(e,t)=>e.answers.find(e=>t&&"present"===e.permanent&&u(e,t)),$=({every:e},{wall:t})=>I({
every:e,days:null,start:null},Math.floor(t/j))[0],F=(e,t)=>({...e,present:[...(e.present??[]).filter(({asker:e,name:r})=>e!==t.asker||r!==t.name),t]})
;import{allRules as P}from"./rules.js";var U=({present:e},t)=>(e??[]).filter(({batch:e})=>e===t).map(({asker:e,name:t,batch:r})=>({asker:e,question:t,
batch:r})),E=e=>JSON.stringify({dither:2,withdraw:e});function L(e,r,n){let s={};try{s=Object(t(n))}catch{}
return[r>=200&&r<300&&s.withdrawn===e,"string"==typeof s.refused?s.refused:""]}function R(e){
let{repeat:t,begins:r,ends:n,days:s,every:i,answers:a,promise:l}=e,o=(Date.parse(n)-Date.parse(r))/864e5+1,p=e=>12*+e.slice(0,4)+ +e.slice(5,7),u=e=>Math.floor((Date.parse(e)/864e5+3)/7),c=s?Math.ceil(o/s):"month"===i?p(n)-p(r)+1:"week"===i?u(n)-u(r)+1:o,d="same"===t||"present"===t?1:"once"===t||"kept change"===t?c:"fresh"===t?a:void 0
;return d&&d*l.epsilon}function T(e){let t=100/(1+Math.exp(-e))*1.0000000000000002
;return`${[1,10,100].map(e=>(Math.ceil(t*e)/e).toFixed(Math.log10(e))).find(e=>+e<100)??"100"} %`}
var z=["epsilon","delta"],C=e=>Array.isArray(e)?`[${e.map(C)}]`:Object(e)===e?`{${Object.keys(e).sort().map(t=>JSON.stringify(t)+":"+C(e[t]))}}`:JSON.stringify(e),G=e=>JSON.parse(JSON.stringify(e))
;function H(e,...t){return[...e].sort((e,r)=>{for(let n of t)if(e[n]!==r[n])return e[n]<r[n]?-1:1;return 0})}var K=(e,t)=>C(e)===C(t),Q={
answer:(e,t,r,n,s,i)=>{
let{epsilon:a,delta:l,repeat:f,data:m,times:h,limit:g}=r,w=((e,t)=>[...new Set(e.assumes.concat(t.assumes?.(e)??[]))])(r,s),k=p(r),v={...k,id:t,
device:e.device,epsilon:d(a,64),delta:d(l,128),assumes:w,first:0,last:0,...m&&{data:m},...h&&{times:h},...g&&{campaign:g.campaign}
},O=(e,t)=>e.find(e=>e.id===t),S=e=>((e,t)=>e&&u(e,t)&&q(e)===q(t))(e,v),M=e.answers.find(e=>u(e,r)&&e.permanent===f),N=O(e.entries,M?.id),J=O(e.queue,t),j=O(e.entries,t)
;if(J||j){let t="kept change"===f;return t&&j?.data&&(v.data=j.data),u(J??j,r)&&(t&&!j||S(j??N))?J?[{is:"resent",report:J.report},b(J)?void 0:{...e,
queue:y(e.queue,r,J.report)}]:[{is:"acknowledged",reports:0}]:o("id")}if(!c(n,r,w))return o("policy");let[x,I,B=!M]=s.decide(e,r,v,M&&(N??v),i)
;if(x)return[x,I];let A=M&&"same"===f;if(M&&(!S(N)||A&&null===M.report))return o("changed");let D=i&&(A?M.report:i.report()),$={...I??e}
;return $.queue=B?[...e.queue,{...k,id:t,report:D,batch:null}]:y(e.queue,r,D),M?[{is:"repeated",charged:"0",report:D},$]:($.entries=[...e.entries,v],
("same"===f||"per value"===f)&&($.answers=[...e.answers,{...k,id:t,permanent:f,report:"same"===f?D:null}]),[{is:"drawn",charged:v.epsilon,report:D
},$])},batch:(e,t,r,n)=>{let s=e.queue.filter(e=>b(e)&&n(e)),i=s.find(e=>e.batch)?.batch;if(i)return[i,e.queue.filter(e=>e.batch===i)]
;let a=s.filter(e=>s.find(({fingerprint:t})=>t===e.fingerprint)===e).slice(0,r);return[t,a,a[0]&&{...e,queue:e.queue.map(e=>a.includes(e)?{...e,
batch:t}:e)}]},acknowledge:(e,t,r)=>{let n=[...e.queue.filter(e=>e.id===t||e.batch===t),...U(e,t)],[s,i]=((e,t)=>{
let r=e.queue.filter(e=>e.id!==t&&e.batch!==t),[n,s]=v(e,e=>e.batch===t),i=e.queue.length-r.length+s;return i?[{is:"acknowledged",reports:i},{...n,
queue:r}]:[{is:"unknown"}]})(e,t);if(!i||n[0].batch!==t||!r)return[s,i];let{campaign:a,day:l,retry:o}=r,p={id:t,asker:n[0].asker,campaign:a,until:l+o,
questions:n.map(({question:e})=>e)};return[s,{...i,sent:[...(e.sent??[]).filter(({until:e})=>e>=l),p]}]},decideMessage:(e,t,r,n)=>{let s=A(e,r)
;if(!s?.batch)return[{is:"empty"}];let i=J(e.clock,t);if($(r,i)!==s.period)return[{is:"empty"},F({...e,clock:i},{...s,batch:null})]
;let a=s.permanent&&D(e,n);return[{is:"message",id:s.batch,public:!s.permanent,reports:a?[[a.fingerprint,a.report]]:[]}]},
decidePresent:(e,t,n,s,i,a,{report:l,source:u})=>{let{asker:f,name:m,share:h}=s;if(i&&!c(a,i,i.assumes))return o("policy");let g=J(e.clock,n),w={...e,
clock:g};if(!w.askers.includes(f)){if(0===w.openings)return o("asker");w.askers=[...w.askers,f].sort(),null!==w.openings&&w.openings--}
let k=$(s,g),b=A(w,s);if(b&&null!==b.period&&k<=b.period)return[{is:"silent"}];let y=b?b.permanent:!!i&&r(u,1e3)<h,q=F(w,{asker:f,name:m,permanent:y,
period:k,batch:t});if(y&&i&&null===(b?.period??null)&&!D(w,i)){let e=x(w.limits.epoch,Math.max(g.wall,w.born)),r={...p(i),id:t,device:w.device,
epsilon:d(i.epsilon,64),delta:d(i.delta,128),assumes:i.assumes,first:e,last:e};if(g.ahead<=N[w.limits.epoch]&&!B(w,r)){let e=l(),n={...p(i),id:t,
permanent:"present",report:e};return[{is:"drawn",charged:r.epsilon,report:e},{...q,entries:[...w.entries,r],answers:[...w.answers,n]}]}}return[{
is:"present"},q]},withdraw:(e,t)=>{
let r=e.queue.filter(e=>b(e)&&e.batch===t),n=e.sent?.find(e=>e.id===t),[s,i]=v(e,({batch:e})=>e===t),a=r.length+i+(n?.questions.length??0),{sent:l,...o}={
...s,queue:e.queue.filter(e=>!r.includes(e))},p=l?.filter(e=>e!==n);return a?[{is:"withdrawn",reports:a},p?.[0]?{...o,sent:p}:o]:[{is:"unknown"}]},
drop:(e,t)=>{let r=e=>b(e)&&t!==k&&(e.batch===t||e.id===t),n=e.queue.filter(r).length,s=e.queue.flatMap(t=>r(t)?(t=>e.answers.some(e=>u(e,t)))(t)?{
...t,batch:k}:[]:t),[i,a]=v(e,e=>e.batch===t);return a?[{is:"dropped",reports:a},i]:n?[{is:"dropped",reports:n},{...e,queue:s}]:[{is:"unknown"}]},
upgraded:e=>{if(3===e.account)return e;let t=e.choices.flatMap(e=>[{...e,repeat:"kept change"},{...e,repeat:"once"}]);return{...e,account:3,choices:t}
},split:(e,t,[r,n])=>{let s=G(e.own),i=G(e.own);for(let[e,t]of[[s,i],[s.lifetime,i.lifetime]])for(let s of e&&t?z:[]){
let i=BigInt(`0x${e[s]}`),a=i*BigInt(r)/BigInt(n);e[s]=(i-a).toString(16),t[s]=a.toString(16)}
let a=e.entries.filter(t=>t.device===e.device),l=(e,t)=>!m(e,t);return a.some(({first:e,last:t})=>{
for(let r=e;r<=t;r++)if(l(a.filter(e=>e.first<=r&&r<=e.last),s))return!0;return!1})||s.lifetime&&l(a,s.lifetime)?[{is:"refused",reason:"spent"}]:[{
is:"split",device:t,own:i},{...e,own:s}]},merge:(e,t)=>{let r=e=>[{is:"refused",reason:e}];if(t.person!==e.person)return r("person")
;if(!K(t.limits,e.limits))return r("limits");let n=G(e);for(let s of t.entries){let t=e.entries.find(e=>e.id===s.id)
;if(t&&!K(t,s))return r("conflict");if(!t&&s.device===e.device)return r("rolled back");t||n.entries.push(s)}let s=(e,t,r,n)=>{for(let s of t){
let t=e.findIndex(e=>r(e,s));t<0?e.push(s):n(s,e[t])&&(e[t]=s)}},i=e=>C([e.asker,e.question,e.fingerprint])
;s(n.answers,t.answers.filter(e=>"present"!==e.permanent),(e,t)=>i(e)===i(t)&&e.permanent===t.permanent,(e,t)=>e.id<t.id)
;let a=e=>(null===e.answer?"1":"0")+(e.answer??"")+e.device
;return s(n.choices,t.choices,(e,t)=>i(e)===i(t)&&e.repeat===t.repeat&&e.period===t.period,(e,t)=>a(e)<a(t)),
t.coins&&s(n.coins??=[],t.coins,(e,t)=>e.asker===t.asker&&e.name===t.name,(e,t)=>e.heads&&!t.heads),[{is:"merged",
entries:n.entries.length-e.entries.length},n]},ordered:e=>({...e,entries:H(e.entries,"id"),
answers:H(e.answers,"asker","question","fingerprint","permanent"),choices:H(e.choices,"asker","question","fingerprint","repeat","period"),
...e.coins&&{coins:H(e.coins,"asker","name")},...e.told&&{told:[...e.told].sort()},...e.trees&&{
trees:H(e.trees,"asker","question","fingerprint","period")},...e.present&&{present:H(e.present,"asker","name")}}),below:r,allRules:P,plain:g,
pathAssumes:(e=1)=>e>1?["how many locations a trajectory has, and when they were sent, is public"]:[],DEFAULT:{epsilon:1,delta:0,assumptions:[],
mechanisms:null}}
;export{Q as accounts,C as canonical,n as checkAddress,s as expBelow,S as jsonBody,M as judge,L as judgeWithdrawal,i as sha256,T as share,R as totalOf,E as withdrawalBody};
//# sourceMappingURL=../maps/testing.js.map
