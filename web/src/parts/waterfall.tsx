/** The sum that makes a hit's probability: a bar for each term, from where the sum stood to where it takes it. */
import type { JSX } from "preact";
import { recall as s, terms } from "../strings";
import { percent, signed } from "../text";
import type { Hit } from "../types";

const WIDE = 100;
const LEAST = 0.005;

export function Waterfall({ hit }: { hit: Hit }): JSX.Element {
  if (hit.relevance === null) return <Parts hit={hit} />;
  const all = Object.entries(hit.components);
  const total = all.reduce((sum, [, value]) => sum + value, 0);
  const small = all.filter(([, value]) => Math.abs(value) < LEAST);
  const rows = [...all.filter(([, value]) => Math.abs(value) >= LEAST)];
  const rest = small.reduce((sum, [, value]) => sum + value, 0);
  if (Math.abs(rest) >= LEAST) rows.push(["others", rest]);
  const ends = rows.reduce<number[]>((sums, [, value]) => [...sums, sums.at(-1)! + value], [0]);
  const low = Math.min(...ends, total);
  const high = Math.max(...ends, total, 0);
  const at = (value: number): number => ((value - low) / (high - low || 1)) * WIDE;
  return (
    <table class="waterfall" data-total={total}>
      <caption>{s.sumAbout}</caption>
      <tbody>
        {rows.map(([name, value], i) => (
          <tr key={name} title={terms[name] ?? ""}>
            <th scope="row">{name}</th>
            <td>
              <Bar zero={at(0)} from={at(ends[i]!)} to={at(ends[i + 1]!)} kind={value < 0 ? "minus" : "plus"} />
            </td>
            <td class="number" data-value={value}>
              {signed(value)}
            </td>
          </tr>
        ))}
        <tr class="total">
          <th scope="row">{s.total}</th>
          <td>
            <Bar zero={at(0)} from={at(0)} to={at(total)} kind="all" />
          </td>
          <td class="number">
            {signed(total)} <span class="share">{percent(hit.relevance)}</span>
          </td>
        </tr>
      </tbody>
    </table>
  );
}

/** The parts of a score that is no probability: they are in [0, 1], and the profile blends them. */
const Parts = ({ hit }: { hit: Hit }): JSX.Element => (
  <table class="waterfall">
    <caption>{s.parts}</caption>
    <tbody>
      {Object.entries(hit.components).map(([name, value]) => (
        <tr key={name} title={terms[name] ?? ""}>
          <th scope="row">{name}</th>
          <td>
            <Bar zero={0} from={0} to={Math.max(0, Math.min(1, value)) * WIDE} kind="plus" />
          </td>
          <td class="number">{value.toFixed(3)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

const Bar = ({ zero, from, to, kind }: { zero: number; from: number; to: number; kind: string }): JSX.Element => (
  <svg viewBox={`0 0 ${WIDE} 10`} preserveAspectRatio="none" aria-hidden="true">
    <line x1={zero} x2={zero} y1="0" y2="10" />
    <rect class={kind} x={Math.min(from, to)} width={Math.max(0.6, Math.abs(to - from))} y="2" height="6" />
  </svg>
);
