-- Area: commerce. What a request for a refund has reserved has other members. Requests that were left before their outcome find
-- their refund by it.
update idempotency_keys set reservation = case
  when reservation ? 'asked' then jsonb_build_object('target', reservation -> 'asked' || '{"webauthnAssertion": null}')
  when reservation ? 'push' then jsonb_build_object('refundIds', jsonb_build_array(reservation #> '{push,refundId}'), 'calls', '[]'::jsonb)
  else jsonb_build_object('calls', '[]'::jsonb, 'refundIds', replace(
    coalesce(reservation #> '{steps,refundIds}', reservation -> 'refundIds')::text, 'requestrefund_', 'refund_')::jsonb)
end
where status is null and operation in ('refunds.create', 'collect.refund') and not reservation ?| array['calls', 'target'];
