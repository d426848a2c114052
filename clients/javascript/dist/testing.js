import{M as e,v as t,P as r,x as n,S as i,n as s,A as a,U as l,I as o}from"./core.js";var u=e=>BigInt("0x"+e),c=e=>[{is:"refused",reason:e
}],p=({asker:e,question:t,fingerprint:r})=>({asker:e,question:t,fingerprint:r
}),d=(e,t)=>JSON.stringify(p(e))===JSON.stringify(p(t)),f=(e,{epsilon:t,delta:r,mechanism:n},i)=>t<=e.epsilon&&r<=e.delta&&i.every(t=>e.assumptions.includes(t))&&(e.mechanisms?.includes(n)??!0),m=(e,t)=>BigInt(Math.ceil(e*2**t)).toString(16)
;function h(e,t){let r=BigInt(Math.floor(e*2**t));return(r&&r+(r>>52n)+1n).toString(16)}
var g=(e,t,r)=>e.reduce((e,t)=>e-u(t[r]),u(t[r])),w=(e,t)=>["epsilon","delta"].every(r=>g(e,t,r)>=0n),k={epoch:"lifetime",lifetime:null,quota:null,
quotas:{},askers:null},v=(e,t)=>e<<50n>u(t.epsilon)?Number(e)/2**64:0,b={open(t){let[r,n]=[{...t.own,...k
},t.limits].map(e=>JSON.stringify(Object.entries(e).sort()));return e(r===n,"rules"),t},
knows:({repeat:e,days:t,start:r,data:n,every:i,phase:s})=>["fresh","same"].includes(e)&&""+[t,r,n,i,s]==",,,,",
decide:({entries:e,own:t},r,n,i)=>i?[]:y(e,r)?c("answers"):w([...e,n],t)?[]:c("budget"),left:({entries:e,own:t})=>v(g(e,t,"epsilon"),t)
},y=(e,t)=>e.filter(e=>d(e,t)&&e.campaign===t.limit?.campaign).length>=(t.limit?.answers??1/0),q=(e=1)=>e>1?["how many locations a trajectory has, and when they were sent, is public"]:[],M="0".repeat(32),O=({batch:e})=>e!==M,S=(e,t,r)=>e.map(e=>O(e)||e.report!==r||!d(e,t)?e:{
...e,batch:null}),N=({epsilon:e,delta:t,assumes:r,data:n,times:i,campaign:s})=>JSON.stringify([e,t,r,n,i,s]);function x(e,t){
let r=e.present?.filter(e=>e.batch&&t(e)).length??0;return r?[{...e,present:e.present.map(e=>t(e)?{...e,batch:null}:e)},r]:[e,0]}function J(e){
let t={},r=e.map(({fingerprint:e,report:t})=>e+t).sort();for(let e of r)(t[e.slice(0,32)]??=[]).push(e.slice(32));return t}
var U=(e,t,r)=>JSON.stringify({batch:e,dither:2,label:t,reports:J(r)});function j(e,r,n){let i={};try{i=Object(t(n))}catch{}
let[s,a]=[i.refused,i.words].map(e=>"string"==typeof e?e:""),l=409===r?"conflict"===s:r>=200&&r<300&&i.batch===e,o=s&&"sealed"!==s&&"label"!==s&&[400,410,413,415,422].includes(r)
;return{fate:l?"acknowledged":o?"dropped":"kept",reason:s,words:a}}var I=86400,T={day:I,week:7*I,year:366*I,lifetime:1/0};function A(){
let{performance:e}=globalThis;return{wall:Math.floor(Date.now()/1e3),boot:String(Math.round(e.timeOrigin)),elapsed:Math.floor(e.now()/1e3)}}
function C(e,t){let r=Math.floor(t/I);return"day"===e?r:"week"===e?Math.floor((r+3)/7):"year"===e?new Date(r*I*1e3).getUTCFullYear():0}
function B(e,{wall:t,boot:r,elapsed:n}){let i=r===e.boot;i&&(n=Math.max(n,e.elapsed));let s=i?n-e.elapsed:0,a=Math.max(e.wall,t);return{wall:a,boot:r,
elapsed:n,ahead:e.ahead+a-e.wall-s}}var D=(e,t)=>e.filter(e=>e.first<=t&&t<=e.last);function $({entries:e,device:t,own:r,limits:n},i){
let{asker:s,first:a,last:l}=i,o=[...e,i],u=o.filter(e=>e.device===t),c=Object.hasOwn(n.quotas,s)?n.quotas[s]:n.quota,p=(e,t)=>{
for(let r=a;r<=l;r++)if(!t(D(e,r)))return!1;return!0},d=o.filter(e=>e.asker===s);if(null!==c&&!p(d,e=>g(e,{epsilon:c,delta:"0"
},"epsilon")>=0n))return"quota";for(let[e,t]of[[u,r],[o,n]]){if(!p(e,e=>w(e,t)))return"budget";if(t.lifetime&&!w(e,t.lifetime))return"lifetime"}}
function F({start:e,days:t,every:r},n){if(!r)return[e+Math.floor((n-e)/t)*t,t];if("day"===r)return[n,1];if("week"===r)return[n-(n+3)%7,7]
;let i=new Date(n*I*1e3),s=Date.UTC(i.getUTCFullYear(),i.getUTCMonth())/1e3/I;return[s,Date.UTC(i.getUTCFullYear(),i.getUTCMonth()+1)/1e3/I-s]}
var Y=(e,{asker:t,name:r})=>e.present?.find(e=>e.asker===t&&e.name===r),P=(e,t)=>e.answers.find(e=>t&&"present"===e.permanent&&d(e,t)),E=({every:e},{wall:t})=>F({
every:e,days:null,start:null},Math.floor(t/I))[0],L=(e,t)=>({...e,present:[...(e.present??[]).filter(({asker:e,name:r})=>e!==t.asker||r!==t.name),t]
}),R=["epsilon","delta"],z=e=>Array.isArray(e)?`[${e.map(z)}]`:Object(e)===e?`{${Object.keys(e).sort().map(t=>JSON.stringify(t)+":"+z(e[t]))}}`:JSON.stringify(e),G=e=>JSON.parse(JSON.stringify(e))
;function H(e,...t){return[...e].sort((e,r)=>{for(let n of t)if(e[n]!==r[n])return e[n]<r[n]?-1:1;return 0})}var K=(e,t)=>z(e)===z(t),Q={
answer:(e,t,r,n,i,s)=>{
let{epsilon:a,delta:l,repeat:o,data:u,times:h,limit:g}=r,w=((e,t)=>[...new Set(e.assumes.concat(t.assumes?.(e)??[]))])(r,i),k=p(r),v={...k,id:t,
device:e.device,epsilon:m(a,64),delta:m(l,128),assumes:w,first:0,last:0,...u&&{data:u},...h&&{times:h},...g&&{campaign:g.campaign}
},b=(e,t)=>e.find(e=>e.id===t),y=e=>e&&d(e,r)&&N(e)===N(v),q=e.answers.find(e=>d(e,r)&&e.permanent===o),M=b(e.entries,q?.id),x=b(e.queue,t),J=b(e.entries,t)
;if(x||J)return d(x??J,r)&&y(J??M)?x?[{is:"resent",report:x.report},O(x)?void 0:{...e,queue:S(e.queue,r,x.report)}]:[{is:"acknowledged",reports:0
}]:c("id");if(!f(n,r,w))return c("policy");let[U,j,I=!q]=i.decide(e,r,v,q&&(M??v),s);if(U)return[U,j];let T=q&&"same"===o
;if(q&&(!y(M)||T&&null===q.report))return c("changed");let A=s&&(T?q.report:s.report()),C={...j??e};return C.queue=I?[...e.queue,{...k,id:t,report:A,
batch:null}]:S(e.queue,r,A),q?[{is:"repeated",charged:"0",report:A},C]:(C.entries=[...e.entries,v],
("same"===o||"per value"===o)&&(C.answers=[...e.answers,{...k,id:t,permanent:o,report:"same"===o?A:null}]),[{is:"drawn",charged:v.epsilon,report:A
},C])},batch:(e,t,r,n)=>{let i=e.queue.filter(e=>O(e)&&n(e)),s=i.find(e=>e.batch)?.batch;if(s)return[s,e.queue.filter(e=>e.batch===s)]
;let a=i.filter(e=>i.find(({fingerprint:t})=>t===e.fingerprint)===e).slice(0,r);return[t,a,a[0]&&{...e,queue:e.queue.map(e=>a.includes(e)?{...e,
batch:t}:e)}]},acknowledge:(e,t)=>{let r=e.queue.filter(e=>e.id!==t&&e.batch!==t),[n,i]=x(e,e=>e.batch===t),s=e.queue.length-r.length+i;return s?[{
is:"acknowledged",reports:s},{...n,queue:r}]:[{is:"unknown"}]},decideMessage:(e,t,r,n)=>{let i=Y(e,r);if(!i?.batch)return[{is:"empty"}]
;let s=B(e.clock,t);if(E(r,s)!==i.period)return[{is:"empty"},L({...e,clock:s},{...i,batch:null})];let a=i.permanent&&P(e,n);return[{is:"message",
id:i.batch,public:!i.permanent,reports:a?[[a.fingerprint,a.report]]:[]}]},decidePresent:(e,t,n,i,s,a,{report:l,source:o})=>{
let{asker:u,name:d,share:h}=i;if(s&&!f(a,s,s.assumes))return c("policy");let g=B(e.clock,n),w={...e,clock:g};if(!w.askers.includes(u)){
if(0===w.openings)return c("asker");w.askers=[...w.askers,u].sort(),null!==w.openings&&w.openings--}let k=E(i,g),v=Y(w,i)
;if(v&&null!==v.period&&k<=v.period)return[{is:"silent"}];let b=v?v.permanent:!!s&&r(o,1e3)<h,y=L(w,{asker:u,name:d,permanent:b,period:k,batch:t})
;if(b&&s&&null===(v?.period??null)&&!P(w,s)){let e=C(w.limits.epoch,Math.max(g.wall,w.born)),r={...p(s),id:t,device:w.device,epsilon:m(s.epsilon,64),
delta:m(s.delta,128),assumes:s.assumes,first:e,last:e};if(g.ahead<=T[w.limits.epoch]&&!$(w,r)){let e=l(),n={...p(s),id:t,permanent:"present",report:e}
;return[{is:"drawn",charged:r.epsilon,report:e},{...y,entries:[...w.entries,r],answers:[...w.answers,n]}]}}return[{is:"present"},y]},drop:(e,t)=>{
let r=e=>O(e)&&t!==M&&(e.batch===t||e.id===t),n=e.queue.filter(r).length,i=e.queue.flatMap(t=>r(t)?(t=>e.answers.some(e=>d(e,t)))(t)?{...t,batch:M
}:[]:t),[s,a]=x(e,e=>e.batch===t);return a?[{is:"dropped",reports:a},s]:n?[{is:"dropped",reports:n},{...e,queue:i}]:[{is:"unknown"}]},upgraded:e=>{
if(3===e.account)return e;let t=e.choices.flatMap(e=>[{...e,repeat:"kept change"},{...e,repeat:"once"}]);return{...e,account:3,choices:t}},
split:(e,t,[r,n])=>{let i=G(e.own),s=G(e.own);for(let[e,t]of[[i,s],[i.lifetime,s.lifetime]])for(let i of e&&t?R:[]){
let s=BigInt(`0x${e[i]}`),a=s*BigInt(r)/BigInt(n);e[i]=(s-a).toString(16),t[i]=a.toString(16)}
let a=e.entries.filter(t=>t.device===e.device),l=(e,t)=>!w(e,t);return a.some(({first:e,last:t})=>{
for(let r=e;r<=t;r++)if(l(a.filter(e=>e.first<=r&&r<=e.last),i))return!0;return!1})||i.lifetime&&l(a,i.lifetime)?[{is:"refused",reason:"spent"}]:[{
is:"split",device:t,own:s},{...e,own:i}]},merge:(e,t)=>{let r=e=>[{is:"refused",reason:e}];if(t.person!==e.person)return r("person")
;if(!K(t.limits,e.limits))return r("limits");let n=G(e);for(let i of t.entries){let t=e.entries.find(e=>e.id===i.id)
;if(t&&!K(t,i))return r("conflict");if(!t&&i.device===e.device)return r("rolled back");t||n.entries.push(i)}let i=(e,t,r,n)=>{for(let i of t){
let t=e.findIndex(e=>r(e,i));t<0?e.push(i):n(i,e[t])&&(e[t]=i)}},s=e=>z([e.asker,e.question,e.fingerprint])
;i(n.answers,t.answers.filter(e=>"present"!==e.permanent),(e,t)=>s(e)===s(t)&&e.permanent===t.permanent,(e,t)=>e.id<t.id)
;let a=e=>(null===e.answer?"1":"0")+(e.answer??"")+e.device
;return i(n.choices,t.choices,(e,t)=>s(e)===s(t)&&e.repeat===t.repeat&&e.period===t.period,(e,t)=>a(e)<a(t)),
t.coins&&i(n.coins??=[],t.coins,(e,t)=>e.asker===t.asker&&e.name===t.name,(e,t)=>e.heads&&!t.heads),[{is:"merged",
entries:n.entries.length-e.entries.length},n]},ordered:e=>({...e,entries:H(e.entries,"id"),
answers:H(e.answers,"asker","question","fingerprint","permanent"),choices:H(e.choices,"asker","question","fingerprint","repeat","period"),
...e.coins&&{coins:H(e.coins,"asker","name")},...e.told&&{told:[...e.told].sort()},...e.present&&{present:H(e.present,"asker","name")}}),below:r,
allRules:({epoch:t="lifetime",lifetime:l,quota:o,askers:u,now:f=A}={})=>{e(Object.hasOwn(T,t),"rules","epoch");for(let[t,r]of Object.entries({
lifetime:l,quota:o}))e(void 0===r||n({[t]:r},t)>=0,"epsilon",t);return void 0!==u&&a({askers:u},"askers",0,2**52),{
assumes:({repeat:e,times:t})=>q(t).concat("per value"===e?["the value never changes","the device's key stays on the device"]:[]),open(e,r){
if(!r)return e;let n=f(),i={...e.own,lifetime:void 0===l?null:{epsilon:h(l,64),delta:e.own.delta}},s={...i,epoch:t,quota:void 0===o?null:h(o,64),
quotas:{},askers:u??null};return{...e,own:i,limits:s,born:n.wall,clock:{...n,ahead:0},openings:s.askers}},
knows({repeat:e,days:t,start:r,data:n,every:i}){let s=(...e)=>e.every(Number.isInteger)
;return("once"===e?i?["day","week","month"].includes(i)&&t===r&&null===t:s(t,r)&&t>0:["fresh","same","per value"].includes(e)&&t===r&&null===t)&&(null===n||Array.isArray(n)&&2===n.length&&s(...n))
},decide(e,t,n,i,s){let{limits:a,born:l}=e,o=B(e.clock,f());if(o.ahead>T[a.epoch])return c("clock");let[u,m]=t.data??[o.wall,o.wall+1]
;if(!(u<m&&m<=o.wall+1))return c("data");if(n.first=C(a.epoch,Math.max(u,l)),n.last=C(a.epoch,Math.max(m-1,l)),n.last-n.first>=366)return c("data")
;let h={...e,clock:o};if(!h.askers.includes(t.asker)){if(0===h.openings)return c("asker");h.askers=[...h.askers,t.asker].sort(),
null!==h.openings&&h.openings--}let g,{phase:w,asker:k}=t;if(w){let e=h.coins??[],t=e.find(e=>e.asker===k&&e.name===w.name),n=(t,r)=>({...h,
coins:[...e,{asker:k,name:w.name,campaign:r,heads:t}]});if(void 0===w.follows){if(!t&&!s)return[{is:"silent"}]
;if(t||(h=g=n(r(s.source,1e3)<w.share,w.campaign)),!(t??h.coins.at(-1)).heads)return[c("phase")[0],g]}else{
if(e.some(e=>e.heads&&e.asker===k&&(e.name===w.name||e.campaign===w.follows)))return c("phase");t||(h=n(!1,w.follows))}}
let v,b="per value"===t.repeat&&s&&(i??n).device===h.device&&s.mark(),q=b?!h.told?.includes(b):void 0;if(q&&(h.told=[...h.told??[],b]),
i)return[void 0,h,q];if("once"===t.repeat){let n,i=Math.floor(o.wall/I);if([v,n]=((e,t,n,i)=>{
let[s,a]=F(t,n),l=e.choices.find(e=>d(e,t)&&"once"===(e.repeat??"once")&&e.period===s);if(l||!i)return[l];let o={...p(t),repeat:"once",period:s,
day:s+r(i,a),device:e.device,answer:null};return[o,{...e,choices:[...e.choices,o]}]})(h,t,i,s?.source),h=g=n??g??h,
!n&&h===g&&!h.coins&&h.choices===e.choices&&(g=void 0),v?.day!==i||null!==v.answer)return[{is:"silent"},g]}let M=y(h.entries,t)?"answers":$(h,n)
;return M?[c(M)[0],g]:[void 0,v?{...h,choices:h.choices.map(e=>e===v?{...e,answer:n.id}:e)}:h,q]},
source:(e,t,r,n)=>"per value"===t.repeat?((e,{asker:t,question:r,fingerprint:n},a,l)=>{let o=JSON.stringify([e,l,t,r,n,a]),u=0,c=[];return{take(t){
for(;c.length<t;)c.push(...i(s(`${u++} ${o} ${e}`)));return Uint8Array.from(c.splice(0,t))}}})(e,t,r,n):void 0,
left({entries:e,own:t,limits:r,device:n,clock:i}){
let s=C(r.epoch,Math.max(f().wall,i.wall)),a=e.filter(e=>e.device===n),l=g(D(a,s),t,"epsilon"),o=t.lifetime?g(a,t.lifetime,"epsilon"):l
;return v(o<l?o:l,t)},act:e=>[{is:"acted"},{...e,clock:{...B(e.clock,f()),ahead:0},openings:e.limits.askers}]}},plain:b,pathAssumes:q,DEFAULT:{
epsilon:1,delta:0,assumptions:[],mechanisms:null}}
;export{Q as accounts,z as canonical,l as checkAddress,o as expBelow,U as jsonBody,j as judge,i as sha256};
//# sourceMappingURL=../maps/testing.js.map
