import { Migration } from '@mikro-orm/migrations'

/** Whoever sends pushes is told of them after the commit: a notice within it makes all commits wait for one another. */
export class PushesAnnounced extends Migration {
  override up(): void {
    this.addSql(`
      drop trigger events_pushed on events;
      drop function publish_pushes();

      -- A push of each event for every browser that is to hear of it, in the transaction of the event; gives how many. An
      -- intent that is decided as soon as it is made waits for nobody.
      create function publish_pushes(written jsonb, owners text[]) returns integer
      language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
      declare
        made integer;
      begin
        -- For the many who have no browser it costs one look.
        if not exists (select from push_subscriptions s where s.owner_id = any(owners)) then
          return 0;
        end if;
        with happened as (
          select * from jsonb_to_recordset(written) as e(id text, "ownerId" text, mode text, event text, data jsonb)
        )
        insert into pushes (owner_id, mode, subscription_id, event_id, created_at)
        select s.owner_id, s.mode, s.id, e.id, clock_timestamp()
        from happened e join push_subscriptions s on s.owner_id = e."ownerId" and s.mode = e.mode
        where s.events && array['*', e.event] and (s.expires_at is null or s.expires_at > clock_timestamp())
          and not (e.event = 'intent.created' and exists (
            select from happened decided where decided.event in ('intent.approved', 'intent.denied')
              and decided.data ->> 'intentId' = e.data ->> 'intentId'))
        -- One that is being deleted hears of nothing more, and undoes nothing of what has happened.
        for key share of s skip locked;
        get diagnostics made = row_count;
        return made;
      end $$;

      -- By the primary keys alone: of tables that have just been filled PostgreSQL would choose a wrong index.
      alter table pushes
        drop constraint pushes_owner_id_mode_event_id_fkey,
        add foreign key (event_id) references events (id) deferrable initially deferred;
    `)
  }
}
