import { Migration } from '@mikro-orm/migrations'

/**
 * Double entry, one ledger for each owner, mode and currency. Credits are positive, debits negative, and the entries
 * of a transfer sum to zero. Each change of an account, a hold too, is one entry that carries what stood after it.
 */
export class Ledger extends Migration {
  override up(): void {
    this.addSql(`
      create table ledger_accounts (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        currency text not null check (currency = 'EUR'),
        kind text not null,
        normal text not null check (normal in ('debit', 'credit')),
        minimum_cents bigint,
        wallet_id text,
        posted_cents bigint not null default 0,
        held_cents bigint not null default 0 constraint ledger_no_negative_hold check (held_cents >= 0),
        version bigint not null default 0,
        closed_at timestamptz(3),
        unique (owner_id, mode, id),
        unique nulls not distinct (owner_id, mode, currency, kind, wallet_id),
        constraint ledger_minimum check (minimum_cents is null or
          case normal when 'credit' then posted_cents else -posted_cents end - held_cents >= minimum_cents),
        constraint ledger_closed_is_empty check (closed_at is null or (posted_cents = 0 and held_cents = 0))
      ) with (fillfactor = 50);
      create index ledger_accounts_by_wallet on ledger_accounts (owner_id, mode, wallet_id) where wallet_id is not null;

      create table ledger_transfers (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        currency text not null check (currency = 'EUR'),
        kind text not null,
        reference_type text not null,
        reference_id text not null,
        booked_at timestamptz(3) not null,
        value_date date not null,
        constraint ledger_transfers_once unique (owner_id, mode, reference_id, reference_type, kind)
      );
      create index ledger_transfers_by_tenant on ledger_transfers (owner_id, mode, id);

      create table ledger_entries (
        account_id text collate "C" not null,
        version bigint not null check (version > 0),
        owner_id text not null,
        mode text not null,
        transfer_id text collate "C" not null,
        amount_cents bigint not null,
        hold_id text,
        hold_cents bigint not null,
        balance_after_cents bigint not null,
        held_after_cents bigint not null,
        booked_at timestamptz(3) not null,
        primary key (account_id, version),
        check (amount_cents <> 0 or hold_cents <> 0),
        check ((hold_id is null) = (hold_cents = 0))
      );
      create index ledger_entries_by_transfer on ledger_entries (owner_id, mode, transfer_id);
      create index ledger_entries_by_time on ledger_entries (account_id, booked_at, version);

      create table ledger_holds (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null,
        account_id text not null references ledger_accounts (id),
        reference_type text not null,
        reference_id text not null,
        amount_cents bigint not null check (amount_cents > 0),
        remaining_cents bigint not null,
        captured_cents bigint not null default 0 check (captured_cents between 0 and amount_cents - remaining_cents),
        opened_at timestamptz(3) not null,
        ended_at timestamptz(3),
        constraint ledger_holds_once unique (owner_id, mode, reference_type, reference_id),
        constraint ledger_hold_is_not_overdrawn check (remaining_cents between 0 and amount_cents),
        check ((remaining_cents = 0) = (ended_at is not null))
      ) with (fillfactor = 70);
      create index ledger_holds_open on ledger_holds (account_id) where ended_at is null;
    `)
  }
}
