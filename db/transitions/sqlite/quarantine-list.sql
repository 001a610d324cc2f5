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
  case
    when :payloads = 1 then payload
  end as payload
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
  and (finished_at, id) > (:after_time, :after_id)
)
order by finished_at, id
limit :limit;
