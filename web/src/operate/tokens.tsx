/** Tokens: made, their secret shown once, and revoked. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import type { StoredToken } from "../answers";
import { request, session } from "../api";
import { Act, Answered, Chip, Field, Nothing, Sure, Table, Time } from "../rows";
import { loadSession, may, signIn } from "../session";
import { tokens as s } from "../strings";
import { visible } from "../text";
import { fail, toast, useAnswer, Word } from "../ui";

const PATH = "/page/tokens";
const EVERYWHERE = "*";
/** The secret that was made last. It outlives the view, which is shown anew when the page signs itself in. */
const secret = signal("");

export function Tokens(): JSX.Element {
  const { token } = session.value ?? {};
  return may("admin") && (!token || token.namespace === EVERYWHERE) ? <All /> : <Nothing title={s.notYours} command={s.command} />;
}

function All(): JSX.Element {
  const answer = useAnswer((signal) => request<{ tokens: StoredToken[] }>("GET", PATH, undefined, signal), []);
  const revoke = async ({ id, name }: StoredToken): Promise<void> => {
    await request("DELETE", `${PATH}/${encodeURIComponent(id)}`);
    toast(s.revoked(name ?? id));
    await loadSession();
    answer.again();
  };
  return (
    <div class="stack">
      {secret.value && <Secret text={secret.value} />}
      <Answered answer={answer}>
        {({ tokens }) => (tokens.length === 0 ? <p>{s.none}</p> : <Table kind="tokens" label={s.title} columns={s.columns}>{tokens.toReversed().map((token) => <Line key={token.id} token={token} revoke={() => void revoke(token).catch(fail)} />)}</Table>)}
      </Answered>
      <New first={!session.value?.needed} again={answer.again} />
    </div>
  );
}

function Line({ token, revoke }: { token: StoredToken; revoke: () => void }): JSX.Element {
  const isOwn = token.id === session.value?.token?.id;
  return (
    <tr class={token.revoked_at ? "gone" : ""}>
      <td><Word text={token.name ?? token.id} /> {isOwn && <Chip>{s.yours}</Chip>}</td>
      <td>{token.namespace === EVERYWHERE ? s.everywhere : <Word text={token.namespace} />}</td>
      <td>{token.kind}</td>
      <td><Time at={token.created_at} /></td>
      <td>{token.used_at ? <Time at={token.used_at} /> : s.never}</td>
      <td>{token.expires_at ? <Time at={token.expires_at} /> : s.never}</td>
      <td>{token.revoked_at ? s.isRevoked : <Sure label={s.revoke} ask={s.ask(visible(token.name ?? token.id), isOwn)} run={revoke} />}</td>
    </tr>
  );
}

/** The secret of a new token, which nobody can show again. */
function Secret({ text }: { text: string }): JSX.Element {
  const copy = (): void => void navigator.clipboard.writeText(text).then(() => toast(s.copied), fail);
  return (
    <section class="card stack secret" role="status" aria-label={s.secret}>
      <h2>{s.secret}</h2>
      <pre>{text}</pre>
      <p class="faint">{s.once}</p>
      <div class="row"><Act primary label={s.copy} run={copy} /><Act label={s.hide} run={() => (secret.value = "")} /></div>
    </section>
  );
}

/** A form for a token. The first closes the server to all who have none: the page then uses it itself. */
function New({ first, again }: { first: boolean; again: () => void }): JSX.Element {
  const make = async (form: HTMLFormElement): Promise<void> => {
    const { name, days, ...right } = Object.fromEntries([...new FormData(form)].map(([field, value]) => [field, String(value).trim()]));
    const body = { namespace: EVERYWHERE, kind: "admin", ...right, name: name || null, days: days ? Number(days) : null };
    const created = await request<{ secret: string }>("POST", PATH, body);
    secret.value = created.secret;
    form.reset();
    if (first) await signIn(created.secret);
    again();
  };
  return (
    <form class="card stack" aria-label={s.make} onSubmit={(event) => (event.preventDefault(), void make(event.currentTarget).catch(fail))}>
      <h2>{s.make}</h2>
      {first && <p>{s.first}</p>}
      <div class="fields">
        <Field label={s.name}><input name="name" maxLength={200} placeholder={s.example} /></Field>
        {!first && (
          <>
            <Field label={s.namespace}><input name="namespace" required defaultValue={EVERYWHERE} maxLength={500} list="token-namespaces" /></Field>
            <datalist id="token-namespaces">{session.value?.namespaces.map((name) => <option key={name} value={name} />)}</datalist>
            <Field label={s.kind}><select name="kind" defaultValue="write">{s.kinds.map(([kind, about]) => <option key={kind} value={kind}>{about}</option>)}</select></Field>
          </>
        )}
        <Field label={s.days}><input name="days" type="number" min={1} max={36500} placeholder={s.never} /></Field>
      </div>
      <div class="row"><button type="submit" class="primary">{s.make}</button></div>
    </form>
  );
}
