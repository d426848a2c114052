var e,t,n,r,i,a,l,s,o,u,c,h,f,d,g,p,m,w,b,y,U;function I(e){let t=256n;for(;e%1;t*=2n)e*=2;let n=BigInt(e),r=1n<<320n,i=r
;for(let e=1n;r>0n;e++)r=r*n/(t*e),i+=r;for(let e=0;e<8;e++)i=i*i>>320n;return i}function M(t,n,r){if(!t)throw new e(n,r)}function v(e){
let n=JSON.parse(e);return M(t(JSON.stringify(n))===t(e),"text"),n}function k(e){let t=[];return M(JSON.stringify(JSON.parse(e))===e,"text"),
[JSON.parse(e,(e,n)=>{if(Object(n)!==n)return encodeURI(n),n;let r=Object.keys(n),i=new Set(r);return t.push(i),
M(Array.isArray(n)||r+""==r.sort()+"","text"),new Proxy(n,{get:(e,t)=>(i.delete(t),e[t])})}),()=>t.forEach(e=>e.forEach(e=>M(0,"fields",e)))]}
function x(e,t,n=e[t]){return M(Number.isFinite(n),"number",t),n}function A(e,t,n,r,i=e[t]){return M(Number.isSafeInteger(i)&&i>=n&&i<=r,"number",t),i
}function B(e,t,n,r=e[t],i=0n){return M(r?.length<=n&&(i=BigInt("0x"+r)).toString(16)===r,"number",t),i}function S(e){
let t=e.length+72>>6<<6,n=new Uint8Array(t),r=new DataView(n.buffer);n.set(e),n[e.length]=128,r.setUint32(t-4,8*e.length)
;let i=new Uint32Array(8),a=new Uint32Array(64),l=new Uint32Array(64);for(let e=2,t=0;t<64;e++){let n=2;for(;e%n;)n++;n<e||(i[t]=e**.5*2**32,
a[t++]=e**(1/3)*2**32)}let s=(e,...t)=>t.reduce((t,n)=>t^(e>>>n|e<<-n),0);for(let e=0;e<t;e+=64){let t=[...i];for(let n=0;n<64;n++){
let[i,o,u,c,h,f,d,g]=t,p=l[n-15],m=l[n-2];l[n]=n<16?r.getUint32(e+4*n):l[n-16]+l[n-7]+(s(p,7,18)^p>>>3)+(s(m,17,19)^m>>>10)
;let w=g+s(h,6,11,25)+(h&f^~h&d)+a[n]+l[n];t=[w+s(i,2,13,22)+(i&o^i&u^o&u)|0,i,o,u,c+w|0,h,f,d]}t.forEach((e,t)=>i[t]+=e)}
return i.forEach((e,t)=>r.setUint32(4*t,e)),n.slice(0,32)}function N(){let{crypto:e}=globalThis;M(e?.getRandomValues,"source")
;let t=new Uint8Array,n=0;return{take(r){n+r>t.length&&(t=e.getRandomValues(new Uint8Array(r+1024)),n=0);let i=t.slice(n,n+r);return t.fill(0,n,n+=r),
i}}}function O(e,t=0,n=e.length,r=0){for(;n-- >t;)r=256*r+e[n];return r}function P(e,t){let n;do{n=s(e,32-Math.clz32(t-1))}while(n>=t);return n}
function R({domain:e,outside:t}){let n="circle"===e.kind;M(t===(n?"wrap":"clip")&&(n||"interval"===e.kind),"domain")
;let r=n?0:x(e,"low"),i=x(e,n?"period":"high");return M(r>=-1e30&&i<=1e30&&i-r>=1e-30,"domain"),[e=>{if("number"!=typeof e||e!=e)return
;if(!n)return Math.min(Math.max(e,r),i);let t=e%i;return t==t?(t+i*+(t<0))%i:void 0},[r,i]]}function E({domain:e,outside:t}){
if(M("categories"===e.kind&&"refuse"===t,"domain"),void 0!==e.count){let t=A(e,"count",2,4294967296)
;return[e=>Number.isInteger(e)&&e>=0&&e<t?e:void 0,t]}let n=e.labels,r=new Map(n.map((e,t)=>(M("number"!=typeof e||Number.isSafeInteger(e),"domain"),
[Object(e)===e?x(e,"number"):e,t]))),i=r.has(!0)&&r.has(1)||r.has(!1)&&r.has(0);return M(r.size>1&&r.size===n.length&&!i,"domain"),
[e=>r.get(e),r.size]}function _(e,t){let n=1;for(;256**n<t;)n*=2;return o(e,n)}function j(e,t){let n=B(e,t,32),r=n>>64n,i=BigInt.asUintN(64,n)
;return[e=>{let t=a(e.take(8));return+(t===r?a(e.take(8))<i:t<r)},n,(1n<<128n)-n]}function z(e,t){
let n=t.bits,r=B(t,"step",24),i=BigInt(e),s=r>>32n,o=n/8-4;M(96===n?r:64===n&&s,"step");let u=1n<<BigInt(n-32);return M(i*(s+1n)<=u,"step"),[(e,t)=>{
let n=e.take(o+(t+7>>3)),c=o,h=o<8?BigInt(O(n,0,4,1))-u:a(n),f=h<i*s,d=Number(h/(s||1n)),g=h-u+i;return g>=0&&(n=Uint8Array.of(...n,...e.take(4)),
f=O(n,o,c+=4)<BigInt.asUintN(32,r),d=Number(g)),[+f,d,l(n,t,c)]},r,1n<<BigInt(n)]}function T(e,t,n){
let i=e.kind,a=x(e,"origin"),l=x(e,"scale"),s=e=>Math.trunc((e-a)*l),o=(e,t)=>(Math.abs(s(e))-Math.abs(s(e)-t)+t)/2,c=2**(t>65536?52:31),h=Math.max(...n.map(e=>Math.abs(e-a)*l))
;if(M(l>0&&h*(1+2**-19)<c,"start"),"line"===i){let t=A(e,"fraction",0,30),n=null===e.last,r=n?h:A(e,"last",0,c);return M(r<=c-2**t,"start"),
(e,i)=>u(n?s(e):o(e,r),i,t)}let f=[];if("steps"===i)return e.counts.forEach((n,r)=>{
for(let i=A(e,"counts",1,65536-f.length,n);i--;)f.push(A(e,"starts",0,t-1,e.starts[r]))}),M(f.length,"start"),e=>f[o(e,f.length-1)]
;let d=Uint8Array.from(e.bits.match(/../g),e=>parseInt(e,16));M("knots"===i&&t<=65536&&r(d)===e.bits,"start");let g=65536*t;f.push(A(e,"first",0,g-1))
;for(let[t,n]of e.pieces)for(let r=A(e,"pieces",1,32768-f.length,t);r--;){let t=f.length-1,r=f[t]+A(e,"pieces",-g,g,n)+(d[t>>3]>>(7&t)&1)
;f.push(A(e,"pieces",0,g-1,r))}let p=f.length-1;return M(p&&d.length===p+7>>3&&!(d.at(-1)>>1+(p-1&7)),"start"),(e,t)=>u(f[u(o(e,65536*p-1),t)],t)}
function J(e,t){let n=new Uint8Array(e+7>>3);for(let r=0;r<e;r++)n[r>>3]|=t(r)<<(7&r);return n}function V(e,t,n){let r=[]
;for(;r.length<t;)r.push(h(P(e,n-r.length),f([...r])));return r}function $(e,t){let n=A(e,"cells",2,4294967296),r=Math.log2(n)
;M("sliding"===e.draw&&Number.isInteger(r),"cells");let i=A(e,"width",1,n-1),[a,l,s]=z(i,e),o=T(e.start,n,t),u=s-BigInt(i)*l;return[n,(e,t)=>{
let i=o(e,t),[l,s,u]=a(t,r);return(u+(i+s-u&-l)&n-1)>>>0},[u+BigInt(n)*l,u]]}function q(e,t,n=0){let[r,i,a]=z(t,e);return[(e,t)=>{let[i,a,l]=r(t,n)
;return(e+i*(a-e))*2**n+l},[a-BigInt(t-1)*i,i]]}function D(t,r){try{M(t.length<2**22,"text")
;let e=v(t),{dither:r,device:a,mechanism:l,parameters:s,fingerprint:o}=e;M(2===r&&"codebook"in e&&6===Object.keys(e).length,"version"),
M(o===i(n(a)),"fingerprint");let[u,c]=k(a),h=u.draw;M(h===h+"","draw"),M("function"==typeof m[h],"draw",w[h]&&`${l} needs dither-ldp/${w[h]}`)
;let f=x(s,"epsilon");M(f>=1e-6&&f<=50,"epsilon");let d=m[h](u),{names:g,ratio:p,inside:b,delta:y}=d;M(g.split(" ").includes(l),"draw"),c();let U=I(f)
;return M(y||p[0]>p[1]&&p[0]<<320n<=U*p[1],"privacy"),{...d,mechanism:l,kind:h,epsilon:f,delta:y?y(U,s.delta):0,fingerprint:o,device:a,report(e,t){
let n=b(e);return void 0===n?n:d.draw(n,t)}}}catch(t){let{reason:n,field:i}=t instanceof e?t:new e("text");throw new e(n,i,r)}}
async function F(t,n,r,i){U(n);let a,l,s=new AbortController,o=new Promise((t,n)=>a=setTimeout(()=>n(new e("late")),1e3*b));try{
let e=await Promise.race([o,t(n,{...i,credentials:"omit",referrerPolicy:"no-referrer",redirect:"manual",signal:s.signal})]);l=e.body?.getReader()
;let a=[];for(let e,t=0;l&&(e=await Promise.race([o,l.read()])).value;a.push(e.value))M((t+=e.value.length)<=r,"size")
;return[e,l?new Response(new Blob(a)):e]}finally{clearTimeout(a),s.abort(),l?.cancel().catch(()=>0)}}e=class extends Error{constructor(e,t="",n=""){
super((n&&`question "${n}": `)+e+(t&&": "+t)),this.name="Malformed",this.reason=e,this.field=t,this.question=n}},
t=e=>e.replace(/\\./g,"").replace(/"[^"]*"/g,"").split(":").length,n=e=>(new TextEncoder).encode(e),
r=e=>Array.from(e,e=>(e+256).toString(16).slice(1)).join(""),i=(e,t=32)=>r(S(e)).slice(0,t),
a=e=>new DataView(e.buffer,e.byteOffset).getBigUint64(0,!0),l=(e,t,n=0)=>Math.floor(O(e,n)*2**(t-8*(e.length-n))),s=(e,t)=>l(e.take(t+7>>3),t),
o=(e,t)=>Uint8Array.from({length:t},(t,n)=>e*2**(-8*n)),u=(e,t,n=16)=>Math.floor((e+s(t,n))*2**-n)+0,c=e=>{
let[t,n]=E(e),r=A(e,"size",n,Math.min(n,2**24)),[i,a,l]=j(e,"own"),[s,o,u]=j(e,"other");return M(0n<o&&o<a,"step"),{names:"OUE SUE",ratio:[a*u,l*o],
inside:t,draw:(e,t)=>J(r,n=>(n===e?i:s)(t))}},h=(e,t)=>t.reduce((e,t)=>e+ +(e>=t),e),f=e=>e.sort((e,t)=>e-t),g=(d=(e,t,n,r)=>i=>{
let[a,l]=E(i),s=A(i,"size",l,Math.min(l,65536))-1,o=A(i,"chosen",t,Math.min(n,s)),[u,c,h]=j(i,"heads");return{names:e,
ratio:[c*BigInt(l-o),h*BigInt(o)],inside:a,draw:(e,t)=>r(e,u(t),o,s,t)}})("SubsetSelection",1,65536,(e,t,n,r,i)=>{let a=[]
;for(let e=n-t;a.length<r;e-=a.at(-1))a.push(+(P(i,r-a.length)<e));return a[r]=a[e],a[e]=t,J(r+1,e=>a[e])}),p=d("SubsetIndices",2,8,(e,t,n,r,i)=>{
let a=V(i,n,r).map(t=>h(t,[e]));return a[n-1]=[a[n-1],e][t],Uint8Array.from(f(a).flatMap(e=>[..._(e,r+1)]))}),m={__proto__:null,sliding:e=>{
let[t,n]=R(e),[r,i,a]=$(e,n);return{names:"Podium PM SW OGPM OGPMU Duchi TwoPoint Optimal Focused",ratio:a,inside:t,draw:(e,t)=>_(i(e,t),r)}},
mixture:e=>{let[t,n]=R(e),[r,i,a]=$(e.first,n),[l,o,u]=$(e.second,n),c=A(e,"heads",0,2**32-1);return{names:"Hybrid",ratio:a[0]*u[1]>u[0]*a[1]?a:u,
inside:t,draw:(e,t)=>_(s(t,32)<c?i(e,t):r+o(e,t),r+l)}},response:e=>{let[t,n]=E(e);A(e,"width",1,1);let[r,i]=q(e,A(e,"cells",n,n));return{
names:"KRR RR",ratio:i,inside:t,draw:(e,t)=>_(r(e,t),n)}},bits:c,subset:g,indices:p},w={__proto__:null,sectors:"angles",box:"box",
directions:"vectors",routes:"routes",hashed:"hashed",hadamard:"hashed",channel:"tables",table:"tables",splines:"tables",lattice:"lattice",
nearest:"nearest",listing:"nearest",optional:"optional",pair:"paths",polar:"paths",walk:"paths",projective:"projective",questions:"profile",
several:"several",polynomial:"polynomial"
},b=30,y=/^(https:\/\/[^\s\\/?#@]+|http:\/\/(localhost|\[::1]|127(\.(25[0-5]|(2[0-4]|1\d|[1-9])?\d)){3})(:\d+)?)(\/[^\s\\?#]*)?$/i,
U=e=>M(y.test(e?.includes("://")?e:new URL(e,globalThis.location?.href??"no:/").href),"address","expected https, or this machine")
;export{A,B,D as readQuestion,E,F,I,M,N as systemSource,O,P,R,S,T,U,V,_,a,e as Malformed,f,h,i,j,k,m as draws,n,o,q,r as hex,s,v,x,z};
//# sourceMappingURL=../maps/core.js.map
