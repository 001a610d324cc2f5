-- dead -> pending
update jobs
set
  state = 'pending',
  reason = null,
  attempts = 0,
  available_at = (
    select redrives.at_ms
    from redrives
    where (
      redrives.queue = :queue
      and redrives.job_id = :id
      and redrives.previous_token = :token
    )
  ),
  deadline_at = (
    select redrives.deadline_at
    from redrives
    where (
      redrives.queue = :queue
      and redrives.job_id = :id
      and redrives.previous_token = :token
    )
  ),
  finished_at = null,
  investigated_at = null,
  investigated_by = null,
  investigation = null
where (
  jobs.queue = :queue
  and jobs.id = :id
  and jobs.state = 'dead'
  and jobs.token = :token
);
