import{P as e,E as t,j as n,V as r,M as a,h as l,f as i,A as o}from"./core.js";function s(e,t){let n=1n
;for(let r=0;r<t;r++)n=n*BigInt(e-r)/BigInt(r+1);return t<0?0n:n}function m(e,t){let n=(t-1n).toString(2).length*+(t>1n);for(;;){let r=0n
;for(let t of e.take(n+7>>3).reverse())r=r<<8n|BigInt(t);if(r>>=BigInt(7&-n),r<t)return r}}var h=(e,t)=>t.reduce((t,n)=>t+ +((e-=n)>=0n),0)
;function f(n){let{domain:r}=n;a("several"===r.kind,"domain");let l={kind:"categories",count:r.count,get labels(){return r.labels}},[s,m]=t({domain:l,
outside:n.outside}),h=o(r,"most",1,m);return a(m<=2**20,"cells"),{items:m,most:h,domain:{
inside:e=>Array.isArray(e)?i([...new Set(e.flatMap(e=>s(e)??s("other")??[]))]):void 0,
leftOut:e=>[e].flat().filter(e=>void 0===(s(e)??s("other"))).length},elements:(t,n)=>{let r=[...t];for(let t=0;r.length>h&&t<h;t++){
let a=t+e(n,r.length-t);[r[t],r[a]]=[r[a],r[t]]}r.length=Math.min(r.length,h),i(r);for(let e=m;r.length<h;e++)r.push(e);return r}}}var u=e=>{
let{items:t,most:u,domain:c,elements:d}=f(e),g=o(e,"chosen",1,Math.min(t,512)),p=o(e,"least",1,Math.min(u,g)),[M,v,A]=n(e,"heads"),y=32-Math.clz32(t+u-1)
;a(g*y<=512,"cells");let B=Array.from({length:Math.min(u,g)+1
},(e,n)=>s(u,n)*s(t,g-n)),[I,k]=[B.slice(0,p),B.slice(p)],[w,S]=[I,k].map(e=>e.reduce((e,t)=>e+t,0n));return{names:"SetResponse",ratio:[v*w,A*S],...c,
draw:(e,n)=>{
let a=d(e,n),o=M(n),s=[h(m(n,S),k)+p,h(m(n,w),I)][1-o],f=r(n,g,t),c=r(n,Math.min(u,g),u),v=f.map(e=>l(e,a)).map((e,t)=>t<s?a[c[t]]:e),A=new Uint8Array(g*y+7>>3)
;return i(v).forEach((e,t)=>{for(let n=0;n<y;n++)A[t*y+n>>3]|=(e>>n&1)<<(t*y+n&7)}),A}}};export{h as passed,f as sets,u as several,m as uniform};
//# sourceMappingURL=../maps/several.js.map
