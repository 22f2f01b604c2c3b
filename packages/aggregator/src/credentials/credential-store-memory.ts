// Credentials that end with the process.
import type { Credential, CredentialStore } from "./credential-store.ts";

export function createMemoryCredentialStore(): CredentialStore {
  const credentials = new Map<string, Credential>();
  return {
    async read(key) {
      return structuredClone(credentials.get(key));
    },
    async write(key, credential) {
      if (credential) credentials.set(key, structuredClone(credential));
      else credentials.delete(key);
    },
    async entries() {
      return structuredClone([...credentials]);
    },
  };
}
