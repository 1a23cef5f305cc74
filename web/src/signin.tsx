/** Signing in, where the store has tokens. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { signIn } from "./session";
import { app, signing } from "./strings";
import { messageOf } from "./ui";
import { visible } from "./text";

export function SignIn(): JSX.Element {
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const enter = async (token: string): Promise<void> => {
    setBusy(true);
    setError("");
    await signIn(token).catch((problem: unknown) => setError(messageOf(problem)));
    setBusy(false);
  };
  return (
    <main class="signin" id="content" tabIndex={-1}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void enter(String(new FormData(event.currentTarget).get("token")).trim());
        }}
      >
        <h1>{app.name}</h1>
        <p>{signing.about}</p>
        <pre>{signing.command}</pre>
        <label>
          {signing.token}
          <input name="token" type="password" autocomplete="off" spellcheck={false} required autofocus aria-describedby="signin-error" />
        </label>
        <p id="signin-error" class="error" role="alert">
          {visible(error)}
        </p>
        <button type="submit" class="primary" disabled={busy}>
          {signing.enter}
        </button>
        <p class="faint">{signing.note}</p>
      </form>
    </main>
  );
}
