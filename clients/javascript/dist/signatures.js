import{M as e,F as t,v as s,readQuestion as a,x as r,draws as n,k as i,A as l,o,n as p,hex as u,Malformed as c,S as d}from"./core.js";"0".repeat(32)
;var f=e=>Uint8Array.from(e.match(/../g)??[],e=>parseInt(e,16));new Uint8Array(32)
;var h=/[\0-\x1f\x7f-\x9f\u2028\u2029\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e0fff}\ud800-\udfff]/u,m=/[^ \n\xa0\xad\u061c\u1680\u2000-\u200f\u202a-\u202f\u205f\u2066-\u2069\u3000\ufe00-\ufe0f]/u,y=/[\u202a-\u202e\u2066-\u2069]/g,[g,k]=[8236,8297]
;function b(e){let t=[];for(let s of e.match(y)??[]){let e=s.charCodeAt(0);if(e!==g&&e!==k)t.push(e<8294?g:k);else if(t.pop()!==e)return!1}
return!t.length}function w(t,s,{characters:a=1/0,size:r=1/0,lines:n=!1}){e("string"==typeof t&&t.length<=4*Math.min(r,a),"terms",s)
;let i=n?t.replaceAll("\n",""):t;e(m.test(t)&&!h.test(i)&&t.split("\n").every(b),"terms",s),e([...t].length<=a&&p(t).length<=r,"terms",s)}var v={
version:2**31-1,people:2**53-1,retry:365,answers:1e6,days:36600,changes:1e3,label_share:999,expects:2**53-1,reports_a_batch:2**31-1},x={
__proto__:null,fresh:[[],["answers"]],same:[[],[]],"per value":[[],[]],once:[[],["days","every"]],"kept change":[["days","changes"],[]],
present:[["every","expects"],["label_share"]]
},A=["days","changes","every","expects","answers","label_share"],_=["walk","two copies","divided","prefix","joint response","joint bits","joint hashed","each","sampled","indicator","kept change","kept changes"],M=/^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$/,q={
characters:500
},O=(e,t)=>Math.abs(e-t)<=1e-9*Math.max(Math.abs(e),Math.abs(t)),S=e=>Object(e)===e&&!Array.isArray(e),N=(e,t,s)=>Array.isArray(e)&&e.length>=t&&e.length<=s&&new Set(e).size===e.length,j=(e,t)=>"string"==typeof e&&e.length===t&&/^[0-9a-f]*$/.test(e)
;function z(t,s="day"){let a=t[s]
;return e("string"==typeof a&&/^(?!0000)\d{4}-\d\d-\d\d$/.test(a)&&Date.parse(a)==Date.parse(a)&&new Date(a).toISOString().startsWith(a),"terms",s),
Date.parse(a)/864e5}function J(t,s,a){return e(S(t)&&s.length&&Object.keys(t).sort()+""==[...s].sort()+"","terms",a),s.map(e=>t[e])}
function $({labels:e=[],attributes:t=[],sides:s=[]}){let a=t.flatMap(([e,t])=>[e,...$(t)])
;return[...e.filter(e=>"string"==typeof e),...a,...s.map(([e])=>e)]}function I(t,s,a,n){for(let e of $(s))w(e,"labels",q)
;let i=e=>e in t,{kind:l,low:o=0,high:p,period:u}="optional"===s.kind?s.of:s,[c,d]=["interval"===l,"circle"===l],f=c&&!i("form")&&!i("scale")
;if(i("unit")&&(e((c||d)&&!i("form"),"terms","unit"),w(t.unit,"unit",{characters:40})),i("step")){let s=(d?u:p-o)/r(t,"step")
;e((c||d)&&!i("scale")&&s>=1-1e-12&&s<=500&&(c||Math.abs(s-Math.round(s))<=1e-9),"terms","step")}if(i("scale")){let s=t.scale
;e(c&&!i("form")&&Array.isArray(s)&&s.length>=3&&s.length<=257,"terms","scale");let a=[...s].every((e,t)=>Math.abs(r({edge:e
},"edge"))<=1e30&&(!t||s[t-1]<e));e(a&&0===o&&p===s.length-1,"terms","scale")}if(i("form")){let{form:a}=t,r=s.labels
;"time"===a?e(d&&1440===u,"terms","form"):"date"===a?e(c&&[o,p].every(e=>Number.isInteger(e)&&e>=-719162&&e<=2932896),"terms","form"):(e("installed"===a&&n&&"categories"===s.kind&&Array.isArray(r),"terms","form"),
r.forEach((t,s)=>e(z({day:t})>(s?z({day:r[s-1]}):-1/0),"terms","form")))}if(i("clipped")&&e(!0===t.clipped&&f,"terms","clipped"),i("outside")){
let{outside:s}=t;e(i("clipped")&&Array.isArray(s)&&3===s.length,"terms","outside");let[a,n,l]=[...s].map(e=>r({outside:e},"outside"))
;e(0<=n&&n<=a&&a<=l&&l<=1,"terms","outside")}if(i("text"))for(let e of J(t.text,a,"text"))w(e,"text",q);if(i("names")){
e(["categories","several"].includes(s.kind),"terms","names");let r=s.count??s.labels.length;for(let s of J(t.names,a,"names")){
e(N(s,r,r),"terms","names");for(let e of s)w(e,"names",q)}}}function K({draw:e,cells:t,order:s,dimension:a}){
return"projective"===e?(s**a-1)/(s-1):"response"===e?t:"hadamard"===e?s:0}function D(t,s,i){let l,o=t.specification;try{l=a(o,s)}catch(s){
if("draw"!==s.reason)throw s;let a=JSON.parse(JSON.parse(o).device).draw;if("string"!=typeof a||n[a])throw s
;return e(!_.includes(a),"terms","questions"),void JSON.stringify(t)}e(!_.includes(l.kind),"terms","questions")
;let[p,u]=l.ratio,c=l.delta?l.epsilon:Math.log1p(Number((p-u<<64n)/u)/2**64);e(O(r(t,"epsilon"),c)&&!l.delta==!("delta"in t),"promise",s),
l.delta&&e(O(r(t,"delta"),l.delta),"promise",s);let{domain:d,cells:f}=JSON.parse(l.device)
;return"kept change"===i&&e("response"===l.kind&&"categories"===d.kind&&2===f,"terms",s),l}function T(e,t){let{scale:s,form:a}=e
;if(t.spend)return e=>[e];if(s)return e=>"number"==typeof e&&e==e?((e,t)=>{let s=Math.min(Math.max(t,e[0]),e.at(-1)),a=e.length-2;for(;a&&e[a]>s;)a--
;return a+(s-e[a])/(e[a+1]-e[a])})(s,e):null===e?null:void 0;let r=e=>{try{return z({text:e},"text")}catch{return}
},{labels:n}=JSON.parse(t.device).domain
;return e=>a&&"string"==typeof e?"date"===a?r(e):"time"===a?/^([01]\d|2[0-3]):[0-5]\d$/.test(e)?60*+e.slice(0,2)+ +e.slice(3):void 0:void 0===r(e)?void 0:n.findLast(t=>t<=e)??n[0]:e
}async function B(e,t,s){let a=2n**255n-19n,r=BigInt.asUintN(255,BigInt("0x"+u(s.slice().reverse()))),n=r*r
;if(r>=a||r*(n-1n)*((121665n*n-243332n)*n+121666n)%a==0n)return!1;let{subtle:i}=globalThis.crypto,l=await i.importKey("raw",s,"Ed25519",!1,["verify"])
;return i.verify("Ed25519",l,t,e)}async function E(t,a){e(!/^\s*dither-private-key/.test(a),"private"),e(globalThis.crypto?.subtle,"crypto")
;let r=s(t),{key:n,key_before:i}=r,l=async(t,s,a=n)=>e(j(s,128)&&j(a,64)&&await B(p(t),f(s),f(a)),"signature")
;return e(j(a,64)&&(n===a||i?.key===a),"key"),void 0!==i&&await l("dither next key 1\n"+n,i.signature,i.key??""),[r,l]}var U=e=>e.catch(e=>{
throw e instanceof c?e:new c("text")}),X=(t,a)=>U((async(t,a)=>{let[{campaign:n,key:o,key_before:c,signature:h,retired:m,card:y},g]=await E(t,a)
;e("string"==typeof n,"text"),await g("dither campaign 2\n"+n,h);let k=u(d(p(n)));null!==m&&(z(m),
await g(`dither retirement 1\n${k}\n${m.day}`,m.signature)),void 0!==y&&(await g("dither card 1\n"+y.text,y.signature),
e(s(y.text).campaign===k,"terms","card"));let b=await async function(t){let[s,a]=i(t);e(2===s["dither-campaign"],"version")
;for(let[e,t,a]of[["name",64,!0],["asker",253,!1],["contact",500,!0],["purpose",4e3,!0]])w(s[e],e,{size:t,lines:a,..."asker"===e&&{characters:200}})
;for(let[e,t]of Object.entries(v))(e in s||["version","people","retry"].includes(e))&&l(s,e,1,t);e(z(s,"begins")<=z(s,"ends"),"terms","ends")
;let{labels:n,questions:o,promise:p,repeat:u}=s;e(N(n,0,1e3),"terms","labels");for(let e of n)w(e,"labels",{size:64,lines:!0});(t=>{
let{repeat:s,phase:a,every:r}=t;e("string"==typeof s&&x[s],"terms","repeat");let[n,i]=x[s]
;for(let s of A)e(s in t?n.concat(i).includes(s):!n.includes(s),"terms",s);"every"in t&&e(["day","week","month"].includes(r),"terms","every"),
e("once"!==s||"days"in t!="every"in t,"terms","days"),e("kept change"!==s||t.changes<t.days,"terms","changes"),
"phase"in t&&(e(S(a)&&1===Object.keys(a).length&&"present"!==s,"terms","phase"),"share"in a?l(a,"share",1,999):e(j(a.follows,64),"terms","phase")),
e("present"!==s||!("reports_a_batch"in t),"terms","reports_a_batch")})(s);let c=(t=>{let{languages:s,purposes:a}=t
;"languages"in t?e(N(s,1,40)&&s.every(e=>"string"==typeof e&&M.test(e)),"terms","languages"):e(!("purposes"in t),"terms","purposes");let r=s??[]
;if("purposes"in t)for(let e of J(a,r.slice(1),"purposes"))w(e,"purposes",{size:4e3,lines:!0});return r})(s);"sealing_key"in s&&await(async t=>{
let s=(t=>{let[,s,a,r]="string"==typeof t&&/^[0-9a-f]{2}0020([0-9a-f]{64})([0-9a-f]{4})((?:[0-9a-f]{8})+)$/.exec(t)||[]
;return e(r&&2*parseInt(a,16)===r.length&&r.match(/.{8}/g).includes("00010001"),"key"),f(s)})(t);e(globalThis.crypto?.subtle,"crypto")
;let{subtle:a}=globalThis.crypto,{publicKey:r,privateKey:n}=await a.generateKey("X25519",!1,["deriveBits"]),i=await a.importKey("raw",s,"X25519",!1,[]).then(e=>a.deriveBits({
name:"X25519",public:e},n,256)).catch(()=>e(0,"key"));return[await a.exportKey("raw",r),i,s]})(s.sealing_key)
;let d="present"===u,h=new Map,m=new Set,[y,g]=[0,0];e(Array.isArray(o)&&o.length<=(d?1:1024)&&(d||o.length),"terms","questions");for(let t of o){
e(S(t),"terms","questions");let{name:a}=t;w(a,"questions",{size:64});let n=D(t,a,u);y+=r(t,"epsilon"),"delta"in t&&(e(r(t,"delta")>0,"promise",a),
g+=t.delta);let i=JSON.parse((n??JSON.parse(t.specification)).device);if(n&&I(t,i.domain,c,d),d&&n){let t=K(i)
;e("categories"===i.domain.kind&&t>0&&t<=Math.min(128,Math.floor(s.expects*s.label_share/2e4)),"terms",a)}h.set(a,n),
m.add(n?.fingerprint??JSON.parse(t.specification).fingerprint)}return e(!d||o.length===+("label_share"in s),"terms","label_share"),
e(h.size===o.length&&h.size===m.size,"terms","questions"),e(O(r(p,"epsilon"),y),"promise","epsilon"),
e(g?O(r(p,"delta"),g):null===p.delta,"promise","delta"),e(Array.isArray(p.assumptions)&&!p.assumptions.length,"promise","assumptions"),a(),h
}(n),_=JSON.parse(n),q=[],$=[],T=((e,t)=>{let s=e=>u(d(p(JSON.stringify(e)))),{questions:a,begins:r,ends:n}=e;return{
general:s([W.map(t=>e[t]??null),t]),questions:a.map(s),begins:r,ends:n}})(_,o);for(let e of _.questions){let t=b.get(e.name)
;t?q.push([e.name,[e.specification,{...Z(k,_,e,t,m),shown:T}]]):$.push(e.name)}return{id:k,key:o,before:c?.key,terms:_,retired:m&&m.day,
questions:Object.fromEntries(q),shown:T,unanswered:$}
})(t,a)),W=["answers","asker","changes","contact","days","every","labels","people","purpose","purposes","repeat"];function Z(e,t,s,a,r){
let{asker:n,repeat:i,days:l,every:o,changes:p,answers:u,phase:c,labels:d,languages:f}=t;return{name:s.name,asker:n,repeat:i,...l&&{days:l,
start:z(t,"begins")},...o&&{every:o},...p&&{changes:p},...a.spend&&{times:1},...u&&{limit:{campaign:e,answers:u}},...c&&{phase:{campaign:e,
name:t.name,...c}},labels:d,taken:(s,a)=>((e,t,s)=>{let a=e.queue.filter(e=>e.id===t||e.batch===t),[r,n]=((e,t)=>{
let s=e.queue.filter(e=>e.id!==t&&e.batch!==t),a=e.queue.length-s.length;return a?[{is:"acknowledged",reports:a},{...e,queue:s}]:[{is:"unknown"}]
})(e,t);if(!n||a[0].batch!==t||!s)return[r,n];let{campaign:i,day:l,retry:o}=s,p={id:t,asker:a[0].asker,campaign:i,until:l+o,
questions:a.map(({question:e})=>e)};return[r,{...n,sent:[...(e.sent??[]).filter(({until:e})=>e>=l),p]}]})(s,a,{campaign:e,
day:Math.floor(Date.now()/864e5),retry:t.retry}),ends:Math.min(z(t,"ends"),r?z(r)-1:1/0),value:T(s,a),...f&&{languages:f},...s.text&&{text:s.text},
...s.names&&{names:s.names},...s.unit&&{unit:s.unit},...s.step&&{step:s.step},...s.form&&{form:s.form},...s.scale&&{scale:s.scale}}}
var C=({heads:e},t)=>!t||e[t[0]-1]===t[1],F=(t,s,a)=>U((async()=>{let[{list:r,signature:n},l]=await E(t,s),o=[],c=new Map
;e(Array.isArray(r)&&r.length&&r.length<=1e4,"list");for(let t of r){let[{...s}]=i(t),{before:a,published:r,retired:n,next_key:l,day:f}=s
;e(a===(o.at(-1)??"0".repeat(64))&&j(r??n??l,64),"list"),e(Object.keys(s).length===(n?3:2)&&(!n||c.has(n))&&!c.has(r),"list"),n&&z(s),
l||c.set(r??n,f??null),o.push(u(d(p(t))))}await l("dither list 2\n"+o.at(-1),n);let f={heads:o,campaigns:c};return e(C(f,a),"list"),f})())
;async function L(a,r,n=globalThis.fetch,i){let l=async(s,a)=>{let[{ok:r,status:i},l]=await t(n,s,4194304)
;return e(r||!a,"campaign",`the collector answers ${i}: there is no campaign at this address; it may have moved, or ended long ago`),r?l.text():""
},o=await(i?.update(e=>[e])),p=r;for(;o?.keys[p];)p=o.keys[p];let u=await X(await l(a,!0),p);e(a.endsWith("/"+u.id),"fingerprint"),
e(i||u.key===p,"key");let c=i&&await l(a.replace(/campaigns\/\w+$/,"list")),d=c&&(await U((async()=>s(c))())).key===u.key?await F(c,u.key):void 0
;return await(i?.update(({keys:t,heads:s}={keys:{},heads:{}})=>{u.key!==p&&e(!t[u.key]&&(t[p]??=u.key)===u.key,"key");let a=s[u.key]??s[u.before]
;return e(d?C(d,a)&&d.campaigns.has(u.id)&&(u.retired||!d.campaigns.get(u.id)):!a,"list"),d&&(s[u.key]=[d.heads.length,d.heads.at(-1)]),[0,{keys:t,
heads:s}]})),u}export{L as fetchCampaign,X as readCampaign,F as readList,B as verify};
//# sourceMappingURL=../maps/signatures.js.map
