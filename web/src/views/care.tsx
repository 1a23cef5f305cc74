/** Care: what contradicts, what was done and can be undone, what sleep proposes, and how the loop is going. */
import type { JSX } from "preact";
import { Log } from "../care/log";
import { Loop } from "../care/loop";
import { Aliases, FadingList } from "../care/others";
import { Pairs, Quiet } from "../care/pairs";
import { Sleep } from "../care/sleep";
import { Sections } from "../rows";
import { care as s } from "../strings";
import "../styles/care.css";

const PARTS = { "": Pairs, log: Log, sleep: Sleep, quiet: Quiet, aliases: Aliases, fading: FadingList, loop: Loop };

export default (): JSX.Element => <Sections view="care" title={s.title} titles={s.sections} parts={PARTS} />;
