// Whether this device is told what waits, also while no page is open: a subscription at the browser's push service,
// which the gateway is given.
import type { Api } from "./api.ts";

const worker = "/console/service-worker.js";

/** Why it cannot be had here; `undefined` where it can. */
export function pushObstacle(): string | undefined {
  if (!isSecureContext) return "Notifications need HTTPS, or the console opened at localhost.";
  if ("serviceWorker" in navigator && "PushManager" in globalThis) return undefined;
  return "This browser has no notifications for this page. On an iPhone, add the page to the Home Screen first.";
}

/** Asks the person, then the push service, then the gateway. */
export async function notifyHere(api: Pick<Api, "call">, name: string): Promise<void> {
  if ((await Notification.requestPermission()) !== "granted") {
    throw new Error("This browser does not allow notifications of this page; its settings say so.");
  }
  const { publicKey } = await api.call("GET", "/push");
  const registration = await navigator.serviceWorker.register(ownWorker(), { scope: "/console/" });
  await isActive(registration);
  const subscription = await registration.pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: String(publicKey),
  });
  await api.call("POST", "/push", { subscription: subscription.toJSON(), name });
}

async function isActive({ installing, waiting, active }: ServiceWorkerRegistration): Promise<void> {
  const coming = installing ?? waiting;
  if (active !== null || coming === null) return;
  await new Promise<void>((resolve, reject) =>
    coming.addEventListener("statechange", () => {
      if (coming.state === "activated") resolve();
      if (coming.state === "redundant")
        reject(new Error("The page's helper for notifications did not start."));
    }),
  );
}

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string };
}

let policy: ReturnType<TrustedTypes["createPolicy"]> | undefined;

/** Where the browser asks who vouches for the address of a program: this one, and no other. */
function ownWorker(): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  policy ??= trustedTypes?.createPolicy("mcpx-worker", {
    createScriptURL(url) {
      if (url !== worker) throw new TypeError("no other program is started");
      return url;
    },
  });
  return policy?.createScriptURL(worker) ?? worker;
}

const systems = ["Android", "iPhone", "iPad", "Windows", "Mac", "Linux"];
const browsers = ["Firefox", "Edg", "OPR", "Chrome", "Safari"];

/** `Chrome on Android`: so that people know which one to remove. */
export function deviceName(agent: string): string {
  const browser = browsers.find((one) => agent.includes(one)) ?? "A browser";
  const system = systems.find((one) => agent.includes(one));
  const named = browser === "Edg" ? "Edge" : browser === "OPR" ? "Opera" : browser;
  return system === undefined ? named : `${named} on ${system}`;
}
