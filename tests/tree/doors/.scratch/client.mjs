import http from "node:http";
const [url, token, n] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
const body = JSON.stringify({jsonrpc:"2.0",id:1,method:"tools/call",params:{name:"echo",arguments:{text:"hello world ".repeat(10)},_meta:{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{name:"bench",version:"1"}}}});
const headers = {authorization:`Bearer ${token}`,accept:"application/json, text/event-stream","content-type":"application/json","mcp-protocol-version":"2026-07-28","mcp-method":"tools/call","mcp-name":"echo","content-length":Buffer.byteLength(body)};
let left = Number(n);
const one = () => new Promise((res, rej) => { const r = http.request(url,{method:"POST",agent,headers},(m)=>{let t="";m.on("data",c=>t+=c);m.on("end",()=>{ if(m.statusCode!==200) rej(new Error(m.statusCode+t)); else res();});}); r.on("error",rej); r.end(body);});
await Promise.all(Array.from({length:16}, async()=>{ while(left-->0) await one(); }));
agent.destroy();
