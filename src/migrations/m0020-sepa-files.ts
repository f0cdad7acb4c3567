import { Migration } from '@mikro-orm/migrations'

/** SEPA by files: what waits for the next one, what was ordered by which, and what the bank's own files have told. */
export class SepaFiles extends Migration {
  override up(): void {
    this.addSql(`
      create table sepa_files (
        id text collate "C" primary key,
        owner_id text not null references customers (id),
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        scheme text not null check (scheme = 'sct' or scheme = 'sct_inst'),
        closes_at timestamptz(3) not null,
        execute_on date not null,
        status text not null check (status in ('open', 'made', 'staged', 'handed_over', 'empty')),
        message_id text not null unique check (message_id ~ '^[A-Za-z0-9]{1,35}$'),
        payments int not null check (payments >= 0),
        total_cents bigint not null check (total_cents >= 0),
        content text,
        sha256 text,
        made_at timestamptz(3),
        handed_over_at timestamptz(3),
        due_at timestamptz(3),
        -- One file a cut-off.
        unique (mode, scheme, closes_at),
        check ((status = 'made' or status = 'staged' or status = 'handed_over')
          = (content is not null and sha256 is not null and made_at is not null)),
        check ((status = 'handed_over') = (handed_over_at is not null)),
        check ((status = 'open' or status = 'made' or status = 'staged') = (due_at is not null))
      );
      create index sepa_files_by_tenant on sepa_files (owner_id, mode, id);
      create index sepa_files_by_deadline on sepa_files (mode, due_at) where due_at is not null;

      create table sepa_instructions (
        -- The transfer: ordered once.
        id text collate "C" primary key references transfers (id),
        file_id text not null references sepa_files (id),
        created_at timestamptz(3) not null,
        end_to_end_id text not null unique,
        amount_cents bigint not null check (amount_cents > 0),
        payee jsonb not null,
        reference text,
        taken_out_at timestamptz(3)
      );
      create index sepa_instructions_by_file on sepa_instructions (file_id, id);

      create function sepa_file_is_kept() returns trigger language plpgsql as $$
      begin
        if old.content is not null and (tg_op = 'DELETE' or
          (old.content, old.sha256, old.message_id, old.payments, old.total_cents, old.made_at) is distinct from
          (new.content, new.sha256, new.message_id, new.payments, new.total_cents, new.made_at)) then
          raise exception 'the file % is made: it is not changed any more', old.id;
        end if;
        return case tg_op when 'DELETE' then old else new end;
      end $$;
      create trigger sepa_files_are_kept before update or delete on sepa_files
        for each row execute function sepa_file_is_kept();

      create function sepa_instruction_is_kept() returns trigger language plpgsql as $$
      begin
        if tg_op = 'DELETE' or exists (select from sepa_files where id = new.file_id and status <> 'open') then
          raise exception 'the payment % is ordered: it is not changed any more', coalesce(old.id, new.id);
        end if;
        return new;
      end $$;
      create trigger sepa_instructions_are_kept before insert or update or delete on sepa_instructions
        for each row execute function sepa_instruction_is_kept();

      create table sepa_messages (
        id text collate "C" primary key,
        owner_id text not null references customers (id),
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        sha256 text not null,
        kind text not null check (kind in ('pain.002', 'camt.053', 'camt.054')),
        message_id text not null,
        payments jsonb not null,
        credits jsonb,
        unique (owner_id, mode, sha256)
      );
      create index sepa_messages_by_tenant on sepa_messages (owner_id, mode, id);

      create table sepa_notices (
        id text collate "C" primary key,
        owner_id text not null references customers (id),
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        message_id text not null references sepa_messages (id),
        transfer_id text not null references transfers (id),
        notice text not null check (notice in ('settled', 'rejected', 'returned')),
        reason_code text,
        status text not null check (status in ('waiting', 'told')),
        due_at timestamptz(3),
        check ((status = 'waiting') = (due_at is not null))
      );
      create index sepa_notices_by_tenant on sepa_notices (owner_id, mode, id);
      create index sepa_notices_by_message on sepa_notices (message_id, id);
      create index sepa_notices_by_deadline on sepa_notices (mode, due_at) where due_at is not null;
    `)
  }
}
