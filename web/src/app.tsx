/** The shell: header with the question, tabs, the view that the address names, keys, notes, and signing in. */
import { useSignalEffect } from "@preact/signals";
import type { ComponentType, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { namespace, reachable, session } from "./api";
import { First } from "./first";
import { Help } from "./help";
import { useKeys } from "./keys";
import { address, go, route, to } from "./router";
import { signOut } from "./session";
import { SignIn } from "./signin";
import { look, status } from "./store";
import { app, keys } from "./strings";
import { theme, toggleTheme } from "./theme";
import { Empty, fail, Failure, Toasts, Waiting } from "./ui";
import { type View, views } from "./views";

const tabs = views.filter((view) => !view.hidden);

export function App(): JSX.Element {
  const who = session.value;
  const signedOut = who !== null && who.needed && who.token === null;
  return (
    <>
      <a class="skip" href="#content" onClick={(event) => (event.preventDefault(), document.getElementById("content")?.focus())}>
        {app.skip}
      </a>
      {!reachable.value && (
        <p class="lost" role="alert">
          {app.lost}
        </p>
      )}
      {signedOut ? <SignIn /> : <Signed />}
      <Toasts />
    </>
  );
}

function Signed(): JSX.Element {
  const [helping, setHelping] = useState(false);
  const question = useRef<HTMLInputElement>(null);
  const view = views.find(({ id }) => id === route.value.view);
  useKeys([
    { key: "/", does: keys.question, run: () => question.current?.select() },
    { key: "?", does: keys.help, run: () => setHelping(true) },
    ...tabs.map((tab, i) => ({ key: String(i + 1), does: keys.view(tab.title), run: () => go(tab.id) })),
    { key: "d", does: keys.theme, run: toggleTheme },
  ]);
  useSignalEffect(() => {
    document.title = `${view?.title ?? app.name} · ${namespace()} · ${app.name}`;
  });
  useEffect(() => void look(), [namespace()]);
  const isEmpty = status.value !== null && status.value.operations === 0 && status.value.namespace === namespace();
  return (
    <>
      <header class="top">
        <a class="brand" href={to("recall")} aria-label={app.name}>
          <Mark /> <span>{app.name}</span>
        </a>
        <Question field={question} />
        <nav class="tabs" aria-label={app.views}>
          {tabs.map((tab) => (
            <a key={tab.id} href={to(tab.id)} aria-current={tab.id === route.value.view ? "page" : undefined}>
              {tab.title}
            </a>
          ))}
        </nav>
        <div class="tools">
          <Namespaces />
          <button type="button" class="icon" onClick={toggleTheme} aria-label={app.theme.toggle} title={app.theme.toggle}>
            {theme.value === "dark" ? "☾" : "☀"}
          </button>
          <button type="button" class="icon" onClick={() => setHelping(true)} aria-label={app.help} title={app.help}>
            ?
          </button>
          {session.value?.token && (
            <button type="button" class="quiet" onClick={() => signOut().catch(fail)}>
              {app.signOut}
            </button>
          )}
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        <h1 class="unseen">{view?.title ?? app.name}</h1>
        {session.value === null ? <Waiting /> : isEmpty && view?.id !== "operate" ? <First /> : view ? <Shown key={view.id} view={view} /> : <Empty title={app.notThere(route.value.view)}><a href={to("recall")}>{app.home}</a></Empty>}
      </main>
      {helping && <Help close={() => setHelping(false)} />}
    </>
  );
}

/** A view, once its code is there. */
function Shown({ view }: { view: View }): JSX.Element {
  const [state, setState] = useState<{ Part?: ComponentType; error?: unknown }>({});
  const load = (): void => void view.load().then(({ default: Part }) => setState({ Part }), (error: unknown) => setState({ error }));
  useEffect(load, [view]);
  if (state.error) return <Failure error={state.error} again={() => location.reload()} />;
  return state.Part ? <state.Part key={namespace()} /> : <Waiting />;
}

function Question({ field }: { field: { current: HTMLInputElement | null } }): JSX.Element {
  const asked = route.value.view === "recall" ? (route.value.params.q ?? "") : "";
  return (
    <form
      class="question"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const text = field.current?.value.trim();
        if (text) go("recall", route.value.view === "recall" ? { ...route.value.params, q: text } : { q: text });
      }}
    >
      <input ref={field} key={asked} defaultValue={asked} type="search" name="q" placeholder={app.question} aria-label={app.question} autocomplete="off" maxLength={4000} dir="auto" />
      <kbd aria-hidden="true">/</kbd>
    </form>
  );
}

function Namespaces(): JSX.Element | null {
  const names = session.value?.namespaces ?? [];
  const shown = namespace();
  if (names.length < 2 && names.every((name) => name === shown)) return null;
  const options = names.includes(shown) ? names : [shown, ...names];
  const choose = (ns: string): void => void (location.hash = address({ view: route.value.view, part: "", params: { ns } }));
  return (
    <select aria-label={app.namespace} value={shown} onChange={(event) => choose(event.currentTarget.value)}>
      {options.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

const Mark = (): JSX.Element => (
  <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true" class="mark">
    <path d="M9 22 16 11M16 11l8 6M9 22l15-5" />
    <circle cx="9" cy="22" r="3" />
    <circle cx="24" cy="17" r="3" />
    <circle cx="16" cy="11" r="5.4" class="lit" />
  </svg>
);
