import{M as e,F as t,v as a,readQuestion as s,x as r,draws as n,k as i,A as l,o,n as p,hex as u,Malformed as c,S as d}from"./core.js";"0".repeat(32)
;var f=({present:e},t)=>(e??[]).filter(({batch:e})=>e===t).map(({asker:e,name:t,batch:a})=>({asker:e,question:t,batch:a
})),h=e=>Uint8Array.from(e.match(/../g)??[],e=>parseInt(e,16));new Uint8Array(32)
;var m=/[\0-\x1f\x7f-\x9f\u2028\u2029\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e0fff}\ud800-\udfff]/u,y=/[^ \n\xa0\xad\u061c\u1680\u2000-\u200f\u202a-\u202f\u205f\u2066-\u2069\u3000\ufe00-\ufe0f]/u,g=/[\u202a-\u202e\u2066-\u2069]/g,[b,k]=[8236,8297]
;function w(e){let t=[];for(let a of e.match(g)??[]){let e=a.charCodeAt(0);if(e!==b&&e!==k)t.push(e<8294?b:k);else if(t.pop()!==e)return!1}
return!t.length}function v(t,a,{characters:s=1/0,size:r=1/0,lines:n=!1}){e("string"==typeof t&&t.length<=4*Math.min(r,s),"terms",a)
;let i=n?t.replaceAll("\n",""):t;e(y.test(t)&&!m.test(i)&&t.split("\n").every(w),"terms",a),e([...t].length<=s&&p(t).length<=r,"terms",a)}var x={
version:2**31-1,people:2**53-1,retry:365,answers:1e6,days:36600,changes:1e3,label_share:999,expects:2**53-1,reports_a_batch:2**31-1},A={
__proto__:null,fresh:[[],["answers"]],same:[[],[]],"per value":[[],[]],once:[[],["days","every"]],"kept change":[["days","changes"],[]],
present:[["every","expects"],["label_share"]]
},_=["days","changes","every","expects","answers","label_share"],M=["walk","two copies","divided","prefix","joint response","joint bits","joint hashed","each","sampled","indicator","kept change","kept changes"],q=/^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$/,O={
characters:500
},S=(e,t)=>Math.abs(e-t)<=1e-9*Math.max(Math.abs(e),Math.abs(t)),N=e=>Object(e)===e&&!Array.isArray(e),j=(e,t,a)=>Array.isArray(e)&&e.length>=t&&e.length<=a&&new Set(e).size===e.length,z=(e,t)=>"string"==typeof e&&e.length===t&&/^[0-9a-f]*$/.test(e)
;function J(t,a="day"){let s=t[a]
;return e("string"==typeof s&&/^(?!0000)\d{4}-\d\d-\d\d$/.test(s)&&Date.parse(s)==Date.parse(s)&&new Date(s).toISOString().startsWith(s),"terms",a),
Date.parse(s)/864e5}function $(t,a,s){return e(N(t)&&a.length&&Object.keys(t).sort()+""==[...a].sort()+"","terms",s),a.map(e=>t[e])}
function I({labels:e=[],attributes:t=[],sides:a=[]}){let s=t.flatMap(([e,t])=>[e,...I(t)])
;return[...e.filter(e=>"string"==typeof e),...s,...a.map(([e])=>e)]}function K(t,a,s,n){for(let e of I(a))v(e,"labels",O)
;let i=e=>e in t,{kind:l,low:o=0,high:p,period:u}="optional"===a.kind?a.of:a,[c,d]=["interval"===l,"circle"===l]
;if(i("unit")&&(e((c||d)&&!i("form"),"terms","unit"),v(t.unit,"unit",{characters:40})),i("step")){let a=(d?u:p-o)/r(t,"step")
;e((c||d)&&!i("scale")&&a>=1-1e-12&&a<=500&&(c||Math.abs(a-Math.round(a))<=1e-9),"terms","step")}if(i("scale")){let a=t.scale
;e(c&&!i("form")&&Array.isArray(a)&&a.length>=3&&a.length<=257,"terms","scale");let s=[...a].every((e,t)=>Math.abs(r({edge:e
},"edge"))<=1e30&&(!t||a[t-1]<e));e(s&&0===o&&p===a.length-1,"terms","scale")}if(i("form")){let{form:s}=t,r=a.labels
;"time"===s?e(d&&1440===u,"terms","form"):"date"===s?e(c&&[o,p].every(e=>Number.isInteger(e)&&e>=-719162&&e<=2932896),"terms","form"):(e("installed"===s&&n&&"categories"===a.kind&&Array.isArray(r),"terms","form"),
r.forEach((t,a)=>e(J({day:t})>(a?J({day:r[a-1]}):-1/0),"terms","form")))}if(i("clipped")&&e(!0===t.clipped&&c&&!i("scale"),"terms","clipped"),
i("outside")){let{outside:a}=t;e(i("clipped")&&Array.isArray(a)&&3===a.length,"terms","outside");let[s,n,l]=[...a].map(e=>r({outside:e},"outside"))
;e(0<=n&&n<=s&&s<=l&&l<=1,"terms","outside")}if(i("text"))for(let e of $(t.text,s,"text"))v(e,"text",O);if(i("names")){
e(["categories","several"].includes(a.kind),"terms","names");let r=a.count??a.labels.length;for(let a of $(t.names,s,"names")){
e(j(a,r,r),"terms","names");for(let e of a)v(e,"names",O)}}}function D({draw:e,cells:t,order:a,dimension:s}){
return"projective"===e?(a**s-1)/(a-1):"response"===e?t:"hadamard"===e?a:0}function T(t,a,i){let l,o=t.specification;try{l=s(o,a)}catch(a){
if("draw"!==a.reason)throw a;let s=JSON.parse(JSON.parse(o).device).draw;if("string"!=typeof s||n[s])throw a
;return e(!M.includes(s),"terms","questions"),void JSON.stringify(t)}e(!M.includes(l.kind),"terms","questions")
;let[p,u]=l.ratio,c=l.delta?l.epsilon:Math.log1p(Number((p-u<<64n)/u)/2**64);e(S(r(t,"epsilon"),c)&&!l.delta==!("delta"in t),"promise",a),
l.delta&&e(S(r(t,"delta"),l.delta),"promise",a);let{domain:d,cells:f}=JSON.parse(l.device)
;return"kept change"===i&&e("response"===l.kind&&"categories"===d.kind&&2===f,"terms",a),l}function B(e,t){let{scale:a,form:s}=e
;if(t.spend)return e=>[e];if(a)return e=>"number"==typeof e&&e==e?((e,t)=>{let a=Math.min(Math.max(t,e[0]),e.at(-1)),s=e.length-2;for(;s&&e[s]>a;)s--
;return s+(a-e[s])/(e[s+1]-e[s])})(a,e):null===e?null:void 0;let r=e=>{try{return J({text:e},"text")}catch{return}
},{labels:n}=JSON.parse(t.device).domain
;return e=>s&&"string"==typeof e?"date"===s?r(e):"time"===s?/^([01]\d|2[0-3]):[0-5]\d$/.test(e)?60*+e.slice(0,2)+ +e.slice(3):void 0:void 0===r(e)?void 0:n.findLast(t=>t<=e)??n[0]:e
}async function E(e,t,a){let s=2n**255n-19n,r=BigInt.asUintN(255,BigInt("0x"+u(a.slice().reverse()))),n=r*r
;if(r>=s||r*(n-1n)*((121665n*n-243332n)*n+121666n)%s==0n)return!1;let{subtle:i}=globalThis.crypto,l=await i.importKey("raw",a,"Ed25519",!1,["verify"])
;return i.verify("Ed25519",l,t,e)}async function U(t,s){e(!/^\s*dither-private-key/.test(s),"private"),e(globalThis.crypto?.subtle,"crypto")
;let r=a(t),{key:n,key_before:i}=r,l=async(t,a,s=n)=>e(z(a,128)&&z(s,64)&&await E(p(t),h(a),h(s)),"signature")
;return e(z(s,64)&&(n===s||i?.key===s),"key"),void 0!==i&&await l("dither next key 1\n"+n,i.signature,i.key??""),[r,l]}var X=e=>e.catch(e=>{
throw e instanceof c?e:new c("text")}),W=(t,s)=>X((async(t,s)=>{let[{campaign:n,key:o,key_before:c,signature:f,retired:m,card:y},g]=await U(t,s)
;e("string"==typeof n,"text"),await g("dither campaign 2\n"+n,f);let b=u(d(p(n)));null!==m&&(J(m),
await g(`dither retirement 1\n${b}\n${m.day}`,m.signature)),void 0!==y&&(await g("dither card 1\n"+y.text,y.signature),
e(a(y.text).campaign===b,"terms","card"));let k=await async function(t){let[a,s]=i(t);e(2===a["dither-campaign"],"version")
;for(let[e,t,s]of[["name",64,!0],["asker",253,!1],["contact",500,!0],["purpose",4e3,!0]])v(a[e],e,{size:t,lines:s,..."asker"===e&&{characters:200}})
;for(let[e,t]of Object.entries(x))(e in a||["version","people","retry"].includes(e))&&l(a,e,1,t);e(J(a,"begins")<=J(a,"ends"),"terms","ends")
;let{labels:n,questions:o,promise:p,repeat:u}=a;e(j(n,0,1e3),"terms","labels");for(let e of n)v(e,"labels",{size:64,lines:!0});(t=>{
let{repeat:a,phase:s,every:r}=t;e("string"==typeof a&&A[a],"terms","repeat");let[n,i]=A[a]
;for(let a of _)e(a in t?n.concat(i).includes(a):!n.includes(a),"terms",a);"every"in t&&e(["day","week","month"].includes(r),"terms","every"),
e("once"!==a||"days"in t!="every"in t,"terms","days"),e("kept change"!==a||t.changes<t.days,"terms","changes"),
"phase"in t&&(e(N(s)&&1===Object.keys(s).length&&"present"!==a,"terms","phase"),"share"in s?l(s,"share",1,999):e(z(s.follows,64),"terms","phase")),
e("present"!==a||!("reports_a_batch"in t),"terms","reports_a_batch")})(a);let c=(t=>{let{languages:a,purposes:s}=t
;"languages"in t?e(j(a,1,40)&&a.every(e=>"string"==typeof e&&q.test(e)),"terms","languages"):e(!("purposes"in t),"terms","purposes");let r=a??[]
;if("purposes"in t)for(let e of $(s,r.slice(1),"purposes"))v(e,"purposes",{size:4e3,lines:!0});return r})(a);"sealing_key"in a&&await(async t=>{
let a=(t=>{let[,a,s,r]="string"==typeof t&&/^[0-9a-f]{2}0020([0-9a-f]{64})([0-9a-f]{4})((?:[0-9a-f]{8})+)$/.exec(t)||[]
;return e(r&&2*parseInt(s,16)===r.length&&r.match(/.{8}/g).includes("00010001"),"key"),h(a)})(t);e(globalThis.crypto?.subtle,"crypto")
;let{subtle:s}=globalThis.crypto,{publicKey:r,privateKey:n}=await s.generateKey("X25519",!1,["deriveBits"]),i=await s.importKey("raw",a,"X25519",!1,[]).then(e=>s.deriveBits({
name:"X25519",public:e},n,256)).catch(()=>e(0,"key"));return[await s.exportKey("raw",r),i,a]})(a.sealing_key)
;let d="present"===u,f=new Map,m=new Set,[y,g]=[0,0];e(Array.isArray(o)&&o.length<=(d?1:1024)&&(d||o.length),"terms","questions");for(let t of o){
e(N(t),"terms","questions");let{name:s}=t;v(s,"questions",{size:64});let n=T(t,s,u);y+=r(t,"epsilon"),"delta"in t&&(e(r(t,"delta")>0,"promise",s),
g+=t.delta);let i=JSON.parse((n??JSON.parse(t.specification)).device);if(n&&K(t,i.domain,c,d),d&&n){let t=D(i)
;e(a.expects>=100&&"categories"===i.domain.kind&&t>0&&t<=Math.min(128,Math.floor(a.expects*a.label_share/2e4)),"terms",s)}f.set(s,n),
m.add(n?.fingerprint??JSON.parse(t.specification).fingerprint)}return e(!d||o.length===+("label_share"in a),"terms","label_share"),
e(f.size===o.length&&f.size===m.size,"terms","questions"),e(S(r(p,"epsilon"),y),"promise","epsilon"),
e(g?S(r(p,"delta"),g):null===p.delta,"promise","delta"),e(Array.isArray(p.assumptions)&&!p.assumptions.length,"promise","assumptions"),s(),f
}(n),w=JSON.parse(n),M=[],O=[],I=((e,t)=>{let a=e=>u(d(p(JSON.stringify(e)))),{questions:s,begins:r,ends:n}=e;return{
general:a([Z.map(t=>e[t]??null),t]),questions:s.map(a),begins:r,ends:n}})(w,o);for(let e of w.questions){let t=k.get(e.name)
;t?M.push([e.name,[e.specification,{...C(b,w,e,t,m),shown:I}]]):O.push(e.name)}return{id:b,key:o,before:c?.key,terms:w,retired:m&&m.day,
questions:Object.fromEntries(M),shown:I,unanswered:O}
})(t,s)),Z=["answers","asker","changes","contact","days","every","labels","people","purpose","purposes","repeat"];function C(e,t,a,s,r){
let{asker:n,repeat:i,days:l,every:o,changes:p,answers:u,phase:c,labels:d,languages:h}=t;return{name:a.name,asker:n,repeat:i,...l&&{days:l,
start:J(t,"begins")},...o&&{every:o},...p&&{changes:p},...s.spend&&{times:1},...u&&{limit:{campaign:e,answers:u}},...c&&{phase:{campaign:e,
name:t.name,...c}},labels:d,taken:(a,s)=>((e,t,a)=>{let s=[...e.queue.filter(e=>e.id===t||e.batch===t),...f(e,t)],[r,n]=((e,t)=>{
let a=e.queue.filter(e=>e.id!==t&&e.batch!==t),[s,r]=((e,t)=>{let a=e.present?.filter(e=>e.batch&&t(e)).length??0;return a?[{...e,
present:e.present.map(e=>t(e)?{...e,batch:null}:e)},a]:[e,0]})(e,e=>e.batch===t),n=e.queue.length-a.length+r;return n?[{is:"acknowledged",reports:n},{
...s,queue:a}]:[{is:"unknown"}]})(e,t);if(!n||s[0].batch!==t||!a)return[r,n];let{campaign:i,day:l,retry:o}=a,p={id:t,asker:s[0].asker,campaign:i,
until:l+o,questions:s.map(({question:e})=>e)};return[r,{...n,sent:[...(e.sent??[]).filter(({until:e})=>e>=l),p]}]})(a,s,{campaign:e,
day:Math.floor(Date.now()/864e5),retry:t.retry}),ends:Math.min(J(t,"ends"),r?J(r)-1:1/0),value:B(a,s),...h&&{languages:h},...a.text&&{text:a.text},
...a.names&&{names:a.names},...a.unit&&{unit:a.unit},...a.step&&{step:a.step},...a.form&&{form:a.form},...a.scale&&{scale:a.scale}}}
var F=({heads:e},t)=>!t||e[t[0]-1]===t[1],L=(t,a,s)=>X((async()=>{let[{list:r,signature:n},l]=await U(t,a),o=[],c=new Map
;e(Array.isArray(r)&&r.length&&r.length<=1e4,"list");for(let t of r){let[{...a}]=i(t),{before:s,published:r,retired:n,next_key:l,day:f}=a
;e(s===(o.at(-1)??"0".repeat(64))&&z(r??n??l,64),"list"),e(Object.keys(a).length===(n?3:2)&&(!n||c.has(n))&&!c.has(r),"list"),n&&J(a),
l||c.set(r??n,f??null),o.push(u(d(p(t))))}await l("dither list 2\n"+o.at(-1),n);let f={heads:o,campaigns:c};return e(F(f,s),"list"),f})())
;async function G(s,r,n=globalThis.fetch,i){let l=async(a,s)=>{let[{ok:r,status:i},l]=await t(n,a,4194304)
;return e(r||!s,"campaign",`the collector answers ${i}: no campaign at this address; it may have moved, or ended long ago`),r?l.text():""
},o=await(i?.update(e=>[e])),p=r;for(;o?.keys[p];)p=o.keys[p];let u=await W(await l(s,!0),p);e(s.endsWith("/"+u.id),"fingerprint"),
e(i||u.key===p,"key");let c=i&&await l(s.replace(/campaigns\/\w+$/,"list")),d=c&&(await X((async()=>a(c))())).key===u.key?await L(c,u.key):void 0
;return await(i?.update(({keys:t,heads:a}={keys:{},heads:{}})=>{u.key!==p&&e(!t[u.key]&&(t[p]??=u.key)===u.key,"key");let s=a[u.key]??a[u.before]
;return e(d?F(d,s)&&d.campaigns.has(u.id)&&(u.retired||!d.campaigns.get(u.id)):!s,"list"),d&&(a[u.key]=[d.heads.length,d.heads.at(-1)]),[0,{keys:t,
heads:a}]})),u}export{G as fetchCampaign,W as readCampaign,L as readList,E as verify};
//# sourceMappingURL=../maps/signatures.js.map
