import{O as e,_ as t,i as n,B as r,R as a,M as l,T as i,x as s,A as o}from"./core.js"
;var c=1n<<128n,d=(e,t)=>e.reduce((e,n,r)=>n*e[1]>e[0]*t[r]?[n,t[r]]:e,[0n,1n]);function p(t){
let n=Math.max(1,32-Math.clz32(t.length-1)),r=1n<<BigInt(128-n),a=Array.from({length:2**n
},(e,n)=>t[n]??0n),l=a.map(()=>0n),i=a.map((e,t)=>t),s=[],o=[];a.forEach((e,t)=>(e<r?s:o).push(t));for(let e;void 0!==(e=s.pop());){let t=o.at(-1)
;l[e]=a[e],i[e]=t,a[t]-=r-a[e],a[t]<r&&s.push(o.pop())}return t=>{let r=t.take(n+7>>3),a=e(r,0,r.length)>>8*r.length-n;return((e,t)=>{
let n=0n,r=e.take(t+7>>3);for(let e=r.length;e--;)n=n<<8n|BigInt(r[e]);return n>>BigInt(8*r.length-t)})(t,128-n)<l[a]?a:i[a]}}
var u=1n<<256n,f=e=>e.reduce((e,t)=>e+t,0n),m=e=>{let[m,h]=a(e),g=e.lattice,B=e.start,y=g.kind,I=g.noise
;l("clamped"===y||("ring"===y||"bounded"===y)&&"normal"!==I.decay,"draw");let M=((e,t)=>{let a=r(e,"base",64),i=o(e,"reach",1,32768);l(a,"step")
;let[s,d]=((e,t,n)=>{let r=e.decay,a=[];if("normal"===r){for(let e=u,r=t,l=0;l<=n;l++)a.push(e),e=e*r>>256n,r=r*t*t>>512n;let e=u
;for(let r=t,a=2*n+1;a;a>>=1)1&a&&(e=e*r>>256n),r=r*r>>256n;return[a,a[n]*u/(u-e)]}l("stairs"===r||"geometric"===r,"draw")
;let i="stairs"===r?o(e,"run",1,2**52):1,s="stairs"===r?o(e,"first",1,i):1;for(let e=u,r=0;r<=n;r++)r>=s&&(r-s)%i===0&&(e=e*t>>256n),a.push(e)
;let c=a[n];return[a,BigInt(((s-n)%i+i)%i||i)*c+BigInt(i)*(c*t/(u-t))]})(e,a,i),p=s.pop();"clamped"===t&&(p=d)
;let m="ring"===t?1n:2n,h=2n*f(s)-u+m*p,g=[...s.slice(1),p].map(e=>(e*(c-(1n<<40n))+h-1n)/h);"bounded"===t&&(g=g.map(e=>e<1n<<32n?1n<<32n:e))
;let B=[c-2n*f(g.slice(0,-1))-m*g.at(-1),...g];for(let e="clamped"===t?i-1:i;e--;)l(B[e]>=B[e+1],"step");let y=new Uint8Array(17*B.length)
;return B.forEach((e,t)=>{for(let n=0;n<17;n++,e>>=8n)y[17*t+n]=Number(255n&e)}),l(n(y,16)===e.digest,"fingerprint"),B
})(I,y),b=M.length-1,v=M.slice(1),w=i(B,2*b,h);if(l("line"===B.kind,"start"),"ring"===y){l(0===B.fraction,"start")
;let e=p([...M,...v.slice(0,-1).reverse()]),n=2*b;return{names:"Purkayastha",ratio:[M[0],v.at(-1)],inside:m,draw:(r,a)=>t(((w(r,a)+e(a))%n+n)%n,n)}}
let k=p([...v.slice().reverse(),...M]);if("bounded"===y){l(0===B.fraction&&B.last===b&&B.scale<=b/(h[1]-h[0]),"start"),o(g,"shift",b,b)
;let e=-M[0],n=M.map(t=>e+=t),r=n.map((e,t)=>e+n[b-t]+M[0]),a=d(v,M),i=d(r.slice(0,-1),r.slice(1))
;return l(M[b]>1n<<32n&&a[0]*i[0]<=a[1]*i[1],"step"),{names:"BoundedLaplace",ratio:[M[0],M[b]],inside:m,draw:(e,n)=>{let r=w(e,n)-b;for(;;){
let e=r+k(n);if(e>=0&&e<=b)return t(e,b+1)}}}}let x=o(g,"fraction",1,30),A=2**x,E=o(g,"last",1,2**31-A),L=Math.ceil(E/A)
;l(B.last===E&&B.fraction===x,"start"),l(L<b&&(E<A||E%A===0),"cells")
;let N=f(M.slice(b-L)),[j,z]=d([N,...M.slice(0,b-L)],[M[b],...M.slice(L,b)]),G=BigInt(A),O=BigInt(Math.min(E,A));return{
names:"normal"===I.decay?"Gaussian":"Laplace Staircase",ratio:[(G-O)*z+O*j,G*z],inside:m,draw:(e,n)=>{let r=w(e,n)+k(n)
;return t(Math.min(Math.max(r,L),2*b)-L,2*b-L+1)},..."normal"===I.decay&&{delta:(e,t)=>{let n=1n<<320n,r=e=>M[Math.abs(e)],a=e=>e>0n?e:0n,i=0n,o=0n
;if(E>=A)for(let t=L-b+1;t<=L/2;t++)i+=G*a(n*r(t)-e*r(L-t));else for(let t=2-b;t<b;t++){let l=(G-O)*r(t)+O*r(t-1);i+=a(n*G*r(t)-e*l),
o+=a(n*l-e*G*r(t))}return((e,t,n)=>{let r=s({delta:n},"delta");l(r>0&&r<1,"privacy");let a=r,i=1n;for(;a%1;i*=2n)a*=2
;return l(e*i<=BigInt(a)*t,"privacy"),Number(((e<<128n)+t-1n)/t)/2**128})((i>o?i:o)+n*G*N,n*G*c,t)}}}};export{m as lattice};
//# sourceMappingURL=../maps/lattice.js.map
