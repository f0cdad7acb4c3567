import { Migration } from '@mikro-orm/migrations'

/** Browsers that are told of events, and what they have not been told yet. */
export class Push extends Migration {
  override up(): void {
    this.addSql(`
      -- One pair for the installation: browsers take messages from its holder alone.
      create table vapid_keys (
        only_one boolean primary key default true check (only_one),
        public_key text not null,
        private_key text not null,
        created_at timestamptz(3) not null
      );

      create table push_subscriptions (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        endpoint text not null check (length(endpoint) between 1 and 2048),
        p256dh text not null,
        auth text not null,
        events text[] not null check (cardinality(events) >= 1),
        label text,
        expires_at timestamptz(3),
        unique (owner_id, mode, id),
        unique (owner_id, mode, endpoint)
      );

      create table pushes (
        owner_id text not null,
        mode text not null,
        subscription_id text collate "C" not null,
        event_id text collate "C" not null,
        created_at timestamptz(3) not null,
        primary key (owner_id, mode, subscription_id, event_id),
        foreign key (owner_id, mode, subscription_id) references push_subscriptions (owner_id, mode, id) on delete cascade,
        foreign key (owner_id, mode, event_id) references events (owner_id, mode, id) deferrable initially deferred
      );
      create index pushes_by_subscription on pushes (subscription_id, event_id);
      create index pushes_by_age on pushes (created_at);

      -- A push of each event for every browser that is to hear of it, in the transaction of the event. An intent that is
      -- decided as soon as it is made waits for nobody.
      create function publish_pushes() returns trigger language plpgsql as $$
      begin
        insert into pushes (owner_id, mode, subscription_id, event_id, created_at)
        select s.owner_id, s.mode, s.id, e.id, clock_timestamp()
        from written e join push_subscriptions s on s.owner_id = e.owner_id and s.mode = e.mode
        where s.events && array['*', e.event] and (s.expires_at is null or s.expires_at > clock_timestamp())
          and not (e.event = 'intent.created' and exists (
            select from written decided where decided.event in ('intent.approved', 'intent.denied')
              and decided.data ->> 'intentId' = e.data ->> 'intentId'))
        -- One that is being deleted hears of nothing more, and undoes nothing of what has happened.
        for key share of s skip locked;
        if found then
          notify pushes;
        end if;
        return null;
      end $$;
      create trigger events_pushed after insert on events referencing new table as written
        for each statement execute function publish_pushes();
    `)
  }
}
