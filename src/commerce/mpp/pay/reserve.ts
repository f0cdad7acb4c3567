import {
  type AccessSubject,
  chosenCards,
  type denialEvents,
  denialOf,
  openSubjects,
} from '../../../cards/access-events/index.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import { type BatchedStep, CallExternal, type Item, type Verdict } from '../../../kernel/contract/handlers.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import type { Refusal } from '../../../kernel/contract/problem.ts'
import type { Records } from '../../../kernel/contract/records.ts'
import { tenantRecords } from '../../../kernel/database/record-store.ts'
import { newId } from '../../../values/ids.ts'
import { isPayee, otherPayeeMessage, plainHost } from '../hosts.ts'
import { type MerchantRequest, shownUrl } from '../merchant-request.ts'
import { rulesOnIntents } from '../protect.ts'
import { type ProtectRule, protectionOf, type Rule } from '../protect-rule.ts'
import { addressRefusals, mintRefusals } from '../refusals.ts'
import {
  type Asking,
  asking,
  type MachinePayment,
  type PayProblem,
  type PayProblemCode,
} from './reservation.ts'

interface Payable {
  readonly body: { readonly intentId: string; readonly cardId?: string | undefined }
}

/** The request that is to be made of the merchant, and the challenge that the caller has got itself. */
export interface Asked {
  readonly request: MerchantRequest
  readonly challenge: string | null
}

interface State {
  readonly records: Records
  readonly rules: readonly ProtectRule[]
  readonly subjects: ReadonlyMap<Item<Payable>, AccessSubject>
  readonly ports: Ports
}

type ReserveVerdict = Verdict<PayProblemCode, typeof denialEvents>
type Reserved = CallExternal<Asking>

/**
 * All that must hold before the first request: the intent, the card, the address, the owner’s rules. It locks nothing, and
 * writes nothing but a denial, which is recorded with all its reasons, as for every ask for card data.
 */
export const reserveStep = <I extends Payable>(
  askedBy: (input: I) => Asked,
): BatchedStep<I, Reserved, PayProblemCode, typeof denialEvents, State> => ({
  name: 'reserve',

  async load(items, sql, ports) {
    const { tenant, now } = items[0]
    const records = tenantRecords(sql, { tenant, now })
    const payables = items.map(({ input }) => input.body)
    const context = { sql, tenant, records }
    const [chosen, rules] = await Promise.all([
      chosenCards(payables, context),
      rulesOnIntents(
        payables.map(({ intentId }) => intentId),
        context,
      ),
    ])
    const asks = items.map(({ actor, input }, n) => ({
      actor,
      cardId: chosen[n] ?? null,
      intentId: input.body.intentId,
    }))
    const subjects = await openSubjects(asks, context)
    const found = items.map((item, n) => [item, subjects[n] as AccessSubject] as const)
    return { records, rules, subjects: new Map(found), ports }
  },

  decide: (item, state, verdict) => decide(item, askedBy(item.input), state, verdict),

  write: ({ records }) => records.flush(),
})

function decide(
  item: Item<Payable>,
  { request, challenge }: Asked,
  state: State,
  verdict: ReserveVerdict,
): Reserved | Refusal {
  const subject = state.subjects.get(item) as AccessSubject
  const reasons = reasonsAgainst(request.url, subject, item, state)
  const host = URL.parse(request.url)
  const merchantHost = host === null ? null : plainHost(host)
  const ask = { way: 'mpp', sourceId: null, purpose: null, merchantHost, keyThumbprint: null } as const
  const context = { ...item, ...verdict, records: state.records }
  const refuse = verdict.refuse as (code: string, message?: string) => Refusal
  const denial = denialOf(subject, ask, { after: reasons }, { ...context, refuse })
  return denial ?? new CallExternal(asking(paymentOf(subject, item, { request, challenge })))
}

/** What stands against the address, and against paying by tokens at all. */
function reasonsAgainst(
  url: string,
  subject: AccessSubject,
  { tenant }: Item<Payable>,
  { rules, ports }: State,
): PayProblem[] {
  const { name, networkToken } = ports.cardProcessor(tenant.mode)
  const reasons = addressReasons(url, subject, rules, { tenant, ports })
  if (subject.card?.status === 'active' && !networkToken)
    reasons.push({
      code: 'network_tokens_missing',
      message: `${mintRefusals.network_tokens_missing[1]} (${name})`,
    })
  return reasons
}

/** What stands against the address, once it can be read as one. */
function addressReasons(
  text: string,
  { card, intent }: AccessSubject,
  rules: readonly ProtectRule[],
  context: Parameters<typeof addressProblem>[1],
): PayProblem[] {
  const refused = addressProblem(text, context)
  if (refused) return [refused]
  const agentId = card?.agentId ?? intent?.agentId
  if (!intent || agentId === undefined) return []
  const problem = payeeProblem(new URL(text), { agentId, merchant: intent.merchant }, rules)
  return problem ? [problem] : []
}

function paymentOf(
  { card, number, intent }: AccessSubject,
  { tenant, actor, now }: Item<Payable>,
  { request, challenge }: Asked,
): MachinePayment {
  if (!card || !number || !intent) throw new Error('granted without a card or an intent')
  const url = new URL(request.url)
  return {
    mppCredentialId: newId('mppcredential'),
    mode: tenant.mode,
    agentId: card.agentId,
    delegationId: actor.delegationId ?? intent.delegationId,
    intentId: intent.id,
    intentMerchant: intent.merchant,
    heldEuros: intent.holdEuros ?? intent.amountEuros,
    cardId: card.id,
    numberId: number.id,
    processorCardId: number.processorCardId,
    host: plainHost(url),
    url: shownUrl(url),
    request,
    challenge,
    askedAt: now,
  }
}

/** In test mode our own listener may be asked for what it plays: merchants, and the requests of other owners. */
export const asksOwnListener = (mode: string): boolean => mode === 'test'

/** Why nothing is sent to an address; undefined for one that may be asked. */
export function addressProblem(
  text: string,
  { ports: { outbound }, tenant: { mode } }: Pick<Context, 'ports' | 'tenant'>,
): PayProblem | undefined {
  const refused = outbound.judge(text, { ownListener: asksOwnListener(mode) })
  if (refused) return { code: 'url_refused', message: `url: ${refused.message}` }
  const isPlain = URL.parse(text)?.protocol === 'http:'
  return isPlain && !(mode === 'test' && outbound.isOpened(text))
    ? { code: 'https_required', message: addressRefusals.https_required[1] }
    : undefined
}

interface Payer {
  readonly agentId: string
  /** The merchant that the intent is for. */
  readonly merchant: string
}

/** Why an agent does not pay the host of an address: the owner's rules, or an intent for somebody else. */
export function payeeProblem(
  url: URL,
  { agentId, merchant }: Payer,
  rules: readonly Rule[],
): PayProblem | undefined {
  const { deniedBy, hasAllowRules, isAllowed } = protectionOf(url, agentId, rules)
  if (deniedBy !== null)
    return {
      code: 'merchant_denied',
      message: `url: the protect rule ${deniedBy} forbids to pay ${plainHost(url)}. Its owner may delete it: DELETE /mpp/protect/${deniedBy}.`,
    }
  if (hasAllowRules && !isAllowed)
    return { code: 'merchant_not_allowed', message: addressRefusals.merchant_not_allowed[1] }
  return isPayee(merchant, url, isAllowed)
    ? undefined
    : { code: 'merchant_mismatch', message: otherPayeeMessage(merchant, url) }
}
