import{o as e,_ as a,s as r,q as t,E as n,j as s,M as i,A as o}from"./core.js";var d=e=>BigInt.asUintN(64,e),l={hashed:a=>{let[s]=n(a)
;i("affine 1"===a.hash,"draw");let l=o(a,"buckets",2,65536),[b,h]=t(a,l);return{names:"OLH BLH",ratio:h,inside:s,draw:(a,t)=>{let n=r(t,47)
;return Uint8Array.of(...e(b(((e,a,r)=>{let t=d(0x9e3779b97f4a7c15n*(BigInt(e)+1n));t=d(0xbf58476d1ce4e5b9n*(t^t>>30n)),
t=d(0x94d049bb133111ebn*(t^t>>27n)),t^=t>>31n;let n=BigInt.asUintN(32,(t>>32n)*BigInt(a)+t);return Math.floor(Number(n)*r/2**32)
})(n,a,l),t),2),...e(n,6))}}},hadamard:e=>{let[t,d]=n(e),l=o(e,"order",d+1,2**32),[b,h,f]=s(e,"heads")
;return i(Number.isInteger(Math.log2(l))&&l<=2*d,"cells"),{names:"HadamardResponse",ratio:[h,f],inside:t,draw:(e,t)=>{
let n=e+1,s=0|r(t,Math.log2(l)),i=n&s;for(let e=16;e;e>>=1)i^=i>>>e;return(1&i)===b(t)&&(s^=n&-n),a(s>>>0,l)}}}};export{l as hashed};
//# sourceMappingURL=../maps/hashed.js.map
