import{M as e,v as t,P as r,hex as n,readQuestion as s,x as i,S as a,n as l,A as o,U as u,F as c,I as p}from"./core.js"
;var d=e=>BigInt("0x"+e),f=e=>[{is:"refused",reason:e}],h=({asker:e,question:t,fingerprint:r})=>({asker:e,question:t,fingerprint:r
}),m=(e,t)=>JSON.stringify(h(e))===JSON.stringify(h(t)),g=(e,{epsilon:t,delta:r,mechanism:n},s)=>t<=e.epsilon&&r<=e.delta&&s.every(t=>e.assumptions.includes(t))&&(e.mechanisms?.includes(n)??!0),w=(e,t)=>BigInt(Math.ceil(e*2**t)).toString(16)
;function k(e,t){let r=BigInt(Math.floor(e*2**t));return(r&&r+(r>>52n)+1n).toString(16)}
var v=(e,t,r)=>e.reduce((e,t)=>e-d(t[r]),d(t[r])),b=(e,t)=>["epsilon","delta"].every(r=>v(e,t,r)>=0n),y={epoch:"lifetime",lifetime:null,quota:null,
quotas:{},askers:null},q=(e,t)=>e<<50n>d(t.epsilon)?Number(e)/2**64:0,M={open(t){let[r,n]=[{...t.own,...y
},t.limits].map(e=>JSON.stringify(Object.entries(e).sort()));return e(r===n,"rules","the account has more limits: see allRules of dither-ldp/rules"),t
},knows:({repeat:e,days:t,start:r,data:n,every:s,phase:i,changes:a})=>["fresh","same"].includes(e)&&""+[t,r,n,s,i,a]==",,,,,",
decide:({entries:e,own:t},r,n,s)=>s?[]:O(e,r)?f("answers"):b([...e,n],t)?[]:f("budget"),left:({entries:e,own:t})=>q(v(e,t,"epsilon"),t)
},O=(e,t)=>e.filter(e=>m(e,t)&&e.campaign===t.limit?.campaign).length>=(t.limit?.answers??1/0),S=(e=1)=>e>1?["how many locations a trajectory has, and when they were sent, is public"]:[],x="0".repeat(32),N=({batch:e})=>e!==x,j=(e,t,r)=>e.map(e=>N(e)||e.report!==r||!m(e,t)?e:{
...e,batch:null}),J=({epsilon:e,delta:t,assumes:r,data:n,times:s,campaign:i})=>JSON.stringify([e,t,r,n,s,i]);function U(e,t){
let r=e.present?.filter(e=>e.batch&&t(e)).length??0;return r?[{...e,present:e.present.map(e=>t(e)?{...e,batch:null}:e)},r]:[e,0]}function D(e){
let t={},r=e.map(({fingerprint:e,report:t})=>e+t).sort();for(let e of r)(t[e.slice(0,32)]??=[]).push(e.slice(32));return t}
var I=(e,t,r)=>JSON.stringify({batch:e,dither:2,label:t,reports:D(r)});function T(e,r,n){let s={};try{s=Object(t(n))}catch{}
let[i,a]=[s.refused,s.words].map(e=>"string"==typeof e?e:""),l=409===r?"conflict"===i:r>=200&&r<300&&s.batch===e,o=i&&"sealed"!==i&&"label"!==i&&[400,410,413,415,422].includes(r)
;return{fate:l?"acknowledged":o?"dropped":"kept",reason:i,words:a}}var A=86400,C={day:A,week:7*A,year:366*A,lifetime:1/0};function $(){
let{performance:e}=globalThis;return{wall:Math.floor(Date.now()/1e3),boot:String(Math.round(e.timeOrigin)),elapsed:Math.floor(e.now()/1e3)}}
function B(e,t){let r=Math.floor(t/A);return"day"===e?r:"week"===e?Math.floor((r+3)/7):"year"===e?new Date(r*A*1e3).getUTCFullYear():0}
function F(e,{wall:t,boot:r,elapsed:n}){let s=r===e.boot;s&&(n=Math.max(n,e.elapsed));let i=s?n-e.elapsed:0,a=Math.max(e.wall,t);return{wall:a,boot:r,
elapsed:n,ahead:e.ahead+a-e.wall-i}}var Y=(e,t)=>e.filter(e=>e.first<=t&&t<=e.last);function P({entries:e,device:t,own:r,limits:n},s){
let{asker:i,first:a,last:l}=s,o=[...e,s],u=o.filter(e=>e.device===t),c=Object.hasOwn(n.quotas,i)?n.quotas[i]:n.quota,p=(e,t)=>{
for(let r=a;r<=l;r++)if(!t(Y(e,r)))return!1;return!0},d=o.filter(e=>e.asker===i);if(null!==c&&!p(d,e=>v(e,{epsilon:c,delta:"0"
},"epsilon")>=0n))return"quota";for(let[e,t]of[[u,r],[o,n]]){if(!p(e,e=>b(e,t)))return"budget";if(t.lifetime&&!b(e,t.lifetime))return"lifetime"}}
function R({start:e,days:t,every:r},n){if(!r)return[e+Math.floor((n-e)/t)*t,t];if("day"===r)return[n,1];if("week"===r)return[n-(n+3)%7,7]
;let s=new Date(n*A*1e3),i=Date.UTC(s.getUTCFullYear(),s.getUTCMonth())/1e3/A;return[i,Date.UTC(s.getUTCFullYear(),s.getUTCMonth()+1)/1e3/A-i]}
var E=({present:e},t)=>(e??[]).filter(({batch:e})=>e===t).map(({asker:e,name:t,batch:r})=>({asker:e,question:t,batch:r})),L=e=>JSON.stringify({
dither:2,withdraw:e});function z(e,r,n){let s={};try{s=Object(t(n))}catch{}
return[r>=200&&r<300&&s.withdrawn===e,"string"==typeof s.refused?s.refused:""]}
var G=(e,{asker:t,name:r})=>e.present?.find(e=>e.asker===t&&e.name===r),H=(e,t)=>e.answers.find(e=>t&&"present"===e.permanent&&m(e,t)),K=({every:e},{wall:t})=>R({
every:e,days:null,start:null},Math.floor(t/A))[0],Q=(e,t)=>({...e,present:[...(e.present??[]).filter(({asker:e,name:r})=>e!==t.asker||r!==t.name),t]})
;function V(e){
let{repeat:t,begins:r,ends:n,days:s,every:i,answers:a,promise:l}=e,o=(Date.parse(n)-Date.parse(r))/864e5+1,u=e=>12*+e.slice(0,4)+ +e.slice(5,7),c=e=>Math.floor((Date.parse(e)/864e5+3)/7),p=s?Math.ceil(o/s):"month"===i?u(n)-u(r)+1:"week"===i?c(n)-c(r)+1:o,d="same"===t||"present"===t?1:"once"===t||"kept change"===t?p:"fresh"===t?a:void 0
;return d&&d*l.epsilon}function W(e){let t=100/(1+Math.exp(-e))*1.0000000000000002
;return`${[1,10,100].map(e=>(Math.ceil(t*e)/e).toFixed(Math.log10(e))).find(e=>+e<100)??"100"} %`}
var X=["epsilon","delta"],Z=e=>Array.isArray(e)?`[${e.map(Z)}]`:Object(e)===e?`{${Object.keys(e).sort().map(t=>JSON.stringify(t)+":"+Z(e[t]))}}`:JSON.stringify(e),_=e=>JSON.parse(JSON.stringify(e))
;function ee(e,...t){return[...e].sort((e,r)=>{for(let n of t)if(e[n]!==r[n])return e[n]<r[n]?-1:1;return 0})}var te=(e,t)=>Z(e)===Z(t),re={
answer:(e,t,r,n,s,i)=>{
let{epsilon:a,delta:l,repeat:o,data:u,times:c,limit:p}=r,d=((e,t)=>[...new Set(e.assumes.concat(t.assumes?.(e)??[]))])(r,s),k=h(r),v={...k,id:t,
device:e.device,epsilon:w(a,64),delta:w(l,128),assumes:d,first:0,last:0,...u&&{data:u},...c&&{times:c},...p&&{campaign:p.campaign}
},b=(e,t)=>e.find(e=>e.id===t),y=e=>((e,t)=>e&&m(e,t)&&J(e)===J(t))(e,v),q=e.answers.find(e=>m(e,r)&&e.permanent===o),M=b(e.entries,q?.id),O=b(e.queue,t),S=b(e.entries,t)
;if(O||S){let t="kept change"===o;return t&&S?.data&&(v.data=S.data),m(O??S,r)&&(t&&!S||y(S??M))?O?[{is:"resent",report:O.report},N(O)?void 0:{...e,
queue:j(e.queue,r,O.report)}]:[{is:"acknowledged",reports:0}]:f("id")}if(!g(n,r,d))return f("policy");let[x,U,D=!q]=s.decide(e,r,v,q&&(M??v),i)
;if(x)return[x,U];let I=q&&"same"===o;if(q&&(!y(M)||I&&null===q.report))return f("changed");let T=i&&(I?q.report:i.report()),A={...U??e}
;return A.queue=D?[...e.queue,{...k,id:t,report:T,batch:null}]:j(e.queue,r,T),q?[{is:"repeated",charged:"0",report:T},A]:(A.entries=[...e.entries,v],
("same"===o||"per value"===o)&&(A.answers=[...e.answers,{...k,id:t,permanent:o,report:"same"===o?T:null}]),[{is:"drawn",charged:v.epsilon,report:T
},A])},batch:(e,t,r,n)=>{let s=e.queue.filter(e=>N(e)&&n(e)),i=s.find(e=>e.batch)?.batch;if(i)return[i,e.queue.filter(e=>e.batch===i)]
;let a=s.filter(e=>s.find(({fingerprint:t})=>t===e.fingerprint)===e).slice(0,r);return[t,a,a[0]&&{...e,queue:e.queue.map(e=>a.includes(e)?{...e,
batch:t}:e)}]},acknowledge:(e,t,r)=>{let n=[...e.queue.filter(e=>e.id===t||e.batch===t),...E(e,t)],[s,i]=((e,t)=>{
let r=e.queue.filter(e=>e.id!==t&&e.batch!==t),[n,s]=U(e,e=>e.batch===t),i=e.queue.length-r.length+s;return i?[{is:"acknowledged",reports:i},{...n,
queue:r}]:[{is:"unknown"}]})(e,t);if(!i||n[0].batch!==t||!r)return[s,i];let{campaign:a,day:l,retry:o}=r,u={id:t,asker:n[0].asker,campaign:a,until:l+o,
questions:n.map(({question:e})=>e)};return[s,{...i,sent:[...(e.sent??[]).filter(({until:e})=>e>=l),u]}]},decideMessage:(e,t,r,n)=>{let s=G(e,r)
;if(!s?.batch)return[{is:"empty"}];let i=F(e.clock,t);if(K(r,i)!==s.period)return[{is:"empty"},Q({...e,clock:i},{...s,batch:null})]
;let a=s.permanent&&H(e,n);return[{is:"message",id:s.batch,public:!s.permanent,reports:a?[[a.fingerprint,a.report]]:[]}]},
decidePresent:(e,t,n,s,i,a,{report:l,source:o})=>{let{asker:u,name:c,share:p}=s;if(i&&!g(a,i,i.assumes))return f("policy");let d=F(e.clock,n),m={...e,
clock:d};if(!m.askers.includes(u)){if(0===m.openings)return f("asker");m.askers=[...m.askers,u].sort(),null!==m.openings&&m.openings--}
let k=K(s,d),v=G(m,s);if(v&&null!==v.period&&k<=v.period)return[{is:"silent"}];let b=v?v.permanent:!!i&&r(o,1e3)<p,y=Q(m,{asker:u,name:c,permanent:b,
period:k,batch:t});if(b&&i&&null===(v?.period??null)&&!H(m,i)){let e=B(m.limits.epoch,Math.max(d.wall,m.born)),r={...h(i),id:t,device:m.device,
epsilon:w(i.epsilon,64),delta:w(i.delta,128),assumes:i.assumes,first:e,last:e};if(d.ahead<=C[m.limits.epoch]&&!P(m,r)){let e=l(),n={...h(i),id:t,
permanent:"present",report:e};return[{is:"drawn",charged:r.epsilon,report:e},{...y,entries:[...m.entries,r],answers:[...m.answers,n]}]}}return[{
is:"present"},y]},withdraw:(e,t)=>{
let r=e.queue.filter(e=>N(e)&&e.batch===t),n=e.sent?.find(e=>e.id===t),[s,i]=U(e,({batch:e})=>e===t),a=r.length+i+(n?.questions.length??0),{sent:l,...o}={
...s,queue:e.queue.filter(e=>!r.includes(e))},u=l?.filter(e=>e!==n);return a?[{is:"withdrawn",reports:a},u?.[0]?{...o,sent:u}:o]:[{is:"unknown"}]},
drop:(e,t)=>{let r=e=>N(e)&&t!==x&&(e.batch===t||e.id===t),n=e.queue.filter(r).length,s=e.queue.flatMap(t=>r(t)?(t=>e.answers.some(e=>m(e,t)))(t)?{
...t,batch:x}:[]:t),[i,a]=U(e,e=>e.batch===t);return a?[{is:"dropped",reports:a},i]:n?[{is:"dropped",reports:n},{...e,queue:s}]:[{is:"unknown"}]},
upgraded:e=>{if(3===e.account)return e;let t=e.choices.flatMap(e=>[{...e,repeat:"kept change"},{...e,repeat:"once"}]);return{...e,account:3,choices:t}
},split:(e,t,[r,n])=>{let s=_(e.own),i=_(e.own);for(let[e,t]of[[s,i],[s.lifetime,i.lifetime]])for(let s of e&&t?X:[]){
let i=BigInt(`0x${e[s]}`),a=i*BigInt(r)/BigInt(n);e[s]=(i-a).toString(16),t[s]=a.toString(16)}
let a=e.entries.filter(t=>t.device===e.device),l=(e,t)=>!b(e,t);return a.some(({first:e,last:t})=>{
for(let r=e;r<=t;r++)if(l(a.filter(e=>e.first<=r&&r<=e.last),s))return!0;return!1})||s.lifetime&&l(a,s.lifetime)?[{is:"refused",reason:"spent"}]:[{
is:"split",device:t,own:i},{...e,own:s}]},merge:(e,t)=>{let r=e=>[{is:"refused",reason:e}];if(t.person!==e.person)return r("person")
;if(!te(t.limits,e.limits))return r("limits");let n=_(e);for(let s of t.entries){let t=e.entries.find(e=>e.id===s.id)
;if(t&&!te(t,s))return r("conflict");if(!t&&s.device===e.device)return r("rolled back");t||n.entries.push(s)}let s=(e,t,r,n)=>{for(let s of t){
let t=e.findIndex(e=>r(e,s));t<0?e.push(s):n(s,e[t])&&(e[t]=s)}},i=e=>Z([e.asker,e.question,e.fingerprint])
;s(n.answers,t.answers.filter(e=>"present"!==e.permanent),(e,t)=>i(e)===i(t)&&e.permanent===t.permanent,(e,t)=>e.id<t.id)
;let a=e=>(null===e.answer?"1":"0")+(e.answer??"")+e.device
;return s(n.choices,t.choices,(e,t)=>i(e)===i(t)&&e.repeat===t.repeat&&e.period===t.period,(e,t)=>a(e)<a(t)),
t.coins&&s(n.coins??=[],t.coins,(e,t)=>e.asker===t.asker&&e.name===t.name,(e,t)=>e.heads&&!t.heads),[{is:"merged",
entries:n.entries.length-e.entries.length},n]},ordered:e=>({...e,entries:ee(e.entries,"id"),
answers:ee(e.answers,"asker","question","fingerprint","permanent"),choices:ee(e.choices,"asker","question","fingerprint","repeat","period"),
...e.coins&&{coins:ee(e.coins,"asker","name")},...e.told&&{told:[...e.told].sort()},...e.trees&&{
trees:ee(e.trees,"asker","question","fingerprint","period")},...e.present&&{present:ee(e.present,"asker","name")}}),below2:r,
allRules:({epoch:t="lifetime",lifetime:n,quota:s,askers:u,now:c=$,changes:p}={})=>{
e(Object.hasOwn(C,t),"rules","epoch: expected one of "+Object.keys(C));for(let[t,r]of Object.entries({lifetime:n,quota:s}))e(void 0===r||i({[t]:r
},t)>=0,"epsilon",t);return void 0!==u&&o({askers:u},"askers",0,2**52),{changes:p,
assumes:({repeat:e,times:t})=>S(t).concat("per value"===e?["the value never changes","the device's key stays on the device"]:[]),open(e,r){
if(!r)return e;let i=c(),a={...e.own,lifetime:void 0===n?null:{epsilon:k(n,64),delta:e.own.delta}},l={...a,epoch:t,quota:void 0===s?null:k(s,64),
quotas:{},askers:u??null};return{...e,own:a,limits:l,born:i.wall,clock:{...i,ahead:0},openings:l.askers}},knows(e){
let{repeat:t,days:r,start:n,data:s,every:i}=e;if("kept change"===t)return!!p?.knows(e)&&null===s&&!i;if(e.changes)return!1
;let a=(...e)=>e.every(Number.isInteger)
;return("once"===t?i?["day","week","month"].includes(i)&&r===n&&null===r:a(r,n)&&r>0:["fresh","same","per value"].includes(t)&&r===n&&null===r)&&(null===s||Array.isArray(s)&&2===s.length&&a(...s))
},decide(e,t,n,s,i){let{limits:a,born:l}=e,o=F(e.clock,c());if(o.ahead>C[a.epoch])return f("clock")
;let u="kept change"===t.repeat&&R(t,Math.floor(o.wall/A))[0],[d,g]=u?[u*A,(u+t.days)*A]:t.data??[o.wall,o.wall+1]
;if(u)n.data=[d,g];else if(!(d<g&&g<=o.wall+1))return f("data");if(n.first=B(a.epoch,Math.max(d,l)),n.last=B(a.epoch,Math.max(g-1,l)),
n.last-n.first>=366)return f("data");let w={...e,clock:o};if(!w.askers.includes(t.asker)){if(0===w.openings)return f("asker")
;w.askers=[...w.askers,t.asker].sort(),null!==w.openings&&w.openings--}let k,{phase:v,asker:b}=t;if(v){
let e=w.coins??[],t=e.find(e=>e.asker===b&&e.name===v.name),n=(t,r)=>({...w,coins:[...e,{asker:b,name:v.name,campaign:r,heads:t}]})
;if(void 0===v.follows){if(!t&&!i)return[{is:"silent"}];if(t||(w=k=n(r(i.source,1e3)<v.share,v.campaign)),
!(t??w.coins.at(-1)).heads)return[f("phase")[0],k]}else{
if(e.some(e=>e.heads&&e.asker===b&&(e.name===v.name||e.campaign===v.follows)))return f("phase");t||(w=n(!1,v.follows))}}
if(u)return p.decide(w,k,t,n,e=>O(e.entries,t)?"answers":P(e,n),i)
;let y,q="per value"===t.repeat&&i&&(s??n).device===w.device&&i.mark(),M=q?!w.told?.includes(q):void 0;if(M&&(w.told=[...w.told??[],q]),
s)return[void 0,w,M];if("once"===t.repeat){let n,s=Math.floor(o.wall/A);if([y,n]=((e,t,n,s)=>{
let[i,a]=R(t,n),l=e.choices.find(e=>m(e,t)&&"once"===(e.repeat??"once")&&e.period===i);if(l||!s)return[l];let o={...h(t),repeat:"once",period:i,
day:i+r(s,a),device:e.device,answer:null};return[o,{...e,choices:[...e.choices,o]}]})(w,t,s,i?.source),w=k=n??k??w,
!n&&w===k&&!w.coins&&w.choices===e.choices&&(k=void 0),y?.day!==s||null!==y.answer)return[{is:"silent"},k]}let S=O(w.entries,t)?"answers":P(w,n)
;return S?[f(S)[0],k]:[void 0,y?{...w,choices:w.choices.map(e=>e===y?{...e,answer:n.id}:e)}:w,M]},
source:(e,t,r,n)=>"per value"===t.repeat?((e,{asker:t,question:r,fingerprint:n},s,i)=>{let o=JSON.stringify([e,i,t,r,n,s]),u=0,c=[];return{take(t){
for(;c.length<t;)c.push(...a(l(`${u++} ${o} ${e}`)));return Uint8Array.from(c.splice(0,t))}}})(e,t,r,n):void 0,
left({entries:e,own:t,limits:r,device:n,clock:s}){
let i=B(r.epoch,Math.max(c().wall,s.wall)),a=e.filter(e=>e.device===n),l=v(Y(a,i),t,"epsilon"),o=t.lifetime?v(a,t.lifetime,"epsilon"):l
;return q(o<l?o:l,t)},act:e=>[{is:"acted"},{...e,clock:{...F(e.clock,c()),ahead:0},openings:e.limits.askers}]}},plain:M,pathAssumes:S,DEFAULT:{
epsilon:1,delta:0,assumptions:[],mechanisms:null}}
;export{re as accounts,Z as canonical,u as checkAddress,p as expBelow,I as jsonBody,T as judge,z as judgeWithdrawal,a as sha256,W as share,V as totalOf,L as withdrawalBody};
//# sourceMappingURL=../maps/testing.js.map
