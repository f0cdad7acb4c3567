import { Migration } from '@mikro-orm/migrations'

/** What agents have spent and what is reserved, and every decision with all that it was made by. */
export class Decisions extends Migration {
  override up(): void {
    this.addSql(`
      -- Of a subject (an agent, a run, a card, …) in a period: \`all\`, \`day:2026-11-20\`, \`month:2026-11\`.
      create table counters (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        subject text collate "C" not null,
        period text collate "C" not null check (period ~ '^(all|day:\\d{4,}-\\d\\d-\\d\\d|month:\\d{4,}-\\d\\d)$'),
        reserved_cents bigint not null default 0 check (reserved_cents >= 0),
        spent_cents bigint not null default 0 check (spent_cents >= 0),
        reserved_uses integer not null default 0 check (reserved_uses >= 0),
        uses integer not null default 0 check (uses >= 0),
        -- Since when the uses are counted: a policy that is assigned again begins anew.
        term timestamptz(3),
        last_spend_at timestamptz(3),
        first_merchant text,
        primary key (owner_id, mode, subject, period)
      );
      -- What one hold has taken of which counters: a capture after midnight changes the day that it was taken from.
      create table reservations (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        cause_type text not null,
        cause_id text collate "C" not null,
        subjects text[] not null check (cardinality(subjects) > 0),
        day date not null,
        term timestamptz(3),
        amount_cents bigint not null check (amount_cents > 0),
        reserved_cents bigint not null check (reserved_cents between 0 and amount_cents),
        spent_cents bigint not null check (spent_cents >= 0),
        primary key (owner_id, mode, cause_type, cause_id)
      );

      create function periods_of(day date) returns text[] language sql immutable return
        array['all', 'day:' || to_char(day, 'YYYY-MM-DD'), 'month:' || to_char(day, 'YYYY-MM')];

      create function counters_lock(of_owner text, of_mode text, subjects text[], periods text[]) returns setof counters
        language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
      begin
        insert into counters (owner_id, mode, subject, period)
        select of_owner, of_mode, w.subject, w.period from unnest(subjects, periods) as w (subject, period)
        order by w.subject, w.period on conflict do nothing;
        return query
          select k.* from counters k
          join unnest(subjects, periods) as w (subject, period)
            on (k.owner_id, k.mode, k.subject, k.period) = (of_owner, of_mode, w.subject, w.period)
          order by k.subject, k.period for update of k;
      end $$;

      -- The counters of who spends on that day, and all that these causes have taken of: made where they are missing,
      -- and locked in order. Nobody reserves for an agent without its counter of \`all\`, so what a cause has taken is
      -- read once that of its agent is held. A batch is short: each is found by its key, however young the tables are.
      create function counters_open(of_owner text, of_mode text, spending text[], on_day date, agents text[],
        cause_types text[], cause_ids text[]) returns setof counters language plpgsql
        set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
      declare
        wanted_subjects text[];
        wanted_periods text[];
      begin
        if cardinality(cause_ids) > 0 then
          perform from counters_lock(of_owner, of_mode, agents, array_fill('all'::text, array[cardinality(agents)]));
        end if;
        select array_agg(w.subject), array_agg(w.period) into wanted_subjects, wanted_periods from (
          select s.subject, p.period
          from (
            select unnest(spending) as subject, on_day as day
            union
            select unnest(r.subjects), r.day
            from unnest(cause_types, cause_ids) as c (type, id)
            join reservations r on (r.owner_id, r.mode, r.cause_type, r.cause_id) = (of_owner, of_mode, c.type, c.id)
          ) as s cross join unnest(periods_of(s.day)) as p (period)
          union
          select unnest(agents), 'all'
        ) as w;
        return query select * from counters_lock(of_owner, of_mode, wanted_subjects, wanted_periods);
      end $$;

      -- What a batch has made of counters that it holds locked, and of the reservations behind them.
      create function counters_write(of_owner text, of_mode text, changed jsonb, taken jsonb) returns void
        language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
      begin
        update counters k set reserved_cents = c.reserved, spent_cents = c.spent, reserved_uses = c."reservedUses",
          uses = c.uses, term = c.term, last_spend_at = c."lastSpendAt", first_merchant = c."firstMerchant"
        from jsonb_to_recordset(changed) as c (subject text, period text, reserved bigint, spent bigint,
          "reservedUses" int, uses int, term timestamptz, "lastSpendAt" timestamptz, "firstMerchant" text)
        where (k.owner_id, k.mode, k.subject, k.period) = (of_owner, of_mode, c.subject, c.period);
        insert into reservations as kept (owner_id, mode, cause_type, cause_id, subjects, day, term, amount_cents,
          reserved_cents, spent_cents)
        select of_owner, of_mode, t.type, t.id, t.subjects, t.day, t.term, t.amount, t.reserved, t.spent
        from jsonb_to_recordset(taken) as t (type text, id text, subjects text[], day date, term timestamptz,
          amount bigint, reserved bigint, spent bigint)
        on conflict (owner_id, mode, cause_type, cause_id) do update
          set reserved_cents = excluded.reserved_cents, spent_cents = excluded.spent_cents;
      end $$;

      create table decisions (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text not null,
        subject_type text not null,
        subject_id text not null,
        policy_id text,
        policy_version integer,
        request jsonb not null,
        counters jsonb not null,
        result jsonb not null,
        check ((policy_id is null) = (policy_version is null)),
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred
      );
      create index decisions_by_agent on decisions (owner_id, mode, agent_id, id);
      create index decisions_by_subject on decisions (owner_id, mode, subject_id, id);
      create trigger decisions_append_only before update or delete on decisions
        for each row execute function refuse_change();
      create trigger decisions_no_truncate before truncate on decisions execute function refuse_change();
      revoke update, delete on decisions from agentpay_application;

      -- What makes two intents of an agent alike; of those that came to nothing a second one is no double.
      alter table intents add column likeness text;
      create index intents_alike on intents (agent_id, likeness, created_at)
        where status in ('created', 'approved', 'completed');
    `)
  }
}
