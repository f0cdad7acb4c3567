import { newId } from '../../../src/values/ids.ts'
import { anAgent, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'

const A_CARD_WITH_A_PURSE = `
with terms as (
  insert into card_terms values ($1, 'test', $2, now(), now(), $3, 'pending', null, null, null, null,
    '{}', '{}', '{}', '{}', '{}', '{}', 1)),
card as (
  insert into cards (owner_id, mode, id, created_at, updated_at, agent_id, status, usage, display_name, activates,
    wallet_id, processor, metadata)
  values ($1, 'test', $2, now(), now(), $3, 'pending', 'multi', 'Books', true, $4, 'sandbox', '{}')),
purse as (
  insert into wallets (id, owner_id, mode, created_at, updated_at, name, kind, card_id, currency, status, metadata)
  values ($4, $1, 'test', now(), now(), 'Books', 'card', $2, 'EUR', 'active', '{}'))
insert into ledger_accounts
  (id, owner_id, mode, created_at, updated_at, currency, kind, normal, minimum_cents, wallet_id)
values ($5, $1, 'test', now(), now(), 'EUR', 'wallet', 'credit', 0, $4)`

/** A card of a new agent with its purse, as rows: nothing here depends on how a card is issued. */
export async function aPurse(
  service: TestService,
  { ownerId, client }: { readonly ownerId: string; readonly client: TestClient },
) {
  const { id: agentId } = await anAgent(client)
  const [cardId, walletId] = [newId('card'), newId('wallet')]
  await service.sql(A_CARD_WITH_A_PURSE, [ownerId, cardId, agentId, walletId, newId('account')])
  return { agentId, cardId, walletId }
}
