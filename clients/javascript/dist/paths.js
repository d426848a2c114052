import{M as e,draws as a,O as t,x as r,A as n}from"./core.js"
;var i=(e=1)=>e>1?["how many locations a trajectory has, and when they were sent, is public"]:[],l=("0".repeat(32),
1e-12),s=(e,a,t)=>Math.min(Math.max(e,a),t),o=(a,t)=>(e(2===a.length,"domain",t),a.map(e=>r({},t,e))),h=(...a)=>{let t=[Math.min(...a),Math.max(...a)]
;return e(t[0]>=-1e30&&t[1]<=1e30&&t[1]-t[0]>=1e-30,"domain"),t},d={high:1,kind:"interval",low:0};function u(e,a){
let t=([e,a],t,r)=>Math.abs(r)/Math.max(r>0?a-t:t-e,l*(a-e));return{clip:([t,r])=>[s(t,...e),s(r,...a)],axes:e=>e,
gauge:(r,n)=>Math.max(t(e,r[0],n[0]),t(a,r[1],n[1])),box:[e,a]}}var c={clip:([e,a])=>{let t=(e+180)%360
;return[Math.abs(e)<=180?e:t+360*+(t<0)-180,s(a,-90,90)]},axes:([e,a])=>[e+180,a],gauge:()=>1,lines:[{kind:"circle",period:360},{high:90,
kind:"interval",low:-90}]};function m({domain:a,outside:t}){let n=a=>{let t=r(a,"low");return e("interval"===a.kind&&t<a.high,"domain"),
h(t,r(a,"high"))};switch(e("clip"===t,"domain"),a.kind){case"rectangle":return{...u(n(a.x),n(a.y)),lines:[a.x,a.y]};case"disk":
return e(a.radius>0,"domain"),((e,[a,t])=>(h(0,e),{box:[h(a-e,a+e),h(t-e,t+e)],clip:([r,n])=>{let i=e/Math.hypot(r-a,n-t)
;return i<1?[a+(r-a)*i,t+(n-t)*i]:[r,n]},axes:e=>e,gauge:(r,[n,i])=>{
let[s,o]=[r[0]-a,r[1]-t],h=l*e**2,d=Math.max(e**2-(s*s+o*o),h),u=s*n+o*i,c=n**2+i**2,m=Math.abs(u)+Math.sqrt(u*u+c*d);return u>0?m/d:c/Math.max(m,h*l)
}}))(r(a,"radius"),o(a.centre,"centre"));case"parallelogram":return(([a,t],[r,n],[i,s])=>{let o=r*s-n*i,c=[Math.hypot(r,n),Math.hypot(i,s)]
;e(Math.abs(o)>1e-9*c[0]*c[1],"domain"),c.forEach(e=>h(0,e))
;let m=[h(a,a+r,a+i,a+(r+i)),h(t,t+n,t+s,t+(n+s))],g=u([0,1],[0,1]),p=([e,a])=>[(e*s-a*i)/o,(a*r-e*n)/o],M=([e,r])=>g.clip(p([e-a,r-t]));return{
clip:e=>{let o=p([e[0]-a,e[1]-t]),[h,d]=M(e);return Math.max(Math.abs(o[0]-h),Math.abs(o[1]-d))>l?[a+h*r+d*i,t+h*n+d*s]:e},axes:M,
gauge:(e,a)=>g.gauge(M(e),p(a)),lines:[d,d],box:m}})(o(a.corner,"corner"),o(a.first,"first"),o(a.second,"second"))}
return e("sphere"===a.kind&&a.radius>0,"domain"),h(0,r(a,"radius")),c}function g(e,a){let t=1;for(;e%1;t*=2)e*=2;let r=BigInt(e)*BigInt(n({times:a
},"times",1,65536)),l=Number(r);return[(BigInt(l)<r?l+1.5*l*2**-53:l)/t,i(a)]}
var p=e=>a=>Array.isArray(a)&&a.length&&[...a].every(e=>Array.isArray(e)&&2===e.length&&[...e].every(Number.isFinite))?a.map(e.clip):void 0
;function M(e){let a=Math.max(...e[0].map(e=>e.length)),t=e=>Array.from({length:a},(a,t)=>e[t])
;return Uint8Array.from(e.flatMap((e,a)=>[[+!a],...e].flatMap(t)))}function f(i){return h=>{let u=m(h),f=i?[{kind:"circle",period:2*Math.PI
},d]:u.lines;e(!(i&&u===c)&&f,"domain");let x=[h.first,h.second],[w,y]=x.map((t,r)=>{e(JSON.stringify(t.domain)===JSON.stringify(f[r]),"domain")
;let n={__proto__:t,outside:"circle"===t.domain.kind?"wrap":"clip"},i=a[t.draw];e(i&&t.draw+""===t.draw,"draw");let l=i(n)
;return e(!l.delta&&!l.spend,"draw"),l}),v=i?o(h.start,"start"):void 0,b=i?h.codebooks.map((a,t)=>((a,t)=>{if(e(!(t>2**20),"cells"),a.values){let i=[]
;return a.runs.forEach((e,t)=>{for(let l=n(a,"runs",1,2**20-i.length,e);l--;)i.push(r(a,"values",a.values[t]))}),e(i.length===(t??i.length),"cells"),
e=>i[e]}let[i,l]=[r(a,"offset"),r(a,"step")],o=void 0===a.low?-1/0:r(a,"low"),h=void 0===a.high?1/0:r(a,"high");return e=>s(i+l*e,o,h)
})(a,x[t].cells)):[],k=l*(h.domain.radius??0);e(!v||2===b.length&&u.clip(v).every((e,a)=>Math.abs(e-v[a])<=k),"start");let A=void 0!==h.reference
;return e(!A||i&&"fixed"===h.reference,"reference"),{names:i?"TraCSD Strawman":"TraCSC",ratio:[w.ratio[0]*y.ratio[0],w.ratio[1]*y.ratio[1]],spend:g,
inside:p(u),draw:(e,a)=>{let r=v;return M(e.map(e=>{let[n,i]=((e,a,r)=>{let n=(e,a)=>e.draw(e.inside(a),r);if(!e){let[t,r]=u.axes(a)
;return[[n(w,t),n(y,r)],e]}
let i=[a[0]-e[0],a[1]-e[1]],l=Math.atan2(i[1],i[0]),o=[n(w,l+2*Math.PI*+(l<0)),n(y,Math.min(u.gauge(e,i),1))],[h,d]=o.map((e,a)=>b[a](t(e,0,e.length))),c=[Math.cos(h),Math.sin(h)],m=s(d,0,1)/u.gauge(e,c)
;return[o,[e[0]+c[0]*m,e[1]+c[1]*m]]})(r,e,a);return A||(r=i),n}))}}}}var x={pair:f(!1),walk:f(!0)}
;export{M as asPath,p as inArea,o as pair,x as paths,m as readArea,g as spend};
//# sourceMappingURL=../maps/paths.js.map
