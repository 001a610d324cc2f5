-- done -> gone
delete from jobs
where (
  jobs.queue = :queue
  and jobs.id = any (
    array(
      select jobs.id
      from jobs
      where (
        jobs.queue = :queue
        and jobs.state = 'done'
        and jobs.finished_at < (coalesce(
          :now,
          cast(
            floor((extract(epoch from statement_timestamp()) * 1000))
            as bigint
          )
        ) - :older_than)
        and not exists (
          select 1 as one
          from redrives
          where (
            redrives.queue = jobs.queue
            and redrives.job_id = jobs.id
          )
        )
      )
      order by jobs.finished_at
      fetch next :limit rows only
      for update skip locked
    )
  )
  and (jobs.state || '') = 'done'
  and coalesce(jobs.finished_at, 9223372036854775807) < (coalesce(
    :now,
    cast(
      floor((extract(epoch from statement_timestamp()) * 1000))
      as bigint
    )
  ) - :older_than)
  and not exists (
    select 1 as one
    from redrives
    where (
      redrives.queue = jobs.queue
      and redrives.job_id = jobs.id
    )
  )
)
returning jobs.queue, jobs.id, jobs.token;
