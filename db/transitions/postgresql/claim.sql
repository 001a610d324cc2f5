-- pending, leased -> leased
update jobs
set
  state = 'leased',
  fault = case
    when jobs.state = 'leased' then 'lease-expired'
    else jobs.fault
  end,
  owner = :owner,
  lease_until = (coalesce(
    :now,
    cast(
      floor((extract(epoch from statement_timestamp()) * 1000))
      as bigint
    )
  ) + :lease),
  token = (jobs.token + 1),
  attempts = (jobs.attempts + 1)
where (
  jobs.queue = :queue
  and jobs.id = any (
    array(
      select jobs.id
      from jobs
      where (
        jobs.queue = :queue
        and jobs.due_at <= coalesce(
          :now,
          cast(
            floor((extract(epoch from statement_timestamp()) * 1000))
            as bigint
          )
        )
        and jobs.attempts < jobs.max_attempts
        and jobs.deadline_at > coalesce(
          :now,
          cast(
            floor((extract(epoch from statement_timestamp()) * 1000))
            as bigint
          )
        )
      )
      order by jobs.due_at, jobs.id
      fetch next :limit rows only
      for update skip locked
    )
  )
  and coalesce(jobs.due_at, 9223372036854775807) <= coalesce(
    :now,
    cast(
      floor((extract(epoch from statement_timestamp()) * 1000))
      as bigint
    )
  )
  and jobs.attempts < jobs.max_attempts
  and jobs.deadline_at > coalesce(
    :now,
    cast(
      floor((extract(epoch from statement_timestamp()) * 1000))
      as bigint
    )
  )
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
