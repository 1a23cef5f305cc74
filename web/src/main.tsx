/** The page's start: its styles, its session, and the shell. */
import { render } from "preact";
import "./styles/base.css";
import "./styles/shell.css";
import { App } from "./app";
import { applyTheme } from "./theme";
import { watchStore } from "./store";

applyTheme();
render(<App />, document.body);
watchStore();
