import{_ as t,R as e,z as a,M as i,T as s,A as o}from"./core.js";var r=r=>{let{domain:n}=r;i("optional"===n.kind&&"line"===r.start.kind,"domain")
;let[l,d]=e({domain:n.of,outside:r.outside}),m=o(r,"cells",2,65536),u=Math.log2(m),N=o(r,"width",1,m/2);i(Number.isInteger(u),"cells")
;let M=m-N,[c,g,P]=a(N,r),p=s(r.start,m,d),I=P-BigInt(N)*g;return{names:"Podium PM SW OGPM OGPMU Focused",ratio:[I+BigInt(m)*g,I],
inside:t=>null===t?NaN:l(t),draw:(e,a)=>{let i=+Number.isNaN(e),s=p([e,d[0]][i],a),[o,r,n]=c(a,u);return t([n,[((s+r*o)%M+M)%M,M+r][i]][o],m)}}}
;export{r as optional};
//# sourceMappingURL=../maps/optional.js.map
