// Shows what waits while no page of the console is open, and opens it. It keeps nothing and changes no request.
addEventListener("push", (event) => {
  event.waitUntil(show(event.data));
});

addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(openAt(event.notification.data));
});

function show(data) {
  const { body, path } = read(data);
  const isOurs = typeof path === "string" && path.startsWith("/console/");
  return registration.showNotification("mcpx", {
    body: typeof body === "string" ? body.slice(0, 100) : "Something waits for you.",
    data: isOurs ? path : "/",
    tag: "mcpx-waiting",
    renotify: true,
  });
}

/** A browser wants something to be shown for every message, whatever is in it. */
function read(data) {
  try {
    return data.json() ?? {};
  } catch {
    return {};
  }
}

async function openAt(path) {
  const { href } = new URL(path, location.origin);
  const pages = await clients.matchAll({ type: "window" });
  const page = pages.find(({ url }) => new URL(url).pathname.startsWith("/console/"));
  if (page === undefined) return clients.openWindow(href);
  await page.navigate(href);
  return page.focus();
}
