import{M as e,v as t,P as r,x as n,S as i,n as s,A as a,U as l,I as o,F as u}from"./core.js";var c=e=>BigInt("0x"+e),p=e=>[{is:"refused",reason:e
}],d=({asker:e,question:t,fingerprint:r})=>({asker:e,question:t,fingerprint:r
}),f=(e,t)=>JSON.stringify(d(e))===JSON.stringify(d(t)),h=(e,{epsilon:t,delta:r,mechanism:n},i)=>t<=e.epsilon&&r<=e.delta&&i.every(t=>e.assumptions.includes(t))&&(e.mechanisms?.includes(n)??!0),m=(e,t)=>BigInt(Math.ceil(e*2**t)).toString(16)
;function g(e,t){let r=BigInt(Math.floor(e*2**t));return(r&&r+(r>>52n)+1n).toString(16)}
var w=(e,t,r)=>e.reduce((e,t)=>e-c(t[r]),c(t[r])),k=(e,t)=>["epsilon","delta"].every(r=>w(e,t,r)>=0n),v={epoch:"lifetime",lifetime:null,quota:null,
quotas:{},askers:null},b=(e,t)=>e<<50n>c(t.epsilon)?Number(e)/2**64:0,y={open(t){let[r,n]=[{...t.own,...v
},t.limits].map(e=>JSON.stringify(Object.entries(e).sort()));return e(r===n,"rules"),t},
knows:({repeat:e,days:t,start:r,data:n,every:i,phase:s})=>["fresh","same"].includes(e)&&""+[t,r,n,i,s]==",,,,",
decide:({entries:e,own:t},r,n,i)=>i?[]:q(e,r)?p("answers"):k([...e,n],t)?[]:p("budget"),left:({entries:e,own:t})=>b(w(e,t,"epsilon"),t)
},q=(e,t)=>e.filter(e=>f(e,t)&&e.campaign===t.limit?.campaign).length>=(t.limit?.answers??1/0),M=(e=1)=>e>1?["how many locations a trajectory has, and when they were sent, is public"]:[],O="0".repeat(32),S=({batch:e})=>e!==O,x=(e,t,r)=>e.map(e=>S(e)||e.report!==r||!f(e,t)?e:{
...e,batch:null}),N=({epsilon:e,delta:t,assumes:r,data:n,times:i,campaign:s})=>JSON.stringify([e,t,r,n,i,s]);function J(e,t){
let r=e.present?.filter(e=>e.batch&&t(e)).length??0;return r?[{...e,present:e.present.map(e=>t(e)?{...e,batch:null}:e)},r]:[e,0]}function j(e){
let t={},r=e.map(({fingerprint:e,report:t})=>e+t).sort();for(let e of r)(t[e.slice(0,32)]??=[]).push(e.slice(32));return t}
var U=(e,t,r)=>JSON.stringify({batch:e,dither:2,label:t,reports:j(r)});function D(e,r,n){let i={};try{i=Object(t(n))}catch{}
let[s,a]=[i.refused,i.words].map(e=>"string"==typeof e?e:""),l=409===r?"conflict"===s:r>=200&&r<300&&i.batch===e,o=s&&"sealed"!==s&&"label"!==s&&[400,410,413,415,422].includes(r)
;return{fate:l?"acknowledged":o?"dropped":"kept",reason:s,words:a}}var I=86400,T={day:I,week:7*I,year:366*I,lifetime:1/0};function A(){
let{performance:e}=globalThis;return{wall:Math.floor(Date.now()/1e3),boot:String(Math.round(e.timeOrigin)),elapsed:Math.floor(e.now()/1e3)}}
function C(e,t){let r=Math.floor(t/I);return"day"===e?r:"week"===e?Math.floor((r+3)/7):"year"===e?new Date(r*I*1e3).getUTCFullYear():0}
function $(e,{wall:t,boot:r,elapsed:n}){let i=r===e.boot;i&&(n=Math.max(n,e.elapsed));let s=i?n-e.elapsed:0,a=Math.max(e.wall,t);return{wall:a,boot:r,
elapsed:n,ahead:e.ahead+a-e.wall-s}}var B=(e,t)=>e.filter(e=>e.first<=t&&t<=e.last);function F({entries:e,device:t,own:r,limits:n},i){
let{asker:s,first:a,last:l}=i,o=[...e,i],u=o.filter(e=>e.device===t),c=Object.hasOwn(n.quotas,s)?n.quotas[s]:n.quota,p=(e,t)=>{
for(let r=a;r<=l;r++)if(!t(B(e,r)))return!1;return!0},d=o.filter(e=>e.asker===s);if(null!==c&&!p(d,e=>w(e,{epsilon:c,delta:"0"
},"epsilon")>=0n))return"quota";for(let[e,t]of[[u,r],[o,n]]){if(!p(e,e=>k(e,t)))return"budget";if(t.lifetime&&!k(e,t.lifetime))return"lifetime"}}
function Y({start:e,days:t,every:r},n){if(!r)return[e+Math.floor((n-e)/t)*t,t];if("day"===r)return[n,1];if("week"===r)return[n-(n+3)%7,7]
;let i=new Date(n*I*1e3),s=Date.UTC(i.getUTCFullYear(),i.getUTCMonth())/1e3/I;return[s,Date.UTC(i.getUTCFullYear(),i.getUTCMonth()+1)/1e3/I-s]}
var P=(e,{asker:t,name:r})=>e.present?.find(e=>e.asker===t&&e.name===r),E=(e,t)=>e.answers.find(e=>t&&"present"===e.permanent&&f(e,t)),L=({every:e},{wall:t})=>Y({
every:e,days:null,start:null},Math.floor(t/I))[0],R=(e,t)=>({...e,present:[...(e.present??[]).filter(({asker:e,name:r})=>e!==t.asker||r!==t.name),t]
}),z=({present:e},t)=>(e??[]).filter(({batch:e})=>e===t).map(({asker:e,name:t,batch:r})=>({asker:e,question:t,batch:r})),G=e=>JSON.stringify({
dither:2,withdraw:e});function H(e,r,n){let i={};try{i=Object(t(n))}catch{}
return[r>=200&&r<300&&i.withdrawn===e,"string"==typeof i.refused?i.refused:""]}function K(e){
let{repeat:t,begins:r,ends:n,days:i,every:s,answers:a,promise:l}=e,o=(Date.parse(n)-Date.parse(r))/864e5+1,u=e=>12*+e.slice(0,4)+ +e.slice(5,7),c=e=>Math.floor((Date.parse(e)/864e5+3)/7),p=i?Math.ceil(o/i):"month"===s?u(n)-u(r)+1:"week"===s?c(n)-c(r)+1:o,d="same"===t||"present"===t?1:"once"===t||"kept change"===t?p:"fresh"===t?a:void 0
;return d&&d*l.epsilon}function Q(e){let t=100/(1+Math.exp(-e))*1.0000000000000002
;return`${[1,10,100].map(e=>(Math.ceil(t*e)/e).toFixed(Math.log10(e))).find(e=>+e<100)??"100"} %`}
var V=["epsilon","delta"],W=e=>Array.isArray(e)?`[${e.map(W)}]`:Object(e)===e?`{${Object.keys(e).sort().map(t=>JSON.stringify(t)+":"+W(e[t]))}}`:JSON.stringify(e),X=e=>JSON.parse(JSON.stringify(e))
;function Z(e,...t){return[...e].sort((e,r)=>{for(let n of t)if(e[n]!==r[n])return e[n]<r[n]?-1:1;return 0})}var _=(e,t)=>W(e)===W(t),ee={
answer:(e,t,r,n,i,s)=>{
let{epsilon:a,delta:l,repeat:o,data:u,times:c,limit:g}=r,w=((e,t)=>[...new Set(e.assumes.concat(t.assumes?.(e)??[]))])(r,i),k=d(r),v={...k,id:t,
device:e.device,epsilon:m(a,64),delta:m(l,128),assumes:w,first:0,last:0,...u&&{data:u},...c&&{times:c},...g&&{campaign:g.campaign}
},b=(e,t)=>e.find(e=>e.id===t),y=e=>e&&f(e,r)&&N(e)===N(v),q=e.answers.find(e=>f(e,r)&&e.permanent===o),M=b(e.entries,q?.id),O=b(e.queue,t),J=b(e.entries,t)
;if(O||J)return f(O??J,r)&&y(J??M)?O?[{is:"resent",report:O.report},S(O)?void 0:{...e,queue:x(e.queue,r,O.report)}]:[{is:"acknowledged",reports:0
}]:p("id");if(!h(n,r,w))return p("policy");let[j,U,D=!q]=i.decide(e,r,v,q&&(M??v),s);if(j)return[j,U];let I=q&&"same"===o
;if(q&&(!y(M)||I&&null===q.report))return p("changed");let T=s&&(I?q.report:s.report()),A={...U??e};return A.queue=D?[...e.queue,{...k,id:t,report:T,
batch:null}]:x(e.queue,r,T),q?[{is:"repeated",charged:"0",report:T},A]:(A.entries=[...e.entries,v],
("same"===o||"per value"===o)&&(A.answers=[...e.answers,{...k,id:t,permanent:o,report:"same"===o?T:null}]),[{is:"drawn",charged:v.epsilon,report:T
},A])},batch:(e,t,r,n)=>{let i=e.queue.filter(e=>S(e)&&n(e)),s=i.find(e=>e.batch)?.batch;if(s)return[s,e.queue.filter(e=>e.batch===s)]
;let a=i.filter(e=>i.find(({fingerprint:t})=>t===e.fingerprint)===e).slice(0,r);return[t,a,a[0]&&{...e,queue:e.queue.map(e=>a.includes(e)?{...e,
batch:t}:e)}]},acknowledge:(e,t,r)=>{let n=[...e.queue.filter(e=>e.id===t||e.batch===t),...z(e,t)],[i,s]=((e,t)=>{
let r=e.queue.filter(e=>e.id!==t&&e.batch!==t),[n,i]=J(e,e=>e.batch===t),s=e.queue.length-r.length+i;return s?[{is:"acknowledged",reports:s},{...n,
queue:r}]:[{is:"unknown"}]})(e,t);if(!s||n[0].batch!==t||!r)return[i,s];let{campaign:a,day:l,retry:o}=r,u={id:t,asker:n[0].asker,campaign:a,until:l+o,
questions:n.map(({question:e})=>e)};return[i,{...s,sent:[...(e.sent??[]).filter(({until:e})=>e>=l),u]}]},decideMessage:(e,t,r,n)=>{let i=P(e,r)
;if(!i?.batch)return[{is:"empty"}];let s=$(e.clock,t);if(L(r,s)!==i.period)return[{is:"empty"},R({...e,clock:s},{...i,batch:null})]
;let a=i.permanent&&E(e,n);return[{is:"message",id:i.batch,public:!i.permanent,reports:a?[[a.fingerprint,a.report]]:[]}]},
decidePresent:(e,t,n,i,s,a,{report:l,source:o})=>{let{asker:u,name:c,share:f}=i;if(s&&!h(a,s,s.assumes))return p("policy");let g=$(e.clock,n),w={...e,
clock:g};if(!w.askers.includes(u)){if(0===w.openings)return p("asker");w.askers=[...w.askers,u].sort(),null!==w.openings&&w.openings--}
let k=L(i,g),v=P(w,i);if(v&&null!==v.period&&k<=v.period)return[{is:"silent"}];let b=v?v.permanent:!!s&&r(o,1e3)<f,y=R(w,{asker:u,name:c,permanent:b,
period:k,batch:t});if(b&&s&&null===(v?.period??null)&&!E(w,s)){let e=C(w.limits.epoch,Math.max(g.wall,w.born)),r={...d(s),id:t,device:w.device,
epsilon:m(s.epsilon,64),delta:m(s.delta,128),assumes:s.assumes,first:e,last:e};if(g.ahead<=T[w.limits.epoch]&&!F(w,r)){let e=l(),n={...d(s),id:t,
permanent:"present",report:e};return[{is:"drawn",charged:r.epsilon,report:e},{...y,entries:[...w.entries,r],answers:[...w.answers,n]}]}}return[{
is:"present"},y]},withdraw:(e,t)=>{
let r=e.queue.filter(e=>S(e)&&e.batch===t),n=e.sent?.find(e=>e.id===t),[i,s]=J(e,({batch:e})=>e===t),a=r.length+s+(n?.questions.length??0),{sent:l,...o}={
...i,queue:e.queue.filter(e=>!r.includes(e))},u=l?.filter(e=>e!==n);return a?[{is:"withdrawn",reports:a},u?.[0]?{...o,sent:u}:o]:[{is:"unknown"}]},
drop:(e,t)=>{let r=e=>S(e)&&t!==O&&(e.batch===t||e.id===t),n=e.queue.filter(r).length,i=e.queue.flatMap(t=>r(t)?(t=>e.answers.some(e=>f(e,t)))(t)?{
...t,batch:O}:[]:t),[s,a]=J(e,e=>e.batch===t);return a?[{is:"dropped",reports:a},s]:n?[{is:"dropped",reports:n},{...e,queue:i}]:[{is:"unknown"}]},
upgraded:e=>{if(3===e.account)return e;let t=e.choices.flatMap(e=>[{...e,repeat:"kept change"},{...e,repeat:"once"}]);return{...e,account:3,choices:t}
},split:(e,t,[r,n])=>{let i=X(e.own),s=X(e.own);for(let[e,t]of[[i,s],[i.lifetime,s.lifetime]])for(let i of e&&t?V:[]){
let s=BigInt(`0x${e[i]}`),a=s*BigInt(r)/BigInt(n);e[i]=(s-a).toString(16),t[i]=a.toString(16)}
let a=e.entries.filter(t=>t.device===e.device),l=(e,t)=>!k(e,t);return a.some(({first:e,last:t})=>{
for(let r=e;r<=t;r++)if(l(a.filter(e=>e.first<=r&&r<=e.last),i))return!0;return!1})||i.lifetime&&l(a,i.lifetime)?[{is:"refused",reason:"spent"}]:[{
is:"split",device:t,own:s},{...e,own:i}]},merge:(e,t)=>{let r=e=>[{is:"refused",reason:e}];if(t.person!==e.person)return r("person")
;if(!_(t.limits,e.limits))return r("limits");let n=X(e);for(let i of t.entries){let t=e.entries.find(e=>e.id===i.id)
;if(t&&!_(t,i))return r("conflict");if(!t&&i.device===e.device)return r("rolled back");t||n.entries.push(i)}let i=(e,t,r,n)=>{for(let i of t){
let t=e.findIndex(e=>r(e,i));t<0?e.push(i):n(i,e[t])&&(e[t]=i)}},s=e=>W([e.asker,e.question,e.fingerprint])
;i(n.answers,t.answers.filter(e=>"present"!==e.permanent),(e,t)=>s(e)===s(t)&&e.permanent===t.permanent,(e,t)=>e.id<t.id)
;let a=e=>(null===e.answer?"1":"0")+(e.answer??"")+e.device
;return i(n.choices,t.choices,(e,t)=>s(e)===s(t)&&e.repeat===t.repeat&&e.period===t.period,(e,t)=>a(e)<a(t)),
t.coins&&i(n.coins??=[],t.coins,(e,t)=>e.asker===t.asker&&e.name===t.name,(e,t)=>e.heads&&!t.heads),[{is:"merged",
entries:n.entries.length-e.entries.length},n]},ordered:e=>({...e,entries:Z(e.entries,"id"),
answers:Z(e.answers,"asker","question","fingerprint","permanent"),choices:Z(e.choices,"asker","question","fingerprint","repeat","period"),
...e.coins&&{coins:Z(e.coins,"asker","name")},...e.told&&{told:[...e.told].sort()},...e.present&&{present:Z(e.present,"asker","name")}}),below:r,
allRules:({epoch:t="lifetime",lifetime:l,quota:o,askers:u,now:c=A}={})=>{e(Object.hasOwn(T,t),"rules","epoch");for(let[t,r]of Object.entries({
lifetime:l,quota:o}))e(void 0===r||n({[t]:r},t)>=0,"epsilon",t);return void 0!==u&&a({askers:u},"askers",0,2**52),{
assumes:({repeat:e,times:t})=>M(t).concat("per value"===e?["the value never changes","the device's key stays on the device"]:[]),open(e,r){
if(!r)return e;let n=c(),i={...e.own,lifetime:void 0===l?null:{epsilon:g(l,64),delta:e.own.delta}},s={...i,epoch:t,quota:void 0===o?null:g(o,64),
quotas:{},askers:u??null};return{...e,own:i,limits:s,born:n.wall,clock:{...n,ahead:0},openings:s.askers}},
knows({repeat:e,days:t,start:r,data:n,every:i}){let s=(...e)=>e.every(Number.isInteger)
;return("once"===e?i?["day","week","month"].includes(i)&&t===r&&null===t:s(t,r)&&t>0:["fresh","same","per value"].includes(e)&&t===r&&null===t)&&(null===n||Array.isArray(n)&&2===n.length&&s(...n))
},decide(e,t,n,i,s){let{limits:a,born:l}=e,o=$(e.clock,c());if(o.ahead>T[a.epoch])return p("clock");let[u,h]=t.data??[o.wall,o.wall+1]
;if(!(u<h&&h<=o.wall+1))return p("data");if(n.first=C(a.epoch,Math.max(u,l)),n.last=C(a.epoch,Math.max(h-1,l)),n.last-n.first>=366)return p("data")
;let m={...e,clock:o};if(!m.askers.includes(t.asker)){if(0===m.openings)return p("asker");m.askers=[...m.askers,t.asker].sort(),
null!==m.openings&&m.openings--}let g,{phase:w,asker:k}=t;if(w){let e=m.coins??[],t=e.find(e=>e.asker===k&&e.name===w.name),n=(t,r)=>({...m,
coins:[...e,{asker:k,name:w.name,campaign:r,heads:t}]});if(void 0===w.follows){if(!t&&!s)return[{is:"silent"}]
;if(t||(m=g=n(r(s.source,1e3)<w.share,w.campaign)),!(t??m.coins.at(-1)).heads)return[p("phase")[0],g]}else{
if(e.some(e=>e.heads&&e.asker===k&&(e.name===w.name||e.campaign===w.follows)))return p("phase");t||(m=n(!1,w.follows))}}
let v,b="per value"===t.repeat&&s&&(i??n).device===m.device&&s.mark(),y=b?!m.told?.includes(b):void 0;if(y&&(m.told=[...m.told??[],b]),
i)return[void 0,m,y];if("once"===t.repeat){let n,i=Math.floor(o.wall/I);if([v,n]=((e,t,n,i)=>{
let[s,a]=Y(t,n),l=e.choices.find(e=>f(e,t)&&"once"===(e.repeat??"once")&&e.period===s);if(l||!i)return[l];let o={...d(t),repeat:"once",period:s,
day:s+r(i,a),device:e.device,answer:null};return[o,{...e,choices:[...e.choices,o]}]})(m,t,i,s?.source),m=g=n??g??m,
!n&&m===g&&!m.coins&&m.choices===e.choices&&(g=void 0),v?.day!==i||null!==v.answer)return[{is:"silent"},g]}let M=q(m.entries,t)?"answers":F(m,n)
;return M?[p(M)[0],g]:[void 0,v?{...m,choices:m.choices.map(e=>e===v?{...e,answer:n.id}:e)}:m,y]},
source:(e,t,r,n)=>"per value"===t.repeat?((e,{asker:t,question:r,fingerprint:n},a,l)=>{let o=JSON.stringify([e,l,t,r,n,a]),u=0,c=[];return{take(t){
for(;c.length<t;)c.push(...i(s(`${u++} ${o} ${e}`)));return Uint8Array.from(c.splice(0,t))}}})(e,t,r,n):void 0,
left({entries:e,own:t,limits:r,device:n,clock:i}){
let s=C(r.epoch,Math.max(c().wall,i.wall)),a=e.filter(e=>e.device===n),l=w(B(a,s),t,"epsilon"),o=t.lifetime?w(a,t.lifetime,"epsilon"):l
;return b(o<l?o:l,t)},act:e=>[{is:"acted"},{...e,clock:{...$(e.clock,c()),ahead:0},openings:e.limits.askers}]}},plain:y,pathAssumes:M,DEFAULT:{
epsilon:1,delta:0,assumptions:[],mechanisms:null}}
;export{ee as accounts,W as canonical,l as checkAddress,o as expBelow,U as jsonBody,D as judge,H as judgeWithdrawal,i as sha256,Q as share,K as totalOf,G as withdrawalBody};
//# sourceMappingURL=../maps/testing.js.map
