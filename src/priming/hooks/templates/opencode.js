// Written by `priming setup opencode`; `priming setup opencode --remove` takes it away again.
// It hands what happens to `priming hook`, and puts what that answers before the model as context.
import { spawn } from "node:child_process"

const COMMAND = ["priming"]
const PATIENCE = 10_000
const KEPT = 12

const asked = (event, said) =>
  new Promise((resolve) => {
    try {
      const [program, ...rest] = COMMAND
      const child = spawn(program, [...rest, "hook", event, "--agent", "opencode"], {
        stdio: ["pipe", "pipe", "ignore"],
        timeout: PATIENCE,
      })
      let out = ""
      child.stdout.on("data", (data) => (out += data))
      child.on("error", () => resolve(""))
      child.on("close", () => {
        try {
          resolve(out.trim() ? (JSON.parse(out).context ?? "") : "")
        } catch {
          resolve("")
        }
      })
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(said))
    } catch {
      resolve("")
    }
  })

export default {
  id: "priming.memory",
  setup: async (ctx) => {
    const told = new Map()
    const folder = () => ctx.location?.directory ?? process.cwd()
    const tell = async (event, sessionID, more) => {
      if (!told.has(sessionID)) {
        told.set(sessionID, [])
        await tell("session-start", sessionID, {})
      }
      const text = await asked(event, { sessionID, directory: folder(), ...more })
      if (text) told.set(sessionID, [...told.get(sessionID), text].slice(-KEPT))
    }
    await ctx.session.hook("prompt", (event) => tell("prompt", event.sessionID, { prompt: event.prompt?.text ?? "" }))
    await ctx.session.hook("context", (event) => {
      for (const text of told.get(event.sessionID) ?? []) event.system.push({ type: "text", text })
    })
    await ctx.tool.hook("execute.before", (event) =>
      tell("pre-tool", event.sessionID, { tool_name: event.tool, tool_input: event.input }),
    )
    await ctx.tool.hook("execute.after", async (event) => {
      if (event.status !== "completed") return
      const { tool, input, result } = event
      await asked("post-tool", {
        sessionID: event.sessionID,
        directory: folder(),
        tool_name: tool,
        tool_input: input,
        tool_response: result?.content ?? result?.output ?? result,
      })
    })
  },
}
