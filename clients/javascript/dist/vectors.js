import{o as e,s as r,M as t,A as a}from"./core.js";import{window as n}from"./nearest.js";function l(e){
for(let r=1;r<e.length;r*=2)for(let t=0;t<e.length;t+=2*r)for(let a=t;a<t+r;a++){let t=e[a],n=e[a+r];e[a]=t+n,e[a+r]=t-n}return e}
var o=e=>BigInt.asUintN(64,e);function i(e,r){let t=new Float64Array(r);for(let a=0;a<r;a+=64){let n=o(0x9e3779b97f4a7c15n*(e+BigInt(a>>6)+1n))
;n=o(0xbf58476d1ce4e5b9n*(n^n>>30n)),n=o(0x94d049bb133111ebn*(n^n>>27n)),n^=n>>31n;let l=[Number(0xffffffffn&n),Number(n>>32n)]
;for(let e=0;e<64&&a+e<r;e++)t[a+e]=1-2*(l[e>>5]>>>(31&e)&1)}return t}var f=o=>{let{domain:f,outside:s}=o,[h,m,u,c]=n(o),{exact:y,length:b,centre:A}=f
;t("vectors"===f.kind&&"clip"===s&&"boolean"==typeof y,"domain");let g=a(f,"dimension",+y+1,65536);t("number"==typeof b&&b>=1e-30&&b<=1e30,"domain"),
t(null===A||Array.isArray(A)&&A.length===g&&A.some(Boolean)&&A.every(e=>Math.abs(e)<=1e30),"domain"),
t(Number.isInteger(Math.log2(h))&&h>63&&h<4097,"cells");let d=A??new Array(g).fill(0);return{names:"Optimal",ratio:c,inside:e=>{
if(!Array.isArray(e)&&!ArrayBuffer.isView(e))return;let r=[...e];if(r.length!==g||!r.every(Number.isFinite))return
;let t=r.map((e,r)=>(e-d[r])/b),a=t.reduce((e,r)=>Math.max(e,Math.abs(r)),0);if(!Number.isFinite(a)||y&&!a)return
;let n=a>2||y?a:1,l=Math.sqrt(t.reduce((e,r)=>e+r/n*(r/n),0)),o=l*n
;return(y?Math.abs(o-1)<=.01:o<=1.00001)?r.map(e=>e+0):t.map((e,r)=>d[r]+b*(y?e/n/l:e/o)+0)},draw:(t,a)=>{let n=r(a,32),o=new Float64Array(g+ +!y),f=0
;t.forEach((e,r)=>{let t=o[r]=(e-d[r])/b;f+=t*t}),y||(o[g]=Math.sqrt(Math.max(1-f,0)));let s=u(((e,r,t,a)=>{
let n=e.length,o=n>128?2**Math.ceil(Math.log2(n)):t,f=i(BigInt(r)<<16n,o),s=i((1n<<48n)+(BigInt(r%256)<<16n),n),h=e=>{let r=new Float64Array(t)
;for(let a=0;a<o;a++)r[1+619*a%(t-1)]+=e[a]*f[a];return l(r)},m=new Float64Array(t),u=new Float64Array(o);if(n>128)e.forEach((e,r)=>u[r]=e*s[r]),
m=h(l(u));else{let r=new Float64Array(t);e.forEach((e,t)=>{u.fill(0)[t]=1,h(l(u)).forEach((a,n)=>{m[n]+=a*s[t]*e,r[n]+=a*a})}),
r.forEach((e,r)=>m[r]/=Math.sqrt(Math.max(e,1)))}return[...m.keys()].sort((e,r)=>m[r]-m[e]||e-r).slice(0,a).sort((e,r)=>e-r)
})(o,n,h,m),a),c=s.length>1?s:Uint8Array.of(s[0],0);return Uint8Array.of(...c,...e(n,4),0,0)}}};export{f as directions};
//# sourceMappingURL=../maps/vectors.js.map
