import{_ as t,q as r,R as a,M as e,T as s,A as l}from"./core.js";var o=o=>{let[i,n]=a(o),c=l(o,"cells",2,2**32),d=l(o,"width",1,c/2),m=Math.log2(d)
;e(Number.isInteger(m)&&c%d===0,"cells");let[f,h]=r(o,c/d,m),M=o.start;e("line"===M.kind&&0===M.fraction,"start");let g=s(M,c,n);return{
names:"Sectors",ratio:h,inside:i,draw:(r,a)=>t(f(Math.floor((g(r,a)%c+c)%c/d),a),c)}};export{o as sectors};
//# sourceMappingURL=../maps/angles.js.map
