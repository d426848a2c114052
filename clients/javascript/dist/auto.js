var[e,t]=[60,3600];function n(n,i,a,{onSend:r,onError:o,...l}={}){
let s,{document:c,addEventListener:m,removeEventListener:v}=globalThis,[d,h,u,y]=[!1,!1,0,e];async function f(){if(!(d||h||Date.now()<u)){d=!0,
clearTimeout(s);try{let o=await n.send(i,a,l),{waiting:c,retryAfter:m}=o,v=m>0?Math.min(Math.max(m,1),24*t):0;u=Date.now()+1e3*v,
y=c?Math.min(2*y,t):e,c&&!h&&(s=setTimeout(f,1e3*(v||y/2))),r?.(o)}catch(e){o?.(e)}finally{d=!1}}}return m?.("online",f),
c?.addEventListener("visibilitychange",f),f(),{send:f,stop(){h=!0,clearTimeout(s),v?.("online",f),c?.removeEventListener("visibilitychange",f)}}}
export{n as autoSend};
//# sourceMappingURL=../maps/auto.js.map
