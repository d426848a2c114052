import{F as e,hex as t,Malformed as n,M as r,readQuestion as s,systemSource as i}from"./core.js";import{autoSend as a}from"./auto.js"
;function o(e,t=globalThis.navigator?.languages??[]){let n=e=>e.split("-")[0];for(let r of t){let t=e.find(e=>e===r)??e.find(e=>n(e)===n(r))
;if(t)return t}return e[0]??""}function l(e){let t=100/(1+Math.exp(-e))*1.0000000000000002
;return`${[1,10,100].map(e=>(Math.ceil(t*e)/e).toFixed(Math.log10(e))).find(e=>+e<100)??"100"} %`}var d={en:{agree:"I agree",decline:"No, thank you",
agreed:"You agreed. You can change this at any time.",declined:"You declined. Nothing is answered or sent.",asks:"{asker} asks:",
until:"From {begins} to {ends}.",contact:"Contact: {contact}",
signal:"Your browser says that you do not want to be tracked. Nothing is sent unless you agree here.",answer:"Answer",none:"I prefer not to say",
thanks:"Thank you. Your answer was randomised on this device; only the random report is sent.",over:"This survey is over.",
spent:"Your privacy budget does not allow this answer. Nothing was sent.",refused:"Agree above to answer.",
failed:"This device could not keep your answer. Nothing was sent.",missing:"Please give an answer first.",
unknown:"This page cannot show this question.",choose:"Please choose",several:"Choose all that apply.",
one:"Your answer is randomised on this device before it is sent. Anyone who guessed 50 % before reaches at most {reach}.",
total:"Your answers are randomised on this device before they are sent. Anyone who guessed 50 % about you before reaches at most {total} by all of them together.",
round:"By one answer to each question: at most {reach}.",
unlimited:"Your answers are randomised on this device before they are sent. Over time, only the limit of your device applies.",
first:"Nothing is answered or sent unless you agree here."},de:{agree:"Ich bin einverstanden",decline:"Nein, danke",
agreed:"Sie sind einverstanden. Sie können das jederzeit ändern.",declined:"Sie haben abgelehnt. Nichts wird beantwortet oder gesendet.",
asks:"{asker} fragt:",until:"Vom {begins} bis {ends}.",contact:"Kontakt: {contact}",
signal:"Ihr Browser meldet, dass Sie nicht verfolgt werden möchten. Nichts wird gesendet, wenn Sie hier nicht zustimmen.",answer:"Antworten",
none:"Keine Angabe",thanks:"Danke. Ihre Antwort wurde auf diesem Gerät verrauscht; nur die zufällige Meldung wird gesendet.",
over:"Diese Umfrage ist vorbei.",spent:"Ihr Budget lässt diese Antwort nicht zu. Nichts wurde gesendet.",
refused:"Stimmen Sie oben zu, um zu antworten.",failed:"Dieses Gerät konnte Ihre Antwort nicht speichern. Nichts wurde gesendet.",
missing:"Bitte geben Sie zuerst eine Antwort.",unknown:"Diese Seite kann diese Frage nicht zeigen.",choose:"Bitte wählen",
several:"Wählen Sie alles Zutreffende.",
one:"Ihre Antwort wird auf diesem Gerät verrauscht, bevor sie gesendet wird. Wer vorher 50 % sicher war, erreicht höchstens {reach}.",
total:"Ihre Antworten werden auf diesem Gerät verrauscht, bevor sie gesendet werden. Wer vorher 50 % sicher war, erreicht durch alle zusammen höchstens {total}.",
round:"Durch eine Antwort auf jede Frage: höchstens {reach}.",
unlimited:"Ihre Antworten werden auf diesem Gerät verrauscht, bevor sie gesendet werden. Auf Dauer gibt es keine Grenze außer der Ihres Geräts.",
first:"Nichts wird beantwortet oder gesendet, wenn Sie hier nicht zustimmen."}},h=(e,t)=>e.replace(/\{(\w+)\}/g,(e,n)=>t[n]??"")
;function c(e,t={},...n){let r=document.createElement(e);for(let[e,n]of Object.entries(t))r.setAttribute(e,n);return r.append(...n),r}
var u=globalThis.HTMLElement??Object,p=new WeakMap,m=class extends u{static observedAttributes=["lang","name"];#e;get wanted(){
let e=this.closest?.("[lang]")?.getAttribute("lang");return[...e?[e]:[],...globalThis.navigator?.languages??[]]}get words(){
return d[o(Object.keys(d),this.wanted)]}show(e,...t){this.#e??=this.attachShadow({mode:"open"}),
this.#e.replaceChildren(c("style",{},"\n:host { display: block; margin: 1rem 0; max-width: 40rem; font: inherit; line-height: 1.5; }\nfieldset, form { border: 0; margin: 0; padding: 0; min-width: 0; }\nlegend, .label { display: block; padding: 0; margin: 0 0 .5rem; font-weight: 600; overflow-wrap: anywhere; }\np, ul { margin: .5rem 0; overflow-wrap: anywhere; }\nul { padding-inline-start: 1.25rem; }\n.choice { display: flex; gap: .6rem; align-items: center; min-height: 2.75rem; cursor: pointer; overflow-wrap: anywhere; }\n.choice input { width: 1.25rem; height: 1.25rem; flex: none; margin: 0; }\n.field { display: flex; gap: .6rem; align-items: center; }\ninput[type=number], input[type=date], input[type=time], select { font: inherit; color: inherit; background: transparent; border: 1px solid; border-radius: .4rem; padding: .55rem .7rem; min-height: 2.75rem; box-sizing: border-box; max-width: 100%; }\noption { color: CanvasText; background: Canvas; }\n.buttons { display: flex; flex-wrap: wrap; gap: .6rem; margin: .8rem 0; }\nbutton { font: inherit; color: inherit; background: transparent; border: 1px solid; border-radius: .4rem; padding: .55rem 1.1rem; min-height: 2.75rem; cursor: pointer; }\nbutton:hover { text-decoration: underline; }\n:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }\n.note { font-size: .9em; }\n[role=status]:empty { display: none; }\n"),c("div",{
part:"box",...e&&{lang:e}},...t))}connectedCallback(){this.refresh()}attributeChangedCallback(){this.#e&&this.refresh()}tell(e,t){
this.dispatchEvent(new CustomEvent(e,{detail:t,bubbles:!0}))}},g=class extends m{device;campaign;address;async refresh(){
let{device:e,campaign:t,words:n}=this;if(!e||!t)return;let{terms:r}=t,s=o(r.languages??[],this.wanted),i=r.purposes?.[s]??r.purpose
;p.set(e,(p.get(e)??new Set).add(t.shown.general));let a=await e.chosen(t),d=(e=>{
let{repeat:t,begins:n,ends:r,days:s,every:i,answers:a,promise:o}=e,l=(Date.parse(r)-Date.parse(n))/864e5+1,d=e=>12*+e.slice(0,4)+ +e.slice(5,7),h=e=>Math.floor((Date.parse(e)/864e5+3)/7),c=s?Math.ceil(l/s):"month"===i?d(r)-d(n)+1:"week"===i?h(r)-h(n)+1:l,u="same"===t||"present"===t?1:"once"===t||"kept change"===t?c:"fresh"===t?a:void 0
;return u&&u*o.epsilon})(r),u=c("p",{role:"status",part:"status"
},void 0===a?navigator.globalPrivacyControl?n.signal:n.first:a?n.agreed:n.declined),m=(e,t)=>{let n=c("button",{type:"button",part:"button",
"aria-pressed":String(a===t)},e);return n.addEventListener("click",()=>{this.#t(t)}),n},g={asker:r.asker,begins:r.begins,ends:r.ends,contact:r.contact
},w=r.promise.epsilon,f=[void 0===d?n.unlimited:h(n.total,{total:l(d)}),...d===w?[]:[h(n.round,{reach:l(w)})]];this.show(s,c("p",{part:"asker",
class:"label"},h(n.asks,g)),...i.split("\n").map(e=>c("p",{part:"purpose"},e)),c("ul",{part:"questions"
},...r.questions.map(({text:e,name:t})=>c("li",{},e?.[s]??t))),c("p",{part:"promise",class:"note"},f.join(" ")),c("p",{part:"note",class:"note"
},`${h(n.until,g)} ${h(n.contact,g)}`),c("div",{class:"buttons"},m(n.agree,!0),m(n.decline,!1)),u)}async#t(e){
await this.device.consent(e,this.campaign,this.address),await this.refresh(),this.tell("consent",e)}},w=class extends m{device;inquiry;#n;#r
;async refresh(){let{device:e,inquiry:n,words:r}=this;if(!e)return;if(!n)return this.show("",c("p",{part:"status"},r.unknown))
;this.#n??=t(i().take(16))
;let[s,a]=this.#s(n),{epsilon:d}=await n.promise(),u="optional"===v(n).kind||n.labels().some(e=>null===e.value),p=o(n.terms.languages??[],this.wanted)
;this.#r=c("p",{role:"status",part:"status"});let m=c("div",{class:"buttons"},c("button",{type:"submit",part:"button"},r.answer));if(u){
let e=c("button",{type:"button",part:"button"},r.none);e.addEventListener("click",()=>{this.#i(null)}),m.append(e)}let g=c("form",{part:"form",
novalidate:""},s,c("p",{part:"promise",class:"note",id:"promise"},h(r.one,{reach:l(d)})),m);g.addEventListener("submit",e=>{e.preventDefault(),
this.#i(a())}),this.show(p,...a===f?[c("p",{part:"status"},r.unknown)]:[g,this.#r])}#s(e){
let t=this.words,n=e.text(this.wanted),r=e.labels(this.wanted).filter(({value:e})=>null!==e),{kind:s}=v(e)
;if("several"===s&&r.length)return this.#a("checkbox",n,r,t.several);if("categories"===s&&r.length&&r.length<=7)return this.#a("radio",n,r)
;let i=c("label",{class:"label",for:"control",part:"question"},n);if("categories"===s&&r.length){let e=[c("option",{value:""
},t.choose),...r.map((e,t)=>c("option",{value:String(t)},e.text))],n=c("select",{id:"control",part:"control","aria-describedby":"promise"},...e)
;return[c("div",{},i,n),()=>""===n.value?void 0:r[+n.value].value]}let a=(({terms:e,question:t})=>{
let{domain:n}=JSON.parse(t.device),{kind:r,low:s,high:i,period:a}="optional"===n.kind?n.of:n;if("interval"!==r&&"circle"!==r)return
;let o=e=>new Date(864e5*e).toISOString().slice(0,10);if("time"===e.form)return[{type:"time"},({value:e})=>e];if("date"===e.form)return[{type:"date",
min:o(s),max:o(i)},({value:e})=>e];let[l,d]=e.scale?[e.scale[0],e.scale.at(-1)]:"circle"===r?[0,a]:[s,i];return[{type:"number",inputmode:"decimal",
min:String(l),max:String(d),step:String(e.step??"any")},({valueAsNumber:e})=>e==e?e:void 0]})(e);if(!a)return[c("div"),f];let[o,l]=a,d=c("input",{
id:"control",part:"control","aria-describedby":e.terms.unit?"unit promise":"promise",...o}),h=e.terms.unit?[c("span",{id:"unit"},e.terms.unit)]:[]
;return[c("div",{},i,c("div",{class:"field"},d,...h)),()=>""===d.value?void 0:l(d)]}#a(e,t,n,r){let s=n.map((t,n)=>c("input",{type:e,name:"answer",
value:String(n),part:"control"})),i=n.map((e,t)=>c("label",{class:"choice"},s[t],c("span",{},e.text))),a=c("fieldset",{"aria-describedby":"promise"
},c("legend",{part:"question"},t),...r?[c("p",{class:"note"},r)]:[],...i),o=()=>n.flatMap((e,t)=>s[t].checked?[e.value]:[])
;return[a,()=>"checkbox"===e?o():o()[0]]}async#i(e){let t=this.words;if(void 0===e)return void this.#r.replaceChildren(t.missing)
;let{shown:n}=this.inquiry.terms,r=n&&p.get(this.device)?.has(n.general)&&void 0===await this.device.chosen({shown:n})?{is:"refused",reason:"consent",
words:"expected a choice in <dither-consent> first"}:await this.device.answer(this.inquiry,e,this.#n).catch(e=>{
throw this.#r.replaceChildren(t.failed),e
}),{is:s,reason:i}=r,a="refused"!==s?t.thanks:"ended"===i?t.over:"consent"===i?t.refused:"value"===i?t.missing:t.spent;this.#r.replaceChildren(a),
this.tell("answer",r)}},f=()=>{},v=e=>JSON.parse(e.question.device).domain;function b(e,t,n,s=document){let i=[]
;for(let n of Array.from(s.querySelectorAll("dither-question"))){n.device=e;try{let s=n.getAttribute("name"),a=s&&t.questions[s]
;r(a,"asking",`<dither-question name="${s}">: the campaign asks ${Object.keys(t.questions)}`),i.push(n.inquiry=e.asking(...a))}catch(e){reportError(e)
}n.refresh()}for(let r of Array.from(s.querySelectorAll("dither-consent")))Object.assign(r,{device:e,campaign:t,address:n}),r.refresh()
;let{send:o,stop:l}=a(e,i,n+"/batches"),d=()=>{o()};return s.addEventListener("answer",d),s.addEventListener("consent",d),()=>{l(),
s.removeEventListener("answer",d),s.removeEventListener("consent",d)}}var{customElements:y}=globalThis
;y&&!y.get("dither-question")&&(y.define("dither-question",w),y.define("dither-consent",g))
;export{g as DitherConsent,w as DitherQuestion,b as connect,d as words};
//# sourceMappingURL=../maps/elements.js.map
