import{M as e,U as t,F as a,v as s,readQuestion as r,x as n,draws as i,k as l,A as o,o as p,n as c,hex as d,Malformed as u,S as h}from"./core.js"
;"0".repeat(32);var f=({present:e},t)=>(e??[]).filter(({batch:e})=>e===t).map(({asker:e,name:t,batch:a})=>({asker:e,question:t,batch:a
})),m=e=>Uint8Array.from(e.match(/../g)??[],e=>parseInt(e,16));new Uint8Array(32)
;var y=/[\0-\x1f\x7f-\x9f\u2028\u2029\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e0fff}\ud800-\udfff]/u,g=/[^ \n\xa0\xad\u061c\u1680\u2000-\u200f\u202a-\u202f\u205f\u2066-\u2069\u3000\ufe00-\ufe0f]/u,b=/[\u202a-\u202e\u2066-\u2069]/g,[k,w]=[8236,8297]
;function v(e){let t=[];for(let a of e.match(b)??[]){let e=a.charCodeAt(0);if(e!==k&&e!==w)t.push(e<8294?k:w);else if(t.pop()!==e)return!1}
return!t.length}function x(t,a,{characters:s=1/0,size:r=1/0,lines:n=!1}){e("string"==typeof t&&t.length<=4*Math.min(r,s),"terms",a)
;let i=n?t.replaceAll("\n",""):t;e(g.test(t)&&!y.test(i)&&t.split("\n").every(v),"terms",a),e([...t].length<=s&&c(t).length<=r,"terms",a)}var A={
version:2**31-1,people:2**53-1,retry:365,answers:1e6,days:36600,changes:1e3,label_share:999,expects:2**53-1,reports_a_batch:2**31-1},_={
__proto__:null,fresh:[[],["answers"]],same:[[],[]],"per value":[[],[]],once:[[],["days","every"]],"kept change":[["days","changes"],[]],
present:[["every","expects"],["label_share"]]
},O=["days","changes","every","expects","answers","label_share"],q=["walk","two copies","divided","prefix","joint response","joint bits","joint hashed","each","sampled","indicator","kept change","kept changes"],M=/^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$/,S={
characters:500
},j=(e,t)=>Math.abs(e-t)<=1e-9*Math.max(Math.abs(e),Math.abs(t)),N=e=>Object(e)===e&&!Array.isArray(e),z=(e,t,a)=>Array.isArray(e)&&e.length>=t&&e.length<=a&&new Set(e).size===e.length,J=(e,t)=>"string"==typeof e&&e.length===t&&/^[0-9a-f]*$/.test(e)
;function $(t,a="day"){let s=t[a]
;return e("string"==typeof s&&/^(?!0000)\d{4}-\d\d-\d\d$/.test(s)&&Date.parse(s)==Date.parse(s)&&new Date(s).toISOString().startsWith(s),"terms",a),
Date.parse(s)/864e5}function I(t,a,s){return e(N(t)&&a.length&&Object.keys(t).sort()+""==[...a].sort()+"","terms",s),a.map(e=>t[e])}
function K({labels:e=[],attributes:t=[],sides:a=[]}){let s=t.flatMap(([e,t])=>[e,...K(t)])
;return[...e.filter(e=>"string"==typeof e),...s,...a.map(([e])=>e)]}function T(t,a,s,r){for(let e of K(a))x(e,"labels",S)
;let i=e=>e in t,{kind:l,low:o=0,high:p,period:c}="optional"===a.kind?a.of:a,[d,u]=["interval"===l,"circle"===l]
;if(i("unit")&&(e((d||u)&&!i("form"),"terms","unit"),x(t.unit,"unit",{characters:40})),i("step")){let a=(u?c:p-o)/n(t,"step")
;e((d||u)&&!i("scale")&&a>=1-1e-12&&a<=500&&(d||Math.abs(a-Math.round(a))<=1e-9),"terms","step")}if(i("scale")){let a=t.scale
;e(d&&!i("form")&&Array.isArray(a)&&a.length>=3&&a.length<=257,"terms","scale");let s=[...a].every((e,t)=>Math.abs(n({edge:e
},"edge"))<=1e30&&(!t||a[t-1]<e));e(s&&0===o&&p===a.length-1,"terms","scale")}if(i("form")){let{form:s}=t,n=a.labels
;"time"===s?e(u&&1440===c,"terms","form"):"date"===s?e(d&&[o,p].every(e=>Number.isInteger(e)&&e>=-719162&&e<=2932896),"terms","form"):(e("installed"===s&&r&&"categories"===a.kind&&Array.isArray(n),"terms","form"),
n.forEach((t,a)=>e($({day:t})>(a?$({day:n[a-1]}):-1/0),"terms","form")))}if(i("clipped")&&e(!0===t.clipped&&d&&!i("scale"),"terms","clipped"),
i("outside")){let{outside:a}=t;e(i("clipped")&&Array.isArray(a)&&3===a.length,"terms","outside");let[s,r,l]=[...a].map(e=>n({outside:e},"outside"))
;e(0<=r&&r<=s&&s<=l&&l<=1,"terms","outside")}if(i("text"))for(let e of I(t.text,s,"text"))x(e,"text",S);if(i("names")){
e(["categories","several"].includes(a.kind),"terms","names");let r=a.count??a.labels.length;for(let a of I(t.names,s,"names")){
e(z(a,r,r),"terms","names");for(let e of a)x(e,"names",S)}}}function D({draw:e,cells:t,order:a,dimension:s}){
return"projective"===e?(a**s-1)/(a-1):"response"===e?t:"hadamard"===e?a:0}function B(t,a,s){let l,o=t.specification;try{l=r(o,a)}catch(a){
if("draw"!==a.reason)throw a;let s=JSON.parse(JSON.parse(o).device).draw;if("string"!=typeof s||i[s])throw a
;return e(!q.includes(s),"terms","questions"),void JSON.stringify(t)}e(!q.includes(l.kind),"terms","questions")
;let[p,c]=l.ratio,d=l.delta?l.epsilon:Math.log1p(Number((p-c<<64n)/c)/2**64);e(j(n(t,"epsilon"),d)&&!l.delta==!("delta"in t),"promise",a),
l.delta&&e(j(n(t,"delta"),l.delta),"promise",a);let{domain:u,cells:h}=JSON.parse(l.device)
;return"kept change"===s&&e("response"===l.kind&&"categories"===u.kind&&2===h,"terms",a),l}function E(e,t){let{scale:a,form:s}=e
;if(t.spend)return e=>[e];if(a)return e=>"number"==typeof e&&e==e?((e,t)=>{let a=Math.min(Math.max(t,e[0]),e.at(-1)),s=e.length-2;for(;s&&e[s]>a;)s--
;return s+(a-e[s])/(e[s+1]-e[s])})(a,e):null===e?null:void 0;let r=e=>{try{return $({text:e},"text")}catch{return}
},{labels:n}=JSON.parse(t.device).domain
;return e=>s&&"string"==typeof e?"date"===s?r(e):"time"===s?/^([01]\d|2[0-3]):[0-5]\d$/.test(e)?60*+e.slice(0,2)+ +e.slice(3):void 0:void 0===r(e)?void 0:n.findLast(t=>t<=e)??n[0]:e
}async function U(e,t,a){let s=2n**255n-19n,r=BigInt.asUintN(255,BigInt("0x"+d(a.slice().reverse()))),n=r*r
;if(r>=s||r*(n-1n)*((121665n*n-243332n)*n+121666n)%s==0n)return!1;let{subtle:i}=globalThis.crypto,l=await i.importKey("raw",a,"Ed25519",!1,["verify"])
;return i.verify("Ed25519",l,t,e)}async function C(t,a){e(!/^\s*dither-private-key/.test(a),"private"),e(globalThis.crypto?.subtle,"crypto")
;let r=s(t),{key:n,key_before:i}=r,l=async(t,a,s=n)=>e(J(a,128)&&J(s,64)&&await U(c(t),m(a),m(s)),"signature")
;return e(J(a,64)&&(n===a||i?.key===a),"key"),void 0!==i&&await l("dither next key 1\n"+n,i.signature,i.key??""),[r,l]}var W={
text:"expected what a collector publishes at …/v1/campaigns/<id>, got another text",
key:"expected the key of the one who signed, 64 digits; dither serve prints it. This text has another one",
private:"a page shows its key to everybody: pin the public key, and replace this private one",
signature:"the text was changed, or somebody else has signed it",crypto:"expected a page of https or localhost: WebCrypto is missing here",
list:"the asker's list of campaigns is not in order, or does not continue the one that was read before"},X=e=>e.catch(e=>{
let{reason:t,field:a,question:s}=e instanceof u?e:new u("text");throw new u(t,a||W[t],s)}),Z=(t,a)=>X((async(t,a)=>{
let[{campaign:r,key:i,key_before:p,signature:u,retired:f,card:y},g]=await C(t,a);e("string"==typeof r,"text"),await g("dither campaign 2\n"+r,u)
;let b=d(h(c(r)));null!==f&&($(f),await g(`dither retirement 1\n${b}\n${f.day}`,f.signature)),
void 0!==y&&(await g("dither card 1\n"+y.text,y.signature),e(s(y.text).campaign===b,"terms","card"));let k=await async function(t){let[a,s]=l(t)
;e(2===a["dither-campaign"],"version");for(let[e,t,s]of[["name",64,!0],["asker",253,!1],["contact",500,!0],["purpose",4e3,!0]])x(a[e],e,{size:t,
lines:s,..."asker"===e&&{characters:200}});for(let[e,t]of Object.entries(A))(e in a||["version","people","retry"].includes(e))&&o(a,e,1,t)
;e($(a,"begins")<=$(a,"ends"),"terms","ends");let{labels:r,questions:i,promise:p,repeat:c}=a;e(z(r,0,1e3),"terms","labels")
;for(let e of r)x(e,"labels",{size:64,lines:!0});(t=>{let{repeat:a,phase:s,every:r}=t;e("string"==typeof a&&_[a],"terms","repeat");let[n,i]=_[a]
;for(let a of O)e(a in t?n.concat(i).includes(a):!n.includes(a),"terms",a);"every"in t&&e(["day","week","month"].includes(r),"terms","every"),
e("once"!==a||"days"in t!="every"in t,"terms","days"),e("kept change"!==a||t.changes<t.days,"terms","changes"),
"phase"in t&&(e(N(s)&&1===Object.keys(s).length&&"present"!==a,"terms","phase"),"share"in s?o(s,"share",1,999):e(J(s.follows,64),"terms","phase")),
e("present"!==a||!("reports_a_batch"in t),"terms","reports_a_batch")})(a);let d=(t=>{let{languages:a,purposes:s}=t
;"languages"in t?e(z(a,1,40)&&a.every(e=>"string"==typeof e&&M.test(e)),"terms","languages"):e(!("purposes"in t),"terms","purposes");let r=a??[]
;if("purposes"in t)for(let e of I(s,r.slice(1),"purposes"))x(e,"purposes",{size:4e3,lines:!0});return r})(a);"sealing_key"in a&&await(async t=>{
let a=(t=>{let[,a,s,r]="string"==typeof t&&/^[0-9a-f]{2}0020([0-9a-f]{64})([0-9a-f]{4})((?:[0-9a-f]{8})+)$/.exec(t)||[]
;return e(r&&2*parseInt(s,16)===r.length&&r.match(/.{8}/g).includes("00010001"),"key","expected the sealing_key of a campaign"),m(a)})(t)
;e(globalThis.crypto?.subtle,"crypto")
;let{subtle:s}=globalThis.crypto,{publicKey:r,privateKey:n}=await s.generateKey("X25519",!1,["deriveBits"]),i=await s.importKey("raw",a,"X25519",!1,[]).then(e=>s.deriveBits({
name:"X25519",public:e},n,256)).catch(()=>e(0,"key"));return[await s.exportKey("raw",r),i,a]})(a.sealing_key)
;let u="present"===c,h=new Map,f=new Set,[y,g]=[0,0];e(Array.isArray(i)&&i.length<=(u?1:1024)&&(u||i.length),"terms","questions");for(let t of i){
e(N(t),"terms","questions");let{name:s}=t;x(s,"questions",{size:64});let r=B(t,s,c);e(n(t,"epsilon")>0,"promise",s),y+=t.epsilon,
"delta"in t&&(e(n(t,"delta")>0,"promise",s),g+=t.delta);let i=JSON.parse((r??JSON.parse(t.specification)).device);if(r&&T(t,i.domain,d,u),u&&r){
let t=D(i);e(a.expects>=100&&"categories"===i.domain.kind&&t>0&&t<=Math.min(128,Math.floor(a.expects*a.label_share/2e4)),"terms",s)}h.set(s,r),
f.add(r?.fingerprint??JSON.parse(t.specification).fingerprint)}return e(!u||i.length===+("label_share"in a),"terms","label_share"),
e(h.size===i.length&&h.size===f.size,"terms","questions"),e(j(n(p,"epsilon"),y),"promise","epsilon"),
e(g?j(n(p,"delta"),g):null===p.delta,"promise","delta"),e(Array.isArray(p.assumptions)&&!p.assumptions.length,"promise","assumptions"),s(),h
}(r),w=JSON.parse(r),v=[],q=Object.create(null),S=((e,t)=>{let a=e=>d(h(c(JSON.stringify(e)))),{questions:s,begins:r,ends:n}=e;return{
general:a([L.map(t=>e[t]??null),t]),questions:s.map(a),begins:r,ends:n}})(w,i);for(let e of w.questions){let t=k.get(e.name)
;t?v.push([e.name,[e.specification,{...P(b,w,e,t,f),shown:S}]]):q[e.name]={get:()=>F(e)}}return{id:b,key:i,before:p?.key,terms:w,retired:f&&f.day,
questions:Object.defineProperties(Object.fromEntries(v),q),shown:S,unanswered:Object.keys(q)}})(t,a));function F({name:e,specification:t}){
throw r(t,e),new u("draw","add the draw before you read the campaign",e)}
var L=["answers","asker","changes","contact","days","every","labels","people","purpose","purposes","repeat"];function P(e,t,a,s,r){
let{asker:n,repeat:i,days:l,every:o,changes:p,answers:c,phase:d,labels:u,languages:h}=t;return{name:a.name,asker:n,repeat:i,...l&&{days:l,
start:$(t,"begins")},...o&&{every:o},...p&&{changes:p},...s.spend&&{times:1},...c&&{limit:{campaign:e,answers:c}},...d&&{phase:{campaign:e,
name:t.name,...d}},labels:u,taken:(a,s)=>((e,t,a)=>{let s=[...e.queue.filter(e=>e.id===t||e.batch===t),...f(e,t)],[r,n]=((e,t)=>{
let a=e.queue.filter(e=>e.id!==t&&e.batch!==t),[s,r]=((e,t)=>{let a=e.present?.filter(e=>e.batch&&t(e)).length??0;return a?[{...e,
present:e.present.map(e=>t(e)?{...e,batch:null}:e)},a]:[e,0]})(e,e=>e.batch===t),n=e.queue.length-a.length+r;return n?[{is:"acknowledged",reports:n},{
...s,queue:a}]:[{is:"unknown"}]})(e,t);if(!n||s[0].batch!==t||!a)return[r,n];let{campaign:i,day:l,retry:o}=a,p={id:t,asker:s[0].asker,campaign:i,
until:l+o,questions:s.map(({question:e})=>e)};return[r,{...n,sent:[...(e.sent??[]).filter(({until:e})=>e>=l),p]}]})(a,s,{campaign:e,
day:Math.floor(Date.now()/864e5),retry:t.retry}),ends:Math.min($(t,"ends"),r?$(r)-1:1/0),value:E(a,s),...h&&{languages:h},...a.text&&{text:a.text},
...a.names&&{names:a.names},...a.unit&&{unit:a.unit},...a.step&&{step:a.step},...a.form&&{form:a.form},...a.scale&&{scale:a.scale}}}
var G=({heads:e},t)=>!t||e[t[0]-1]===t[1],H=(t,a,s)=>X((async()=>{let[{list:r,signature:n},i]=await C(t,a),o=[],p=new Map
;e(Array.isArray(r)&&r.length&&r.length<=1e4,"list");for(let t of r){let[{...a}]=l(t),{before:s,published:r,retired:n,next_key:i,day:u}=a
;e(s===(o.at(-1)??"0".repeat(64))&&J(r??n??i,64),"list"),e(Object.keys(a).length===(n?3:2)&&(!n||p.has(n))&&!p.has(r),"list"),n&&$(a),
i||p.set(r??n,u??null),o.push(d(h(c(t))))}await i("dither list 2\n"+o.at(-1),n);let u={heads:o,campaigns:p};return e(G(u,s),"list"),u})())
;async function Q(t,r,n=globalThis.fetch,i){let l=async(t,s)=>{let[{ok:r,status:i},l]=await a(n,t,4194304).catch(e=>{
throw e instanceof u?e:new u("unreachable",`${e.message}: does the collector run, and allow this page (dither serve --origin)?`)})
;return e(r||!s,"campaign",`the collector answers ${i}: no campaign at this address; it may have moved, or ended long ago`),r?l.text():""
},o=await(i?.update(e=>[e])),p=r;for(;o?.keys[p];)p=o.keys[p];let c=await Z(await l(t,!0),p)
;e(t.endsWith("/"+c.id),"fingerprint","expected the campaign that the address names, got "+c.id),
e(i||c.key===p,"key","the asker has a new key: pin it, or give fetchCampaign a store, to follow it")
;let d=i&&await l(t.replace(/campaigns\/\w+$/,"list")),h=d&&(await X((async()=>s(d))())).key===c.key?await H(d,c.key):void 0
;return await(i?.update(({keys:t,heads:a}={keys:{},heads:{}})=>{
c.key!==p&&e(!t[c.key]&&(t[p]??=c.key)===c.key,"key","the asker's key was replaced by another one before");let s=a[c.key]??a[c.before]
;return e(h?G(h,s)&&h.campaigns.has(c.id)&&(c.retired||!h.campaigns.get(c.id)):!s,"list",W.list),h&&(a[c.key]=[h.heads.length,h.heads.at(-1)]),[0,{
keys:t,heads:a}]})),c}export{Q as fetchCampaign,Z as readCampaign,H as readList,U as verify};
//# sourceMappingURL=../maps/signatures.js.map
