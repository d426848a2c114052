import{P as e,M as t,x as r,S as a,n,A as i}from"./core.js";var l=e=>BigInt("0x"+e),s=e=>[{is:"refused",reason:e
}],o=({asker:e,question:t,fingerprint:r})=>({asker:e,question:t,fingerprint:r}),c=(e,t)=>JSON.stringify(o(e))===JSON.stringify(o(t));function u(e,t){
let r=BigInt(Math.floor(e*2**t));return(r&&r+(r>>52n)+1n).toString(16)}
var f=(e,t,r)=>e.reduce((e,t)=>e-l(t[r]),l(t[r])),d=(e,t)=>["epsilon","delta"].every(r=>f(e,t,r)>=0n),h=(e,t)=>e.filter(e=>c(e,t)&&e.campaign===t.limit?.campaign).length>=(t.limit?.answers??1/0),p=("0".repeat(32),
86400),m={day:p,week:7*p,year:366*p,lifetime:1/0};function w(){let{performance:e}=globalThis;return{wall:Math.floor(Date.now()/1e3),
boot:String(Math.round(e.timeOrigin)),elapsed:Math.floor(e.now()/1e3)}}function k(e,t){let r=Math.floor(t/p)
;return"day"===e?r:"week"===e?Math.floor((r+3)/7):"year"===e?new Date(r*p*1e3).getUTCFullYear():0}function g(e,{wall:t,boot:r,elapsed:a}){
let n=r===e.boot;n&&(a=Math.max(a,e.elapsed));let i=n?a-e.elapsed:0,l=Math.max(e.wall,t);return{wall:l,boot:r,elapsed:a,ahead:e.ahead+l-e.wall-i}}
var v=(e,t)=>e.filter(e=>e.first<=t&&t<=e.last);function y({entries:e,device:t,own:r,limits:a},n){
let{asker:i,first:l,last:s}=n,o=[...e,n],c=o.filter(e=>e.device===t),u=Object.hasOwn(a.quotas,i)?a.quotas[i]:a.quota,h=(e,t)=>{
for(let r=l;r<=s;r++)if(!t(v(e,r)))return!1;return!0},p=o.filter(e=>e.asker===i);if(null!==u&&!h(p,e=>f(e,{epsilon:u,delta:"0"
},"epsilon")>=0n))return"quota";for(let[e,t]of[[c,r],[o,a]]){if(!h(e,e=>d(e,t)))return"budget";if(t.lifetime&&!d(e,t.lifetime))return"lifetime"}}
function M(e,{asker:t,question:r,fingerprint:i},l,s){let o=JSON.stringify([e,s,t,r,i,l]),c=0,u=[];return{take(t){
for(;u.length<t;)u.push(...a(n(`${c++} ${o} ${e}`)));return Uint8Array.from(u.splice(0,t))}}}function b({start:e,days:t,every:r},a){
if(!r)return[e+Math.floor((a-e)/t)*t,t];if("day"===r)return[a,1];if("week"===r)return[a-(a+3)%7,7]
;let n=new Date(a*p*1e3),i=Date.UTC(n.getUTCFullYear(),n.getUTCMonth())/1e3/p;return[i,Date.UTC(n.getUTCFullYear(),n.getUTCMonth()+1)/1e3/p-i]}
function q({epoch:a="lifetime",lifetime:n,quota:d,askers:q,now:O=w,changes:x}={}){
t(Object.hasOwn(m,a),"rules","epoch: expected one of "+Object.keys(m));for(let[e,a]of Object.entries({lifetime:n,quota:d}))t(void 0===a||r({[e]:a
},e)>=0,"epsilon",e);return void 0!==q&&i({askers:q},"askers",0,2**52),{changes:x,
assumes:({repeat:e,times:t})=>((e=1)=>e>1?["how many locations a trajectory has, and when they were sent, is public"]:[])(t).concat("per value"===e?["the value never changes","the device's key stays on the device"]:[]),
open(e,t){if(!t)return e;let r=O(),i={...e.own,lifetime:void 0===n?null:{epsilon:u(n,64),delta:e.own.delta}},l={...i,epoch:a,
quota:void 0===d?null:u(d,64),quotas:{},askers:q??null};return{...e,own:i,limits:l,born:r.wall,clock:{...r,ahead:0},openings:l.askers}},knows(e){
let{repeat:t,days:r,start:a,data:n,every:i}=e;if("kept change"===t)return!!x?.knows(e)&&null===n&&!i;if(e.changes)return!1
;let l=(...e)=>e.every(Number.isInteger)
;return("once"===t?i?["day","week","month"].includes(i)&&r===a&&null===r:l(r,a)&&r>0:["fresh","same","per value"].includes(t)&&r===a&&null===r)&&(null===n||Array.isArray(n)&&2===n.length&&l(...n))
},decide(t,r,a,n,i){let{limits:l,born:u}=t,f=g(t.clock,O());if(f.ahead>m[l.epoch])return s("clock")
;let d="kept change"===r.repeat&&b(r,Math.floor(f.wall/p))[0],[w,v]=d?[d*p,(d+r.days)*p]:r.data??[f.wall,f.wall+1]
;if(d)a.data=[w,v];else if(!(w<v&&v<=f.wall+1))return s("data");if(a.first=k(l.epoch,Math.max(w,u)),a.last=k(l.epoch,Math.max(v-1,u)),
a.last-a.first>=366)return s("data");let M={...t,clock:f};if(!M.askers.includes(r.asker)){if(0===M.openings)return s("asker")
;M.askers=[...M.askers,r.asker].sort(),null!==M.openings&&M.openings--}let q,{phase:T,asker:U}=r;if(T){
let t=M.coins??[],r=t.find(e=>e.asker===U&&e.name===T.name),a=(e,r)=>({...M,coins:[...t,{asker:U,name:T.name,campaign:r,heads:e}]})
;if(void 0===T.follows){if(!r&&!i)return[{is:"silent"}];if(r||(M=q=a(e(i.source,1e3)<T.share,T.campaign)),
!(r??M.coins.at(-1)).heads)return[s("phase")[0],q]}else{
if(t.some(e=>e.heads&&e.asker===U&&(e.name===T.name||e.campaign===T.follows)))return s("phase");r||(M=a(!1,T.follows))}}
if(d)return x.decide(M,q,r,a,e=>h(e.entries,r)?"answers":y(e,a),i)
;let C,j="per value"===r.repeat&&i&&(n??a).device===M.device&&i.mark(),S=j?!M.told?.includes(j):void 0;if(S&&(M.told=[...M.told??[],j]),
n)return[void 0,M,S];if("once"===r.repeat){let a,n=Math.floor(f.wall/p);if([C,a]=((t,r,a,n)=>{
let[i,l]=b(r,a),s=t.choices.find(e=>c(e,r)&&"once"===(e.repeat??"once")&&e.period===i);if(s||!n)return[s];let u={...o(r),repeat:"once",period:i,
day:i+e(n,l),device:t.device,answer:null};return[u,{...t,choices:[...t.choices,u]}]})(M,r,n,i?.source),M=q=a??q??M,
!a&&M===q&&!M.coins&&M.choices===t.choices&&(q=void 0),C?.day!==n||null!==C.answer)return[{is:"silent"},q]}let D=h(M.entries,r)?"answers":y(M,a)
;return D?[s(D)[0],q]:[void 0,C?{...M,choices:M.choices.map(e=>e===C?{...e,answer:a.id}:e)}:M,S]},
source:(e,t,r,a)=>"per value"===t.repeat?M(e,t,r,a):void 0,left({entries:e,own:t,limits:r,device:a,clock:n}){
let i=k(r.epoch,Math.max(O().wall,n.wall)),s=e.filter(e=>e.device===a),o=f(v(s,i),t,"epsilon"),c=t.lifetime?f(s,t.lifetime,"epsilon"):o
;return(u=c<o?c:o)<<50n>l(t.epsilon)?Number(u)/2**64:0;var u},act:e=>[{is:"acted"},{...e,clock:{...g(e.clock,O()),ahead:0},openings:e.limits.askers}]}
}export{m as AHEAD,p as DAY,q as allRules,g as clockAfter,k as epochOf,M as keyed,b as periodOf,y as short,w as systemNow};
//# sourceMappingURL=../maps/rules.js.map
