-- The queue. One row per job; a row leaves only when finished work is purged.
-- Every time is in milliseconds since 1970-01-01T00:00:00Z.
create table jobs (
  queue           text    not null,
  id              text    not null,
  state           text    not null,
  reason          text,
  fault           text,
  owner           text,
  lease_until     integer,
  token           integer not null,
  attempts        integer not null,
  max_attempts    integer not null,
  available_at    integer not null,
  deadline_at     integer not null,
  due_at          integer generated always as (
                    case state when 'pending' then available_at when 'leased' then lease_until end
                  ) virtual,
  submitted_at    integer not null,
  finished_at     integer,
  investigated_at integer,
  investigated_by text,
  investigation   text,
  payload         text    not null,

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

  -- An identifier is ASCII [A-Za-z0-9][A-Za-z0-9._:/#-]{0,63}. GLOB stops at a NUL, so bytes are counted as well.
  constraint jobs_queue_identifier check (
    queue glob '[A-Za-z0-9]*' and queue not glob '*[^A-Za-z0-9._:/#-]*' and octet_length(queue) <= 64
    and octet_length(queue) = length(queue)
  ),
  constraint jobs_fault_identifier check (
    fault is null
    or (fault glob '[A-Za-z0-9]*' and fault not glob '*[^A-Za-z0-9._:/#-]*' and octet_length(fault) <= 64
        and octet_length(fault) = length(fault))
  ),
  constraint jobs_owner_identifier check (
    owner is null
    or (owner glob '[A-Za-z0-9]*' and owner not glob '*[^A-Za-z0-9._:/#-]*' and octet_length(owner) <= 64
        and octet_length(owner) = length(owner))
  ),
  constraint jobs_investigated_by_identifier check (
    investigated_by is null
    or (investigated_by glob '[A-Za-z0-9]*' and investigated_by not glob '*[^A-Za-z0-9._:/#-]*'
        and octet_length(investigated_by) <= 64 and octet_length(investigated_by) = length(investigated_by))
  ),
  constraint jobs_investigation_identifier check (
    investigation is null
    or (investigation glob '[A-Za-z0-9]*' and investigation not glob '*[^A-Za-z0-9._:/#-]*'
        and octet_length(investigation) <= 64 and octet_length(investigation) = length(investigation))
  ),
  constraint jobs_id_well_formed check (
    length(id) between 1 and 200 and instr(id, char(0)) = 0
    and id not glob '*[' || char(1) || '-' || char(31) || char(127) || '-' || char(159) || ']*'
  ),

  constraint jobs_counts_in_range check (token >= 0 and attempts >= 0 and max_attempts between 1 and 1000000),
  constraint jobs_times_not_negative check (
    available_at >= 0 and deadline_at >= 0 and submitted_at >= 0
    and (lease_until is null or lease_until >= 0)
    and (finished_at is null or finished_at >= 0)
    and (investigated_at is null or investigated_at >= 0)
  ),
  constraint jobs_payload_without_nul check (instr(payload, char(0)) = 0)
) strict;

-- What claim and bury search. Finished work is in none of it, so history costs a claim nothing. The state is for the
-- report, which counts without reading rows.
create index jobs_due on jobs (queue, due_at, id, state) where due_at is not null;

-- What the report reads of the quarantine: the dead by reason and fault, and every time it tells.
create index jobs_dead on jobs (queue, reason, fault, finished_at, submitted_at, investigated_at) where state = 'dead';

-- What a list and a bulk redrive read: the dead, oldest death first, and all that a filter asks for.
create index jobs_died on jobs (queue, finished_at, id, token, reason, fault, investigated_at) where state = 'dead';

-- What purge reads.
create index jobs_done on jobs (queue, finished_at) where state = 'done';
