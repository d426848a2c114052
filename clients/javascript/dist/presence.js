import{M as e,v as t,F as r,hex as a,Malformed as n,readQuestion as s,systemSource as i,x as l,draws as o,k as u,A as d,P as c,S as p,n as f,U as h}from"./core.js"
;var m=e=>BigInt("0x"+e),g=e=>[{is:"refused",reason:e}],y=({asker:e,question:t,fingerprint:r})=>({asker:e,question:t,fingerprint:r
}),w=(e,t)=>JSON.stringify(y(e))===JSON.stringify(y(t)),b=(e,t)=>BigInt(Math.ceil(e*2**t)).toString(16),k=(e,t,r)=>e.reduce((e,t)=>e-m(t[r]),m(t[r])),v=(e,t)=>["epsilon","delta"].every(r=>k(e,t,r)>=0n),q="0".repeat(32)
;function M(e,t){let r=e.present?.filter(e=>e.batch&&t(e)).length??0;return r?[{...e,present:e.present.map(e=>t(e)?{...e,batch:null}:e)},r]:[e,0]}
function O(e){let t={},r=e.map(({fingerprint:e,report:t})=>e+t).sort();for(let e of r)(t[e.slice(0,32)]??=[]).push(e.slice(32));return t}
var T=(e,t,r)=>JSON.stringify({batch:e,dither:2,label:t,reports:O(r)});function S(e,r,a){let n={};try{n=Object(t(a))}catch{}
let[s,i]=[n.refused,n.words].map(e=>"string"==typeof e?e:""),l=409===r?"conflict"===s:r>=200&&r<300&&n.batch===e,o=s&&"sealed"!==s&&"label"!==s&&[400,410,413,415,422].includes(r)
;return{fate:l?"acknowledged":o?"dropped":"kept",reason:s,words:i}}function x(e,t,r){let a=(({consent:e,agreed:t},r,a="")=>{let n=r&&t?.[r.general]
;if(!n)return null!==n&&!1!==e&&(r?void 0:e);let{questions:s,begins:i,ends:l,address:o=""}=n
;return r.questions.every(e=>s.includes(e))&&i<=r.begins&&r.ends<=l&&(!a||a.startsWith(o))||void 0})(e,t,r)
;if(void 0!==a)return a?void 0:"the person does not want to answer"
;let n=e.consent||Object.keys(e.agreed??{})[0]?"the person was asked about something else":(()=>{let{navigator:e,process:t}=globalThis
;return e?.globalPrivacyControl?"Global Privacy Control":["DO_NOT_TRACK","NO_TELEMETRY"].find(e=>!["","0","false","no",void 0].includes(t?.env?.[e]?.toLowerCase()))
})()?.concat(" is set");return n&&`${n}: ask the person, and call device.consent(true${t?", campaign":""}) if they agree`}var C=(e,t)=>({is:"refused",
reason:e,words:t});async function D(e,t,a,{fetch:n=globalThis.fetch,pack:s},i){let l={sent:0,waiting:0,refused:[],retryAfter:0
},o=(e,t)=>[{},JSON.stringify({refused:e,words:""+t})];for(let u;u=await e();){
let{id:e,body:d}=u,c="application/"+(s?"vnd.dither.batch":"json"),[{status:p,headers:f},h]=d?await r(n,a,65536,{method:"POST",body:d,headers:{
"content-type":c},keepalive:d.length<6e4
}).then(async([e,t])=>[e,await t.text()]).catch(e=>o("unreachable",e)):o("consent",u),{fate:m,reason:g,words:y}=S(e,p,h),{reports:w=0}="kept"!==m&&await t(e,m)
;if("acknowledged"===m?l.sent+=w:l.refused.push({reason:g||"status "+p,words:y||"no collector at …/campaigns/<id>/batches; it may have moved",
dropped:w}),l.retryAfter=Math.min(Math.max(+f?.get("retry-after")||0,0),86400)*(1+i.take(1)[0]/1024),"kept"===m)break}return l}function N(t,r="day"){
let a=t[r]
;return e("string"==typeof a&&/^(?!0000)\d{4}-\d\d-\d\d$/.test(a)&&Date.parse(a)==Date.parse(a)&&new Date(a).toISOString().startsWith(a),"terms",r),
Date.parse(a)/864e5}var U=86400,j={day:U,week:7*U,year:366*U,lifetime:1/0};function J(){let{performance:e}=globalThis;return{
wall:Math.floor(Date.now()/1e3),boot:String(Math.round(e.timeOrigin)),elapsed:Math.floor(e.now()/1e3)}}function $(e,{wall:t,boot:r,elapsed:a}){
let n=r===e.boot;n&&(a=Math.max(a,e.elapsed));let s=n?a-e.elapsed:0,i=Math.max(e.wall,t);return{wall:i,boot:r,elapsed:a,ahead:e.ahead+i-e.wall-s}}
var A=(e,t)=>e.filter(e=>e.first<=t&&t<=e.last),F=({present:e},t)=>(e??[]).filter(({batch:e})=>e===t).map(({asker:e,name:t,batch:r})=>({asker:e,
question:t,batch:r
})),I=(e,{asker:t,name:r})=>e.present?.find(e=>e.asker===t&&e.name===r),P=(e,t)=>e.answers.find(e=>t&&"present"===e.permanent&&w(e,t)),Y=({every:e},{wall:t})=>(({start:e,days:t,every:r},a)=>{
if(!r)return[e+Math.floor((a-e)/t)*t,t];if("day"===r)return[a,1];if("week"===r)return[a-(a+3)%7,7]
;let n=new Date(a*U*1e3),s=Date.UTC(n.getUTCFullYear(),n.getUTCMonth())/1e3/U;return[s,Date.UTC(n.getUTCFullYear(),n.getUTCMonth()+1)/1e3/U-s]})({
every:e,days:null,start:null},Math.floor(t/U))[0],_=(e,t)=>({...e,present:[...(e.present??[]).filter(({asker:e,name:r})=>e!==t.asker||r!==t.name),t]})
;function E(e,t,r,a,n,s,{report:i,source:l}){let{asker:o,name:u,share:d}=a
;if(n&&!((e,{epsilon:t,delta:r,mechanism:a},n)=>t<=e.epsilon&&r<=e.delta&&n.every(t=>e.assumptions.includes(t))&&(e.mechanisms?.includes(a)??!0))(s,n,n.assumes))return g("policy")
;let p=$(e.clock,r),f={...e,clock:p};if(!f.askers.includes(o)){if(0===f.openings)return g("asker");f.askers=[...f.askers,o].sort(),
null!==f.openings&&f.openings--}let h=Y(a,p),m=I(f,a);if(m&&null!==m.period&&h<=m.period)return[{is:"silent"}]
;let w=m?m.permanent:!!n&&c(l,1e3)<d,q=_(f,{asker:o,name:u,permanent:w,period:h,batch:t});if(w&&n&&null===(m?.period??null)&&!P(f,n)){let e=((e,t)=>{
let r=Math.floor(t/U);return"day"===e?r:"week"===e?Math.floor((r+3)/7):"year"===e?new Date(r*U*1e3).getUTCFullYear():0
})(f.limits.epoch,Math.max(p.wall,f.born)),r={...y(n),id:t,device:f.device,epsilon:b(n.epsilon,64),delta:b(n.delta,128),assumes:n.assumes,first:e,
last:e};if(p.ahead<=j[f.limits.epoch]&&!(({entries:e,device:t,own:r,limits:a},n)=>{
let{asker:s,first:i,last:l}=n,o=[...e,n],u=o.filter(e=>e.device===t),d=Object.hasOwn(a.quotas,s)?a.quotas[s]:a.quota,c=(e,t)=>{
for(let r=i;r<=l;r++)if(!t(A(e,r)))return!1;return!0},p=o.filter(e=>e.asker===s);if(null!==d&&!c(p,e=>k(e,{epsilon:d,delta:"0"
},"epsilon")>=0n))return"quota";for(let[e,t]of[[u,r],[o,a]]){if(!c(e,e=>v(e,t)))return"budget";if(t.lifetime&&!v(e,t.lifetime))return"lifetime"}
})(f,r)){let e=i(),a={...y(n),id:t,permanent:"present",report:e};return[{is:"drawn",charged:r.epsilon,report:e},{...q,entries:[...f.entries,r],
answers:[...f.answers,a]}]}}return[{is:"present"},q]}function B(e,t,r,a){let n=I(e,r);if(!n?.batch)return[{is:"empty"}];let s=$(e.clock,t)
;if(Y(r,s)!==n.period)return[{is:"empty"},_({...e,clock:s},{...n,batch:null})];let i=n.permanent&&P(e,a);return[{is:"message",id:n.batch,
public:!n.permanent,reports:i?[[i.fingerprint,i.report]]:[]}]}function L({terms:t,questions:r,unanswered:a}){
let{asker:n,name:i,every:l,repeat:o,label_share:u}=t;e("present"===o,"asking","expected a campaign with repeat = present");let[d]=a
;e(!d||r[d],"draw",d);let c=Object.values(r)[0];if(!c)return[{asker:n,name:i,every:l}]
;let[p,f]=c,h=s(p,f.name),{mechanism:m,epsilon:g,delta:y,fingerprint:w}=h;return[{asker:n,name:i,every:l,share:u},{facts:{question:f.name,asker:n,
fingerprint:w,mechanism:m,epsilon:g,delta:y,assumes:[],repeat:"present",days:null,start:null,data:null,every:l},question:h,value:f.value,
installed:"installed"===f.form}]}var R=e=>new Date(864e5*e).toISOString().slice(0,10);async function W(e,t,r,n=J){
let[s,i]=L(t),{begins:l,ends:o}=t.terms;return e.account((e,u,d,c,p)=>{let f=x(d,t.shown);if(f)return[C("consent",f)]
;let h=n(),m=Math.floor(h.wall/U),g=Math.min(N({day:o}),t.retired?N({day:t.retired})-1:1/0);if(m>g)return[C("ended","the campaign ended on "+R(g))]
;if(m<N({day:l}))return[C("early","the campaign begins on "+l)]
;let y=r??(i?.installed?R(Math.max(m,Math.floor(e.clock.wall/U))):void 0),w=i&&i.question.inside(i.value(y))
;return i&&void 0===w&&!I(e,s)?[C("value",`question "${i.facts.question}": expected a value of its domain`)]:E(e,a(p.take(16)),h,s,i?.facts??null,c,{
report:()=>a(i.question.draw(w,p)),mark:()=>"",source:p})})}async function G(t,r,a,n={},s=J){
let[i,l]=L(r),{labels:o,retry:u}=r.terms,{label:d="",pack:c=T}=n
;return e(!d||o.includes(d),"label",`${JSON.stringify(d)} is not in the campaign; it lists ${JSON.stringify(o)}`),{...await D(()=>t.account((e,t,n)=>{
let[{is:o,id:u,public:p,reports:f},h]=B(e,s(),i,l?.facts??null);if("empty"===o)return[void 0,h];let m=f.map(([e,t])=>({fingerprint:e,report:t}))
;return[x(n,r.shown,a)??{id:u,body:c(u,p?d:"",m)}]}),(e,a)=>t.account(t=>"dropped"===a?((e,t)=>{
let r=e=>(({batch:e})=>e!==q)(e)&&t!==q&&(e.batch===t||e.id===t),a=e.queue.filter(r).length,n=e.queue.flatMap(t=>r(t)?(t=>e.answers.some(e=>w(e,t)))(t)?{
...t,batch:q}:[]:t),[s,i]=M(e,e=>e.batch===t);return i?[{is:"dropped",reports:i},s]:a?[{is:"dropped",reports:a},{...e,queue:n}]:[{is:"unknown"}]
})(t,e):((e,t,r)=>{let a=[...e.queue.filter(e=>e.id===t||e.batch===t),...F(e,t)],[n,s]=((e,t)=>{
let r=e.queue.filter(e=>e.id!==t&&e.batch!==t),[a,n]=M(e,e=>e.batch===t),s=e.queue.length-r.length+n;return s?[{is:"acknowledged",reports:s},{...a,
queue:r}]:[{is:"unknown"}]})(e,t);if(!s||a[0].batch!==t||!r)return[n,s];let{campaign:i,day:l,retry:o}=r,u={id:t,asker:a[0].asker,campaign:i,until:l+o,
questions:a.map(({question:e})=>e)};return[n,{...s,sent:[...(e.sent??[]).filter(({until:e})=>e>=l),u]}]})(t,e,{campaign:r.id,
day:Math.floor(s().wall/U),retry:u})),a,n,await t.account((...[,,,,e])=>[e])),
waiting:await t.account(e=>[+("message"===B(e,s(),i,l?.facts??null)[0].is)])}}
export{B as decideMessage,E as decidePresent,W as present,G as sendPresent};
//# sourceMappingURL=../maps/presence.js.map
