// Written by `priming setup opencode`; `priming setup opencode --remove` takes it away again.
// It hands what happens to `priming hook`, and puts what that answers before the model: beside the message of the
// user, or below the output of a tool. It needs opencode 1.3.17 or newer.
import { spawn } from "node:child_process"

const COMMAND = ["priming"]
const PATIENCE = 10_000
const CHANGING = new Set(["bash", "edit", "multiedit", "write", "patch", "apply_patch"])

const hook = (event, payload) =>
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
      child.stdin.end(JSON.stringify(payload))
    } catch {
      resolve("")
    }
  })

// `opencode run` puts a message that has spaces into quotation marks, and what it reads from its standard input below
// it; but the message is what the user says, not a quotation.
const typed = (text) =>
  text.replace(/^"((?:[^"\\]|\\.)*)"(?=\s*$|\n)/, (_, message) => message.replaceAll('\\"', '"')).trimEnd()

export default {
  id: "priming",
  server: async ({ directory }) => {
    const sessions = new Map()
    const session = (id) => {
      if (!sessions.has(id)) sessions.set(id, { source: "resume", isBegun: false, isChild: false, texts: [] })
      return sessions.get(id)
    }
    const tell = async (event, id, more) => {
      const text = await hook(event, { sessionID: id, directory, ...more })
      if (text) session(id).texts.push(text)
    }
    const begin = async (id) => {
      const state = session(id)
      if (state.isBegun) return
      state.isBegun = true
      await tell("session-start", id, { source: state.source })
    }
    const texts = (id) => session(id).texts.splice(0).join("\n")
    return {
      event: async ({ event }) => {
        const { info, sessionID } = event.properties ?? {}
        if (event.type === "session.created" && info) {
          Object.assign(session(info.id), { source: "startup", isChild: Boolean(info.parentID) })
        } else if (event.type === "session.compacted" && sessionID) {
          Object.assign(session(sessionID), { source: "compact", isBegun: false })
        } else if (event.type === "session.deleted" && info) {
          sessions.delete(info.id)
        }
      },
      "chat.message": async ({ sessionID }, { message, parts }) => {
        await begin(sessionID)
        const own = parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
        if (own.length && !session(sessionID).isChild) {
          const prompt = own.map((part) => typed(part.text)).join("\n")
          await tell("prompt", sessionID, { prompt, prompt_id: message.id })
        }
        const text = texts(sessionID)
        if (!text) return
        const id = `${parts.at(-1)?.id ?? "prt_priming"}p`
        parts.push({ id, sessionID, messageID: message.id, type: "text", text, synthetic: true })
      },
      "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
        if (!CHANGING.has(tool)) return
        await tell("pre-tool", sessionID, { tool_name: tool, tool_input: args, tool_use_id: callID })
      },
      "tool.execute.after": async ({ tool, sessionID, callID, args }, result) => {
        if (tool === "bash") {
          const more = { tool_name: tool, tool_input: args, tool_response: result?.output, tool_use_id: callID }
          await tell("post-tool", sessionID, more)
        }
        if (typeof result?.output !== "string") return
        const text = texts(sessionID)
        if (text) result.output += `\n\n${text}`
      },
    }
  },
}
