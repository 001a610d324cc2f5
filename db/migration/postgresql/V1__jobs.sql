-- The queue. One row per job; a row leaves only when finished work is purged.
-- Every time is in milliseconds since 1970-01-01T00:00:00Z.
-- Collation "C" orders text by code point, as SQLite does, whatever the database's own collation is.
create table jobs (
  queue           text collate "C" not null,
  id              text collate "C" not null,
  state           text collate "C" not null,
  reason          text collate "C",
  fault           text collate "C",
  owner           text collate "C",
  lease_until     bigint,
  token           bigint not null,
  attempts        bigint not null,
  max_attempts    bigint not null,
  available_at    bigint not null,
  deadline_at     bigint not null,
  due_at          bigint generated always as (
                    case state when 'pending' then available_at when 'leased' then lease_until end
                  ) stored,
  submitted_at    bigint not null,
  finished_at     bigint,
  investigated_at bigint,
  investigated_by text collate "C",
  investigation   text collate "C",
  payload         text not null,

  constraint jobs_pk primary key (queue, id),

  constraint jobs_state_known check (state in ('pending', 'leased', 'done', 'dead')),
  constraint jobs_reason_known check (reason in ('permanent', 'exhausted', 'deadline')),
  constraint jobs_reason_iff_dead check ((reason is not null) = (state = 'dead')),
  constraint jobs_owner_iff_leased check ((owner is not null) = (state = 'leased')),
  constraint jobs_lease_iff_leased check ((lease_until is not null) = (state = 'leased')),
  constraint jobs_finished_iff_over check ((finished_at is not null) = (state in ('done', 'dead'))),
  constraint jobs_investigated_only_dead check (investigated_at is null or state = 'dead'),
  constraint jobs_investigation_whole check (
    (investigated_at is null) = (investigated_by is null) and (investigated_at is null) = (investigation is null)
  ),
  constraint jobs_leased_was_claimed check (state <> 'leased' or (token >= 1 and attempts >= 1)),

  constraint jobs_queue_identifier check (queue ~ '^[A-Za-z0-9][A-Za-z0-9._:/#-]{0,63}$'),
  constraint jobs_fault_identifier check (fault ~ '^[A-Za-z0-9][A-Za-z0-9._:/#-]{0,63}$'),
  constraint jobs_owner_identifier check (owner ~ '^[A-Za-z0-9][A-Za-z0-9._:/#-]{0,63}$'),
  constraint jobs_investigated_by_identifier check (investigated_by ~ '^[A-Za-z0-9][A-Za-z0-9._:/#-]{0,63}$'),
  constraint jobs_investigation_identifier check (investigation ~ '^[A-Za-z0-9][A-Za-z0-9._:/#-]{0,63}$'),
  -- Text of PostgreSQL holds no NUL, so neither this nor the payload looks for one.
  constraint jobs_id_well_formed check (
    char_length(id) between 1 and 200 and id !~ '[\u0001-\u001f\u007f-\u009f]'
  ),

  constraint jobs_counts_in_range check (token >= 0 and attempts >= 0 and max_attempts between 1 and 1000000),
  constraint jobs_times_not_negative check (
    available_at >= 0 and deadline_at >= 0 and submitted_at >= 0
    and (lease_until is null or lease_until >= 0)
    and (finished_at is null or finished_at >= 0)
    and (investigated_at is null or investigated_at >= 0)
  )
) with (
  -- A job's next version finds room on the page of the last one.
  fillfactor = 80,
  -- A queue dies and grows all day beside a long history: its vacuum must not wait for a share of that history.
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 1000,
  -- A planner that knows nothing of a new queue sorts its backlog for each claim.
  autovacuum_analyze_scale_factor = 0.02,
  autovacuum_analyze_threshold = 100
);

-- What claim and bury search. Finished work is in none of it, so history costs a claim nothing. The state is for the
-- report, which counts without reading rows.
create index jobs_due on jobs (queue, due_at, id, state) where due_at is not null;

-- What the report reads of the quarantine: the dead by reason and fault, and every time it tells.
create index jobs_dead on jobs (queue, reason, fault, finished_at, submitted_at, investigated_at) where state = 'dead';

-- What a list and a bulk redrive read: the dead, oldest death first, and all that a filter asks for.
create index jobs_died on jobs (queue, finished_at, id, token, reason, fault, investigated_at) where state = 'dead';

-- What purge reads.
create index jobs_done on jobs (queue, finished_at) where state = 'done';
