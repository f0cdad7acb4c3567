-- Area: identity. What a change would have written is forgotten once too few have approved it in time.
create index change_requests_kept on change_requests (mode, expires_at)
  where status = 'waiting' and write - 'operation' <> '{}';
