// The gateway as a daemon of launchd: a user of its own. Written, and never tried on a Mac. Pure. [B-KEY-3]
import type { ServiceFacts } from "./facts.ts";

export function launchdPlist({ program, user, dataDir, label }: ServiceFacts): string {
  const words = [...program, "up", "--data", dataDir, "--no-demo"];
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${xml(label)}</string>
  <key>UserName</key><string>${xml(user)}</string>
  <key>GroupName</key><string>${xml(user)}</string>
  <key>ProgramArguments</key>
  <array>
${words.map((word) => `    <string>${xml(word)}</string>`).join("\n")}
  </array>
  <key>WorkingDirectory</key><string>${xml(dataDir)}</string>
  <key>Umask</key><integer>63</integer>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><true/>
</dict>
</plist>
`;
}

function xml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
