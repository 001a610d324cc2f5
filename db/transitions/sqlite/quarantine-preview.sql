-- dead -> unchanged
select
  queue,
  id,
  token,
  reason,
  fault,
  attempts,
  max_attempts,
  submitted_at,
  finished_at,
  investigated_at,
  investigated_by,
  investigation,
  (
    select count(*)
    from jobs
    where (
      jobs.queue = :queue
      and jobs.state = 'dead'
      and jobs.finished_at >= coalesce(
        (:now - :at_most),
        0
      )
      and jobs.finished_at <= coalesce(
        (:now - :at_least),
        9223372036854775807
      )
      and jobs.id >= :id_from
      and jobs.id < :id_until
      and (
        cast(:reason as varchar) is null
        or jobs.reason = :reason
      )
      and (
        cast(:fault as varchar) is null
        or coalesce(jobs.fault, '') = :fault
      )
      and (
        cast(:investigated as int) is null
        or case
          when jobs.investigated_at is null then 0
          else 1
        end = :investigated
      )
    )
  ) as matched
from jobs
where (
  queue = :queue
  and state = 'dead'
  and finished_at >= coalesce(
    (:now - :at_most),
    0
  )
  and finished_at <= coalesce(
    (:now - :at_least),
    9223372036854775807
  )
  and id >= :id_from
  and id < :id_until
  and (
    cast(:reason as varchar) is null
    or reason = :reason
  )
  and (
    cast(:fault as varchar) is null
    or coalesce(fault, '') = :fault
  )
  and (
    cast(:investigated as int) is null
    or case
      when investigated_at is null then 0
      else 1
    end = :investigated
  )
)
order by finished_at, id
limit :limit;
