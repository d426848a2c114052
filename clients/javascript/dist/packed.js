import{v as t,o as e,i as r,hex as n,n as o}from"./core.js";var i=t=>Uint8Array.from(t.match(/../g)??[],t=>parseInt(t,16));function s(t,s,l){
let a=o(s),p=Object.entries((t=>{let e={},r=t.map(({fingerprint:t,report:e})=>t+e).sort();for(let t of r)(e[t.slice(0,32)]??=[]).push(t.slice(32))
;return e})(l)),f=[o("dither\0"),i(t),e(a.length,1),a,e(p.length,2)];for(let[t,r]of p)f.push(i(t),e(r[0].length/2,4),e(r.length,4),i(r.join("")))
;let h=f.map(n).join("");return i(h+r(i(h)))}export{s as packedBody};
//# sourceMappingURL=../maps/packed.js.map
