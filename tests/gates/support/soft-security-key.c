// A FIDO2 key in software, as OpenSSH loads one (its middleware API for security keys): Ed25519 only. Its key handle is
// the private key itself. Whether somebody touches it stands in the file $SOFT_KEY_TOUCH: "yes", "no", or "nobody", which
// signs as a device does that asks nobody. What it calls of libcrypto is there already, in the program that loads it.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ed25519 = 1, seedBytes = 32, signatureBytes = 64, nid = 1087, failed = -1, unsupported = -2 };

int RAND_bytes(unsigned char *, int);
void *EVP_PKEY_new_raw_private_key(int, void *, const unsigned char *, size_t);
int EVP_PKEY_get_raw_public_key(const void *, unsigned char *, size_t *);
void *EVP_MD_CTX_new(void);
int EVP_DigestSignInit(void *, void *, const void *, void *, void *);
int EVP_DigestSign(void *, unsigned char *, size_t *, const unsigned char *, size_t);
unsigned char *SHA256(const unsigned char *, size_t, unsigned char *);

struct enrolled {
  uint8_t flags;
  uint8_t *key;
  size_t key_len;
  uint8_t *handle;
  size_t handle_len;
  uint8_t *signature;
  size_t signature_len;
  uint8_t *certificate;
  size_t certificate_len;
  uint8_t *data;
  size_t data_len;
};

struct signed_ {
  uint8_t flags;
  uint32_t counter;
  uint8_t *r;
  size_t r_len;
  uint8_t *s;
  size_t s_len;
};

// Of OpenSSH 9 and later.
uint32_t sk_api_version(void) { return 0x000a0000; }

static char touch(void) {
  const char *path = getenv("SOFT_KEY_TOUCH");
  FILE *file = path == NULL ? NULL : fopen(path, "r");
  char word[8] = "";
  if (file == NULL) return 0;
  size_t length = fread(word, 1, sizeof word - 1, file);
  fclose(file);
  return length < 2 ? 0 : strcmp(word, "yes") == 0 ? 'y' : strcmp(word, "nobody") == 0 ? 'n' : 0;
}

int sk_enroll(uint32_t algorithm, const uint8_t *challenge, size_t challenge_len, const char *application, uint8_t flags,
              const char *pin, void **options, struct enrolled **answer) {
  (void)challenge, (void)challenge_len, (void)application, (void)pin, (void)options;
  if (algorithm != ed25519) return unsupported;
  struct enrolled *made = calloc(1, sizeof *made);
  made->handle = calloc(1, made->handle_len = seedBytes);
  made->key = calloc(1, made->key_len = seedBytes);
  // Looked at by nobody, but there has to be one.
  made->signature = calloc(1, made->signature_len = signatureBytes);
  RAND_bytes(made->handle, seedBytes);
  void *key = EVP_PKEY_new_raw_private_key(nid, NULL, made->handle, seedBytes);
  if (EVP_PKEY_get_raw_public_key(key, made->key, &made->key_len) != 1) return failed;
  made->flags = flags;
  *answer = made;
  return 0;
}

int sk_sign(uint32_t algorithm, const uint8_t *data, size_t data_len, const char *application, const uint8_t *handle,
            size_t handle_len, uint8_t flags, const char *pin, void **options, struct signed_ **answer) {
  (void)flags, (void)pin, (void)options;
  char touched = touch();
  if (algorithm != ed25519 || handle_len != seedBytes) return unsupported;
  if (touched == 0) return failed;
  struct signed_ *made = calloc(1, sizeof *made);
  made->flags = touched == 'y' ? 1 : 0;
  made->counter = 0x01020304;
  uint8_t said[32 + 1 + 4 + 32] = {0};
  SHA256((const uint8_t *)application, strlen(application), said);
  said[32] = made->flags;
  memcpy(said + 33, (uint8_t[]){1, 2, 3, 4}, 4);
  SHA256(data, data_len, said + 37);
  made->r = calloc(1, made->r_len = signatureBytes);
  void *context = EVP_MD_CTX_new();
  void *key = EVP_PKEY_new_raw_private_key(nid, NULL, handle, seedBytes);
  if (EVP_DigestSignInit(context, NULL, NULL, NULL, key) != 1) return failed;
  if (EVP_DigestSign(context, made->r, &made->r_len, said, sizeof said) != 1) return failed;
  *answer = made;
  return 0;
}

int sk_load_resident_keys(const char *pin, void **options, void ***keys, size_t *count) {
  (void)pin, (void)options, (void)keys, (void)count;
  return unsupported;
}
