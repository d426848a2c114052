import{M as e,draws as r,O as t,x as a,A as n}from"./core.js"
;var i=(e=1)=>e>1?["how many locations a trajectory has, and when they were sent, is public"]:[],l=("0".repeat(32),
1e-12),s=(e,r,t)=>Math.min(Math.max(e,r),t),o=(r,t)=>(e(2===r.length,"domain",t),r.map(e=>a({},t,e))),h=(...r)=>{let t=[Math.min(...r),Math.max(...r)]
;return e(t[0]>=-1e30&&t[1]<=1e30&&t[1]-t[0]>=1e-30,"domain"),t},d={high:1,kind:"interval",low:0};function u(e,r){
let t=([e,r],t,a)=>Math.abs(a)/Math.max(a>0?r-t:t-e,l*(r-e));return{clip:([t,a])=>[s(t,...e),s(a,...r)],axes:e=>e,
gauge:(a,n)=>Math.max(t(e,a[0],n[0]),t(r,a[1],n[1])),box:[e,r]}}var c={clip:([e,r])=>{let t=(e+180)%360
;return[Math.abs(e)<=180?e:t+360*+(t<0)-180,s(r,-90,90)]},axes:([e,r])=>[e+180,r],gauge:()=>1,lines:[{kind:"circle",period:360},{high:90,
kind:"interval",low:-90}]};function m({domain:r,outside:t}){let n=r=>{let t=a(r,"low");return e("interval"===r.kind&&t<r.high,"domain"),
h(t,a(r,"high"))};switch(e("clip"===t,"domain"),r.kind){case"rectangle":return{...u(n(r.x),n(r.y)),lines:[r.x,r.y]};case"disk":
return e(r.radius>0,"domain"),((e,[r,t])=>(h(0,e),{box:[h(r-e,r+e),h(t-e,t+e)],clip:([a,n])=>{let i=e/Math.hypot(a-r,n-t)
;return i<1?[r+(a-r)*i,t+(n-t)*i]:[a,n]},axes:e=>e,disk:[e,[r,t]],gauge:(a,[n,i])=>{
let[s,o]=[a[0]-r,a[1]-t],h=l*e**2,d=Math.max(e**2-(s*s+o*o),h),u=s*n+o*i,c=n**2+i**2,m=Math.abs(u)+Math.sqrt(u*u+c*d);return u>0?m/d:c/Math.max(m,h*l)
}}))(a(r,"radius"),o(r.centre,"centre"));case"parallelogram":return(([r,t],[a,n],[i,s])=>{let o=a*s-n*i,c=[Math.hypot(a,n),Math.hypot(i,s)]
;e(Math.abs(o)>1e-9*c[0]*c[1],"domain"),c.forEach(e=>h(0,e))
;let m=[h(r,r+a,r+i,r+(a+i)),h(t,t+n,t+s,t+(n+s))],p=u([0,1],[0,1]),g=([e,r])=>[(e*s-r*i)/o,(r*a-e*n)/o],f=([e,a])=>p.clip(g([e-r,a-t]));return{
clip:e=>{let o=g([e[0]-r,e[1]-t]),[h,d]=f(e);return Math.max(Math.abs(o[0]-h),Math.abs(o[1]-d))>l?[r+h*a+d*i,t+h*n+d*s]:e},axes:f,
gauge:(e,r)=>p.gauge(f(e),g(r)),lines:[d,d],box:m}})(o(r.corner,"corner"),o(r.first,"first"),o(r.second,"second"))}
return e("sphere"===r.kind&&r.radius>0,"domain"),h(0,a(r,"radius")),c}function p(e,r){let t=1;for(;e%1;t*=2)e*=2;let a=BigInt(e)*BigInt(n({times:r
},"times",1,65536)),l=Number(a);return[(BigInt(l)<a?l+1.5*l*2**-53:l)/t,i(r)]}
var g=e=>r=>Array.isArray(r)&&r.length&&[...r].every(e=>Array.isArray(e)&&2===e.length&&[...e].every(Number.isFinite))?r.map(e.clip):void 0
;function f(e,r=Math.max(...e.map(e=>e.length))){return e.flatMap(e=>Array.from({length:r},(r,t)=>e[t]))}function M(e){
return Uint8Array.from(e.flatMap((e,r)=>f([Uint8Array.of(+!r),...e])))}var w={kind:"circle",period:2*Math.PI},y=([e,r])=>{let t=Math.atan2(r,e)
;return t+2*Math.PI*+(t<0)};function x(t,a){let[n,i]=[t.first,t.second].map((t,n)=>{e(JSON.stringify(t.domain)===JSON.stringify(a[n]),"domain")
;let i={__proto__:t,outside:"circle"===t.domain.kind?"wrap":"clip"},l=r[t.draw];e(l&&t.draw+""===t.draw,"draw");let s=l(i)
;return e(!s.delta&&!s.spend,"draw"),s});return[n,i,[n.ratio[0]*i.ratio[0],n.ratio[1]*i.ratio[1]]]}function v(r){return i=>{
let h=m(i),u=r?[w,d]:h.lines;e(!(r&&h===c)&&u,"domain");let[f,v,b]=x(i,u),k=r?o(i.start,"start"):void 0,A=r?i.codebooks.map((r,t)=>((r,t)=>{
if(e(!(t>2**20),"cells"),r.values){let i=[];return r.runs.forEach((e,t)=>{
for(let l=n(r,"runs",1,2**20-i.length,e);l--;)i.push(a(r,"values",r.values[t]))}),e(i.length===(t??i.length),"cells"),e=>i[e]}
let[i,l]=[a(r,"offset"),a(r,"step")],o=void 0===r.low?-1/0:a(r,"low"),h=void 0===r.high?1/0:a(r,"high");return e=>s(i+l*e,o,h)
})(r,i[t?"second":"first"].cells)):[],I=l*(i.domain.radius??0);e(!k||2===A.length&&h.clip(k).every((e,r)=>Math.abs(e-k[r])<=I),"start")
;let S=void 0!==i.reference;return e(!S||r&&"fixed"===i.reference,"reference"),{names:r?"TraCSD Strawman":"TraCSC",ratio:b,spend:p,inside:g(h),
draw:(e,r)=>{let a=k;return M(e.map(e=>{let[n,i]=((e,r,a)=>{let n=(e,r)=>e.draw(e.inside(r),a);if(!e){let[t,a]=h.axes(r);return[[n(f,t),n(v,a)],e]}
let i=[r[0]-e[0],r[1]-e[1]],l=[n(f,y(i)),n(v,Math.min(h.gauge(e,i),1))],[o,d]=l.map((e,r)=>A[r](t(e,0,e.length))),u=[Math.cos(o),Math.sin(o)],c=s(d,0,1)/h.gauge(e,u)
;return[l,[e[0]+u[0]*c,e[1]+u[1]*c]]})(a,e,r);return S||(a=i),n}))}}}}var b={pair:v(!1),walk:v(!0),polar:r=>{let{clip:t,disk:a}=m(r);e(a,"domain")
;let[n,[i,l]]=a,[s,o,h]=x(r,[{high:n,kind:"interval",low:0},w]),d=g({clip:t});return{names:"Polar",ratio:h,spend:p,inside:e=>d(1===e?.length?e:[e]),
draw:([[e,r]],t)=>{let a=[e-i,r-l],n=(e,r)=>e.draw(e.inside(r),t);return Uint8Array.from(f([n(s,Math.hypot(...a)),n(o,y(a))]))}}}}
;export{M as asPath,g as inArea,o as pair,b as paths,m as readArea,p as spend};
//# sourceMappingURL=../maps/paths.js.map
