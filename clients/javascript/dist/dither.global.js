"use strict";(()=>{var e=Object.defineProperty,t={};((t,n)=>{for(var r in n)e(t,r,{get:n[r],enumerable:!0})})(t,{Device:()=>pt,Malformed:()=>r,
allRules:()=>hn,autoSend:()=>yt,connect:()=>Zn,draws:()=>C,encapsulate:()=>Bt,erase:()=>Pn,fetchCampaign:()=>Cn,hex:()=>p,indexedStore:()=>ft,
memoryStore:()=>mt,packedBody:()=>bt,present:()=>qn,readCampaign:()=>En,readList:()=>_n,readQuestion:()=>$,relayed:()=>Ut,sendPresent:()=>On,
systemSource:()=>f,takeBack:()=>yn,verify:()=>Nn,view:()=>Dn,words:()=>Gn});var n=320n,r=class extends Error{constructor(e,t="",n=""){
super((n&&`question "${n}": `)+e+(t&&": "+t)),this.name="Malformed",this.reason=e,this.field=t,this.question=n}};function a(e,t,n){
if(!e)throw new r(t,n)}var i=e=>e.replace(/\\./g,"").replace(/"[^"]*"/g,"").split(":").length;function s(e){let t=JSON.parse(e)
;return a(i(JSON.stringify(t))===i(e),"text"),t}function l(e){let t=[];return a(JSON.stringify(JSON.parse(e))===e,"text"),[JSON.parse(e,(e,n)=>{
if(Object(n)!==n)return encodeURI(n),n;let r=Object.keys(n),i=new Set(r);return t.push(i),a(Array.isArray(n)||r+""==r.sort()+"","text"),new Proxy(n,{
get:(e,t)=>(i.delete(t),e[t])})}),()=>t.forEach(e=>e.forEach(e=>a(0,"fields",e)))]}function o(e,t,n=e[t]){return a(Number.isFinite(n),"number",t),n}
function u(e,t,n,r,i=e[t]){return a(Number.isSafeInteger(i)&&i>=n&&i<=r,"number",t),i}function d(e,t,n,r=e[t],i=0n){
return a(r?.length<=n&&(i=BigInt("0x"+r)).toString(16)===r,"number",t),i}var c=e=>(new TextEncoder).encode(e);function h(e){
let t=e.length+72>>6<<6,n=new Uint8Array(t),r=new DataView(n.buffer);n.set(e),n[e.length]=128,r.setUint32(t-4,8*e.length)
;let a=new Uint32Array(8),i=new Uint32Array(64),s=new Uint32Array(64);for(let e=2,t=0;t<64;e++){let n=2;for(;e%n;)n++;n<e||(a[t]=e**.5*2**32,
i[t++]=e**(1/3)*2**32)}let l=(e,...t)=>t.reduce((t,n)=>t^(e>>>n|e<<-n),0);for(let e=0;e<t;e+=64){let t=[...a];for(let n=0;n<64;n++){
let[a,o,u,d,c,h,p,m]=t,f=s[n-15],g=s[n-2];s[n]=n<16?r.getUint32(e+4*n):s[n-16]+s[n-7]+(l(f,7,18)^f>>>3)+(l(g,17,19)^g>>>10)
;let w=m+l(c,6,11,25)+(c&h^~c&p)+i[n]+s[n];t=[w+l(a,2,13,22)+(a&o^a&u^o&u)|0,a,o,u,d+w|0,c,h,p]}t.forEach((e,t)=>a[t]+=e)}
return a.forEach((e,t)=>r.setUint32(4*t,e)),n.slice(0,32)}
var p=e=>Array.from(e,e=>(e+256).toString(16).slice(1)).join(""),m=(e,t=32)=>p(h(e)).slice(0,t);function f(){let{crypto:e}=globalThis
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
(e,a)=>O(n?l(e):d(e,r),a,t)}let m=[];if("steps"===r)return e.counts.forEach((n,r)=>{
for(let a=u(e,"counts",1,65536-m.length,n);a--;)m.push(u(e,"starts",0,t-1,e.starts[r]))}),a(m.length,"start"),e=>m[d(e,m.length-1)]
;let f=Uint8Array.from(e.bits.match(/../g),e=>parseInt(e,16));a("knots"===r&&t<=65536&&p(f)===e.bits,"start");let g=65536*t;m.push(u(e,"first",0,g-1))
;for(let[t,n]of e.pieces)for(let r=u(e,"pieces",1,32768-m.length,t);r--;){let t=m.length-1,r=m[t]+u(e,"pieces",-g,g,n)+(f[t>>3]>>(7&t)&1)
;m.push(u(e,"pieces",0,g-1,r))}let w=m.length-1;return a(w&&f.length===w+7>>3&&!(f.at(-1)>>1+(w-1&7)),"start"),(e,t)=>O(m[O(d(e,65536*w-1),t)],t)}
function I(e,t){let n=new Uint8Array(e+7>>3);for(let r=0;r<e;r++)n[r>>3]|=t(r)<<(7&r);return n}
var B=(e,t)=>t.reduce((e,t)=>e+ +(e>=t),e),E=e=>e.sort((e,t)=>e-t);function U(e,t,n){let r=[];for(;r.length<t;)r.push(B(v(e,n-r.length),E([...r])))
;return r}var j=(e,t,n,r)=>a=>{let[i,s]=M(a),l=u(a,"size",s,Math.min(s,65536))-1,o=u(a,"chosen",t,Math.min(n,l)),[d,c,h]=S(a,"heads");return{names:e,
ratio:[c*BigInt(s-o),h*BigInt(o)],inside:i,draw:(e,t)=>r(e,d(t),o,l,t)}};function T(e,t){let n=u(e,"cells",2,4294967296),r=Math.log2(n)
;a("sliding"===e.draw&&Number.isInteger(r),"cells");let i=u(e,"width",1,n-1),[s,l,o]=q(i,e),d=N(e.start,n,t),c=o-BigInt(i)*l;return[n,(e,t)=>{
let a=d(e,t),[i,l,o]=s(t,r);return(o+(a+l-o&-i)&n-1)>>>0},[c+BigInt(n)*l,c]]}function _(e,t,n=0){let[r,a,i]=q(t,e);return[(e,t)=>{let[a,i,s]=r(t,n)
;return(e+a*(i-e))*2**n+s},[i-BigInt(t-1)*a,a]]}var C={__proto__:null,sliding:e=>{let[t,n]=k(e),[r,a,i]=T(e,n);return{
names:"Podium PM SW OGPM OGPMU Duchi TwoPoint Optimal Focused",ratio:i,inside:t,draw:(e,t)=>A(a(e,t),r)}},mixture:e=>{
let[t,n]=k(e),[r,a,i]=T(e.first,n),[s,l,o]=T(e.second,n),d=u(e,"heads",0,2**32-1);return{names:"Hybrid",ratio:i[0]*o[1]>o[0]*i[1]?i:o,inside:t,
draw:(e,t)=>A(b(t,32)<d?a(e,t):r+l(e,t),r+s)}},response:e=>{let[t,n]=M(e);u(e,"width",1,1);let[r,a]=_(e,u(e,"cells",n,n));return{names:"KRR RR",
ratio:a,inside:t,draw:(e,t)=>A(r(e,t),n)}},bits:e=>{let[t,n]=M(e),r=u(e,"size",n,Math.min(n,2**24)),[i,s,l]=S(e,"own"),[o,d,c]=S(e,"other")
;return a(0n<d&&d<s,"step"),{names:"OUE SUE",ratio:[s*c,l*d],inside:t,draw:(e,t)=>I(r,n=>(n===e?i:o)(t))}},
subset:j("SubsetSelection",1,65536,(e,t,n,r,a)=>{let i=[];for(let e=n-t;i.length<r;e-=i.at(-1))i.push(+(v(a,r-i.length)<e));return i[r]=i[e],i[e]=t,
I(r+1,e=>i[e])}),indices:j("SubsetIndices",2,8,(e,t,n,r,a)=>{let i=U(a,n,r).map(t=>B(t,[e]));return i[n-1]=[i[n-1],e][t],
Uint8Array.from(E(i).flatMap(e=>[...A(e,r+1)]))})},z={__proto__:null,sectors:"angles",box:"box",directions:"vectors",routes:"routes",hashed:"hashed",
hadamard:"hashed",channel:"tables",table:"tables",splines:"tables",lattice:"lattice",nearest:"nearest",listing:"nearest",optional:"optional",
pair:"paths",polar:"paths",walk:"paths",projective:"projective",questions:"profile",several:"several",polynomial:"polynomial"};function $(e,t){try{
a(e.length<2**22,"text");let t=s(e),{dither:r,device:i,mechanism:u,parameters:d,fingerprint:h}=t
;a(2===r&&"codebook"in t&&6===Object.keys(t).length,"version"),a(h===m(c(i)),"fingerprint");let[p,f]=l(i),g=p.draw;a(g===g+"","draw"),
a(C[g],"draw",z[g]&&`${u} needs dither-ldp/${z[g]}`);let w=o(d,"epsilon");a(w>=1e-6&&w<=50,"epsilon")
;let y=C[g](p),{names:b,ratio:v,inside:k,delta:M}=y;a(b.split(" ").includes(u),"draw"),f();let x=(e=>{let t=256n;for(;e%1;t*=2n)e*=2
;let r=BigInt(e),a=1n<<n,i=a;for(let e=1n;a>0n;e++)a=a*r/(t*e),i+=a;for(let e=0;e<8;e++)i=i*i>>n;return i})(w)
;return a(M||v[0]>v[1]&&v[0]<<n<=x*v[1],"privacy"),{...y,mechanism:u,kind:g,epsilon:w,delta:M?M(x,d.delta):0,fingerprint:h,device:i,report(e,t){
let n=k(e);return void 0===n?n:y.draw(n,t)}}}catch(e){let{reason:n,field:a}=e instanceof r?e:new r("text");throw new r(n,a,t)}}
var J=30,D=/^(https:\/\/[^\s\\/?#@]+|http:\/\/(localhost|\[::1]|127(\.(25[0-5]|(2[0-4]|1\d|[1-9])?\d)){3})(:\d+)?)(\/[^\s\\?#]*)?$/i,P=e=>a(D.test(e.includes("://")?e:new URL(e,globalThis.location?.href).href),"address")
;async function R(e,t,n,i){P(t);let s,l,o=new AbortController,u=new Promise((e,t)=>s=setTimeout(()=>t(new r("late")),1e3*J));try{
let r=await Promise.race([u,e(t,{...i,credentials:"omit",referrerPolicy:"no-referrer",redirect:"error",signal:o.signal})]);l=r.body?.getReader()
;let s=[];for(let e,t=0;l&&(e=await Promise.race([u,l.read()])).value;s.push(e.value))a((t+=e.value.length)<=n,"size")
;return[r,l?new Response(new Blob(s)):r]}finally{clearTimeout(s),o.abort(),l?.cancel().catch(()=>0)}}var L={epsilon:1,delta:0,assumptions:[],
mechanisms:null},F=e=>BigInt("0x"+e),G=e=>[{is:"refused",reason:e}],K=({asker:e,question:t,fingerprint:n})=>({asker:e,question:t,fingerprint:n
}),Y=(e,t)=>JSON.stringify(K(e))===JSON.stringify(K(t)),H=(e,{epsilon:t,delta:n,mechanism:r},a)=>t<=e.epsilon&&n<=e.delta&&a.every(t=>e.assumptions.includes(t))&&(e.mechanisms?.includes(r)??!0),W=(e,t)=>BigInt(Math.ceil(e*2**t)).toString(16)
;function V(e,t){let n=BigInt(Math.floor(e*2**t));return(n&&n+(n>>52n)+1n).toString(16)}
var X=(e,t,n)=>e.reduce((e,t)=>e-F(t[n]),F(t[n])),Z=(e,t)=>["epsilon","delta"].every(n=>X(e,t,n)>=0n),Q={epoch:"lifetime",lifetime:null,quota:null,
quotas:{},askers:null},ee=(e,t)=>e<<50n>F(t.epsilon)?Number(e)/2**64:0,te={open(e){let[t,n]=[{...e.own,...Q
},e.limits].map(e=>JSON.stringify(Object.entries(e).sort()));return a(t===n,"rules"),e},
knows:({repeat:e,days:t,start:n,data:r,every:a,phase:i})=>["fresh","same"].includes(e)&&""+[t,n,r,a,i]==",,,,",
decide:({entries:e,own:t},n,r,a)=>a?[]:ne(e,n)?G("answers"):Z([...e,r],t)?[]:G("budget"),left:({entries:e,own:t})=>ee(X(e,t,"epsilon"),t)
},ne=(e,t)=>e.filter(e=>Y(e,t)&&e.campaign===t.limit?.campaign).length>=(t.limit?.answers??1/0),re=(e,t)=>[...new Set(e.assumes.concat(t.assumes?.(e)??[]))],ae=(e=1)=>e>1?["how many locations a trajectory has, and when they were sent, is public"]:[],ie="0".repeat(32),se=({batch:e})=>e!==ie,le=(e,t,n)=>e.map(e=>se(e)||e.report!==n||!Y(e,t)?e:{
...e,batch:null}),oe=({epsilon:e,delta:t,assumes:n,data:r,times:a,campaign:i})=>JSON.stringify([e,t,n,r,a,i]);function ue(e,t,n,r,a,i){
let{epsilon:s,delta:l,repeat:o,data:u,times:d,limit:c}=n,h=re(n,a),p=K(n),m={...p,id:t,device:e.device,epsilon:W(s,64),delta:W(l,128),assumes:h,
first:0,last:0,...u&&{data:u},...d&&{times:d},...c&&{campaign:c.campaign}
},f=(e,t)=>e.find(e=>e.id===t),g=e=>e&&Y(e,n)&&oe(e)===oe(m),w=e.answers.find(e=>Y(e,n)&&e.permanent===o),y=f(e.entries,w?.id),b=f(e.queue,t),v=f(e.entries,t)
;if(b||v)return Y(b??v,n)&&g(v??y)?b?[{is:"resent",report:b.report},se(b)?void 0:{...e,queue:le(e.queue,n,b.report)}]:[{is:"acknowledged",reports:0
}]:G("id");if(!H(r,n,h))return G("policy");let[k,M,x=!w]=a.decide(e,n,m,w&&(y??m),i);if(k)return[k,M];let A=w&&"same"===o
;if(w&&(!g(y)||A&&null===w.report))return G("changed");let S=i&&(A?w.report:i.report()),q={...M??e};return q.queue=x?[...e.queue,{...p,id:t,report:S,
batch:null}]:le(e.queue,n,S),w?[{is:"repeated",charged:"0",report:S},q]:(q.entries=[...e.entries,m],
("same"===o||"per value"===o)&&(q.answers=[...e.answers,{...p,id:t,permanent:o,report:"same"===o?S:null}]),[{is:"drawn",charged:m.epsilon,report:S
},q])}function de(e,t){let n=e.present?.filter(e=>e.batch&&t(e)).length??0;return n?[{...e,present:e.present.map(e=>t(e)?{...e,batch:null}:e)
},n]:[e,0]}function ce(e,t){let n=e.queue.filter(e=>e.id!==t&&e.batch!==t),[r,a]=de(e,e=>e.batch===t),i=e.queue.length-n.length+a;return i?[{
is:"acknowledged",reports:i},{...r,queue:n}]:[{is:"unknown"}]}function he(e,t){
let n=e=>se(e)&&t!==ie&&(e.batch===t||e.id===t),r=e.queue.filter(n).length,a=e.queue.flatMap(t=>n(t)?(t=>e.answers.some(e=>Y(e,t)))(t)?{...t,batch:ie
}:[]:t),[i,s]=de(e,e=>e.batch===t);return s?[{is:"dropped",reports:s},i]:r?[{is:"dropped",reports:r},{...e,queue:a}]:[{is:"unknown"}]}function pe(e){
if(3===e.account)return e;let t=e.choices.flatMap(e=>[{...e,repeat:"kept change"},{...e,repeat:"once"}]);return{...e,account:3,choices:t}}
var me=1e-12,fe=(e,t,n)=>Math.min(Math.max(e,t),n),ge=(e,t)=>(a(2===e.length,"domain",t),e.map(e=>o({},t,e))),we=(...e)=>{
let t=[Math.min(...e),Math.max(...e)];return a(t[0]>=-1e30&&t[1]<=1e30&&t[1]-t[0]>=1e-30,"domain"),t},ye={high:1,kind:"interval",low:0}
;function be(e,t){let n=([e,t],n,r)=>Math.abs(r)/Math.max(r>0?t-n:n-e,me*(t-e));return{clip:([n,r])=>[fe(n,...e),fe(r,...t)],axes:e=>e,
gauge:(r,a)=>Math.max(n(e,r[0],a[0]),n(t,r[1],a[1])),box:[e,t]}}var ve={clip:([e,t])=>{let n=(e+180)%360
;return[Math.abs(e)<=180?e:n+360*+(n<0)-180,fe(t,-90,90)]},axes:([e,t])=>[e+180,t],gauge:()=>1,lines:[{kind:"circle",period:360},{high:90,
kind:"interval",low:-90}]};function ke({domain:e,outside:t}){let n=e=>{let t=o(e,"low");return a("interval"===e.kind&&t<e.high,"domain"),
we(t,o(e,"high"))};switch(a("clip"===t,"domain"),e.kind){case"rectangle":return{...be(n(e.x),n(e.y)),lines:[e.x,e.y]};case"disk":
return a(e.radius>0,"domain"),((e,[t,n])=>(we(0,e),{box:[we(t-e,t+e),we(n-e,n+e)],clip:([r,a])=>{let i=e/Math.hypot(r-t,a-n)
;return i<1?[t+(r-t)*i,n+(a-n)*i]:[r,a]},axes:e=>e,disk:[e,[t,n]],gauge:(r,[a,i])=>{
let[s,l]=[r[0]-t,r[1]-n],o=me*e**2,u=Math.max(e**2-(s*s+l*l),o),d=s*a+l*i,c=a**2+i**2,h=Math.abs(d)+Math.sqrt(d*d+c*u)
;return d>0?h/u:c/Math.max(h,o*me)}}))(o(e,"radius"),ge(e.centre,"centre"));case"parallelogram":return(([e,t],[n,r],[i,s])=>{
let l=n*s-r*i,o=[Math.hypot(n,r),Math.hypot(i,s)];a(Math.abs(l)>1e-9*o[0]*o[1],"domain"),o.forEach(e=>we(0,e))
;let u=[we(e,e+n,e+i,e+(n+i)),we(t,t+r,t+s,t+(r+s))],d=be([0,1],[0,1]),c=([e,t])=>[(e*s-t*i)/l,(t*n-e*r)/l],h=([n,r])=>d.clip(c([n-e,r-t]));return{
clip:a=>{let l=c([a[0]-e,a[1]-t]),[o,u]=h(a);return Math.max(Math.abs(l[0]-o),Math.abs(l[1]-u))>me?[e+o*n+u*i,t+o*r+u*s]:a},axes:h,
gauge:(e,t)=>d.gauge(h(e),c(t)),lines:[ye,ye],box:u}})(ge(e.corner,"corner"),ge(e.first,"first"),ge(e.second,"second"))}
return a("sphere"===e.kind&&e.radius>0,"domain"),we(0,o(e,"radius")),ve}function Me(e,t){let n=1;for(;e%1;n*=2)e*=2;let r=BigInt(e)*BigInt(u({times:t
},"times",1,65536)),a=Number(r);return[(BigInt(a)<r?a+1.5*a*2**-53:a)/n,ae(t)]}
var xe=e=>t=>Array.isArray(t)&&t.length&&[...t].every(e=>Array.isArray(e)&&2===e.length&&[...e].every(Number.isFinite))?t.map(e.clip):void 0
;function Ae(e,t=Math.max(...e.map(e=>e.length))){return e.flatMap(e=>Array.from({length:t},(t,n)=>e[n]))}function Se(e){
return Uint8Array.from(e.flatMap((e,t)=>Ae([Uint8Array.of(+!t),...e])))}var qe={kind:"circle",period:2*Math.PI},Oe=([e,t])=>{let n=Math.atan2(t,e)
;return n+2*Math.PI*+(n<0)};function Ne(e,t){let[n,r]=[e.first,e.second].map((e,n)=>{a(JSON.stringify(e.domain)===JSON.stringify(t[n]),"domain")
;let r={__proto__:e,outside:"circle"===e.domain.kind?"wrap":"clip"},i=C[e.draw];a(i&&e.draw+""===e.draw,"draw");let s=i(r)
;return a(!s.delta&&!s.spend,"draw"),s});return[n,r,[n.ratio[0]*r.ratio[0],n.ratio[1]*r.ratio[1]]]}function Ie(e){return t=>{
let n=ke(t),r=e?[qe,ye]:n.lines;a(!(e&&n===ve)&&r,"domain");let[i,s,l]=Ne(t,r),d=e?ge(t.start,"start"):void 0,c=e?t.codebooks.map((e,n)=>((e,t)=>{
if(a(!(t>2**20),"cells"),e.values){let n=[];return e.runs.forEach((t,r)=>{
for(let a=u(e,"runs",1,2**20-n.length,t);a--;)n.push(o(e,"values",e.values[r]))}),a(n.length===(t??n.length),"cells"),e=>n[e]}
let[n,r]=[o(e,"offset"),o(e,"step")],i=void 0===e.low?-1/0:o(e,"low"),s=void 0===e.high?1/0:o(e,"high");return e=>fe(n+r*e,i,s)
})(e,t[n?"second":"first"].cells)):[],h=me*(t.domain.radius??0);a(!d||2===c.length&&n.clip(d).every((e,t)=>Math.abs(e-d[t])<=h),"start")
;let p=void 0!==t.reference;return a(!p||e&&"fixed"===t.reference,"reference"),{names:e?"TraCSD Strawman":"TraCSC",ratio:l,spend:Me,inside:xe(n),
draw:(e,t)=>{let r=d;return Se(e.map(e=>{let[a,l]=((e,t,r)=>{let a=(e,t)=>e.draw(e.inside(t),r);if(!e){let[r,l]=n.axes(t);return[[a(i,r),a(s,l)],e]}
let l=[t[0]-e[0],t[1]-e[1]],o=[a(i,Oe(l)),a(s,Math.min(n.gauge(e,l),1))],[u,d]=o.map((e,t)=>c[t](g(e,0,e.length))),h=[Math.cos(u),Math.sin(u)],p=fe(d,0,1)/n.gauge(e,h)
;return[o,[e[0]+h[0]*p,e[1]+h[1]*p]]})(r,e,t);return p||(r=l),a}))}}}}var Be={pair:Ie(!1),walk:Ie(!0),polar:e=>{let{clip:t,disk:n}=ke(e);a(n,"domain")
;let[r,[i,s]]=n,[l,o,u]=Ne(e,[{high:r,kind:"interval",low:0},qe]),d=xe({clip:t});return{names:"Polar",ratio:u,spend:Me,
inside:e=>d(1===e?.length?e:[e]),draw:([[e,t]],n)=>{let r=[e-i,t-s],a=(e,t)=>e.draw(e.inside(t),n)
;return Uint8Array.from(Ae([a(l,Math.hypot(...r)),a(o,Oe(r))]))}}}};function Ee(e,t){return a(e.length<=2**17&&/^([0-9a-f]{4})*$/.test(e),"number",t),
(e.match(/..../g)??[]).map(e=>parseInt(e,16))}function Ue(e){let t=u(e,"cells",2,65536),n=u(e,"width",1,t-1),[r,a,i]=q(n,e),s=i-BigInt(n)*a
;return[t,n,(e,n)=>{let[a,i]=r(n,0),s=v(n,t);return A(s+a*(e[a*i]-s),t)},[s+BigInt(t)*a,s]]}var je=e=>Math.min(Math.max(Math.floor(e),0),65535)
;function Te(e,t,n,r){let i=e.box&&e.box.map(e=>ge(e,"box")),s=t||3;a(t?i?.length===t:null===i,"selector"),
i?.forEach(([e,t])=>a(e>=-1e30&&t<=1e30&&t-e>=1e-30,"selector"));let l=e.scales.map(t=>u(e,"scales",1,511,t)),o=2**u(e,"grain",0,12),d=[]
;if("grid"===e.kind){let t=e.per.map(t=>u(e,"per",1,65536,t)),n=u(e,"scale",0,65536);a(i&&t.length===s,"selector"),d=[[]];for(let e of t){
a(d.length*e<=65536,"selector");let t=Array.from({length:e},(t,r)=>je(32768+Math.floor((2*r+1-e)*n/(2*e))));d=d.flatMap(e=>t.map(t=>[...e,t]))}}else{
a("points"===e.kind,"selector");let t=Ee(e.points,"points");for(a(t.length%s===0,"selector");t.length;)d.push(t.splice(0,s))}
return a(d.length===n&&l.length===s,"selector"),[e=>{let t=(e=>{if(i)return e.map((e,t)=>je((e-i[t][0])/(i[t][1]-i[t][0])*65536))
;let[t,n]=e.map(e=>e*(Math.PI/180)),r=Math.cos(n);return[r*Math.cos(t),r*Math.sin(t),Math.sin(n)].map(e=>je(32767*e+32768.5))
})(e).map(e=>e-e%o+Math.floor(o/2)),n=d.map(e=>e.reduce((e,n,r)=>e+(l[r]*(t[r]-n))**2,0))
;return Array.from(n.keys()).sort((e,t)=>n[e]-n[t]||e-t).slice(0,r)},i]}var _e={nearest:e=>{
let[t,n,r,a]=Ue(e),i=ke(e),[s]=Te(e.selector,"sphere"===e.domain.kind?0:2,t,n);return{names:"Optimal",ratio:a,spend:Me,inside:xe(i),
draw:(e,t)=>Se(e.map(e=>[r(s(e),t)]))}},listing:e=>{let[t,n,r,i]=Ue(e),[s,l]=M(e),o=Ee(e.lists,"lists"),u=Array.from({length:l
},(e,t)=>o.slice(t*n,(t+1)*n));return a(o.length===l*n&&u.every(e=>new Set(e).size===n&&e.every(e=>e<t)),"lists"),{names:"Optimal",ratio:i,inside:s,
draw:(e,t)=>r(u[e],t)}}};function Ce({domain:e,outside:t},n,r){let i=e.sides,s=i.map(e=>e[0])
;return a("box"===e.kind&&"clip"===t&&i.length>1&&i.length<9,"domain"),a(new Set(s).size===i.length&&s.every(e=>"string"==typeof e),"domain"),
a(i.length===n.length&&i.every(([,e,t,...r],a)=>!r.length&&e===n[a][0]&&t===n[a][1]),r),e=>{let t=Array.isArray(e)?[...e]:s.map(t=>e?.[t])
;return t.length===i.length&&t.every(Number.isFinite)?t.map((e,t)=>Math.min(Math.max(e,n[t][0]),n[t][1])):void 0}}function ze(e){
for(let t=1;t<e.length;t*=2)for(let n=0;n<e.length;n+=2*t)for(let r=n;r<n+t;r++){let n=e[r],a=e[r+t];e[r]=n+a,e[r+t]=n-a}return e}
var $e=e=>BigInt.asUintN(64,e);function Je(e,t){let n=new Float64Array(t);for(let r=0;r<t;r+=64){let a=$e(0x9e3779b97f4a7c15n*(e+BigInt(r>>6)+1n))
;a=$e(0xbf58476d1ce4e5b9n*(a^a>>30n)),a=$e(0x94d049bb133111ebn*(a^a>>27n)),a^=a>>31n;let i=[Number(0xffffffffn&a),Number(a>>32n)]
;for(let e=0;e<64&&r+e<t;e++)n[r+e]=1-2*(i[e>>5]>>>(31&e)&1)}return n}var De=e=>BigInt.asUintN(64,e),Pe={hashed:e=>{let[t]=M(e)
;a("affine 1"===e.hash,"draw");let n=u(e,"buckets",2,65536),[r,i]=_(e,n);return{names:"OLH BLH",ratio:i,inside:t,draw:(e,t)=>{let a=b(t,47)
;return Uint8Array.of(...x(r(((e,t,n)=>{let r=De(0x9e3779b97f4a7c15n*(BigInt(e)+1n));r=De(0xbf58476d1ce4e5b9n*(r^r>>30n)),
r=De(0x94d049bb133111ebn*(r^r>>27n)),r^=r>>31n;let a=BigInt.asUintN(32,(r>>32n)*BigInt(t)+r);return Math.floor(Number(a)*n/2**32)
})(a,e,n),t),2),...x(a,6))}}},hadamard:e=>{let[t,n]=M(e),r=u(e,"order",n+1,2**32),[i,s,l]=S(e,"heads")
;return a(Number.isInteger(Math.log2(r))&&r<=2*n,"cells"),{names:"HadamardResponse",ratio:[s,l],inside:t,draw:(e,t)=>{
let n=e+1,a=0|b(t,Math.log2(r)),s=n&a;for(let e=16;e;e>>=1)s^=s>>>e;return(1&s)===i(t)&&(a^=n&-n),A(a>>>0,r)}}}
},Re=1n<<128n,Le=(e,t)=>e.reduce((e,n,r)=>n*e[1]>e[0]*t[r]?[n,t[r]]:e,[0n,1n]);function Fe(e){
let t=Math.max(1,32-Math.clz32(e.length-1)),n=1n<<BigInt(128-t),r=Array.from({length:2**t
},(t,n)=>e[n]??0n),a=r.map(()=>0n),i=r.map((e,t)=>t),s=[],l=[];r.forEach((e,t)=>(e<n?s:l).push(t));for(let e;void 0!==(e=s.pop());){let t=l.at(-1)
;a[e]=r[e],i[e]=t,r[t]-=n-r[e],r[t]<n&&s.push(l.pop())}return e=>{let n=e.take(t+7>>3),r=g(n,0,n.length)>>8*n.length-t;return((e,t)=>{
let n=0n,r=e.take(t+7>>3);for(let e=r.length;e--;)n=n<<8n|BigInt(r[e]);return n>>BigInt(8*r.length-t)})(e,128-t)<a[r]?r:i[r]}}
var Ge=1n<<256n,Ke=e=>e.reduce((e,t)=>e+t,0n),Ye=e=>{let[t,n]=M(e),r=u(e,"order",2,2**21),i=u(e,"dimension",2,21),s=2;for(;r%s;)s++
;let l=Math.round(Math.log(r)/Math.log(s)),o=(r**i-1)/(r-1),c=(r**(i-1)-1)/(r-1);a(s**l===r&&o>=n&&o<=2**21,"cells")
;let h=e.polynomial.map(t=>u(e,"polynomial",0,s-1,t));a(h+""==((e,t)=>{let n=e**t-1,r=[],a=n
;for(let e=2;a>1;e=e*e>a?a:e+1)for(a%e===0&&r.push(e);a%e===0;)a/=e;let i=Array.from({length:t},(e,t)=>+!t);for(let a=e+1;;a++){
let s=i.map((t,n)=>Math.floor(a/e**n)%e),l=n=>n.map((r,a)=>((n[a-1]??0)+n[t-1]*(e-s[a]))%e),o=(t,n)=>n.reduceRight((n,r)=>l(n).map((n,a)=>(n+r*t[a])%e),i.map(()=>0)),u=e=>{
let t=i;for(let n=l(i);e;e=Math.floor(e/2),n=o(n,n))e%2&&(t=o(t,n));return t+""==i+""};if(u(n)&&!r.some(e=>u(n/e)))return s}
})(s,l*i)+"","number","polynomial");let p=d(e,"own",32),f=d(e,"other",32),g=u(e,"bits",64,128),y=BigInt(c)*p,b=y+BigInt(o-c)*f
;a((64===g||128===g)&&0n<f&&f<p,"step"),a(b<=1n<<BigInt(g)&&b>=1n<<BigInt(g-1),"step");let v=((e,t,n,r,a)=>{let i=t*n,s=t*a,l=new Uint32Array(s+i)
;l[i-1]=1;for(let t=0;t+i<s;t++){let n=0;for(let e=0;e<i;e++)n+=r[e]*l[t+e];l[t+i]=(e-n%e)%e}let o=[],u=[];for(let e=0;e<a;e++){let n=!0
;for(let r=0;r<t;r++)n&&=0===l[e+r*a];(n?o:u).push(e)}return Uint32Array.from([...o,...u])})(s,l,i,h,o),k=Uint8Array.from({length:4*c
},(e,t)=>v[t>>2]>>>8*(3&t));return a(m(k)===e.set,"fingerprint"),{names:"ProjectiveResponse",ratio:[p,f],inside:t,draw:(e,t)=>{let n;do{
let e=t.take(g>>3);n=g>64?w(e.subarray(8))<<64n|w(e):w(e)}while(n>=b);let r=n<y?Number(n/p):c+Number((n-y)/f);return A(((v[r]-e)%o+o)%o,o)}}
},He=e=>[1,2,4,8].find(t=>256**t>=e);function We(e){let{draw:t,order:n,dimension:r}=e;a(["response","indices","projective"].includes(t),"draw")
;let i="response"===t?e.cells:"indices"===t?e.size:(n**r-1)/(n-1),s={domain:{kind:"categories",count:"projective"===t?2:i},outside:"refuse"
},l=("projective"===t?Ye:C[t])(new Proxy(e,{get:(e,t)=>s[t]??e[t]}));return{count:i,chosen:"indices"===t?e.chosen:1,draw:l}}var Ve={questions:e=>{
let{domain:t,outside:n}=e;a("profile"===t.kind&&"refuse"===n&&Array.isArray(t.attributes),"domain")
;let r=[...t.attributes].map(([e,t,...r])=>(a("string"==typeof e&&!r.length,"domain"),[e,...M({domain:t,outside:n})]))
;a(r.length>1&&r.length<=64&&new Set(r.map(([e])=>e)).size===r.length,"domain")
;let i=[...e.draws].map(We),[s,l]=[0,0],o=[...e.questions].map(([e,t,n,o,...d])=>{
let c=[...e].map(e=>u({},"questions",0,r.length-1,e)),{count:h}=i[u({},"questions",0,i.length-1,o)],p=c.reduce((e,t)=>e*r[t][2],1)
;return a(!d.length&&c.length&&new Set(c).size===c.length&&p<=2**21&&t.length===p&&(l+=p)<=2**21,"draw"),s+=u({},"questions",1,2**32,n),{places:c,
table:[...t].map(e=>u({},"questions",0,h-1,e)),inner:i[o],end:s}});a(s===2**32&&o.length<=16384,"draw")
;let d=o.map(e=>e.inner.draw.ratio),c=Math.max(...i.map(({chosen:e})=>e)),h=He(Math.max(o.length,...i.map(({count:e})=>e)));return{names:"Marginals",
ratio:d.reduce((e,t)=>t[0]*e[1]>e[0]*t[1]?t:e),inside:e=>{if(Object(e)!==e||Object.keys(e).length!==r.length)return
;let t=r.map(([t,n])=>Object.hasOwn(e,t)?n(e[t]):void 0);return t.includes(void 0)?void 0:t},draw:(e,t)=>{
let n=g(t.take(4)),a=o.reduce((e,{end:t})=>e+ +(n>=t),0),{places:i,table:s,inner:l}=o[a],u=i.reduce((t,n)=>t*r[n][2]+e[n],0),d=l.draw.draw(s[u],t),p=He(l.count),m=Array.from({
length:c},(e,t)=>t<l.chosen?g(d,t*p,(t+1)*p):0);return Uint8Array.from([a,...m].flatMap(e=>[...x(e,h)]))}}}};function Xe(e,t){let n=1n
;for(let r=0;r<t;r++)n=n*BigInt(e-r)/BigInt(r+1);return t<0?0n:n}function Ze(e,t){let n=(t-1n).toString(2).length*+(t>1n);for(;;){let r=0n
;for(let t of e.take(n+7>>3).reverse())r=r<<8n|BigInt(t);if(r>>=BigInt(7&-n),r<t)return r}}var Qe=(e,t)=>t.reduce((t,n)=>t+ +((e-=n)>=0n),0)
;function et(e){let{domain:t}=e;a("several"===t.kind,"domain");let n={kind:"categories",count:t.count,get labels(){return t.labels}},[r,i]=M({
domain:n,outside:e.outside}),s=u(t,"most",1,i);return a(i<=2**20,"cells"),{items:i,most:s,domain:{
inside:e=>Array.isArray(e)?E([...new Set(e.flatMap(e=>r(e)??r("other")??[]))]):void 0,
leftOut:e=>[e].flat().filter(e=>void 0===(r(e)??r("other"))).length},elements:(e,t)=>{let n=[...e];for(let e=0;n.length>s&&e<s;e++){
let r=e+v(t,n.length-e);[n[e],n[r]]=[n[r],n[e]]}n.length=Math.min(n.length,s),E(n);for(let e=i;n.length<s;e++)n.push(e);return n}}}function tt(e){
let t=e.values.map(e=>d({text:e},"text",1024));a(t.length&&t.at(-1)>0n&&t.every((e,n)=>!n||e<t[n-1]),"step");let n=new Set,r=e.rows.map(r=>{
let i=r.map(r=>{let a=u(e,"rows",0,t.length-1,r);return n.add(a),a});a(i.length&&i.length<=65536,"step")
;let s=i.reduce((e,n)=>e+t[n],0n),l=i.map(e=>((t[e]<<128n)+s-1n)/s);return l[i.indexOf(i.reduce((e,t)=>Math.min(e,t)))]-=l.reduce((e,t)=>e+t,0n)-Re,
a(l.every(e=>e>0n),"step"),l}),i=r[0]?.length??0;a(r.length&&r.length<=1024&&r.every(e=>e.length===i)&&n.size===t.length,"step")
;let s=r[0].map((e,t)=>r.map(e=>e[t])),l=Le(s.map(e=>e.reduce((e,t)=>e>t?e:t)),s.map(e=>e.reduce((e,t)=>e<t?e:t)));return[r.map(Fe),i,l]}
var nt=32768,rt={channel:e=>{let[t,n]=k(e),[r,i,s]=tt(e),l=e.start,d="points"===l.kind,c=(d?l.points:l.edges).map(e=>o({edge:e},"edge"))
;a(d||"edges"===l.kind,"start"),a(c.every((e,t)=>!t||(d?e>c[t-1]:e>=c[t-1])),"start");let h=(e,t)=>e.reduce((e,n)=>e+ +(n<=t),0);if(d){
a("interval"===e.domain.kind&&c.length>1&&c.length===r.length&&c[0]===n[0]&&c.at(-1)===n[1],"start");let l=c.slice(1,-1);return{
names:"Exponential Cumulative Matrix",ratio:s,inside:t,draw:(e,t)=>{let n=h(l,e),a=Math.floor((e-c[n])/(c[n+1]-c[n])*2**32+.5)
;return A(r[n+ +(b(t,32)<a)](t),i)}}}let p=l.labels.map(e=>u(l,"labels",0,r.length-1,e));return a(p.length===c.length+1,"start"),{
names:"Exponential Cumulative Matrix",ratio:s,inside:t,draw:(e,t)=>A(r[p[h(c,e)]](t),i)}},table:e=>{let[t,n]=M(e),[r,i,s]=tt(e)
;return a(r.length===n,"step"),{names:"Cumulative Workload Matrix",ratio:s,inside:t,draw:(e,t)=>A(r[e](t),i)}},splines:e=>{
let[t,n,r]=tt(e),i=u(e,"pieces",1,16),s=e.ends.map(([e,t,...n])=>(a(!n.length,"domain","ends"),[o({low:e},"low"),o({high:t},"high")]))
;a(s.length&&s.length<9&&t.length===(i+2)**s.length,"step");let l="interval"===e.domain.kind&&k(e)
;a(!l||1===s.length&&l[1].every((e,t)=>e===s[0][t]),"domain","ends");let d=l?void 0:Ce(e,s,"domain")
;return a(s.every(([e,t])=>e>=-1e30&&t<=1e30&&t-e>=1e-30),"domain"),{names:"JointMoments",ratio:r,inside:e=>{if(d)return d(e);let t=l[0](e)
;return void 0===t?t:[t]},draw:(e,r)=>{let a=e.reduce((e,t,n)=>e*(i+2)+((e,[t,n],r)=>{
let a=i*nt,s=Math.min(Math.max(Math.floor((e-t)/(n-t)*a+.5),0),a),l=Math.min(Math.floor(s/nt),i-1),o=s-l*nt,u=(nt-o)**2*(l?1:2),d=o**2*(l<i-1?1:2),c=g(r.take(4))>>>1
;return l+ +(c>=u)+ +(c>=2147483648-d)})(t,s[n],r),0);return A(t[a](r),n)}}}};function at(e){let t={},n=e.map(({fingerprint:e,report:t})=>e+t).sort()
;for(let e of n)(t[e.slice(0,32)]??=[]).push(e.slice(32));return t}
var it=e=>Uint8Array.from(e.match(/../g)??[],e=>parseInt(e,16)),st=(e,t,n)=>JSON.stringify({batch:e,dither:2,label:t,reports:at(n)})
;function lt(e,t,n){let r={};try{r=Object(s(n))}catch{}
let[a,i]=[r.refused,r.words].map(e=>"string"==typeof e?e:""),l=409===t?"conflict"===a:t>=200&&t<300&&r.batch===e,o=a&&"sealed"!==a&&"label"!==a&&[400,410,413,415,422].includes(t)
;return{fate:l?"acknowledged":o?"dropped":"kept",reason:a,words:i}}function ot(e,t=globalThis.navigator?.languages??[]){let n=e=>e.split("-")[0]
;for(let r of t){let t=e.find(e=>e===r)??e.find(e=>n(e)===n(r));if(t)return t}return e[0]??""}function ut({consent:e,agreed:t},n,r=""){
let a=n&&t?.[n.general];if(!a)return null!==a&&!1!==e&&(n?void 0:e);let{questions:i,begins:s,ends:l,address:o=""}=a
;return n.questions.every(e=>i.includes(e))&&s<=n.begins&&n.ends<=l&&(!r||r.startsWith(o))||void 0}function dt(e,t,n){let r=ut(e,t,n)
;if(void 0!==r)return r?void 0:"the person does not want to answer"
;let a=e.consent||Object.keys(e.agreed??{})[0]?"the person was asked about something else":(()=>{let{navigator:e,process:t}=globalThis
;return e?.globalPrivacyControl?"Global Privacy Control":["DO_NOT_TRACK","NO_TELEMETRY"].find(e=>!["","0","false","no",void 0].includes(t?.env?.[e]?.toLowerCase()))
})()?.concat(" is set");return a&&`${a}: ask the person, and call device.consent(true${t?", campaign":""}) if they agree`}var ct=(e,t)=>({
is:"refused",reason:e,words:t});async function ht(e,t,n,{fetch:r=globalThis.fetch,pack:a},i){let s={sent:0,waiting:0,refused:[],retryAfter:0
},l=(e,t)=>[{},JSON.stringify({refused:e,words:""+t})];for(let o;o=await e();){
let{id:e,body:u}=o,d="application/"+(a?"vnd.dither.batch":"json"),[{status:c,headers:h},p]=u?await R(r,n,65536,{method:"POST",body:u,headers:{
"content-type":d},keepalive:u.length<6e4
}).then(async([e,t])=>[e,await t.text()]).catch(e=>l("unreachable",e)):l("consent",o),{fate:m,reason:f,words:g}=lt(e,c,p),{reports:w=0}="kept"!==m&&await t(e,m)
;if("acknowledged"===m?s.sent+=w:s.refused.push({reason:f||"status "+c,words:g,dropped:w}),
s.retryAfter=Math.min(Math.max(+h?.get("retry-after")||0,0),86400)*(1+i.take(1)[0]/1024),"kept"===m)break}return s}var pt={
open:async({epsilon:e,delta:t=0,store:n,source:i=f(),policy:s,rules:l=te}={})=>{
a(n?.update,"store","expected store: indexedStore() in a browser, fileStore(folder) of dither-ldp/node, memoryStore() in tests"),a(o({epsilon:e
},"epsilon")>0&&e<2**20&&o({delta:t},"delta")>=0&&t<1,"epsilon");let u={...L,...s},d=()=>p(i.take(16)),c=Math.floor(Date.now()/1e3),h={
epsilon:V(e,64),delta:V(t,128),lifetime:null},m={account:3,person:d(),device:d(),limits:{...h,...Q},own:h,born:c,clock:{wall:c,boot:"",elapsed:0,
ahead:0},openings:null,askers:[],entries:[],answers:[],choices:[],queue:[]};await n.update((e={state:m,key:d()+d()})=>(a(e.state,"account"),[0,{...e,
state:l.open(pe(e.state),e.state===m)}]));let g=e=>n.update(t=>{a(t,"account");let[n,r,i]=e(t.state,t);return[n,r&&{...t,state:r,...i&&{key:d()+d()}}]
}),w=(e,{label:t="",pack:n=st},r)=>{
for(let{terms:n}of[e].flat())a(!t||(n.labels?.includes(t)??!0),"label",`${JSON.stringify(t)} is not in the campaign; it lists ${JSON.stringify(n.labels)}`)
;return g((a,i)=>{let[s,l,o]=((e,t,n,r)=>{let a=e.queue.filter(e=>se(e)&&r(e)),i=a.find(e=>e.batch)?.batch
;if(i)return[i,e.queue.filter(e=>e.batch===i)];let s=a.filter(e=>a.find(({fingerprint:t})=>t===e.fingerprint)===e).slice(0,1e3);return[t,s,s[0]&&{
...e,queue:e.queue.map(e=>s.includes(e)?{...e,batch:t}:e)}]})(a,d(),0,b(e)),u=l[0]&&[e].flat().map(({terms:e})=>dt(i,e.shown,r)).find(Boolean)
;return u?[u]:[l[0]&&{id:s,body:n(s,t,l)},o]})
},y=({ends:e=1/0})=>Date.now()/864e5>=e+1?ct("ended","the campaign ended on "+new Date(864e5*e).toISOString().slice(0,10)):void 0,b=e=>t=>[e].flat().some(({asked:e})=>Y(t,e))
;return{asking(e,t){a(Object(t)===t,"asking","expected terms: { name, asker }")
;let n=$(e,t.name),{name:i,asker:s,repeat:o="fresh",assumes:u=[],data:d=null,days:c=null,start:h=null,times:p,every:m,limit:f,phase:w}=t,{mechanism:y,epsilon:b,delta:v,fingerprint:k,spend:M}=n
;if(["name","asker"].forEach(e=>a(t[e]&&"string"==typeof t[e],"asking",e)),!M!=!p)throw new r("asking","times",i)
;let[x,A]=M?.(b,p)??[b,[]],S=Math.exp(x),q={question:i,asker:s,fingerprint:k,mechanism:y,epsilon:x,delta:v,assumes:u.concat(A),repeat:o,days:c,
start:h,data:d,...p&&{times:p},...m&&{every:m},...f&&{limit:f},...w&&{phase:w}};if(t.changes||!l.knows(q))throw new r("asking","repeat",i);return{
question:n,terms:t,asked:q,text:e=>t.text?.[ot(t.languages??[],e)]??i,labels(e){
let{labels:r=[]}=JSON.parse(n.device).domain,a=t.names?.[ot(t.languages??[],e)];return r.map(e=>Object(e)===e?e.number:e).map((e,t)=>({value:e,
text:a?.[t]??String(e)}))},promise:()=>g(e=>[{epsilon:x,odds:S,reach:S/(1+S),left:l.left(e),assumes:re(q,l)}])}},async answer(e,t,n=d()){
a(e?.asked,"asking","expected an inquiry of device.asking, and a value")
;let{question:r,terms:s,asked:o}=e,{otherwise:c,times:h,name:m}=s,f=[s.value?s.value(t):t,c].map(r.inside).find(e=>void 0!==e&&(!h||e.length===h))
;return void 0===f?ct("value",`question "${m}": `+(void 0===t?"expected a value, got undefined":"expected a value of its domain; declare otherwise for all others")):g((e,a)=>{
let d=e=>l.source?.(a.key,o,f,e)??i,c=dt(a,s.shown),h=c?ct("consent",c):y(s);if(h)return[h];let[m,g]=ue(e,n,o,u,l,{report:()=>p(r.draw(f,d(0))),
mark:()=>p(d(1).take(16)),source:i}),w=r.leftOut?.(t);return[w?{...m,leftOut:w}:m,g]})},dryRun:({asked:e,terms:t})=>g((n,r)=>{let a=dt(r,t.shown)
;return[a?ct("consent",a):y(t)??ue(n,"",e,u,l)[0]]}),consent:(e,t,r)=>n.update(n=>{if(a(n,"account"),void 0===e)return[!dt(n,t?.shown)]
;let{shown:i,terms:s,questions:l}=t??{},{agreed:o}=n,u=i?{...n,agreed:{...o,[i.general]:e?{...i,address:r?.replace(/campaigns\/\w+$/,"")}:null}}:{
...n,consent:e,agreed:e?o??{}:{}};if(e&&!1===ut(n,i)){let[e]=de(n.state,e=>!i||e.asker===s.asker&&e.name===s.name)
;u.state=(e=>e.queue.filter(e=>se(e)&&(e=>!i||e.asker===s.asker&&e.question in l)(e)).reduce((e,{id:t,batch:n})=>(n?ce:he)(e,t)[1]??e,e))(e)}
return[!dt(u,i),u]}),act:()=>g(e=>l.act?.(e)??[{is:"acted"}]),chosen:e=>n.update(t=>[t&&ut(t,e?.shown)]),async body(e,t={}){let n=await w(e,t)
;return"string"==typeof n?void 0:n},acknowledge:e=>g(t=>ce(t,e)),async send(e,t,n={}){
let r=[e].flat()[0]?.terms.taken??ce,a=await ht(()=>w(e,n,t),(e,t)=>g(n=>("dropped"===t?he:r)(n,e)),t,n,i)
;return a.waiting=await g(({queue:t})=>[t.filter(t=>se(t)&&b(e)(t)).length]),a},account:(e=e=>[e])=>g((t,n)=>e(t,l,n,u,i))}}};function mt(){let e
;return{async update(t){let[n,r]=t(e&&JSON.parse(e));return r&&(e=JSON.stringify(r)),n}}}function ft(e="dither"){
let{caches:t,indexedDB:n,navigator:r}=globalThis
;a(n,"store","IndexedDB is missing here: use fileStore(folder) of dither-ldp/node, or memoryStore() in tests")
;let i,s,l=(e,t="onsuccess")=>new Promise((n,r)=>{e[t]=()=>n(e.result),e.onerror=e.onabort=()=>r(e.error)}),o=(async()=>{
i=await(t?.open(e).catch(()=>{}));for(let e of["/0","/1"]){let t=await((await(i?.match(e)))?.json().catch(()=>({turn:0})))
;t?.turn>=(s?.turn??0)&&(s=t)}let r=n.open(e,1);return r.onupgradeneeded=()=>r.result.createObjectStore(e),l(r)})(),u=async t=>{
let n=(await o).transaction(e,"readwrite",{durability:"strict"}),r=n.objectStore(e),a=await l(r.get(1))??s,[u,d]=t(a),c=d&&{...d,turn:(a?.turn??0)+1}
;return c&&r.put(c,1),await l(n,"oncomplete"),c&&await(i?.put("/"+c.turn%2,new Response(JSON.stringify(c)))),u};return{
update:n=>t?r.locks.request(e,()=>u(n)):u(n)}}var[gt,wt]=[60,3600];function yt(e,t,n,{onSend:r,onError:a,...i}={}){
let s,{document:l,addEventListener:o,removeEventListener:u}=globalThis,[d,c,h,p]=[!1,!1,0,gt];async function m(){if(!(d||c||Date.now()<h)){d=!0,
clearTimeout(s);try{let a=await e.send(t,n,i),{waiting:l,retryAfter:o}=a,u=o>0?Math.min(Math.max(o,1),24*wt):0;h=Date.now()+1e3*u,
p=l?Math.min(2*p,wt):gt,l&&!c&&(s=setTimeout(m,1e3*(u||p/2))),r?.(a)}catch(e){a?.(e)}finally{d=!1}}}return o?.("online",m),
l?.addEventListener("visibilitychange",m),m(),{send:m,stop(){c=!0,clearTimeout(s),u?.("online",m),l?.removeEventListener("visibilitychange",m)}}}
function bt(e,t,n){let r=c(t),a=Object.entries(at(n)),i=[c("dither\0"),it(e),x(r.length,1),r,x(a.length,2)]
;for(let[e,t]of a)i.push(it(e),x(t[0].length/2,4),x(t.length,4),it(t.join("")));let s=i.map(p).join("");return it(s+m(it(s)))}
var vt=async(...e)=>new Uint8Array(await new Blob(e).arrayBuffer());async function kt(e,...t){
let{subtle:n}=globalThis.crypto,r=await n.importKey("raw",e,{name:"HMAC",hash:"SHA-256"},!1,["sign"])
;return new Uint8Array(await n.sign("HMAC",r,await vt(...t)))}async function Mt(e,t,n,r){
let{subtle:a}=globalThis.crypto,i=await a.importKey("raw",t.slice(0,16),"AES-GCM",!1,[e]);return new Uint8Array(await a[e]({name:"AES-GCM",
iv:n.slice(0,12)},i,r))}
var xt="HPKE-v1",At="KEM\0 ",St="HPKE\0 \0\0",qt=new Uint8Array(32),Ot=async(e,t,n,r,...a)=>(await kt(e,x(256*r,2),xt,t,n,...a,"")).slice(0,r)
;function Nt(e){let[,t,n,r]="string"==typeof e&&/^[0-9a-f]{2}0020([0-9a-f]{64})([0-9a-f]{4})((?:[0-9a-f]{8})+)$/.exec(e)||[]
;return a(r&&2*parseInt(n,16)===r.length&&r.match(/.{8}/g).includes("00010001"),"key"),it(t)}async function It(e){let t=Nt(e)
;a(globalThis.crypto?.subtle,"crypto")
;let{subtle:n}=globalThis.crypto,{publicKey:r,privateKey:i}=await n.generateKey("X25519",!1,["deriveBits"]),s=await n.importKey("raw",t,"X25519",!1,[]).then(e=>n.deriveBits({
name:"X25519",public:e},i,256)).catch(()=>a(0,"key"));return[await n.exportKey("raw",r),s,t]}async function Bt(e,t){
let[n,r,a]=await It(e),i=it(e.slice(0,2)+"002000010001"),s=await Ot(await kt(qt,xt,At,"eae_prk",r),At,"shared_secret",32,n,a),l=await kt(s,xt,St,"secret"),o=await vt("\0",await kt(qt,xt,St,"psk_id_hash"),await kt(qt,xt,St,"info_hash","message/bhttp request\0",i)),u=(e,t)=>Ot(l,St,e,t,o),d=await Ot(await u("exp",32),St,"sec",16,"message/bhttp response"),c=await Mt("encrypt",await u("key",16),await u("base_nonce",12),t)
;return[await vt(i,n,c),async e=>{let t=await kt(await vt(n,e.slice(0,16)),d);return Mt("decrypt",await kt(t,"key"),await kt(t,"nonce"),e.slice(16))
}]}function Et(e){let t="string"==typeof e?c(e):e,n=t.length
;return(n<64?[n]:n<16384?[64|n>>8,255&n]:[128|n>>24,...x(n,3).reverse()]).concat(Array.from(t))}function Ut(e,t,n=globalThis.fetch){return Nt(t),
async(r,{method:i="GET",body:s,headers:l,keepalive:o,...u}={})=>{let{"content-type":d}=l??{},[c,h]=await Bt(t,((e,t,n="",r="")=>{
let{host:a,pathname:i,search:s}=new URL(t),l=[0,...[e,"https",a,i+s].flatMap(Et),...Et(n&&Et("content-type").concat(Et(n))),...Et(r)],o=new Uint8Array(2**Math.max(10,Math.ceil(Math.log2(l.length))))
;return o.set(l),o})(i,r,d,s)),p={...u,method:"POST",body:c,keepalive:!!o&&c.length<65536,headers:{"content-type":"message/ohttp-req"}
},[m,f]=await R(n,e,("GET"===i?2**23:2**17)+1024,p);try{return a(m.ok,"text"),(e=>{let t=0,n=n=>(a((t+=n)<=e.length,"text"),e.subarray(t-n,t)),r=()=>{
let[e]=n(1);return n((1<<(e>>6))-1).reduce((e,t)=>256*e+t,63&e)},i=()=>n(t<e.length?r():0),s=()=>String.fromCharCode(...n(r()));a(1===r(),"text")
;let l=r();for(;l>=100&&l<200;l=r())i();let o=[],u=(t<e.length?r():0)+t;for(;t<u;)o.push([s(),s()]);a(t===u,"text");let d=i();return i(),
a(!e.subarray(t).some(Boolean),"text"),new Response(d.length?d:null,{status:l,headers:o})})(await h(new Uint8Array(await f.arrayBuffer())))}catch{
return Response.error()}}}
var jt=/[\0-\x1f\x7f-\x9f\u2028\u2029\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e0fff}\ud800-\udfff]/u,Tt=/[^ \n\xa0\xad\u061c\u1680\u2000-\u200f\u202a-\u202f\u205f\u2066-\u2069\u3000\ufe00-\ufe0f]/u,_t=/[\u202a-\u202e\u2066-\u2069]/g,[Ct,zt]=[8236,8297]
;function $t(e){let t=[];for(let n of e.match(_t)??[]){let e=n.charCodeAt(0);if(e!==Ct&&e!==zt)t.push(e<8294?Ct:zt);else if(t.pop()!==e)return!1}
return!t.length}function Jt(e,t,{characters:n=1/0,size:r=1/0,lines:i=!1}){a("string"==typeof e&&e.length<=4*Math.min(r,n),"terms",t)
;let s=i?e.replaceAll("\n",""):e;a(Tt.test(e)&&!jt.test(s)&&e.split("\n").every($t),"terms",t),a([...e].length<=n&&c(e).length<=r,"terms",t)}var Dt={
version:2**31-1,people:2**53-1,retry:365,answers:1e6,days:36600,changes:1e3,label_share:999,expects:2**53-1,reports_a_batch:2**31-1},Pt={
__proto__:null,fresh:[[],["answers"]],same:[[],[]],"per value":[[],[]],once:[[],["days","every"]],"kept change":[["days","changes"],[]],
present:[["every","expects"],["label_share"]]
},Rt=["days","changes","every","expects","answers","label_share"],Lt=["walk","two copies","divided","prefix","joint response","joint bits","joint hashed","each","sampled","indicator","kept change","kept changes"],Ft=/^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$/,Gt={
characters:500
},Kt=(e,t)=>Math.abs(e-t)<=1e-9*Math.max(Math.abs(e),Math.abs(t)),Yt=e=>Object(e)===e&&!Array.isArray(e),Ht=(e,t,n)=>Array.isArray(e)&&e.length>=t&&e.length<=n&&new Set(e).size===e.length,Wt=(e,t)=>"string"==typeof e&&e.length===t&&/^[0-9a-f]*$/.test(e)
;function Vt(e,t="day"){let n=e[t]
;return a("string"==typeof n&&/^(?!0000)\d{4}-\d\d-\d\d$/.test(n)&&Date.parse(n)==Date.parse(n)&&new Date(n).toISOString().startsWith(n),"terms",t),
Date.parse(n)/864e5}function Xt(e,t,n){return a(Yt(e)&&t.length&&Object.keys(e).sort()+""==[...t].sort()+"","terms",n),t.map(t=>e[t])}
function Zt({labels:e=[],attributes:t=[],sides:n=[]}){let r=t.flatMap(([e,t])=>[e,...Zt(t)])
;return[...e.filter(e=>"string"==typeof e),...r,...n.map(([e])=>e)]}function Qt(e,t,n,r){for(let e of Zt(t))Jt(e,"labels",Gt)
;let i=t=>t in e,{kind:s,low:l=0,high:u,period:d}="optional"===t.kind?t.of:t,[c,h]=["interval"===s,"circle"===s]
;if(i("unit")&&(a((c||h)&&!i("form"),"terms","unit"),Jt(e.unit,"unit",{characters:40})),i("step")){let t=(h?d:u-l)/o(e,"step")
;a((c||h)&&!i("scale")&&t>=1-1e-12&&t<=500&&(c||Math.abs(t-Math.round(t))<=1e-9),"terms","step")}if(i("scale")){let t=e.scale
;a(c&&!i("form")&&Array.isArray(t)&&t.length>=3&&t.length<=257,"terms","scale"),a([...t].every((e,n)=>Math.abs(o({edge:e
},"edge"))<=1e30&&(!n||t[n-1]<e))&&0===l&&u===t.length-1,"terms","scale")}if(i("form")){let{form:n}=e,i=t.labels
;"time"===n?a(h&&1440===d,"terms","form"):"date"===n?a(c&&[l,u].every(e=>Number.isInteger(e)&&e>=-719162&&e<=2932896),"terms","form"):(a("installed"===n&&r&&"categories"===t.kind&&Array.isArray(i),"terms","form"),
i.forEach((e,t)=>a(Vt({day:e})>(t?Vt({day:i[t-1]}):-1/0),"terms","form")))}if(i("clipped")&&a(!0===e.clipped&&c&&!i("scale"),"terms","clipped"),
i("outside")){let{outside:t}=e;a(i("clipped")&&Array.isArray(t)&&3===t.length,"terms","outside");let[n,r,s]=[...t].map(e=>o({outside:e},"outside"))
;a(0<=r&&r<=n&&n<=s&&s<=1,"terms","outside")}if(i("text"))for(let t of Xt(e.text,n,"text"))Jt(t,"text",Gt);if(i("names")){
a(["categories","several"].includes(t.kind),"terms","names");let r=t.count??t.labels.length;for(let t of Xt(e.names,n,"names")){
a(Ht(t,r,r),"terms","names");for(let e of t)Jt(e,"names",Gt)}}}function en({draw:e,cells:t,order:n,dimension:r}){
return"projective"===e?(n**r-1)/(n-1):"response"===e?t:"hadamard"===e?n:0}function tn(e,t,n){let r,i=e.specification;try{r=$(i,t)}catch(t){
if("draw"!==t.reason)throw t;let n=JSON.parse(JSON.parse(i).device).draw;if("string"!=typeof n||C[n])throw t
;return a(!Lt.includes(n),"terms","questions"),void JSON.stringify(e)}a(!Lt.includes(r.kind),"terms","questions")
;let[s,l]=r.ratio,u=r.delta?r.epsilon:Math.log1p(Number((s-l<<64n)/l)/2**64);a(Kt(o(e,"epsilon"),u)&&!r.delta==!("delta"in e),"promise",t),
r.delta&&a(Kt(o(e,"delta"),r.delta),"promise",t);let{domain:d,cells:c}=JSON.parse(r.device)
;return"kept change"===n&&a("response"===r.kind&&"categories"===d.kind&&2===c,"terms",t),r}function nn(e,t){let{scale:n,form:r}=e
;if(t.spend)return e=>[e];if(n)return e=>"number"==typeof e&&e==e?((e,t)=>{let n=Math.min(Math.max(t,e[0]),e.at(-1)),r=e.length-2;for(;r&&e[r]>n;)r--
;return r+(n-e[r])/(e[r+1]-e[r])})(n,e):null===e?null:void 0;let a=e=>{try{return Vt({text:e},"text")}catch{return}
},{labels:i}=JSON.parse(t.device).domain
;return e=>r&&"string"==typeof e?"date"===r?a(e):"time"===r?/^([01]\d|2[0-3]):[0-5]\d$/.test(e)?60*+e.slice(0,2)+ +e.slice(3):void 0:void 0===a(e)?void 0:i.findLast(t=>t<=e)??i[0]:e
}var rn=86400,an={day:rn,week:7*rn,year:366*rn,lifetime:1/0};function sn(){let{performance:e}=globalThis;return{wall:Math.floor(Date.now()/1e3),
boot:String(Math.round(e.timeOrigin)),elapsed:Math.floor(e.now()/1e3)}}function ln(e,t){let n=Math.floor(t/rn)
;return"day"===e?n:"week"===e?Math.floor((n+3)/7):"year"===e?new Date(n*rn*1e3).getUTCFullYear():0}function on(e,{wall:t,boot:n,elapsed:r}){
let a=n===e.boot;a&&(r=Math.max(r,e.elapsed));let i=a?r-e.elapsed:0,s=Math.max(e.wall,t);return{wall:s,boot:n,elapsed:r,ahead:e.ahead+s-e.wall-i}}
var un=(e,t)=>e.filter(e=>e.first<=t&&t<=e.last);function dn({entries:e,device:t,own:n,limits:r},a){
let{asker:i,first:s,last:l}=a,o=[...e,a],u=o.filter(e=>e.device===t),d=Object.hasOwn(r.quotas,i)?r.quotas[i]:r.quota,c=(e,t)=>{
for(let n=s;n<=l;n++)if(!t(un(e,n)))return!1;return!0},h=o.filter(e=>e.asker===i);if(null!==d&&!c(h,e=>X(e,{epsilon:d,delta:"0"
},"epsilon")>=0n))return"quota";for(let[e,t]of[[u,n],[o,r]]){if(!c(e,e=>Z(e,t)))return"budget";if(t.lifetime&&!Z(e,t.lifetime))return"lifetime"}}
function cn({start:e,days:t,every:n},r){if(!n)return[e+Math.floor((r-e)/t)*t,t];if("day"===n)return[r,1];if("week"===n)return[r-(r+3)%7,7]
;let a=new Date(r*rn*1e3),i=Date.UTC(a.getUTCFullYear(),a.getUTCMonth())/1e3/rn;return[i,Date.UTC(a.getUTCFullYear(),a.getUTCMonth()+1)/1e3/rn-i]}
function hn({epoch:e="lifetime",lifetime:t,quota:n,askers:r,now:i=sn}={}){a(Object.hasOwn(an,e),"rules","epoch");for(let[e,r]of Object.entries({
lifetime:t,quota:n}))a(void 0===r||o({[e]:r},e)>=0,"epsilon",e);return void 0!==r&&u({askers:r},"askers",0,2**52),{
assumes:({repeat:e,times:t})=>ae(t).concat("per value"===e?["the value never changes","the device's key stays on the device"]:[]),open(a,s){
if(!s)return a;let l=i(),o={...a.own,lifetime:void 0===t?null:{epsilon:V(t,64),delta:a.own.delta}},u={...o,epoch:e,quota:void 0===n?null:V(n,64),
quotas:{},askers:r??null};return{...a,own:o,limits:u,born:l.wall,clock:{...l,ahead:0},openings:u.askers}},
knows({repeat:e,days:t,start:n,data:r,every:a}){let i=(...e)=>e.every(Number.isInteger)
;return("once"===e?a?["day","week","month"].includes(a)&&t===n&&null===t:i(t,n)&&t>0:["fresh","same","per value"].includes(e)&&t===n&&null===t)&&(null===r||Array.isArray(r)&&2===r.length&&i(...r))
},decide(e,t,n,r,a){let{limits:s,born:l}=e,o=on(e.clock,i());if(o.ahead>an[s.epoch])return G("clock");let[u,d]=t.data??[o.wall,o.wall+1]
;if(!(u<d&&d<=o.wall+1))return G("data");if(n.first=ln(s.epoch,Math.max(u,l)),n.last=ln(s.epoch,Math.max(d-1,l)),n.last-n.first>=366)return G("data")
;let c={...e,clock:o};if(!c.askers.includes(t.asker)){if(0===c.openings)return G("asker");c.askers=[...c.askers,t.asker].sort(),
null!==c.openings&&c.openings--}let h,{phase:p,asker:m}=t;if(p){let e=c.coins??[],t=e.find(e=>e.asker===m&&e.name===p.name),n=(t,n)=>({...c,
coins:[...e,{asker:m,name:p.name,campaign:n,heads:t}]});if(void 0===p.follows){if(!t&&!a)return[{is:"silent"}]
;if(t||(c=h=n(v(a.source,1e3)<p.share,p.campaign)),!(t??c.coins.at(-1)).heads)return[G("phase")[0],h]}else{
if(e.some(e=>e.heads&&e.asker===m&&(e.name===p.name||e.campaign===p.follows)))return G("phase");t||(c=n(!1,p.follows))}}
let f,g="per value"===t.repeat&&a&&(r??n).device===c.device&&a.mark(),w=g?!c.told?.includes(g):void 0;if(w&&(c.told=[...c.told??[],g]),
r)return[void 0,c,w];if("once"===t.repeat){let n,r=Math.floor(o.wall/rn);if([f,n]=((e,t,n,r)=>{
let[a,i]=cn(t,n),s=e.choices.find(e=>Y(e,t)&&"once"===(e.repeat??"once")&&e.period===a);if(s||!r)return[s];let l={...K(t),repeat:"once",period:a,
day:a+v(r,i),device:e.device,answer:null};return[l,{...e,choices:[...e.choices,l]}]})(c,t,r,a?.source),c=h=n??h??c,
!n&&c===h&&!c.coins&&c.choices===e.choices&&(h=void 0),f?.day!==r||null!==f.answer)return[{is:"silent"},h]}let y=ne(c.entries,t)?"answers":dn(c,n)
;return y?[G(y)[0],h]:[void 0,f?{...c,choices:c.choices.map(e=>e===f?{...e,answer:n.id}:e)}:c,w]},
source:(e,t,n,r)=>"per value"===t.repeat?((e,{asker:t,question:n,fingerprint:r},a,i)=>{let s=JSON.stringify([e,i,t,n,r,a]),l=0,o=[];return{take(t){
for(;o.length<t;)o.push(...h(c(`${l++} ${s} ${e}`)));return Uint8Array.from(o.splice(0,t))}}})(e,t,n,r):void 0,
left({entries:e,own:t,limits:n,device:r,clock:a}){
let s=ln(n.epoch,Math.max(i().wall,a.wall)),l=e.filter(e=>e.device===r),o=X(un(l,s),t,"epsilon"),u=t.lifetime?X(l,t.lifetime,"epsilon"):o
;return ee(u<o?u:o,t)},act:e=>[{is:"acted"},{...e,clock:{...on(e.clock,i()),ahead:0},openings:e.limits.askers}]}}
var pn=({present:e},t)=>(e??[]).filter(({batch:e})=>e===t).map(({asker:e,name:t,batch:n})=>({asker:e,question:t,batch:n}));function mn(e,t,n){
let r=[...e.queue.filter(e=>e.id===t||e.batch===t),...pn(e,t)],[a,i]=ce(e,t);if(!i||r[0].batch!==t||!n)return[a,i];let{campaign:s,day:l,retry:o}=n,u={
id:t,asker:r[0].asker,campaign:s,until:l+o,questions:r.map(({question:e})=>e)};return[a,{...i,sent:[...(e.sent??[]).filter(({until:e})=>e>=l),u]}]}
function fn(e,t){
let n=e.queue.filter(e=>se(e)&&e.batch===t),r=e.sent?.find(e=>e.id===t),[a,i]=de(e,({batch:e})=>e===t),s=n.length+i+(r?.questions.length??0),{sent:l,...o}={
...a,queue:e.queue.filter(e=>!n.includes(e))},u=l?.filter(e=>e!==r);return s?[{is:"withdrawn",reports:s},u?.[0]?{...o,sent:u}:o]:[{is:"unknown"}]}
var gn=e=>JSON.stringify({dither:2,withdraw:e});function wn(e,t,n){let r={};try{r=Object(s(n))}catch{}
return[t>=200&&t<300&&r.withdrawn===e,"string"==typeof r.refused?r.refused:""]}async function yn(e,t,n,{fetch:r=globalThis.fetch}={}){
let a=[t].flat().map(({terms:e})=>e.asker),i={withdrawn:0,unsent:0,left:0,refused:[]},s=Math.floor(Date.now()/864e5),l=await e.account(e=>{
let t=e.queue.filter(e=>se(e)&&a.includes(e.asker)),n=t.filter(({batch:e})=>!e);i.unsent=n.length
;let r=(e.sent??[]).filter(({asker:e,until:t})=>a.includes(e)&&t>=s),l=(e.present??[]).filter(({asker:e})=>a.includes(e)),o=[...new Set([...t,...l].flatMap(({batch:e})=>e??[]))].map(e=>[e,void 0]),u=n[0]&&{
...e,queue:e.queue.filter(e=>!n.includes(e))};return[[...o,...r.map(({id:e,campaign:t})=>[e,t])],u]});for(let[t,a]of l){
let s=n.replace(/batches$/,"withdrawals").replace(/(campaigns\/)\w{64}/,(e,t)=>a?t+a:e),l={method:"POST",body:gn(t),headers:{
"content-type":"application/json"}
},[o,u]=await R(r,s,65536,l).then(async([e,t])=>[e.status,await t.text()]).catch(()=>[0,'{"refused":"unreachable"}']),[d,c]=wn(t,o,u)
;d?i.withdrawn+=(await e.account(e=>fn(e,t))).reports??0:(i.left++,i.refused.push(c||"status "+o))}return i}
var bn=(e,{asker:t,name:n})=>e.present?.find(e=>e.asker===t&&e.name===n),vn=(e,t)=>e.answers.find(e=>t&&"present"===e.permanent&&Y(e,t)),kn=({every:e},{wall:t})=>cn({
every:e,days:null,start:null},Math.floor(t/rn))[0],Mn=(e,t)=>({...e,present:[...(e.present??[]).filter(({asker:e,name:n})=>e!==t.asker||n!==t.name),t]
});function xn(e,t,n,r){let a=bn(e,n);if(!a?.batch)return[{is:"empty"}];let i=on(e.clock,t);if(kn(n,i)!==a.period)return[{is:"empty"},Mn({...e,clock:i
},{...a,batch:null})];let s=a.permanent&&vn(e,r);return[{is:"message",id:a.batch,public:!a.permanent,reports:s?[[s.fingerprint,s.report]]:[]}]}
function An({terms:e,questions:t,unanswered:n}){let{asker:r,name:i,every:s,repeat:l,label_share:o}=e
;a("present"===l,"asking","expected a campaign with repeat = present"),a(!n[0],"draw",n[0]);let[u]=Object.values(t);if(!u)return[{asker:r,name:i,
every:s}];let[d,c]=u,h=$(d,c.name),{mechanism:p,epsilon:m,delta:f,fingerprint:g}=h;return[{asker:r,name:i,every:s,share:o},{asked:{question:c.name,
asker:r,fingerprint:g,mechanism:p,epsilon:m,delta:f,assumes:[],repeat:"present",days:null,start:null,data:null,every:s},question:h,value:c.value,
installed:"installed"===c.form}]}var Sn=e=>new Date(864e5*e).toISOString().slice(0,10);async function qn(e,t,n,r=sn){
let[a,i]=An(t),{begins:s,ends:l}=t.terms;return e.account((e,o,u,d,c)=>{let h=dt(u,t.shown);if(h)return[ct("consent",h)]
;let m=r(),f=Math.floor(m.wall/rn),g=Math.min(Vt({day:l}),t.retired?Vt({day:t.retired})-1:1/0)
;if(f>g)return[ct("ended","the campaign ended on "+Sn(g))];if(f<Vt({day:s}))return[ct("early","the campaign begins on "+s)]
;let w=n??(i?.installed?Sn(Math.max(f,Math.floor(e.clock.wall/rn))):void 0),y=i&&i.question.inside(i.value(w))
;return i&&void 0===y&&!bn(e,a)?[ct("value",`question "${i.asked.question}": expected a value of its domain`)]:((e,t,n,r,a,i,{report:s,source:l})=>{
let{asker:o,name:u,share:d}=r;if(a&&!H(i,a,a.assumes))return G("policy");let c=on(e.clock,n),h={...e,clock:c};if(!h.askers.includes(o)){
if(0===h.openings)return G("asker");h.askers=[...h.askers,o].sort(),null!==h.openings&&h.openings--}let p=kn(r,c),m=bn(h,r)
;if(m&&null!==m.period&&p<=m.period)return[{is:"silent"}];let f=m?m.permanent:!!a&&v(l,1e3)<d,g=Mn(h,{asker:o,name:u,permanent:f,period:p,batch:t})
;if(f&&a&&null===(m?.period??null)&&!vn(h,a)){let e=ln(h.limits.epoch,Math.max(c.wall,h.born)),n={...K(a),id:t,device:h.device,
epsilon:W(a.epsilon,64),delta:W(a.delta,128),assumes:a.assumes,first:e,last:e};if(c.ahead<=an[h.limits.epoch]&&!dn(h,n)){let e=s(),r={...K(a),id:t,
permanent:"present",report:e};return[{is:"drawn",charged:n.epsilon,report:e},{...g,entries:[...h.entries,n],answers:[...h.answers,r]}]}}return[{
is:"present"},g]})(e,p(c.take(16)),m,a,i?.asked??null,d,{report:()=>p(i.question.draw(y,c)),mark:()=>"",source:c})})}
async function On(e,t,n,r={},i=sn){let[s,l]=An(t),{labels:o,retry:u}=t.terms,{label:d="",pack:c=st}=r
;return a(!d||o.includes(d),"label",`${JSON.stringify(d)} is not in the campaign; it lists ${JSON.stringify(o)}`),{
...await ht(()=>e.account((e,r,a)=>{let[{is:o,id:u,public:h,reports:p},m]=xn(e,i(),s,l?.asked??null);if("empty"===o)return[void 0,m]
;let f=p.map(([e,t])=>({fingerprint:e,report:t}));return[dt(a,t.shown,n)??{id:u,body:c(u,h?d:"",f)}]
}),(n,r)=>e.account(e=>"dropped"===r?he(e,n):mn(e,n,{campaign:t.id,day:Math.floor(i().wall/rn),retry:u})),n,r,await e.account((...[,,,,e])=>[e])),
waiting:await e.account(e=>[+("message"===xn(e,i(),s,l?.asked??null)[0].is)])}}async function Nn(e,t,n){
let r=2n**255n-19n,a=BigInt.asUintN(255,BigInt("0x"+p(n.slice().reverse()))),i=a*a;if(a>=r||a*(i-1n)*((121665n*i-243332n)*i+121666n)%r==0n)return!1
;let{subtle:s}=globalThis.crypto,l=await s.importKey("raw",n,"Ed25519",!1,["verify"]);return s.verify("Ed25519",l,t,e)}async function In(e,t){
a(!/^\s*dither-private-key/.test(t),"private"),a(globalThis.crypto?.subtle,"crypto")
;let n=s(e),{key:r,key_before:i}=n,l=async(e,t,n=r)=>a(Wt(t,128)&&Wt(n,64)&&await Nn(c(e),it(t),it(n)),"signature")
;return a(Wt(t,64)&&(r===t||i?.key===t),"key"),void 0!==i&&await l("dither next key 1\n"+r,i.signature,i.key??""),[n,l]}var Bn=e=>e.catch(e=>{
throw e instanceof r?e:new r("text")}),En=(e,t)=>Bn((async(e,t)=>{let[{campaign:n,key:r,key_before:i,signature:d,retired:m,card:f},g]=await In(e,t)
;a("string"==typeof n,"text"),await g("dither campaign 2\n"+n,d);let w=p(h(c(n)));null!==m&&(Vt(m),
await g(`dither retirement 1\n${w}\n${m.day}`,m.signature)),void 0!==f&&(await g("dither card 1\n"+f.text,f.signature),
a(s(f.text).campaign===w,"terms","card"));let y=await(async e=>{let[t,n]=l(e);a(2===t["dither-campaign"],"version")
;for(let[e,n,r]of[["name",64,!0],["asker",253,!1],["contact",500,!0],["purpose",4e3,!0]])Jt(t[e],e,{size:n,lines:r,..."asker"===e&&{characters:200}})
;for(let[e,n]of Object.entries(Dt))(e in t||["version","people","retry"].includes(e))&&u(t,e,1,n);a(Vt(t,"begins")<=Vt(t,"ends"),"terms","ends")
;let{labels:r,questions:i,promise:s,repeat:d}=t;a(Ht(r,0,1e3),"terms","labels");for(let e of r)Jt(e,"labels",{size:64,lines:!0});(e=>{
let{repeat:t,phase:n,every:r}=e;a("string"==typeof t&&Pt[t],"terms","repeat");let[i,s]=Pt[t]
;for(let t of Rt)a(t in e?i.concat(s).includes(t):!i.includes(t),"terms",t);"every"in e&&a(["day","week","month"].includes(r),"terms","every"),
a("once"!==t||"days"in e!="every"in e,"terms","days"),a("kept change"!==t||e.changes<e.days,"terms","changes"),
"phase"in e&&(a(Yt(n)&&1===Object.keys(n).length&&"present"!==t,"terms","phase"),"share"in n?u(n,"share",1,999):a(Wt(n.follows,64),"terms","phase")),
a("present"!==t||!("reports_a_batch"in e),"terms","reports_a_batch")})(t);let c=(e=>{let{languages:t,purposes:n}=e
;"languages"in e?a(Ht(t,1,40)&&t.every(e=>"string"==typeof e&&Ft.test(e)),"terms","languages"):a(!("purposes"in e),"terms","purposes");let r=t??[]
;if("purposes"in e)for(let e of Xt(n,r.slice(1),"purposes"))Jt(e,"purposes",{size:4e3,lines:!0});return r})(t)
;"sealing_key"in t&&await It(t.sealing_key);let h="present"===d,p=new Map,m=new Set,[f,g]=[0,0]
;a(Array.isArray(i)&&i.length<=(h?1:1024)&&(h||i.length),"terms","questions");for(let e of i){a(Yt(e),"terms","questions");let{name:n}=e
;Jt(n,"questions",{size:64});let r=tn(e,n,d);f+=o(e,"epsilon"),"delta"in e&&(a(o(e,"delta")>0,"promise",n),g+=e.delta)
;let i=JSON.parse((r??JSON.parse(e.specification)).device);if(r&&Qt(e,i.domain,c,h),h&&r){let e=en(i)
;a("categories"===i.domain.kind&&e>0&&e<=Math.min(128,Math.floor(t.expects*t.label_share/2e4)),"terms",n)}p.set(n,r),
m.add(r?.fingerprint??JSON.parse(e.specification).fingerprint)}return a(!h||i.length===+("label_share"in t),"terms","label_share"),
a(p.size===i.length&&p.size===m.size,"terms","questions"),a(Kt(o(s,"epsilon"),f),"promise","epsilon"),
a(g?Kt(o(s,"delta"),g):null===s.delta,"promise","delta"),a(Array.isArray(s.assumptions)&&!s.assumptions.length,"promise","assumptions"),n(),p
})(n),b=JSON.parse(n),v=[],k=[],M=((e,t)=>{let n=e=>p(h(c(JSON.stringify(e)))),{questions:r,begins:a,ends:i}=e;return{
general:n([Un.map(t=>e[t]??null),t]),questions:r.map(n),begins:a,ends:i}})(b,r);for(let e of b.questions){let t=y.get(e.name)
;t?v.push([e.name,[e.specification,{...jn(w,b,e,t,m),shown:M}]]):k.push(e.name)}return{id:w,key:r,before:i?.key,terms:b,retired:m&&m.day,
questions:Object.fromEntries(v),shown:M,unanswered:k}
})(e,t)),Un=["answers","asker","changes","contact","days","every","labels","people","purpose","purposes","repeat"];function jn(e,t,n,r,a){
let{asker:i,repeat:s,days:l,every:o,changes:u,answers:d,phase:c,labels:h,languages:p}=t;return{name:n.name,asker:i,repeat:s,...l&&{days:l,
start:Vt(t,"begins")},...o&&{every:o},...u&&{changes:u},...r.spend&&{times:1},...d&&{limit:{campaign:e,answers:d}},...c&&{phase:{campaign:e,
name:t.name,...c}},labels:h,taken:(n,r)=>mn(n,r,{campaign:e,day:Math.floor(Date.now()/864e5),retry:t.retry}),
ends:Math.min(Vt(t,"ends"),a?Vt(a)-1:1/0),value:nn(n,r),...p&&{languages:p},...n.text&&{text:n.text},...n.names&&{names:n.names},...n.unit&&{
unit:n.unit},...n.step&&{step:n.step},...n.form&&{form:n.form},...n.scale&&{scale:n.scale}}}
var Tn=({heads:e},t)=>!t||e[t[0]-1]===t[1],_n=(e,t,n)=>Bn((async()=>{let[{list:r,signature:i},s]=await In(e,t),o=[],u=new Map
;a(Array.isArray(r)&&r.length&&r.length<=1e4,"list");for(let e of r){let[{...t}]=l(e),{before:n,published:r,retired:i,next_key:s,day:d}=t
;a(n===(o.at(-1)??"0".repeat(64))&&Wt(r??i??s,64),"list"),a(Object.keys(t).length===(i?3:2)&&(!i||u.has(i))&&!u.has(r),"list"),i&&Vt(t),
s||u.set(r??i,d??null),o.push(p(h(c(e))))}await s("dither list 2\n"+o.at(-1),i);let d={heads:o,campaigns:u};return a(Tn(d,n),"list"),d})())
;async function Cn(e,t,n=globalThis.fetch,r){let i=async(e,t)=>{let[{ok:r,status:i},s]=await R(n,e,4194304)
;return a(r||!t,"campaign",`the collector answers ${i}: no campaign at this address; it may have moved, or ended long ago`),r?s.text():""
},l=await(r?.update(e=>[e])),o=t;for(;l?.keys[o];)o=l.keys[o];let u=await En(await i(e,!0),o);a(e.endsWith("/"+u.id),"fingerprint"),
a(r||u.key===o,"key");let d=r&&await i(e.replace(/campaigns\/\w+$/,"list")),c=d&&(await Bn((async()=>s(d))())).key===u.key?await _n(d,u.key):void 0
;return await(r?.update(({keys:e,heads:t}={keys:{},heads:{}})=>{u.key!==o&&a(!e[u.key]&&(e[o]??=u.key)===u.key,"key");let n=t[u.key]??t[u.before]
;return a(c?Tn(c,n)&&c.campaigns.has(u.id)&&(u.retired||!c.campaigns.get(u.id)):!n,"list"),c&&(t[u.key]=[c.heads.length,c.heads.at(-1)]),[0,{keys:e,
heads:t}]})),u}function zn(e){let t=100/(1+Math.exp(-e))*1.0000000000000002
;return`${[1,10,100].map(e=>(Math.ceil(t*e)/e).toFixed(Math.log10(e))).find(e=>+e<100)??"100"} %`}
var $n=e=>Number(e.toPrecision(12)),Jn=(e,t)=>$n(Number(F(e))/2**t);function Dn(e,t){
let n=e.entries.map(({asker:e,question:t,epsilon:n,delta:r,assumes:a})=>({asker:e,question:t,epsilon:Jn(n,64),delta:Jn(r,128),assumes:a
})),r=[...e.queue.filter(se),...(e.present??[]).filter(({batch:e})=>e)],a=e.entries.filter(({id:t})=>!e.queue.some(e=>e.id===t)).length,i=(e.sent??[]).flatMap(({asker:e,questions:t,until:n})=>n<Math.floor(Date.now()/864e5)?[]:{
asker:e,questions:t,until:new Date(864e5*n).toISOString().slice(0,10)});return[{epsilon:Jn(e.own.epsilon,64),left:$n(t.left(e)),given:n,
waiting:r.length,sent:a,withdrawable:i}]}function Pn({told:e,coins:t,sent:n,present:r,...a},i){
let{sent:s}=Dn(a,i)[0],l=a.entries.map(({data:e,times:t,campaign:n,...r})=>({...r,asker:"",question:"",fingerprint:""})),o={...a,entries:l,askers:[],
answers:[],choices:[],queue:[]};return[{...Dn(o,i)[0],sent:s},o,!0]}
var Rn=e=>String(Number(e.toPrecision(3))),Ln=class extends(globalThis.HTMLElement??Object){#e;get device(){return this.#e}set device(e){this.#e=e,
this.refresh()}async refresh(){this.#e&&this.#t(await this.#e.account(Dn))}
#t({epsilon:e,left:t,given:n,waiting:r},a="How much was given stays counted: the askers keep what they received."){
let i=this.shadowRoot??this.attachShadow({mode:"open"}),s=(e,t="",...n)=>{let r=document.createElement(e);return r.textContent=t,r.append(...n),r
},l=(e,t)=>(t.setAttribute("part",e),t),o=new Map;for(let{asker:e,question:t,epsilon:r}of n){let[,,n,a]=o.get(JSON.stringify([e,t]))??["","",0,0]
;o.set(JSON.stringify([e,t]),[e||"forgotten",t||"forgotten",n+1,a+r])}
let u=n.reduce((e,t)=>e+t.epsilon,0),d=n.length?`You have given ${n.length} ${1===n.length?"answer":"answers"} with noise, ε = ${Rn(u)} together. Whoever guessed 50 % about you before can know at most ${zn(u)} by them.`:"You have given nothing.",c=`Of ε = ${Rn(e)}, ${Rn(t)} is left. Reports that wait to be sent: ${r}.`,h=s("tr","",...["Who asked","What","Answers","ε"].map(e=>s("th",e)))
;for(let e of Array.from(h.children))e.setAttribute("scope","col")
;let p=[...o.values()].map(e=>s("tr","",...e.map((e,t)=>s("td",3===t?Rn(e):String(e))))),m=s("button","Forget"),f=!1;m.addEventListener("click",()=>{
f?this.#n():(f=!0,m.textContent="Forget names, kept answers and waiting reports? Press again.")}),
i.replaceChildren(l("text",s("p",d)),...p.length?[l("table",s("table","",s("caption","What you have given"),s("thead","",h),s("tbody","",...p)))]:[],l("text",s("p",c)),l("button",m),l("text",s("p",a)))
}async#n(){let e=await this.#e.account(Pn);this.#t(e,`Forgotten. ${e.sent} ${1===e.sent?"answer":"answers"} had been sent before.`),
this.dispatchEvent(new Event("erase"))}},{customElements:Fn}=globalThis;Fn&&!Fn.get("dither-account")&&Fn.define("dither-account",Ln);var Gn={en:{
agree:"I agree",decline:"No, thank you",agreed:"You agreed. You can change this at any time.",declined:"You declined. Nothing is answered or sent.",
asks:"{asker} asks:",until:"From {begins} to {ends}.",contact:"Contact: {contact}",
signal:"Your browser says that you do not want to be tracked. Nothing is sent unless you agree here.",answer:"Answer",none:"I prefer not to say",
thanks:"Thank you. Your answer was randomised on this device; only the random report is sent.",over:"This survey is over.",
spent:"Your privacy budget does not allow this answer. Nothing was sent.",refused:"Agree above to answer.",missing:"Please give an answer first.",
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
refused:"Stimmen Sie oben zu, um zu antworten.",missing:"Bitte geben Sie zuerst eine Antwort.",unknown:"Diese Seite kann diese Frage nicht zeigen.",
choose:"Bitte wählen",several:"Wählen Sie alles Zutreffende.",
one:"Ihre Antwort wird auf diesem Gerät verrauscht, bevor sie gesendet wird. Wer vorher 50 % sicher war, erreicht höchstens {reach}.",
total:"Ihre Antworten werden auf diesem Gerät verrauscht, bevor sie gesendet werden. Wer vorher 50 % sicher war, erreicht durch alle zusammen höchstens {total}.",
round:"Durch eine Antwort auf jede Frage: höchstens {reach}.",
unlimited:"Ihre Antworten werden auf diesem Gerät verrauscht, bevor sie gesendet werden. Auf Dauer gibt es keine Grenze außer der Ihres Geräts.",
first:"Nichts wird beantwortet oder gesendet, wenn Sie hier nicht zustimmen."}},Kn=(e,t)=>e.replace(/\{(\w+)\}/g,(e,n)=>t[n]??"")
;function Yn(e,t={},...n){let r=document.createElement(e);for(let[e,n]of Object.entries(t))r.setAttribute(e,n);return r.append(...n),r}
var Hn=globalThis.HTMLElement??Object,Wn=class extends Hn{static observedAttributes=["lang","name"];#r;get wanted(){
let e=this.closest?.("[lang]")?.getAttribute("lang");return[...e?[e]:[],...globalThis.navigator?.languages??[]]}get words(){
return Gn[ot(Object.keys(Gn),this.wanted)]}show(e,...t){this.#r??=this.attachShadow({mode:"open"}),
this.#r.replaceChildren(Yn("style",{},"\n:host { display: block; margin: 1rem 0; max-width: 40rem; font: inherit; line-height: 1.5; }\nfieldset, form { border: 0; margin: 0; padding: 0; min-width: 0; }\nlegend, .label { display: block; padding: 0; margin: 0 0 .5rem; font-weight: 600; overflow-wrap: anywhere; }\np, ul { margin: .5rem 0; overflow-wrap: anywhere; }\nul { padding-inline-start: 1.25rem; }\n.choice { display: flex; gap: .6rem; align-items: center; min-height: 2.75rem; cursor: pointer; overflow-wrap: anywhere; }\n.choice input { width: 1.25rem; height: 1.25rem; flex: none; margin: 0; }\n.field { display: flex; gap: .6rem; align-items: center; }\ninput[type=number], input[type=date], input[type=time], select { font: inherit; color: inherit; background: transparent; border: 1px solid; border-radius: .4rem; padding: .55rem .7rem; min-height: 2.75rem; box-sizing: border-box; max-width: 100%; }\noption { color: CanvasText; background: Canvas; }\n.buttons { display: flex; flex-wrap: wrap; gap: .6rem; margin: .8rem 0; }\nbutton { font: inherit; color: inherit; background: transparent; border: 1px solid; border-radius: .4rem; padding: .55rem 1.1rem; min-height: 2.75rem; cursor: pointer; }\nbutton:hover { text-decoration: underline; }\n:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }\n.note { font-size: .9em; }\n[role=status]:empty { display: none; }\n"),Yn("div",{
part:"box",...e&&{lang:e}},...t))}connectedCallback(){this.refresh()}attributeChangedCallback(){this.#r&&this.refresh()}tell(e,t){
this.dispatchEvent(new CustomEvent(e,{detail:t,bubbles:!0}))}},Vn=()=>{},Xn=e=>JSON.parse(e.question.device).domain;function Zn(e,t,n,r=document){
let a=[];for(let n of Array.from(r.querySelectorAll("dither-question"))){let r=t.questions[n.getAttribute("name")??""]
;r&&(a.push(n.inquiry=e.asking(...r)),n.device=e,n.refresh())}for(let a of Array.from(r.querySelectorAll("dither-consent")))Object.assign(a,{device:e,
campaign:t,address:n}),a.refresh();let{send:i,stop:s}=yt(e,a,n+"/batches"),l=()=>{i()};return r.addEventListener("answer",l),
r.addEventListener("consent",l),()=>{s(),r.removeEventListener("answer",l),r.removeEventListener("consent",l)}}var{customElements:Qn}=globalThis
;Qn&&!Qn.get("dither-question")&&(Qn.define("dither-question",class extends Wn{device;inquiry;#a;#i;async refresh(){
let{device:e,inquiry:t,words:n}=this;if(!e||!t)return;this.#a??=p(f().take(16))
;let[r,a]=this.#s(t),{epsilon:i}=await t.promise(),s="optional"===Xn(t).kind||t.labels().some(e=>null===e.value),l=ot(t.terms.languages??[],this.wanted)
;this.#i=Yn("p",{role:"status",part:"status"});let o=Yn("div",{class:"buttons"},Yn("button",{type:"submit",part:"button"},n.answer));if(s){
let e=Yn("button",{type:"button",part:"button"},n.none);e.addEventListener("click",()=>{this.#l(null)}),o.append(e)}let u=Yn("form",{part:"form",
novalidate:""},r,Yn("p",{part:"promise",class:"note",id:"promise"},Kn(n.one,{reach:zn(i)})),o);u.addEventListener("submit",e=>{e.preventDefault(),
this.#l(a())}),this.show(l,...a===Vn?[Yn("p",{part:"status"},n.unknown)]:[u,this.#i])}#s(e){
let t=this.words,n=e.text(this.wanted),r=e.labels(this.wanted).filter(({value:e})=>null!==e),{kind:a}=Xn(e)
;if("several"===a&&r.length)return this.#o("checkbox",n,r,t.several);if("categories"===a&&r.length&&r.length<=7)return this.#o("radio",n,r)
;let i=Yn("label",{class:"label",for:"control",part:"question"},n);if("categories"===a&&r.length){let e=[Yn("option",{value:""
},t.choose),...r.map((e,t)=>Yn("option",{value:String(t)},e.text))],n=Yn("select",{id:"control",part:"control","aria-describedby":"promise"},...e)
;return[Yn("div",{},i,n),()=>""===n.value?void 0:r[+n.value].value]}let s=(({terms:e,question:t})=>{
let{domain:n}=JSON.parse(t.device),{kind:r,low:a,high:i,period:s}="optional"===n.kind?n.of:n;if("interval"!==r&&"circle"!==r)return
;let l=e=>new Date(864e5*e).toISOString().slice(0,10);if("time"===e.form)return[{type:"time"},({value:e})=>e];if("date"===e.form)return[{type:"date",
min:l(a),max:l(i)},({value:e})=>e];let[o,u]=e.scale?[e.scale[0],e.scale.at(-1)]:"circle"===r?[0,s]:[a,i];return[{type:"number",inputmode:"decimal",
min:String(o),max:String(u),step:String(e.step??"any")},({valueAsNumber:e})=>e==e?e:void 0]})(e);if(!s)return[Yn("div"),Vn];let[l,o]=s,u=Yn("input",{
id:"control",part:"control","aria-describedby":e.terms.unit?"unit promise":"promise",...l}),d=e.terms.unit?[Yn("span",{id:"unit"},e.terms.unit)]:[]
;return[Yn("div",{},i,Yn("div",{class:"field"},u,...d)),()=>""===u.value?void 0:o(u)]}#o(e,t,n,r){let a=n.map((t,n)=>Yn("input",{type:e,name:"answer",
value:String(n),part:"control"})),i=n.map((e,t)=>Yn("label",{class:"choice"},a[t],Yn("span",{},e.text))),s=Yn("fieldset",{"aria-describedby":"promise"
},Yn("legend",{part:"question"},t),...r?[Yn("p",{class:"note"},r)]:[],...i),l=()=>n.flatMap((e,t)=>a[t].checked?[e.value]:[])
;return[s,()=>"checkbox"===e?l():l()[0]]}async#l(e){let t=this.words;if(void 0===e)return void this.#i.replaceChildren(t.missing)
;let n=await this.device.answer(this.inquiry,e,this.#a),{is:r,reason:a}=n,i="refused"!==r?t.thanks:"ended"===a?t.over:"consent"===a?t.refused:"value"===a?t.missing:t.spent
;this.#i.replaceChildren(i),this.tell("answer",n)}}),Qn.define("dither-consent",class extends Wn{device;campaign;address;async refresh(){
let{device:e,campaign:t,words:n}=this;if(!e||!t)return
;let{terms:r}=t,a=ot(r.languages??[],this.wanted),i=r.purposes?.[a]??r.purpose,[s,l]=[await e.consent(void 0,t),await e.chosen(t)],o=(e=>{
let{repeat:t,begins:n,ends:r,days:a,every:i,answers:s,promise:l}=e,o=(Date.parse(r)-Date.parse(n))/864e5+1,u=e=>12*+e.slice(0,4)+ +e.slice(5,7),d=e=>Math.floor((Date.parse(e)/864e5+3)/7),c=a?Math.ceil(o/a):"month"===i?u(r)-u(n)+1:"week"===i?d(r)-d(n)+1:o,h="same"===t||"present"===t?1:"once"===t||"kept change"===t?c:"fresh"===t?s:void 0
;return h&&h*l.epsilon})(r),u=Yn("p",{role:"status",part:"status"
},void 0===l?s?"":navigator.globalPrivacyControl?n.signal:n.first:l?n.agreed:n.declined),d=(e,t)=>{let n=Yn("button",{type:"button",part:"button",
"aria-pressed":String(l===t)},e);return n.addEventListener("click",()=>{this.#u(t)}),n},c={asker:r.asker,begins:r.begins,ends:r.ends,contact:r.contact
},h=r.promise.epsilon,p=[void 0===o?n.unlimited:Kn(n.total,{total:zn(o)}),...o===h?[]:[Kn(n.round,{reach:zn(h)})]];this.show(a,Yn("p",{part:"asker",
class:"label"},Kn(n.asks,c)),...i.split("\n").map(e=>Yn("p",{part:"purpose"},e)),Yn("ul",{part:"questions"
},...r.questions.map(({text:e,name:t})=>Yn("li",{},e?.[a]??t))),Yn("p",{part:"promise",class:"note"},p.join(" ")),Yn("p",{part:"note",class:"note"
},`${Kn(n.until,c)} ${Kn(n.contact,c)}`),Yn("div",{class:"buttons"},d(n.agree,!0),d(n.decline,!1)),u)}async#u(e){
await this.device.consent(e,this.campaign,this.address),await this.refresh(),this.tell("consent",e)}})),Object.assign(C,{...Pe,..._e,...Be,...Ve,
...rt,box:e=>{let[t,n,r,a]=Ue(e),[i,s]=Te(e.selector,e.domain.sides.length,t,n);return{names:"Optimal",ratio:a,inside:Ce(e,s,"selector"),
draw:(e,t)=>r(i(e),t)}},directions:e=>{let{domain:t,outside:n}=e,[r,i,s,l]=Ue(e),{exact:o,length:d,centre:c}=t
;a("vectors"===t.kind&&"clip"===n&&"boolean"==typeof o,"domain");let h=u(t,"dimension",+o+1,65536);a("number"==typeof d&&d>=1e-30&&d<=1e30,"domain"),
a(null===c||Array.isArray(c)&&c.length===h&&c.some(Boolean)&&c.every(e=>Math.abs(e)<=1e30),"domain"),
a(Number.isInteger(Math.log2(r))&&r>63&&r<4097,"cells");let p=c??new Array(h).fill(0);return{names:"Optimal",ratio:l,inside:e=>{
if(!Array.isArray(e)&&!ArrayBuffer.isView(e))return;let t=[...e];if(t.length!==h||!t.every(Number.isFinite))return
;let n=t.map((e,t)=>(e-p[t])/d),r=n.reduce((e,t)=>Math.max(e,Math.abs(t)),0);if(!Number.isFinite(r)||o&&!r)return
;let a=r>2||o?r:1,i=Math.sqrt(n.reduce((e,t)=>e+t/a*(t/a),0)),s=i*a
;return(o?Math.abs(s-1)<=.01:s<=1.00001)?t.map(e=>e+0):n.map((e,t)=>p[t]+d*(o?e/a/i:e/s)+0)},draw:(e,t)=>{let n=b(t,32),a=new Float64Array(h+ +!o),l=0
;e.forEach((e,t)=>{let n=a[t]=(e-p[t])/d;l+=n*n}),o||(a[h]=Math.sqrt(Math.max(1-l,0)));let u=s(((e,t,n,r)=>{
let a=e.length,i=a>128?2**Math.ceil(Math.log2(a)):n,s=Je(BigInt(t)<<16n,i),l=Je((1n<<48n)+(BigInt(t%256)<<16n),a),o=e=>{let t=new Float64Array(n)
;for(let r=0;r<i;r++)t[1+619*r%(n-1)]+=e[r]*s[r];return ze(t)},u=new Float64Array(n),d=new Float64Array(i);if(a>128)e.forEach((e,t)=>d[t]=e*l[t]),
u=o(ze(d));else{let t=new Float64Array(n);e.forEach((e,n)=>{d.fill(0)[n]=1,o(ze(d)).forEach((r,a)=>{u[a]+=r*l[n]*e,t[a]+=r*r})}),
t.forEach((e,t)=>u[t]/=Math.sqrt(Math.max(e,1)))}return[...u.keys()].sort((e,t)=>u[t]-u[e]||e-t).slice(0,r).sort((e,t)=>e-t)
})(a,n,r,i),t),c=u.length>1?u:Uint8Array.of(u[0],0);return Uint8Array.of(...c,...x(n,4),0,0)}}},lattice:e=>{
let[t,n]=k(e),r=e.lattice,i=e.start,s=r.kind,l=r.noise;a("clamped"===s||("ring"===s||"bounded"===s)&&"normal"!==l.decay,"draw");let c=((e,t)=>{
let n=d(e,"base",64),r=u(e,"reach",1,32768);a(n,"step");let[i,s]=((e,t,n)=>{let r=e.decay,i=[];if("normal"===r){
for(let e=Ge,r=t,a=0;a<=n;a++)i.push(e),e=e*r>>256n,r=r*t*t>>512n;let e=Ge;for(let r=t,a=2*n+1;a;a>>=1)1&a&&(e=e*r>>256n),r=r*r>>256n
;return[i,i[n]*Ge/(Ge-e)]}a("stairs"===r||"geometric"===r,"draw");let s="stairs"===r?u(e,"run",1,2**52):1,l="stairs"===r?u(e,"first",1,s):1
;for(let e=Ge,r=0;r<=n;r++)r>=l&&(r-l)%s===0&&(e=e*t>>256n),i.push(e);let o=i[n];return[i,BigInt(((l-n)%s+s)%s||s)*o+BigInt(s)*(o*t/(Ge-t))]
})(e,n,r),l=i.pop();"clamped"===t&&(l=s);let o="ring"===t?1n:2n,c=2n*Ke(i)-Ge+o*l,h=[...i.slice(1),l].map(e=>(e*(Re-(1n<<40n))+c-1n)/c)
;"bounded"===t&&(h=h.map(e=>e<1n<<32n?1n<<32n:e));let p=[Re-2n*Ke(h.slice(0,-1))-o*h.at(-1),...h]
;for(let e="clamped"===t?r-1:r;e--;)a(p[e]>=p[e+1],"step");let f=new Uint8Array(17*p.length);return p.forEach((e,t)=>{for(let n=0;n<17;n++,
e>>=8n)f[17*t+n]=Number(255n&e)}),a(m(f,16)===e.digest,"fingerprint"),p})(l,s),h=c.length-1,p=c.slice(1),f=N(i,2*h,n);if(a("line"===i.kind,"start"),
"ring"===s){a(0===i.fraction,"start");let e=Fe([...c,...p.slice(0,-1).reverse()]),n=2*h;return{names:"Purkayastha",ratio:[c[0],p.at(-1)],inside:t,
draw:(t,r)=>A(((f(t,r)+e(r))%n+n)%n,n)}}let g=Fe([...p.slice().reverse(),...c]);if("bounded"===s){
a(0===i.fraction&&i.last===h&&i.scale<=h/(n[1]-n[0]),"start"),u(r,"shift",h,h)
;let e=-c[0],s=c.map(t=>e+=t),l=s.map((e,t)=>e+s[h-t]+c[0]),o=Le(p,c),d=Le(l.slice(0,-1),l.slice(1))
;return a(c[h]>1n<<32n&&o[0]*d[0]<=o[1]*d[1],"step"),{names:"BoundedLaplace",ratio:[c[0],c[h]],inside:t,draw:(e,t)=>{let n=f(e,t)-h;for(;;){
let e=n+g(t);if(e>=0&&e<=h)return A(e,h+1)}}}}let w=u(r,"fraction",1,30),y=2**w,b=u(r,"last",1,2**31-y),v=Math.ceil(b/y)
;a(i.last===b&&i.fraction===w,"start"),a(v<h&&(b<y||b%y===0),"cells")
;let M=Ke(c.slice(h-v)),[x,S]=Le([M,...c.slice(0,h-v)],[c[h],...c.slice(v,h)]),q=BigInt(y),O=BigInt(Math.min(b,y));return{
names:"normal"===l.decay?"Gaussian":"Laplace Staircase",ratio:[(q-O)*S+O*x,q*S],inside:t,draw:(e,t)=>{let n=f(e,t)+g(t)
;return A(Math.min(Math.max(n,v),2*h)-v,2*h-v+1)},..."normal"===l.decay&&{delta:(e,t)=>{let n=1n<<320n,r=e=>c[Math.abs(e)],i=e=>e>0n?e:0n,s=0n,l=0n
;if(b>=y)for(let t=v-h+1;t<=v/2;t++)s+=q*i(n*r(t)-e*r(v-t));else for(let t=2-h;t<h;t++){let a=(q-O)*r(t)+O*r(t-1);s+=i(n*q*r(t)-e*a),
l+=i(n*a-e*q*r(t))}return((e,t,n)=>{let r=o({delta:n},"delta");a(r>0&&r<1,"privacy");let i=r,s=1n;for(;i%1;s*=2n)i*=2
;return a(e*s<=BigInt(i)*t,"privacy"),Number(((e<<128n)+t-1n)/t)/2**128})((s>l?s:l)+n*q*M,n*q*Re,t)}}}},optional:e=>{let{domain:t}=e
;a("optional"===t.kind&&"line"===e.start.kind,"domain");let[n,r]=k({domain:t.of,outside:e.outside
}),i=u(e,"cells",2,65536),s=Math.log2(i),l=u(e,"width",1,i/2);a(Number.isInteger(s),"cells");let o=i-l,[d,c,h]=q(l,e),p=N(e.start,i,r),m=h-BigInt(l)*c
;return{names:"Podium PM SW OGPM OGPMU Focused",ratio:[m+BigInt(i)*c,m],inside:e=>null===e?NaN:n(e),draw:(e,t)=>{
let n=+Number.isNaN(e),a=p([e,r[0]][n],t),[l,u,c]=d(t,s);return A([c,[((a+u*l)%o+o)%o,o+u][n]][l],i)}}},polynomial:e=>{
let{items:t,most:n,domain:r,elements:i}=et(e),s=u(e,"prime",t+n,2097151);for(let e=2;e*e<=s;e++)a(s%e,"cells")
;let l=u(e,"below",1,s-1),o=u(e,"terms",n+1,n+2);a(o<=2048,"cells")
;let[d,c,h]=[BigInt(s),BigInt(l),BigInt(s-l)],p=(d**BigInt(o)-1n).toString(16).length+1>>1;a(p<=256,"cells");let[m,f,g]=S(e,"heads"),w=Array.from({
length:n},(e,t)=>h**BigInt(t)*c*d**BigInt(n-1-t)),[y,b]=[w.reduce((e,t)=>e+t,0n),h**BigInt(n)],v=e=>(e%s+s)%s,k=e=>{let[t,n]=[1,e]
;for(let e=s-2;e;e=Math.floor(e/2))e%2&&(t=v(t*n)),n=v(n*n);return t};return{names:"SetResponse",ratio:[f*b,g*y],...r,draw:(e,t)=>{
let r=i(e,t),a=m(t),s=Ze(t,y),u=Ze(t,b),f=Ze(t,d**BigInt(o-n)),g=Qe(s,w),M=[n,g][+a],x=[u,w.slice(0,g).reduce((e,t)=>e-t,s)][+a],A=r.map((e,t)=>{
let n=t<M?h:t===M?c:d,r=Number(x%n)+(t<M?l:0);return x/=n,r});for(let e=1;e<n;e++)for(let t=n-1;t>=e;t--)A[t]=v(v(A[t]-A[t-1])*k(v(r[t]-r[t-e])))
;let S=[Number(f%d),Number(f/d)].slice(0,o-n);for(let e=n;e--;)S=[A[e],...S].map((t,n)=>v(t-r[e]*(S[n]??0)))
;let q=S.reduceRight((e,t)=>e*d+BigInt(t),0n);return Uint8Array.from({length:p},()=>{let e=Number(255n&q);return q>>=8n,e})}}},projective:Ye,
routes:e=>{let[t,n,r,i]=Ue(e),{domain:s,outside:l}=e;a("routes"===s.kind&&"sphere"!==s.area.kind,"domain");let o=ke({domain:s.area,outside:l
}),d=u(s,"points",2,64),{distance:c,by:h}=s;a(["mean","warped","frechet"].includes(c)&&["length","order"].includes(h),"domain")
;let p=o.box.map(([e,t])=>t-e),m=p.map(e=>Math.max(1,(e=>{let t=Math.round(e);return e%1==.5?t-t%2:t})(256*e/Math.max(...p)))),f=Ee(e.paths,"paths")
;a(f.length===2*d*t,"paths");let g=Array.from({length:d*t},(e,t)=>[f[2*t],f[2*t+1]]),w=Array.from({length:t},(e,t)=>g.slice(t*d,(t+1)*d)),y=(e,t)=>{
let[n,r]=[m[0]*(e[0]-t[0]),m[1]*(e[1]-t[1])];return Math.floor(Math.sqrt(n*n+r*r))},b=e=>{let t=w.map(t=>((e,t)=>{
if("mean"===c)return e.reduce((e,n,r)=>e+y(n,t[r]),0);let n=[];for(let r of e){let e=[];t.forEach((t,a)=>{
let i=y(r,t),s=Math.min(n[a-1]??1/0,n[a]??1/0,e[a-1]??1/0);e.push(s===1/0?i:"warped"===c?i+s:Math.max(i,s))}),n=e}return n[d-1]})(e,t))
;return[...t.keys()].sort((e,n)=>t[e]-t[n]||e-n)},v=xe(o);return{names:"Optimal",ratio:i,inside:e=>{let t=v(e);if(!t||t.length>2**20)return
;let n=t.map(e=>e.map((e,t)=>Math.min(Math.max(Math.floor((e-o.box[t][0])/p[t]*65536),0),65535)));return((e,t,n)=>{let r=[0]
;for(let e of n)r.push(r[r.length-1]+e);let a=t-1,i=0;return Array.from({length:t},(t,s)=>{let l=s*r[n.length];for(;i<e.length-2&&r[i+1]*a<=l;)i++
;let[o,u]=[e[i],e[i+1]??e[i]],d=l-r[i]*a,c=((r[i+1]??r[i])-r[i])*a;return c||(d=c=1),[0,1].map(e=>Math.floor((o[e]*(c-d)+u[e]*d)/c))})
})(n,d,n.slice(1).map((e,t)=>"order"===h?1:y(n[t],e)))},draw:(e,t)=>r(b(w[b(e)[0]]).slice(0,n),t)}},sectors:e=>{
let[t,n]=k(e),r=u(e,"cells",2,2**32),i=u(e,"width",1,r/2),s=Math.log2(i);a(Number.isInteger(s)&&r%i===0,"cells");let[l,o]=_(e,r/i,s),d=e.start
;a("line"===d.kind&&0===d.fraction,"start");let c=N(d,r,n);return{names:"Sectors",ratio:o,inside:t,draw:(e,t)=>A(l(Math.floor((c(e,t)%r+r)%r/i),t),r)}
},several:e=>{
let{items:t,most:n,domain:r,elements:i}=et(e),s=u(e,"chosen",1,Math.min(t,512)),l=u(e,"least",1,Math.min(n,s)),[o,d,c]=S(e,"heads"),h=32-Math.clz32(t+n-1)
;a(s*h<=512,"cells");let p=Array.from({length:Math.min(n,s)+1
},(e,r)=>Xe(n,r)*Xe(t,s-r)),[m,f]=[p.slice(0,l),p.slice(l)],[g,w]=[m,f].map(e=>e.reduce((e,t)=>e+t,0n));return{names:"SetResponse",ratio:[d*g,c*w],
...r,draw:(e,r)=>{
let a=i(e,r),u=o(r),d=[Qe(Ze(r,w),f)+l,Qe(Ze(r,g),m)][1-u],c=U(r,s,t),p=U(r,Math.min(n,s),n),y=c.map(e=>B(e,a)).map((e,t)=>t<d?a[p[t]]:e),b=new Uint8Array(s*h+7>>3)
;return E(y).forEach((e,t)=>{for(let n=0;n<h;n++)b[t*h+n>>3]|=(e>>n&1)<<(t*h+n&7)}),b}}}}),globalThis.dither=t})();
//# sourceMappingURL=../maps/dither.global.js.map
