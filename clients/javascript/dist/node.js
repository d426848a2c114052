import{M as t}from"./core.js";import{randomUUID as a}from"node:crypto"
;import{link as i,mkdir as e,open as r,readdir as o,readFile as n,rename as c,stat as s,unlink as f,writeFile as w}from"node:fs/promises"
;import{join as l}from"node:path";var u=(t,...a)=>t.catch(t=>{if(!a.includes((t=>t.code)(t)))throw t});async function d(t,a){
let i=await r(t,void 0===a?"r":"wx",384);try{void 0!==a&&await i.writeFile(a),await i.sync()}finally{await i.close()}}function y(r){
let y=t=>l(r,`${t}.json`),m=async()=>(await o(r)).flatMap(t=>/^\d+\.json$/.test(t)?[parseInt(t)]:[]).sort((t,a)=>t-a);async function p(){
for(let a=0;;a++){t(a<99,"account");let i,e,r=(await m()).at(-1)??0,o=Math.max(r-1,0),c=""
;for(let t;void 0!==(t=await u(n(y(o+1),"utf8"),"ENOENT"));o++)c=t;if(!o&&!r)return[0,[]];if(c){try{[i,e]=JSON.parse(c)}catch{}
return t(Array.isArray(i)&&Object(e)===e,"account"),[o,i,e]}}}async function E(t){let[e,o,n]=await p(),[E,N]=t(n);if(!N)return[E]
;let h=a(),O=l(r,`${h}.new`);try{if(await d(O,JSON.stringify([[...o,h].slice(-20),N])),!await u(i(O,y(e+1)).then(()=>!0),"EEXIST"))return}finally{
await u(f(O),"ENOENT")}if((await p())[1].includes(h)){await d(r).catch(()=>{})
;for(let t of await m())t<=e-20?await u(f(y(t)),"ENOENT"):t<=e&&(await u(s(y(t)),"ENOENT"))?.size&&(await w(O,"",{mode:384}),await c(O,y(t)))
;return[E]}await u(f(y(e+1)),"ENOENT")}let N=Promise.resolve();return{update(a){let i=N.then(async()=>{for(await e(r,{recursive:!0,mode:448}),
await(async a=>{let{mode:i,uid:e}=await s(a),r=process.geteuid?.();t(void 0===r||!(18&i)&&[r,0].includes(e),"folder")})(r);;){let t=await E(a)
;if(t)return t[0]}});return N=i.catch(()=>{}),i}}}export{y as fileStore};
//# sourceMappingURL=../maps/node.js.map
