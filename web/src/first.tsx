/** A first visit to an empty namespace: how to begin, and an example to look around in. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import story from "../../demo/story/documents.jsonl?raw";
import { call } from "./api";
import { may } from "./session";
import { look } from "./store";
import { first } from "./strings";
import { Empty, fail, toast } from "./ui";

interface Note {
  id: string;
  time: string;
  speaker: string;
  text: string;
  files?: string[];
}

export function First(): JSX.Element {
  const [busy, setBusy] = useState(false);
  const fill = async (): Promise<void> => {
    setBusy(true);
    try {
      const notes = story.trim().split("\n").map((line) => JSON.parse(line) as Note);
      const items = notes.map(({ id, time, speaker, text, files }) => ({ key: id, content: text, occurred_at: time, speaker, files: files ?? [], source: "example" }));
      await call("remember_many", { items });
      toast(first.filled(items.length));
      await look();
    } catch (error) {
      fail(error);
    }
    setBusy(false);
  };
  return (
    <Empty title={first.title}>
      <p>{first.about}</p>
      <pre>{first.command}</pre>
      {may("write") ? (
        <>
          <button type="button" class="primary" disabled={busy} onClick={fill}>
            {busy ? first.filling : first.example}
          </button>
          <p class="faint">{first.exampleAbout}</p>
        </>
      ) : (
        <p class="faint">{first.readOnly}</p>
      )}
    </Empty>
  );
}
