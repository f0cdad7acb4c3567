import { Migration } from '@mikro-orm/migrations'

/** What a wallet held when a month began and when it ended, and how it came from the one to the other. */
export class Statements extends Migration {
  override up(): void {
    this.addSql(`
      create table statements (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        wallet_id text not null,
        account_id text collate "C" not null references ledger_accounts (id),
        period text not null check (period ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'),
        status text not null check (status in ('open', 'final')),
        currency text not null check (currency = 'EUR'),
        holder text not null,
        iban text,
        bic text,
        covers_from timestamptz(3) not null,
        covers_to timestamptz(3) not null check (covers_to >= covers_from),
        opening_cents bigint not null,
        in_cents bigint not null check (in_cents >= 0),
        out_cents bigint not null check (out_cents >= 0),
        closing_cents bigint not null,
        movements bigint not null check (movements >= 0),
        before_version bigint not null check (before_version >= 0),
        last_version bigint not null check (last_version >= before_version),
        unique (owner_id, mode, id),
        constraint statements_once unique (owner_id, mode, wallet_id, period),
        constraint statements_add_up check (opening_cents + in_cents - out_cents = closing_cents),
        constraint statements_of_nothing check (movements > 0 or (in_cents = 0 and out_cents = 0)),
        foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred
      );
      create index statements_by_period on statements (owner_id, mode, period, id);
      create index statements_by_status on statements (owner_id, mode, status, id);
      revoke delete on statements from agentpay_application;
      create trigger statements_final before update or delete on statements
        for each row when (old.status = 'final') execute function refuse_change();
      create trigger statements_no_truncate before truncate on statements execute function refuse_change();

      -- From now on nothing is booked on this account before that instant: what came before is complete.
      create function ledger_seal(of_owner text, of_mode text, of_wallet text, at timestamptz)
      returns void language sql security definer set search_path = public, pg_temp as $$
        update ledger_accounts set updated_at = greatest(updated_at, at)
        where owner_id = of_owner and mode = of_mode and wallet_id = of_wallet
      $$;
      revoke execute on function ledger_seal from public;
      grant execute on function ledger_seal to agentpay_application;
    `)
  }
}
