import { Migration } from '@mikro-orm/migrations'

/** What went wrong with the service, and what the authorities are told of it. */
export class SecurityIncidents extends Migration {
  override up(): void {
    this.addSql(`
      create table security_incidents (
        owner_id text not null check (owner_id = 'customer_house'),
        mode text not null check (mode = 'live'),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        status text not null check (status in
          ('detected', 'classified', 'initial_submitted', 'intermediate_submitted', 'final_submitted', 'closed')),
        severity text not null check (severity in ('low', 'medium', 'high', 'critical')),
        category text not null check (category in
          ('cybersecurity', 'process_failure', 'system_failure', 'external_event', 'payment_related', 'other')),
        description text not null check (char_length(description) between 1 and 10000),
        detected_at timestamptz(3) not null,
        aware_at timestamptz(3) not null,
        occurred_at timestamptz(3),
        recovered_at timestamptz(3),
        resolved_at timestamptz(3),
        affected_users int check (affected_users >= 0),
        countries text[] not null,
        personal_data_aware_at timestamptz(3),
        criteria jsonb,
        is_major boolean,
        classified_at timestamptz(3),
        decisions jsonb not null,
        reports jsonb not null,
        fields jsonb not null,
        reminded text[] not null,
        closed_at timestamptz(3),
        due_at timestamptz(3),
        workflow_id text not null,
        primary key (owner_id, mode, id),
        check (aware_at >= detected_at),
        check ((status = 'detected') = (is_major is null)),
        check ((is_major is true) = (classified_at is not null)),
        check (is_major is true or status in ('detected', 'classified', 'closed')),
        check ((status = 'closed') = (closed_at is not null)),
        check (status <> 'closed' or due_at is null),
        foreign key (owner_id) references customers (id) deferrable initially deferred
      );
      create index security_incidents_by_status on security_incidents (owner_id, mode, status, id);
      create index security_incidents_by_severity on security_incidents (owner_id, mode, severity, id);
      create index security_incidents_due on security_incidents (mode, due_at) where status <> 'closed';
      create index security_incidents_with_a_run on security_incidents (id) where status <> 'closed';
    `)
  }
}
