-- pending, leased -> dead
update jobs
set
  state = 'dead',
  reason = case
    when jobs.attempts >= jobs.max_attempts then 'exhausted'
    else 'deadline'
  end,
  fault = case
    when jobs.state = 'leased' then 'lease-expired'
    else jobs.fault
  end,
  owner = null,
  lease_until = null,
  token = (jobs.token + 1),
  finished_at = :now
where (
  jobs.queue = :queue
  and jobs.id in (
    select jobs.id
    from jobs
    where (
      jobs.queue = :queue
      and jobs.due_at <= :now
    )
    order by jobs.due_at, jobs.id
    limit 1000
  )
  and coalesce(jobs.due_at, 9223372036854775807) <= :now
  and (
    jobs.attempts >= jobs.max_attempts
    or jobs.deadline_at <= :now
  )
)
returning
  jobs.queue,
  jobs.id,
  jobs.token,
  jobs.reason,
  jobs.fault;
