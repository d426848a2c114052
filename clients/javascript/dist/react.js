import{hex as e,systemSource as r}from"./core.js"
;import{createElement as t,useCallback as n,useEffect as i,useMemo as s,useRef as o,useState as a}from"react";function c(t,o,c,u){
let[d]=a(()=>u??e(r().take(16))),[m,l]=a(),[v,p]=a(),f=s(()=>t?.asking(o,c),[t,o,JSON.stringify(c)]);i(()=>{let e=!0,r=r=>e&&l(r)
;return f?.promise().then(e=>r(()=>e),e=>r(()=>{throw e})),()=>{e=!1}},[f,v]);let h=n(async e=>{if(!f)throw new Error("the device is not open yet")
;let r=await t.answer(f,e,d);return p(r),r},[t,f,d]);return{asking:f,promised:m,outcome:v,answer:h}}function u(e,r,n,s){let a=o(null);return i(()=>{
import("./elements.js").then(()=>{a.current&&Object.assign(a.current,r).refresh()})},Object.values(r)),i(()=>{let{current:e}=a,r=e=>s?.(e.detail)
;return e.addEventListener(n,r),()=>e.removeEventListener(n,r)},[n,s]),t(e,{ref:a})}var d=({device:e,inquiry:r,onAnswer:t})=>u("dither-question",{
device:e,inquiry:r},"answer",t),m=({device:e,campaign:r,address:t,onConsent:n})=>u("dither-consent",{device:e,campaign:r,address:t},"consent",n)
;export{m as Consent,d as Question,c as useQuestion};
//# sourceMappingURL=../maps/react.js.map
