-- leased -> pending, dead
update jobs
set
  state = case
    when (
      jobs.attempts >= jobs.max_attempts
      or (:now + :delay) >= jobs.deadline_at
    ) then 'dead'
    else 'pending'
  end,
  reason = case
    when jobs.attempts >= jobs.max_attempts then 'exhausted'
    when (:now + :delay) >= jobs.deadline_at then 'deadline'
  end,
  fault = :fault,
  owner = null,
  lease_until = null,
  available_at = case
    when (
      jobs.attempts >= jobs.max_attempts
      or (:now + :delay) >= jobs.deadline_at
    ) then jobs.available_at
    else (:now + :delay)
  end,
  finished_at = case
    when (
      jobs.attempts >= jobs.max_attempts
      or (:now + :delay) >= jobs.deadline_at
    ) then :now
  end
where (
  jobs.queue = :queue
  and jobs.id = :id
  and jobs.state = 'leased'
  and jobs.owner = :owner
  and jobs.token = :token
)
returning jobs.state, jobs.reason;
