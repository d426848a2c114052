import{v as e,o as t,F as a,M as r,n}from"./core.js"
;var i=e=>Uint8Array.from(e.match(/../g)??[],e=>parseInt(e,16)),s=async(...e)=>new Uint8Array(await new Blob(e).arrayBuffer())
;async function o(e,...t){let{subtle:a}=globalThis.crypto,r=await a.importKey("raw",e,{name:"HMAC",hash:"SHA-256"},!1,["sign"])
;return new Uint8Array(await a.sign("HMAC",r,await s(...t)))}async function c(e,t,a,r){
let{subtle:n}=globalThis.crypto,i=await n.importKey("raw",t.slice(0,16),"AES-GCM",!1,[e]);return new Uint8Array(await n[e]({name:"AES-GCM",
iv:a.slice(0,12)},i,r))}
var l="HPKE-v1",y="KEM\0 ",h="HPKE\0 \0\0",w=new Uint8Array(32),p=async(e,a,r,n,...i)=>(await o(e,t(256*n,2),l,a,r,...i,"")).slice(0,n)
;function u(e){let[,t,a,n]="string"==typeof e&&/^[0-9a-f]{2}0020([0-9a-f]{64})([0-9a-f]{4})((?:[0-9a-f]{8})+)$/.exec(e)||[]
;return r(n&&2*parseInt(a,16)===n.length&&n.match(/.{8}/g).includes("00010001"),"key","expected the sealing_key of a campaign"),i(t)}
async function f(e){let t=u(e);r(globalThis.crypto?.subtle,"crypto")
;let{subtle:a}=globalThis.crypto,{publicKey:n,privateKey:i}=await a.generateKey("X25519",!1,["deriveBits"]),s=await a.importKey("raw",t,"X25519",!1,[]).then(e=>a.deriveBits({
name:"X25519",public:e},i,256)).catch(()=>r(0,"key"));return[await a.exportKey("raw",n),s,t]}async function g(e,t){
let[a,r,n]=await f(e),u=i(e.slice(0,2)+"002000010001"),g=await p(await o(w,l,y,"eae_prk",r),y,"shared_secret",32,a,n),m=await o(g,l,h,"secret"),b=await s("\0",await o(w,l,h,"psk_id_hash"),await o(w,l,h,"info_hash","message/bhttp request\0",u)),d=(e,t)=>p(m,h,e,t,b),A=await p(await d("exp",32),h,"sec",16,"message/bhttp response"),v=await c("encrypt",await d("key",16),await d("base_nonce",12),t)
;return[await s(u,a,v),async e=>{let t=await o(await s(a,e.slice(0,16)),A);return c("decrypt",await o(t,"key"),await o(t,"nonce"),e.slice(16))}]}
function m(e){let a="string"==typeof e?n(e):e,r=a.length
;return(r<64?[r]:r<16384?[64|r>>8,255&r]:[128|r>>24,...t(r,3).reverse()]).concat(Array.from(a))}function b(e,t,a="",r=""){
let{host:n,pathname:i,search:s}=new URL(t),o=[0,...[e,"https",n,i+s].flatMap(m),...m(a&&m("content-type").concat(m(a))),...m(r)],c=new Uint8Array(2**Math.max(10,Math.ceil(Math.log2(o.length))))
;return c.set(o),c}function d(e){let t=0,a=a=>(r((t+=a)<=e.length,"text"),e.subarray(t-a,t)),n=()=>{let[e]=a(1)
;return a((1<<(e>>6))-1).reduce((e,t)=>256*e+t,63&e)},i=()=>a(t<e.length?n():0),s=()=>String.fromCharCode(...a(n()));r(1===n(),"text");let o=n()
;for(;o>=100&&o<200;o=n())i();let c=[],l=(t<e.length?n():0)+t;for(;t<l;)c.push([s(),s()]);r(t===l,"text");let y=i();return i(),
r(!e.subarray(t).some(Boolean),"text"),new Response(y.length?y:null,{status:o,headers:c})}function A(e,t,n=globalThis.fetch){return u(t),
async(i,{method:s="GET",body:o,headers:c,keepalive:l,...y}={})=>{let{"content-type":h}=c??{},[w,p]=await g(t,b(s,i,h,o)),u={...y,method:"POST",body:w,
keepalive:!!l&&w.length<65536,headers:{"content-type":"message/ohttp-req"}},[f,m]=await a(n,e,("GET"===s?2**23:2**17)+1024,u);try{
return r(f.ok,"text"),d(await p(new Uint8Array(await m.arrayBuffer())))}catch{return Response.error()}}}
export{f as agree,b as binaryRequest,d as binaryResponse,g as encapsulate,A as relayed};
//# sourceMappingURL=../maps/relay.js.map
