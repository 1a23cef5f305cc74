/** Jobs: long work that goes on in the server, with its progress, begun and cancelled here. */
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { jobsPath } from "../answers";
import { beginJob, dropJob, type Job, request } from "../api";
import { Act, Answered, Nothing, Progress, Row, Rows, Time, useRows } from "../rows";
import { may } from "../session";
import { jobs as s, rows } from "../strings";
import { visible } from "../text";
import { fail, useAnswer } from "../ui";

type Listed = Job & { created_at: string };
const isOver = ({ status }: Job): boolean => status !== "waiting" && status !== "running";

export function Jobs(): JSX.Element {
  const answer = useAnswer((signal) => request<Listed[]>("GET", jobsPath(), undefined, signal), []);
  const { value, again } = answer;
  useRows();
  useEffect(() => {
    const timer = setTimeout(again, value?.every(isOver) === false ? 500 : 4000);
    return () => clearTimeout(timer);
  });
  const drop = (job: Job): void => void dropJob(job.id).then(again, fail);
  const begin = (operation: string): void => void beginJob(operation).then(again, fail);
  return (
    <div class="stack">
      <div class="row">{may("write") && <Act label={s.sleep} run={() => begin("sleep")} />}<Act label={s.verify} run={() => begin("verify")} /></div>
      <Answered answer={answer}>
        {(list) => (
          <Rows none={<Nothing title={s.none} about={s.noneAbout} />}>
            {list.map((job) => (
              <Row key={job.id} name={job.id}>
                <div class="about">
                  <b>{rows.jobs[job.operation] ?? visible(job.operation)}</b> <span class={job.status === "failed" ? "bad-text" : job.status === "done" ? "good-text" : ""}>{s.statuses[job.status]}</span> <Time at={job.created_at} />
                </div>
                {job.error && <p class="bad-text">{visible(job.error.message)}</p>}
                {isOver(job) ? <div class="acts"><Act label={s.forget} run={() => drop(job)} /></div> : <Progress job={job} cancel={() => drop(job)} />}
              </Row>
            ))}
          </Rows>
        )}
      </Answered>
    </div>
  );
}
