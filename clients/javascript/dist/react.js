import{hex as e,systemSource as r}from"./core.js"
;import{createElement as t,useCallback as n,useEffect as i,useMemo as o,useRef as s,useState as c}from"react";function a(t,s,a,u){
let[m]=c(()=>u??e(r().take(16))),[d,l]=c(),[v,p]=c(),f=o(()=>t?.asking(s,a),[t,s,JSON.stringify(a)]);i(()=>{let e=!0,r=r=>e&&l(r)
;return f?.promise().then(e=>r(()=>e),e=>r(()=>{throw e})),()=>{e=!1}},[f,v]);let h=n(async e=>{if(!f)throw new Error("the device is not open yet")
;let r=await t.answer(f,e,m);return p(r),r},[t,f,m]);return{asking:f,promised:d,outcome:v,answer:h}}function u(e,r,n,o){let c=s(null);return i(()=>{
import("./elements.js").then(()=>{c.current&&Object.assign(c.current,r).refresh()})},Object.values(r)),i(()=>{let{current:e}=c,r=e=>o?.(e.detail)
;return e.addEventListener(n,r),()=>e.removeEventListener(n,r)},[n,o]),t(e,{ref:c})}var m=({device:e,inquiry:r,onAnswer:t})=>u("dither-question",{
device:e,inquiry:r},"answer",t),d=({device:e,campaign:r,onConsent:t})=>u("dither-consent",{device:e,campaign:r},"consent",t)
;export{d as Consent,m as Question,a as useQuestion};
//# sourceMappingURL=../maps/react.js.map
