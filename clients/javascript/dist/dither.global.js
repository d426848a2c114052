"use strict";(()=>{var e=Object.defineProperty,t={};((t,n)=>{for(var r in n)e(t,r,{get:n[r],enumerable:!0})})(t,{Device:()=>mt,Malformed:()=>r,
allRules:()=>Bt,autoSend:()=>vt,changes:()=>Tt,connect:()=>ur,draws:()=>C,encapsulate:()=>Wt,erase:()=>Xn,fetchCampaign:()=>Kn,hex:()=>p,
indexedStore:()=>wt,memoryStore:()=>gt,packedBody:()=>Ct,present:()=>$n,readCampaign:()=>Pn,readList:()=>Gn,readQuestion:()=>J,relayed:()=>Ht,
sendPresent:()=>Tn,systemSource:()=>m,takeBack:()=>qn,verify:()=>Cn,view:()=>Vn,words:()=>tr});var n=320n,r=class extends Error{
constructor(e,t="",n=""){super((n&&`question "${n}": `)+e+(t&&": "+t)),this.name="Malformed",this.reason=e,this.field=t,this.question=n}}
;function a(e,t,n){if(!e)throw new r(t,n)}var i=e=>e.replace(/\\./g,"").replace(/"[^"]*"/g,"").split(":").length;function s(e){let t=JSON.parse(e)
;return a(i(JSON.stringify(t))===i(e),"text"),t}function l(e){let t=[];return a(JSON.stringify(JSON.parse(e))===e,"text"),[JSON.parse(e,(e,n)=>{
if(Object(n)!==n)return encodeURI(n),n;let r=Object.keys(n),i=new Set(r);return t.push(i),a(Array.isArray(n)||r+""==r.sort()+"","text"),new Proxy(n,{
get:(e,t)=>(i.delete(t),e[t])})}),()=>t.forEach(e=>e.forEach(e=>a(0,"fields",e)))]}function o(e,t,n=e[t]){return a(Number.isFinite(n),"number",t),n}
function u(e,t,n,r,i=e[t]){return a(Number.isSafeInteger(i)&&i>=n&&i<=r,"number",t),i}function d(e,t,n,r=e[t],i=0n){
return a(r?.length<=n&&(i=BigInt("0x"+r)).toString(16)===r,"number",t),i}var c=e=>(new TextEncoder).encode(e);function h(e){
let t=e.length+72>>6<<6,n=new Uint8Array(t),r=new DataView(n.buffer);n.set(e),n[e.length]=128,r.setUint32(t-4,8*e.length)
;let a=new Uint32Array(8),i=new Uint32Array(64),s=new Uint32Array(64);for(let e=2,t=0;t<64;e++){let n=2;for(;e%n;)n++;n<e||(a[t]=e**.5*2**32,
i[t++]=e**(1/3)*2**32)}let l=(e,...t)=>t.reduce((t,n)=>t^(e>>>n|e<<-n),0);for(let e=0;e<t;e+=64){let t=[...a];for(let n=0;n<64;n++){
let[a,o,u,d,c,h,p,f]=t,m=s[n-15],g=s[n-2];s[n]=n<16?r.getUint32(e+4*n):s[n-16]+s[n-7]+(l(m,7,18)^m>>>3)+(l(g,17,19)^g>>>10)
;let w=f+l(c,6,11,25)+(c&h^~c&p)+i[n]+s[n];t=[w+l(a,2,13,22)+(a&o^a&u^o&u)|0,a,o,u,d+w|0,c,h,p]}t.forEach((e,t)=>a[t]+=e)}
return a.forEach((e,t)=>r.setUint32(4*t,e)),n.slice(0,32)}
var p=e=>Array.from(e,e=>(e+256).toString(16).slice(1)).join(""),f=(e,t=32)=>p(h(e)).slice(0,t);function m(){let{crypto:e}=globalThis
;a(e?.getRandomValues,"source");let t=new Uint8Array,n=0;return{take(r){n+r>t.length&&(t=e.getRandomValues(new Uint8Array(r+1024)),n=0)
;let a=t.slice(n,n+r);return t.fill(0,n,n+=r),a}}}function g(e,t=0,n=e.length,r=0){for(;n-- >t;)r=256*r+e[n];return r}
var w=e=>new DataView(e.buffer,e.byteOffset).getBigUint64(0,!0),y=(e,t,n=0)=>Math.floor(g(e,n)*2**(t-8*(e.length-n))),b=(e,t)=>y(e.take(t+7>>3),t)
;function v(e,t){let n;do{n=b(e,32-Math.clz32(t-1))}while(n>=t);return n}function k({domain:e,outside:t}){let n="circle"===e.kind
;a(t===(n?"wrap":"clip")&&(n||"interval"===e.kind),"domain");let r=n?0:o(e,"low"),i=o(e,n?"period":"high")
;return a(r>=-1e30&&i<=1e30&&i-r>=1e-30,"domain"),[e=>{if("number"!=typeof e||e!=e)return;if(!n)return Math.min(Math.max(e,r),i);let t=e%i
;return t==t?(t+i*+(t<0))%i:void 0},[r,i]]}function M({domain:e,outside:t}){if(a("categories"===e.kind&&"refuse"===t,"domain"),void 0!==e.count){
let t=u(e,"count",2,4294967296);return[e=>Number.isInteger(e)&&e>=0&&e<t?e:void 0,t]}
let n=e.labels,r=new Map(n.map((e,t)=>(a("number"!=typeof e||Number.isSafeInteger(e),"domain"),
[Object(e)===e?o(e,"number"):e,t]))),i=r.has(!0)&&r.has(1)||r.has(!1)&&r.has(0);return a(r.size>1&&r.size===n.length&&!i,"domain"),
[e=>r.get(e),r.size]}var x=(e,t)=>Uint8Array.from({length:t},(t,n)=>e*2**(-8*n));function A(e,t){let n=1;for(;256**n<t;)n*=2;return x(e,n)}
function S(e,t){let n=d(e,t,32),r=n>>64n,a=BigInt.asUintN(64,n);return[e=>{let t=w(e.take(8));return+(t===r?w(e.take(8))<a:t<r)},n,(1n<<128n)-n]}
function q(e,t){let n=t.bits,r=d(t,"step",24),i=BigInt(e),s=r>>32n,l=n/8-4;a(96===n?r:64===n&&s,"step");let o=1n<<BigInt(n-32)
;return a(i*(s+1n)<=o,"step"),[(e,t)=>{let n=e.take(l+(t+7>>3)),a=l,u=l<8?BigInt(g(n,0,4,1))-o:w(n),d=u<i*s,c=Number(u/(s||1n)),h=u-o+i
;return h>=0&&(n=Uint8Array.of(...n,...e.take(4)),d=g(n,l,a+=4)<BigInt.asUintN(32,r),c=Number(h)),[+d,c,y(n,t,a)]},r,1n<<BigInt(n)]}
var O=(e,t,n=16)=>Math.floor((e+b(t,n))*2**-n)+0;function N(e,t,n){
let r=e.kind,i=o(e,"origin"),s=o(e,"scale"),l=e=>Math.trunc((e-i)*s),d=(e,t)=>(Math.abs(l(e))-Math.abs(l(e)-t)+t)/2,c=2**(t>65536?52:31),h=Math.max(...n.map(e=>Math.abs(e-i)*s))
;if(a(s>0&&h*(1+2**-19)<c,"start"),"line"===r){let t=u(e,"fraction",0,30),n=null===e.last,r=n?h:u(e,"last",0,c);return a(r<=c-2**t,"start"),
(e,a)=>O(n?l(e):d(e,r),a,t)}let f=[];if("steps"===r)return e.counts.forEach((n,r)=>{
for(let a=u(e,"counts",1,65536-f.length,n);a--;)f.push(u(e,"starts",0,t-1,e.starts[r]))}),a(f.length,"start"),e=>f[d(e,f.length-1)]
;let m=Uint8Array.from(e.bits.match(/../g),e=>parseInt(e,16));a("knots"===r&&t<=65536&&p(m)===e.bits,"start");let g=65536*t;f.push(u(e,"first",0,g-1))
;for(let[t,n]of e.pieces)for(let r=u(e,"pieces",1,32768-f.length,t);r--;){let t=f.length-1,r=f[t]+u(e,"pieces",-g,g,n)+(m[t>>3]>>(7&t)&1)
;f.push(u(e,"pieces",0,g-1,r))}let w=f.length-1;return a(w&&m.length===w+7>>3&&!(m.at(-1)>>1+(w-1&7)),"start"),(e,t)=>O(f[O(d(e,65536*w-1),t)],t)}
function I(e,t){let n=new Uint8Array(e+7>>3);for(let r=0;r<e;r++)n[r>>3]|=t(r)<<(7&r);return n}
var B=(e,t)=>t.reduce((e,t)=>e+ +(e>=t),e),E=e=>e.sort((e,t)=>e-t);function j(e,t,n){let r=[];for(;r.length<t;)r.push(B(v(e,n-r.length),E([...r])))
;return r}var U=(e,t,n,r)=>a=>{let[i,s]=M(a),l=u(a,"size",s,Math.min(s,65536))-1,o=u(a,"chosen",t,Math.min(n,l)),[d,c,h]=S(a,"heads");return{names:e,
ratio:[c*BigInt(s-o),h*BigInt(o)],inside:i,draw:(e,t)=>r(e,d(t),o,l,t)}};function $(e,t){let n=u(e,"cells",2,4294967296),r=Math.log2(n)
;a("sliding"===e.draw&&Number.isInteger(r),"cells");let i=u(e,"width",1,n-1),[s,l,o]=q(i,e),d=N(e.start,n,t),c=o-BigInt(i)*l;return[n,(e,t)=>{
let a=d(e,t),[i,l,o]=s(t,r);return(o+(a+l-o&-i)&n-1)>>>0},[c+BigInt(n)*l,c]]}function T(e,t,n=0){let[r,a,i]=q(t,e);return[(e,t)=>{let[a,i,s]=r(t,n)
;return(e+a*(i-e))*2**n+s},[i-BigInt(t-1)*a,a]]}var C={__proto__:null,sliding:e=>{let[t,n]=k(e),[r,a,i]=$(e,n);return{
names:"Podium PM SW OGPM OGPMU Duchi TwoPoint Optimal Focused",ratio:i,inside:t,draw:(e,t)=>A(a(e,t),r)}},mixture:e=>{
let[t,n]=k(e),[r,a,i]=$(e.first,n),[s,l,o]=$(e.second,n),d=u(e,"heads",0,2**32-1);return{names:"Hybrid",ratio:i[0]*o[1]>o[0]*i[1]?i:o,inside:t,
draw:(e,t)=>A(b(t,32)<d?a(e,t):r+l(e,t),r+s)}},response:e=>{let[t,n]=M(e);u(e,"width",1,1);let[r,a]=T(e,u(e,"cells",n,n));return{names:"KRR RR",
ratio:a,inside:t,draw:(e,t)=>A(r(e,t),n)}},bits:e=>{let[t,n]=M(e),r=u(e,"size",n,Math.min(n,2**24)),[i,s,l]=S(e,"own"),[o,d,c]=S(e,"other")
;return a(0n<d&&d<s,"step"),{names:"OUE SUE",ratio:[s*c,l*d],inside:t,draw:(e,t)=>I(r,n=>(n===e?i:o)(t))}},
subset:U("SubsetSelection",1,65536,(e,t,n,r,a)=>{let i=[];for(let e=n-t;i.length<r;e-=i.at(-1))i.push(+(v(a,r-i.length)<e));return i[r]=i[e],i[e]=t,
I(r+1,e=>i[e])}),indices:U("SubsetIndices",2,8,(e,t,n,r,a)=>{let i=j(a,n,r).map(t=>B(t,[e]));return i[n-1]=[i[n-1],e][t],
Uint8Array.from(E(i).flatMap(e=>[...A(e,r+1)]))})},_={__proto__:null,sectors:"angles",box:"box",directions:"vectors",routes:"routes",hashed:"hashed",
hadamard:"hashed",channel:"tables",table:"tables",splines:"tables",lattice:"lattice",nearest:"nearest",listing:"nearest",optional:"optional",
pair:"paths",polar:"paths",walk:"paths",projective:"projective",questions:"profile",several:"several",polynomial:"polynomial"};function J(e,t){try{
a(e.length<2**22,"text");let t=s(e),{dither:r,device:i,mechanism:u,parameters:d,fingerprint:h}=t
;a(2===r&&"codebook"in t&&6===Object.keys(t).length,"version"),a(h===f(c(i)),"fingerprint");let[p,m]=l(i),g=p.draw;a(g===g+"","draw"),
a("function"==typeof C[g],"draw",_[g]&&`${u} needs dither-ldp/${_[g]}`);let w=o(d,"epsilon");a(w>=1e-6&&w<=50,"epsilon")
;let y=C[g](p),{names:b,ratio:v,inside:k,delta:M}=y;a(b.split(" ").includes(u),"draw"),m();let x=(e=>{let t=256n;for(;e%1;t*=2n)e*=2
;let r=BigInt(e),a=1n<<n,i=a;for(let e=1n;a>0n;e++)a=a*r/(t*e),i+=a;for(let e=0;e<8;e++)i=i*i>>n;return i})(w)
;return a(M||v[0]>v[1]&&v[0]<<n<=x*v[1],"privacy"),{...y,mechanism:u,kind:g,epsilon:w,delta:M?M(x,d.delta):0,fingerprint:h,device:i,report(e,t){
let n=k(e);return void 0===n?n:y.draw(n,t)}}}catch(e){let{reason:n,field:a}=e instanceof r?e:new r("text");throw new r(n,a,t)}}
var z=30,P=/^(https:\/\/[^\s\\/?#@]+|http:\/\/(localhost|\[::1]|127(\.(25[0-5]|(2[0-4]|1\d|[1-9])?\d)){3})(:\d+)?)(\/[^\s\\?#]*)?$/i,D=e=>a(P.test(e?.includes("://")?e:new URL(e,globalThis.location?.href??"no:/").href),"address","expected https, or this machine")
;async function R(e,t,n,i){D(t);let s,l,o=new AbortController,u=new Promise((e,t)=>s=setTimeout(()=>t(new r("late")),1e3*z));try{
let r=await Promise.race([u,e(t,{...i,credentials:"omit",referrerPolicy:"no-referrer",redirect:"manual",signal:o.signal})]);l=r.body?.getReader()
;let s=[];for(let e,t=0;l&&(e=await Promise.race([u,l.read()])).value;s.push(e.value))a((t+=e.value.length)<=n,"size")
;return[r,l?new Response(new Blob(s)):r]}finally{clearTimeout(s),o.abort(),l?.cancel().catch(()=>0)}}var F={epsilon:1,delta:0,assumptions:[],
mechanisms:null},L=e=>BigInt("0x"+e),G=e=>[{is:"refused",reason:e}],K=({asker:e,question:t,fingerprint:n})=>({asker:e,question:t,fingerprint:n
}),W=(e,t)=>JSON.stringify(K(e))===JSON.stringify(K(t)),Y=(e,{epsilon:t,delta:n,mechanism:r},a)=>t<=e.epsilon&&n<=e.delta&&a.every(t=>e.assumptions.includes(t))&&(e.mechanisms?.includes(r)??!0),H=(e,t)=>BigInt(Math.ceil(e*2**t)).toString(16)
;function V(e,t){let n=BigInt(Math.floor(e*2**t));return(n&&n+(n>>52n)+1n).toString(16)}
var X=(e,t,n)=>e.reduce((e,t)=>e-L(t[n]),L(t[n])),Z=(e,t)=>["epsilon","delta"].every(n=>X(e,t,n)>=0n),Q={epoch:"lifetime",lifetime:null,quota:null,
quotas:{},askers:null},ee=(e,t)=>e<<50n>L(t.epsilon)?Number(e)/2**64:0,te={open(e){let[t,n]=[{...e.own,...Q
},e.limits].map(e=>JSON.stringify(Object.entries(e).sort()));return a(t===n,"rules","the account has more limits: see allRules of dither-ldp/rules"),e
},knows:({repeat:e,days:t,start:n,data:r,every:a,phase:i,changes:s})=>["fresh","same"].includes(e)&&""+[t,n,r,a,i,s]==",,,,,",
decide:({entries:e,own:t},n,r,a)=>a?[]:ne(e,n)?G("answers"):Z([...e,r],t)?[]:G("budget"),left:({entries:e,own:t})=>ee(X(e,t,"epsilon"),t)
},ne=(e,t)=>e.filter(e=>W(e,t)&&e.campaign===t.limit?.campaign).length>=(t.limit?.answers??1/0),re=(e,t)=>[...new Set(e.assumes.concat(t.assumes?.(e)??[]))],ae=(e=1)=>e>1?["how many locations a trajectory has, and when they were sent, is public"]:[],ie="0".repeat(32),se=({batch:e})=>e!==ie,le=(e,t,n)=>e.map(e=>se(e)||e.report!==n||!W(e,t)?e:{
...e,batch:null}),oe=({epsilon:e,delta:t,assumes:n,data:r,times:a,campaign:i})=>JSON.stringify([e,t,n,r,a,i]),ue=(e,t)=>e&&W(e,t)&&oe(e)===oe(t)
;function de(e,t,n,r,a,i){let{epsilon:s,delta:l,repeat:o,data:u,times:d,limit:c}=n,h=re(n,a),p=K(n),f={...p,id:t,device:e.device,epsilon:H(s,64),
delta:H(l,128),assumes:h,first:0,last:0,...u&&{data:u},...d&&{times:d},...c&&{campaign:c.campaign}
},m=(e,t)=>e.find(e=>e.id===t),g=e=>ue(e,f),w=e.answers.find(e=>W(e,n)&&e.permanent===o),y=m(e.entries,w?.id),b=m(e.queue,t),v=m(e.entries,t)
;if(b||v){let t="kept change"===o;return t&&v?.data&&(f.data=v.data),W(b??v,n)&&(t&&!v||g(v??y))?b?[{is:"resent",report:b.report},se(b)?void 0:{...e,
queue:le(e.queue,n,b.report)}]:[{is:"acknowledged",reports:0}]:G("id")}if(!Y(r,n,h))return G("policy");let[k,M,x=!w]=a.decide(e,n,f,w&&(y??f),i)
;if(k)return[k,M];let A=w&&"same"===o;if(w&&(!g(y)||A&&null===w.report))return G("changed");let S=i&&(A?w.report:i.report()),q={...M??e}
;return q.queue=x?[...e.queue,{...p,id:t,report:S,batch:null}]:le(e.queue,n,S),w?[{is:"repeated",charged:"0",report:S},q]:(q.entries=[...e.entries,f],
("same"===o||"per value"===o)&&(q.answers=[...e.answers,{...p,id:t,permanent:o,report:"same"===o?S:null}]),[{is:"drawn",charged:f.epsilon,report:S
},q])}function ce(e,t){let n=e.present?.filter(e=>e.batch&&t(e)).length??0;return n?[{...e,present:e.present.map(e=>t(e)?{...e,batch:null}:e)
},n]:[e,0]}function he(e,t){let n=e.queue.filter(e=>e.id!==t&&e.batch!==t),[r,a]=ce(e,e=>e.batch===t),i=e.queue.length-n.length+a;return i?[{
is:"acknowledged",reports:i},{...r,queue:n}]:[{is:"unknown"}]}function pe(e,t){
let n=e=>se(e)&&t!==ie&&(e.batch===t||e.id===t),r=e.queue.filter(n).length,a=e.queue.flatMap(t=>n(t)?(t=>e.answers.some(e=>W(e,t)))(t)?{...t,batch:ie
}:[]:t),[i,s]=ce(e,e=>e.batch===t);return s?[{is:"dropped",reports:s},i]:r?[{is:"dropped",reports:r},{...e,queue:a}]:[{is:"unknown"}]}function fe(e){
if(3===e.account)return e;let t=e.choices.flatMap(e=>[{...e,repeat:"kept change"},{...e,repeat:"once"}]);return{...e,account:3,choices:t}}
var me=1e-12,ge=(e,t,n)=>Math.min(Math.max(e,t),n),we=(e,t)=>(a(2===e.length,"domain",t),e.map(e=>o({},t,e))),ye=(...e)=>{
let t=[Math.min(...e),Math.max(...e)];return a(t[0]>=-1e30&&t[1]<=1e30&&t[1]-t[0]>=1e-30,"domain"),t},be={high:1,kind:"interval",low:0}
;function ve(e,t){let n=([e,t],n,r)=>Math.abs(r)/Math.max(r>0?t-n:n-e,me*(t-e));return{clip:([n,r])=>[ge(n,...e),ge(r,...t)],axes:e=>e,
gauge:(r,a)=>Math.max(n(e,r[0],a[0]),n(t,r[1],a[1])),box:[e,t]}}var ke={clip:([e,t])=>{let n=(e+180)%360
;return[Math.abs(e)<=180?e:n+360*+(n<0)-180,ge(t,-90,90)]},axes:([e,t])=>[e+180,t],gauge:()=>1,lines:[{kind:"circle",period:360},{high:90,
kind:"interval",low:-90}]};function Me({domain:e,outside:t}){let n=e=>{let t=o(e,"low");return a("interval"===e.kind&&t<e.high,"domain"),
ye(t,o(e,"high"))};switch(a("clip"===t,"domain"),e.kind){case"rectangle":return{...ve(n(e.x),n(e.y)),lines:[e.x,e.y]};case"disk":
return a(e.radius>0,"domain"),((e,[t,n])=>(ye(0,e),{box:[ye(t-e,t+e),ye(n-e,n+e)],clip:([r,a])=>{let i=e/Math.hypot(r-t,a-n)
;return i<1?[t+(r-t)*i,n+(a-n)*i]:[r,a]},axes:e=>e,disk:[e,[t,n]],gauge:(r,[a,i])=>{
let[s,l]=[r[0]-t,r[1]-n],o=me*e**2,u=Math.max(e**2-(s*s+l*l),o),d=s*a+l*i,c=a**2+i**2,h=Math.abs(d)+Math.sqrt(d*d+c*u)
;return d>0?h/u:c/Math.max(h,o*me)}}))(o(e,"radius"),we(e.centre,"centre"));case"parallelogram":return(([e,t],[n,r],[i,s])=>{
let l=n*s-r*i,o=[Math.hypot(n,r),Math.hypot(i,s)];a(Math.abs(l)>1e-9*o[0]*o[1],"domain"),o.forEach(e=>ye(0,e))
;let u=[ye(e,e+n,e+i,e+(n+i)),ye(t,t+r,t+s,t+(r+s))],d=ve([0,1],[0,1]),c=([e,t])=>[(e*s-t*i)/l,(t*n-e*r)/l],h=([n,r])=>d.clip(c([n-e,r-t]));return{
clip:a=>{let l=c([a[0]-e,a[1]-t]),[o,u]=h(a);return Math.max(Math.abs(l[0]-o),Math.abs(l[1]-u))>me?[e+o*n+u*i,t+o*r+u*s]:a},axes:h,
gauge:(e,t)=>d.gauge(h(e),c(t)),lines:[be,be],box:u}})(we(e.corner,"corner"),we(e.first,"first"),we(e.second,"second"))}
return a("sphere"===e.kind&&e.radius>0,"domain"),ye(0,o(e,"radius")),ke}function xe(e,t){let n=1;for(;e%1;n*=2)e*=2;let r=BigInt(e)*BigInt(u({times:t
},"times",1,65536)),a=Number(r);return[(BigInt(a)<r?a+1.5*a*2**-53:a)/n,ae(t)]}
var Ae=e=>t=>Array.isArray(t)&&t.length&&[...t].every(e=>Array.isArray(e)&&2===e.length&&[...e].every(Number.isFinite))?t.map(e.clip):void 0
;function Se(e,t=Math.max(...e.map(e=>e.length))){return e.flatMap(e=>Array.from({length:t},(t,n)=>e[n]))}function qe(e){
return Uint8Array.from(e.flatMap((e,t)=>Se([Uint8Array.of(+!t),...e])))}var Oe={kind:"circle",period:2*Math.PI},Ne=([e,t])=>{let n=Math.atan2(t,e)
;return n+2*Math.PI*+(n<0)};function Ie(e,t){let[n,r]=[e.first,e.second].map((e,n)=>{a(JSON.stringify(e.domain)===JSON.stringify(t[n]),"domain")
;let r={__proto__:e,outside:"circle"===e.domain.kind?"wrap":"clip"},i=C[e.draw];a(i&&e.draw+""===e.draw,"draw");let s=i(r)
;return a(!s.delta&&!s.spend,"draw"),s});return[n,r,[n.ratio[0]*r.ratio[0],n.ratio[1]*r.ratio[1]]]}function Be(e){return t=>{
let n=Me(t),r=e?[Oe,be]:n.lines;a(!(e&&n===ke)&&r,"domain");let[i,s,l]=Ie(t,r),d=e?we(t.start,"start"):void 0,c=e?t.codebooks.map((e,n)=>((e,t)=>{
if(a(!(t>2**20),"cells"),e.values){let n=[];return e.runs.forEach((t,r)=>{
for(let a=u(e,"runs",1,2**20-n.length,t);a--;)n.push(o(e,"values",e.values[r]))}),a(n.length===(t??n.length),"cells"),e=>n[e]}
let[n,r]=[o(e,"offset"),o(e,"step")],i=void 0===e.low?-1/0:o(e,"low"),s=void 0===e.high?1/0:o(e,"high");return e=>ge(n+r*e,i,s)
})(e,t[n?"second":"first"].cells)):[],h=me*(t.domain.radius??0);a(!d||2===c.length&&n.clip(d).every((e,t)=>Math.abs(e-d[t])<=h),"start")
;let p=void 0!==t.reference;return a(!p||e&&"fixed"===t.reference,"reference"),{names:e?"TraCSD Strawman":"TraCSC",ratio:l,spend:xe,inside:Ae(n),
draw:(e,t)=>{let r=d;return qe(e.map(e=>{let[a,l]=((e,t,r)=>{let a=(e,t)=>e.draw(e.inside(t),r);if(!e){let[r,l]=n.axes(t);return[[a(i,r),a(s,l)],e]}
let l=[t[0]-e[0],t[1]-e[1]],o=[a(i,Ne(l)),a(s,Math.min(n.gauge(e,l),1))],[u,d]=o.map((e,t)=>c[t](g(e,0,e.length))),h=[Math.cos(u),Math.sin(u)],p=ge(d,0,1)/n.gauge(e,h)
;return[o,[e[0]+h[0]*p,e[1]+h[1]*p]]})(r,e,t);return p||(r=l),a}))}}}}var Ee={pair:Be(!1),walk:Be(!0),polar:e=>{let{clip:t,disk:n}=Me(e);a(n,"domain")
;let[r,[i,s]]=n,[l,o,u]=Ie(e,[{high:r,kind:"interval",low:0},Oe]),d=Ae({clip:t});return{names:"Polar",ratio:u,spend:xe,
inside:e=>d(1===e?.length?e:[e]),draw:([[e,t]],n)=>{let r=[e-i,t-s],a=(e,t)=>e.draw(e.inside(t),n)
;return Uint8Array.from(Se([a(l,Math.hypot(...r)),a(o,Ne(r))]))}}}};function je(e,t){return a(e.length<=2**17&&/^([0-9a-f]{4})*$/.test(e),"number",t),
(e.match(/..../g)??[]).map(e=>parseInt(e,16))}function Ue(e){let t=u(e,"cells",2,65536),n=u(e,"width",1,t-1),[r,a,i]=q(n,e),s=i-BigInt(n)*a
;return[t,n,(e,n)=>{let[a,i]=r(n,0),s=v(n,t);return A(s+a*(e[a*i]-s),t)},[s+BigInt(t)*a,s]]}var $e=e=>Math.min(Math.max(Math.floor(e),0),65535)
;function Te(e,t,n,r){let i=e.box&&e.box.map(e=>we(e,"box")),s=t||3;a(t?i?.length===t:null===i,"selector"),
i?.forEach(([e,t])=>a(e>=-1e30&&t<=1e30&&t-e>=1e-30,"selector"));let l=e.scales.map(t=>u(e,"scales",1,511,t)),o=2**u(e,"grain",0,12),d=[]
;if("grid"===e.kind){let t=e.per.map(t=>u(e,"per",1,65536,t)),n=u(e,"scale",0,65536);a(i&&t.length===s,"selector"),d=[[]];for(let e of t){
a(d.length*e<=65536,"selector");let t=Array.from({length:e},(t,r)=>$e(32768+Math.floor((2*r+1-e)*n/(2*e))));d=d.flatMap(e=>t.map(t=>[...e,t]))}}else{
a("points"===e.kind,"selector");let t=je(e.points,"points");for(a(t.length%s===0,"selector");t.length;)d.push(t.splice(0,s))}
return a(d.length===n&&l.length===s,"selector"),[e=>{let t=(e=>{if(i)return e.map((e,t)=>$e((e-i[t][0])/(i[t][1]-i[t][0])*65536))
;let[t,n]=e.map(e=>e*(Math.PI/180)),r=Math.cos(n);return[r*Math.cos(t),r*Math.sin(t),Math.sin(n)].map(e=>$e(32767*e+32768.5))
})(e).map(e=>e-e%o+Math.floor(o/2)),n=d.map(e=>e.reduce((e,n,r)=>e+(l[r]*(t[r]-n))**2,0))
;return Array.from(n.keys()).sort((e,t)=>n[e]-n[t]||e-t).slice(0,r)},i]}var Ce={nearest:e=>{
let[t,n,r,a]=Ue(e),i=Me(e),[s]=Te(e.selector,"sphere"===e.domain.kind?0:2,t,n);return{names:"Optimal",ratio:a,spend:xe,inside:Ae(i),
draw:(e,t)=>qe(e.map(e=>[r(s(e),t)]))}},listing:e=>{let[t,n,r,i]=Ue(e),[s,l]=M(e),o=je(e.lists,"lists"),u=Array.from({length:l
},(e,t)=>o.slice(t*n,(t+1)*n));return a(o.length===l*n&&u.every(e=>new Set(e).size===n&&e.every(e=>e<t)),"lists"),{names:"Optimal",ratio:i,inside:s,
draw:(e,t)=>r(u[e],t)}}};function _e({domain:e,outside:t},n,r){let i=e.sides,s=i.map(e=>e[0])
;return a("box"===e.kind&&"clip"===t&&i.length>1&&i.length<9,"domain"),a(new Set(s).size===i.length&&s.every(e=>"string"==typeof e),"domain"),
a(i.length===n.length&&i.every(([,e,t,...r],a)=>!r.length&&e===n[a][0]&&t===n[a][1]),r),e=>{let t=Array.isArray(e)?[...e]:s.map(t=>e?.[t])
;return t.length===i.length&&t.every(Number.isFinite)?t.map((e,t)=>Math.min(Math.max(e,n[t][0]),n[t][1])):void 0}}function Je(e){
for(let t=1;t<e.length;t*=2)for(let n=0;n<e.length;n+=2*t)for(let r=n;r<n+t;r++){let n=e[r],a=e[r+t];e[r]=n+a,e[r+t]=n-a}return e}
var ze=e=>BigInt.asUintN(64,e);function Pe(e,t){let n=new Float64Array(t);for(let r=0;r<t;r+=64){let a=ze(0x9e3779b97f4a7c15n*(e+BigInt(r>>6)+1n))
;a=ze(0xbf58476d1ce4e5b9n*(a^a>>30n)),a=ze(0x94d049bb133111ebn*(a^a>>27n)),a^=a>>31n;let i=[Number(0xffffffffn&a),Number(a>>32n)]
;for(let e=0;e<64&&r+e<t;e++)n[r+e]=1-2*(i[e>>5]>>>(31&e)&1)}return n}var De=e=>BigInt.asUintN(64,e),Re={hashed:e=>{let[t]=M(e)
;a("affine 1"===e.hash,"draw");let n=u(e,"buckets",2,65536),[r,i]=T(e,n);return{names:"OLH BLH",ratio:i,inside:t,draw:(e,t)=>{let a=b(t,47)
;return Uint8Array.of(...x(r(((e,t,n)=>{let r=De(0x9e3779b97f4a7c15n*(BigInt(e)+1n));r=De(0xbf58476d1ce4e5b9n*(r^r>>30n)),
r=De(0x94d049bb133111ebn*(r^r>>27n)),r^=r>>31n;let a=BigInt.asUintN(32,(r>>32n)*BigInt(t)+r);return Math.floor(Number(a)*n/2**32)
})(a,e,n),t),2),...x(a,6))}}},hadamard:e=>{let[t,n]=M(e),r=u(e,"order",n+1,2**32),[i,s,l]=S(e,"heads")
;return a(Number.isInteger(Math.log2(r))&&r<=2*n,"cells"),{names:"HadamardResponse",ratio:[s,l],inside:t,draw:(e,t)=>{
let n=e+1,a=0|b(t,Math.log2(r)),s=n&a;for(let e=16;e;e>>=1)s^=s>>>e;return(1&s)===i(t)&&(a^=n&-n),A(a>>>0,r)}}}
},Fe=1n<<128n,Le=(e,t)=>e.reduce((e,n,r)=>n*e[1]>e[0]*t[r]?[n,t[r]]:e,[0n,1n]);function Ge(e){
let t=Math.max(1,32-Math.clz32(e.length-1)),n=1n<<BigInt(128-t),r=Array.from({length:2**t
},(t,n)=>e[n]??0n),a=r.map(()=>0n),i=r.map((e,t)=>t),s=[],l=[];r.forEach((e,t)=>(e<n?s:l).push(t));for(let e;void 0!==(e=s.pop());){let t=l.at(-1)
;a[e]=r[e],i[e]=t,r[t]-=n-r[e],r[t]<n&&s.push(l.pop())}return e=>{let n=e.take(t+7>>3),r=g(n,0,n.length)>>8*n.length-t;return((e,t)=>{
let n=0n,r=e.take(t+7>>3);for(let e=r.length;e--;)n=n<<8n|BigInt(r[e]);return n>>BigInt(8*r.length-t)})(e,128-t)<a[r]?r:i[r]}}
var Ke=1n<<256n,We=e=>e.reduce((e,t)=>e+t,0n),Ye=e=>{let[t,n]=M(e),r=u(e,"order",2,2**21),i=u(e,"dimension",2,21),s=2;for(;r%s;)s++
;let l=Math.round(Math.log(r)/Math.log(s)),o=(r**i-1)/(r-1),c=(r**(i-1)-1)/(r-1);a(s**l===r&&o>=n&&o<=2**21,"cells")
;let h=e.polynomial.map(t=>u(e,"polynomial",0,s-1,t));a(h+""==((e,t)=>{let n=e**t-1,r=[],a=n
;for(let e=2;a>1;e=e*e>a?a:e+1)for(a%e===0&&r.push(e);a%e===0;)a/=e;let i=Array.from({length:t},(e,t)=>+!t);for(let a=e+1;;a++){
let s=i.map((t,n)=>Math.floor(a/e**n)%e),l=n=>n.map((r,a)=>((n[a-1]??0)+n[t-1]*(e-s[a]))%e),o=(t,n)=>n.reduceRight((n,r)=>l(n).map((n,a)=>(n+r*t[a])%e),i.map(()=>0)),u=e=>{
let t=i;for(let n=l(i);e;e=Math.floor(e/2),n=o(n,n))e%2&&(t=o(t,n));return t+""==i+""};if(u(n)&&!r.some(e=>u(n/e)))return s}
})(s,l*i)+"","number","polynomial");let p=d(e,"own",32),m=d(e,"other",32),g=u(e,"bits",64,128),y=BigInt(c)*p,b=y+BigInt(o-c)*m
;a((64===g||128===g)&&0n<m&&m<p,"step"),a(b<=1n<<BigInt(g)&&b>=1n<<BigInt(g-1),"step");let v=((e,t,n,r,a)=>{let i=t*n,s=t*a,l=new Uint32Array(s+i)
;l[i-1]=1;for(let t=0;t+i<s;t++){let n=0;for(let e=0;e<i;e++)n+=r[e]*l[t+e];l[t+i]=(e-n%e)%e}let o=[],u=[];for(let e=0;e<a;e++){let n=!0
;for(let r=0;r<t;r++)n&&=0===l[e+r*a];(n?o:u).push(e)}return Uint32Array.from([...o,...u])})(s,l,i,h,o),k=Uint8Array.from({length:4*c
},(e,t)=>v[t>>2]>>>8*(3&t));return a(f(k)===e.set,"fingerprint"),{names:"ProjectiveResponse",ratio:[p,m],inside:t,draw:(e,t)=>{let n;do{
let e=t.take(g>>3);n=g>64?w(e.subarray(8))<<64n|w(e):w(e)}while(n>=b);let r=n<y?Number(n/p):c+Number((n-y)/m);return A(((v[r]-e)%o+o)%o,o)}}
},He=e=>[1,2,4,8].find(t=>256**t>=e);function Ve(e){let{draw:t,order:n,dimension:r}=e;a(["response","indices","projective"].includes(t),"draw")
;let i="response"===t?e.cells:"indices"===t?e.size:(n**r-1)/(n-1),s={domain:{kind:"categories",count:"projective"===t?2:i},outside:"refuse"
},l=("projective"===t?Ye:C[t])(new Proxy(e,{get:(e,t)=>s[t]??e[t]}));return{count:i,chosen:"indices"===t?e.chosen:1,draw:l}}var Xe={questions:e=>{
let{domain:t,outside:n}=e;a("profile"===t.kind&&"refuse"===n&&Array.isArray(t.attributes),"domain")
;let r=[...t.attributes].map(([e,t,...r])=>(a("string"==typeof e&&!r.length,"domain"),[e,...M({domain:t,outside:n})]))
;a(r.length>1&&r.length<=64&&new Set(r.map(([e])=>e)).size===r.length,"domain")
;let i=[...e.draws].map(Ve),[s,l]=[0,0],o=[...e.questions].map(([e,t,n,o,...d])=>{
let c=[...e].map(e=>u({},"questions",0,r.length-1,e)),{count:h}=i[u({},"questions",0,i.length-1,o)],p=c.reduce((e,t)=>e*r[t][2],1)
;return a(!d.length&&c.length&&new Set(c).size===c.length&&p<=2**21&&t.length===p&&(l+=p)<=2**21,"draw"),s+=u({},"questions",1,2**32,n),{places:c,
table:[...t].map(e=>u({},"questions",0,h-1,e)),inner:i[o],end:s}});a(s===2**32&&o.length<=16384,"draw")
;let d=o.map(e=>e.inner.draw.ratio),c=Math.max(...i.map(({chosen:e})=>e)),h=He(Math.max(o.length,...i.map(({count:e})=>e)));return{names:"Marginals",
ratio:d.reduce((e,t)=>t[0]*e[1]>e[0]*t[1]?t:e),inside:e=>{if(Object(e)!==e||Object.keys(e).length!==r.length)return
;let t=r.map(([t,n])=>Object.hasOwn(e,t)?n(e[t]):void 0);return t.includes(void 0)?void 0:t},draw:(e,t)=>{
let n=g(t.take(4)),a=o.reduce((e,{end:t})=>e+ +(n>=t),0),{places:i,table:s,inner:l}=o[a],u=i.reduce((t,n)=>t*r[n][2]+e[n],0),d=l.draw.draw(s[u],t),p=He(l.count),f=Array.from({
length:c},(e,t)=>t<l.chosen?g(d,t*p,(t+1)*p):0);return Uint8Array.from([a,...f].flatMap(e=>[...x(e,h)]))}}}};function Ze(e,t){let n=1n
;for(let r=0;r<t;r++)n=n*BigInt(e-r)/BigInt(r+1);return t<0?0n:n}function Qe(e,t){let n=(t-1n).toString(2).length*+(t>1n);for(;;){let r=0n
;for(let t of e.take(n+7>>3).reverse())r=r<<8n|BigInt(t);if(r>>=BigInt(7&-n),r<t)return r}}var et=(e,t)=>t.reduce((t,n)=>t+ +((e-=n)>=0n),0)
;function tt(e){let{domain:t}=e;a("several"===t.kind,"domain");let n={kind:"categories",count:t.count,get labels(){return t.labels}},[r,i]=M({
domain:n,outside:e.outside}),s=u(t,"most",1,i);return a(i<=2**20,"cells"),{items:i,most:s,domain:{
inside:e=>Array.isArray(e)?E([...new Set(e.flatMap(e=>r(e)??r("other")??[]))]):void 0,
leftOut:e=>[e].flat().filter(e=>void 0===(r(e)??r("other"))).length},elements:(e,t)=>{let n=[...e];for(let e=0;n.length>s&&e<s;e++){
let r=e+v(t,n.length-e);[n[e],n[r]]=[n[r],n[e]]}n.length=Math.min(n.length,s),E(n);for(let e=i;n.length<s;e++)n.push(e);return n}}}function nt(e){
let t=e.values.map(e=>d({text:e},"text",1024));a(t.length&&t.at(-1)>0n&&t.every((e,n)=>!n||e<t[n-1]),"step");let n=new Set,r=e.rows.map(r=>{
let i=r.map(r=>{let a=u(e,"rows",0,t.length-1,r);return n.add(a),a});a(i.length&&i.length<=65536,"step")
;let s=i.reduce((e,n)=>e+t[n],0n),l=i.map(e=>((t[e]<<128n)+s-1n)/s);return l[i.indexOf(i.reduce((e,t)=>Math.min(e,t)))]-=l.reduce((e,t)=>e+t,0n)-Fe,
a(l.every(e=>e>0n),"step"),l}),i=r[0]?.length??0;a(r.length&&r.length<=1024&&r.every(e=>e.length===i)&&n.size===t.length,"step")
;let s=r[0].map((e,t)=>r.map(e=>e[t])),l=Le(s.map(e=>e.reduce((e,t)=>e>t?e:t)),s.map(e=>e.reduce((e,t)=>e<t?e:t)));return[r.map(Ge),i,l]}
var rt=32768,at={channel:e=>{let[t,n]=k(e),[r,i,s]=nt(e),l=e.start,d="points"===l.kind,c=(d?l.points:l.edges).map(e=>o({edge:e},"edge"))
;a(d||"edges"===l.kind,"start"),a(c.every((e,t)=>!t||(d?e>c[t-1]:e>=c[t-1])),"start");let h=(e,t)=>e.reduce((e,n)=>e+ +(n<=t),0);if(d){
a("interval"===e.domain.kind&&c.length>1&&c.length===r.length&&c[0]===n[0]&&c.at(-1)===n[1],"start");let l=c.slice(1,-1);return{
names:"Exponential Cumulative Matrix",ratio:s,inside:t,draw:(e,t)=>{let n=h(l,e),a=Math.floor((e-c[n])/(c[n+1]-c[n])*2**32+.5)
;return A(r[n+ +(b(t,32)<a)](t),i)}}}let p=l.labels.map(e=>u(l,"labels",0,r.length-1,e));return a(p.length===c.length+1,"start"),{
names:"Exponential Cumulative Matrix",ratio:s,inside:t,draw:(e,t)=>A(r[p[h(c,e)]](t),i)}},table:e=>{let[t,n]=M(e),[r,i,s]=nt(e)
;return a(r.length===n,"step"),{names:"Cumulative Workload Matrix",ratio:s,inside:t,draw:(e,t)=>A(r[e](t),i)}},splines:e=>{
let[t,n,r]=nt(e),i=u(e,"pieces",1,16),s=e.ends.map(([e,t,...n])=>(a(!n.length,"domain","ends"),[o({low:e},"low"),o({high:t},"high")]))
;a(s.length&&s.length<9&&t.length===(i+2)**s.length,"step");let l="interval"===e.domain.kind&&k(e)
;a(!l||1===s.length&&l[1].every((e,t)=>e===s[0][t]),"domain","ends");let d=l?void 0:_e(e,s,"domain")
;return a(s.every(([e,t])=>e>=-1e30&&t<=1e30&&t-e>=1e-30),"domain"),{names:"JointMoments",ratio:r,inside:e=>{if(d)return d(e);let t=l[0](e)
;return void 0===t?t:[t]},draw:(e,r)=>{let a=e.reduce((e,t,n)=>e*(i+2)+((e,[t,n],r)=>{
let a=i*rt,s=Math.min(Math.max(Math.floor((e-t)/(n-t)*a+.5),0),a),l=Math.min(Math.floor(s/rt),i-1),o=s-l*rt,u=(rt-o)**2*(l?1:2),d=o**2*(l<i-1?1:2),c=g(r.take(4))>>>1
;return l+ +(c>=u)+ +(c>=2147483648-d)})(t,s[n],r),0);return A(t[a](r),n)}}}};function it(e){let t={},n=e.map(({fingerprint:e,report:t})=>e+t).sort()
;for(let e of n)(t[e.slice(0,32)]??=[]).push(e.slice(32));return t}
var st=e=>Uint8Array.from(e.match(/../g)??[],e=>parseInt(e,16)),lt=(e,t,n)=>JSON.stringify({batch:e,dither:2,label:t,reports:it(n)})
;function ot(e,t,n){let r={};try{r=Object(s(n))}catch{}
let[a,i]=[r.refused,r.words].map(e=>"string"==typeof e?e:""),l=409===t?"conflict"===a:t>=200&&t<300&&r.batch===e,o=a&&"sealed"!==a&&"label"!==a&&[400,410,413,415,422].includes(t)
;return{fate:l?"acknowledged":o?"dropped":"kept",reason:a,words:i}}function ut(e,t=globalThis.navigator?.languages??[]){let n=e=>e.split("-")[0]
;for(let r of t){let t=e.find(e=>e===r)??e.find(e=>n(e)===n(r));if(t)return t}return e[0]??""}function dt({consent:e,agreed:t},n,r=""){
let a=n&&t?.[n.general];if(!a)return null!==a&&!1!==e&&(n?void 0:e);let{questions:i,begins:s,ends:l,address:o=""}=a
;return n.questions.every(e=>i.includes(e))&&s<=n.begins&&n.ends<=l&&(!r||r.startsWith(o))||void 0}function ct(e,t,n){let r=dt(e,t,n)
;if(void 0!==r)return r?void 0:"the person does not want to answer"
;let a=e.consent||Object.keys(e.agreed??{})[0]?"the person was asked about something else":(()=>{let{navigator:e,process:t}=globalThis
;return e?.globalPrivacyControl?"Global Privacy Control":["DO_NOT_TRACK","NO_TELEMETRY"].find(e=>!["","0","false","no",void 0].includes(t?.env?.[e]?.toLowerCase()))
})()?.concat(" is set");return a&&`${a}: ask the person, and call device.consent(true${t?", campaign":""}) if they agree`}
var ht=e=>(a(e?.asked,"asking","expected an inquiry of device.asking"),e),pt=(e,t)=>({is:"refused",reason:e,words:t})
;async function ft(e,t,n,{fetch:r=globalThis.fetch,pack:a},i){let s={sent:0,waiting:0,refused:[],retryAfter:0},l=(e,t)=>[{},JSON.stringify({refused:e,
words:""+t})];for(let o;o=await e();){let{id:e,body:u}=o,d="application/"+(a?"vnd.dither.batch":"json"),[{status:c,headers:h},p]=u?await R(r,n,65536,{
method:"POST",body:u,headers:{"content-type":d},keepalive:u.length<6e4
}).then(async([e,t])=>[e,await t.text()]).catch(e=>l("unreachable",e)):l("consent",o),{fate:f,reason:m,words:g}=ot(e,c,p),{reports:w=0}="kept"!==f&&await t(e,f)
;if("acknowledged"===f?s.sent+=w:s.refused.push({reason:m||"status "+c,words:g||"no collector at …/campaigns/<id>/batches; it may have moved",
dropped:w}),s.retryAfter=Math.min(Math.max(+h?.get("retry-after")||0,0),86400)*(1+i.take(1)[0]/1024),"kept"===f)break}return s}var mt={
open:async({epsilon:e,delta:t=0,store:n,source:i=m(),policy:s,rules:l=te}={})=>{
a(n?.update,"store","expected store: indexedStore() in a browser, fileStore(folder) of dither-ldp/node, memoryStore() in tests"),
a(l?.open,"rules","expected rules: allRules()"),
a(e>0&&e<2**20&&t>=0&&t<1&&[e,t].every(Number.isFinite),"epsilon","expected epsilon > 0, and delta < 1");let o={...F,...s
},u=()=>p(i.take(16)),d=Math.floor(Date.now()/1e3),c={epsilon:V(e,64),delta:V(t,128),lifetime:null},h={account:3,person:u(),device:u(),limits:{...c,
...Q},own:c,born:d,clock:{wall:d,boot:"",elapsed:0,ahead:0},openings:null,askers:[],entries:[],answers:[],choices:[],queue:[]};await n.update((e={
state:h,key:u()+u()})=>(a(e.state,"account"),[0,{...e,state:l.open(fe(e.state),e.state===h)}]));let f=e=>n.update(t=>{a(t,"account")
;let[n,r,i]=e(t.state,t);return[n,r&&{...t,state:r,...i&&{key:u()+u()}}]}),g=(e,t,{epsilon:n,delta:r})=>{
let{reason:a}=e,i="budget"===a?`ε = ${n}, δ = ${r} is too much; ε = ${+l.left(t).toPrecision(9)} is left`:"policy"===a?"policy of this device, for one answer: "+JSON.stringify(o):""
;return i?{...e,words:i}:e},w=(e,{label:t="",pack:n=lt},r)=>{for(let n of[e].flat()){let{terms:e}=ht(n)
;a(!t||(e.labels?.includes(t)??!0),"label",`${JSON.stringify(t)} is not in the campaign; it lists ${JSON.stringify(e.labels)}`)}return f((a,i)=>{
let[s,l,o]=((e,t,n,r)=>{let a=e.queue.filter(e=>se(e)&&r(e)),i=a.find(e=>e.batch)?.batch;if(i)return[i,e.queue.filter(e=>e.batch===i)]
;let s=a.filter(e=>a.find(({fingerprint:t})=>t===e.fingerprint)===e).slice(0,1e3);return[t,s,s[0]&&{...e,queue:e.queue.map(e=>s.includes(e)?{...e,
batch:t}:e)}]})(a,u(),0,b(e)),d=l[0]&&[e].flat().map(({terms:e})=>ct(i,e.shown,r)).find(Boolean);return d?[d]:[l[0]&&{id:s,body:n(s,t,l)},o]})
},y=({ends:e=1/0})=>Date.now()/864e5>=e+1?pt("ended","the campaign ended on "+new Date(864e5*e).toISOString().slice(0,10)):void 0,b=e=>t=>[e].flat().some(({asked:e})=>W(t,e))
;return{asking(e,t){a(Object(t)===t&&"string"==typeof e,"asking","expected the text of a question, and terms: { name, asker }")
;let n=J(e,t.name),{name:i,asker:s,repeat:o="fresh",assumes:u=[],data:d=null,days:c=null,start:h=null,times:p,every:m,limit:g,phase:w,changes:y}=t,b=y?l.changes?.of(n,c,y):n
;if(!b)throw new r("asking","changes: see dither-ldp/changes",i);let{mechanism:v,epsilon:k,delta:M,fingerprint:x,spend:A}=b
;if(["name","asker"].forEach(e=>a(t[e]&&"string"==typeof t[e],"asking",e+": expected a text")),!A!=!p)throw new r("asking","times",i)
;let[S,q]=A?.(k,p)??[k,[]],O=Math.exp(S),N={question:i,asker:s,fingerprint:x,mechanism:v,epsilon:S,delta:M,assumes:u.concat(q),repeat:o,days:c,
start:h,data:d,...p&&{times:p},...m&&{every:m},...g&&{limit:g},...w&&{phase:w},...y&&{changes:y}}
;if(!l.knows(N))throw new r("asking",`repeat = ${o}: not with these rules, days, start and data; see dither-ldp/rules`,i);return{question:b,terms:t,
asked:N,text:e=>t.text?.[ut(t.languages??[],e)]??i,labels(e){let{labels:n=[]}=JSON.parse(b.device).domain,r=t.names?.[ut(t.languages??[],e)]
;return n.map(e=>Object(e)===e?e.number:e).map((e,t)=>({value:e,text:r?.[t]??String(e)}))},promise:()=>f(e=>[{epsilon:S,odds:O,reach:O/(1+O),
left:l.left(e),assumes:re(N,l)}])}},async answer(e,t,n=u()){
let{question:r,terms:a,asked:s}=ht(e),{otherwise:d,times:c,name:h}=a,m=[a.value?a.value(t):t,d].map(r.inside).find(e=>void 0!==e&&(!c||e.length===c))
;return void 0===m?pt("value",`question "${h}": expected ${void 0===t?"a value, got undefined":(({form:e,scale:t},{device:n})=>e?`a ${e}, such as ${"time"===e?"13:45":"2026-05-01"}`:t?`a number from ${t[0]} to ${t.at(-1)}`:JSON.stringify(JSON.parse(n).domain).slice(0,300))(a,r)+"; declare otherwise for all others"}`):f((e,u)=>{
let d=e=>l.source?.(u.key,s,m,e)??i,c=ct(u,a.shown),h=c?pt("consent",c):y(a);if(h)return[h];let[f,w]=de(e,n,s,o,l,{report:()=>p(r.draw(m,d(0))),
mark:()=>p(d(1).take(16)),source:i,change:e=>l.changes.draw(r,m,s,e,u.key,i)}),b=r.leftOut?.(t);return[{...g(f,e,s),...b&&{leftOut:b}},w]})},
async dryRun(e){let{asked:t,terms:n}=ht(e);return f((e,r)=>{let a=ct(r,n.shown);return[a?pt("consent",a):y(n)??g(de(e,"",t,o,l)[0],e,t)]})},
consent:(e,t,r)=>n.update(n=>{if(a(n,"account"),a(!e||!0===e&&(!t||t.shown),"asking","expected true or false, and a campaign of fetchCampaign"),
void 0===e)return[!ct(n,t?.shown)];let{shown:i,terms:s,questions:l}=t??{},{agreed:o}=n,u=i?{...n,agreed:{...o,[i.general]:e?{...i,
address:r?.replace(/campaigns\/\w+$/,"")}:null}}:{...n,consent:e,agreed:e?o??{}:{}};if(e&&!1===dt(n,i)){
let[e]=ce(n.state,e=>!i||e.asker===s.asker&&e.name===s.name)
;u.state=(e=>e.queue.filter(e=>se(e)&&(e=>!i||e.asker===s.asker&&e.question in l)(e)).reduce((e,{id:t,batch:n})=>(n?he:pe)(e,t)[1]??e,e))(e)}
return[!ct(u,i),u]}),act:()=>f(e=>l.act?.(e)??[{is:"acted"}]),chosen:e=>n.update(t=>[t&&dt(t,e?.shown)]),async body(e,t={}){let n=await w(e,t)
;return"string"==typeof n?void 0:n},acknowledge:e=>f(t=>he(t,e)),async send(e,t,n={}){
let r=[e].flat()[0]?.terms?.taken??he,a=await ft(()=>w(e,n,t),(e,t)=>f(n=>("dropped"===t?pe:r)(n,e)),t,n,i)
;return a.waiting=await f(({queue:t})=>[t.filter(t=>se(t)&&b(e)(t)).length]),a},account:(e=e=>[e])=>f((t,n)=>e(t,l,n,o,i))}}};function gt(){let e
;return{async update(t){let[n,r]=t(e&&JSON.parse(e));return r&&(e=JSON.stringify(r)),n}}}function wt(e="dither"){
let{caches:t,indexedDB:n,navigator:r}=globalThis
;a(n,"store","IndexedDB is missing here: use fileStore(folder) of dither-ldp/node, or memoryStore() in tests")
;let i,s,l=(e,t="onsuccess")=>new Promise((n,r)=>{e[t]=()=>n(e.result),e.onerror=e.onabort=()=>r(e.error)}),o=(async()=>{
i=await(t?.open(e).catch(()=>{}));for(let e of["/0","/1"]){let t=await((await(i?.match(e)))?.json().catch(()=>({turn:0})))
;t?.turn>=(s?.turn??0)&&(s=t)}let r=n.open(e,1);return r.onupgradeneeded=()=>r.result.createObjectStore(e),l(r)})(),u=async t=>{
let n=(await o).transaction(e,"readwrite",{durability:"strict"}),r=n.objectStore(e),a=await l(r.get(1))??s,[u,d]=t(a),c=d&&{...d,turn:(a?.turn??0)+1}
;return c&&r.put(c,1),await l(n,"oncomplete"),c&&await(i?.put("/"+c.turn%2,new Response(JSON.stringify(c)))),u};return{
update:n=>t?r.locks.request(e,()=>u(n)):u(n)}}var[yt,bt]=[60,3600];function vt(e,t,n,{onSend:r,onError:a,...i}={}){
let s,{document:l,addEventListener:o,removeEventListener:u}=globalThis,[d,c,h,p]=[!1,!1,0,yt];async function f(){if(!(d||c||Date.now()<h)){d=!0,
clearTimeout(s);try{let a=await e.send(t,n,i),{waiting:l,retryAfter:o}=a,u=o>0?Math.min(Math.max(o,1),24*bt):0;h=Date.now()+1e3*u,
p=l?Math.min(2*p,bt):yt,l&&!c&&(s=setTimeout(f,1e3*(u||p/2))),r?.(a)}catch(e){a?.(e)}finally{d=!1}}}return o?.("online",f),
l?.addEventListener("visibilitychange",f),f(),{send:f,stop(){c=!0,clearTimeout(s),u?.("online",f),l?.removeEventListener("visibilitychange",f)}}}
var kt=86400,Mt={day:kt,week:7*kt,year:366*kt,lifetime:1/0};function xt(){let{performance:e}=globalThis;return{wall:Math.floor(Date.now()/1e3),
boot:String(Math.round(e.timeOrigin)),elapsed:Math.floor(e.now()/1e3)}}function At(e,t){let n=Math.floor(t/kt)
;return"day"===e?n:"week"===e?Math.floor((n+3)/7):"year"===e?new Date(n*kt*1e3).getUTCFullYear():0}function St(e,{wall:t,boot:n,elapsed:r}){
let a=n===e.boot;a&&(r=Math.max(r,e.elapsed));let i=a?r-e.elapsed:0,s=Math.max(e.wall,t);return{wall:s,boot:n,elapsed:r,ahead:e.ahead+s-e.wall-i}}
var qt=(e,t)=>e.filter(e=>e.first<=t&&t<=e.last);function Ot({entries:e,device:t,own:n,limits:r},a){
let{asker:i,first:s,last:l}=a,o=[...e,a],u=o.filter(e=>e.device===t),d=Object.hasOwn(r.quotas,i)?r.quotas[i]:r.quota,c=(e,t)=>{
for(let n=s;n<=l;n++)if(!t(qt(e,n)))return!1;return!0},h=o.filter(e=>e.asker===i);if(null!==d&&!c(h,e=>X(e,{epsilon:d,delta:"0"
},"epsilon")>=0n))return"quota";for(let[e,t]of[[u,n],[o,r]]){if(!c(e,e=>Z(e,t)))return"budget";if(t.lifetime&&!Z(e,t.lifetime))return"lifetime"}}
function Nt(e,{asker:t,question:n,fingerprint:r},a,i){let s=JSON.stringify([e,i,t,n,r,a]),l=0,o=[];return{take(t){
for(;o.length<t;)o.push(...h(c(`${l++} ${s} ${e}`)));return Uint8Array.from(o.splice(0,t))}}}function It({start:e,days:t,every:n},r){
if(!n)return[e+Math.floor((r-e)/t)*t,t];if("day"===n)return[r,1];if("week"===n)return[r-(r+3)%7,7]
;let a=new Date(r*kt*1e3),i=Date.UTC(a.getUTCFullYear(),a.getUTCMonth())/1e3/kt;return[i,Date.UTC(a.getUTCFullYear(),a.getUTCMonth()+1)/1e3/kt-i]}
function Bt({epoch:e="lifetime",lifetime:t,quota:n,askers:r,now:i=xt,changes:s}={}){
a(Object.hasOwn(Mt,e),"rules","epoch: expected one of "+Object.keys(Mt));for(let[e,r]of Object.entries({lifetime:t,quota:n}))a(void 0===r||o({[e]:r
},e)>=0,"epsilon",e);return void 0!==r&&u({askers:r},"askers",0,2**52),{changes:s,
assumes:({repeat:e,times:t})=>ae(t).concat("per value"===e?["the value never changes","the device's key stays on the device"]:[]),open(a,s){
if(!s)return a;let l=i(),o={...a.own,lifetime:void 0===t?null:{epsilon:V(t,64),delta:a.own.delta}},u={...o,epoch:e,quota:void 0===n?null:V(n,64),
quotas:{},askers:r??null};return{...a,own:o,limits:u,born:l.wall,clock:{...l,ahead:0},openings:u.askers}},knows(e){
let{repeat:t,days:n,start:r,data:a,every:i}=e;if("kept change"===t)return!!s?.knows(e)&&null===a&&!i;if(e.changes)return!1
;let l=(...e)=>e.every(Number.isInteger)
;return("once"===t?i?["day","week","month"].includes(i)&&n===r&&null===n:l(n,r)&&n>0:["fresh","same","per value"].includes(t)&&n===r&&null===n)&&(null===a||Array.isArray(a)&&2===a.length&&l(...a))
},decide(e,t,n,r,a){let{limits:l,born:o}=e,u=St(e.clock,i());if(u.ahead>Mt[l.epoch])return G("clock")
;let d="kept change"===t.repeat&&It(t,Math.floor(u.wall/kt))[0],[c,h]=d?[d*kt,(d+t.days)*kt]:t.data??[u.wall,u.wall+1]
;if(d)n.data=[c,h];else if(!(c<h&&h<=u.wall+1))return G("data");if(n.first=At(l.epoch,Math.max(c,o)),n.last=At(l.epoch,Math.max(h-1,o)),
n.last-n.first>=366)return G("data");let p={...e,clock:u};if(!p.askers.includes(t.asker)){if(0===p.openings)return G("asker")
;p.askers=[...p.askers,t.asker].sort(),null!==p.openings&&p.openings--}let f,{phase:m,asker:g}=t;if(m){
let e=p.coins??[],t=e.find(e=>e.asker===g&&e.name===m.name),n=(t,n)=>({...p,coins:[...e,{asker:g,name:m.name,campaign:n,heads:t}]})
;if(void 0===m.follows){if(!t&&!a)return[{is:"silent"}];if(t||(p=f=n(v(a.source,1e3)<m.share,m.campaign)),
!(t??p.coins.at(-1)).heads)return[G("phase")[0],f]}else{
if(e.some(e=>e.heads&&e.asker===g&&(e.name===m.name||e.campaign===m.follows)))return G("phase");t||(p=n(!1,m.follows))}}
if(d)return s.decide(p,f,t,n,e=>ne(e.entries,t)?"answers":Ot(e,n),a)
;let w,y="per value"===t.repeat&&a&&(r??n).device===p.device&&a.mark(),b=y?!p.told?.includes(y):void 0;if(b&&(p.told=[...p.told??[],y]),
r)return[void 0,p,b];if("once"===t.repeat){let n,r=Math.floor(u.wall/kt);if([w,n]=((e,t,n,r)=>{
let[a,i]=It(t,n),s=e.choices.find(e=>W(e,t)&&"once"===(e.repeat??"once")&&e.period===a);if(s||!r)return[s];let l={...K(t),repeat:"once",period:a,
day:a+v(r,i),device:e.device,answer:null};return[l,{...e,choices:[...e.choices,l]}]})(p,t,r,a?.source),p=f=n??f??p,
!n&&p===f&&!p.coins&&p.choices===e.choices&&(f=void 0),w?.day!==r||null!==w.answer)return[{is:"silent"},f]}let k=ne(p.entries,t)?"answers":Ot(p,n)
;return k?[G(k)[0],f]:[void 0,w?{...p,choices:p.choices.map(e=>e===w?{...e,answer:n.id}:e)}:p,b]},
source:(e,t,n,r)=>"per value"===t.repeat?Nt(e,t,n,r):void 0,left({entries:e,own:t,limits:n,device:r,clock:a}){
let s=At(n.epoch,Math.max(i().wall,a.wall)),l=e.filter(e=>e.device===r),o=X(qt(l,s),t,"epsilon"),u=t.lifetime?X(l,t.lifetime,"epsilon"):o
;return ee(u<o?u:o,t)},act:e=>[{is:"acted"},{...e,clock:{...St(e.clock,i()),ahead:0},openings:e.limits.askers}]}}function Et(e,t){
let n=(t-1n).toString(2).length*+(t>1n),r=n+7>>3;for(;;){let a=e.take(r).reduceRight((e,t)=>e<<8n|BigInt(t),0n)>>BigInt(8*r-n);if(a<t)return a}}
function jt(e){let t=[1n];for(let n=0;n<e;n++)t.push(t[n]*BigInt(e-n)/BigInt(n+1));return t}function Ut(e,t){let[n,r]=[0,e[0]];for(;t>=r;)r+=e[++n]
;return n}function $t(e,t,{period:n,changes:r},a){let[i=0,s=0]=Nt(e,t,[n,a],2).take(2);return 1===r?1&i:i+256*s}var Tt={
knows:({days:e,start:t,changes:n})=>[e,t,n].every(Number.isInteger)&&n>=1&&n<=1e3&&e>n,of(e,t,n){let{domain:r,cells:a}=JSON.parse(e.device)
;if("response"!==e.kind||"categories"!==r.kind||2!==a)return
;let i=f(c(`{"changes":${n},"days":${t},"draw":"kept change${n>1?"s":""}","part":${e.device}}`));return{...e,fingerprint:i,inside:t=>{
let n=Array.isArray(t)?[...t].map(e.inside):[void 0];return n.includes(void 0)?void 0:n}}},decide(e,t,n,r,a,i){
let s=Math.floor(e.clock.wall/kt),[l]=It(n,s),o=e.choices.find(e=>W(e,n)&&"kept change"===e.repeat&&e.period===l);if(!o&&i){
let r=1+(n.days-1).toString(2).length;o={...K(n),repeat:"kept change",period:l,day:v(i.source,r*n.changes),device:e.device,answer:null},e=t={...e,
choices:[...e.choices,o]}}let u=o&&((e,t,n,r)=>{if(n.device!==e.device)return
;let[a,i]=[t.days,t.changes],s=Math.floor(n.day/i),l=r-n.period,o=s?2**(s-1):1,u=s?l===a-1?Math.ceil(l/o):Math.floor(l/o):1,d=e.trees?.find(e=>W(e,t)&&e.period===n.period),c=d?.intervals??0,h=s?Math.ceil((a-1)/o):1
;return u>c?{period:n.period,group:s,changes:i,all:h,days:l+1,before:c,mark:d?.mark??null,intervals:u}:void 0})(e,n,o,s);if(!u)return[{is:"silent"},t]
;let d=null===o.answer;if(!d&&!ue(e.entries.find(({id:e})=>e===o.answer),r))return G("changed");let c=d&&a(e);if(c)return[G(c)[0],t]
;let h=i?.change(u);if(i&&!h)return[{is:"refused",reason:"value",
words:`question "${n.question}": expected the values of all ${u.days} days of the period so far`},t];let[p,f]=h??[],m={...e}
;d&&(m.entries=[...e.entries,r],m.choices=e.choices.map(e=>e===o?{...e,answer:r.id}:e));let g=e.trees?.filter(e=>!W(e,n)||e.period!==l)??[]
;return m.trees=[...g,{...K(n),period:l,intervals:u.intervals,mark:f}],m.queue=[...e.queue,{...K(n),id:r.id,report:p,batch:null}],[{is:"drawn",
charged:d?r.epsilon:"0",report:p},m]},draw(e,t,n,r,a,i){if(t.length!==r.days)return
;let s=null===r.mark?0:$t(a,n,r,r.before)^r.mark,[l,o]=((e,t,{group:n,changes:r,all:a,before:i,intervals:s},l,o,u)=>{
let d=n?2**(n-1):1,c=r>1&&n?(([e,t],n,r)=>{let a=jt(n),i=jt(n-1),s=1n<<BigInt(n),l=[];for(let e of a.slice(0,n))l.push((l.at(-1)??0n)+e)
;let[o,u]=[[0n,1n],0];l.forEach((r,a)=>{let s=[i[a],r*(e-t)+(t<<BigInt(n))];s[0]*o[1]>o[0]*s[1]&&([o,u]=[s,a])})
;let[d,c]=[l[u]*e,(s-l[u])*t],h=Et(r,1n<<128n)<(d<<128n)/(d+c),p=[Et(r,l[u]),Et(r,s-l[u])],f=h?Ut(a,p[0]):u+1+Ut(a.slice(u+1),p[1])
;return Array.from({length:n},(e,t)=>{let a=+(v(r,n-t)<f);return f-=a,a})})(e.ratio,Math.min(r,a),o):[],h=0,p=t.map((e,n)=>(n&&e!==t[n-1]&&h++,
t[0]^1&Math.min(h,r))),f=[];for(let r=i;r<s;r++){
let a=b(u,1),[i,s]=[r*d,Math.min((r+1)*d,t.length-1)],o=n>0&&l<(c.length||1)&&p[s]!==p[i],h=o?p[s]:n?a:t[0],m=c.length?o?h^c[l]:a:e.draw(h,u)[0]
;f.push(n,r,m),l+=+o}return[Uint8Array.from(f.flatMap(e=>[...x(e,4)])),l]})(e,t,r,s,Nt(a,n,[r.period,r.group],3),i)
;return[p(l),$t(a,n,r,r.intervals)^o]}};function Ct(e,t,n){let r=c(t),a=Object.entries(it(n)),i=[c("dither\0"),st(e),x(r.length,1),r,x(a.length,2)]
;for(let[e,t]of a)i.push(st(e),x(t[0].length/2,4),x(t.length,4),st(t.join("")));let s=i.map(p).join("");return st(s+f(st(s)))}
var _t=async(...e)=>new Uint8Array(await new Blob(e).arrayBuffer());async function Jt(e,...t){
let{subtle:n}=globalThis.crypto,r=await n.importKey("raw",e,{name:"HMAC",hash:"SHA-256"},!1,["sign"])
;return new Uint8Array(await n.sign("HMAC",r,await _t(...t)))}async function zt(e,t,n,r){
let{subtle:a}=globalThis.crypto,i=await a.importKey("raw",t.slice(0,16),"AES-GCM",!1,[e]);return new Uint8Array(await a[e]({name:"AES-GCM",
iv:n.slice(0,12)},i,r))}
var Pt="HPKE-v1",Dt="KEM\0 ",Rt="HPKE\0 \0\0",Ft=new Uint8Array(32),Lt=async(e,t,n,r,...a)=>(await Jt(e,x(256*r,2),Pt,t,n,...a,"")).slice(0,r)
;function Gt(e){let[,t,n,r]="string"==typeof e&&/^[0-9a-f]{2}0020([0-9a-f]{64})([0-9a-f]{4})((?:[0-9a-f]{8})+)$/.exec(e)||[]
;return a(r&&2*parseInt(n,16)===r.length&&r.match(/.{8}/g).includes("00010001"),"key","expected the sealing_key of a campaign"),st(t)}
async function Kt(e){let t=Gt(e);a(globalThis.crypto?.subtle,"crypto")
;let{subtle:n}=globalThis.crypto,{publicKey:r,privateKey:i}=await n.generateKey("X25519",!1,["deriveBits"]),s=await n.importKey("raw",t,"X25519",!1,[]).then(e=>n.deriveBits({
name:"X25519",public:e},i,256)).catch(()=>a(0,"key"));return[await n.exportKey("raw",r),s,t]}async function Wt(e,t){
let[n,r,a]=await Kt(e),i=st(e.slice(0,2)+"002000010001"),s=await Lt(await Jt(Ft,Pt,Dt,"eae_prk",r),Dt,"shared_secret",32,n,a),l=await Jt(s,Pt,Rt,"secret"),o=await _t("\0",await Jt(Ft,Pt,Rt,"psk_id_hash"),await Jt(Ft,Pt,Rt,"info_hash","message/bhttp request\0",i)),u=(e,t)=>Lt(l,Rt,e,t,o),d=await Lt(await u("exp",32),Rt,"sec",16,"message/bhttp response"),c=await zt("encrypt",await u("key",16),await u("base_nonce",12),t)
;return[await _t(i,n,c),async e=>{let t=await Jt(await _t(n,e.slice(0,16)),d);return zt("decrypt",await Jt(t,"key"),await Jt(t,"nonce"),e.slice(16))
}]}function Yt(e){let t="string"==typeof e?c(e):e,n=t.length
;return(n<64?[n]:n<16384?[64|n>>8,255&n]:[128|n>>24,...x(n,3).reverse()]).concat(Array.from(t))}function Ht(e,t,n=globalThis.fetch){return Gt(t),
async(r,{method:i="GET",body:s,headers:l,keepalive:o,...u}={})=>{let{"content-type":d}=l??{},[c,h]=await Wt(t,((e,t,n="",r="")=>{
let{host:a,pathname:i,search:s}=new URL(t),l=[0,...[e,"https",a,i+s].flatMap(Yt),...Yt(n&&Yt("content-type").concat(Yt(n))),...Yt(r)],o=new Uint8Array(2**Math.max(10,Math.ceil(Math.log2(l.length))))
;return o.set(l),o})(i,r,d,s)),p={...u,method:"POST",body:c,keepalive:!!o&&c.length<65536,headers:{"content-type":"message/ohttp-req"}
},[f,m]=await R(n,e,("GET"===i?2**23:2**17)+1024,p);try{return a(f.ok,"text"),(e=>{let t=0,n=n=>(a((t+=n)<=e.length,"text"),e.subarray(t-n,t)),r=()=>{
let[e]=n(1);return n((1<<(e>>6))-1).reduce((e,t)=>256*e+t,63&e)},i=()=>n(t<e.length?r():0),s=()=>String.fromCharCode(...n(r()));a(1===r(),"text")
;let l=r();for(;l>=100&&l<200;l=r())i();let o=[],u=(t<e.length?r():0)+t;for(;t<u;)o.push([s(),s()]);a(t===u,"text");let d=i();return i(),
a(!e.subarray(t).some(Boolean),"text"),new Response(d.length?d:null,{status:l,headers:o})})(await h(new Uint8Array(await m.arrayBuffer())))}catch{
return Response.error()}}}
var Vt=/[\0-\x1f\x7f-\x9f\u2028\u2029\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e0fff}\ud800-\udfff]/u,Xt=/[^ \n\xa0\xad\u061c\u1680\u2000-\u200f\u202a-\u202f\u205f\u2066-\u2069\u3000\ufe00-\ufe0f]/u,Zt=/[\u202a-\u202e\u2066-\u2069]/g,[Qt,en]=[8236,8297]
;function tn(e){let t=[];for(let n of e.match(Zt)??[]){let e=n.charCodeAt(0);if(e!==Qt&&e!==en)t.push(e<8294?Qt:en);else if(t.pop()!==e)return!1}
return!t.length}function nn(e,t,{characters:n=1/0,size:r=1/0,lines:i=!1}){a("string"==typeof e&&e.length<=4*Math.min(r,n),"terms",t)
;let s=i?e.replaceAll("\n",""):e;a(Xt.test(e)&&!Vt.test(s)&&e.split("\n").every(tn),"terms",t),a([...e].length<=n&&c(e).length<=r,"terms",t)}var rn={
version:2**31-1,people:2**53-1,retry:365,answers:1e6,days:36600,changes:1e3,label_share:999,expects:2**53-1,reports_a_batch:2**31-1},an={
__proto__:null,fresh:[[],["answers"]],same:[[],[]],"per value":[[],[]],once:[[],["days","every"]],"kept change":[["days","changes"],[]],
present:[["every","expects"],["label_share"]]
},sn=["days","changes","every","expects","answers","label_share"],ln=["walk","two copies","divided","prefix","joint response","joint bits","joint hashed","each","sampled","indicator","kept change","kept changes"],on=/^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$/,un={
characters:500
},dn=(e,t)=>Math.abs(e-t)<=1e-9*Math.max(Math.abs(e),Math.abs(t)),cn=e=>Object(e)===e&&!Array.isArray(e),hn=(e,t,n)=>Array.isArray(e)&&e.length>=t&&e.length<=n&&new Set(e).size===e.length,pn=(e,t)=>"string"==typeof e&&e.length===t&&/^[0-9a-f]*$/.test(e)
;function fn(e,t="day"){let n=e[t]
;return a("string"==typeof n&&/^(?!0000)\d{4}-\d\d-\d\d$/.test(n)&&Date.parse(n)==Date.parse(n)&&new Date(n).toISOString().startsWith(n),"terms",t),
Date.parse(n)/864e5}function mn(e,t,n){return a(cn(e)&&t.length&&Object.keys(e).sort()+""==[...t].sort()+"","terms",n),t.map(t=>e[t])}
function gn({labels:e=[],attributes:t=[],sides:n=[]}){let r=t.flatMap(([e,t])=>[e,...gn(t)])
;return[...e.filter(e=>"string"==typeof e),...r,...n.map(([e])=>e)]}function wn(e,t,n,r){for(let e of gn(t))nn(e,"labels",un)
;let i=t=>t in e,{kind:s,low:l=0,high:u,period:d}="optional"===t.kind?t.of:t,[c,h]=["interval"===s,"circle"===s]
;if(i("unit")&&(a((c||h)&&!i("form"),"terms","unit"),nn(e.unit,"unit",{characters:40})),i("step")){let t=(h?d:u-l)/o(e,"step")
;a((c||h)&&!i("scale")&&t>=1-1e-12&&t<=500&&(c||Math.abs(t-Math.round(t))<=1e-9),"terms","step")}if(i("scale")){let t=e.scale
;a(c&&!i("form")&&Array.isArray(t)&&t.length>=3&&t.length<=257,"terms","scale"),a([...t].every((e,n)=>Math.abs(o({edge:e
},"edge"))<=1e30&&(!n||t[n-1]<e))&&0===l&&u===t.length-1,"terms","scale")}if(i("form")){let{form:n}=e,i=t.labels
;"time"===n?a(h&&1440===d,"terms","form"):"date"===n?a(c&&[l,u].every(e=>Number.isInteger(e)&&e>=-719162&&e<=2932896),"terms","form"):(a("installed"===n&&r&&"categories"===t.kind&&Array.isArray(i),"terms","form"),
i.forEach((e,t)=>a(fn({day:e})>(t?fn({day:i[t-1]}):-1/0),"terms","form")))}if(i("clipped")&&a(!0===e.clipped&&c&&!i("scale"),"terms","clipped"),
i("outside")){let{outside:t}=e;a(i("clipped")&&Array.isArray(t)&&3===t.length,"terms","outside");let[n,r,s]=[...t].map(e=>o({outside:e},"outside"))
;a(0<=r&&r<=n&&n<=s&&s<=1,"terms","outside")}if(i("text"))for(let t of mn(e.text,n,"text"))nn(t,"text",un);if(i("names")){
a(["categories","several"].includes(t.kind),"terms","names");let r=t.count??t.labels.length;for(let t of mn(e.names,n,"names")){
a(hn(t,r,r),"terms","names");for(let e of t)nn(e,"names",un)}}}function yn({draw:e,cells:t,order:n,dimension:r}){
return"projective"===e?(n**r-1)/(n-1):"response"===e?t:"hadamard"===e?n:0}function bn(e,t,n){let r,i=e.specification;try{r=J(i,t)}catch(t){
if("draw"!==t.reason)throw t;let n=JSON.parse(JSON.parse(i).device).draw;if("string"!=typeof n||C[n])throw t
;return a(!ln.includes(n),"terms","questions"),void JSON.stringify(e)}a(!ln.includes(r.kind),"terms","questions")
;let[s,l]=r.ratio,u=r.delta?r.epsilon:Math.log1p(Number((s-l<<64n)/l)/2**64);a(dn(o(e,"epsilon"),u)&&!r.delta==!("delta"in e),"promise",t),
r.delta&&a(dn(o(e,"delta"),r.delta),"promise",t);let{domain:d,cells:c}=JSON.parse(r.device)
;return"kept change"===n&&a("response"===r.kind&&"categories"===d.kind&&2===c,"terms",t),r}function vn(e,t){let{scale:n,form:r}=e
;if(t.spend)return e=>[e];if(n)return e=>"number"==typeof e&&e==e?((e,t)=>{let n=Math.min(Math.max(t,e[0]),e.at(-1)),r=e.length-2;for(;r&&e[r]>n;)r--
;return r+(n-e[r])/(e[r+1]-e[r])})(n,e):null===e?null:void 0;let a=e=>{try{return fn({text:e},"text")}catch{return}
},{labels:i}=JSON.parse(t.device).domain
;return e=>r&&"string"==typeof e?"date"===r?a(e):"time"===r?/^([01]\d|2[0-3]):[0-5]\d$/.test(e)?60*+e.slice(0,2)+ +e.slice(3):void 0:void 0===a(e)?void 0:i.findLast(t=>t<=e)??i[0]:e
}var kn=({present:e},t)=>(e??[]).filter(({batch:e})=>e===t).map(({asker:e,name:t,batch:n})=>({asker:e,question:t,batch:n}));function Mn(e,t,n){
let r=[...e.queue.filter(e=>e.id===t||e.batch===t),...kn(e,t)],[a,i]=he(e,t);if(!i||r[0].batch!==t||!n)return[a,i];let{campaign:s,day:l,retry:o}=n,u={
id:t,asker:r[0].asker,campaign:s,until:l+o,questions:r.map(({question:e})=>e)};return[a,{...i,sent:[...(e.sent??[]).filter(({until:e})=>e>=l),u]}]}
function xn(e,t){
let n=e.queue.filter(e=>se(e)&&e.batch===t),r=e.sent?.find(e=>e.id===t),[a,i]=ce(e,({batch:e})=>e===t),s=n.length+i+(r?.questions.length??0),{sent:l,...o}={
...a,queue:e.queue.filter(e=>!n.includes(e))},u=l?.filter(e=>e!==r);return s?[{is:"withdrawn",reports:s},u?.[0]?{...o,sent:u}:o]:[{is:"unknown"}]}
var An=e=>JSON.stringify({dither:2,withdraw:e});function Sn(e,t,n){let r={};try{r=Object(s(n))}catch{}
return[t>=200&&t<300&&r.withdrawn===e,"string"==typeof r.refused?r.refused:""]}async function qn(e,t,n,{fetch:r=globalThis.fetch}={}){D(n)
;let a=[t].flat().map(({terms:e})=>e.asker),i={withdrawn:0,unsent:0,left:0,refused:[]},s=Math.floor(Date.now()/864e5),l=await e.account(e=>{
let t=e.queue.filter(e=>se(e)&&a.includes(e.asker)),n=t.filter(({batch:e})=>!e);i.unsent=n.length
;let r=(e.sent??[]).filter(({asker:e,until:t})=>a.includes(e)&&t>=s),l=(e.present??[]).filter(({asker:e})=>a.includes(e)),o=[...new Set([...t,...l].flatMap(({batch:e})=>e??[]))].map(e=>[e,void 0]),u=n[0]&&{
...e,queue:e.queue.filter(e=>!n.includes(e))};return[[...o,...r.map(({id:e,campaign:t})=>[e,t])],u]});for(let[t,a]of l){
let s=n.replace(/batches$/,"withdrawals").replace(/(campaigns\/)\w{64}/,(e,t)=>a?t+a:e),l={method:"POST",body:An(t),headers:{
"content-type":"application/json"}
},[o,u]=await R(r,s,65536,l).then(async([e,t])=>[e.status,await t.text()]).catch(()=>[0,'{"refused":"unreachable"}']),[d,c]=Sn(t,o,u)
;d?i.withdrawn+=(await e.account(e=>xn(e,t))).reports??0:(i.left++,i.refused.push(c||"status "+o))}return i}
var On=(e,{asker:t,name:n})=>e.present?.find(e=>e.asker===t&&e.name===n),Nn=(e,t)=>e.answers.find(e=>t&&"present"===e.permanent&&W(e,t)),In=({every:e},{wall:t})=>It({
every:e,days:null,start:null},Math.floor(t/kt))[0],Bn=(e,t)=>({...e,present:[...(e.present??[]).filter(({asker:e,name:n})=>e!==t.asker||n!==t.name),t]
});function En(e,t,n,r){let a=On(e,n);if(!a?.batch)return[{is:"empty"}];let i=St(e.clock,t);if(In(n,i)!==a.period)return[{is:"empty"},Bn({...e,clock:i
},{...a,batch:null})];let s=a.permanent&&Nn(e,r);return[{is:"message",id:a.batch,public:!a.permanent,reports:s?[[s.fingerprint,s.report]]:[]}]}
function jn({terms:e,questions:t,unanswered:n}){let{asker:r,name:i,every:s,repeat:l,label_share:o}=e
;a("present"===l,"asking","expected a campaign with repeat = present");let[u]=n;a(!u||t[u],"draw",u);let d=Object.values(t)[0];if(!d)return[{asker:r,
name:i,every:s}];let[c,h]=d,p=J(c,h.name),{mechanism:f,epsilon:m,delta:g,fingerprint:w}=p;return[{asker:r,name:i,every:s,share:o},{facts:{
question:h.name,asker:r,fingerprint:w,mechanism:f,epsilon:m,delta:g,assumes:[],repeat:"present",days:null,start:null,data:null,every:s},question:p,
value:h.value,installed:"installed"===h.form}]}var Un=e=>new Date(864e5*e).toISOString().slice(0,10);async function $n(e,t,n,r=xt){
let[a,i]=jn(t),{begins:s,ends:l}=t.terms;return e.account((e,o,u,d,c)=>{let h=ct(u,t.shown);if(h)return[pt("consent",h)]
;let f=r(),m=Math.floor(f.wall/kt),g=Math.min(fn({day:l}),t.retired?fn({day:t.retired})-1:1/0)
;if(m>g)return[pt("ended","the campaign ended on "+Un(g))];if(m<fn({day:s}))return[pt("early","the campaign begins on "+s)]
;let w=n??(i?.installed?Un(Math.max(m,Math.floor(e.clock.wall/kt))):void 0),y=i&&i.question.inside(i.value(w))
;return i&&void 0===y&&!On(e,a)?[pt("value",`question "${i.facts.question}": expected a value of its domain`)]:((e,t,n,r,a,i,{report:s,source:l})=>{
let{asker:o,name:u,share:d}=r;if(a&&!Y(i,a,a.assumes))return G("policy");let c=St(e.clock,n),h={...e,clock:c};if(!h.askers.includes(o)){
if(0===h.openings)return G("asker");h.askers=[...h.askers,o].sort(),null!==h.openings&&h.openings--}let p=In(r,c),f=On(h,r)
;if(f&&null!==f.period&&p<=f.period)return[{is:"silent"}];let m=f?f.permanent:!!a&&v(l,1e3)<d,g=Bn(h,{asker:o,name:u,permanent:m,period:p,batch:t})
;if(m&&a&&null===(f?.period??null)&&!Nn(h,a)){let e=At(h.limits.epoch,Math.max(c.wall,h.born)),n={...K(a),id:t,device:h.device,
epsilon:H(a.epsilon,64),delta:H(a.delta,128),assumes:a.assumes,first:e,last:e};if(c.ahead<=Mt[h.limits.epoch]&&!Ot(h,n)){let e=s(),r={...K(a),id:t,
permanent:"present",report:e};return[{is:"drawn",charged:n.epsilon,report:e},{...g,entries:[...h.entries,n],answers:[...h.answers,r]}]}}return[{
is:"present"},g]})(e,p(c.take(16)),f,a,i?.facts??null,d,{report:()=>p(i.question.draw(y,c)),mark:()=>"",source:c})})}
async function Tn(e,t,n,r={},i=xt){let[s,l]=jn(t),{labels:o,retry:u}=t.terms,{label:d="",pack:c=lt}=r
;return a(!d||o.includes(d),"label",`${JSON.stringify(d)} is not in the campaign; it lists ${JSON.stringify(o)}`),{
...await ft(()=>e.account((e,r,a)=>{let[{is:o,id:u,public:h,reports:p},f]=En(e,i(),s,l?.facts??null);if("empty"===o)return[void 0,f]
;let m=p.map(([e,t])=>({fingerprint:e,report:t}));return[ct(a,t.shown,n)??{id:u,body:c(u,h?d:"",m)}]
}),(n,r)=>e.account(e=>"dropped"===r?pe(e,n):Mn(e,n,{campaign:t.id,day:Math.floor(i().wall/kt),retry:u})),n,r,await e.account((...[,,,,e])=>[e])),
waiting:await e.account(e=>[+("message"===En(e,i(),s,l?.facts??null)[0].is)])}}async function Cn(e,t,n){
let r=2n**255n-19n,a=BigInt.asUintN(255,BigInt("0x"+p(n.slice().reverse()))),i=a*a;if(a>=r||a*(i-1n)*((121665n*i-243332n)*i+121666n)%r==0n)return!1
;let{subtle:s}=globalThis.crypto,l=await s.importKey("raw",n,"Ed25519",!1,["verify"]);return s.verify("Ed25519",l,t,e)}async function _n(e,t){
a(!/^\s*dither-private-key/.test(t),"private"),a(globalThis.crypto?.subtle,"crypto")
;let n=s(e),{key:r,key_before:i}=n,l=async(e,t,n=r)=>a(pn(t,128)&&pn(n,64)&&await Cn(c(e),st(t),st(n)),"signature")
;return a(pn(t,64)&&(r===t||i?.key===t),"key"),void 0!==i&&await l("dither next key 1\n"+r,i.signature,i.key??""),[n,l]}var Jn={
text:"expected what a collector publishes at …/v1/campaigns/<id>, got another text",
key:"expected the key of the one who signed, 64 digits; dither serve prints it. This text has another one",
private:"a page shows its key to everybody: pin the public key, and replace this private one",
signature:"the text was changed, or somebody else has signed it",crypto:"expected a page of https or localhost: WebCrypto is missing here",
list:"the asker's list of campaigns is not in order, or does not continue the one that was read before"},zn=e=>e.catch(e=>{
let{reason:t,field:n,question:a}=e instanceof r?e:new r("text");throw new r(t,n||Jn[t],a)}),Pn=(e,t)=>zn((async(e,t)=>{
let[{campaign:n,key:r,key_before:i,signature:d,retired:f,card:m},g]=await _n(e,t);a("string"==typeof n,"text"),await g("dither campaign 2\n"+n,d)
;let w=p(h(c(n)));null!==f&&(fn(f),await g(`dither retirement 1\n${w}\n${f.day}`,f.signature)),
void 0!==m&&(await g("dither card 1\n"+m.text,m.signature),a(s(m.text).campaign===w,"terms","card"));let y=await(async e=>{let[t,n]=l(e)
;a(2===t["dither-campaign"],"version");for(let[e,n,r]of[["name",64,!0],["asker",253,!1],["contact",500,!0],["purpose",4e3,!0]])nn(t[e],e,{size:n,
lines:r,..."asker"===e&&{characters:200}});for(let[e,n]of Object.entries(rn))(e in t||["version","people","retry"].includes(e))&&u(t,e,1,n)
;a(fn(t,"begins")<=fn(t,"ends"),"terms","ends");let{labels:r,questions:i,promise:s,repeat:d}=t;a(hn(r,0,1e3),"terms","labels")
;for(let e of r)nn(e,"labels",{size:64,lines:!0});(e=>{let{repeat:t,phase:n,every:r}=e;a("string"==typeof t&&an[t],"terms","repeat");let[i,s]=an[t]
;for(let t of sn)a(t in e?i.concat(s).includes(t):!i.includes(t),"terms",t);"every"in e&&a(["day","week","month"].includes(r),"terms","every"),
a("once"!==t||"days"in e!="every"in e,"terms","days"),a("kept change"!==t||e.changes<e.days,"terms","changes"),
"phase"in e&&(a(cn(n)&&1===Object.keys(n).length&&"present"!==t,"terms","phase"),"share"in n?u(n,"share",1,999):a(pn(n.follows,64),"terms","phase")),
a("present"!==t||!("reports_a_batch"in e),"terms","reports_a_batch")})(t);let c=(e=>{let{languages:t,purposes:n}=e
;"languages"in e?a(hn(t,1,40)&&t.every(e=>"string"==typeof e&&on.test(e)),"terms","languages"):a(!("purposes"in e),"terms","purposes");let r=t??[]
;if("purposes"in e)for(let e of mn(n,r.slice(1),"purposes"))nn(e,"purposes",{size:4e3,lines:!0});return r})(t)
;"sealing_key"in t&&await Kt(t.sealing_key);let h="present"===d,p=new Map,f=new Set,[m,g]=[0,0]
;a(Array.isArray(i)&&i.length<=(h?1:1024)&&(h||i.length),"terms","questions");for(let e of i){a(cn(e),"terms","questions");let{name:n}=e
;nn(n,"questions",{size:64});let r=bn(e,n,d);a(o(e,"epsilon")>0,"promise",n),m+=e.epsilon,"delta"in e&&(a(o(e,"delta")>0,"promise",n),g+=e.delta)
;let i=JSON.parse((r??JSON.parse(e.specification)).device);if(r&&wn(e,i.domain,c,h),h&&r){let e=yn(i)
;a(t.expects>=100&&"categories"===i.domain.kind&&e>0&&e<=Math.min(128,Math.floor(t.expects*t.label_share/2e4)),"terms",n)}p.set(n,r),
f.add(r?.fingerprint??JSON.parse(e.specification).fingerprint)}return a(!h||i.length===+("label_share"in t),"terms","label_share"),
a(p.size===i.length&&p.size===f.size,"terms","questions"),a(dn(o(s,"epsilon"),m),"promise","epsilon"),
a(g?dn(o(s,"delta"),g):null===s.delta,"promise","delta"),a(Array.isArray(s.assumptions)&&!s.assumptions.length,"promise","assumptions"),n(),p
})(n),b=JSON.parse(n),v=[],k=Object.create(null),M=((e,t)=>{let n=e=>p(h(c(JSON.stringify(e)))),{questions:r,begins:a,ends:i}=e;return{
general:n([Rn.map(t=>e[t]??null),t]),questions:r.map(n),begins:a,ends:i}})(b,r);for(let e of b.questions){let t=y.get(e.name)
;t?v.push([e.name,[e.specification,{...Fn(w,b,e,t,f),shown:M}]]):k[e.name]={get:()=>Dn(e)}}return{id:w,key:r,before:i?.key,terms:b,retired:f&&f.day,
questions:Object.defineProperties(Object.fromEntries(v),k),shown:M,unanswered:Object.keys(k)}})(e,t));function Dn({name:e,specification:t}){
throw J(t,e),new r("draw","add the draw before you read the campaign",e)}
var Rn=["answers","asker","changes","contact","days","every","labels","people","purpose","purposes","repeat"];function Fn(e,t,n,r,a){
let{asker:i,repeat:s,days:l,every:o,changes:u,answers:d,phase:c,labels:h,languages:p}=t;return{name:n.name,asker:i,repeat:s,...l&&{days:l,
start:fn(t,"begins")},...o&&{every:o},...u&&{changes:u},...r.spend&&{times:1},...d&&{limit:{campaign:e,answers:d}},...c&&{phase:{campaign:e,
name:t.name,...c}},labels:h,taken:(n,r)=>Mn(n,r,{campaign:e,day:Math.floor(Date.now()/864e5),retry:t.retry}),
ends:Math.min(fn(t,"ends"),a?fn(a)-1:1/0),value:vn(n,r),...p&&{languages:p},...n.text&&{text:n.text},...n.names&&{names:n.names},...n.unit&&{
unit:n.unit},...n.step&&{step:n.step},...n.form&&{form:n.form},...n.scale&&{scale:n.scale}}}
var Ln=({heads:e},t)=>!t||e[t[0]-1]===t[1],Gn=(e,t,n)=>zn((async()=>{let[{list:r,signature:i},s]=await _n(e,t),o=[],u=new Map
;a(Array.isArray(r)&&r.length&&r.length<=1e4,"list");for(let e of r){let[{...t}]=l(e),{before:n,published:r,retired:i,next_key:s,day:d}=t
;a(n===(o.at(-1)??"0".repeat(64))&&pn(r??i??s,64),"list"),a(Object.keys(t).length===(i?3:2)&&(!i||u.has(i))&&!u.has(r),"list"),i&&fn(t),
s||u.set(r??i,d??null),o.push(p(h(c(e))))}await s("dither list 2\n"+o.at(-1),i);let d={heads:o,campaigns:u};return a(Ln(d,n),"list"),d})())
;async function Kn(e,t,n=globalThis.fetch,i){let l=async(e,t)=>{let[{ok:i,status:s},l]=await R(n,e,4194304).catch(e=>{
throw e instanceof r?e:new r("unreachable",`${e.message}: does the collector run, and allow this page (dither serve --origin)?`)})
;return a(i||!t,"campaign",`the collector answers ${s}: no campaign at this address; it may have moved, or ended long ago`),i?l.text():""
},o=await(i?.update(e=>[e])),u=t;for(;o?.keys[u];)u=o.keys[u];let d=await Pn(await l(e,!0),u)
;a(e.endsWith("/"+d.id),"fingerprint","expected the campaign that the address names, got "+d.id),
a(i||d.key===u,"key","the asker has a new key: pin it, or give fetchCampaign a store, to follow it")
;let c=i&&await l(e.replace(/campaigns\/\w+$/,"list")),h=c&&(await zn((async()=>s(c))())).key===d.key?await Gn(c,d.key):void 0
;return await(i?.update(({keys:e,heads:t}={keys:{},heads:{}})=>{
d.key!==u&&a(!e[d.key]&&(e[u]??=d.key)===d.key,"key","the asker's key was replaced by another one before");let n=t[d.key]??t[d.before]
;return a(h?Ln(h,n)&&h.campaigns.has(d.id)&&(d.retired||!h.campaigns.get(d.id)):!n,"list",Jn.list),h&&(t[d.key]=[h.heads.length,h.heads.at(-1)]),[0,{
keys:e,heads:t}]})),d}function Wn(e){let t=100/(1+Math.exp(-e))*1.0000000000000002
;return`${[1,10,100].map(e=>(Math.ceil(t*e)/e).toFixed(Math.log10(e))).find(e=>+e<100)??"100"} %`}
var Yn=e=>Number(e.toPrecision(12)),Hn=(e,t)=>Yn(Number(L(e))/2**t);function Vn(e,t){
let n=e.entries.map(({asker:e,question:t,epsilon:n,delta:r,assumes:a})=>({asker:e,question:t,epsilon:Hn(n,64),delta:Hn(r,128),assumes:a
})),r=[...e.queue.filter(se),...(e.present??[]).filter(({batch:e})=>e)],a=e.entries.filter(({id:t})=>!e.queue.some(e=>e.id===t)).length,i=(e.sent??[]).flatMap(({asker:e,questions:t,until:n})=>n<Math.floor(Date.now()/864e5)?[]:{
asker:e,questions:t,until:new Date(864e5*n).toISOString().slice(0,10)});return[{epsilon:Hn(e.own.epsilon,64),left:Yn(t.left(e)),given:n,
waiting:r.length,sent:a,withdrawable:i}]}function Xn({told:e,coins:t,trees:n,sent:r,present:a,...i},s){
let{sent:l}=Vn(i,s)[0],o=i.entries.map(({data:e,times:t,campaign:n,...r})=>({...r,asker:"",question:"",fingerprint:""})),u={...i,entries:o,askers:[],
answers:[],choices:[],queue:[]};return[{...Vn(u,s)[0],sent:l},u,!0]}
var Zn=e=>String(Number(e.toPrecision(3))),Qn=class extends(globalThis.HTMLElement??Object){#e;get device(){return this.#e}set device(e){this.#e=e,
this.refresh()}async refresh(){this.#e&&this.#t(await this.#e.account(Vn))}
#t({epsilon:e,left:t,given:n,waiting:r},a="How much was given stays counted: the askers keep what they received."){
let i=this.shadowRoot??this.attachShadow({mode:"open"}),s=(e,t="",...n)=>{let r=document.createElement(e);return r.textContent=t,r.append(...n),r
},l=(e,t)=>(t.setAttribute("part",e),t),o=new Map;for(let{asker:e,question:t,epsilon:r}of n){let[,,n,a]=o.get(JSON.stringify([e,t]))??["","",0,0]
;o.set(JSON.stringify([e,t]),[e||"forgotten",t||"forgotten",n+1,a+r])}
let u=n.reduce((e,t)=>e+t.epsilon,0),d=n.length?`You have given ${n.length} ${1===n.length?"answer":"answers"} with noise, ε = ${Zn(u)} together. Whoever guessed 50 % about you before can know at most ${Wn(u)} by them.`:"You have given nothing.",c=`Of ε = ${Zn(e)}, ${Zn(t)} is left. Reports that wait to be sent: ${r}.`,h=s("tr","",...["Who asked","What","Answers","ε"].map(e=>s("th",e)))
;for(let e of Array.from(h.children))e.setAttribute("scope","col")
;let p=[...o.values()].map(e=>s("tr","",...e.map((e,t)=>s("td",3===t?Zn(e):String(e))))),f=s("button","Forget"),m=!1;f.addEventListener("click",()=>{
m?this.#n():(m=!0,f.textContent="Forget names, kept answers and waiting reports? Press again.")}),
i.replaceChildren(l("text",s("p",d)),...p.length?[l("table",s("table","",s("caption","What you have given"),s("thead","",h),s("tbody","",...p)))]:[],l("text",s("p",c)),l("button",f),l("text",s("p",a)))
}async#n(){let e=await this.#e.account(Xn);this.#t(e,`Forgotten. ${e.sent} ${1===e.sent?"answer":"answers"} had been sent before.`),
this.dispatchEvent(new Event("erase"))}},{customElements:er}=globalThis;er&&!er.get("dither-account")&&er.define("dither-account",Qn);var tr={en:{
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
unlimited:"Your answers are randomised on this device before they are sent. Over time, only the limit of your device applies.",
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
first:"Nichts wird beantwortet oder gesendet, wenn Sie hier nicht zustimmen."}},nr=(e,t)=>e.replace(/\{(\w+)\}/g,(e,n)=>t[n]??"")
;function rr(e,t={},...n){let r=document.createElement(e);for(let[e,n]of Object.entries(t))r.setAttribute(e,n);return r.append(...n),r}
var ar=globalThis.HTMLElement??Object,ir=new WeakMap,sr=class extends ar{static observedAttributes=["lang","name"];#r;get wanted(){
let e=this.closest?.("[lang]")?.getAttribute("lang");return[...e?[e]:[],...globalThis.navigator?.languages??[]]}get words(){
return tr[ut(Object.keys(tr),this.wanted)]}show(e,...t){this.#r??=this.attachShadow({mode:"open"}),
this.#r.replaceChildren(rr("style",{},"\n:host { display: block; margin: 1rem 0; max-width: 40rem; font: inherit; line-height: 1.5; }\nfieldset, form { border: 0; margin: 0; padding: 0; min-width: 0; }\nlegend, .label { display: block; padding: 0; margin: 0 0 .5rem; font-weight: 600; overflow-wrap: anywhere; }\np, ul { margin: .5rem 0; overflow-wrap: anywhere; }\nul { padding-inline-start: 1.25rem; }\n.choice { display: flex; gap: .6rem; align-items: center; min-height: 2.75rem; cursor: pointer; overflow-wrap: anywhere; }\n.choice input { width: 1.25rem; height: 1.25rem; flex: none; margin: 0; }\n.field { display: flex; gap: .6rem; align-items: center; }\ninput[type=number], input[type=date], input[type=time], select { font: inherit; color: inherit; background: transparent; border: 1px solid; border-radius: .4rem; padding: .55rem .7rem; min-height: 2.75rem; box-sizing: border-box; max-width: 100%; }\noption { color: CanvasText; background: Canvas; }\n.buttons { display: flex; flex-wrap: wrap; gap: .6rem; margin: .8rem 0; }\nbutton { font: inherit; color: inherit; background: transparent; border: 1px solid; border-radius: .4rem; padding: .55rem 1.1rem; min-height: 2.75rem; cursor: pointer; }\nbutton:hover { text-decoration: underline; }\n:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }\n.note { font-size: .9em; }\n[role=status]:empty { display: none; }\n"),rr("div",{
part:"box",...e&&{lang:e}},...t))}connectedCallback(){this.refresh()}attributeChangedCallback(){this.#r&&this.refresh()}tell(e,t){
this.dispatchEvent(new CustomEvent(e,{detail:t,bubbles:!0}))}},lr=()=>{},or=e=>JSON.parse(e.question.device).domain;function ur(e,t,n,r=document){
let i=[];for(let n of Array.from(r.querySelectorAll("dither-question"))){n.device=e;try{let r=n.getAttribute("name"),s=r&&t.questions[r]
;a(s,"asking",`<dither-question name="${r}">: the campaign asks ${Object.keys(t.questions)}`),i.push(n.inquiry=e.asking(...s))}catch(e){reportError(e)
}n.refresh()}for(let a of Array.from(r.querySelectorAll("dither-consent")))Object.assign(a,{device:e,campaign:t,address:n}),a.refresh()
;let{send:s,stop:l}=vt(e,i,n+"/batches"),o=()=>{s()};return r.addEventListener("answer",o),r.addEventListener("consent",o),()=>{l(),
r.removeEventListener("answer",o),r.removeEventListener("consent",o)}}var{customElements:dr}=globalThis
;dr&&!dr.get("dither-question")&&(dr.define("dither-question",class extends sr{device;inquiry;#a;#i;async refresh(){
let{device:e,inquiry:t,words:n}=this;if(!e)return;if(!t)return this.show("",rr("p",{part:"status"},n.unknown));this.#a??=p(m().take(16))
;let[r,a]=this.#s(t),{epsilon:i}=await t.promise(),s="optional"===or(t).kind||t.labels().some(e=>null===e.value),l=ut(t.terms.languages??[],this.wanted)
;this.#i=rr("p",{role:"status",part:"status"});let o=rr("div",{class:"buttons"},rr("button",{type:"submit",part:"button"},n.answer));if(s){
let e=rr("button",{type:"button",part:"button"},n.none);e.addEventListener("click",()=>{this.#l(null)}),o.append(e)}let u=rr("form",{part:"form",
novalidate:""},r,rr("p",{part:"promise",class:"note",id:"promise"},nr(n.one,{reach:Wn(i)})),o);u.addEventListener("submit",e=>{e.preventDefault(),
this.#l(a())}),this.show(l,...a===lr?[rr("p",{part:"status"},n.unknown)]:[u,this.#i])}#s(e){
let t=this.words,n=e.text(this.wanted),r=e.labels(this.wanted).filter(({value:e})=>null!==e),{kind:a}=or(e)
;if("several"===a&&r.length)return this.#o("checkbox",n,r,t.several);if("categories"===a&&r.length&&r.length<=7)return this.#o("radio",n,r)
;let i=rr("label",{class:"label",for:"control",part:"question"},n);if("categories"===a&&r.length){let e=[rr("option",{value:""
},t.choose),...r.map((e,t)=>rr("option",{value:String(t)},e.text))],n=rr("select",{id:"control",part:"control","aria-describedby":"promise"},...e)
;return[rr("div",{},i,n),()=>""===n.value?void 0:r[+n.value].value]}let s=(({terms:e,question:t})=>{
let{domain:n}=JSON.parse(t.device),{kind:r,low:a,high:i,period:s}="optional"===n.kind?n.of:n;if("interval"!==r&&"circle"!==r)return
;let l=e=>new Date(864e5*e).toISOString().slice(0,10);if("time"===e.form)return[{type:"time"},({value:e})=>e];if("date"===e.form)return[{type:"date",
min:l(a),max:l(i)},({value:e})=>e];let[o,u]=e.scale?[e.scale[0],e.scale.at(-1)]:"circle"===r?[0,s]:[a,i];return[{type:"number",inputmode:"decimal",
min:String(o),max:String(u),step:String(e.step??"any")},({valueAsNumber:e})=>e==e?e:void 0]})(e);if(!s)return[rr("div"),lr];let[l,o]=s,u=rr("input",{
id:"control",part:"control","aria-describedby":e.terms.unit?"unit promise":"promise",...l}),d=e.terms.unit?[rr("span",{id:"unit"},e.terms.unit)]:[]
;return[rr("div",{},i,rr("div",{class:"field"},u,...d)),()=>""===u.value?void 0:o(u)]}#o(e,t,n,r){let a=n.map((t,n)=>rr("input",{type:e,name:"answer",
value:String(n),part:"control"})),i=n.map((e,t)=>rr("label",{class:"choice"},a[t],rr("span",{},e.text))),s=rr("fieldset",{"aria-describedby":"promise"
},rr("legend",{part:"question"},t),...r?[rr("p",{class:"note"},r)]:[],...i),l=()=>n.flatMap((e,t)=>a[t].checked?[e.value]:[])
;return[s,()=>"checkbox"===e?l():l()[0]]}async#l(e){let t=this.words;if(void 0===e)return void this.#i.replaceChildren(t.missing)
;let{shown:n}=this.inquiry.terms,r=n&&ir.get(this.device)?.has(n.general)&&void 0===await this.device.chosen({shown:n
})?pt("consent","expected a choice in <dither-consent> first"):await this.device.answer(this.inquiry,e,this.#a).catch(e=>{
throw this.#i.replaceChildren(t.failed),e
}),{is:a,reason:i}=r,s="refused"!==a?t.thanks:"ended"===i?t.over:"consent"===i?t.refused:"value"===i?t.missing:t.spent;this.#i.replaceChildren(s),
this.tell("answer",r)}}),dr.define("dither-consent",class extends sr{device;campaign;address;async refresh(){let{device:e,campaign:t,words:n}=this
;if(!e||!t)return;let{terms:r}=t,a=ut(r.languages??[],this.wanted),i=r.purposes?.[a]??r.purpose;ir.set(e,(ir.get(e)??new Set).add(t.shown.general))
;let s=await e.chosen(t),l=(e=>{
let{repeat:t,begins:n,ends:r,days:a,every:i,answers:s,promise:l}=e,o=(Date.parse(r)-Date.parse(n))/864e5+1,u=e=>12*+e.slice(0,4)+ +e.slice(5,7),d=e=>Math.floor((Date.parse(e)/864e5+3)/7),c=a?Math.ceil(o/a):"month"===i?u(r)-u(n)+1:"week"===i?d(r)-d(n)+1:o,h="same"===t||"present"===t?1:"once"===t||"kept change"===t?c:"fresh"===t?s:void 0
;return h&&h*l.epsilon})(r),o=rr("p",{role:"status",part:"status"
},void 0===s?navigator.globalPrivacyControl?n.signal:n.first:s?n.agreed:n.declined),u=(e,t)=>{let n=rr("button",{type:"button",part:"button",
"aria-pressed":String(s===t)},e);return n.addEventListener("click",()=>{this.#u(t)}),n},d={asker:r.asker,begins:r.begins,ends:r.ends,contact:r.contact
},c=r.promise.epsilon,h=[void 0===l?n.unlimited:nr(n.total,{total:Wn(l)}),...l===c?[]:[nr(n.round,{reach:Wn(c)})]];this.show(a,rr("p",{part:"asker",
class:"label"},nr(n.asks,d)),...i.split("\n").map(e=>rr("p",{part:"purpose"},e)),rr("ul",{part:"questions"
},...r.questions.map(({text:e,name:t})=>rr("li",{},e?.[a]??t))),rr("p",{part:"promise",class:"note"},h.join(" ")),rr("p",{part:"note",class:"note"
},`${nr(n.until,d)} ${nr(n.contact,d)}`),rr("div",{class:"buttons"},u(n.agree,!0),u(n.decline,!1)),o)}async#u(e){
await this.device.consent(e,this.campaign,this.address),await this.refresh(),this.tell("consent",e)}})),Object.assign(C,{...Re,...Ce,...Ee,...Xe,
...at,box:e=>{let[t,n,r,a]=Ue(e),[i,s]=Te(e.selector,e.domain.sides.length,t,n);return{names:"Optimal",ratio:a,inside:_e(e,s,"selector"),
draw:(e,t)=>r(i(e),t)}},directions:e=>{let{domain:t,outside:n}=e,[r,i,s,l]=Ue(e),{exact:o,length:d,centre:c}=t
;a("vectors"===t.kind&&"clip"===n&&"boolean"==typeof o,"domain");let h=u(t,"dimension",+o+1,65536);a("number"==typeof d&&d>=1e-30&&d<=1e30,"domain"),
a(null===c||Array.isArray(c)&&c.length===h&&c.some(Boolean)&&c.every(e=>Math.abs(e)<=1e30),"domain"),
a(Number.isInteger(Math.log2(r))&&r>63&&r<4097,"cells");let p=c??new Array(h).fill(0);return{names:"Optimal",ratio:l,inside:e=>{
if(!Array.isArray(e)&&!ArrayBuffer.isView(e))return;let t=[...e];if(t.length!==h||!t.every(Number.isFinite))return
;let n=t.map((e,t)=>(e-p[t])/d),r=n.reduce((e,t)=>Math.max(e,Math.abs(t)),0);if(!Number.isFinite(r)||o&&!r)return
;let a=r>2||o?r:1,i=Math.sqrt(n.reduce((e,t)=>e+t/a*(t/a),0)),s=i*a
;return(o?Math.abs(s-1)<=.01:s<=1.00001)?t.map(e=>e+0):n.map((e,t)=>p[t]+d*(o?e/a/i:e/s)+0)},draw:(e,t)=>{let n=b(t,32),a=new Float64Array(h+ +!o),l=0
;e.forEach((e,t)=>{let n=a[t]=(e-p[t])/d;l+=n*n}),o||(a[h]=Math.sqrt(Math.max(1-l,0)));let u=s(((e,t,n,r)=>{
let a=e.length,i=a>128?2**Math.ceil(Math.log2(a)):n,s=Pe(BigInt(t)<<16n,i),l=Pe((1n<<48n)+(BigInt(t%256)<<16n),a),o=e=>{let t=new Float64Array(n)
;for(let r=0;r<i;r++)t[1+619*r%(n-1)]+=e[r]*s[r];return Je(t)},u=new Float64Array(n),d=new Float64Array(i);if(a>128)e.forEach((e,t)=>d[t]=e*l[t]),
u=o(Je(d));else{let t=new Float64Array(n);e.forEach((e,n)=>{d.fill(0)[n]=1,o(Je(d)).forEach((r,a)=>{u[a]+=r*l[n]*e,t[a]+=r*r})}),
t.forEach((e,t)=>u[t]/=Math.sqrt(Math.max(e,1)))}return[...u.keys()].sort((e,t)=>u[t]-u[e]||e-t).slice(0,r).sort((e,t)=>e-t)
})(a,n,r,i),t),c=u.length>1?u:Uint8Array.of(u[0],0);return Uint8Array.of(...c,...x(n,4),0,0)}}},lattice:e=>{
let[t,n]=k(e),r=e.lattice,i=e.start,s=r.kind,l=r.noise;a("clamped"===s||("ring"===s||"bounded"===s)&&"normal"!==l.decay,"draw");let c=((e,t)=>{
let n=d(e,"base",64),r=u(e,"reach",1,32768);a(n,"step");let[i,s]=((e,t,n)=>{let r=e.decay,i=[];if("normal"===r){
for(let e=Ke,r=t,a=0;a<=n;a++)i.push(e),e=e*r>>256n,r=r*t*t>>512n;let e=Ke;for(let r=t,a=2*n+1;a;a>>=1)1&a&&(e=e*r>>256n),r=r*r>>256n
;return[i,i[n]*Ke/(Ke-e)]}a("stairs"===r||"geometric"===r,"draw");let s="stairs"===r?u(e,"run",1,2**52):1,l="stairs"===r?u(e,"first",1,s):1
;for(let e=Ke,r=0;r<=n;r++)r>=l&&(r-l)%s===0&&(e=e*t>>256n),i.push(e);let o=i[n];return[i,BigInt(((l-n)%s+s)%s||s)*o+BigInt(s)*(o*t/(Ke-t))]
})(e,n,r),l=i.pop();"clamped"===t&&(l=s);let o="ring"===t?1n:2n,c=2n*We(i)-Ke+o*l,h=[...i.slice(1),l].map(e=>(e*(Fe-(1n<<40n))+c-1n)/c)
;"bounded"===t&&(h=h.map(e=>e<1n<<32n?1n<<32n:e));let p=[Fe-2n*We(h.slice(0,-1))-o*h.at(-1),...h]
;for(let e="clamped"===t?r-1:r;e--;)a(p[e]>=p[e+1],"step");let m=new Uint8Array(17*p.length);return p.forEach((e,t)=>{for(let n=0;n<17;n++,
e>>=8n)m[17*t+n]=Number(255n&e)}),a(f(m,16)===e.digest,"fingerprint"),p})(l,s),h=c.length-1,p=c.slice(1),m=N(i,2*h,n);if(a("line"===i.kind,"start"),
"ring"===s){a(0===i.fraction,"start");let e=Ge([...c,...p.slice(0,-1).reverse()]),n=2*h;return{names:"Purkayastha",ratio:[c[0],p.at(-1)],inside:t,
draw:(t,r)=>A(((m(t,r)+e(r))%n+n)%n,n)}}let g=Ge([...p.slice().reverse(),...c]);if("bounded"===s){
a(0===i.fraction&&i.last===h&&i.scale<=h/(n[1]-n[0]),"start"),u(r,"shift",h,h)
;let e=-c[0],s=c.map(t=>e+=t),l=s.map((e,t)=>e+s[h-t]+c[0]),o=Le(p,c),d=Le(l.slice(0,-1),l.slice(1))
;return a(c[h]>1n<<32n&&o[0]*d[0]<=o[1]*d[1],"step"),{names:"BoundedLaplace",ratio:[c[0],c[h]],inside:t,draw:(e,t)=>{let n=m(e,t)-h;for(;;){
let e=n+g(t);if(e>=0&&e<=h)return A(e,h+1)}}}}let w=u(r,"fraction",1,30),y=2**w,b=u(r,"last",1,2**31-y),v=Math.ceil(b/y)
;a(i.last===b&&i.fraction===w,"start"),a(v<h&&(b<y||b%y===0),"cells")
;let M=We(c.slice(h-v)),[x,S]=Le([M,...c.slice(0,h-v)],[c[h],...c.slice(v,h)]),q=BigInt(y),O=BigInt(Math.min(b,y));return{
names:"normal"===l.decay?"Gaussian":"Laplace Staircase",ratio:[(q-O)*S+O*x,q*S],inside:t,draw:(e,t)=>{let n=m(e,t)+g(t)
;return A(Math.min(Math.max(n,v),2*h)-v,2*h-v+1)},..."normal"===l.decay&&{delta:(e,t)=>{let n=1n<<320n,r=e=>c[Math.abs(e)],i=e=>e>0n?e:0n,s=0n,l=0n
;if(b>=y)for(let t=v-h+1;t<=v/2;t++)s+=q*i(n*r(t)-e*r(v-t));else for(let t=2-h;t<h;t++){let a=(q-O)*r(t)+O*r(t-1);s+=i(n*q*r(t)-e*a),
l+=i(n*a-e*q*r(t))}return((e,t,n)=>{let r=o({delta:n},"delta");a(r>0&&r<1,"privacy");let i=r,s=1n;for(;i%1;s*=2n)i*=2
;return a(e*s<=BigInt(i)*t,"privacy"),Number(((e<<128n)+t-1n)/t)/2**128})((s>l?s:l)+n*q*M,n*q*Fe,t)}}}},optional:e=>{let{domain:t}=e
;a("optional"===t.kind&&"line"===e.start.kind,"domain");let[n,r]=k({domain:t.of,outside:e.outside
}),i=u(e,"cells",2,65536),s=Math.log2(i),l=u(e,"width",1,i/2);a(Number.isInteger(s),"cells");let o=i-l,[d,c,h]=q(l,e),p=N(e.start,i,r),f=h-BigInt(l)*c
;return{names:"Podium PM SW OGPM OGPMU Focused",ratio:[f+BigInt(i)*c,f],inside:e=>null===e?NaN:n(e),draw:(e,t)=>{
let n=+Number.isNaN(e),a=p([e,r[0]][n],t),[l,u,c]=d(t,s);return A([c,[((a+u*l)%o+o)%o,o+u][n]][l],i)}}},polynomial:e=>{
let{items:t,most:n,domain:r,elements:i}=tt(e),s=u(e,"prime",t+n,2097151);for(let e=2;e*e<=s;e++)a(s%e,"cells")
;let l=u(e,"below",1,s-1),o=u(e,"terms",n+1,n+2);a(o<=2048,"cells")
;let[d,c,h]=[BigInt(s),BigInt(l),BigInt(s-l)],p=(d**BigInt(o)-1n).toString(16).length+1>>1;a(p<=256,"cells");let[f,m,g]=S(e,"heads"),w=Array.from({
length:n},(e,t)=>h**BigInt(t)*c*d**BigInt(n-1-t)),[y,b]=[w.reduce((e,t)=>e+t,0n),h**BigInt(n)],v=e=>(e%s+s)%s,k=e=>{let[t,n]=[1,e]
;for(let e=s-2;e;e=Math.floor(e/2))e%2&&(t=v(t*n)),n=v(n*n);return t};return{names:"SetResponse",ratio:[m*b,g*y],...r,draw:(e,t)=>{
let r=i(e,t),a=f(t),s=Qe(t,y),u=Qe(t,b),m=Qe(t,d**BigInt(o-n)),g=et(s,w),M=[n,g][+a],x=[u,w.slice(0,g).reduce((e,t)=>e-t,s)][+a],A=r.map((e,t)=>{
let n=t<M?h:t===M?c:d,r=Number(x%n)+(t<M?l:0);return x/=n,r});for(let e=1;e<n;e++)for(let t=n-1;t>=e;t--)A[t]=v(v(A[t]-A[t-1])*k(v(r[t]-r[t-e])))
;let S=[Number(m%d),Number(m/d)].slice(0,o-n);for(let e=n;e--;)S=[A[e],...S].map((t,n)=>v(t-r[e]*(S[n]??0)))
;let q=S.reduceRight((e,t)=>e*d+BigInt(t),0n);return Uint8Array.from({length:p},()=>{let e=Number(255n&q);return q>>=8n,e})}}},projective:Ye,
routes:e=>{let[t,n,r,i]=Ue(e),{domain:s,outside:l}=e;a("routes"===s.kind&&"sphere"!==s.area.kind,"domain");let o=Me({domain:s.area,outside:l
}),d=u(s,"points",2,64),{distance:c,by:h}=s;a(["mean","warped","frechet"].includes(c)&&["length","order"].includes(h),"domain")
;let p=o.box.map(([e,t])=>t-e),f=p.map(e=>Math.max(1,(e=>{let t=Math.round(e);return e%1==.5?t-t%2:t})(256*e/Math.max(...p)))),m=je(e.paths,"paths")
;a(m.length===2*d*t,"paths");let g=Array.from({length:d*t},(e,t)=>[m[2*t],m[2*t+1]]),w=Array.from({length:t},(e,t)=>g.slice(t*d,(t+1)*d)),y=(e,t)=>{
let[n,r]=[f[0]*(e[0]-t[0]),f[1]*(e[1]-t[1])];return Math.floor(Math.sqrt(n*n+r*r))},b=e=>{let t=w.map(t=>((e,t)=>{
if("mean"===c)return e.reduce((e,n,r)=>e+y(n,t[r]),0);let n=[];for(let r of e){let e=[];t.forEach((t,a)=>{
let i=y(r,t),s=Math.min(n[a-1]??1/0,n[a]??1/0,e[a-1]??1/0);e.push(s===1/0?i:"warped"===c?i+s:Math.max(i,s))}),n=e}return n[d-1]})(e,t))
;return[...t.keys()].sort((e,n)=>t[e]-t[n]||e-n)},v=Ae(o);return{names:"Optimal",ratio:i,inside:e=>{let t=v(e);if(!t||t.length>2**20)return
;let n=t.map(e=>e.map((e,t)=>Math.min(Math.max(Math.floor((e-o.box[t][0])/p[t]*65536),0),65535)));return((e,t,n)=>{let r=[0]
;for(let e of n)r.push(r[r.length-1]+e);let a=t-1,i=0;return Array.from({length:t},(t,s)=>{let l=s*r[n.length];for(;i<e.length-2&&r[i+1]*a<=l;)i++
;let[o,u]=[e[i],e[i+1]??e[i]],d=l-r[i]*a,c=((r[i+1]??r[i])-r[i])*a;return c||(d=c=1),[0,1].map(e=>Math.floor((o[e]*(c-d)+u[e]*d)/c))})
})(n,d,n.slice(1).map((e,t)=>"order"===h?1:y(n[t],e)))},draw:(e,t)=>r(b(w[b(e)[0]]).slice(0,n),t)}},sectors:e=>{
let[t,n]=k(e),r=u(e,"cells",2,2**32),i=u(e,"width",1,r/2),s=Math.log2(i);a(Number.isInteger(s)&&r%i===0,"cells");let[l,o]=T(e,r/i,s),d=e.start
;a("line"===d.kind&&0===d.fraction,"start");let c=N(d,r,n);return{names:"Sectors",ratio:o,inside:t,draw:(e,t)=>A(l(Math.floor((c(e,t)%r+r)%r/i),t),r)}
},several:e=>{
let{items:t,most:n,domain:r,elements:i}=tt(e),s=u(e,"chosen",1,Math.min(t,512)),l=u(e,"least",1,Math.min(n,s)),[o,d,c]=S(e,"heads"),h=32-Math.clz32(t+n-1)
;a(s*h<=512,"cells");let p=Array.from({length:Math.min(n,s)+1
},(e,r)=>Ze(n,r)*Ze(t,s-r)),[f,m]=[p.slice(0,l),p.slice(l)],[g,w]=[f,m].map(e=>e.reduce((e,t)=>e+t,0n));return{names:"SetResponse",ratio:[d*g,c*w],
...r,draw:(e,r)=>{
let a=i(e,r),u=o(r),d=[et(Qe(r,w),m)+l,et(Qe(r,g),f)][1-u],c=j(r,s,t),p=j(r,Math.min(n,s),n),y=c.map(e=>B(e,a)).map((e,t)=>t<d?a[p[t]]:e),b=new Uint8Array(s*h+7>>3)
;return E(y).forEach((e,t)=>{for(let n=0;n<h;n++)b[t*h+n>>3]|=(e>>n&1)<<(t*h+n&7)}),b}}}}),globalThis.dither=t})();
//# sourceMappingURL=../maps/dither.global.js.map
