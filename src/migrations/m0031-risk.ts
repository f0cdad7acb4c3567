import { Migration } from '@mikro-orm/migrations'

/** What is usual for an agent, what was unusual, and what its owner wants to follow from that. */
export class Risk extends Migration {
  override up(): void {
    this.addSql(`
      create table risk_configs (
        id text collate "C" primary key,
        owner_id text not null references customers (id) deferrable initially deferred,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        enabled boolean not null,
        review_from integer not null check (review_from between 0 and 100),
        deny_from integer not null check (deny_from between review_from and 100),
        freeze_from integer not null check (freeze_from between deny_from and 100),
        weights jsonb not null,
        velocity_window_minutes integer not null check (velocity_window_minutes between 1 and 60),
        velocity_count integer not null check (velocity_count >= 1),
        unique (owner_id, mode)
      );

      -- One row for each agent, of a fixed size: rewritten with every batch, in place.
      create table risk_profiles (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        agent_id text collate "C" not null,
        amounts bigint[] not null check (cardinality(amounts) <= 64),
        hours integer[] not null check (cardinality(hours) = 24),
        last_country text,
        last_at timestamptz(3),
        minute bigint not null,
        counts integer[] not null check (cardinality(counts) <= 60),
        primary key (owner_id, mode, agent_id),
        check ((last_country is null) = (last_at is null)),
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred
      ) with (fillfactor = 50);

      -- Whom an agent has paid, by a digest of the folded name.
      create table risk_merchants (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        agent_id text collate "C" not null,
        merchant text collate "C" not null,
        primary key (owner_id, mode, agent_id, merchant)
      );

      create table risk_alerts (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text not null,
        status text not null check (status in ('open', 'acknowledged')),
        score integer not null check (score between 0 and 100),
        signals jsonb not null,
        subject_type text not null,
        subject_id text not null,
        merchant_key text not null,
        acknowledged_at timestamptz(3),
        acknowledged_by_id text,
        comment text,
        lifted_at timestamptz(3),
        unique (owner_id, mode, id),
        check ((status = 'acknowledged') = (acknowledged_at is not null)),
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred
      );
      create index risk_alerts_by_agent on risk_alerts (owner_id, mode, agent_id, id);
      -- An agent is frozen by one alert at a time.
      create unique index risk_alerts_in_force on risk_alerts (owner_id, mode, agent_id) where lifted_at is null;

      create table risk_events (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text not null,
        outcome text not null check (outcome in ('pass', 'review', 'deny', 'freeze', 'unfreeze')),
        score integer not null check (score between 0 and 100),
        signals jsonb not null,
        subject_type text not null,
        subject_id text not null,
        decision_id text,
        alert_id text,
        amount_cents bigint check (amount_cents > 0),
        merchant text,
        comment text,
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred
      );
      create index risk_events_of_owner on risk_events (owner_id, mode, id);
      create index risk_events_by_agent on risk_events (owner_id, mode, agent_id, id);
      create trigger risk_events_append_only before update or delete on risk_events
        for each row execute function refuse_change();
      create trigger risk_events_no_truncate before truncate on risk_events execute function refuse_change();
      revoke update, delete on risk_events from agentpay_application;

      -- All that a batch needs to know about these agents and the merchants beside them: each found by its key, however
      -- young the tables are, which is what the lateral is for.
      create function risk_open(of_owner text, of_mode text, agents text[], merchants text[],
        out config jsonb, out profiles jsonb, out known jsonb) language plpgsql stable
        set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
      begin
        select jsonb_build_object('enabled', c.enabled, 'review', c.review_from, 'deny', c.deny_from,
          'freeze', c.freeze_from, 'weights', c.weights, 'velocityWindowMinutes', c.velocity_window_minutes, 'velocityCount', c.velocity_count)
        into config from risk_configs c where (c.owner_id, c.mode) = (of_owner, of_mode);
        select coalesce(jsonb_agg(jsonb_build_object('agentId', p.agent_id, 'amounts', p.amounts, 'hours', p.hours,
          'lastCountry', p.last_country, 'lastAt', p.last_at, 'minute', p.minute, 'counts', p.counts)), '[]')
        into profiles from risk_profiles p
        where (p.owner_id, p.mode) = (of_owner, of_mode) and p.agent_id = any(agents);
        select coalesce(jsonb_agg(w.agent_id || ' ' || w.merchant), '[]')
        into known from (select distinct * from unnest(agents, merchants)) as w (agent_id, merchant)
        cross join lateral (
          select from risk_merchants m
          where (m.owner_id, m.mode, m.agent_id, m.merchant) = (of_owner, of_mode, w.agent_id, w.merchant) limit 1) as met;
      end $$;

      -- What a batch has seen of agents whose counters it holds; most have seen nothing of note.
      create function risk_write(of_owner text, of_mode text, at timestamptz, profiles jsonb, met jsonb, notes jsonb,
        alerts jsonb) returns void language plpgsql
        set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
      begin
        insert into risk_profiles as kept (owner_id, mode, agent_id, amounts, hours, last_country, last_at, minute, counts)
        select of_owner, of_mode, p."agentId", p.amounts, p.hours, p."lastCountry", p."lastAt", p.minute, p.counts
        from jsonb_to_recordset(profiles) as p ("agentId" text, amounts bigint[], hours int[], "lastCountry" text,
          "lastAt" timestamptz, minute bigint, counts int[])
        on conflict (owner_id, mode, agent_id) do update set amounts = excluded.amounts, hours = excluded.hours,
          last_country = excluded.last_country, last_at = excluded.last_at, minute = excluded.minute,
          counts = excluded.counts;
        insert into risk_merchants (owner_id, mode, agent_id, merchant)
        select of_owner, of_mode, m."agentId", m.merchant
        from jsonb_to_recordset(met) as m ("agentId" text, merchant text) on conflict do nothing;
        if notes = '[]' and alerts = '[]' then
          return;
        end if;
        insert into risk_events (id, owner_id, mode, created_at, updated_at, agent_id, outcome, score, signals,
          subject_type, subject_id, decision_id, alert_id, amount_cents, merchant)
        select n.id, of_owner, of_mode, at, at, n."agentId", n.outcome, n.score, n.signals, n."subjectType",
          n."subjectId", n."decisionId", n."alertId", n."amountEuros", n.merchant
        from jsonb_to_recordset(notes) as n (id text, "agentId" text, outcome text, score int, signals jsonb,
          "subjectType" text, "subjectId" text, "decisionId" text, "alertId" text, "amountEuros" bigint, merchant text);
        insert into risk_alerts (id, owner_id, mode, created_at, updated_at, agent_id, status, score, signals,
          subject_type, subject_id, merchant_key)
        select a.id, of_owner, of_mode, at, at, a."agentId", a.status, a.score, a.signals, a."subjectType",
          a."subjectId", a."merchantKey"
        from jsonb_to_recordset(alerts) as a (id text, "agentId" text, status text, score int, signals jsonb,
          "subjectType" text, "subjectId" text, "merchantKey" text);
      end $$;
    `)
  }
}
