-- dead -> unchanged
insert into redrives (
  queue,
  job_id,
  previous_token,
  at_ms,
  note,
  approved_by,
  deadline_at,
  previous_reason,
  previous_fault,
  previous_attempts,
  previous_deadline_at,
  previous_finished_at,
  previous_investigated_at,
  previous_investigated_by,
  previous_investigation
)
select
  jobs.queue,
  jobs.id,
  jobs.token,
  coalesce(
    :now,
    cast(
      floor((extract(epoch from statement_timestamp()) * 1000))
      as bigint
    )
  ),
  :note,
  :approved_by,
  (coalesce(
    :now,
    cast(
      floor((extract(epoch from statement_timestamp()) * 1000))
      as bigint
    )
  ) + :deadline),
  jobs.reason,
  jobs.fault,
  jobs.attempts,
  jobs.deadline_at,
  jobs.finished_at,
  jobs.investigated_at,
  jobs.investigated_by,
  jobs.investigation
from jobs
where (
  jobs.queue = :queue
  and jobs.id = :id
  and jobs.state = 'dead'
  and jobs.token = :token
)
for update
on conflict
do nothing;
