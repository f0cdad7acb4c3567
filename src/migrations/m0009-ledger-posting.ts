import { Migration } from '@mikro-orm/migrations'

/** The only way into the ledger, and what the database itself makes sure of even if that way were wrong. */
export class LedgerPosting extends Migration {
  override up(): void {
    this.addSql(`
      -- All transfers of a batch: the accounts in id order, then each kind of row in one statement.
      create function ledger_post(
        of_owner text, of_mode text, at timestamptz, transfers jsonb, entries jsonb
      ) returns timestamptz language plpgsql security definer set search_path = public, pg_temp as $$
      declare
        accounts text[];
        booked timestamptz(3);
        written bigint;
        named bigint;
      begin
        -- No instant lies before one that an account has seen, so what stood at an instant is found by index.
        select array_agg(id), greatest(at, max(seen)) into accounts, booked from (
          select a.id, a.updated_at as seen from ledger_accounts a
          where a.owner_id = of_owner and a.mode = of_mode
            and a.id = any(array(select e ->> 'accountId' from jsonb_array_elements(entries) as e))
          order by a.id for update) as locked;

        insert into ledger_transfers
          (id, owner_id, mode, currency, kind, reference_type, reference_id, booked_at, value_date)
        select t.id, of_owner, of_mode, t.currency, t.kind, t."referenceType", t."referenceId", booked,
          coalesce(t."valueDate", (booked at time zone 'UTC')::date)
        from jsonb_to_recordset(transfers) as t (id text, currency text, kind text,
          "referenceType" text, "referenceId" text, "valueDate" date);

        -- Their ids once more by themselves: of a recordset PostgreSQL does not know that it is short.
        with asked as (
          select * from rows from (jsonb_to_recordset(entries) as
            ("transferId" text, "accountId" text, amount bigint, "holdId" text, hold bigint))
            with ordinality as e (transfer_id, account_id, amount, hold_id, hold, n)
        ), moved as (
          update ledger_accounts a set posted_cents = posted_cents + m.amount, held_cents = held_cents + m.hold,
            version = version + m.entries, updated_at = booked
          from (select account_id, sum(amount)::bigint as amount, sum(hold)::bigint as hold, count(*) as entries
            from asked group by account_id) as m
          where a.id = m.account_id and a.id = any(accounts)
          returning a.id, old.posted_cents as posted, old.held_cents as held, old.version
        )
        insert into ledger_entries (account_id, version, owner_id, mode, transfer_id, amount_cents, hold_id,
          hold_cents, balance_after_cents, held_after_cents, booked_at)
        select a.id, a.version + row_number() over sofar, of_owner, of_mode, e.transfer_id, e.amount, e.hold_id,
          e.hold, a.posted + sum(e.amount) over sofar, a.held + sum(e.hold) over sofar, booked
        from asked e join moved a on a.id = e.account_id
        window sofar as (partition by e.account_id order by e.n);
        get diagnostics written = row_count;
        if written <> jsonb_array_length(entries) then
          raise exception 'an entry names no account of the tenant' using errcode = 'foreign_key_violation';
        end if;

        if not entries @? '$[*].holdId ? (@ != null)' then
          return booked;
        end if;
        insert into ledger_holds
          (id, owner_id, mode, account_id, reference_type, reference_id, amount_cents, remaining_cents, opened_at)
        select e."holdId", of_owner, of_mode, e."accountId", t."referenceType", t."referenceId", e.hold, e.hold, booked
        from jsonb_to_recordset(entries) as e ("transferId" text, "accountId" text, "holdId" text, hold bigint)
        join jsonb_to_recordset(transfers) as t (id text, "referenceType" text, "referenceId" text)
          on t.id = e."transferId"
        where e.hold > 0;

        with ended as (
          select e."holdId" as id, e."accountId" as account_id, sum(e.hold)::bigint as hold,
            sum(greatest(least(-e.amount, -e.hold), 0))::bigint as captured
          from jsonb_to_recordset(entries) as e ("accountId" text, amount bigint, "holdId" text, hold bigint)
          where e.hold < 0 group by e."holdId", e."accountId"
        ), changed as (
          update ledger_holds h set remaining_cents = remaining_cents + e.hold,
            captured_cents = captured_cents + e.captured,
            ended_at = case when remaining_cents + e.hold = 0 then booked end
          from ended e where h.id = e.id and h.account_id = e.account_id and h.owner_id = of_owner and h.mode = of_mode
          returning h.id
        )
        select (select count(*) from ended), (select count(*) from changed) into named, written;
        if named <> written then
          raise exception 'an entry names no hold of its account' using errcode = 'foreign_key_violation';
        end if;
        return booked;
      end $$;

      -- What is true of every entry, whoever wrote it: once a statement, so a batch pays for it once. A batch is short,
      -- and what belongs to an entry is found by its key, however young or large the tables are.
      create function ledger_entries_hold_true() returns trigger language plpgsql
        set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
      declare
        broken text;
      begin
        if exists (select from fresh group by transfer_id having sum(amount_cents) <> 0) then
          raise exception 'the entries of a transfer must sum to zero'
            using errcode = 'check_violation', constraint = 'ledger_sums_to_zero';
        end if;
        select judged.broken into broken from (
          select case
            when (p.version is null and e.version > 1)
              or e.balance_after_cents <> coalesce(p.balance_after_cents, 0) + e.amount_cents
              or e.held_after_cents <> coalesce(p.held_after_cents, 0) + e.hold_cents
              or e.booked_at < p.booked_at
              then 'ledger_chain'
            when t.id is null or a.id is null or a.closed_at is not null or (e.owner_id, e.mode) <> (t.owner_id, t.mode)
              then 'ledger_open_account'
            when e.held_after_cents < 0 or case a.normal when 'credit' then e.balance_after_cents
              else -e.balance_after_cents end - e.held_after_cents < a.minimum_cents
              then 'ledger_minimum'
            when e.version = e.newest and (a.version, a.posted_cents, a.held_cents)
              is distinct from (e.version, e.balance_after_cents, e.held_after_cents)
              then 'ledger_account_follows'
          end as broken
          from (select *, max(version) over (partition by account_id) as newest from fresh) as e
          left join ledger_entries p on p.account_id = e.account_id and p.version = e.version - 1
          left join ledger_transfers t on t.id = e.transfer_id
          left join ledger_accounts a on a.id = e.account_id
            and (a.owner_id, a.mode, a.currency) = (t.owner_id, t.mode, t.currency)
        ) as judged where judged.broken is not null limit 1;
        if broken is not null then
          raise exception '%', case broken
            when 'ledger_chain' then 'an entry must follow the one before it'
            when 'ledger_open_account' then 'an entry must be on an open account of its tenant'
            when 'ledger_minimum' then 'no account goes below its minimum'
            else 'an account must stand where its last entry says'
          end using errcode = 'check_violation', constraint = broken;
        end if;
        return null;
      end $$;
      create trigger ledger_entries_hold_true after insert on ledger_entries
        referencing new table as fresh for each statement execute function ledger_entries_hold_true();

      create trigger ledger_entries_append_only before update or delete on ledger_entries
        for each row execute function refuse_change();
      create trigger ledger_entries_no_truncate before truncate on ledger_entries execute function refuse_change();
      create trigger ledger_transfers_append_only before update or delete on ledger_transfers
        for each row execute function refuse_change();
      create trigger ledger_transfers_no_truncate before truncate on ledger_transfers execute function refuse_change();

      revoke insert, update, delete on ledger_accounts, ledger_transfers, ledger_entries, ledger_holds
        from agentpay_application;
      grant insert (id, owner_id, mode, created_at, updated_at, currency, kind, normal, minimum_cents, wallet_id)
        on ledger_accounts to agentpay_application;
      grant update (closed_at) on ledger_accounts to agentpay_application;
      revoke execute on function ledger_post from public;
      grant execute on function ledger_post to agentpay_application;
    `)
  }
}
