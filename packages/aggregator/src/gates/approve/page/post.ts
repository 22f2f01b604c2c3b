// Runs in the page: one question to the gateway, and its answer or a sentence. It stands alone, since its text is what
// the page gets.

export async function post(path: string, body: object): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  let response: Response;
  try {
    response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  } catch {
    throw new Error("The gateway cannot be reached. Nothing was decided here.");
  }
  const answer = (await response.json()) as { error?: { message: string; suggestion: string } };
  if (answer.error === undefined) return answer;
  throw new Error(`${answer.error.message}. ${answer.error.suggestion}.`);
}
