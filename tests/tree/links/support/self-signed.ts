// A certificate nobody vouches for.
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** DER: a tag, a length, and what is inside. */
function der(tag: number, ...inside: Uint8Array[]): Buffer {
  const content = Buffer.concat(inside);
  const length = content.length < 128 ? [content.length] : [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}
/** A certificate for `localhost`, signed by its own Ed25519 key. */
function selfSigned(publicKey: KeyObject, privateKey: KeyObject): string {
  const ed25519 = der(0x30, Buffer.from("06032b6570", "hex"));
  const commonName = der(0x30, Buffer.from("0603550403", "hex"), der(0x0c, Buffer.from("localhost")));
  const name = der(0x30, der(0x31, commonName));
  const time = (year: number) => der(0x18, Buffer.from(`${year}0101000000Z`));
  const body = der(
    0x30,
    der(0xa0, Buffer.from("020102", "hex")),
    Buffer.from("020101", "hex"),
    ed25519,
    name,
    der(0x30, time(2020), time(2100)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
  );
  const signature = der(0x03, Buffer.from([0]), sign(null, body, privateKey));
  const base64 = der(0x30, body, ed25519, signature).toString("base64");
  return `-----BEGIN CERTIFICATE-----\n${base64.match(/.{1,64}/g)?.join("\n")}\n-----END CERTIFICATE-----\n`;
}

export function selfSignedPair(): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return {
    cert: selfSigned(publicKey, privateKey),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}
