import{v as t,o as e,F as a,M as r,n}from"./core.js"
;var i=t=>Uint8Array.from(t.match(/../g)??[],t=>parseInt(t,16)),s=async(...t)=>new Uint8Array(await new Blob(t).arrayBuffer())
;async function o(t,...e){let{subtle:a}=globalThis.crypto,r=await a.importKey("raw",t,{name:"HMAC",hash:"SHA-256"},!1,["sign"])
;return new Uint8Array(await a.sign("HMAC",r,await s(...e)))}async function c(t,e,a,r){
let{subtle:n}=globalThis.crypto,i=await n.importKey("raw",e.slice(0,16),"AES-GCM",!1,[t]);return new Uint8Array(await n[t]({name:"AES-GCM",
iv:a.slice(0,12)},i,r))}
var l="HPKE-v1",y="KEM\0 ",w="HPKE\0 \0\0",h=new Uint8Array(32),p=async(t,a,r,n,...i)=>(await o(t,e(256*n,2),l,a,r,...i,"")).slice(0,n)
;function u(t){let[,e,a,n]="string"==typeof t&&/^[0-9a-f]{2}0020([0-9a-f]{64})([0-9a-f]{4})((?:[0-9a-f]{8})+)$/.exec(t)||[]
;return r(n&&2*parseInt(a,16)===n.length&&n.match(/.{8}/g).includes("00010001"),"key"),i(e)}async function f(t){let e=u(t)
;r(globalThis.crypto?.subtle,"crypto")
;let{subtle:a}=globalThis.crypto,{publicKey:n,privateKey:i}=await a.generateKey("X25519",!1,["deriveBits"]),s=await a.importKey("raw",e,"X25519",!1,[]).then(t=>a.deriveBits({
name:"X25519",public:t},i,256)).catch(()=>r(0,"key"));return[await a.exportKey("raw",n),s,e]}async function g(t,e){
let[a,r,n]=await f(t),u=i(t.slice(0,2)+"002000010001"),g=await p(await o(h,l,y,"eae_prk",r),y,"shared_secret",32,a,n),m=await o(g,l,w,"secret"),b=await s("\0",await o(h,l,w,"psk_id_hash"),await o(h,l,w,"info_hash","message/bhttp request\0",u)),d=(t,e)=>p(m,w,t,e,b),A=await p(await d("exp",32),w,"sec",16,"message/bhttp response"),v=await c("encrypt",await d("key",16),await d("base_nonce",12),e)
;return[await s(u,a,v),async t=>{let e=await o(await s(a,t.slice(0,16)),A);return c("decrypt",await o(e,"key"),await o(e,"nonce"),t.slice(16))}]}
function m(t){let a="string"==typeof t?n(t):t,r=a.length
;return(r<64?[r]:r<16384?[64|r>>8,255&r]:[128|r>>24,...e(r,3).reverse()]).concat(Array.from(a))}function b(t,e,a="",r=""){
let{host:n,pathname:i,search:s}=new URL(e),o=[0,...[t,"https",n,i+s].flatMap(m),...m(a&&m("content-type").concat(m(a))),...m(r)],c=new Uint8Array(2**Math.max(10,Math.ceil(Math.log2(o.length))))
;return c.set(o),c}function d(t){let e=0,a=a=>(r((e+=a)<=t.length,"text"),t.subarray(e-a,e)),n=()=>{let[t]=a(1)
;return a((1<<(t>>6))-1).reduce((t,e)=>256*t+e,63&t)},i=()=>a(e<t.length?n():0),s=()=>String.fromCharCode(...a(n()));r(1===n(),"text");let o=n()
;for(;o>=100&&o<200;o=n())i();let c=[],l=(e<t.length?n():0)+e;for(;e<l;)c.push([s(),s()]);r(e===l,"text");let y=i();return i(),
r(!t.subarray(e).some(Boolean),"text"),new Response(y.length?y:null,{status:o,headers:c})}function A(t,e,n=globalThis.fetch){return u(e),
async(i,{method:s="GET",body:o,headers:c,keepalive:l,...y}={})=>{let{"content-type":w}=c??{},[h,p]=await g(e,b(s,i,w,o)),u={...y,method:"POST",body:h,
keepalive:!!l&&h.length<65536,headers:{"content-type":"message/ohttp-req"}},[f,m]=await a(n,t,("GET"===s?2**23:2**17)+1024,u);try{
return r(f.ok,"text"),d(await p(new Uint8Array(await m.arrayBuffer())))}catch{return Response.error()}}}
export{f as agree,b as binaryRequest,d as binaryResponse,g as encapsulate,A as relayed};
//# sourceMappingURL=../maps/relay.js.map
