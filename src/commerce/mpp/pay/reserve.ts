import { type AccessSubject, chosenCard, denialOf, openSubject } from '../../../cards/access-events/index.ts'
import type { ContextOf } from '../../../kernel/contract/operation.ts'
import type { Refusal } from '../../../kernel/contract/problem.ts'
import { newId } from '../../../values/ids.ts'
import type { mppApi } from '../api.ts'
import { plainHost } from '../hosts.ts'
import type { MerchantRequest } from '../merchant-request.ts'
import { rulesOnIntent } from '../protect.ts'
import type { ProtectRule } from '../protect-rule.ts'
import { mintRefusals } from '../refusals.ts'
import { addressProblem, payeeProblem } from './address.ts'
import { Asking, type PayProblem } from './reservation.ts'

/** Both ways to a credential: `pay` sends it too. */
export type PayContext = ContextOf<typeof mppApi.mint>

interface Payable {
  readonly intentId: string
  readonly cardId?: string | undefined
}

/** What stands against the address, once it can be read as one. */
function addressReasons(
  text: string,
  { card, intent }: AccessSubject,
  rules: readonly ProtectRule[],
  context: PayContext,
): PayProblem[] {
  const refused = addressProblem(text, context)
  if (refused) return [refused]
  const agentId = card?.agentId ?? intent?.agentId
  if (!intent || agentId === undefined) return []
  const problem = payeeProblem(new URL(text), { agentId, merchant: intent.merchant }, rules)
  return problem ? [problem] : []
}

/**
 * All that must hold before the first request: the intent, the card, the address, the owner's rules. A denial is recorded
 * with all its reasons, as for every ask for card data.
 */
export async function reserve(
  { intentId, cardId }: Payable,
  request: MerchantRequest,
  challenge: string | null,
  context: PayContext,
): Promise<Asking | Refusal> {
  const { ports, tenant, actor, now } = context
  const { name, networkToken } = ports.cardProcessor(tenant.mode)
  const [chosen, rules] = await Promise.all([
    chosenCard({ cardId, intentId }, context),
    rulesOnIntent(intentId, context),
  ])
  const subject = await openSubject({ cardId: chosen, intentId }, context)
  const reasons = addressReasons(request.url, subject, rules, context)
  if (subject.card?.status === 'active' && !networkToken)
    reasons.push({
      code: 'network_tokens_missing',
      message: `${mintRefusals.network_tokens_missing[1]} (${name})`,
    })
  const host = URL.parse(request.url)
  const merchantHost = host === null ? null : plainHost(host)
  const ask = { way: 'mpp', sourceId: null, purpose: null, merchantHost, keyThumbprint: null } as const
  const denial = denialOf(subject, ask, { after: reasons }, context)
  if (denial) return denial
  const { card, number, intent } = subject
  if (!card || !number || !intent) throw new Error('granted without a card or an intent')
  return new Asking(
    {
      credentialId: newId('mppcredential'),
      mode: tenant.mode,
      agentId: card.agentId,
      delegationId: actor.delegationId ?? intent.delegationId,
      intentId,
      intentMerchant: intent.merchant,
      heldCents: String(intent.holdEuros ?? intent.amountEuros),
      cardId: card.id,
      numberId: number.id,
      processorCardId: number.processorCardId,
      now: now.toISOString(),
    },
    request,
    challenge,
  )
}
