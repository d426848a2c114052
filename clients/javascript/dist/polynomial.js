import{j as e,M as t,A as r}from"./core.js";import{passed as l,sets as n,uniform as o}from"./several.js";var i=i=>{
let{items:m,most:s,domain:a,elements:g}=n(i),u=r(i,"prime",m+s,2097151);for(let e=2;e*e<=u;e++)t(u%e,"cells")
;let f=r(i,"below",1,u-1),c=r(i,"terms",s+1,s+2);t(c<=2048,"cells")
;let[B,I,p]=[BigInt(u),BigInt(f),BigInt(u-f)],d=(B**BigInt(c)-1n).toString(16).length+1>>1;t(d<=256,"cells");let[h,b,N]=e(i,"heads"),j=Array.from({
length:s},(e,t)=>p**BigInt(t)*I*B**BigInt(s-1-t)),[A,v]=[j.reduce((e,t)=>e+t,0n),p**BigInt(s)],w=e=>(e%u+u)%u,y=e=>{let[t,r]=[1,e]
;for(let e=u-2;e;e=Math.floor(e/2))e%2&&(t=w(t*r)),r=w(r*r);return t};return{names:"SetResponse",ratio:[b*v,N*A],...a,draw:(e,t)=>{
let r=g(e,t),n=h(t),i=o(t,A),m=o(t,v),a=o(t,B**BigInt(c-s)),u=l(i,j),b=[s,u][+n],N=[m,j.slice(0,u).reduce((e,t)=>e-t,i)][+n],M=r.map((e,t)=>{
let r=t<b?p:t===b?I:B,l=Number(N%r)+(t<b?f:0);return N/=r,l});for(let e=1;e<s;e++)for(let t=s-1;t>=e;t--)M[t]=w(w(M[t]-M[t-1])*y(w(r[t]-r[t-e])))
;let R=[Number(a%B),Number(a/B)].slice(0,c-s);for(let e=s;e--;)R=[M[e],...R].map((t,l)=>w(t-r[e]*(R[l]??0)))
;let S=R.reduceRight((e,t)=>e*B+BigInt(t),0n);return Uint8Array.from({length:d},()=>{let e=Number(255n&S);return S>>=8n,e})}}}
;export{i as polynomial};
//# sourceMappingURL=../maps/polynomial.js.map
