import{M as e,A as t}from"./core.js";import{unpack as r,window as a}from"./nearest.js";import{inArea as o,readArea as n}from"./paths.js";var l=l=>{
let[m,h,s,i]=a(l),{domain:p,outside:d}=l;e("routes"===p.kind&&"sphere"!==p.area.kind,"domain");let u=n({domain:p.area,outside:d
}),f=t(p,"points",2,64),{distance:M,by:c}=p;e(["mean","warped","frechet"].includes(M)&&["length","order"].includes(c),"domain")
;let g=u.box.map(([e,t])=>t-e),x=g.map(e=>Math.max(1,(e=>{let t=Math.round(e);return e%1==.5?t-t%2:t})(256*e/Math.max(...g)))),y=r(l.paths,"paths")
;e(y.length===2*f*m,"paths");let A=Array.from({length:f*m},(e,t)=>[y[2*t],y[2*t+1]]),b=Array.from({length:m},(e,t)=>A.slice(t*f,(t+1)*f)),j=(e,t)=>{
let[r,a]=[x[0]*(e[0]-t[0]),x[1]*(e[1]-t[1])];return Math.floor(Math.sqrt(r*r+a*a))},k=e=>{let t=b.map(t=>((e,t)=>{
if("mean"===M)return e.reduce((e,r,a)=>e+j(r,t[a]),0);let r=[];for(let a of e){let e=[];t.forEach((t,o)=>{
let n=j(a,t),l=Math.min(r[o-1]??1/0,r[o]??1/0,e[o-1]??1/0);e.push(l===1/0?n:"warped"===M?n+l:Math.max(n,l))}),r=e}return r[f-1]})(e,t))
;return[...t.keys()].sort((e,r)=>t[e]-t[r]||e-r)},w=o(u);return{names:"Optimal",ratio:i,inside:e=>{let t=w(e);if(!t||t.length>2**20)return
;let r=t.map(e=>e.map((e,t)=>Math.min(Math.max(Math.floor((e-u.box[t][0])/g[t]*65536),0),65535)));return((e,t,r)=>{let a=[0]
;for(let e of r)a.push(a[a.length-1]+e);let o=t-1,n=0;return Array.from({length:t},(t,l)=>{let m=l*a[r.length];for(;n<e.length-2&&a[n+1]*o<=m;)n++
;let[h,s]=[e[n],e[n+1]??e[n]],i=m-a[n]*o,p=((a[n+1]??a[n])-a[n])*o;return p||(i=p=1),[0,1].map(e=>Math.floor((h[e]*(p-i)+s[e]*i)/p))})
})(r,f,r.slice(1).map((e,t)=>"order"===c?1:j(r[t],e)))},draw:(e,t)=>s(k(b[k(e)[0]]).slice(0,h),t)}};export{l as routes};
//# sourceMappingURL=../maps/routes.js.map
