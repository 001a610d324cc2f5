-- Alert rules for SQLite. Each statement answers a row per queue that needs somebody, and none when all is well.

-- QuarantineUnseen: a dead job has been without a look for more than a day.
select queue, count(*) as jobs
from jobs
where state = 'dead'
  and coalesce(investigated_at, finished_at) < unixepoch() * 1000 - 86400000
group by queue;

-- QuarantineGrowing: more than 100 jobs died within the last hour.
select queue, count(*) as jobs
from jobs
where state = 'dead'
  and finished_at > unixepoch() * 1000 - 3600000
group by queue
having count(*) > 100;

-- ReadyWaiting: a job has been ready for more than five minutes, and nobody claims it.
select queue, count(*) as jobs
from jobs
where due_at < unixepoch() * 1000 - 300000
  and state = 'pending'
group by queue;

-- LeasesExpired: a lease has been over for more than five minutes, and nobody takes the job.
select queue, count(*) as jobs
from jobs
where due_at < unixepoch() * 1000 - 300000
  and state = 'leased'
group by queue;

-- RedrivesDieAgain: of the redrives of the last day whose jobs are done or dead again, more than half are dead again.
select queue, sum(dead_again) as jobs
from (
  select
    redrives.queue,
    case
      when jobs.state = 'dead' or exists (
        select 1
        from redrives as later
        where later.queue = redrives.queue
          and later.job_id = redrives.job_id
          and later.previous_token > redrives.previous_token
      ) then 1
      when jobs.state = 'done' then 0
    end as dead_again
  from redrives
  join jobs on jobs.queue = redrives.queue and jobs.id = redrives.job_id
  where redrives.at_ms > unixepoch() * 1000 - 86400000
) as fates
group by queue
having count(dead_again) >= 20 and sum(dead_again) * 2 > count(dead_again);
