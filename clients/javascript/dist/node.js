import{M as t}from"./core.js";import{randomUUID as a}from"node:crypto"
;import{link as e,mkdir as i,open as r,readdir as o,readFile as n,rename as c,stat as s,unlink as f,writeFile as l}from"node:fs/promises"
;import{join as w}from"node:path";var d="its file is damaged. Restore it; if the folder is removed, the budget begins anew",u=(t,...a)=>t.catch(t=>{
if(!a.includes((t=>t.code)(t)))throw t});async function m(t,a){let e=await r(t,void 0===a?"r":"wx",384);try{void 0!==a&&await e.writeFile(a),
await e.sync()}finally{await e.close()}}function y(r){
let y=t=>w(r,`${t}.json`),p=async()=>(await o(r)).flatMap(t=>/^\d+\.json$/.test(t)?[parseInt(t)]:[]).sort((t,a)=>t-a);async function h(){
for(let a=0;;a++){t(a<99,"account",d);let e,i,r=(await p()).at(-1)??0,o=Math.max(r-1,0),c=""
;for(let t;void 0!==(t=await u(n(y(o+1),"utf8"),"ENOENT"));o++)c=t;if(!o&&!r)return[0,[]];if(c){try{[e,i]=JSON.parse(c)}catch{}
return t(Array.isArray(e)&&Object(i)===i,"account",d),[o,e,i]}}}async function E(t){let[i,o,n]=await h(),[d,E]=t(n);if(!E)return[d]
;let N=a(),v=w(r,`${N}.new`);try{if(await m(v,JSON.stringify([[...o,N].slice(-20),E])),!await u(e(v,y(i+1)).then(()=>!0),"EEXIST"))return}finally{
await u(f(v),"ENOENT")}if((await h())[1].includes(N)){await m(r).catch(()=>{})
;for(let t of await p())t<=i-20?await u(f(y(t)),"ENOENT"):t<=i&&(await u(s(y(t)),"ENOENT"))?.size&&(await l(v,"",{mode:384}),await c(v,y(t)))
;return[d]}await u(f(y(i+1)),"ENOENT")}let N=Promise.resolve();return{update(a){let e=N.then(async()=>{for(await i(r,{recursive:!0,mode:448}),
await(async a=>{let{mode:e,uid:i}=await s(a),r=process.geteuid?.()
;t(void 0===r||!(18&e)&&[r,0].includes(i),"folder","others can write to it: expected a folder for the account alone")})(r);;){let t=await E(a)
;if(t)return t[0]}});return N=e.catch(()=>{}),e}}}export{y as fileStore};
//# sourceMappingURL=../maps/node.js.map
