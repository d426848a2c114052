import{P as e,M as t,x as a,S as r,n}from"./core.js";var i=e=>BigInt("0x"+e),l=e=>[{is:"refused",reason:e}],s=({asker:e,question:t,fingerprint:a})=>({
asker:e,question:t,fingerprint:a}),o=(e,t)=>JSON.stringify(s(e))===JSON.stringify(s(t));function c(e,t){let a=BigInt(Math.floor(e*2**t))
;return(a&&a+(a>>52n)+1n).toString(16)}
var u=(e,t,a)=>e.reduce((e,t)=>e-i(t[a]),i(t[a])),f=(e,t)=>["epsilon","delta"].every(a=>u(e,t,a)>=0n),d=(e,t)=>e.filter(e=>o(e,t)&&e.campaign===t.limit?.campaign).length>=(t.limit?.answers??1/0),h=("0".repeat(32),
86400),p={day:h,week:7*h,year:366*h,lifetime:1/0};function m(){let{performance:e}=globalThis;return{wall:Math.floor(Date.now()/1e3),
boot:String(Math.round(e.timeOrigin)),elapsed:Math.floor(e.now()/1e3)}}function k(e,t){let a=Math.floor(t/h)
;return"day"===e?a:"week"===e?Math.floor((a+3)/7):"year"===e?new Date(a*h*1e3).getUTCFullYear():0}function w(e,{wall:t,boot:a,elapsed:r}){
let n=a===e.boot;n&&(r=Math.max(r,e.elapsed));let i=n?r-e.elapsed:0,l=Math.max(e.wall,t);return{wall:l,boot:a,elapsed:r,ahead:e.ahead+l-e.wall-i}}
var g=(e,t)=>e.filter(e=>e.first<=t&&t<=e.last);function v({entries:e,device:t,own:a,limits:r},n){
let{asker:i,first:l,last:s}=n,o=[...e,n],c=o.filter(e=>e.device===t),d=Object.hasOwn(r.quotas,i)?r.quotas[i]:r.quota,h=(e,t)=>{
for(let a=l;a<=s;a++)if(!t(g(e,a)))return!1;return!0},p=o.filter(e=>e.asker===i);if(null!==d&&!h(p,e=>u(e,{epsilon:d,delta:"0"
},"epsilon")>=0n))return"quota";for(let[e,t]of[[c,a],[o,r]]){if(!h(e,e=>f(e,t)))return"budget";if(t.lifetime&&!f(e,t.lifetime))return"lifetime"}}
function y(e,{asker:t,question:a,fingerprint:i},l,s){let o=JSON.stringify([e,s,t,a,i,l]),c=0,u=[];return{take(t){
for(;u.length<t;)u.push(...r(n(`${c++} ${o} ${e}`)));return Uint8Array.from(u.splice(0,t))}}}function M({start:e,days:t,every:a},r){
if(!a)return[e+Math.floor((r-e)/t)*t,t];if("day"===a)return[r,1];if("week"===a)return[r-(r+3)%7,7]
;let n=new Date(r*h*1e3),i=Date.UTC(n.getUTCFullYear(),n.getUTCMonth())/1e3/h;return[i,Date.UTC(n.getUTCFullYear(),n.getUTCMonth()+1)/1e3/h-i]}
function b({epoch:r="lifetime",lifetime:n,quota:f,askers:b,now:q=m,changes:O}={}){t(Object.hasOwn(p,r),"rules","epoch")
;for(let[e,r]of Object.entries({lifetime:n,quota:f}))t(void 0===r||a({[e]:r},e)>=0,"epsilon",e);return void 0!==b&&integer({askers:b
},"askers",0,2**52),{changes:O,
assumes:({repeat:e,times:t})=>((e=1)=>e>1?["how many locations a trajectory has, and when they were sent, is public"]:[])(t).concat("per value"===e?["the value never changes","the device's key stays on the device"]:[]),
open(e,t){if(!t)return e;let a=q(),i={...e.own,lifetime:void 0===n?null:{epsilon:c(n,64),delta:e.own.delta}},l={...i,epoch:r,
quota:void 0===f?null:c(f,64),quotas:{},askers:b??null};return{...e,own:i,limits:l,born:a.wall,clock:{...a,ahead:0},openings:l.askers}},knows(e){
let{repeat:t,days:a,start:r,data:n,every:i}=e;if("kept change"===t)return!!O?.knows(e)&&null===n&&!i;if(e.changes)return!1
;let l=(...e)=>e.every(Number.isInteger)
;return("once"===t?i?["day","week","month"].includes(i)&&a===r&&null===a:l(a,r)&&a>0:["fresh","same","per value"].includes(t)&&a===r&&null===a)&&(null===n||Array.isArray(n)&&2===n.length&&l(...n))
},decide(t,a,r,n,i){let{limits:c,born:u}=t,f=w(t.clock,q());if(f.ahead>p[c.epoch])return l("clock")
;let m="kept change"===asked.repeat&&M(asked,Math.floor(f.wall/h))[0],[g,y]=m?[m*h,(m+asked.days)*h]:asked.data??[f.wall,f.wall+1]
;if(m)r.data=[g,y];else if(!(g<y&&y<=f.wall+1))return l("data");if(r.first=k(c.epoch,Math.max(g,u)),r.last=k(c.epoch,Math.max(y-1,u)),
r.last-r.first>=366)return l("data");let b={...t,clock:f};if(!b.askers.includes(a.asker)){if(0===b.openings)return l("asker")
;b.askers=[...b.askers,a.asker].sort(),null!==b.openings&&b.openings--}let x,{phase:T,asker:U}=a;if(T){
let t=b.coins??[],a=t.find(e=>e.asker===U&&e.name===T.name),r=(e,a)=>({...b,coins:[...t,{asker:U,name:T.name,campaign:a,heads:e}]})
;if(void 0===T.follows){if(!a&&!i)return[{is:"silent"}];if(a||(b=x=r(e(i.source,1e3)<T.share,T.campaign)),
!(a??b.coins.at(-1)).heads)return[l("phase")[0],x]}else{
if(t.some(e=>e.heads&&e.asker===U&&(e.name===T.name||e.campaign===T.follows)))return l("phase");a||(b=r(!1,T.follows))}}
if(m)return O.decide(b,x,asked,r,e=>d(e.entries,asked)?"answers":v(e,r),i)
;let C,S="per value"===a.repeat&&i&&(n??r).device===b.device&&i.mark(),j=S?!b.told?.includes(S):void 0;if(j&&(b.told=[...b.told??[],S]),
n)return[void 0,b,j];if("once"===a.repeat){let r,n=Math.floor(f.wall/h);if([C,r]=((t,a,r,n)=>{
let[i,l]=M(a,r),c=t.choices.find(e=>o(e,a)&&"once"===(e.repeat??"once")&&e.period===i);if(c||!n)return[c];let u={...s(a),repeat:"once",period:i,
day:i+e(n,l),device:t.device,answer:null};return[u,{...t,choices:[...t.choices,u]}]})(b,a,n,i?.source),b=x=r??x??b,
!r&&b===x&&!b.coins&&b.choices===t.choices&&(x=void 0),C?.day!==n||null!==C.answer)return[{is:"silent"},x]}let D=d(b.entries,a)?"answers":v(b,r)
;return D?[l(D)[0],x]:[void 0,C?{...b,choices:b.choices.map(e=>e===C?{...e,answer:r.id}:e)}:b,j]},
source:(e,t,a,r)=>"per value"===t.repeat?y(e,t,a,r):void 0,left({entries:e,own:t,limits:a,device:r,clock:n}){
let l=k(a.epoch,Math.max(q().wall,n.wall)),s=e.filter(e=>e.device===r),o=u(g(s,l),t,"epsilon"),c=t.lifetime?u(s,t.lifetime,"epsilon"):o
;return(f=c<o?c:o)<<50n>i(t.epsilon)?Number(f)/2**64:0;var f},act:e=>[{is:"acted"},{...e,clock:{...w(e.clock,q()),ahead:0},openings:e.limits.askers}]}
}export{p as AHEAD,h as DAY,b as allRules,w as clockAfter,k as epochOf,y as keyed,M as periodOf,v as short,m as systemNow};
//# sourceMappingURL=../maps/rules.js.map
