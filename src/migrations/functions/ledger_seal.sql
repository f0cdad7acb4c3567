-- Seals a wallet's account up to an instant: nothing is booked before it any more, so a statement up to it is complete.
create or replace function ledger_seal(of_owner text, of_mode text, of_wallet text, at timestamptz)
returns void language sql security definer set search_path = public, pg_temp as $$
  update ledger_accounts set updated_at = greatest(updated_at, at)
  where owner_id = of_owner and mode = of_mode and wallet_id = of_wallet
$$;

revoke execute on function ledger_seal from public;
grant execute on function ledger_seal to agentpay_application;
