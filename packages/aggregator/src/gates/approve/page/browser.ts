// The little of a browser that our pages use: this project's own library has no DOM. Types only.

export interface PageEvent {
  readonly key: string;
  readonly target: unknown;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  preventDefault(): void;
}

export interface PageElement {
  readonly tagName: string;
  className: string;
  textContent: string | null;
  hidden: boolean;
  disabled: boolean;
  /** Of a dialog, or of details. */
  open: boolean;
  value: string;
  href: string;
  append(...nodes: (PageElement | string)[]): void;
  replaceChildren(...nodes: (PageElement | string)[]): void;
  replaceWith(...nodes: (PageElement | string)[]): void;
  setAttribute(name: string, value: string): void;
  addEventListener(type: string, listener: (event: PageEvent) => void): void;
  querySelectorAll(selector: string): ArrayLike<PageElement>;
  focus(): void;
  showModal(): void;
  close(): void;
}

interface PageDocument {
  title: string;
  readonly hidden: boolean;
  createElement(tag: string): PageElement;
  getElementById(id: string): PageElement | null;
  addEventListener(type: string, listener: (event: PageEvent) => void): void;
}

/** What `navigator.credentials` gives, of both kinds. */
export interface PageCredential {
  readonly id: string;
  readonly response: {
    readonly clientDataJSON: ArrayBuffer;
    readonly authenticatorData?: ArrayBuffer;
    readonly signature?: ArrayBuffer;
    readonly attestationObject?: ArrayBuffer;
    getTransports?(): string[];
  };
}

export interface Browser {
  readonly document: PageDocument;
  readonly location: { readonly pathname: string; readonly hostname: string; readonly href: string };
  readonly navigator: {
    readonly credentials?: {
      get(options: object): Promise<PageCredential | null>;
      create(options: object): Promise<PageCredential | null>;
    };
  };
}
