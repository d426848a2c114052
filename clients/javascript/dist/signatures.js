import{v as e,M as t,readQuestion as s,x as a,draws as r,k as n,A as i,o as l,F as o,n as p,hex as c,Malformed as u,S as d}from"./core.js"
;var f=e=>Uint8Array.from(e.match(/../g)??[],e=>parseInt(e,16));new Uint8Array(32)
;var m=/[\0-\x1f\x7f-\x9f\u2028\u2029\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e0fff}\ud800-\udfff]/u,h=/[^ \n\xa0\xad\u061c\u1680\u2000-\u200f\u202a-\u202f\u205f\u2066-\u2069\u3000\ufe00-\ufe0f]/u,y=/[\u202a-\u202e\u2066-\u2069]/g,[g,b]=[8236,8297]
;function k(e){let t=[];for(let s of e.match(y)??[]){let e=s.charCodeAt(0);if(e!==g&&e!==b)t.push(e<8294?g:b);else if(t.pop()!==e)return!1}
return!t.length}function w(e,s,{characters:a=1/0,size:r=1/0,lines:n=!1}){t("string"==typeof e&&e.length<=4*Math.min(r,a),"terms",s)
;let i=n?e.replaceAll("\n",""):e;t(h.test(e)&&!m.test(i)&&e.split("\n").every(k),"terms",s),t([...e].length<=a&&p(e).length<=r,"terms",s)}var v={
version:2**31-1,people:2**53-1,retry:365,answers:1e6,days:36600,changes:1e3,label_share:999,expects:2**53-1,reports_a_batch:2**31-1},x={
__proto__:null,fresh:[[],["answers"]],same:[[],[]],"per value":[[],[]],once:[[],["days","every"]],"kept change":[["days","changes"],[]],
present:[["every","expects"],["label_share"]]
},A=["days","changes","every","expects","answers","label_share"],_=["walk","two copies","divided","prefix","joint response","joint bits","joint hashed","each","sampled","indicator","kept change","kept changes"],M=/^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$/,O={
characters:500
},S=(e,t)=>Math.abs(e-t)<=1e-9*Math.max(Math.abs(e),Math.abs(t)),N=e=>Object(e)===e&&!Array.isArray(e),j=(e,t,s)=>Array.isArray(e)&&e.length>=t&&e.length<=s&&new Set(e).size===e.length,q=(e,t)=>"string"==typeof e&&e.length===t&&/^[0-9a-f]*$/.test(e)
;function z(e,s="day"){let a=e[s]
;return t("string"==typeof a&&/^(?!0000)\d{4}-\d\d-\d\d$/.test(a)&&Date.parse(a)==Date.parse(a)&&new Date(a).toISOString().startsWith(a),"terms",s),
Date.parse(a)/864e5}function J(e,s,a){return t(N(e)&&s.length&&Object.keys(e).sort()+""==[...s].sort()+"","terms",a),s.map(t=>e[t])}
function $({labels:e=[],attributes:t=[],sides:s=[]}){let a=t.flatMap(([e,t])=>[e,...$(t)])
;return[...e.filter(e=>"string"==typeof e),...a,...s.map(([e])=>e)]}function I(e,s,r,n){for(let e of $(s))w(e,"labels",O)
;let i=t=>t in e,{kind:l,low:o=0,high:p,period:c}="optional"===s.kind?s.of:s,[u,d]=["interval"===l,"circle"===l],f=u&&!i("form")&&!i("scale")
;if(i("unit")&&(t((u||d)&&!i("form"),"terms","unit"),w(e.unit,"unit",{characters:40})),i("step")){let s=(d?c:p-o)/a(e,"step")
;t((u||d)&&!i("scale")&&s>=1-1e-12&&s<=500&&(u||Math.abs(s-Math.round(s))<=1e-9),"terms","step")}if(i("scale")){let s=e.scale
;t(u&&!i("form")&&Array.isArray(s)&&s.length>=3&&s.length<=257,"terms","scale");let r=[...s].every((e,t)=>Math.abs(a({edge:e
},"edge"))<=1e30&&(!t||s[t-1]<e));t(r&&0===o&&p===s.length-1,"terms","scale")}if(i("form")){let{form:a}=e,r=s.labels
;"time"===a?t(d&&1440===c,"terms","form"):"date"===a?t(u&&[o,p].every(e=>Number.isInteger(e)&&e>=-719162&&e<=2932896),"terms","form"):(t("installed"===a&&n&&"categories"===s.kind&&Array.isArray(r),"terms","form"),
r.forEach((e,s)=>t(z({day:e})>(s?z({day:r[s-1]}):-1/0),"terms","form")))}if(i("clipped")&&t(!0===e.clipped&&f,"terms","clipped"),i("outside")){
let{outside:s}=e;t(i("clipped")&&Array.isArray(s)&&3===s.length,"terms","outside");let[r,n,l]=[...s].map(e=>a({outside:e},"outside"))
;t(0<=n&&n<=r&&r<=l&&l<=1,"terms","outside")}if(i("text"))for(let t of J(e.text,r,"text"))w(t,"text",O);if(i("names")){
t(["categories","several"].includes(s.kind),"terms","names");let a=s.count??s.labels.length;for(let s of J(e.names,r,"names")){
t(j(s,a,a),"terms","names");for(let e of s)w(e,"names",O)}}}function K({draw:e,cells:t,order:s,dimension:a}){
return"projective"===e?(s**a-1)/(s-1):"response"===e?t:"hadamard"===e?s:0}function T(e,n,i){let l,o=e.specification;try{l=s(o,n)}catch(s){
if("draw"!==s.reason)throw s;let a=JSON.parse(JSON.parse(o).device).draw;if("string"!=typeof a||r[a])throw s
;return t(!_.includes(a),"terms","questions"),void JSON.stringify(e)}t(!_.includes(l.kind),"terms","questions")
;let[p,c]=l.ratio,u=l.delta?l.epsilon:Math.log1p(Number((p-c<<64n)/c)/2**64);t(S(a(e,"epsilon"),u)&&!l.delta==!("delta"in e),"promise",n),
l.delta&&t(S(a(e,"delta"),l.delta),"promise",n);let{domain:d,cells:f}=JSON.parse(l.device)
;return"kept change"===i&&t("response"===l.kind&&"categories"===d.kind&&2===f,"terms",n),l}function B(e,t){let{scale:s,form:a}=e
;if(t.spend)return e=>[e];if(s)return e=>"number"==typeof e&&e==e?((e,t)=>{let s=Math.min(Math.max(t,e[0]),e.at(-1)),a=e.length-2;for(;a&&e[a]>s;)a--
;return a+(s-e[a])/(e[a+1]-e[a])})(s,e):null===e?null:void 0;let r=e=>{try{return z({text:e},"text")}catch{return}
},{labels:n}=JSON.parse(t.device).domain
;return e=>a&&"string"==typeof e?"date"===a?r(e):"time"===a?/^([01]\d|2[0-3]):[0-5]\d$/.test(e)?60*+e.slice(0,2)+ +e.slice(3):void 0:void 0===r(e)?void 0:n.findLast(t=>t<=e)??n[0]:e
}async function D(e,t,s){let a=2n**255n-19n,r=BigInt.asUintN(255,BigInt("0x"+c(s.slice().reverse()))),n=r*r
;if(r>=a||r*(n-1n)*((121665n*n-243332n)*n+121666n)%a==0n)return!1;let{subtle:i}=globalThis.crypto,l=await i.importKey("raw",s,"Ed25519",!1,["verify"])
;return i.verify("Ed25519",l,t,e)}async function E(s,a){t(!/^\s*dither-private-key/.test(a),"private"),t(globalThis.crypto?.subtle,"crypto")
;let r=e(s),{key:n,key_before:i}=r,l=async(e,s,a=n)=>t(q(s,128)&&q(a,64)&&await D(p(e),f(s),f(a)),"signature")
;return t(q(a,64)&&(n===a||i?.key===a),"key"),void 0!==i&&await l("dither next key 1\n"+n,i.signature,i.key??""),[r,l]}var U=e=>e.catch(e=>{
throw e instanceof u?e:new u("text")}),X=(s,r)=>U((async(s,r)=>{let[{campaign:l,key:o,key_before:u,signature:m,retired:h,card:y},g]=await E(s,r)
;t("string"==typeof l,"text"),await g("dither campaign 2\n"+l,m);let b=c(d(p(l)));null!==h&&(z(h),
await g(`dither retirement 1\n${b}\n${h.day}`,h.signature)),void 0!==y&&(await g("dither card 1\n"+y.text,y.signature),
t(e(y.text).campaign===b,"terms","card"));let k=await async function(e){let[s,r]=n(e);t(2===s["dither-campaign"],"version")
;for(let[e,t,a]of[["name",64,!0],["asker",253,!1],["contact",500,!0],["purpose",4e3,!0]])w(s[e],e,{size:t,lines:a,..."asker"===e&&{characters:200}})
;for(let[e,t]of Object.entries(v))(e in s||["version","people","retry"].includes(e))&&i(s,e,1,t);t(z(s,"begins")<=z(s,"ends"),"terms","ends")
;let{labels:l,questions:o,promise:p,repeat:c}=s;t(j(l,0,1e3),"terms","labels");for(let e of l)w(e,"labels",{size:64,lines:!0});(e=>{
let{repeat:s,phase:a,every:r}=e;t("string"==typeof s&&x[s],"terms","repeat");let[n,l]=x[s]
;for(let s of A)t(s in e?n.concat(l).includes(s):!n.includes(s),"terms",s);"every"in e&&t(["day","week","month"].includes(r),"terms","every"),
t("once"!==s||"days"in e!="every"in e,"terms","days"),t("kept change"!==s||e.changes<e.days,"terms","changes"),
"phase"in e&&(t(N(a)&&1===Object.keys(a).length&&"present"!==s,"terms","phase"),"share"in a?i(a,"share",1,999):t(q(a.follows,64),"terms","phase")),
t("present"!==s||!("reports_a_batch"in e),"terms","reports_a_batch")})(s);let u=(e=>{let{languages:s,purposes:a}=e
;"languages"in e?t(j(s,1,40)&&s.every(e=>"string"==typeof e&&M.test(e)),"terms","languages"):t(!("purposes"in e),"terms","purposes");let r=s??[]
;if("purposes"in e)for(let e of J(a,r.slice(1),"purposes"))w(e,"purposes",{size:4e3,lines:!0});return r})(s);"sealing_key"in s&&await(async e=>{
let s=(e=>{let[,s,a,r]="string"==typeof e&&/^[0-9a-f]{2}0020([0-9a-f]{64})([0-9a-f]{4})((?:[0-9a-f]{8})+)$/.exec(e)||[]
;return t(r&&2*parseInt(a,16)===r.length&&r.match(/.{8}/g).includes("00010001"),"key"),f(s)})(e);t(globalThis.crypto?.subtle,"crypto")
;let{subtle:a}=globalThis.crypto,{publicKey:r,privateKey:n}=await a.generateKey("X25519",!1,["deriveBits"]),i=await a.importKey("raw",s,"X25519",!1,[]).then(e=>a.deriveBits({
name:"X25519",public:e},n,256)).catch(()=>t(0,"key"));return[await a.exportKey("raw",r),i,s]})(s.sealing_key)
;let d="present"===c,m=new Map,h=new Set,[y,g]=[0,0];t(Array.isArray(o)&&o.length<=(d?1:1024)&&(d||o.length),"terms","questions");for(let e of o){
t(N(e),"terms","questions");let{name:r}=e;w(r,"questions",{size:64});let n=T(e,r,c);y+=a(e,"epsilon"),"delta"in e&&(t(a(e,"delta")>0,"promise",r),
g+=e.delta);let i=JSON.parse((n??JSON.parse(e.specification)).device);if(n&&I(e,i.domain,u,d),d&&n){let e=K(i)
;t("categories"===i.domain.kind&&e>0&&e<=Math.min(128,Math.floor(s.expects*s.label_share/2e4)),"terms",r)}m.set(r,n),
h.add(n?.fingerprint??JSON.parse(e.specification).fingerprint)}return t(!d||o.length===+("label_share"in s),"terms","label_share"),
t(m.size===o.length&&m.size===h.size,"terms","questions"),t(S(a(p,"epsilon"),y),"promise","epsilon"),
t(g?S(a(p,"delta"),g):null===p.delta,"promise","delta"),t(Array.isArray(p.assumptions)&&!p.assumptions.length,"promise","assumptions"),r(),m
}(l),_=JSON.parse(l),O=[],$=[],B=((e,t)=>{let s=e=>c(d(p(JSON.stringify(e)))),{questions:a,begins:r,ends:n}=e;return{
general:s([W.map(t=>e[t]??null),t]),questions:a.map(s),begins:r,ends:n}})(_,o);for(let e of _.questions){let t=k.get(e.name)
;t?O.push([e.name,[e.specification,{...Z(b,_,e,t,h),shown:B}]]):$.push(e.name)}return{id:b,key:o,before:u?.key,terms:_,retired:h&&h.day,
questions:Object.fromEntries(O),shown:B,unanswered:$}
})(s,r)),W=["answers","asker","changes","contact","days","every","labels","people","purpose","purposes","repeat"];function Z(e,t,s,a,r){
let{asker:n,repeat:i,days:l,every:o,changes:p,answers:c,phase:u,labels:d,languages:f}=t;return{name:s.name,asker:n,repeat:i,...l&&{days:l,
start:z(t,"begins")},...o&&{every:o},...p&&{changes:p},...a.spend&&{times:1},...c&&{limit:{campaign:e,answers:c}},...u&&{phase:{campaign:e,
name:t.name,...u}},labels:d,ends:Math.min(z(t,"ends"),r?z(r)-1:1/0),value:B(s,a),...f&&{languages:f},...s.text&&{text:s.text},...s.names&&{
names:s.names},...s.unit&&{unit:s.unit},...s.step&&{step:s.step},...s.form&&{form:s.form},...s.scale&&{scale:s.scale}}}
var C=({heads:e},t)=>!t||e[t[0]-1]===t[1],F=(e,s,a)=>U((async()=>{let[{list:r,signature:i},l]=await E(e,s),o=[],u=new Map
;t(Array.isArray(r)&&r.length&&r.length<=1e4,"list");for(let e of r){let[{...s}]=n(e),{before:a,published:r,retired:i,next_key:l,day:f}=s
;t(a===(o.at(-1)??"0".repeat(64))&&q(r??i??l,64),"list"),t(Object.keys(s).length===(i?3:2)&&(!i||u.has(i))&&!u.has(r),"list"),i&&z(s),
l||u.set(r??i,f??null),o.push(c(d(p(e))))}await l("dither list 2\n"+o.at(-1),i);let f={heads:o,campaigns:u};return t(C(f,a),"list"),f})())
;async function L(s,a,r=globalThis.fetch,n){let i=async(e,s)=>{let[{ok:a,status:n},i]=await o(r,e,4194304)
;return t(a||!s,"campaign",`the collector answers ${n}: there is no campaign at this address; it may have moved, or ended long ago`),a?i.text():""
},l=await(n?.update(e=>[e])),p=a;for(;l?.keys[p];)p=l.keys[p];let c=await X(await i(s,!0),p);t(s.endsWith("/"+c.id),"fingerprint"),
t(n||c.key===p,"key");let u=n&&await i(s.replace(/campaigns\/\w+$/,"list")),d=u&&(await U((async()=>e(u))())).key===c.key?await F(u,c.key):void 0
;return await(n?.update(({keys:e,heads:s}={keys:{},heads:{}})=>{c.key!==p&&t(!e[c.key]&&(e[p]??=c.key)===c.key,"key");let a=s[c.key]??s[c.before]
;return t(d?C(d,a)&&d.campaigns.has(c.id)&&(c.retired||!d.campaigns.get(c.id)):!a,"list"),d&&(s[c.key]=[d.heads.length,d.heads.at(-1)]),[0,{keys:e,
heads:s}]})),c}export{L as fetchCampaign,X as readCampaign,F as readList,D as verify};
//# sourceMappingURL=../maps/signatures.js.map
