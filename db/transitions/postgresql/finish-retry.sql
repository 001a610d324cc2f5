-- leased -> pending, dead
update jobs
set
  state = case
    when (
      jobs.attempts >= jobs.max_attempts
      or (coalesce(
        :now,
        cast(
          floor((extract(epoch from statement_timestamp()) * 1000))
          as bigint
        )
      ) + :delay) >= jobs.deadline_at
    ) then 'dead'
    else 'pending'
  end,
  reason = case
    when jobs.attempts >= jobs.max_attempts then 'exhausted'
    when (coalesce(
      :now,
      cast(
        floor((extract(epoch from statement_timestamp()) * 1000))
        as bigint
      )
    ) + :delay) >= jobs.deadline_at then 'deadline'
  end,
  fault = :fault,
  owner = null,
  lease_until = null,
  available_at = case
    when (
      jobs.attempts >= jobs.max_attempts
      or (coalesce(
        :now,
        cast(
          floor((extract(epoch from statement_timestamp()) * 1000))
          as bigint
        )
      ) + :delay) >= jobs.deadline_at
    ) then jobs.available_at
    else (coalesce(
      :now,
      cast(
        floor((extract(epoch from statement_timestamp()) * 1000))
        as bigint
      )
    ) + :delay)
  end,
  finished_at = case
    when (
      jobs.attempts >= jobs.max_attempts
      or (coalesce(
        :now,
        cast(
          floor((extract(epoch from statement_timestamp()) * 1000))
          as bigint
        )
      ) + :delay) >= jobs.deadline_at
    ) then coalesce(
      :now,
      cast(
        floor((extract(epoch from statement_timestamp()) * 1000))
        as bigint
      )
    )
  end
where (
  jobs.queue = :queue
  and jobs.id = :id
  and jobs.state = 'leased'
  and jobs.owner = :owner
  and jobs.token = :token
)
returning jobs.state, jobs.reason;
