-- Area: cards.
-- The facts of a card payment are stored under the names of the trade, and so are the references of its holds and reservations.
-- Postings keep the reference under which they were made: they never change.
update card_authorizations set facts = facts - array['asks', 'begun', 'begunOriginal']
  || jsonb_build_object('requests', (
    select coalesce(jsonb_agg(
      request - array['ask', 'asked']
        || jsonb_build_object('increment', request -> 'ask', 'requested', request -> 'asked') order by n), '[]')
    from jsonb_array_elements(facts -> 'asks') with ordinality as one (request, n)))
  || case when facts ? 'begun' then jsonb_build_object('initiated', facts -> 'begun') else '{}' end
  || case when facts ? 'begunOriginal' then jsonb_build_object('initiatedOriginal', facts -> 'begunOriginal') else '{}' end
where facts ? 'asks';

-- The margin of a converted price is a fact of the payment, by which the network's charge of a shared token is recognized.
update card_authorizations a set facts = facts || jsonb_build_object('initiatedMarginPercent', c.conversion -> 'marginPercent')
from mpp_credentials c
where a.is_shared and (c.owner_id, c.mode, c.id) = (a.owner_id, a.mode, a.mpp_credential_id)
  and c.conversion ? 'marginPercent';

update ledger_holds set reference_type = 'card_increment' where reference_type = 'card_ask';

update reservations set cause_type = case cause_type
  when 'card_ask' then 'card_increment' when 'card_ask_covered' then 'card_increment_covered'
  when 'card_alone' then 'card_unauthorized' else 'card_unauthorized_covered' end
where cause_type in ('card_ask', 'card_ask_covered', 'card_alone', 'card_alone_covered');
