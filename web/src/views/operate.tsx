/** Operate: how the store and its server are, namespaces, jobs, and tokens. */
import type { JSX } from "preact";
import { Health } from "../operate/health";
import { Jobs } from "../operate/jobs";
import { Namespaces } from "../operate/namespaces";
import { Tokens } from "../operate/tokens";
import { Sections } from "../rows";
import { operate as s } from "../strings";
import "../styles/operate.css";

const PARTS = { "": Health, namespaces: Namespaces, jobs: Jobs, tokens: Tokens };

export default (): JSX.Element => <Sections view="operate" title={s.title} titles={s.sections} parts={PARTS} />;
