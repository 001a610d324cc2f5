-- any -> unchanged
select
  'dead' as figure,
  jobs.reason as word,
  jobs.fault as detail,
  count(*) as counted,
  count(case
    when jobs.investigated_at is null then 1
  end) as part,
  min(jobs.finished_at) as first_at,
  max(jobs.finished_at) as last_at,
  min(jobs.submitted_at) as submitted_at,
  min(coalesce(jobs.investigated_at, jobs.finished_at)) as unseen_since,
  max(jobs.investigated_at) as seen_at,
  :now as now
from jobs
where (
  jobs.queue = :queue
  and jobs.state = 'dead'
)
group by jobs.reason, jobs.fault
union all
select
  'live',
  state,
  null,
  count(*),
  count(case
    when due_at <= :now then 1
  end),
  min(due_at),
  null,
  null,
  null,
  null,
  :now
from jobs
where (
  queue = :queue
  and due_at is not null
)
group by state
union all
select
  'redriven',
  previous_reason,
  fate,
  count(*),
  null,
  min(at_ms),
  max(at_ms),
  null,
  null,
  max(previous_investigated_at),
  :now
from (
  select
    previous_reason,
    case
      when exists (
        select 1 as one
        from redrives as later
        where (
          later.queue = redrives.queue
          and later.job_id = redrives.job_id
          and later.previous_token > redrives.previous_token
        )
      ) then 'dead'
      else (
        select jobs.state
        from jobs
        where (
          jobs.queue = redrives.queue
          and jobs.id = redrives.job_id
        )
      )
    end as fate,
    at_ms,
    previous_investigated_at
  from redrives
  where queue = :queue
) as lives
group by previous_reason, fate
union all
select
  'done',
  null,
  null,
  count(*),
  null,
  null,
  null,
  null,
  null,
  null,
  :now
from (
  select 1 as one
  from jobs
  where (
    queue = :queue
    and state = 'done'
  )
  order by finished_at
  limit 10001
) as done;
