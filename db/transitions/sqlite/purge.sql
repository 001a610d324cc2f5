-- done -> gone
delete from jobs
where (
  jobs.queue = :queue
  and jobs.id in (
    select jobs.id
    from jobs
    where (
      jobs.queue = :queue
      and jobs.state = 'done'
      and jobs.finished_at < (:now - :older_than)
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
    limit :limit
  )
  and (jobs.state || '') = 'done'
  and coalesce(jobs.finished_at, 9223372036854775807) < (:now - :older_than)
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
