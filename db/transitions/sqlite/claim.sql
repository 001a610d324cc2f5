-- pending, leased -> leased
update jobs
set
  state = 'leased',
  fault = case
    when jobs.state = 'leased' then 'lease-expired'
    else jobs.fault
  end,
  owner = :owner,
  lease_until = (:now + :lease),
  token = (jobs.token + 1),
  attempts = (jobs.attempts + 1)
where (
  jobs.queue = :queue
  and jobs.id in (
    select jobs.id
    from jobs
    where (
      jobs.queue = :queue
      and jobs.due_at <= :now
      and jobs.attempts < jobs.max_attempts
      and jobs.deadline_at > :now
    )
    order by jobs.due_at, jobs.id
    limit :limit
  )
  and coalesce(jobs.due_at, 9223372036854775807) <= :now
  and jobs.attempts < jobs.max_attempts
  and jobs.deadline_at > :now
)
returning
  jobs.queue,
  jobs.id,
  jobs.owner,
  jobs.token,
  jobs.attempts,
  jobs.max_attempts,
  jobs.lease_until,
  jobs.available_at,
  jobs.deadline_at,
  jobs.payload;
