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
  finished_at = coalesce(
    :now,
    cast(
      floor((extract(epoch from statement_timestamp()) * 1000))
      as bigint
    )
  )
where (
  jobs.queue = :queue
  and jobs.id = any (
    array(
      select jobs.id
      from jobs
      where (
        jobs.queue = :queue
        and coalesce(jobs.due_at, 9223372036854775807) <= coalesce(
          :now,
          cast(
            floor((extract(epoch from statement_timestamp()) * 1000))
            as bigint
          )
        )
        and (
          jobs.attempts >= jobs.max_attempts
          or jobs.deadline_at <= coalesce(
            :now,
            cast(
              floor((extract(epoch from statement_timestamp()) * 1000))
              as bigint
            )
          )
        )
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
            )
            order by jobs.due_at, jobs.id
            fetch next 1000 rows only
          )
        )
      )
      order by jobs.id
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
  and (
    jobs.attempts >= jobs.max_attempts
    or jobs.deadline_at <= coalesce(
      :now,
      cast(
        floor((extract(epoch from statement_timestamp()) * 1000))
        as bigint
      )
    )
  )
)
returning
  jobs.queue,
  jobs.id,
  jobs.token,
  jobs.reason,
  jobs.fault;
