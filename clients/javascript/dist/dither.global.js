"use strict";(()=>{var e=Object.defineProperty,t={};((t,r)=>{for(var n in r)e(t,n,{get:r[n],enumerable:!0})})(t,{Device:()=>mt,Malformed:()=>n,
allRules:()=>Bt,autoSend:()=>vt,changes:()=>Tt,connect:()=>dn,draws:()=>C,encapsulate:()=>Wt,erase:()=>Vr,fetchCampaign:()=>Gr,hex:()=>p,
indexedStore:()=>wt,memoryStore:()=>gt,packedBody:()=>Ct,present:()=>Ur,readCampaign:()=>zr,readList:()=>Lr,readQuestion:()=>J,relayed:()=>Ht,
sendPresent:()=>$r,systemSource:()=>m,takeBack:()=>Sr,verify:()=>Tr,view:()=>Hr,words:()=>en});var r=320n,n=class extends Error{
constructor(e,t="",r=""){super((r&&`question "${r}": `)+e+(t&&": "+t)),this.name="Malformed",this.reason=e,this.field=t,this.question=r}}
;function a(e,t,r){if(!e)throw new n(t,r)}var i=e=>e.replace(/\\./g,"").replace(/"[^"]*"/g,"").split(":").length;function s(e){let t=JSON.parse(e)
;return a(i(JSON.stringify(t))===i(e),"text"),t}function l(e){let t=[];return a(JSON.stringify(JSON.parse(e))===e,"text"),[JSON.parse(e,(e,r)=>{
if(Object(r)!==r)return encodeURI(r),r;let n=Object.keys(r),i=new Set(n);return t.push(i),a(Array.isArray(r)||n+""==n.sort()+"","text"),new Proxy(r,{
get:(e,t)=>(i.delete(t),e[t])})}),()=>t.forEach(e=>e.forEach(e=>a(0,"fields",e)))]}function o(e,t,r=e[t]){return a(Number.isFinite(r),"number",t),r}
function d(e,t,r,n,i=e[t]){return a(Number.isSafeInteger(i)&&i>=r&&i<=n,"number",t),i}function u(e,t,r,n=e[t],i=0n){
return a(n?.length<=r&&(i=BigInt("0x"+n)).toString(16)===n,"number",t),i}var c=e=>(new TextEncoder).encode(e);function h(e){
let t=e.length+72>>6<<6,r=new Uint8Array(t),n=new DataView(r.buffer);r.set(e),r[e.length]=128,n.setUint32(t-4,8*e.length)
;let a=new Uint32Array(8),i=new Uint32Array(64),s=new Uint32Array(64);for(let e=2,t=0;t<64;e++){let r=2;for(;e%r;)r++;r<e||(a[t]=e**.5*2**32,
i[t++]=e**(1/3)*2**32)}let l=(e,...t)=>t.reduce((t,r)=>t^(e>>>r|e<<-r),0);for(let e=0;e<t;e+=64){let t=[...a];for(let r=0;r<64;r++){
let[a,o,d,u,c,h,p,f]=t,m=s[r-15],g=s[r-2];s[r]=r<16?n.getUint32(e+4*r):s[r-16]+s[r-7]+(l(m,7,18)^m>>>3)+(l(g,17,19)^g>>>10)
;let w=f+l(c,6,11,25)+(c&h^~c&p)+i[r]+s[r];t=[w+l(a,2,13,22)+(a&o^a&d^o&d)|0,a,o,d,u+w|0,c,h,p]}t.forEach((e,t)=>a[t]+=e)}
return a.forEach((e,t)=>n.setUint32(4*t,e)),r.slice(0,32)}
var p=e=>Array.from(e,e=>(e+256).toString(16).slice(1)).join(""),f=(e,t=32)=>p(h(e)).slice(0,t);function m(){let{crypto:e}=globalThis
;a(e?.getRandomValues,"source");let t=new Uint8Array,r=0;return{take(n){r+n>t.length&&(t=e.getRandomValues(new Uint8Array(n+1024)),r=0)
;let a=t.slice(r,r+n);return t.fill(0,r,r+=n),a}}}function g(e,t=0,r=e.length,n=0){for(;r-- >t;)n=256*n+e[r];return n}
var w=e=>new DataView(e.buffer,e.byteOffset).getBigUint64(0,!0),y=(e,t,r=0)=>Math.floor(g(e,r)*2**(t-8*(e.length-r))),b=(e,t)=>y(e.take(t+7>>3),t)
;function v(e,t){let r;do{r=b(e,32-Math.clz32(t-1))}while(r>=t);return r}function k({domain:e,outside:t}){let r="circle"===e.kind
;a(t===(r?"wrap":"clip")&&(r||"interval"===e.kind),"domain");let n=r?0:o(e,"low"),i=o(e,r?"period":"high")
;return a(n>=-1e30&&i<=1e30&&i-n>=1e-30,"domain"),[e=>{if("number"!=typeof e||e!=e)return;if(!r)return Math.min(Math.max(e,n),i);let t=e%i
;return t==t?(t+i*+(t<0))%i:void 0},[n,i]]}function M({domain:e,outside:t}){if(a("categories"===e.kind&&"refuse"===t,"domain"),void 0!==e.count){
let t=d(e,"count",2,4294967296);return[e=>Number.isInteger(e)&&e>=0&&e<t?e:void 0,t]}
let r=e.labels,n=new Map(r.map((e,t)=>(a("number"!=typeof e||Number.isSafeInteger(e),"domain"),
[Object(e)===e?o(e,"number"):e,t]))),i=n.has(!0)&&n.has(1)||n.has(!1)&&n.has(0);return a(n.size>1&&n.size===r.length&&!i,"domain"),
[e=>n.get(e),n.size]}var x=(e,t)=>Uint8Array.from({length:t},(t,r)=>e*2**(-8*r));function A(e,t){let r=1;for(;256**r<t;)r*=2;return x(e,r)}
function S(e,t){let r=u(e,t,32),n=r>>64n,a=BigInt.asUintN(64,r);return[e=>{let t=w(e.take(8));return+(t===n?w(e.take(8))<a:t<n)},r,(1n<<128n)-r]}
function q(e,t){let r=t.bits,n=u(t,"step",24),i=BigInt(e),s=n>>32n,l=r/8-4;a(96===r?n:64===r&&s,"step");let o=1n<<BigInt(r-32)
;return a(i*(s+1n)<=o,"step"),[(e,t)=>{let r=e.take(l+(t+7>>3)),a=l,d=l<8?BigInt(g(r,0,4,1))-o:w(r),u=d<i*s,c=Number(d/(s||1n)),h=d-o+i
;return h>=0&&(r=Uint8Array.of(...r,...e.take(4)),u=g(r,l,a+=4)<BigInt.asUintN(32,n),c=Number(h)),[+u,c,y(r,t,a)]},n,1n<<BigInt(r)]}
var O=(e,t,r=16)=>Math.floor((e+b(t,r))*2**-r)+0;function N(e,t,r){
let n=e.kind,i=o(e,"origin"),s=o(e,"scale"),l=e=>Math.trunc((e-i)*s),u=(e,t)=>(Math.abs(l(e))-Math.abs(l(e)-t)+t)/2,c=2**(t>65536?52:31),h=Math.max(...r.map(e=>Math.abs(e-i)*s))
;if(a(s>0&&h*(1+2**-19)<c,"start"),"line"===n){let t=d(e,"fraction",0,30),r=null===e.last,n=r?h:d(e,"last",0,c);return a(n<=c-2**t,"start"),
(e,a)=>O(r?l(e):u(e,n),a,t)}let f=[];if("steps"===n)return e.counts.forEach((r,n)=>{
for(let a=d(e,"counts",1,65536-f.length,r);a--;)f.push(d(e,"starts",0,t-1,e.starts[n]))}),a(f.length,"start"),e=>f[u(e,f.length-1)]
;let m=Uint8Array.from(e.bits.match(/../g),e=>parseInt(e,16));a("knots"===n&&t<=65536&&p(m)===e.bits,"start");let g=65536*t;f.push(d(e,"first",0,g-1))
;for(let[t,r]of e.pieces)for(let n=d(e,"pieces",1,32768-f.length,t);n--;){let t=f.length-1,n=f[t]+d(e,"pieces",-g,g,r)+(m[t>>3]>>(7&t)&1)
;f.push(d(e,"pieces",0,g-1,n))}let w=f.length-1;return a(w&&m.length===w+7>>3&&!(m.at(-1)>>1+(w-1&7)),"start"),(e,t)=>O(f[O(u(e,65536*w-1),t)],t)}
function I(e,t){let r=new Uint8Array(e+7>>3);for(let n=0;n<e;n++)r[n>>3]|=t(n)<<(7&n);return r}
var B=(e,t)=>t.reduce((e,t)=>e+ +(e>=t),e),E=e=>e.sort((e,t)=>e-t);function j(e,t,r){let n=[];for(;n.length<t;)n.push(B(v(e,r-n.length),E([...n])))
;return n}var U=(e,t,r,n)=>a=>{let[i,s]=M(a),l=d(a,"size",s,Math.min(s,65536))-1,o=d(a,"chosen",t,Math.min(r,l)),[u,c,h]=S(a,"heads");return{names:e,
ratio:[c*BigInt(s-o),h*BigInt(o)],inside:i,draw:(e,t)=>n(e,u(t),o,l,t)}};function $(e,t){let r=d(e,"cells",2,4294967296),n=Math.log2(r)
;a("sliding"===e.draw&&Number.isInteger(n),"cells");let i=d(e,"width",1,r-1),[s,l,o]=q(i,e),u=N(e.start,r,t),c=o-BigInt(i)*l;return[r,(e,t)=>{
let a=u(e,t),[i,l,o]=s(t,n);return(o+(a+l-o&-i)&r-1)>>>0},[c+BigInt(r)*l,c]]}function T(e,t,r=0){let[n,a,i]=q(t,e);return[(e,t)=>{let[a,i,s]=n(t,r)
;return(e+a*(i-e))*2**r+s},[i-BigInt(t-1)*a,a]]}var C={__proto__:null,sliding:e=>{let[t,r]=k(e),[n,a,i]=$(e,r);return{
names:"Podium PM SW OGPM OGPMU Duchi TwoPoint Optimal Focused",ratio:i,inside:t,draw:(e,t)=>A(a(e,t),n)}},mixture:e=>{
let[t,r]=k(e),[n,a,i]=$(e.first,r),[s,l,o]=$(e.second,r),u=d(e,"heads",0,2**32-1);return{names:"Hybrid",ratio:i[0]*o[1]>o[0]*i[1]?i:o,inside:t,
draw:(e,t)=>A(b(t,32)<u?a(e,t):n+l(e,t),n+s)}},response:e=>{let[t,r]=M(e);d(e,"width",1,1);let[n,a]=T(e,d(e,"cells",r,r));return{names:"KRR RR",
ratio:a,inside:t,draw:(e,t)=>A(n(e,t),r)}},bits:e=>{let[t,r]=M(e),n=d(e,"size",r,Math.min(r,2**24)),[i,s,l]=S(e,"own"),[o,u,c]=S(e,"other")
;return a(0n<u&&u<s,"step"),{names:"OUE SUE",ratio:[s*c,l*u],inside:t,draw:(e,t)=>I(n,r=>(r===e?i:o)(t))}},
subset:U("SubsetSelection",1,65536,(e,t,r,n,a)=>{let i=[];for(let e=r-t;i.length<n;e-=i.at(-1))i.push(+(v(a,n-i.length)<e));return i[n]=i[e],i[e]=t,
I(n+1,e=>i[e])}),indices:U("SubsetIndices",2,8,(e,t,r,n,a)=>{let i=j(a,r,n).map(t=>B(t,[e]));return i[r-1]=[i[r-1],e][t],
Uint8Array.from(E(i).flatMap(e=>[...A(e,n+1)]))})},_={__proto__:null,sectors:"angles",box:"box",directions:"vectors",routes:"routes",hashed:"hashed",
hadamard:"hashed",channel:"tables",table:"tables",splines:"tables",lattice:"lattice",nearest:"nearest",listing:"nearest",optional:"optional",
pair:"paths",polar:"paths",walk:"paths",projective:"projective",questions:"profile",several:"several",polynomial:"polynomial"};function J(e,t){try{
a(e.length<2**22,"text");let t=s(e),{dither:n,device:i,mechanism:d,parameters:u,fingerprint:h}=t
;a(2===n&&"codebook"in t&&6===Object.keys(t).length,"version"),a(h===f(c(i)),"fingerprint");let[p,m]=l(i),g=p.draw;a(g===g+"","draw"),
a("function"==typeof C[g],"draw",_[g]&&`${d} needs dither-ldp/${_[g]}`);let w=o(u,"epsilon");a(w>=1e-6&&w<=50,"epsilon")
;let y=C[g](p),{names:b,ratio:v,inside:k,delta:M}=y;a(b.split(" ").includes(d),"draw"),m();let x=(e=>{let t=256n;for(;e%1;t*=2n)e*=2
;let n=BigInt(e),a=1n<<r,i=a;for(let e=1n;a>0n;e++)a=a*n/(t*e),i+=a;for(let e=0;e<8;e++)i=i*i>>r;return i})(w)
;return a(M||v[0]>v[1]&&v[0]<<r<=x*v[1],"privacy"),{...y,mechanism:d,kind:g,epsilon:w,delta:M?M(x,u.delta):0,fingerprint:h,device:i,report(e,t){
let r=k(e);return void 0===r?r:y.draw(r,t)}}}catch(e){let{reason:r,field:a}=e instanceof n?e:new n("text");throw new n(r,a,t)}}
var z=30,P=/^(https:\/\/[^\s\\/?#@]+|http:\/\/(localhost|\[::1]|127(\.(25[0-5]|(2[0-4]|1\d|[1-9])?\d)){3})(:\d+)?)(\/[^\s\\?#]*)?$/i,D=e=>a(P.test(e?.includes("://")?e:new URL(e,globalThis.location?.href??"no:/").href),"address","expected https, or this machine")
;async function R(e,t,r,i){D(t);let s,l,o=new AbortController,d=new Promise((e,t)=>s=setTimeout(()=>t(new n("late")),1e3*z));try{
let n=await Promise.race([d,e(t,{...i,credentials:"omit",referrerPolicy:"no-referrer",redirect:"error",signal:o.signal})]);l=n.body?.getReader()
;let s=[];for(let e,t=0;l&&(e=await Promise.race([d,l.read()])).value;s.push(e.value))a((t+=e.value.length)<=r,"size")
;return[n,l?new Response(new Blob(s)):n]}finally{clearTimeout(s),o.abort(),l?.cancel().catch(()=>0)}}var F={epsilon:1,delta:0,assumptions:[],
mechanisms:null},L=e=>BigInt("0x"+e),G=e=>[{is:"refused",reason:e}],K=({asker:e,question:t,fingerprint:r})=>({asker:e,question:t,fingerprint:r
}),W=(e,t)=>JSON.stringify(K(e))===JSON.stringify(K(t)),Y=(e,{epsilon:t,delta:r,mechanism:n},a)=>t<=e.epsilon&&r<=e.delta&&a.every(t=>e.assumptions.includes(t))&&(e.mechanisms?.includes(n)??!0),H=(e,t)=>BigInt(Math.ceil(e*2**t)).toString(16)
;function V(e,t){let r=BigInt(Math.floor(e*2**t));return(r&&r+(r>>52n)+1n).toString(16)}
var X=(e,t,r)=>e.reduce((e,t)=>e-L(t[r]),L(t[r])),Z=(e,t)=>["epsilon","delta"].every(r=>X(e,t,r)>=0n),Q={epoch:"lifetime",lifetime:null,quota:null,
quotas:{},askers:null},ee=(e,t)=>e<<50n>L(t.epsilon)?Number(e)/2**64:0,te={open(e){let[t,r]=[{...e.own,...Q
},e.limits].map(e=>JSON.stringify(Object.entries(e).sort()));return a(t===r,"rules","the account has more limits: see allRules of dither-ldp/rules"),e
},knows:({repeat:e,days:t,start:r,data:n,every:a,phase:i,changes:s})=>["fresh","same"].includes(e)&&""+[t,r,n,a,i,s]==",,,,,",
decide:({entries:e,own:t},r,n,a)=>a?[]:re(e,r)?G("answers"):Z([...e,n],t)?[]:G("budget"),left:({entries:e,own:t})=>ee(X(e,t,"epsilon"),t)
},re=(e,t)=>e.filter(e=>W(e,t)&&e.campaign===t.limit?.campaign).length>=(t.limit?.answers??1/0),ne=(e,t)=>[...new Set(e.assumes.concat(t.assumes?.(e)??[]))],ae=(e=1)=>e>1?["how many locations a trajectory has, and when they were sent, is public"]:[],ie="0".repeat(32),se=({batch:e})=>e!==ie,le=(e,t,r)=>e.map(e=>se(e)||e.report!==r||!W(e,t)?e:{
...e,batch:null}),oe=({epsilon:e,delta:t,assumes:r,data:n,times:a,campaign:i})=>JSON.stringify([e,t,r,n,a,i]),de=(e,t)=>e&&W(e,t)&&oe(e)===oe(t)
;function ue(e,t,r,n,a,i){let{epsilon:s,delta:l,repeat:o,data:d,times:u,limit:c}=r,h=ne(r,a),p=K(r),f={...p,id:t,device:e.device,epsilon:H(s,64),
delta:H(l,128),assumes:h,first:0,last:0,...d&&{data:d},...u&&{times:u},...c&&{campaign:c.campaign}
},m=(e,t)=>e.find(e=>e.id===t),g=e=>de(e,f),w=e.answers.find(e=>W(e,r)&&e.permanent===o),y=m(e.entries,w?.id),b=m(e.queue,t),v=m(e.entries,t)
;if(b||v){let t="kept change"===o;return t&&v?.data&&(f.data=v.data),W(b??v,r)&&(t&&!v||g(v??y))?b?[{is:"resent",report:b.report},se(b)?void 0:{...e,
queue:le(e.queue,r,b.report)}]:[{is:"acknowledged",reports:0}]:G("id")}if(!Y(n,r,h))return G("policy");let[k,M,x=!w]=a.decide(e,r,f,w&&(y??f),i)
;if(k)return[k,M];let A=w&&"same"===o;if(w&&(!g(y)||A&&null===w.report))return G("changed");let S=i&&(A?w.report:i.report()),q={...M??e}
;return q.queue=x?[...e.queue,{...p,id:t,report:S,batch:null}]:le(e.queue,r,S),w?[{is:"repeated",charged:"0",report:S},q]:(q.entries=[...e.entries,f],
("same"===o||"per value"===o)&&(q.answers=[...e.answers,{...p,id:t,permanent:o,report:"same"===o?S:null}]),[{is:"drawn",charged:f.epsilon,report:S
},q])}function ce(e,t){let r=e.present?.filter(e=>e.batch&&t(e)).length??0;return r?[{...e,present:e.present.map(e=>t(e)?{...e,batch:null}:e)
},r]:[e,0]}function he(e,t){let r=e.queue.filter(e=>e.id!==t&&e.batch!==t),[n,a]=ce(e,e=>e.batch===t),i=e.queue.length-r.length+a;return i?[{
is:"acknowledged",reports:i},{...n,queue:r}]:[{is:"unknown"}]}function pe(e,t){
let r=e=>se(e)&&t!==ie&&(e.batch===t||e.id===t),n=e.queue.filter(r).length,a=e.queue.flatMap(t=>r(t)?(t=>e.answers.some(e=>W(e,t)))(t)?{...t,batch:ie
}:[]:t),[i,s]=ce(e,e=>e.batch===t);return s?[{is:"dropped",reports:s},i]:n?[{is:"dropped",reports:n},{...e,queue:a}]:[{is:"unknown"}]}function fe(e){
if(3===e.account)return e;let t=e.choices.flatMap(e=>[{...e,repeat:"kept change"},{...e,repeat:"once"}]);return{...e,account:3,choices:t}}
var me=1e-12,ge=(e,t,r)=>Math.min(Math.max(e,t),r),we=(e,t)=>(a(2===e.length,"domain",t),e.map(e=>o({},t,e))),ye=(...e)=>{
let t=[Math.min(...e),Math.max(...e)];return a(t[0]>=-1e30&&t[1]<=1e30&&t[1]-t[0]>=1e-30,"domain"),t},be={high:1,kind:"interval",low:0}
;function ve(e,t){let r=([e,t],r,n)=>Math.abs(n)/Math.max(n>0?t-r:r-e,me*(t-e));return{clip:([r,n])=>[ge(r,...e),ge(n,...t)],axes:e=>e,
gauge:(n,a)=>Math.max(r(e,n[0],a[0]),r(t,n[1],a[1])),box:[e,t]}}var ke={clip:([e,t])=>{let r=(e+180)%360
;return[Math.abs(e)<=180?e:r+360*+(r<0)-180,ge(t,-90,90)]},axes:([e,t])=>[e+180,t],gauge:()=>1,lines:[{kind:"circle",period:360},{high:90,
kind:"interval",low:-90}]};function Me({domain:e,outside:t}){let r=e=>{let t=o(e,"low");return a("interval"===e.kind&&t<e.high,"domain"),
ye(t,o(e,"high"))};switch(a("clip"===t,"domain"),e.kind){case"rectangle":return{...ve(r(e.x),r(e.y)),lines:[e.x,e.y]};case"disk":
return a(e.radius>0,"domain"),((e,[t,r])=>(ye(0,e),{box:[ye(t-e,t+e),ye(r-e,r+e)],clip:([n,a])=>{let i=e/Math.hypot(n-t,a-r)
;return i<1?[t+(n-t)*i,r+(a-r)*i]:[n,a]},axes:e=>e,disk:[e,[t,r]],gauge:(n,[a,i])=>{
let[s,l]=[n[0]-t,n[1]-r],o=me*e**2,d=Math.max(e**2-(s*s+l*l),o),u=s*a+l*i,c=a**2+i**2,h=Math.abs(u)+Math.sqrt(u*u+c*d)
;return u>0?h/d:c/Math.max(h,o*me)}}))(o(e,"radius"),we(e.centre,"centre"));case"parallelogram":return(([e,t],[r,n],[i,s])=>{
let l=r*s-n*i,o=[Math.hypot(r,n),Math.hypot(i,s)];a(Math.abs(l)>1e-9*o[0]*o[1],"domain"),o.forEach(e=>ye(0,e))
;let d=[ye(e,e+r,e+i,e+(r+i)),ye(t,t+n,t+s,t+(n+s))],u=ve([0,1],[0,1]),c=([e,t])=>[(e*s-t*i)/l,(t*r-e*n)/l],h=([r,n])=>u.clip(c([r-e,n-t]));return{
clip:a=>{let l=c([a[0]-e,a[1]-t]),[o,d]=h(a);return Math.max(Math.abs(l[0]-o),Math.abs(l[1]-d))>me?[e+o*r+d*i,t+o*n+d*s]:a},axes:h,
gauge:(e,t)=>u.gauge(h(e),c(t)),lines:[be,be],box:d}})(we(e.corner,"corner"),we(e.first,"first"),we(e.second,"second"))}
return a("sphere"===e.kind&&e.radius>0,"domain"),ye(0,o(e,"radius")),ke}function xe(e,t){let r=1;for(;e%1;r*=2)e*=2;let n=BigInt(e)*BigInt(d({times:t
},"times",1,65536)),a=Number(n);return[(BigInt(a)<n?a+1.5*a*2**-53:a)/r,ae(t)]}
var Ae=e=>t=>Array.isArray(t)&&t.length&&[...t].every(e=>Array.isArray(e)&&2===e.length&&[...e].every(Number.isFinite))?t.map(e.clip):void 0
;function Se(e,t=Math.max(...e.map(e=>e.length))){return e.flatMap(e=>Array.from({length:t},(t,r)=>e[r]))}function qe(e){
return Uint8Array.from(e.flatMap((e,t)=>Se([Uint8Array.of(+!t),...e])))}var Oe={kind:"circle",period:2*Math.PI},Ne=([e,t])=>{let r=Math.atan2(t,e)
;return r+2*Math.PI*+(r<0)};function Ie(e,t){let[r,n]=[e.first,e.second].map((e,r)=>{a(JSON.stringify(e.domain)===JSON.stringify(t[r]),"domain")
;let n={__proto__:e,outside:"circle"===e.domain.kind?"wrap":"clip"},i=C[e.draw];a(i&&e.draw+""===e.draw,"draw");let s=i(n)
;return a(!s.delta&&!s.spend,"draw"),s});return[r,n,[r.ratio[0]*n.ratio[0],r.ratio[1]*n.ratio[1]]]}function Be(e){return t=>{
let r=Me(t),n=e?[Oe,be]:r.lines;a(!(e&&r===ke)&&n,"domain");let[i,s,l]=Ie(t,n),u=e?we(t.start,"start"):void 0,c=e?t.codebooks.map((e,r)=>((e,t)=>{
if(a(!(t>2**20),"cells"),e.values){let r=[];return e.runs.forEach((t,n)=>{
for(let a=d(e,"runs",1,2**20-r.length,t);a--;)r.push(o(e,"values",e.values[n]))}),a(r.length===(t??r.length),"cells"),e=>r[e]}
let[r,n]=[o(e,"offset"),o(e,"step")],i=void 0===e.low?-1/0:o(e,"low"),s=void 0===e.high?1/0:o(e,"high");return e=>ge(r+n*e,i,s)
})(e,t[r?"second":"first"].cells)):[],h=me*(t.domain.radius??0);a(!u||2===c.length&&r.clip(u).every((e,t)=>Math.abs(e-u[t])<=h),"start")
;let p=void 0!==t.reference;return a(!p||e&&"fixed"===t.reference,"reference"),{names:e?"TraCSD Strawman":"TraCSC",ratio:l,spend:xe,inside:Ae(r),
draw:(e,t)=>{let n=u;return qe(e.map(e=>{let[a,l]=((e,t,n)=>{let a=(e,t)=>e.draw(e.inside(t),n);if(!e){let[n,l]=r.axes(t);return[[a(i,n),a(s,l)],e]}
let l=[t[0]-e[0],t[1]-e[1]],o=[a(i,Ne(l)),a(s,Math.min(r.gauge(e,l),1))],[d,u]=o.map((e,t)=>c[t](g(e,0,e.length))),h=[Math.cos(d),Math.sin(d)],p=ge(u,0,1)/r.gauge(e,h)
;return[o,[e[0]+h[0]*p,e[1]+h[1]*p]]})(n,e,t);return p||(n=l),a}))}}}}var Ee={pair:Be(!1),walk:Be(!0),polar:e=>{let{clip:t,disk:r}=Me(e);a(r,"domain")
;let[n,[i,s]]=r,[l,o,d]=Ie(e,[{high:n,kind:"interval",low:0},Oe]),u=Ae({clip:t});return{names:"Polar",ratio:d,spend:xe,
inside:e=>u(1===e?.length?e:[e]),draw:([[e,t]],r)=>{let n=[e-i,t-s],a=(e,t)=>e.draw(e.inside(t),r)
;return Uint8Array.from(Se([a(l,Math.hypot(...n)),a(o,Ne(n))]))}}}};function je(e,t){return a(e.length<=2**17&&/^([0-9a-f]{4})*$/.test(e),"number",t),
(e.match(/..../g)??[]).map(e=>parseInt(e,16))}function Ue(e){let t=d(e,"cells",2,65536),r=d(e,"width",1,t-1),[n,a,i]=q(r,e),s=i-BigInt(r)*a
;return[t,r,(e,r)=>{let[a,i]=n(r,0),s=v(r,t);return A(s+a*(e[a*i]-s),t)},[s+BigInt(t)*a,s]]}var $e=e=>Math.min(Math.max(Math.floor(e),0),65535)
;function Te(e,t,r,n){let i=e.box&&e.box.map(e=>we(e,"box")),s=t||3;a(t?i?.length===t:null===i,"selector"),
i?.forEach(([e,t])=>a(e>=-1e30&&t<=1e30&&t-e>=1e-30,"selector"));let l=e.scales.map(t=>d(e,"scales",1,511,t)),o=2**d(e,"grain",0,12),u=[]
;if("grid"===e.kind){let t=e.per.map(t=>d(e,"per",1,65536,t)),r=d(e,"scale",0,65536);a(i&&t.length===s,"selector"),u=[[]];for(let e of t){
a(u.length*e<=65536,"selector");let t=Array.from({length:e},(t,n)=>$e(32768+Math.floor((2*n+1-e)*r/(2*e))));u=u.flatMap(e=>t.map(t=>[...e,t]))}}else{
a("points"===e.kind,"selector");let t=je(e.points,"points");for(a(t.length%s===0,"selector");t.length;)u.push(t.splice(0,s))}
return a(u.length===r&&l.length===s,"selector"),[e=>{let t=(e=>{if(i)return e.map((e,t)=>$e((e-i[t][0])/(i[t][1]-i[t][0])*65536))
;let[t,r]=e.map(e=>e*(Math.PI/180)),n=Math.cos(r);return[n*Math.cos(t),n*Math.sin(t),Math.sin(r)].map(e=>$e(32767*e+32768.5))
})(e).map(e=>e-e%o+Math.floor(o/2)),r=u.map(e=>e.reduce((e,r,n)=>e+(l[n]*(t[n]-r))**2,0))
;return Array.from(r.keys()).sort((e,t)=>r[e]-r[t]||e-t).slice(0,n)},i]}var Ce={nearest:e=>{
let[t,r,n,a]=Ue(e),i=Me(e),[s]=Te(e.selector,"sphere"===e.domain.kind?0:2,t,r);return{names:"Optimal",ratio:a,spend:xe,inside:Ae(i),
draw:(e,t)=>qe(e.map(e=>[n(s(e),t)]))}},listing:e=>{let[t,r,n,i]=Ue(e),[s,l]=M(e),o=je(e.lists,"lists"),d=Array.from({length:l
},(e,t)=>o.slice(t*r,(t+1)*r));return a(o.length===l*r&&d.every(e=>new Set(e).size===r&&e.every(e=>e<t)),"lists"),{names:"Optimal",ratio:i,inside:s,
draw:(e,t)=>n(d[e],t)}}};function _e({domain:e,outside:t},r,n){let i=e.sides,s=i.map(e=>e[0])
;return a("box"===e.kind&&"clip"===t&&i.length>1&&i.length<9,"domain"),a(new Set(s).size===i.length&&s.every(e=>"string"==typeof e),"domain"),
a(i.length===r.length&&i.every(([,e,t,...n],a)=>!n.length&&e===r[a][0]&&t===r[a][1]),n),e=>{let t=Array.isArray(e)?[...e]:s.map(t=>e?.[t])
;return t.length===i.length&&t.every(Number.isFinite)?t.map((e,t)=>Math.min(Math.max(e,r[t][0]),r[t][1])):void 0}}function Je(e){
for(let t=1;t<e.length;t*=2)for(let r=0;r<e.length;r+=2*t)for(let n=r;n<r+t;n++){let r=e[n],a=e[n+t];e[n]=r+a,e[n+t]=r-a}return e}
var ze=e=>BigInt.asUintN(64,e);function Pe(e,t){let r=new Float64Array(t);for(let n=0;n<t;n+=64){let a=ze(0x9e3779b97f4a7c15n*(e+BigInt(n>>6)+1n))
;a=ze(0xbf58476d1ce4e5b9n*(a^a>>30n)),a=ze(0x94d049bb133111ebn*(a^a>>27n)),a^=a>>31n;let i=[Number(0xffffffffn&a),Number(a>>32n)]
;for(let e=0;e<64&&n+e<t;e++)r[n+e]=1-2*(i[e>>5]>>>(31&e)&1)}return r}var De=e=>BigInt.asUintN(64,e),Re={hashed:e=>{let[t]=M(e)
;a("affine 1"===e.hash,"draw");let r=d(e,"buckets",2,65536),[n,i]=T(e,r);return{names:"OLH BLH",ratio:i,inside:t,draw:(e,t)=>{let a=b(t,47)
;return Uint8Array.of(...x(n(((e,t,r)=>{let n=De(0x9e3779b97f4a7c15n*(BigInt(e)+1n));n=De(0xbf58476d1ce4e5b9n*(n^n>>30n)),
n=De(0x94d049bb133111ebn*(n^n>>27n)),n^=n>>31n;let a=BigInt.asUintN(32,(n>>32n)*BigInt(t)+n);return Math.floor(Number(a)*r/2**32)
})(a,e,r),t),2),...x(a,6))}}},hadamard:e=>{let[t,r]=M(e),n=d(e,"order",r+1,2**32),[i,s,l]=S(e,"heads")
;return a(Number.isInteger(Math.log2(n))&&n<=2*r,"cells"),{names:"HadamardResponse",ratio:[s,l],inside:t,draw:(e,t)=>{
let r=e+1,a=0|b(t,Math.log2(n)),s=r&a;for(let e=16;e;e>>=1)s^=s>>>e;return(1&s)===i(t)&&(a^=r&-r),A(a>>>0,n)}}}
},Fe=1n<<128n,Le=(e,t)=>e.reduce((e,r,n)=>r*e[1]>e[0]*t[n]?[r,t[n]]:e,[0n,1n]);function Ge(e){
let t=Math.max(1,32-Math.clz32(e.length-1)),r=1n<<BigInt(128-t),n=Array.from({length:2**t
},(t,r)=>e[r]??0n),a=n.map(()=>0n),i=n.map((e,t)=>t),s=[],l=[];n.forEach((e,t)=>(e<r?s:l).push(t));for(let e;void 0!==(e=s.pop());){let t=l.at(-1)
;a[e]=n[e],i[e]=t,n[t]-=r-n[e],n[t]<r&&s.push(l.pop())}return e=>{let r=e.take(t+7>>3),n=g(r,0,r.length)>>8*r.length-t;return((e,t)=>{
let r=0n,n=e.take(t+7>>3);for(let e=n.length;e--;)r=r<<8n|BigInt(n[e]);return r>>BigInt(8*n.length-t)})(e,128-t)<a[n]?n:i[n]}}
var Ke=1n<<256n,We=e=>e.reduce((e,t)=>e+t,0n),Ye=e=>{let[t,r]=M(e),n=d(e,"order",2,2**21),i=d(e,"dimension",2,21),s=2;for(;n%s;)s++
;let l=Math.round(Math.log(n)/Math.log(s)),o=(n**i-1)/(n-1),c=(n**(i-1)-1)/(n-1);a(s**l===n&&o>=r&&o<=2**21,"cells")
;let h=e.polynomial.map(t=>d(e,"polynomial",0,s-1,t));a(h+""==((e,t)=>{let r=e**t-1,n=[],a=r
;for(let e=2;a>1;e=e*e>a?a:e+1)for(a%e===0&&n.push(e);a%e===0;)a/=e;let i=Array.from({length:t},(e,t)=>+!t);for(let a=e+1;;a++){
let s=i.map((t,r)=>Math.floor(a/e**r)%e),l=r=>r.map((n,a)=>((r[a-1]??0)+r[t-1]*(e-s[a]))%e),o=(t,r)=>r.reduceRight((r,n)=>l(r).map((r,a)=>(r+n*t[a])%e),i.map(()=>0)),d=e=>{
let t=i;for(let r=l(i);e;e=Math.floor(e/2),r=o(r,r))e%2&&(t=o(t,r));return t+""==i+""};if(d(r)&&!n.some(e=>d(r/e)))return s}
})(s,l*i)+"","number","polynomial");let p=u(e,"own",32),m=u(e,"other",32),g=d(e,"bits",64,128),y=BigInt(c)*p,b=y+BigInt(o-c)*m
;a((64===g||128===g)&&0n<m&&m<p,"step"),a(b<=1n<<BigInt(g)&&b>=1n<<BigInt(g-1),"step");let v=((e,t,r,n,a)=>{let i=t*r,s=t*a,l=new Uint32Array(s+i)
;l[i-1]=1;for(let t=0;t+i<s;t++){let r=0;for(let e=0;e<i;e++)r+=n[e]*l[t+e];l[t+i]=(e-r%e)%e}let o=[],d=[];for(let e=0;e<a;e++){let r=!0
;for(let n=0;n<t;n++)r&&=0===l[e+n*a];(r?o:d).push(e)}return Uint32Array.from([...o,...d])})(s,l,i,h,o),k=Uint8Array.from({length:4*c
},(e,t)=>v[t>>2]>>>8*(3&t));return a(f(k)===e.set,"fingerprint"),{names:"ProjectiveResponse",ratio:[p,m],inside:t,draw:(e,t)=>{let r;do{
let e=t.take(g>>3);r=g>64?w(e.subarray(8))<<64n|w(e):w(e)}while(r>=b);let n=r<y?Number(r/p):c+Number((r-y)/m);return A(((v[n]-e)%o+o)%o,o)}}
},He=e=>[1,2,4,8].find(t=>256**t>=e);function Ve(e){let{draw:t,order:r,dimension:n}=e;a(["response","indices","projective"].includes(t),"draw")
;let i="response"===t?e.cells:"indices"===t?e.size:(r**n-1)/(r-1),s={domain:{kind:"categories",count:"projective"===t?2:i},outside:"refuse"
},l=("projective"===t?Ye:C[t])(new Proxy(e,{get:(e,t)=>s[t]??e[t]}));return{count:i,chosen:"indices"===t?e.chosen:1,draw:l}}var Xe={questions:e=>{
let{domain:t,outside:r}=e;a("profile"===t.kind&&"refuse"===r&&Array.isArray(t.attributes),"domain")
;let n=[...t.attributes].map(([e,t,...n])=>(a("string"==typeof e&&!n.length,"domain"),[e,...M({domain:t,outside:r})]))
;a(n.length>1&&n.length<=64&&new Set(n.map(([e])=>e)).size===n.length,"domain")
;let i=[...e.draws].map(Ve),[s,l]=[0,0],o=[...e.questions].map(([e,t,r,o,...u])=>{
let c=[...e].map(e=>d({},"questions",0,n.length-1,e)),{count:h}=i[d({},"questions",0,i.length-1,o)],p=c.reduce((e,t)=>e*n[t][2],1)
;return a(!u.length&&c.length&&new Set(c).size===c.length&&p<=2**21&&t.length===p&&(l+=p)<=2**21,"draw"),s+=d({},"questions",1,2**32,r),{places:c,
table:[...t].map(e=>d({},"questions",0,h-1,e)),inner:i[o],end:s}});a(s===2**32&&o.length<=16384,"draw")
;let u=o.map(e=>e.inner.draw.ratio),c=Math.max(...i.map(({chosen:e})=>e)),h=He(Math.max(o.length,...i.map(({count:e})=>e)));return{names:"Marginals",
ratio:u.reduce((e,t)=>t[0]*e[1]>e[0]*t[1]?t:e),inside:e=>{if(Object(e)!==e||Object.keys(e).length!==n.length)return
;let t=n.map(([t,r])=>Object.hasOwn(e,t)?r(e[t]):void 0);return t.includes(void 0)?void 0:t},draw:(e,t)=>{
let r=g(t.take(4)),a=o.reduce((e,{end:t})=>e+ +(r>=t),0),{places:i,table:s,inner:l}=o[a],d=i.reduce((t,r)=>t*n[r][2]+e[r],0),u=l.draw.draw(s[d],t),p=He(l.count),f=Array.from({
length:c},(e,t)=>t<l.chosen?g(u,t*p,(t+1)*p):0);return Uint8Array.from([a,...f].flatMap(e=>[...x(e,h)]))}}}};function Ze(e,t){let r=1n
;for(let n=0;n<t;n++)r=r*BigInt(e-n)/BigInt(n+1);return t<0?0n:r}function Qe(e,t){let r=(t-1n).toString(2).length*+(t>1n);for(;;){let n=0n
;for(let t of e.take(r+7>>3).reverse())n=n<<8n|BigInt(t);if(n>>=BigInt(7&-r),n<t)return n}}var et=(e,t)=>t.reduce((t,r)=>t+ +((e-=r)>=0n),0)
;function tt(e){let{domain:t}=e;a("several"===t.kind,"domain");let r={kind:"categories",count:t.count,get labels(){return t.labels}},[n,i]=M({
domain:r,outside:e.outside}),s=d(t,"most",1,i);return a(i<=2**20,"cells"),{items:i,most:s,domain:{
inside:e=>Array.isArray(e)?E([...new Set(e.flatMap(e=>n(e)??n("other")??[]))]):void 0,
leftOut:e=>[e].flat().filter(e=>void 0===(n(e)??n("other"))).length},elements:(e,t)=>{let r=[...e];for(let e=0;r.length>s&&e<s;e++){
let n=e+v(t,r.length-e);[r[e],r[n]]=[r[n],r[e]]}r.length=Math.min(r.length,s),E(r);for(let e=i;r.length<s;e++)r.push(e);return r}}}function rt(e){
let t=e.values.map(e=>u({text:e},"text",1024));a(t.length&&t.at(-1)>0n&&t.every((e,r)=>!r||e<t[r-1]),"step");let r=new Set,n=e.rows.map(n=>{
let i=n.map(n=>{let a=d(e,"rows",0,t.length-1,n);return r.add(a),a});a(i.length&&i.length<=65536,"step")
;let s=i.reduce((e,r)=>e+t[r],0n),l=i.map(e=>((t[e]<<128n)+s-1n)/s);return l[i.indexOf(i.reduce((e,t)=>Math.min(e,t)))]-=l.reduce((e,t)=>e+t,0n)-Fe,
a(l.every(e=>e>0n),"step"),l}),i=n[0]?.length??0;a(n.length&&n.length<=1024&&n.every(e=>e.length===i)&&r.size===t.length,"step")
;let s=n[0].map((e,t)=>n.map(e=>e[t])),l=Le(s.map(e=>e.reduce((e,t)=>e>t?e:t)),s.map(e=>e.reduce((e,t)=>e<t?e:t)));return[n.map(Ge),i,l]}
var nt=32768,at={channel:e=>{let[t,r]=k(e),[n,i,s]=rt(e),l=e.start,u="points"===l.kind,c=(u?l.points:l.edges).map(e=>o({edge:e},"edge"))
;a(u||"edges"===l.kind,"start"),a(c.every((e,t)=>!t||(u?e>c[t-1]:e>=c[t-1])),"start");let h=(e,t)=>e.reduce((e,r)=>e+ +(r<=t),0);if(u){
a("interval"===e.domain.kind&&c.length>1&&c.length===n.length&&c[0]===r[0]&&c.at(-1)===r[1],"start");let l=c.slice(1,-1);return{
names:"Exponential Cumulative Matrix",ratio:s,inside:t,draw:(e,t)=>{let r=h(l,e),a=Math.floor((e-c[r])/(c[r+1]-c[r])*2**32+.5)
;return A(n[r+ +(b(t,32)<a)](t),i)}}}let p=l.labels.map(e=>d(l,"labels",0,n.length-1,e));return a(p.length===c.length+1,"start"),{
names:"Exponential Cumulative Matrix",ratio:s,inside:t,draw:(e,t)=>A(n[p[h(c,e)]](t),i)}},table:e=>{let[t,r]=M(e),[n,i,s]=rt(e)
;return a(n.length===r,"step"),{names:"Cumulative Workload Matrix",ratio:s,inside:t,draw:(e,t)=>A(n[e](t),i)}},splines:e=>{
let[t,r,n]=rt(e),i=d(e,"pieces",1,16),s=e.ends.map(([e,t,...r])=>(a(!r.length,"domain","ends"),[o({low:e},"low"),o({high:t},"high")]))
;a(s.length&&s.length<9&&t.length===(i+2)**s.length,"step");let l="interval"===e.domain.kind&&k(e)
;a(!l||1===s.length&&l[1].every((e,t)=>e===s[0][t]),"domain","ends");let u=l?void 0:_e(e,s,"domain")
;return a(s.every(([e,t])=>e>=-1e30&&t<=1e30&&t-e>=1e-30),"domain"),{names:"JointMoments",ratio:n,inside:e=>{if(u)return u(e);let t=l[0](e)
;return void 0===t?t:[t]},draw:(e,n)=>{let a=e.reduce((e,t,r)=>e*(i+2)+((e,[t,r],n)=>{
let a=i*nt,s=Math.min(Math.max(Math.floor((e-t)/(r-t)*a+.5),0),a),l=Math.min(Math.floor(s/nt),i-1),o=s-l*nt,d=(nt-o)**2*(l?1:2),u=o**2*(l<i-1?1:2),c=g(n.take(4))>>>1
;return l+ +(c>=d)+ +(c>=2147483648-u)})(t,s[r],n),0);return A(t[a](n),r)}}}};function it(e){let t={},r=e.map(({fingerprint:e,report:t})=>e+t).sort()
;for(let e of r)(t[e.slice(0,32)]??=[]).push(e.slice(32));return t}
var st=e=>Uint8Array.from(e.match(/../g)??[],e=>parseInt(e,16)),lt=(e,t,r)=>JSON.stringify({batch:e,dither:2,label:t,reports:it(r)})
;function ot(e,t,r){let n={};try{n=Object(s(r))}catch{}
let[a,i]=[n.refused,n.words].map(e=>"string"==typeof e?e:""),l=409===t?"conflict"===a:t>=200&&t<300&&n.batch===e,o=a&&"sealed"!==a&&"label"!==a&&[400,410,413,415,422].includes(t)
;return{fate:l?"acknowledged":o?"dropped":"kept",reason:a,words:i}}function dt(e,t=globalThis.navigator?.languages??[]){let r=e=>e.split("-")[0]
;for(let n of t){let t=e.find(e=>e===n)??e.find(e=>r(e)===r(n));if(t)return t}return e[0]??""}function ut({consent:e,agreed:t},r,n=""){
let a=r&&t?.[r.general];if(!a)return null!==a&&!1!==e&&(r?void 0:e);let{questions:i,begins:s,ends:l,address:o=""}=a
;return r.questions.every(e=>i.includes(e))&&s<=r.begins&&r.ends<=l&&(!n||n.startsWith(o))||void 0}function ct(e,t,r){let n=ut(e,t,r)
;if(void 0!==n)return n?void 0:"the person does not want to answer"
;let a=e.consent||Object.keys(e.agreed??{})[0]?"the person was asked about something else":(()=>{let{navigator:e,process:t}=globalThis
;return e?.globalPrivacyControl?"Global Privacy Control":["DO_NOT_TRACK","NO_TELEMETRY"].find(e=>!["","0","false","no",void 0].includes(t?.env?.[e]?.toLowerCase()))
})()?.concat(" is set");return a&&`${a}: ask the person, and call device.consent(true${t?", campaign":""}) if they agree`}
var ht=e=>(a(e?.asked,"asking","expected an inquiry of device.asking"),e),pt=(e,t)=>({is:"refused",reason:e,words:t})
;async function ft(e,t,r,{fetch:n=globalThis.fetch,pack:a},i){let s={sent:0,waiting:0,refused:[],retryAfter:0},l=(e,t)=>[{},JSON.stringify({refused:e,
words:""+t})];for(let o;o=await e();){let{id:e,body:d}=o,u="application/"+(a?"vnd.dither.batch":"json"),[{status:c,headers:h},p]=d?await R(n,r,65536,{
method:"POST",body:d,headers:{"content-type":u},keepalive:d.length<6e4
}).then(async([e,t])=>[e,await t.text()]).catch(e=>l("unreachable",e)):l("consent",o),{fate:f,reason:m,words:g}=ot(e,c,p),{reports:w=0}="kept"!==f&&await t(e,f)
;if("acknowledged"===f?s.sent+=w:s.refused.push({reason:m||"status "+c,words:g||"expected the answer of a collector, at …/v1/campaigns/<id>/batches",
dropped:w}),s.retryAfter=Math.min(Math.max(+h?.get("retry-after")||0,0),86400)*(1+i.take(1)[0]/1024),"kept"===f)break}return s}var mt={
open:async({epsilon:e,delta:t=0,store:r,source:i=m(),policy:s,rules:l=te}={})=>{
a(r?.update,"store","expected store: indexedStore() in a browser, fileStore(folder) of dither-ldp/node, memoryStore() in tests"),
a(l?.open,"rules","expected rules: allRules()"),
a(e>0&&e<2**20&&t>=0&&t<1&&[e,t].every(Number.isFinite),"epsilon","expected epsilon > 0, and delta < 1");let o={...F,...s
},d=()=>p(i.take(16)),u=Math.floor(Date.now()/1e3),c={epsilon:V(e,64),delta:V(t,128),lifetime:null},h={account:3,person:d(),device:d(),limits:{...c,
...Q},own:c,born:u,clock:{wall:u,boot:"",elapsed:0,ahead:0},openings:null,askers:[],entries:[],answers:[],choices:[],queue:[]};await r.update((e={
state:h,key:d()+d()})=>(a(e.state,"account"),[0,{...e,state:l.open(fe(e.state),e.state===h)}]));let f=e=>r.update(t=>{a(t,"account")
;let[r,n,i]=e(t.state,t);return[r,n&&{...t,state:n,...i&&{key:d()+d()}}]}),g=(e,t,{epsilon:r,delta:n})=>{
let{reason:a}=e,i="budget"===a?`ε = ${r}, δ = ${n} is too much; ε = ${+l.left(t).toPrecision(9)} is left`:"policy"===a?"policy of this device, for one answer: "+JSON.stringify(o):""
;return i?{...e,words:i}:e},w=(e,{label:t="",pack:r=lt},n)=>{for(let r of[e].flat()){let{terms:e}=ht(r)
;a(!t||(e.labels?.includes(t)??!0),"label",`${JSON.stringify(t)} is not in the campaign; it lists ${JSON.stringify(e.labels)}`)}return f((a,i)=>{
let[s,l,o]=((e,t,r,n)=>{let a=e.queue.filter(e=>se(e)&&n(e)),i=a.find(e=>e.batch)?.batch;if(i)return[i,e.queue.filter(e=>e.batch===i)]
;let s=a.filter(e=>a.find(({fingerprint:t})=>t===e.fingerprint)===e).slice(0,1e3);return[t,s,s[0]&&{...e,queue:e.queue.map(e=>s.includes(e)?{...e,
batch:t}:e)}]})(a,d(),0,b(e)),u=l[0]&&[e].flat().map(({terms:e})=>ct(i,e.shown,n)).find(Boolean);return u?[u]:[l[0]&&{id:s,body:r(s,t,l)},o]})
},y=({ends:e=1/0})=>Date.now()/864e5>=e+1?pt("ended","the campaign ended on "+new Date(864e5*e).toISOString().slice(0,10)):void 0,b=e=>t=>[e].flat().some(({asked:e})=>W(t,e))
;return{asking(e,t){a(Object(t)===t&&"string"==typeof e,"asking","expected the text of a question, and terms: { name, asker }")
;let r=J(e,t.name),{name:i,asker:s,repeat:o="fresh",assumes:d=[],data:u=null,days:c=null,start:h=null,times:p,every:m,limit:g,phase:w,changes:y}=t,b=y?l.changes?.of(r,c,y):r
;if(!b)throw new n("asking","changes: see dither-ldp/changes",i);let{mechanism:v,epsilon:k,delta:M,fingerprint:x,spend:A}=b
;if(["name","asker"].forEach(e=>a(t[e]&&"string"==typeof t[e],"asking",e+": expected a text")),!A!=!p)throw new n("asking","times",i)
;let[S,q]=A?.(k,p)??[k,[]],O=Math.exp(S),N={question:i,asker:s,fingerprint:x,mechanism:v,epsilon:S,delta:M,assumes:d.concat(q),repeat:o,days:c,
start:h,data:u,...p&&{times:p},...m&&{every:m},...g&&{limit:g},...w&&{phase:w},...y&&{changes:y}}
;if(!l.knows(N))throw new n("asking",`repeat = ${o}: not with these rules, days, start and data; see dither-ldp/rules`,i);return{question:b,terms:t,
asked:N,text:e=>t.text?.[dt(t.languages??[],e)]??i,labels(e){let{labels:r=[]}=JSON.parse(b.device).domain,n=t.names?.[dt(t.languages??[],e)]
;return r.map(e=>Object(e)===e?e.number:e).map((e,t)=>({value:e,text:n?.[t]??String(e)}))},promise:()=>f(e=>[{epsilon:S,odds:O,reach:O/(1+O),
left:l.left(e),assumes:ne(N,l)}])}},async answer(e,t,r=d()){
let{question:n,terms:a,asked:s}=ht(e),{otherwise:u,times:c,name:h}=a,m=[a.value?a.value(t):t,u].map(n.inside).find(e=>void 0!==e&&(!c||e.length===c))
;return void 0===m?pt("value",`question "${h}": expected ${void 0===t?"a value, got undefined":(({form:e,scale:t},{device:r})=>e?`a ${e}, such as ${"time"===e?"13:45":"2026-05-01"}`:t?`a number from ${t[0]} to ${t.at(-1)}`:JSON.stringify(JSON.parse(r).domain).slice(0,300))(a,n)+"; declare otherwise for all others"}`):f((e,d)=>{
let u=e=>l.source?.(d.key,s,m,e)??i,c=ct(d,a.shown),h=c?pt("consent",c):y(a);if(h)return[h];let[f,w]=ue(e,r,s,o,l,{report:()=>p(n.draw(m,u(0))),
mark:()=>p(u(1).take(16)),source:i,change:e=>l.changes.draw(n,m,s,e,d.key,i)}),b=n.leftOut?.(t);return[b?{...f,leftOut:b}:g(f,e,s),w]})},
async dryRun(e){let{asked:t,terms:r}=ht(e);return f((e,n)=>{let a=ct(n,r.shown);return[a?pt("consent",a):y(r)??g(ue(e,"",t,o,l)[0],e,t)]})},
consent:(e,t,n)=>r.update(r=>{if(a(r,"account"),a(!e||!0===e&&(!t||t.shown),"asking","expected true or false, and a campaign of fetchCampaign"),
void 0===e)return[!ct(r,t?.shown)];let{shown:i,terms:s,questions:l}=t??{},{agreed:o}=r,d=i?{...r,agreed:{...o,[i.general]:e?{...i,
address:n?.replace(/campaigns\/\w+$/,"")}:null}}:{...r,consent:e,agreed:e?o??{}:{}};if(e&&!1===ut(r,i)){
let[e]=ce(r.state,e=>!i||e.asker===s.asker&&e.name===s.name)
;d.state=(e=>e.queue.filter(e=>se(e)&&(e=>!i||e.asker===s.asker&&e.question in l)(e)).reduce((e,{id:t,batch:r})=>(r?he:pe)(e,t)[1]??e,e))(e)}
return[!ct(d,i),d]}),act:()=>f(e=>l.act?.(e)??[{is:"acted"}]),chosen:e=>r.update(t=>[t&&ut(t,e?.shown)]),async body(e,t={}){let r=await w(e,t)
;return"string"==typeof r?void 0:r},acknowledge:e=>f(t=>he(t,e)),async send(e,t,r={}){
let n=[e].flat()[0]?.terms?.taken??he,a=await ft(()=>w(e,r,t),(e,t)=>f(r=>("dropped"===t?pe:n)(r,e)),t,r,i)
;return a.waiting=await f(({queue:t})=>[t.filter(t=>se(t)&&b(e)(t)).length]),a},account:(e=e=>[e])=>f((t,r)=>e(t,l,r,o,i))}}};function gt(){let e
;return{async update(t){let[r,n]=t(e&&JSON.parse(e));return n&&(e=JSON.stringify(n)),r}}}function wt(e="dither"){
let{caches:t,indexedDB:r,navigator:n}=globalThis
;a(r,"store","IndexedDB is missing here: use fileStore(folder) of dither-ldp/node, or memoryStore() in tests")
;let i,s,l=(e,t="onsuccess")=>new Promise((r,n)=>{e[t]=()=>r(e.result),e.onerror=e.onabort=()=>n(e.error)}),o=(async()=>{
i=await(t?.open(e).catch(()=>{}));for(let e of["/0","/1"]){let t=await((await(i?.match(e)))?.json().catch(()=>({turn:0})))
;t?.turn>=(s?.turn??0)&&(s=t)}let n=r.open(e,1);return n.onupgradeneeded=()=>n.result.createObjectStore(e),l(n)})(),d=async t=>{
let r=(await o).transaction(e,"readwrite",{durability:"strict"}),n=r.objectStore(e),a=await l(n.get(1))??s,[d,u]=t(a),c=u&&{...u,turn:(a?.turn??0)+1}
;return c&&n.put(c,1),await l(r,"oncomplete"),c&&await(i?.put("/"+c.turn%2,new Response(JSON.stringify(c)))),d};return{
update:r=>t?n.locks.request(e,()=>d(r)):d(r)}}var[yt,bt]=[60,3600];function vt(e,t,r,{onSend:n,onError:a,...i}={}){
let s,{document:l,addEventListener:o,removeEventListener:d}=globalThis,[u,c,h,p]=[!1,!1,0,yt];async function f(){if(!(u||c||Date.now()<h)){u=!0,
clearTimeout(s);try{let a=await e.send(t,r,i),{waiting:l,retryAfter:o}=a,d=o>0?Math.min(Math.max(o,1),24*bt):0;h=Date.now()+1e3*d,
p=l?Math.min(2*p,bt):yt,l&&!c&&(s=setTimeout(f,1e3*(d||p/2))),n?.(a)}catch(e){a?.(e)}finally{u=!1}}}return o?.("online",f),
l?.addEventListener("visibilitychange",f),f(),{send:f,stop(){c=!0,clearTimeout(s),d?.("online",f),l?.removeEventListener("visibilitychange",f)}}}
var kt=86400,Mt={day:kt,week:7*kt,year:366*kt,lifetime:1/0};function xt(){let{performance:e}=globalThis;return{wall:Math.floor(Date.now()/1e3),
boot:String(Math.round(e.timeOrigin)),elapsed:Math.floor(e.now()/1e3)}}function At(e,t){let r=Math.floor(t/kt)
;return"day"===e?r:"week"===e?Math.floor((r+3)/7):"year"===e?new Date(r*kt*1e3).getUTCFullYear():0}function St(e,{wall:t,boot:r,elapsed:n}){
let a=r===e.boot;a&&(n=Math.max(n,e.elapsed));let i=a?n-e.elapsed:0,s=Math.max(e.wall,t);return{wall:s,boot:r,elapsed:n,ahead:e.ahead+s-e.wall-i}}
var qt=(e,t)=>e.filter(e=>e.first<=t&&t<=e.last);function Ot({entries:e,device:t,own:r,limits:n},a){
let{asker:i,first:s,last:l}=a,o=[...e,a],d=o.filter(e=>e.device===t),u=Object.hasOwn(n.quotas,i)?n.quotas[i]:n.quota,c=(e,t)=>{
for(let r=s;r<=l;r++)if(!t(qt(e,r)))return!1;return!0},h=o.filter(e=>e.asker===i);if(null!==u&&!c(h,e=>X(e,{epsilon:u,delta:"0"
},"epsilon")>=0n))return"quota";for(let[e,t]of[[d,r],[o,n]]){if(!c(e,e=>Z(e,t)))return"budget";if(t.lifetime&&!Z(e,t.lifetime))return"lifetime"}}
function Nt(e,{asker:t,question:r,fingerprint:n},a,i){let s=JSON.stringify([e,i,t,r,n,a]),l=0,o=[];return{take(t){
for(;o.length<t;)o.push(...h(c(`${l++} ${s} ${e}`)));return Uint8Array.from(o.splice(0,t))}}}function It({start:e,days:t,every:r},n){
if(!r)return[e+Math.floor((n-e)/t)*t,t];if("day"===r)return[n,1];if("week"===r)return[n-(n+3)%7,7]
;let a=new Date(n*kt*1e3),i=Date.UTC(a.getUTCFullYear(),a.getUTCMonth())/1e3/kt;return[i,Date.UTC(a.getUTCFullYear(),a.getUTCMonth()+1)/1e3/kt-i]}
function Bt({epoch:e="lifetime",lifetime:t,quota:r,askers:n,now:i=xt,changes:s}={}){
a(Object.hasOwn(Mt,e),"rules","epoch: expected one of "+Object.keys(Mt));for(let[e,n]of Object.entries({lifetime:t,quota:r}))a(void 0===n||o({[e]:n
},e)>=0,"epsilon",e);return void 0!==n&&d({askers:n},"askers",0,2**52),{changes:s,
assumes:({repeat:e,times:t})=>ae(t).concat("per value"===e?["the value never changes","the device's key stays on the device"]:[]),open(a,s){
if(!s)return a;let l=i(),o={...a.own,lifetime:void 0===t?null:{epsilon:V(t,64),delta:a.own.delta}},d={...o,epoch:e,quota:void 0===r?null:V(r,64),
quotas:{},askers:n??null};return{...a,own:o,limits:d,born:l.wall,clock:{...l,ahead:0},openings:d.askers}},knows(e){
let{repeat:t,days:r,start:n,data:a,every:i}=e;if("kept change"===t)return!!s?.knows(e)&&null===a&&!i;if(e.changes)return!1
;let l=(...e)=>e.every(Number.isInteger)
;return("once"===t?i?["day","week","month"].includes(i)&&r===n&&null===r:l(r,n)&&r>0:["fresh","same","per value"].includes(t)&&r===n&&null===r)&&(null===a||Array.isArray(a)&&2===a.length&&l(...a))
},decide(e,t,r,n,a){let{limits:l,born:o}=e,d=St(e.clock,i());if(d.ahead>Mt[l.epoch])return G("clock")
;let u="kept change"===t.repeat&&It(t,Math.floor(d.wall/kt))[0],[c,h]=u?[u*kt,(u+t.days)*kt]:t.data??[d.wall,d.wall+1]
;if(u)r.data=[c,h];else if(!(c<h&&h<=d.wall+1))return G("data");if(r.first=At(l.epoch,Math.max(c,o)),r.last=At(l.epoch,Math.max(h-1,o)),
r.last-r.first>=366)return G("data");let p={...e,clock:d};if(!p.askers.includes(t.asker)){if(0===p.openings)return G("asker")
;p.askers=[...p.askers,t.asker].sort(),null!==p.openings&&p.openings--}let f,{phase:m,asker:g}=t;if(m){
let e=p.coins??[],t=e.find(e=>e.asker===g&&e.name===m.name),r=(t,r)=>({...p,coins:[...e,{asker:g,name:m.name,campaign:r,heads:t}]})
;if(void 0===m.follows){if(!t&&!a)return[{is:"silent"}];if(t||(p=f=r(v(a.source,1e3)<m.share,m.campaign)),
!(t??p.coins.at(-1)).heads)return[G("phase")[0],f]}else{
if(e.some(e=>e.heads&&e.asker===g&&(e.name===m.name||e.campaign===m.follows)))return G("phase");t||(p=r(!1,m.follows))}}
if(u)return s.decide(p,f,t,r,e=>re(e.entries,t)?"answers":Ot(e,r),a)
;let w,y="per value"===t.repeat&&a&&(n??r).device===p.device&&a.mark(),b=y?!p.told?.includes(y):void 0;if(b&&(p.told=[...p.told??[],y]),
n)return[void 0,p,b];if("once"===t.repeat){let r,n=Math.floor(d.wall/kt);if([w,r]=((e,t,r,n)=>{
let[a,i]=It(t,r),s=e.choices.find(e=>W(e,t)&&"once"===(e.repeat??"once")&&e.period===a);if(s||!n)return[s];let l={...K(t),repeat:"once",period:a,
day:a+v(n,i),device:e.device,answer:null};return[l,{...e,choices:[...e.choices,l]}]})(p,t,n,a?.source),p=f=r??f??p,
!r&&p===f&&!p.coins&&p.choices===e.choices&&(f=void 0),w?.day!==n||null!==w.answer)return[{is:"silent"},f]}let k=re(p.entries,t)?"answers":Ot(p,r)
;return k?[G(k)[0],f]:[void 0,w?{...p,choices:p.choices.map(e=>e===w?{...e,answer:r.id}:e)}:p,b]},
source:(e,t,r,n)=>"per value"===t.repeat?Nt(e,t,r,n):void 0,left({entries:e,own:t,limits:r,device:n,clock:a}){
let s=At(r.epoch,Math.max(i().wall,a.wall)),l=e.filter(e=>e.device===n),o=X(qt(l,s),t,"epsilon"),d=t.lifetime?X(l,t.lifetime,"epsilon"):o
;return ee(d<o?d:o,t)},act:e=>[{is:"acted"},{...e,clock:{...St(e.clock,i()),ahead:0},openings:e.limits.askers}]}}function Et(e,t){
let r=(t-1n).toString(2).length*+(t>1n),n=r+7>>3;for(;;){let a=e.take(n).reduceRight((e,t)=>e<<8n|BigInt(t),0n)>>BigInt(8*n-r);if(a<t)return a}}
function jt(e){let t=[1n];for(let r=0;r<e;r++)t.push(t[r]*BigInt(e-r)/BigInt(r+1));return t}function Ut(e,t){let[r,n]=[0,e[0]];for(;t>=n;)n+=e[++r]
;return r}function $t(e,t,{period:r,changes:n},a){let[i=0,s=0]=Nt(e,t,[r,a],2).take(2);return 1===n?1&i:i+256*s}var Tt={
knows:({days:e,start:t,changes:r})=>[e,t,r].every(Number.isInteger)&&r>=1&&r<=1e3&&e>r,of(e,t,r){let{domain:n,cells:a}=JSON.parse(e.device)
;if("response"!==e.kind||"categories"!==n.kind||2!==a)return
;let i=f(c(`{"changes":${r},"days":${t},"draw":"kept change${r>1?"s":""}","part":${e.device}}`));return{...e,fingerprint:i,inside:t=>{
let r=Array.isArray(t)?[...t].map(e.inside):[void 0];return r.includes(void 0)?void 0:r}}},decide(e,t,r,n,a,i){
let s=Math.floor(e.clock.wall/kt),[l]=It(r,s),o=e.choices.find(e=>W(e,r)&&"kept change"===e.repeat&&e.period===l);if(!o&&i){
let n=1+(r.days-1).toString(2).length;o={...K(r),repeat:"kept change",period:l,day:v(i.source,n*r.changes),device:e.device,answer:null},e=t={...e,
choices:[...e.choices,o]}}let d=o&&((e,t,r,n)=>{if(r.device!==e.device)return
;let[a,i]=[t.days,t.changes],s=Math.floor(r.day/i),l=n-r.period,o=s?2**(s-1):1,d=s?l===a-1?Math.ceil(l/o):Math.floor(l/o):1,u=e.trees?.find(e=>W(e,t)&&e.period===r.period),c=u?.intervals??0,h=s?Math.ceil((a-1)/o):1
;return d>c?{period:r.period,group:s,changes:i,all:h,days:l+1,before:c,mark:u?.mark??null,intervals:d}:void 0})(e,r,o,s);if(!d)return[{is:"silent"},t]
;let u=null===o.answer;if(!u&&!de(e.entries.find(({id:e})=>e===o.answer),n))return G("changed");let c=u&&a(e);if(c)return[G(c)[0],t]
;let h=i?.change(d);if(i&&!h)return[{is:"refused",reason:"value",
words:`question "${r.question}": expected the values of all ${d.days} days of the period so far`},t];let[p,f]=h??[],m={...e}
;u&&(m.entries=[...e.entries,n],m.choices=e.choices.map(e=>e===o?{...e,answer:n.id}:e));let g=e.trees?.filter(e=>!W(e,r)||e.period!==l)??[]
;return m.trees=[...g,{...K(r),period:l,intervals:d.intervals,mark:f}],m.queue=[...e.queue,{...K(r),id:n.id,report:p,batch:null}],[{is:"drawn",
charged:u?n.epsilon:"0",report:p},m]},draw(e,t,r,n,a,i){if(t.length!==n.days)return
;let s=null===n.mark?0:$t(a,r,n,n.before)^n.mark,[l,o]=((e,t,{group:r,changes:n,all:a,before:i,intervals:s},l,o,d)=>{
let u=r?2**(r-1):1,c=n>1&&r?(([e,t],r,n)=>{let a=jt(r),i=jt(r-1),s=1n<<BigInt(r),l=[];for(let e of a.slice(0,r))l.push((l.at(-1)??0n)+e)
;let[o,d]=[[0n,1n],0];l.forEach((n,a)=>{let s=[i[a],n*(e-t)+(t<<BigInt(r))];s[0]*o[1]>o[0]*s[1]&&([o,d]=[s,a])})
;let[u,c]=[l[d]*e,(s-l[d])*t],h=Et(n,1n<<128n)<(u<<128n)/(u+c),p=[Et(n,l[d]),Et(n,s-l[d])],f=h?Ut(a,p[0]):d+1+Ut(a.slice(d+1),p[1])
;return Array.from({length:r},(e,t)=>{let a=+(v(n,r-t)<f);return f-=a,a})})(e.ratio,Math.min(n,a),o):[],h=0,p=t.map((e,r)=>(r&&e!==t[r-1]&&h++,
t[0]^1&Math.min(h,n))),f=[];for(let n=i;n<s;n++){
let a=b(d,1),[i,s]=[n*u,Math.min((n+1)*u,t.length-1)],o=r>0&&l<(c.length||1)&&p[s]!==p[i],h=o?p[s]:r?a:t[0],m=c.length?o?h^c[l]:a:e.draw(h,d)[0]
;f.push(r,n,m),l+=+o}return[Uint8Array.from(f.flatMap(e=>[...x(e,4)])),l]})(e,t,n,s,Nt(a,r,[n.period,n.group],3),i)
;return[p(l),$t(a,r,n,n.intervals)^o]}};function Ct(e,t,r){let n=c(t),a=Object.entries(it(r)),i=[c("dither\0"),st(e),x(n.length,1),n,x(a.length,2)]
;for(let[e,t]of a)i.push(st(e),x(t[0].length/2,4),x(t.length,4),st(t.join("")));let s=i.map(p).join("");return st(s+f(st(s)))}
var _t=async(...e)=>new Uint8Array(await new Blob(e).arrayBuffer());async function Jt(e,...t){
let{subtle:r}=globalThis.crypto,n=await r.importKey("raw",e,{name:"HMAC",hash:"SHA-256"},!1,["sign"])
;return new Uint8Array(await r.sign("HMAC",n,await _t(...t)))}async function zt(e,t,r,n){
let{subtle:a}=globalThis.crypto,i=await a.importKey("raw",t.slice(0,16),"AES-GCM",!1,[e]);return new Uint8Array(await a[e]({name:"AES-GCM",
iv:r.slice(0,12)},i,n))}
var Pt="HPKE-v1",Dt="KEM\0 ",Rt="HPKE\0 \0\0",Ft=new Uint8Array(32),Lt=async(e,t,r,n,...a)=>(await Jt(e,x(256*n,2),Pt,t,r,...a,"")).slice(0,n)
;function Gt(e){let[,t,r,n]="string"==typeof e&&/^[0-9a-f]{2}0020([0-9a-f]{64})([0-9a-f]{4})((?:[0-9a-f]{8})+)$/.exec(e)||[]
;return a(n&&2*parseInt(r,16)===n.length&&n.match(/.{8}/g).includes("00010001"),"key","expected the sealing_key of a campaign"),st(t)}
async function Kt(e){let t=Gt(e);a(globalThis.crypto?.subtle,"crypto")
;let{subtle:r}=globalThis.crypto,{publicKey:n,privateKey:i}=await r.generateKey("X25519",!1,["deriveBits"]),s=await r.importKey("raw",t,"X25519",!1,[]).then(e=>r.deriveBits({
name:"X25519",public:e},i,256)).catch(()=>a(0,"key"));return[await r.exportKey("raw",n),s,t]}async function Wt(e,t){
let[r,n,a]=await Kt(e),i=st(e.slice(0,2)+"002000010001"),s=await Lt(await Jt(Ft,Pt,Dt,"eae_prk",n),Dt,"shared_secret",32,r,a),l=await Jt(s,Pt,Rt,"secret"),o=await _t("\0",await Jt(Ft,Pt,Rt,"psk_id_hash"),await Jt(Ft,Pt,Rt,"info_hash","message/bhttp request\0",i)),d=(e,t)=>Lt(l,Rt,e,t,o),u=await Lt(await d("exp",32),Rt,"sec",16,"message/bhttp response"),c=await zt("encrypt",await d("key",16),await d("base_nonce",12),t)
;return[await _t(i,r,c),async e=>{let t=await Jt(await _t(r,e.slice(0,16)),u);return zt("decrypt",await Jt(t,"key"),await Jt(t,"nonce"),e.slice(16))
}]}function Yt(e){let t="string"==typeof e?c(e):e,r=t.length
;return(r<64?[r]:r<16384?[64|r>>8,255&r]:[128|r>>24,...x(r,3).reverse()]).concat(Array.from(t))}function Ht(e,t,r=globalThis.fetch){return Gt(t),
async(n,{method:i="GET",body:s,headers:l,keepalive:o,...d}={})=>{let{"content-type":u}=l??{},[c,h]=await Wt(t,((e,t,r="",n="")=>{
let{host:a,pathname:i,search:s}=new URL(t),l=[0,...[e,"https",a,i+s].flatMap(Yt),...Yt(r&&Yt("content-type").concat(Yt(r))),...Yt(n)],o=new Uint8Array(2**Math.max(10,Math.ceil(Math.log2(l.length))))
;return o.set(l),o})(i,n,u,s)),p={...d,method:"POST",body:c,keepalive:!!o&&c.length<65536,headers:{"content-type":"message/ohttp-req"}
},[f,m]=await R(r,e,("GET"===i?2**23:2**17)+1024,p);try{return a(f.ok,"text"),(e=>{let t=0,r=r=>(a((t+=r)<=e.length,"text"),e.subarray(t-r,t)),n=()=>{
let[e]=r(1);return r((1<<(e>>6))-1).reduce((e,t)=>256*e+t,63&e)},i=()=>r(t<e.length?n():0),s=()=>String.fromCharCode(...r(n()));a(1===n(),"text")
;let l=n();for(;l>=100&&l<200;l=n())i();let o=[],d=(t<e.length?n():0)+t;for(;t<d;)o.push([s(),s()]);a(t===d,"text");let u=i();return i(),
a(!e.subarray(t).some(Boolean),"text"),new Response(u.length?u:null,{status:l,headers:o})})(await h(new Uint8Array(await m.arrayBuffer())))}catch{
return Response.error()}}}
var Vt=/[\0-\x1f\x7f-\x9f\u2028\u2029\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e0fff}\ud800-\udfff]/u,Xt=/[^ \n\xa0\xad\u061c\u1680\u2000-\u200f\u202a-\u202f\u205f\u2066-\u2069\u3000\ufe00-\ufe0f]/u,Zt=/[\u202a-\u202e\u2066-\u2069]/g,[Qt,er]=[8236,8297]
;function tr(e){let t=[];for(let r of e.match(Zt)??[]){let e=r.charCodeAt(0);if(e!==Qt&&e!==er)t.push(e<8294?Qt:er);else if(t.pop()!==e)return!1}
return!t.length}function rr(e,t,{characters:r=1/0,size:n=1/0,lines:i=!1}){a("string"==typeof e&&e.length<=4*Math.min(n,r),"terms",t)
;let s=i?e.replaceAll("\n",""):e;a(Xt.test(e)&&!Vt.test(s)&&e.split("\n").every(tr),"terms",t),a([...e].length<=r&&c(e).length<=n,"terms",t)}var nr={
version:2**31-1,people:2**53-1,retry:365,answers:1e6,days:36600,changes:1e3,label_share:999,expects:2**53-1,reports_a_batch:2**31-1},ar={
__proto__:null,fresh:[[],["answers"]],same:[[],[]],"per value":[[],[]],once:[[],["days","every"]],"kept change":[["days","changes"],[]],
present:[["every","expects"],["label_share"]]
},ir=["days","changes","every","expects","answers","label_share"],sr=["walk","two copies","divided","prefix","joint response","joint bits","joint hashed","each","sampled","indicator","kept change","kept changes"],lr=/^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$/,or={
characters:500
},dr=(e,t)=>Math.abs(e-t)<=1e-9*Math.max(Math.abs(e),Math.abs(t)),ur=e=>Object(e)===e&&!Array.isArray(e),cr=(e,t,r)=>Array.isArray(e)&&e.length>=t&&e.length<=r&&new Set(e).size===e.length,hr=(e,t)=>"string"==typeof e&&e.length===t&&/^[0-9a-f]*$/.test(e)
;function pr(e,t="day"){let r=e[t]
;return a("string"==typeof r&&/^(?!0000)\d{4}-\d\d-\d\d$/.test(r)&&Date.parse(r)==Date.parse(r)&&new Date(r).toISOString().startsWith(r),"terms",t),
Date.parse(r)/864e5}function fr(e,t,r){return a(ur(e)&&t.length&&Object.keys(e).sort()+""==[...t].sort()+"","terms",r),t.map(t=>e[t])}
function mr({labels:e=[],attributes:t=[],sides:r=[]}){let n=t.flatMap(([e,t])=>[e,...mr(t)])
;return[...e.filter(e=>"string"==typeof e),...n,...r.map(([e])=>e)]}function gr(e,t,r,n){for(let e of mr(t))rr(e,"labels",or)
;let i=t=>t in e,{kind:s,low:l=0,high:d,period:u}="optional"===t.kind?t.of:t,[c,h]=["interval"===s,"circle"===s]
;if(i("unit")&&(a((c||h)&&!i("form"),"terms","unit"),rr(e.unit,"unit",{characters:40})),i("step")){let t=(h?u:d-l)/o(e,"step")
;a((c||h)&&!i("scale")&&t>=1-1e-12&&t<=500&&(c||Math.abs(t-Math.round(t))<=1e-9),"terms","step")}if(i("scale")){let t=e.scale
;a(c&&!i("form")&&Array.isArray(t)&&t.length>=3&&t.length<=257,"terms","scale"),a([...t].every((e,r)=>Math.abs(o({edge:e
},"edge"))<=1e30&&(!r||t[r-1]<e))&&0===l&&d===t.length-1,"terms","scale")}if(i("form")){let{form:r}=e,i=t.labels
;"time"===r?a(h&&1440===u,"terms","form"):"date"===r?a(c&&[l,d].every(e=>Number.isInteger(e)&&e>=-719162&&e<=2932896),"terms","form"):(a("installed"===r&&n&&"categories"===t.kind&&Array.isArray(i),"terms","form"),
i.forEach((e,t)=>a(pr({day:e})>(t?pr({day:i[t-1]}):-1/0),"terms","form")))}if(i("clipped")&&a(!0===e.clipped&&c&&!i("scale"),"terms","clipped"),
i("outside")){let{outside:t}=e;a(i("clipped")&&Array.isArray(t)&&3===t.length,"terms","outside");let[r,n,s]=[...t].map(e=>o({outside:e},"outside"))
;a(0<=n&&n<=r&&r<=s&&s<=1,"terms","outside")}if(i("text"))for(let t of fr(e.text,r,"text"))rr(t,"text",or);if(i("names")){
a(["categories","several"].includes(t.kind),"terms","names");let n=t.count??t.labels.length;for(let t of fr(e.names,r,"names")){
a(cr(t,n,n),"terms","names");for(let e of t)rr(e,"names",or)}}}function wr({draw:e,cells:t,order:r,dimension:n}){
return"projective"===e?(r**n-1)/(r-1):"response"===e?t:"hadamard"===e?r:0}function yr(e,t,r){let n,i=e.specification;try{n=J(i,t)}catch(t){
if("draw"!==t.reason)throw t;let r=JSON.parse(JSON.parse(i).device).draw;if("string"!=typeof r||C[r])throw t
;return a(!sr.includes(r),"terms","questions"),void JSON.stringify(e)}a(!sr.includes(n.kind),"terms","questions")
;let[s,l]=n.ratio,d=n.delta?n.epsilon:Math.log1p(Number((s-l<<64n)/l)/2**64);a(dr(o(e,"epsilon"),d)&&!n.delta==!("delta"in e),"promise",t),
n.delta&&a(dr(o(e,"delta"),n.delta),"promise",t);let{domain:u,cells:c}=JSON.parse(n.device)
;return"kept change"===r&&a("response"===n.kind&&"categories"===u.kind&&2===c,"terms",t),n}function br(e,t){let{scale:r,form:n}=e
;if(t.spend)return e=>[e];if(r)return e=>"number"==typeof e&&e==e?((e,t)=>{let r=Math.min(Math.max(t,e[0]),e.at(-1)),n=e.length-2;for(;n&&e[n]>r;)n--
;return n+(r-e[n])/(e[n+1]-e[n])})(r,e):null===e?null:void 0;let a=e=>{try{return pr({text:e},"text")}catch{return}
},{labels:i}=JSON.parse(t.device).domain
;return e=>n&&"string"==typeof e?"date"===n?a(e):"time"===n?/^([01]\d|2[0-3]):[0-5]\d$/.test(e)?60*+e.slice(0,2)+ +e.slice(3):void 0:void 0===a(e)?void 0:i.findLast(t=>t<=e)??i[0]:e
}var vr=({present:e},t)=>(e??[]).filter(({batch:e})=>e===t).map(({asker:e,name:t,batch:r})=>({asker:e,question:t,batch:r}));function kr(e,t,r){
let n=[...e.queue.filter(e=>e.id===t||e.batch===t),...vr(e,t)],[a,i]=he(e,t);if(!i||n[0].batch!==t||!r)return[a,i];let{campaign:s,day:l,retry:o}=r,d={
id:t,asker:n[0].asker,campaign:s,until:l+o,questions:n.map(({question:e})=>e)};return[a,{...i,sent:[...(e.sent??[]).filter(({until:e})=>e>=l),d]}]}
function Mr(e,t){
let r=e.queue.filter(e=>se(e)&&e.batch===t),n=e.sent?.find(e=>e.id===t),[a,i]=ce(e,({batch:e})=>e===t),s=r.length+i+(n?.questions.length??0),{sent:l,...o}={
...a,queue:e.queue.filter(e=>!r.includes(e))},d=l?.filter(e=>e!==n);return s?[{is:"withdrawn",reports:s},d?.[0]?{...o,sent:d}:o]:[{is:"unknown"}]}
var xr=e=>JSON.stringify({dither:2,withdraw:e});function Ar(e,t,r){let n={};try{n=Object(s(r))}catch{}
return[t>=200&&t<300&&n.withdrawn===e,"string"==typeof n.refused?n.refused:""]}async function Sr(e,t,r,{fetch:n=globalThis.fetch}={}){D(r)
;let a=[t].flat().map(({terms:e})=>e.asker),i={withdrawn:0,unsent:0,left:0,refused:[]},s=Math.floor(Date.now()/864e5),l=await e.account(e=>{
let t=e.queue.filter(e=>se(e)&&a.includes(e.asker)),r=t.filter(({batch:e})=>!e);i.unsent=r.length
;let n=(e.sent??[]).filter(({asker:e,until:t})=>a.includes(e)&&t>=s),l=(e.present??[]).filter(({asker:e})=>a.includes(e)),o=[...new Set([...t,...l].flatMap(({batch:e})=>e??[]))].map(e=>[e,void 0]),d=r[0]&&{
...e,queue:e.queue.filter(e=>!r.includes(e))};return[[...o,...n.map(({id:e,campaign:t})=>[e,t])],d]});for(let[t,a]of l){
let s=r.replace(/batches$/,"withdrawals").replace(/(campaigns\/)\w{64}/,(e,t)=>a?t+a:e),l={method:"POST",body:xr(t),headers:{
"content-type":"application/json"}
},[o,d]=await R(n,s,65536,l).then(async([e,t])=>[e.status,await t.text()]).catch(()=>[0,'{"refused":"unreachable"}']),[u,c]=Ar(t,o,d)
;u?i.withdrawn+=(await e.account(e=>Mr(e,t))).reports??0:(i.left++,i.refused.push(c||"status "+o))}return i}
var qr=(e,{asker:t,name:r})=>e.present?.find(e=>e.asker===t&&e.name===r),Or=(e,t)=>e.answers.find(e=>t&&"present"===e.permanent&&W(e,t)),Nr=({every:e},{wall:t})=>It({
every:e,days:null,start:null},Math.floor(t/kt))[0],Ir=(e,t)=>({...e,present:[...(e.present??[]).filter(({asker:e,name:r})=>e!==t.asker||r!==t.name),t]
});function Br(e,t,r,n){let a=qr(e,r);if(!a?.batch)return[{is:"empty"}];let i=St(e.clock,t);if(Nr(r,i)!==a.period)return[{is:"empty"},Ir({...e,clock:i
},{...a,batch:null})];let s=a.permanent&&Or(e,n);return[{is:"message",id:a.batch,public:!a.permanent,reports:s?[[s.fingerprint,s.report]]:[]}]}
function Er({terms:e,questions:t,unanswered:r}){let{asker:n,name:i,every:s,repeat:l,label_share:o}=e
;a("present"===l,"asking","expected a campaign with repeat = present");let[d]=r;a(!d||t[d],"draw",d);let u=Object.values(t)[0];if(!u)return[{asker:n,
name:i,every:s}];let[c,h]=u,p=J(c,h.name),{mechanism:f,epsilon:m,delta:g,fingerprint:w}=p;return[{asker:n,name:i,every:s,share:o},{asked:{
question:h.name,asker:n,fingerprint:w,mechanism:f,epsilon:m,delta:g,assumes:[],repeat:"present",days:null,start:null,data:null,every:s},question:p,
value:h.value,installed:"installed"===h.form}]}var jr=e=>new Date(864e5*e).toISOString().slice(0,10);async function Ur(e,t,r,n=xt){
let[a,i]=Er(t),{begins:s,ends:l}=t.terms;return e.account((e,o,d,u,c)=>{let h=ct(d,t.shown);if(h)return[pt("consent",h)]
;let f=n(),m=Math.floor(f.wall/kt),g=Math.min(pr({day:l}),t.retired?pr({day:t.retired})-1:1/0)
;if(m>g)return[pt("ended","the campaign ended on "+jr(g))];if(m<pr({day:s}))return[pt("early","the campaign begins on "+s)]
;let w=r??(i?.installed?jr(Math.max(m,Math.floor(e.clock.wall/kt))):void 0),y=i&&i.question.inside(i.value(w))
;return i&&void 0===y&&!qr(e,a)?[pt("value",`question "${i.asked.question}": expected a value of its domain`)]:((e,t,r,n,a,i,{report:s,source:l})=>{
let{asker:o,name:d,share:u}=n;if(a&&!Y(i,a,a.assumes))return G("policy");let c=St(e.clock,r),h={...e,clock:c};if(!h.askers.includes(o)){
if(0===h.openings)return G("asker");h.askers=[...h.askers,o].sort(),null!==h.openings&&h.openings--}let p=Nr(n,c),f=qr(h,n)
;if(f&&null!==f.period&&p<=f.period)return[{is:"silent"}];let m=f?f.permanent:!!a&&v(l,1e3)<u,g=Ir(h,{asker:o,name:d,permanent:m,period:p,batch:t})
;if(m&&a&&null===(f?.period??null)&&!Or(h,a)){let e=At(h.limits.epoch,Math.max(c.wall,h.born)),r={...K(a),id:t,device:h.device,
epsilon:H(a.epsilon,64),delta:H(a.delta,128),assumes:a.assumes,first:e,last:e};if(c.ahead<=Mt[h.limits.epoch]&&!Ot(h,r)){let e=s(),n={...K(a),id:t,
permanent:"present",report:e};return[{is:"drawn",charged:r.epsilon,report:e},{...g,entries:[...h.entries,r],answers:[...h.answers,n]}]}}return[{
is:"present"},g]})(e,p(c.take(16)),f,a,i?.asked??null,u,{report:()=>p(i.question.draw(y,c)),mark:()=>"",source:c})})}
async function $r(e,t,r,n={},i=xt){let[s,l]=Er(t),{labels:o,retry:d}=t.terms,{label:u="",pack:c=lt}=n
;return a(!u||o.includes(u),"label",`${JSON.stringify(u)} is not in the campaign; it lists ${JSON.stringify(o)}`),{
...await ft(()=>e.account((e,n,a)=>{let[{is:o,id:d,public:h,reports:p},f]=Br(e,i(),s,l?.asked??null);if("empty"===o)return[void 0,f]
;let m=p.map(([e,t])=>({fingerprint:e,report:t}));return[ct(a,t.shown,r)??{id:d,body:c(d,h?u:"",m)}]
}),(r,n)=>e.account(e=>"dropped"===n?pe(e,r):kr(e,r,{campaign:t.id,day:Math.floor(i().wall/kt),retry:d})),r,n,await e.account((...[,,,,e])=>[e])),
waiting:await e.account(e=>[+("message"===Br(e,i(),s,l?.asked??null)[0].is)])}}async function Tr(e,t,r){
let n=2n**255n-19n,a=BigInt.asUintN(255,BigInt("0x"+p(r.slice().reverse()))),i=a*a;if(a>=n||a*(i-1n)*((121665n*i-243332n)*i+121666n)%n==0n)return!1
;let{subtle:s}=globalThis.crypto,l=await s.importKey("raw",r,"Ed25519",!1,["verify"]);return s.verify("Ed25519",l,t,e)}async function Cr(e,t){
a(!/^\s*dither-private-key/.test(t),"private"),a(globalThis.crypto?.subtle,"crypto")
;let r=s(e),{key:n,key_before:i}=r,l=async(e,t,r=n)=>a(hr(t,128)&&hr(r,64)&&await Tr(c(e),st(t),st(r)),"signature")
;return a(hr(t,64)&&(n===t||i?.key===t),"key"),void 0!==i&&await l("dither next key 1\n"+n,i.signature,i.key??""),[r,l]}var _r={
text:"expected what a collector publishes at …/v1/campaigns/<id>, got another text",
key:"expected the key of the one who signed, 64 digits; dither serve prints it. This text has another one",
private:"a page shows its key to everybody: pin the public key, and replace this private one",
signature:"the text was changed, or somebody else has signed it",crypto:"expected a page of https or localhost: WebCrypto is missing here",
list:"the asker's list of campaigns is not in order, or does not continue the one that was read before"},Jr=e=>e.catch(e=>{
let{reason:t,field:r,question:a}=e instanceof n?e:new n("text");throw new n(t,r||_r[t],a)}),zr=(e,t)=>Jr((async(e,t)=>{
let[{campaign:r,key:n,key_before:i,signature:u,retired:f,card:m},g]=await Cr(e,t);a("string"==typeof r,"text"),await g("dither campaign 2\n"+r,u)
;let w=p(h(c(r)));null!==f&&(pr(f),await g(`dither retirement 1\n${w}\n${f.day}`,f.signature)),
void 0!==m&&(await g("dither card 1\n"+m.text,m.signature),a(s(m.text).campaign===w,"terms","card"));let y=await(async e=>{let[t,r]=l(e)
;a(2===t["dither-campaign"],"version");for(let[e,r,n]of[["name",64,!0],["asker",253,!1],["contact",500,!0],["purpose",4e3,!0]])rr(t[e],e,{size:r,
lines:n,..."asker"===e&&{characters:200}});for(let[e,r]of Object.entries(nr))(e in t||["version","people","retry"].includes(e))&&d(t,e,1,r)
;a(pr(t,"begins")<=pr(t,"ends"),"terms","ends");let{labels:n,questions:i,promise:s,repeat:u}=t;a(cr(n,0,1e3),"terms","labels")
;for(let e of n)rr(e,"labels",{size:64,lines:!0});(e=>{let{repeat:t,phase:r,every:n}=e;a("string"==typeof t&&ar[t],"terms","repeat");let[i,s]=ar[t]
;for(let t of ir)a(t in e?i.concat(s).includes(t):!i.includes(t),"terms",t);"every"in e&&a(["day","week","month"].includes(n),"terms","every"),
a("once"!==t||"days"in e!="every"in e,"terms","days"),a("kept change"!==t||e.changes<e.days,"terms","changes"),
"phase"in e&&(a(ur(r)&&1===Object.keys(r).length&&"present"!==t,"terms","phase"),"share"in r?d(r,"share",1,999):a(hr(r.follows,64),"terms","phase")),
a("present"!==t||!("reports_a_batch"in e),"terms","reports_a_batch")})(t);let c=(e=>{let{languages:t,purposes:r}=e
;"languages"in e?a(cr(t,1,40)&&t.every(e=>"string"==typeof e&&lr.test(e)),"terms","languages"):a(!("purposes"in e),"terms","purposes");let n=t??[]
;if("purposes"in e)for(let e of fr(r,n.slice(1),"purposes"))rr(e,"purposes",{size:4e3,lines:!0});return n})(t)
;"sealing_key"in t&&await Kt(t.sealing_key);let h="present"===u,p=new Map,f=new Set,[m,g]=[0,0]
;a(Array.isArray(i)&&i.length<=(h?1:1024)&&(h||i.length),"terms","questions");for(let e of i){a(ur(e),"terms","questions");let{name:r}=e
;rr(r,"questions",{size:64});let n=yr(e,r,u);a(o(e,"epsilon")>0,"promise",r),m+=e.epsilon,"delta"in e&&(a(o(e,"delta")>0,"promise",r),g+=e.delta)
;let i=JSON.parse((n??JSON.parse(e.specification)).device);if(n&&gr(e,i.domain,c,h),h&&n){let e=wr(i)
;a(t.expects>=100&&"categories"===i.domain.kind&&e>0&&e<=Math.min(128,Math.floor(t.expects*t.label_share/2e4)),"terms",r)}p.set(r,n),
f.add(n?.fingerprint??JSON.parse(e.specification).fingerprint)}return a(!h||i.length===+("label_share"in t),"terms","label_share"),
a(p.size===i.length&&p.size===f.size,"terms","questions"),a(dr(o(s,"epsilon"),m),"promise","epsilon"),
a(g?dr(o(s,"delta"),g):null===s.delta,"promise","delta"),a(Array.isArray(s.assumptions)&&!s.assumptions.length,"promise","assumptions"),r(),p
})(r),b=JSON.parse(r),v=[],k=Object.create(null),M=((e,t)=>{let r=e=>p(h(c(JSON.stringify(e)))),{questions:n,begins:a,ends:i}=e;return{
general:r([Dr.map(t=>e[t]??null),t]),questions:n.map(r),begins:a,ends:i}})(b,n);for(let e of b.questions){let t=y.get(e.name)
;t?v.push([e.name,[e.specification,{...Rr(w,b,e,t,f),shown:M}]]):k[e.name]={get:()=>Pr(e)}}return{id:w,key:n,before:i?.key,terms:b,retired:f&&f.day,
questions:Object.defineProperties(Object.fromEntries(v),k),shown:M,unanswered:Object.keys(k)}})(e,t));function Pr({name:e,specification:t}){
throw J(t,e),new n("draw","add the draw before you read the campaign",e)}
var Dr=["answers","asker","changes","contact","days","every","labels","people","purpose","purposes","repeat"];function Rr(e,t,r,n,a){
let{asker:i,repeat:s,days:l,every:o,changes:d,answers:u,phase:c,labels:h,languages:p}=t;return{name:r.name,asker:i,repeat:s,...l&&{days:l,
start:pr(t,"begins")},...o&&{every:o},...d&&{changes:d},...n.spend&&{times:1},...u&&{limit:{campaign:e,answers:u}},...c&&{phase:{campaign:e,
name:t.name,...c}},labels:h,taken:(r,n)=>kr(r,n,{campaign:e,day:Math.floor(Date.now()/864e5),retry:t.retry}),
ends:Math.min(pr(t,"ends"),a?pr(a)-1:1/0),value:br(r,n),...p&&{languages:p},...r.text&&{text:r.text},...r.names&&{names:r.names},...r.unit&&{
unit:r.unit},...r.step&&{step:r.step},...r.form&&{form:r.form},...r.scale&&{scale:r.scale}}}
var Fr=({heads:e},t)=>!t||e[t[0]-1]===t[1],Lr=(e,t,r)=>Jr((async()=>{let[{list:n,signature:i},s]=await Cr(e,t),o=[],d=new Map
;a(Array.isArray(n)&&n.length&&n.length<=1e4,"list");for(let e of n){let[{...t}]=l(e),{before:r,published:n,retired:i,next_key:s,day:u}=t
;a(r===(o.at(-1)??"0".repeat(64))&&hr(n??i??s,64),"list"),a(Object.keys(t).length===(i?3:2)&&(!i||d.has(i))&&!d.has(n),"list"),i&&pr(t),
s||d.set(n??i,u??null),o.push(p(h(c(e))))}await s("dither list 2\n"+o.at(-1),i);let u={heads:o,campaigns:d};return a(Fr(u,r),"list"),u})())
;async function Gr(e,t,r=globalThis.fetch,i){let l=async(e,t)=>{let[{ok:i,status:s},l]=await R(r,e,4194304).catch(e=>{
throw e instanceof n?e:new n("unreachable",`${e.message}: does the collector run, and allow this page (dither serve --origin)?`)})
;return a(i||!t,"campaign",`the collector answers ${s}: no campaign at this address; it may have moved, or ended long ago`),i?l.text():""
},o=await(i?.update(e=>[e])),d=t;for(;o?.keys[d];)d=o.keys[d];let u=await zr(await l(e,!0),d)
;a(e.endsWith("/"+u.id),"fingerprint","expected the campaign that the address names, got "+u.id),
a(i||u.key===d,"key","the asker has a new key: pin it, or give fetchCampaign a store, to follow it")
;let c=i&&await l(e.replace(/campaigns\/\w+$/,"list")),h=c&&(await Jr((async()=>s(c))())).key===u.key?await Lr(c,u.key):void 0
;return await(i?.update(({keys:e,heads:t}={keys:{},heads:{}})=>{
u.key!==d&&a(!e[u.key]&&(e[d]??=u.key)===u.key,"key","the asker's key was replaced by another one before");let r=t[u.key]??t[u.before]
;return a(h?Fr(h,r)&&h.campaigns.has(u.id)&&(u.retired||!h.campaigns.get(u.id)):!r,"list",_r.list),h&&(t[u.key]=[h.heads.length,h.heads.at(-1)]),[0,{
keys:e,heads:t}]})),u}function Kr(e){let t=100/(1+Math.exp(-e))*1.0000000000000002
;return`${[1,10,100].map(e=>(Math.ceil(t*e)/e).toFixed(Math.log10(e))).find(e=>+e<100)??"100"} %`}
var Wr=e=>Number(e.toPrecision(12)),Yr=(e,t)=>Wr(Number(L(e))/2**t);function Hr(e,t){
let r=e.entries.map(({asker:e,question:t,epsilon:r,delta:n,assumes:a})=>({asker:e,question:t,epsilon:Yr(r,64),delta:Yr(n,128),assumes:a
})),n=[...e.queue.filter(se),...(e.present??[]).filter(({batch:e})=>e)],a=e.entries.filter(({id:t})=>!e.queue.some(e=>e.id===t)).length,i=(e.sent??[]).flatMap(({asker:e,questions:t,until:r})=>r<Math.floor(Date.now()/864e5)?[]:{
asker:e,questions:t,until:new Date(864e5*r).toISOString().slice(0,10)});return[{epsilon:Yr(e.own.epsilon,64),left:Wr(t.left(e)),given:r,
waiting:n.length,sent:a,withdrawable:i}]}function Vr({told:e,coins:t,trees:r,sent:n,present:a,...i},s){
let{sent:l}=Hr(i,s)[0],o=i.entries.map(({data:e,times:t,campaign:r,...n})=>({...n,asker:"",question:"",fingerprint:""})),d={...i,entries:o,askers:[],
answers:[],choices:[],queue:[]};return[{...Hr(d,s)[0],sent:l},d,!0]}
var Xr=e=>String(Number(e.toPrecision(3))),Zr=class extends(globalThis.HTMLElement??Object){#e;get device(){return this.#e}set device(e){this.#e=e,
this.refresh()}async refresh(){this.#e&&this.#t(await this.#e.account(Hr))}
#t({epsilon:e,left:t,given:r,waiting:n},a="How much was given stays counted: the askers keep what they received."){
let i=this.shadowRoot??this.attachShadow({mode:"open"}),s=(e,t="",...r)=>{let n=document.createElement(e);return n.textContent=t,n.append(...r),n
},l=(e,t)=>(t.setAttribute("part",e),t),o=new Map;for(let{asker:e,question:t,epsilon:n}of r){let[,,r,a]=o.get(JSON.stringify([e,t]))??["","",0,0]
;o.set(JSON.stringify([e,t]),[e||"forgotten",t||"forgotten",r+1,a+n])}
let d=r.reduce((e,t)=>e+t.epsilon,0),u=r.length?`You have given ${r.length} ${1===r.length?"answer":"answers"} with noise, ε = ${Xr(d)} together. Whoever guessed 50 % about you before can know at most ${Kr(d)} by them.`:"You have given nothing.",c=`Of ε = ${Xr(e)}, ${Xr(t)} is left. Reports that wait to be sent: ${n}.`,h=s("tr","",...["Who asked","What","Answers","ε"].map(e=>s("th",e)))
;for(let e of Array.from(h.children))e.setAttribute("scope","col")
;let p=[...o.values()].map(e=>s("tr","",...e.map((e,t)=>s("td",3===t?Xr(e):String(e))))),f=s("button","Forget"),m=!1;f.addEventListener("click",()=>{
m?this.#r():(m=!0,f.textContent="Forget names, kept answers and waiting reports? Press again.")}),
i.replaceChildren(l("text",s("p",u)),...p.length?[l("table",s("table","",s("caption","What you have given"),s("thead","",h),s("tbody","",...p)))]:[],l("text",s("p",c)),l("button",f),l("text",s("p",a)))
}async#r(){let e=await this.#e.account(Vr);this.#t(e,`Forgotten. ${e.sent} ${1===e.sent?"answer":"answers"} had been sent before.`),
this.dispatchEvent(new Event("erase"))}},{customElements:Qr}=globalThis;Qr&&!Qr.get("dither-account")&&Qr.define("dither-account",Zr);var en={en:{
agree:"I agree",decline:"No, thank you",agreed:"You agreed. You can change this at any time.",declined:"You declined. Nothing is answered or sent.",
asks:"{asker} asks:",until:"From {begins} to {ends}.",contact:"Contact: {contact}",
signal:"Your browser says that you do not want to be tracked. Nothing is sent unless you agree here.",answer:"Answer",none:"I prefer not to say",
thanks:"Thank you. Your answer was randomised on this device; only the random report is sent.",over:"This survey is over.",
spent:"Your privacy budget does not allow this answer. Nothing was sent.",refused:"Agree above to answer.",
failed:"This device could not keep your answer. Nothing was sent.",missing:"Please give an answer first.",
unknown:"This page cannot show this question.",choose:"Please choose",several:"Choose all that apply.",
one:"Your answer is randomised on this device before it is sent. Anyone who guessed 50 % before reaches at most {reach}.",
total:"Your answers are randomised on this device before they are sent. Anyone who guessed 50 % about you before reaches at most {total} by all of them together.",
round:"By one answer to each question: at most {reach}.",
unlimited:"Your answers are randomised on this device before they are sent. Over time there is no limit but that of your device.",
first:"Nothing is answered or sent unless you agree here."},de:{agree:"Ich bin einverstanden",decline:"Nein, danke",
agreed:"Sie sind einverstanden. Sie können das jederzeit ändern.",declined:"Sie haben abgelehnt. Nichts wird beantwortet oder gesendet.",
asks:"{asker} fragt:",until:"Vom {begins} bis {ends}.",contact:"Kontakt: {contact}",
signal:"Ihr Browser meldet, dass Sie nicht verfolgt werden möchten. Nichts wird gesendet, wenn Sie hier nicht zustimmen.",answer:"Antworten",
none:"Keine Angabe",thanks:"Danke. Ihre Antwort wurde auf diesem Gerät verrauscht; nur die zufällige Meldung wird gesendet.",
over:"Diese Umfrage ist vorbei.",spent:"Ihr Budget lässt diese Antwort nicht zu. Nichts wurde gesendet.",
refused:"Stimmen Sie oben zu, um zu antworten.",failed:"Dieses Gerät konnte Ihre Antwort nicht speichern. Nichts wurde gesendet.",
missing:"Bitte geben Sie zuerst eine Antwort.",unknown:"Diese Seite kann diese Frage nicht zeigen.",choose:"Bitte wählen",
several:"Wählen Sie alles Zutreffende.",
one:"Ihre Antwort wird auf diesem Gerät verrauscht, bevor sie gesendet wird. Wer vorher 50 % sicher war, erreicht höchstens {reach}.",
total:"Ihre Antworten werden auf diesem Gerät verrauscht, bevor sie gesendet werden. Wer vorher 50 % sicher war, erreicht durch alle zusammen höchstens {total}.",
round:"Durch eine Antwort auf jede Frage: höchstens {reach}.",
unlimited:"Ihre Antworten werden auf diesem Gerät verrauscht, bevor sie gesendet werden. Auf Dauer gibt es keine Grenze außer der Ihres Geräts.",
first:"Nichts wird beantwortet oder gesendet, wenn Sie hier nicht zustimmen."}},tn=(e,t)=>e.replace(/\{(\w+)\}/g,(e,r)=>t[r]??"")
;function rn(e,t={},...r){let n=document.createElement(e);for(let[e,r]of Object.entries(t))n.setAttribute(e,r);return n.append(...r),n}
var nn=globalThis.HTMLElement??Object,an=new WeakMap,sn=class extends nn{static observedAttributes=["lang","name"];#n;get wanted(){
let e=this.closest?.("[lang]")?.getAttribute("lang");return[...e?[e]:[],...globalThis.navigator?.languages??[]]}get words(){
return en[dt(Object.keys(en),this.wanted)]}show(e,...t){this.#n??=this.attachShadow({mode:"open"}),
this.#n.replaceChildren(rn("style",{},"\n:host { display: block; margin: 1rem 0; max-width: 40rem; font: inherit; line-height: 1.5; }\nfieldset, form { border: 0; margin: 0; padding: 0; min-width: 0; }\nlegend, .label { display: block; padding: 0; margin: 0 0 .5rem; font-weight: 600; overflow-wrap: anywhere; }\np, ul { margin: .5rem 0; overflow-wrap: anywhere; }\nul { padding-inline-start: 1.25rem; }\n.choice { display: flex; gap: .6rem; align-items: center; min-height: 2.75rem; cursor: pointer; overflow-wrap: anywhere; }\n.choice input { width: 1.25rem; height: 1.25rem; flex: none; margin: 0; }\n.field { display: flex; gap: .6rem; align-items: center; }\ninput[type=number], input[type=date], input[type=time], select { font: inherit; color: inherit; background: transparent; border: 1px solid; border-radius: .4rem; padding: .55rem .7rem; min-height: 2.75rem; box-sizing: border-box; max-width: 100%; }\noption { color: CanvasText; background: Canvas; }\n.buttons { display: flex; flex-wrap: wrap; gap: .6rem; margin: .8rem 0; }\nbutton { font: inherit; color: inherit; background: transparent; border: 1px solid; border-radius: .4rem; padding: .55rem 1.1rem; min-height: 2.75rem; cursor: pointer; }\nbutton:hover { text-decoration: underline; }\n:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }\n.note { font-size: .9em; }\n[role=status]:empty { display: none; }\n"),rn("div",{
part:"box",...e&&{lang:e}},...t))}connectedCallback(){this.refresh()}attributeChangedCallback(){this.#n&&this.refresh()}tell(e,t){
this.dispatchEvent(new CustomEvent(e,{detail:t,bubbles:!0}))}},ln=()=>{},on=e=>JSON.parse(e.question.device).domain;function dn(e,t,r,n=document){
let i=[];for(let r of Array.from(n.querySelectorAll("dither-question"))){r.device=e;try{let n=r.getAttribute("name"),s=n&&t.questions[n]
;a(s,"asking",`<dither-question name="${n}">: the campaign asks ${Object.keys(t.questions)}`),i.push(r.inquiry=e.asking(...s))}catch(e){reportError(e)
}r.refresh()}for(let a of Array.from(n.querySelectorAll("dither-consent")))Object.assign(a,{device:e,campaign:t,address:r}),a.refresh()
;let{send:s,stop:l}=vt(e,i,r+"/batches"),o=()=>{s()};return n.addEventListener("answer",o),n.addEventListener("consent",o),()=>{l(),
n.removeEventListener("answer",o),n.removeEventListener("consent",o)}}var{customElements:un}=globalThis
;un&&!un.get("dither-question")&&(un.define("dither-question",class extends sn{device;inquiry;#a;#i;async refresh(){
let{device:e,inquiry:t,words:r}=this;if(!e)return;if(!t)return this.show("",rn("p",{part:"status"},r.unknown));this.#a??=p(m().take(16))
;let[n,a]=this.#s(t),{epsilon:i}=await t.promise(),s="optional"===on(t).kind||t.labels().some(e=>null===e.value),l=dt(t.terms.languages??[],this.wanted)
;this.#i=rn("p",{role:"status",part:"status"});let o=rn("div",{class:"buttons"},rn("button",{type:"submit",part:"button"},r.answer));if(s){
let e=rn("button",{type:"button",part:"button"},r.none);e.addEventListener("click",()=>{this.#l(null)}),o.append(e)}let d=rn("form",{part:"form",
novalidate:""},n,rn("p",{part:"promise",class:"note",id:"promise"},tn(r.one,{reach:Kr(i)})),o);d.addEventListener("submit",e=>{e.preventDefault(),
this.#l(a())}),this.show(l,...a===ln?[rn("p",{part:"status"},r.unknown)]:[d,this.#i])}#s(e){
let t=this.words,r=e.text(this.wanted),n=e.labels(this.wanted).filter(({value:e})=>null!==e),{kind:a}=on(e)
;if("several"===a&&n.length)return this.#o("checkbox",r,n,t.several);if("categories"===a&&n.length&&n.length<=7)return this.#o("radio",r,n)
;let i=rn("label",{class:"label",for:"control",part:"question"},r);if("categories"===a&&n.length){let e=[rn("option",{value:""
},t.choose),...n.map((e,t)=>rn("option",{value:String(t)},e.text))],r=rn("select",{id:"control",part:"control","aria-describedby":"promise"},...e)
;return[rn("div",{},i,r),()=>""===r.value?void 0:n[+r.value].value]}let s=(({terms:e,question:t})=>{
let{domain:r}=JSON.parse(t.device),{kind:n,low:a,high:i,period:s}="optional"===r.kind?r.of:r;if("interval"!==n&&"circle"!==n)return
;let l=e=>new Date(864e5*e).toISOString().slice(0,10);if("time"===e.form)return[{type:"time"},({value:e})=>e];if("date"===e.form)return[{type:"date",
min:l(a),max:l(i)},({value:e})=>e];let[o,d]=e.scale?[e.scale[0],e.scale.at(-1)]:"circle"===n?[0,s]:[a,i];return[{type:"number",inputmode:"decimal",
min:String(o),max:String(d),step:String(e.step??"any")},({valueAsNumber:e})=>e==e?e:void 0]})(e);if(!s)return[rn("div"),ln];let[l,o]=s,d=rn("input",{
id:"control",part:"control","aria-describedby":e.terms.unit?"unit promise":"promise",...l}),u=e.terms.unit?[rn("span",{id:"unit"},e.terms.unit)]:[]
;return[rn("div",{},i,rn("div",{class:"field"},d,...u)),()=>""===d.value?void 0:o(d)]}#o(e,t,r,n){let a=r.map((t,r)=>rn("input",{type:e,name:"answer",
value:String(r),part:"control"})),i=r.map((e,t)=>rn("label",{class:"choice"},a[t],rn("span",{},e.text))),s=rn("fieldset",{"aria-describedby":"promise"
},rn("legend",{part:"question"},t),...n?[rn("p",{class:"note"},n)]:[],...i),l=()=>r.flatMap((e,t)=>a[t].checked?[e.value]:[])
;return[s,()=>"checkbox"===e?l():l()[0]]}async#l(e){let t=this.words;if(void 0===e)return void this.#i.replaceChildren(t.missing)
;let{shown:r}=this.inquiry.terms,n=r&&an.get(this.device)?.has(r.general)&&void 0===await this.device.chosen({shown:r
})?pt("consent","expected a choice in <dither-consent> first"):await this.device.answer(this.inquiry,e,this.#a).catch(e=>{
throw this.#i.replaceChildren(t.failed),e
}),{is:a,reason:i}=n,s="refused"!==a?t.thanks:"ended"===i?t.over:"consent"===i?t.refused:"value"===i?t.missing:t.spent;this.#i.replaceChildren(s),
this.tell("answer",n)}}),un.define("dither-consent",class extends sn{device;campaign;address;async refresh(){let{device:e,campaign:t,words:r}=this
;if(!e||!t)return;let{terms:n}=t,a=dt(n.languages??[],this.wanted),i=n.purposes?.[a]??n.purpose;an.set(e,(an.get(e)??new Set).add(t.shown.general))
;let s=await e.chosen(t),l=(e=>{
let{repeat:t,begins:r,ends:n,days:a,every:i,answers:s,promise:l}=e,o=(Date.parse(n)-Date.parse(r))/864e5+1,d=e=>12*+e.slice(0,4)+ +e.slice(5,7),u=e=>Math.floor((Date.parse(e)/864e5+3)/7),c=a?Math.ceil(o/a):"month"===i?d(n)-d(r)+1:"week"===i?u(n)-u(r)+1:o,h="same"===t||"present"===t?1:"once"===t||"kept change"===t?c:"fresh"===t?s:void 0
;return h&&h*l.epsilon})(n),o=rn("p",{role:"status",part:"status"
},void 0===s?navigator.globalPrivacyControl?r.signal:r.first:s?r.agreed:r.declined),d=(e,t)=>{let r=rn("button",{type:"button",part:"button",
"aria-pressed":String(s===t)},e);return r.addEventListener("click",()=>{this.#d(t)}),r},u={asker:n.asker,begins:n.begins,ends:n.ends,contact:n.contact
},c=n.promise.epsilon,h=[void 0===l?r.unlimited:tn(r.total,{total:Kr(l)}),...l===c?[]:[tn(r.round,{reach:Kr(c)})]];this.show(a,rn("p",{part:"asker",
class:"label"},tn(r.asks,u)),...i.split("\n").map(e=>rn("p",{part:"purpose"},e)),rn("ul",{part:"questions"
},...n.questions.map(({text:e,name:t})=>rn("li",{},e?.[a]??t))),rn("p",{part:"promise",class:"note"},h.join(" ")),rn("p",{part:"note",class:"note"
},`${tn(r.until,u)} ${tn(r.contact,u)}`),rn("div",{class:"buttons"},d(r.agree,!0),d(r.decline,!1)),o)}async#d(e){
await this.device.consent(e,this.campaign,this.address),await this.refresh(),this.tell("consent",e)}})),Object.assign(C,{...Re,...Ce,...Ee,...Xe,
...at,box:e=>{let[t,r,n,a]=Ue(e),[i,s]=Te(e.selector,e.domain.sides.length,t,r);return{names:"Optimal",ratio:a,inside:_e(e,s,"selector"),
draw:(e,t)=>n(i(e),t)}},directions:e=>{let{domain:t,outside:r}=e,[n,i,s,l]=Ue(e),{exact:o,length:u,centre:c}=t
;a("vectors"===t.kind&&"clip"===r&&"boolean"==typeof o,"domain");let h=d(t,"dimension",+o+1,65536);a("number"==typeof u&&u>=1e-30&&u<=1e30,"domain"),
a(null===c||Array.isArray(c)&&c.length===h&&c.some(Boolean)&&c.every(e=>Math.abs(e)<=1e30),"domain"),
a(Number.isInteger(Math.log2(n))&&n>63&&n<4097,"cells");let p=c??new Array(h).fill(0);return{names:"Optimal",ratio:l,inside:e=>{
if(!Array.isArray(e)&&!ArrayBuffer.isView(e))return;let t=[...e];if(t.length!==h||!t.every(Number.isFinite))return
;let r=t.map((e,t)=>(e-p[t])/u),n=r.reduce((e,t)=>Math.max(e,Math.abs(t)),0);if(!Number.isFinite(n)||o&&!n)return
;let a=n>2||o?n:1,i=Math.sqrt(r.reduce((e,t)=>e+t/a*(t/a),0)),s=i*a
;return(o?Math.abs(s-1)<=.01:s<=1.00001)?t.map(e=>e+0):r.map((e,t)=>p[t]+u*(o?e/a/i:e/s)+0)},draw:(e,t)=>{let r=b(t,32),a=new Float64Array(h+ +!o),l=0
;e.forEach((e,t)=>{let r=a[t]=(e-p[t])/u;l+=r*r}),o||(a[h]=Math.sqrt(Math.max(1-l,0)));let d=s(((e,t,r,n)=>{
let a=e.length,i=a>128?2**Math.ceil(Math.log2(a)):r,s=Pe(BigInt(t)<<16n,i),l=Pe((1n<<48n)+(BigInt(t%256)<<16n),a),o=e=>{let t=new Float64Array(r)
;for(let n=0;n<i;n++)t[1+619*n%(r-1)]+=e[n]*s[n];return Je(t)},d=new Float64Array(r),u=new Float64Array(i);if(a>128)e.forEach((e,t)=>u[t]=e*l[t]),
d=o(Je(u));else{let t=new Float64Array(r);e.forEach((e,r)=>{u.fill(0)[r]=1,o(Je(u)).forEach((n,a)=>{d[a]+=n*l[r]*e,t[a]+=n*n})}),
t.forEach((e,t)=>d[t]/=Math.sqrt(Math.max(e,1)))}return[...d.keys()].sort((e,t)=>d[t]-d[e]||e-t).slice(0,n).sort((e,t)=>e-t)
})(a,r,n,i),t),c=d.length>1?d:Uint8Array.of(d[0],0);return Uint8Array.of(...c,...x(r,4),0,0)}}},lattice:e=>{
let[t,r]=k(e),n=e.lattice,i=e.start,s=n.kind,l=n.noise;a("clamped"===s||("ring"===s||"bounded"===s)&&"normal"!==l.decay,"draw");let c=((e,t)=>{
let r=u(e,"base",64),n=d(e,"reach",1,32768);a(r,"step");let[i,s]=((e,t,r)=>{let n=e.decay,i=[];if("normal"===n){
for(let e=Ke,n=t,a=0;a<=r;a++)i.push(e),e=e*n>>256n,n=n*t*t>>512n;let e=Ke;for(let n=t,a=2*r+1;a;a>>=1)1&a&&(e=e*n>>256n),n=n*n>>256n
;return[i,i[r]*Ke/(Ke-e)]}a("stairs"===n||"geometric"===n,"draw");let s="stairs"===n?d(e,"run",1,2**52):1,l="stairs"===n?d(e,"first",1,s):1
;for(let e=Ke,n=0;n<=r;n++)n>=l&&(n-l)%s===0&&(e=e*t>>256n),i.push(e);let o=i[r];return[i,BigInt(((l-r)%s+s)%s||s)*o+BigInt(s)*(o*t/(Ke-t))]
})(e,r,n),l=i.pop();"clamped"===t&&(l=s);let o="ring"===t?1n:2n,c=2n*We(i)-Ke+o*l,h=[...i.slice(1),l].map(e=>(e*(Fe-(1n<<40n))+c-1n)/c)
;"bounded"===t&&(h=h.map(e=>e<1n<<32n?1n<<32n:e));let p=[Fe-2n*We(h.slice(0,-1))-o*h.at(-1),...h]
;for(let e="clamped"===t?n-1:n;e--;)a(p[e]>=p[e+1],"step");let m=new Uint8Array(17*p.length);return p.forEach((e,t)=>{for(let r=0;r<17;r++,
e>>=8n)m[17*t+r]=Number(255n&e)}),a(f(m,16)===e.digest,"fingerprint"),p})(l,s),h=c.length-1,p=c.slice(1),m=N(i,2*h,r);if(a("line"===i.kind,"start"),
"ring"===s){a(0===i.fraction,"start");let e=Ge([...c,...p.slice(0,-1).reverse()]),r=2*h;return{names:"Purkayastha",ratio:[c[0],p.at(-1)],inside:t,
draw:(t,n)=>A(((m(t,n)+e(n))%r+r)%r,r)}}let g=Ge([...p.slice().reverse(),...c]);if("bounded"===s){
a(0===i.fraction&&i.last===h&&i.scale<=h/(r[1]-r[0]),"start"),d(n,"shift",h,h)
;let e=-c[0],s=c.map(t=>e+=t),l=s.map((e,t)=>e+s[h-t]+c[0]),o=Le(p,c),u=Le(l.slice(0,-1),l.slice(1))
;return a(c[h]>1n<<32n&&o[0]*u[0]<=o[1]*u[1],"step"),{names:"BoundedLaplace",ratio:[c[0],c[h]],inside:t,draw:(e,t)=>{let r=m(e,t)-h;for(;;){
let e=r+g(t);if(e>=0&&e<=h)return A(e,h+1)}}}}let w=d(n,"fraction",1,30),y=2**w,b=d(n,"last",1,2**31-y),v=Math.ceil(b/y)
;a(i.last===b&&i.fraction===w,"start"),a(v<h&&(b<y||b%y===0),"cells")
;let M=We(c.slice(h-v)),[x,S]=Le([M,...c.slice(0,h-v)],[c[h],...c.slice(v,h)]),q=BigInt(y),O=BigInt(Math.min(b,y));return{
names:"normal"===l.decay?"Gaussian":"Laplace Staircase",ratio:[(q-O)*S+O*x,q*S],inside:t,draw:(e,t)=>{let r=m(e,t)+g(t)
;return A(Math.min(Math.max(r,v),2*h)-v,2*h-v+1)},..."normal"===l.decay&&{delta:(e,t)=>{let r=1n<<320n,n=e=>c[Math.abs(e)],i=e=>e>0n?e:0n,s=0n,l=0n
;if(b>=y)for(let t=v-h+1;t<=v/2;t++)s+=q*i(r*n(t)-e*n(v-t));else for(let t=2-h;t<h;t++){let a=(q-O)*n(t)+O*n(t-1);s+=i(r*q*n(t)-e*a),
l+=i(r*a-e*q*n(t))}return((e,t,r)=>{let n=o({delta:r},"delta");a(n>0&&n<1,"privacy");let i=n,s=1n;for(;i%1;s*=2n)i*=2
;return a(e*s<=BigInt(i)*t,"privacy"),Number(((e<<128n)+t-1n)/t)/2**128})((s>l?s:l)+r*q*M,r*q*Fe,t)}}}},optional:e=>{let{domain:t}=e
;a("optional"===t.kind&&"line"===e.start.kind,"domain");let[r,n]=k({domain:t.of,outside:e.outside
}),i=d(e,"cells",2,65536),s=Math.log2(i),l=d(e,"width",1,i/2);a(Number.isInteger(s),"cells");let o=i-l,[u,c,h]=q(l,e),p=N(e.start,i,n),f=h-BigInt(l)*c
;return{names:"Podium PM SW OGPM OGPMU Focused",ratio:[f+BigInt(i)*c,f],inside:e=>null===e?NaN:r(e),draw:(e,t)=>{
let r=+Number.isNaN(e),a=p([e,n[0]][r],t),[l,d,c]=u(t,s);return A([c,[((a+d*l)%o+o)%o,o+d][r]][l],i)}}},polynomial:e=>{
let{items:t,most:r,domain:n,elements:i}=tt(e),s=d(e,"prime",t+r,2097151);for(let e=2;e*e<=s;e++)a(s%e,"cells")
;let l=d(e,"below",1,s-1),o=d(e,"terms",r+1,r+2);a(o<=2048,"cells")
;let[u,c,h]=[BigInt(s),BigInt(l),BigInt(s-l)],p=(u**BigInt(o)-1n).toString(16).length+1>>1;a(p<=256,"cells");let[f,m,g]=S(e,"heads"),w=Array.from({
length:r},(e,t)=>h**BigInt(t)*c*u**BigInt(r-1-t)),[y,b]=[w.reduce((e,t)=>e+t,0n),h**BigInt(r)],v=e=>(e%s+s)%s,k=e=>{let[t,r]=[1,e]
;for(let e=s-2;e;e=Math.floor(e/2))e%2&&(t=v(t*r)),r=v(r*r);return t};return{names:"SetResponse",ratio:[m*b,g*y],...n,draw:(e,t)=>{
let n=i(e,t),a=f(t),s=Qe(t,y),d=Qe(t,b),m=Qe(t,u**BigInt(o-r)),g=et(s,w),M=[r,g][+a],x=[d,w.slice(0,g).reduce((e,t)=>e-t,s)][+a],A=n.map((e,t)=>{
let r=t<M?h:t===M?c:u,n=Number(x%r)+(t<M?l:0);return x/=r,n});for(let e=1;e<r;e++)for(let t=r-1;t>=e;t--)A[t]=v(v(A[t]-A[t-1])*k(v(n[t]-n[t-e])))
;let S=[Number(m%u),Number(m/u)].slice(0,o-r);for(let e=r;e--;)S=[A[e],...S].map((t,r)=>v(t-n[e]*(S[r]??0)))
;let q=S.reduceRight((e,t)=>e*u+BigInt(t),0n);return Uint8Array.from({length:p},()=>{let e=Number(255n&q);return q>>=8n,e})}}},projective:Ye,
routes:e=>{let[t,r,n,i]=Ue(e),{domain:s,outside:l}=e;a("routes"===s.kind&&"sphere"!==s.area.kind,"domain");let o=Me({domain:s.area,outside:l
}),u=d(s,"points",2,64),{distance:c,by:h}=s;a(["mean","warped","frechet"].includes(c)&&["length","order"].includes(h),"domain")
;let p=o.box.map(([e,t])=>t-e),f=p.map(e=>Math.max(1,(e=>{let t=Math.round(e);return e%1==.5?t-t%2:t})(256*e/Math.max(...p)))),m=je(e.paths,"paths")
;a(m.length===2*u*t,"paths");let g=Array.from({length:u*t},(e,t)=>[m[2*t],m[2*t+1]]),w=Array.from({length:t},(e,t)=>g.slice(t*u,(t+1)*u)),y=(e,t)=>{
let[r,n]=[f[0]*(e[0]-t[0]),f[1]*(e[1]-t[1])];return Math.floor(Math.sqrt(r*r+n*n))},b=e=>{let t=w.map(t=>((e,t)=>{
if("mean"===c)return e.reduce((e,r,n)=>e+y(r,t[n]),0);let r=[];for(let n of e){let e=[];t.forEach((t,a)=>{
let i=y(n,t),s=Math.min(r[a-1]??1/0,r[a]??1/0,e[a-1]??1/0);e.push(s===1/0?i:"warped"===c?i+s:Math.max(i,s))}),r=e}return r[u-1]})(e,t))
;return[...t.keys()].sort((e,r)=>t[e]-t[r]||e-r)},v=Ae(o);return{names:"Optimal",ratio:i,inside:e=>{let t=v(e);if(!t||t.length>2**20)return
;let r=t.map(e=>e.map((e,t)=>Math.min(Math.max(Math.floor((e-o.box[t][0])/p[t]*65536),0),65535)));return((e,t,r)=>{let n=[0]
;for(let e of r)n.push(n[n.length-1]+e);let a=t-1,i=0;return Array.from({length:t},(t,s)=>{let l=s*n[r.length];for(;i<e.length-2&&n[i+1]*a<=l;)i++
;let[o,d]=[e[i],e[i+1]??e[i]],u=l-n[i]*a,c=((n[i+1]??n[i])-n[i])*a;return c||(u=c=1),[0,1].map(e=>Math.floor((o[e]*(c-u)+d[e]*u)/c))})
})(r,u,r.slice(1).map((e,t)=>"order"===h?1:y(r[t],e)))},draw:(e,t)=>n(b(w[b(e)[0]]).slice(0,r),t)}},sectors:e=>{
let[t,r]=k(e),n=d(e,"cells",2,2**32),i=d(e,"width",1,n/2),s=Math.log2(i);a(Number.isInteger(s)&&n%i===0,"cells");let[l,o]=T(e,n/i,s),u=e.start
;a("line"===u.kind&&0===u.fraction,"start");let c=N(u,n,r);return{names:"Sectors",ratio:o,inside:t,draw:(e,t)=>A(l(Math.floor((c(e,t)%n+n)%n/i),t),n)}
},several:e=>{
let{items:t,most:r,domain:n,elements:i}=tt(e),s=d(e,"chosen",1,Math.min(t,512)),l=d(e,"least",1,Math.min(r,s)),[o,u,c]=S(e,"heads"),h=32-Math.clz32(t+r-1)
;a(s*h<=512,"cells");let p=Array.from({length:Math.min(r,s)+1
},(e,n)=>Ze(r,n)*Ze(t,s-n)),[f,m]=[p.slice(0,l),p.slice(l)],[g,w]=[f,m].map(e=>e.reduce((e,t)=>e+t,0n));return{names:"SetResponse",ratio:[u*g,c*w],
...n,draw:(e,n)=>{
let a=i(e,n),d=o(n),u=[et(Qe(n,w),m)+l,et(Qe(n,g),f)][1-d],c=j(n,s,t),p=j(n,Math.min(r,s),r),y=c.map(e=>B(e,a)).map((e,t)=>t<u?a[p[t]]:e),b=new Uint8Array(s*h+7>>3)
;return E(y).forEach((e,t)=>{for(let r=0;r<h;r++)b[t*h+r>>3]|=(e>>r&1)<<(t*h+r&7)}),b}}}}),globalThis.dither=t})();
//# sourceMappingURL=../maps/dither.global.js.map
