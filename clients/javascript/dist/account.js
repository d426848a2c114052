import{M as e,U as t,F as n,v as s}from"./core.js";var a="0".repeat(32),r=({batch:e})=>e!==a;function i(e,t){
let n=e.queue.filter(e=>r(e)&&e.batch===t),s=e.sent?.find(e=>e.id===t),[a,i]=((e,t)=>{let n=e.present?.filter(e=>e.batch&&t(e)).length??0;return n?[{
...e,present:e.present.map(e=>t(e)?{...e,batch:null}:e)},n]:[e,0]})(e,({batch:e})=>e===t),o=n.length+i+(s?.questions.length??0),{sent:l,...h}={...a,
queue:e.queue.filter(e=>!n.includes(e))},u=l?.filter(e=>e!==s);return o?[{is:"withdrawn",reports:o},u?.[0]?{...h,sent:u}:h]:[{is:"unknown"}]}
var o=e=>JSON.stringify({dither:2,withdraw:e});function l(e,t,n){let a={};try{a=Object(s(n))}catch{}
return[t>=200&&t<300&&a.withdrawn===e,"string"==typeof a.refused?a.refused:""]}async function h(e,s,a,{fetch:h=globalThis.fetch}={}){t(a)
;let u=[s].flat().map(({terms:e})=>e.asker),c={withdrawn:0,unsent:0,left:0,refused:[]},d=Math.floor(Date.now()/864e5),f=await e.account(e=>{
let t=e.queue.filter(e=>r(e)&&u.includes(e.asker)),n=t.filter(({batch:e})=>!e);c.unsent=n.length
;let s=(e.sent??[]).filter(({asker:e,until:t})=>u.includes(e)&&t>=d),a=(e.present??[]).filter(({asker:e})=>u.includes(e)),i=[...new Set([...t,...a].flatMap(({batch:e})=>e??[]))].map(e=>[e,void 0]),o=n[0]&&{
...e,queue:e.queue.filter(e=>!n.includes(e))};return[[...i,...s.map(({id:e,campaign:t})=>[e,t])],o]});for(let[t,s]of f){
let r=a.replace(/batches$/,"withdrawals").replace(/(campaigns\/)\w{64}/,(e,t)=>s?t+s:e),u={method:"POST",body:o(t),headers:{
"content-type":"application/json"}
},[d,f]=await n(h,r,65536,u).then(async([e,t])=>[e.status,await t.text()]).catch(()=>[0,'{"refused":"unreachable"}']),[p,w]=l(t,d,f)
;p?c.withdrawn+=(await e.account(e=>i(e,t))).reports??0:(c.left++,c.refused.push(w||"status "+d))}return c}
var u=e=>Number(e.toPrecision(12)),c=(e,t)=>u(Number((e=>BigInt("0x"+e))(e))/2**t);function d(e,t){
let n=e.entries.map(({asker:e,question:t,epsilon:n,delta:s,assumes:a})=>({asker:e,question:t,epsilon:c(n,64),delta:c(s,128),assumes:a
})),s=[...e.queue.filter(r),...(e.present??[]).filter(({batch:e})=>e)],a=e.entries.filter(({id:t})=>!e.queue.some(e=>e.id===t)).length,i=(e.sent??[]).flatMap(({asker:e,questions:t,until:n})=>n<Math.floor(Date.now()/864e5)?[]:{
asker:e,questions:t,until:new Date(864e5*n).toISOString().slice(0,10)});return[{epsilon:c(e.own.epsilon,64),left:u(t.left(e)),given:n,
waiting:s.length,sent:a,withdrawable:i}]}function f({told:e,coins:t,trees:n,sent:s,present:a,...r},i){
let{sent:o}=d(r,i)[0],l=r.entries.map(({data:e,times:t,campaign:n,...s})=>({...s,asker:"",question:"",fingerprint:""})),h={...r,entries:l,askers:[],
answers:[],choices:[],queue:[]};return[{...d(h,i)[0],sent:o},h,!0]}
var p=e=>String(Number(e.toPrecision(3))),w=class extends(globalThis.HTMLElement??Object){#e;get device(){return this.#e}set device(e){this.#e=e,
this.refresh()}async refresh(){this.#e&&this.#t(await this.#e.account(d))}
#t({epsilon:e,left:t,given:n,waiting:s},a="How much was given stays counted: the askers keep what they received."){
let r=this.shadowRoot??this.attachShadow({mode:"open"}),i=(e,t="",...n)=>{let s=document.createElement(e);return s.textContent=t,s.append(...n),s
},o=(e,t)=>(t.setAttribute("part",e),t),l=new Map;for(let{asker:e,question:t,epsilon:s}of n){let[,,n,a]=l.get(JSON.stringify([e,t]))??["","",0,0]
;l.set(JSON.stringify([e,t]),[e||"forgotten",t||"forgotten",n+1,a+s])}
let h=n.reduce((e,t)=>e+t.epsilon,0),u=n.length?`You have given ${n.length} ${1===n.length?"answer":"answers"} with noise, ε = ${p(h)} together. Whoever guessed 50 % about you before can know at most ${(e=>{
let t=100/(1+Math.exp(-e))*1.0000000000000002;return`${[1,10,100].map(e=>(Math.ceil(t*e)/e).toFixed(Math.log10(e))).find(e=>+e<100)??"100"} %`
})(h)} by them.`:"You have given nothing.",c=`Of ε = ${p(e)}, ${p(t)} is left. Reports that wait to be sent: ${s}.`,d=i("tr","",...["Who asked","What","Answers","ε"].map(e=>i("th",e)))
;for(let e of Array.from(d.children))e.setAttribute("scope","col")
;let f=[...l.values()].map(e=>i("tr","",...e.map((e,t)=>i("td",3===t?p(e):String(e))))),w=i("button","Forget"),g=!1;w.addEventListener("click",()=>{
g?this.#n():(g=!0,w.textContent="Forget names, kept answers and waiting reports? Press again.")}),
r.replaceChildren(o("text",i("p",u)),...f.length?[o("table",i("table","",i("caption","What you have given"),i("thead","",d),i("tbody","",...f)))]:[],o("text",i("p",c)),o("button",w),o("text",i("p",a)))
}async#n(){let e=await this.#e.account(f);this.#t(e,`Forgotten. ${e.sent} ${1===e.sent?"answer":"answers"} had been sent before.`),
this.dispatchEvent(new Event("erase"))}},{customElements:g}=globalThis;g&&!g.get("dither-account")&&g.define("dither-account",w)
;export{w as DitherAccount,f as erase,h as takeBack,d as view};
//# sourceMappingURL=../maps/account.js.map
