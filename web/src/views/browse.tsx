/** Browse: memories by what they are and where they come from, sessions in time, rules, and names. */
import type { JSX } from "preact";
import { Memories } from "../browse/memories";
import { Names } from "../browse/names";
import { Rules } from "../browse/rules";
import { Timeline } from "../browse/timeline";
import { Sections } from "../rows";
import { browse as s } from "../strings";
import "../styles/browse.css";

const PARTS = { "": Memories, sessions: Timeline, rules: Rules, names: Names };

export default (): JSX.Element => <Sections view="browse" title={s.title} titles={s.sections} parts={PARTS} />;
