-- Stops all spending of the tenant until the transaction ends: `open_limits` takes the same lock, shared.
create or replace function counters_hold(of_owner text, of_mode text) returns void language sql volatile
  begin atomic
    select pg_advisory_xact_lock(hashtextextended('counters|' || of_owner || '|' || of_mode, 0));
  end;
