import{_ as e,E as t,i as r,B as l,M as o,A as a,a as n}from"./core.js";var i=i=>{let[s,m]=t(i),f=a(i,"order",2,2**21),p=a(i,"dimension",2,21),u=2
;for(;f%u;)u++;let h=Math.round(Math.log(f)/Math.log(u)),g=(f**p-1)/(f-1),y=(f**(p-1)-1)/(f-1);o(u**h===f&&g>=m&&g<=2**21,"cells")
;let d=i.polynomial.map(e=>a(i,"polynomial",0,u-1,e));o(d+""==((e,t)=>{let r=e**t-1,l=[],o=r
;for(let e=2;o>1;e=e*e>o?o:e+1)for(o%e===0&&l.push(e);o%e===0;)o/=e;let a=Array.from({length:t},(e,t)=>+!t);for(let o=e+1;;o++){
let n=a.map((t,r)=>Math.floor(o/e**r)%e),i=r=>r.map((l,o)=>((r[o-1]??0)+r[t-1]*(e-n[o]))%e),s=(t,r)=>r.reduceRight((r,l)=>i(r).map((r,o)=>(r+l*t[o])%e),a.map(()=>0)),m=e=>{
let t=a;for(let r=i(a);e;e=Math.floor(e/2),r=s(r,r))e%2&&(t=s(t,r));return t+""==a+""};if(m(r)&&!l.some(e=>m(r/e)))return n}
})(u,h*p)+"","number","polynomial");let M=l(i,"own",32),b=l(i,"other",32),A=a(i,"bits",64,128),B=BigInt(y)*M,c=B+BigInt(g-y)*b
;o((64===A||128===A)&&0n<b&&b<M,"step"),o(c<=1n<<BigInt(A)&&c>=1n<<BigInt(A-1),"step");let w=((e,t,r,l,o)=>{let a=t*r,n=t*o,i=new Uint32Array(n+a)
;i[a-1]=1;for(let t=0;t+a<n;t++){let r=0;for(let e=0;e<a;e++)r+=l[e]*i[t+e];i[t+a]=(e-r%e)%e}let s=[],m=[];for(let e=0;e<o;e++){let r=!0
;for(let l=0;l<t;l++)r&&=0===i[e+l*o];(r?s:m).push(e)}return Uint32Array.from([...s,...m])})(u,h,p,d,g),I=Uint8Array.from({length:4*y
},(e,t)=>w[t>>2]>>>8*(3&t));return o(r(I)===i.set,"fingerprint"),{names:"ProjectiveResponse",ratio:[M,b],inside:s,draw:(t,r)=>{let l;do{
let e=r.take(A>>3);l=A>64?n(e.subarray(8))<<64n|n(e):n(e)}while(l>=c);let o=l<B?Number(l/M):y+Number((l-B)/b);return e(((w[o]-t)%g+g)%g,g)}}}
;export{i as projective};
//# sourceMappingURL=../maps/projective.js.map
