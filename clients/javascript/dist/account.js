import{M as e}from"./core.js";var t="0".repeat(32),s=({batch:e})=>e!==t,n=e=>Number(e.toPrecision(12)),i=(e,t)=>n(Number((e=>BigInt("0x"+e))(e))/2**t)
;function o(e,t){let o=e.entries.map(({asker:e,question:t,epsilon:s,delta:n,assumes:o})=>({asker:e,question:t,epsilon:i(s,64),delta:i(n,128),assumes:o
})),a=e.queue.filter(s),r=e.entries.filter(({id:t})=>!e.queue.some(e=>e.id===t)).length;return[{epsilon:i(e.own.epsilon,64),left:n(t.left(e)),given:o,
waiting:a.length,sent:r}]}function a({told:e,coins:t,...s},n){let{sent:i}=o(s,n)[0],a=s.entries.map(({data:e,times:t,campaign:s,...n})=>({...n,
asker:"",question:"",fingerprint:""})),r={...s,entries:a,askers:[],answers:[],choices:[],queue:[]};return[{...o(r,n)[0],sent:i},r,!0]}
var r=e=>String(Number(e.toPrecision(3))),h=class extends(globalThis.HTMLElement??Object){#e;get device(){return this.#e}set device(e){this.#e=e,
this.refresh()}async refresh(){this.#e&&this.#t(await this.#e.account(o))}
#t({epsilon:e,left:t,given:s,waiting:n},i="How much was given stays counted: the askers keep what they received."){
let o=this.shadowRoot??this.attachShadow({mode:"open"}),a=(e,t="",...s)=>{let n=document.createElement(e);return n.textContent=t,n.append(...s),n
},h=(e,t)=>(t.setAttribute("part",e),t),l=new Map;for(let{asker:e,question:t,epsilon:n}of s){let[,,s,i]=l.get(JSON.stringify([e,t]))??["","",0,0]
;l.set(JSON.stringify([e,t]),[e||"forgotten",t||"forgotten",s+1,i+n])}
let c=s.reduce((e,t)=>e+t.epsilon,0),u=s.length?`You have given ${s.length} ${1===s.length?"answer":"answers"} with noise, ε = ${r(c)} together. Whoever guessed 50 % about you before can know at most ${(e=>`${Math.round(100/(1+Math.exp(-e)))} %`)(c)} by them.`:"You have given nothing.",d=`Of ε = ${r(e)}, ${r(t)} is left. Reports that wait to be sent: ${n}.`,g=a("tr","",...["Who asked","What","Answers","ε"].map(e=>a("th",e)))
;for(let e of Array.from(g.children))e.setAttribute("scope","col")
;let p=[...l.values()].map(e=>a("tr","",...e.map((e,t)=>a("td",3===t?r(e):String(e))))),f=a("button","Forget"),m=!1;f.addEventListener("click",()=>{
m?this.#s():(m=!0,f.textContent="Forget names, kept answers and waiting reports? Press again.")}),
o.replaceChildren(h("text",a("p",u)),...p.length?[h("table",a("table","",a("caption","What you have given"),a("thead","",g),a("tbody","",...p)))]:[],h("text",a("p",d)),h("button",f),h("text",a("p",i)))
}async#s(){let e=await this.#e.account(a);this.#t(e,`Forgotten. ${e.sent} ${1===e.sent?"answer":"answers"} had been sent before.`),
this.dispatchEvent(new Event("erase"))}},{customElements:l}=globalThis;l&&!l.get("dither-account")&&l.define("dither-account",h)
;export{h as DitherAccount,a as erase,o as view};
//# sourceMappingURL=../maps/account.js.map
