import { Migration } from '@mikro-orm/migrations'

/** The keys of payment challenges, and the charges of cards that pay them. */
export class MachinePaymentsReceived extends Migration {
  override up(): void {
    this.addSql(`
      create table mpp_keys (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        kid text collate "C" not null check (kid ~ '^[A-Za-z0-9_-]{43}$'),
        modulus text not null check (length(modulus) = 342 and modulus ~ '^[A-Za-z0-9_-]+$'),
        secret text,
        private_key text,
        retired_at timestamptz(3),
        ends_at timestamptz(3),
        primary key (owner_id, mode, id),
        unique (owner_id, mode, kid),
        check ((retired_at is null) = (ends_at is null)),
        check (ends_at > retired_at),
        check ((secret is null) = (private_key is null)),
        -- Only a key that is retired has no private half any more.
        check (secret is not null or retired_at is not null)
      );
      create unique index mpp_keys_current on mpp_keys (owner_id, mode) where retired_at is null;
      create index mpp_keys_due on mpp_keys (mode, ends_at) where ends_at is not null and secret is not null;

      create table mpp_settlements (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        request_id text collate "C",
        agent_id text collate "C",
        wallet_id text collate "C",
        scenario text,
        challenge_id text collate "C" not null check (challenge_id ~ '^[A-Za-z0-9_-]{43}$'),
        credential_digest text not null check (credential_digest ~ '^[A-Za-z0-9_-]{43}$'),
        amount_cents bigint not null check (amount_cents > 0),
        network text not null,
        last4 text not null check (last4 ~ '^[0-9]{4}$'),
        status text not null check (status in ('charging', 'paid', 'declined')),
        handle text not null,
        descriptor text not null,
        decline_code text,
        decline_reason text,
        receipt text,
        settled_at timestamptz(3),
        attempts integer not null check (attempts >= 0),
        due_at timestamptz(3),
        primary key (owner_id, mode, id),
        check ((request_id is null) = (wallet_id is null)),
        check ((request_id is null) <> (scenario is null)),
        check ((status = 'paid') = (settled_at is not null)),
        check ((status = 'paid') = (receipt is not null)),
        check ((status = 'declined') = (decline_reason is not null)),
        check ((decline_code is null) = (decline_reason is null)),
        -- Until the outcome is known, there is always an instant at which it is asked for.
        check ((status = 'charging') = (due_at is not null)),
        foreign key (owner_id, mode, request_id) references payment_requests (owner_id, mode, id)
          deferrable initially deferred,
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred
      );
      -- A challenge is paid once, however often and by whomever it is presented.
      create unique index mpp_settlements_by_challenge on mpp_settlements (owner_id, mode, challenge_id);
      create index mpp_settlements_of_request on mpp_settlements (owner_id, mode, request_id, id);
      create index mpp_settlements_by_status on mpp_settlements (owner_id, mode, status, id);
      create index mpp_settlements_by_agent on mpp_settlements (owner_id, mode, agent_id, id) where agent_id is not null;
      create index mpp_settlements_due on mpp_settlements (mode, due_at) where status = 'charging';
    `)
  }
}
