import{P as e,M as t,x as r,S as a,n as i,A as n}from"./core.js";var l=e=>BigInt("0x"+e),s=e=>[{is:"refused",reason:e
}],o=({asker:e,question:t,fingerprint:r})=>({asker:e,question:t,fingerprint:r}),c=(e,t)=>JSON.stringify(o(e))===JSON.stringify(o(t));function u(e,t){
let r=BigInt(Math.floor(e*2**t));return(r&&r+(r>>52n)+1n).toString(16)}
var f=(e,t,r)=>e.reduce((e,t)=>e-l(t[r]),l(t[r])),d=(e,t)=>["epsilon","delta"].every(r=>f(e,t,r)>=0n),h=("0".repeat(32),86400),p={day:h,week:7*h,
year:366*h,lifetime:1/0};function m(){let{performance:e}=globalThis;return{wall:Math.floor(Date.now()/1e3),boot:String(Math.round(e.timeOrigin)),
elapsed:Math.floor(e.now()/1e3)}}function w(e,t){let r=Math.floor(t/h)
;return"day"===e?r:"week"===e?Math.floor((r+3)/7):"year"===e?new Date(r*h*1e3).getUTCFullYear():0}function k(e,{wall:t,boot:r,elapsed:a}){
let i=r===e.boot;i&&(a=Math.max(a,e.elapsed));let n=i?a-e.elapsed:0,l=Math.max(e.wall,t);return{wall:l,boot:r,elapsed:a,ahead:e.ahead+l-e.wall-n}}
var v=(e,t)=>e.filter(e=>e.first<=t&&t<=e.last);function g({entries:e,device:t,own:r,limits:a},i){
let{asker:n,first:l,last:s}=i,o=[...e,i],c=o.filter(e=>e.device===t),u=Object.hasOwn(a.quotas,n)?a.quotas[n]:a.quota,h=(e,t)=>{
for(let r=l;r<=s;r++)if(!t(v(e,r)))return!1;return!0},p=o.filter(e=>e.asker===n);if(null!==u&&!h(p,e=>f(e,{epsilon:u,delta:"0"
},"epsilon")>=0n))return"quota";for(let[e,t]of[[c,r],[o,a]]){if(!h(e,e=>d(e,t)))return"budget";if(t.lifetime&&!d(e,t.lifetime))return"lifetime"}}
function y({start:e,days:t,every:r},a){if(!r)return[e+Math.floor((a-e)/t)*t,t];if("day"===r)return[a,1];if("week"===r)return[a-(a+3)%7,7]
;let i=new Date(a*h*1e3),n=Date.UTC(i.getUTCFullYear(),i.getUTCMonth())/1e3/h;return[n,Date.UTC(i.getUTCFullYear(),i.getUTCMonth()+1)/1e3/h-n]}
function M({epoch:d="lifetime",lifetime:M,quota:b,askers:q,now:O=m}={}){t(Object.hasOwn(p,d),"rules","epoch");for(let[e,a]of Object.entries({
lifetime:M,quota:b}))t(void 0===a||r({[e]:a},e)>=0,"epsilon",e);return void 0!==q&&n({askers:q},"askers",0,2**52),{
assumes:({repeat:e,times:t})=>((e=1)=>e>1?["how many locations a trajectory has, and when they were sent, is public"]:[])(t).concat("per value"===e?["the value never changes","the device's key stays on the device"]:[]),
open(e,t){if(!t)return e;let r=O(),a={...e.own,lifetime:void 0===M?null:{epsilon:u(M,64),delta:e.own.delta}},i={...a,epoch:d,
quota:void 0===b?null:u(b,64),quotas:{},askers:q??null};return{...e,own:a,limits:i,born:r.wall,clock:{...r,ahead:0},openings:i.askers}},
knows({repeat:e,days:t,start:r,data:a,every:i}){let n=(...e)=>e.every(Number.isInteger)
;return("once"===e?i?["day","week","month"].includes(i)&&t===r&&null===t:n(t,r)&&t>0:["fresh","same","per value"].includes(e)&&t===r&&null===t)&&(null===a||Array.isArray(a)&&2===a.length&&n(...a))
},decide(t,r,a,i,n){let{limits:l,born:u}=t,f=k(t.clock,O());if(f.ahead>p[l.epoch])return s("clock");let[d,m]=r.data??[f.wall,f.wall+1]
;if(!(d<m&&m<=f.wall+1))return s("data");if(a.first=w(l.epoch,Math.max(d,u)),a.last=w(l.epoch,Math.max(m-1,u)),a.last-a.first>=366)return s("data")
;let v={...t,clock:f};if(!v.askers.includes(r.asker)){if(0===v.openings)return s("asker");v.askers=[...v.askers,r.asker].sort(),
null!==v.openings&&v.openings--}let M,{phase:b,asker:q}=r;if(b){let t=v.coins??[],r=t.find(e=>e.asker===q&&e.name===b.name),a=(e,r)=>({...v,
coins:[...t,{asker:q,name:b.name,campaign:r,heads:e}]});if(void 0===b.follows){if(!r&&!n)return[{is:"silent"}]
;if(r||(v=M=a(e(n.source,1e3)<b.share,b.campaign)),!(r??v.coins.at(-1)).heads)return[s("phase")[0],M]}else{
if(t.some(e=>e.heads&&e.asker===q&&(e.name===b.name||e.campaign===b.follows)))return s("phase");r||(v=a(!1,b.follows))}}
let x,T="per value"===r.repeat&&n&&(i??a).device===v.device&&n.mark(),U=T?!v.told?.includes(T):void 0;if(U&&(v.told=[...v.told??[],T]),
i)return[void 0,v,U];if("once"===r.repeat){let a,i=Math.floor(f.wall/h);if([x,a]=((t,r,a,i)=>{
let[n,l]=y(r,a),s=t.choices.find(e=>c(e,r)&&"once"===(e.repeat??"once")&&e.period===n);if(s||!i)return[s];let u={...o(r),repeat:"once",period:n,
day:n+e(i,l),device:t.device,answer:null};return[u,{...t,choices:[...t.choices,u]}]})(v,r,i,n?.source),v=M=a??M??v,
!a&&v===M&&!v.coins&&v.choices===t.choices&&(M=void 0),x?.day!==i||null!==x.answer)return[{is:"silent"},M]}let C=(S=v.entries,j=r,
S.filter(e=>c(e,j)&&e.campaign===j.limit?.campaign).length>=(j.limit?.answers??1/0)?"answers":g(v,a));var S,j;return C?[s(C)[0],M]:[void 0,x?{...v,
choices:v.choices.map(e=>e===x?{...e,answer:a.id}:e)}:v,U]},source:(e,t,r,n)=>"per value"===t.repeat?((e,{asker:t,question:r,fingerprint:n},l,s)=>{
let o=JSON.stringify([e,s,t,r,n,l]),c=0,u=[];return{take(t){for(;u.length<t;)u.push(...a(i(`${c++} ${o} ${e}`)));return Uint8Array.from(u.splice(0,t))
}}})(e,t,r,n):void 0,left({entries:e,own:t,limits:r,device:a,clock:i}){
let n=w(r.epoch,Math.max(O().wall,i.wall)),s=e.filter(e=>e.device===a),o=f(v(s,n),t,"epsilon"),c=t.lifetime?f(s,t.lifetime,"epsilon"):o
;return(u=c<o?c:o)<<50n>l(t.epsilon)?Number(u)/2**64:0;var u},act:e=>[{is:"acted"},{...e,clock:{...k(e.clock,O()),ahead:0},openings:e.limits.askers}]}
}export{p as AHEAD,h as DAY,M as allRules,k as clockAfter,w as epochOf,y as periodOf,g as short,m as systemNow};
//# sourceMappingURL=../maps/rules.js.map
