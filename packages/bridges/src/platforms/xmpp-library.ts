// What is used of `@xmpp/client` and `@xmpp/component`, which bring no types.

export interface XmlElement {
  readonly name: string;
  children: unknown[];
  readonly attrs: Readonly<Record<string, string | undefined>>;
  getChild(name: string, xmlns?: string): XmlElement | undefined;
  getChildText(name: string, xmlns?: string): string | null;
  getChildren(name: string, xmlns?: string): XmlElement[];
}

export interface XmppEntity {
  on(event: "stanza", listener: (stanza: XmlElement) => void): void;
  on(event: "error", listener: (error: Error) => void): void;
  on(event: "online" | "disconnect", listener: () => void): void;
  prependListener(event: "element", listener: (element: XmlElement) => void): void;
  readonly status: string;
  readonly reconnect: { delay: number; stop(): void };
  isSecure(): boolean;
  start(): Promise<unknown>;
  stop(): Promise<unknown>;
  disconnect(): Promise<unknown>;
  send(element: XmlElement): Promise<void>;
}

interface XmppCredentials {
  username: string;
  password: string;
}

type Authenticate = (credentials: XmppCredentials, mechanism: string | undefined) => Promise<void>;

/** Builds an element. */
export type Xml = (
  name: string,
  attrs?: Record<string, string | undefined>,
  ...children: unknown[]
) => XmlElement;

/** `@xmpp/component` */
export interface ComponentLibrary {
  component(options: {
    service: string;
    domain: string;
    password(authenticate: (secret: string) => Promise<void>): Promise<void>;
  }): XmppEntity;
  xml: Xml;
}

export interface XmppLibrary {
  client(options: {
    service: string;
    domain: string;
    resource: string;
    credentials(
      authenticate: Authenticate,
      mechanisms: readonly string[],
      fast: unknown,
      entity: { isSecure(): boolean },
    ): Promise<void>;
  }): XmppEntity;
  xml: Xml;
}

/** Stream features that this client does not use. */
const declined = ["sm", "authentication"];

/**
 * Declines stream management, and SASL2, which brings it too: after a broken connection the library would send again what
 * we send again ourselves, and it miscounts what comes while it is being switched on (0.14), for which servers end the
 * stream.
 */
export function declineResumption(entity: Pick<XmppEntity, "prependListener">): void {
  entity.prependListener("element", (element) => {
    if (element.name !== "stream:features") return;
    element.children = element.children.filter((child) => !declined.includes((child as XmlElement).name));
  });
}
