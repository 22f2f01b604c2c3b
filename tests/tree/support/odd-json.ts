// Texts with everything that JSON allows and JavaScript, or careless code, does not keep.

/** Members of an object. */
export const odd = [
  '"number":[9007199254740993,-9007199254740993,1.0,-0,-0.0,1e400,1E-7,0.1,123456789012345678901234567890,1.10]',
  '"text":"Größe 日本 \u{1F600} e\u0301 \u2028 \u2029 \u200B"',
  '"escaped":"\\" \\\\ / \\n \\t"',
  '"empty":[{},[],"",null,false]',
  '"__proto__":{"a":1}',
  '"constructor":{"prototype":{"a":1}}',
  '"toString":"own"',
  '"1":"a key like a number","0":"another"',
  '"nested":{"a":[[[[{"b":[1.50]}]]]]}',
  '"example.org/unknown":{"kept":1.0}',
].join(",");

/** Members of `_meta`. */
export const oddMeta = `"example.org/trace":{${odd}},"progressTokens":1.0`;

export const oddResult = `{"content":[{"type":"text","text":"t","example.org/x":1.0},{"type":"unheard-of","a":1e400}],"structuredContent":{${odd}},"isError":false,"example.org/more":[1.0],"_meta":{${oddMeta}}}`;

export const oddError = `{"code":-32099,"message":"Größe \\" 日本","data":{${odd}}}`;

export const oddTool = `{"name":"odd","title":"T","inputSchema":{"type":"object","$defs":{${odd}}},"outputSchema":{"type":"object","minimum":1.0},"icons":[{"src":"data:,x","sizes":["any"]}],"execution":{"taskSupport":"forbidden"},"example.org/x":{${odd}},"_meta":{${oddMeta}}}`;
