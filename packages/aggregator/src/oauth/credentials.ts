// What a wire over HTTP knows of credentials: headers to send, and somebody to ask when the server wants others.

export interface Credentials {
  /** For each request, asked anew each time. */
  headers(): Promise<Record<string, string>>;
  /**
   * The server has refused with 401, or with 403 and `insufficient_scope`. True means there are new credentials and the
   * request may be tried once more; false that there is nothing else to offer. Rejects with `server_unauthorised`, which
   * says why, where the authorisation itself failed. With the headers that were `sent`, a refusal of credentials that
   * somebody else has renewed meanwhile costs nothing.
   */
  refused(
    status: 401 | 403,
    wwwAuthenticate: string | undefined,
    sent?: Readonly<Record<string, string>>,
  ): Promise<boolean>;
}
