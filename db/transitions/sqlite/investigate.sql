-- dead -> dead
update jobs
set
  investigated_at = :now,
  investigated_by = :by,
  investigation = :ticket
where (
  jobs.queue = :queue
  and jobs.id = :id
  and jobs.state = 'dead'
  and jobs.token = :token
);
